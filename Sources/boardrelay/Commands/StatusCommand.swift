import Foundation
import RelayCore
import RelayIO
import RelayServer

extension Command {
    static let status = Command(
        name: "status",
        summary: "shows what goes on in a relay on this machine",
        options: [
            .value("--port", as: "PORT", help: "The relay's port; 7420 if not given."),
            .value("--data-dir", as: "DIR", help: "As given to 'serve'."),
            .value("--control", as: "PATH", help: "As given to 'serve'."),
            .flag("--json", help: "One JSON object instead of tables."),
        ],
        notes: ["Asks over a Unix socket that only the user who runs the relay can open."],
        examples: [
            .init("boardrelay status", "The relay on port 7420."),
            .init("boardrelay status --json | jq .census.counters", "What has happened since it started."),
        ],
        run: status)

    private static func status(_ arguments: Arguments) async throws -> ExitCode {
        try arguments.exclude("--control", "--data-dir")
        let port = UInt16(try arguments.integer("--port", in: 1...65_535) ?? Int(RelayAddress.defaultPort))
        guard let path = controlSocket(arguments, port: port) else { preconditionFailure("a port above 0 has a socket") }
        let status: Status
        do {
            status = try RelayServer.status(controlSocket: path)
        } catch {
            throw Failure("\(error)")
        }
        if arguments.flag("--json") {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            try Console.print(String(decoding: try encoder.encode(status), as: UTF8.self))
        } else {
            for line in StatusText.lines(status) { try Console.print(line) }
        }
        return .ok
    }
}

/// A relay's status as tables.
enum StatusText {
    static func lines(_ status: Status) -> [String] {
        let census = status.census
        let uptime = Printable.clock(.seconds(Int64(clamping: status.uptimeSeconds)))
        return ["\(Printable.escaped(status.address))   pid \(status.pid)   up \(uptime)", ""]
            + summary(census) + sessions(census) + channels(census)
    }

    private static func summary(_ census: Census) -> [String] {
        let counters = census.counters
        let lost = counters.packetsShedSlow + counters.packetsShedExpired
        var table = Table(("", .left), ("", .left))
        table.add(
            "now",
            "\(Printable.count(census.connections)) connections, \(Printable.count(census.sessionsPresent)) sessions"
                + " (\(Printable.count(census.sessionsAway)) away), \(Printable.count(census.channels.count)) channels,"
                + " \(Printable.size(census.queueMemoryBytes)) of queues")
        table.add(
            "messages",
            "\(Printable.count(counters.messagesAccepted)) accepted, \(Printable.count(counters.messagesDelivered)) delivered,"
                + " \(Printable.count(counters.refusals["rateLimited"] ?? 0)) over a rate")
        table.add(
            "packets",
            "\(Printable.count(counters.packetsAccepted)) accepted, \(Printable.count(counters.packetsQueued)) queued for readers,"
                + " \(Printable.count(lost)) lost to slow readers, \(Printable.count(counters.packetsDroppedRate)) over a rate")
        return Array(table.lines.dropFirst())
    }

    private static func sessions(_ census: Census) -> [String] {
        guard !census.sessions.isEmpty else { return ["", "Nobody is connected."] }
        var table = Table(("USER", .left), ("FROM", .left), ("CLIENT", .left), ("CHANNELS", .right), ("QUEUED", .right), ("LOST", .right))
        for session in census.sessions {
            table.add(
                session.user, session.away ? "away" : session.peer, session.client,
                "\(session.messageChannels + session.streamChannels)", Printable.size(session.queuedBytes),
                Printable.count(session.packetsLost))
        }
        return [""] + table.lines
    }

    private static func channels(_ census: Census) -> [String] {
        guard !census.channels.isEmpty else { return [] }
        var table = Table(
            ("CHANNEL", .left), ("KIND", .left), ("INSIDE", .right), ("SEEN", .right), ("TOPICS", .right), ("PUBLISHERS", .right), ("MESSAGES", .right))
        for channel in census.channels {
            let isStream = channel.kind == "stream"
            table.add(
                channel.name, channel.kind, Printable.count(channel.subscribers), Printable.count(channel.members),
                isStream ? Printable.count(channel.topics) : "", isStream ? Printable.count(channel.flows) : "",
                isStream ? "" : Printable.count(channel.head))
        }
        return [""] + table.lines
    }
}
