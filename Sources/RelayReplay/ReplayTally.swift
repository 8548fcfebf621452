import RelayConsole
import RelayWire

/// What a replay has done so far, over all its users.
struct ReplayTally: Sendable, Equatable {
    var messagesSent = 0
    var messagesAccepted = 0
    /// By the code's name; `outcomeUnknown` among them.
    var refusals: [String: Int] = [:]
    var packetsSent = 0
    var packetsRefused = 0
    /// Own packets that were not passed on, as the senders were told.
    var packetsDropped = 0
    /// What the drawing users received of each other, and what of it they were told is lost.
    var messagesReceived = 0
    var packetsReceived = 0
    var packetsLost = 0
    var messagesMissed = 0
    /// Links that broke and came back.
    var linksBroken = 0
    var roundTrips = Latencies()
    /// Strokes whose last message was answered.
    var strokesDone = 0
    /// How far each user has saved what it draws; empty without a store.
    var saved: [String: Saved] = [:]

    struct Saved: Sendable, Equatable {
        /// Of this user's own that are in the board.
        var strokes = 0
        /// Of the board as this user wrote or read it last, and all strokes and bytes of that.
        var revision: UInt64 = 0
        var boardStrokes = 0
        var bytes = 0
        /// Writes that were accepted, and those that found another revision than the one seen last.
        var saves = 0
        var conflicts = 0
        var end: BoardSaver.End?
    }

    var messagesRefused: Int { refusals.values.reduce(0, +) }
}

/// The end of a replay, for people and programs.
struct ReplaySummary: Sendable {
    var file: String
    var channel: String
    var users: Int
    var strokes: Int
    /// What `strokes` counts.
    var unit = "strokes"
    var points: Int
    var elapsed: Duration
    var tally: ReplayTally
    var verified: ReplayVerifier.Report?
    /// What readers of the board held at the end, where it is kept and verified.
    var boards: ReplayBoards? = nil

    /// Whether everything was drawn, and the relay kept its word as far as it was looked at.
    var isGood: Bool {
        tally.messagesRefused == 0 && tally.packetsRefused == 0 && (verified?.isKept ?? true) && (boards?.areEqual ?? true)
            && tally.saved.values.allSatisfy { $0.end == nil }
    }

    var lines: [String] {
        let count: (Int) -> String = { Printable.count($0) }
        var table = Table(("", .left), ("", .left))
        table.add(
            "drawn",
            "\(count(tally.strokesDone)) of \(count(strokes)) \(unit)\(unit == "strokes" ? ", \(count(points)) points" : ""), \(count(users)) \(users == 1 ? "user" : "users"),"
                + " \(Printable.time(elapsed))")
        let refused = tally.refusals.keys.sorted().map { " \($0) \(count(tally.refusals[$0]!))" }.joined(separator: ",")
        table.add(
            "messages",
            "\(count(tally.messagesSent)) sent, \(count(tally.messagesAccepted)) accepted, \(count(tally.messagesRefused)) refused\(refused.isEmpty ? "" : ":" + refused)"
        )
        if tally.refusals["notPermitted"] != nil { table.add("", "notPermitted: \(Command.othersRecords)") }
        table.add(
            "packets",
            "\(count(tally.packetsSent)) sent, \(count(tally.packetsDropped)) dropped, \(count(tally.packetsRefused)) refused")
        if users > 1 {
            table.add(
                "received",
                "\(count(tally.messagesReceived)) messages, \(count(tally.messagesMissed)) missed; \(count(tally.packetsReceived)) packets, \(count(tally.packetsLost)) lost"
            )
        }
        for line in savedLines { table.add(line.0, line.1) }
        if let p50 = tally.roundTrips.percentile(50), let p99 = tally.roundTrips.percentile(99),
            let most = tally.roundTrips.percentile(100)
        {
            table.add("round trip", "p50 \(Printable.time(p50)), p99 \(Printable.time(p99)), longest \(Printable.time(most))")
        }
        if let verified {
            table.add(
                "verified",
                "\(count(verified.messagesDelivered)) of \(count(verified.messagesAccepted)) messages;"
                    + " packets: \(count(verified.packetsDelivered)) delivered + \(count(verified.packetsLost)) lost"
                    + " = \(count(verified.packetsAccepted)) accepted".replacing("=", with: verified.isKept ? "=" : "?"))
            table.add("", verified.isKept ? "every promise was kept" : "NOT KEPT, \(count(verified.violations.values.reduce(0, +))) times:")
            for example in verified.examples { table.add("", "- " + example) }
        }
        for line in boards?.lines ?? [] { table.add(line.0, line.1) }
        return Array(table.lines.dropFirst())
    }

    var json: JSONValue {
        func milliseconds(_ percent: Int) -> JSONValue {
            tally.roundTrips.percentile(percent).map { .number(($0 / .microseconds(1)).rounded() / 1_000) } ?? .null
        }
        return [
            "type": "summary", "file": .string(file), "channel": .string(channel), "users": .integer(users),
            "strokes": .integer(strokes), "points": .integer(points),
            "seconds": .number((elapsed / .milliseconds(1)).rounded() / 1_000), "good": .bool(isGood),
            "messages": [
                "sent": .integer(tally.messagesSent), "accepted": .integer(tally.messagesAccepted),
                "refused": .object(tally.refusals.keys.sorted().map { .init(key: $0, value: .integer(tally.refusals[$0]!)) }),
            ],
            "packets": [
                "sent": .integer(tally.packetsSent), "dropped": .integer(tally.packetsDropped), "refused": .integer(tally.packetsRefused),
            ],
            "received": [
                "messages": .integer(tally.messagesReceived), "missed": .integer(tally.messagesMissed),
                "packets": .integer(tally.packetsReceived), "lost": .integer(tally.packetsLost),
            ],
            "roundTripMs": [
                "count": .integer(tally.roundTrips.count), "p50": milliseconds(50), "p99": milliseconds(99), "max": milliseconds(100),
            ],
            "store": savedJSON,
            "verify": verified.map(Self.verdict) ?? .null, "boards": boards?.json ?? .null,
        ]
    }

    private static func verdict(_ report: ReplayVerifier.Report) -> JSONValue {
        [
            "kept": .bool(report.isKept),
            "messages": ["accepted": .integer(report.messagesAccepted), "delivered": .integer(report.messagesDelivered)],
            "packets": [
                "accepted": .integer(report.packetsAccepted), "delivered": .integer(report.packetsDelivered),
                "lost": .integer(report.packetsLost),
            ],
            "violations": .array(
                ReplayVerifier.Violation.allCases.filter { report.violations[$0] != nil }.map {
                    ["what": .string($0.rawValue), "times": .integer(report.violations[$0]!)]
                }),
            "examples": .array(report.examples.map { .string($0) }),
        ]
    }
}
