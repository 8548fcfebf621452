import RelayClient
import RelayConsole
import RelayCore
import RelayIO
import RelayMonitoring
import RelayServer
import RelaySystem
import RelayWire

@available(macOS 15, iOS 18, *)
extension Command {
    static let status = Command(
        name: "status",
        summary: "shows users, channels and queues of a relay",
        options: [
            .flag("--json", help: "One JSON object instead of tables.")
        ] + ControlSocket.options + [
            .value("--timeout", as: "TIME", help: "With --url or a key: gives up after this time with exit code 124. Default: 30s."),
            .url, .space, .user, .key, .keyFile, .token, .tokenFile,
        ],
        notes: [
            "Asks a relay on this machine through a Unix socket that only the relay's user can open, and the group of a service.",
            """
            With --url, a key or a token, or if $BOARDRELAY_URL names another machine, status asks as a moderator's client, and shows \
            no single channels and no journal.
            """,
            """
            Users who lag by 250 ms or more stand first: BEHIND is how long something has been waiting for them. Then come those who \
            make the relay hold most: MEMORY is what counts to 'serve --memory' and to the quarter of an address. Above them stand the ten \
            addresses that hold most.
            """,
        ],
        examples: [
            .init("boardrelay status", "The relay of this machine on port 7420, or the one that $BOARDRELAY_URL names."),
            .init("boardrelay status --json | jq '.census.sessions | sort_by(-.memoryBytes)[:5]'", "Who holds most."),
            .init("boardrelay status --json | jq .census.addresses", "Which addresses hold most."),
            .init("boardrelay status --json | jq .census.counters", "What has happened since it started."),
            .init(
                "boardrelay status --url relay://192.168.1.5:7420 --key-file host.key",
                "Another machine's relay: its users, and which of them lag."),
        ],
        run: status)

    private static func status(_ arguments: Arguments) async throws -> ExitCode {
        let ofClients = ["--url", "--key", "--key-file", "--token", "--token-file"].filter { arguments.value($0) != nil }
        if let one = ofClients.first {
            for other in ["--data-dir", "--port", "--control"] { try arguments.exclude(one, other) }
            return try await askOverTheWire(arguments)
        }
        guard let place = try ControlSocket.place(arguments) else { return try await askOverTheWire(arguments) }
        for option in ["--as", "--timeout"] where arguments.value(option) != nil {
            throw UsageError("option \(option) wants --url or a key")
        }
        let space = try arguments.space()
        let (status, path) = try ControlSocket.ask(place, address: \.address) { path throws(RelayServerError) in
            try WhiteboardRelay.status(controlSocket: path, space: space)
        }
        guard space == nil, !arguments.flag("--json"), let report = try? WhiteboardRelay.spaces(controlSocket: path) else {
            return try show(status, isJSON: arguments.flag("--json"))
        }
        // The door's own figures say nothing of them.
        for line in StatusText.lines(status).prefix(1) + [""] + SpaceText.table(report.spaces) { try Console.print(line) }
        return .ok
    }

    static func show(_ status: Status, isJSON: Bool) throws -> ExitCode {
        var status = status
        if isJSON {
            try Console.print(status.line)
        } else {
            // One at which it is reached: it may listen on all.
            if let first = RelayAddress(status.address).flatMap({ Interfaces.reachable($0).first }) { status.address = first.description }
            for line in StatusText.lines(status) { try Console.print(line) }
        }
        return .ok
    }
}

extension Command {
    private static func askOverTheWire(_ arguments: Arguments) async throws -> ExitCode {
        let address = try arguments.address()
        let timeout = try arguments.duration("--timeout") ?? .seconds(30)
        return try await withClient(arguments, as: try arguments.user(), timeout: timeout) { client in
            var status = try await client.moderation.status()
            var users = status.users
            let addresses = status.addresses
            while let next = status.next {
                status = try await client.moderation.status(after: next)
                // A relay that names a page again would be asked for ever.
                guard status.users.first.map({ $0.user > next }) ?? true else {
                    throw Failure("\(address): the pages of status do not go on")
                }
                users += status.users
            }
            (status.users, status.addresses) = (users, addresses)
            if arguments.flag("--json") {
                try Console.print(WireStatus(address: address.description, status: status).line)
            } else {
                for line in StatusText.lines(status, of: address.description) { try Console.print(line) }
            }
            return .ok
        }
    }
}

/// What `status --json` prints of a relay that was asked over the wire.
private struct WireStatus: JSONObject {
    var address = ""
    var status = RelayStatus()

    mutating func fields(_ json: inout JSONFields) {
        json("address", &address)
        json("status", &status)
    }
}

/// A relay's status as tables.
enum StatusText {
    static func lines(_ status: Status) -> [String] {
        let census = status.census
        let uptime = Printable.clock(.seconds(Int64(clamping: status.uptimeSeconds)))
        return ["\(Printable.escaped(status.address))   pid \(status.pid)   up \(uptime)"] + space(status.space) + [""]
            + summary(census, status.journal, status.process) + addresses(census.addresses) + users(census.sessions) + channels(census)
    }

    private static func space(_ space: SpaceReport?) -> [String] {
        guard let space else { return [] }
        let took = space.appendMicroseconds.map { ", the last took \(Printable.time(.microseconds($0)))" } ?? ""
        let known = "space \(space.space)   \(space.role), start \(space.start)   log: \(space.log ?? "no server answers")"
        let entries = "entry \(space.position), on disk \(space.storedPosition)   \(Printable.count(space.appends, "append"))\(took)"
        return [known, entries] + (space.stopped.map { [Printable.escaped($0)] } ?? [])
    }

    private static func summary(_ census: Census, _ journal: JournalStatus?, _ process: ProcessUsage) -> [String] {
        let counters = census.counters
        let lost = counters.packetsShedSlow + counters.packetsShedExpired + counters.packetsShedReader
        var table = Table(("", .left), ("", .left))
        table.add(
            "now",
            "\(Printable.count(census.connections, "connection")) (at most \(Printable.count(census.connectionsMax))),"
                + " \(Printable.count(census.sessionsPresent, "session"))"
                + " (\(Printable.count(census.sessionsAway)) away), \(Printable.count(census.channels.count, "channel"))")
        table.add("queues", Printable.size(census.queueMemoryBytes))
        table.add(
            "messages",
            "\(Printable.count(counters.messagesAccepted)) accepted, \(Printable.count(counters.messagesDelivered)) delivered,"
                + " \(Printable.count(counters.refusals["rateLimited"] ?? 0)) over a rate")
        table.add(
            "packets",
            "\(Printable.count(counters.packetsAccepted)) accepted, \(Printable.count(counters.packetsQueued)) queued for readers")
        table.add("", "\(Printable.count(lost)) lost to slow readers, \(Printable.count(counters.packetsDroppedRate)) over a rate")
        table.add(
            "kept",
            "\(Printable.count(census.metadataSets, "set")) of metadata, \(Printable.size(census.metadataBytes)),"
                + " \(Printable.count(census.locks, "lock"))" + (journal == nil ? "; in memory, gone with the relay" : ""))
        if let journal { for line in kept(journal) { table.add("", line) } }
        table.add(
            "boards",
            "\(Printable.count(census.boards)), \(Printable.count(census.boardRecords, "record")), \(Printable.size(census.boardBytes))")
        table.add(
            "decided",
            "\(Printable.count(census.setRoles, "role")) set, \(Printable.count(census.frozenChannels.count, "channel")) frozen,"
                + " \(Printable.count(census.bans, "ban")); " + Printable.count(counters.moderations, "decision"))
        if !census.frozenChannels.isEmpty { table.add("frozen", names(census.frozenChannels)) }
        if !census.openChannels.isEmpty { table.add("open", names(census.openChannels)) }
        table.add(
            "process",
            "\(seconds(process.userMicroseconds)) s in the program, \(seconds(process.systemMicroseconds)) s in the system for it,"
                + " \(Printable.size(process.residentBytes)) of memory")
        if let guesses = guesses(counters.credentialsWrong) { table.add("guessed", guesses) }
        if let failure = census.storageFailure { table.add("READ-ONLY", Printable.escaped(failure)) }
        return Array(table.lines.dropFirst())
    }

    private static func guesses(_ wrong: UInt64) -> String? { wrong == 0 ? nil : Printable.count(wrong, "wrong credential") }
    private static func seconds(_ microseconds: Int) -> String { Printable.fixed(Double(microseconds) / 1e6) }

    private static func kept(_ journal: JournalStatus) -> [String] {
        [
            "\(Printable.size(journal.bytes)) in \(journal.folder)",
            "\(Printable.count(journal.records, "change")) by \(Printable.count(journal.fsyncs, "sync")),"
                + " \(Printable.count(journal.failures, "failure"))",
        ]
    }

    /// As many as fit into a line of the terminal, and the number of the others.
    static func names(_ all: [String]) -> String {
        var text = all[0], shown = 1
        while shown < all.count, text.count + all[shown].count < namesCharactersMax {
            text += ", " + all[shown]
            shown += 1
        }
        return text + (shown < all.count ? " and \(Printable.count(all.count - shown)) more" : "")
    }

    private static let namesCharactersMax = 50

    /// As a moderator sees it from anywhere.
    static func lines(_ status: RelayStatus, of address: String) -> [String] {
        let counters = status.counters
        let lost = counters.packetsShedSlow + counters.packetsShedExpired + counters.packetsShedReader
        var table = Table(("", .left), ("", .left))
        table.add(
            "now",
            "\(Printable.count(status.connections, "connection")), \(Printable.count(status.sessions.present, "session"))"
                + " (\(Printable.count(status.sessions.away)) away),"
                + " \(Printable.count(status.channels.message + status.channels.stream, "channel"))")
        table.add("queues", Printable.size(status.queuedBytes))
        table.add(
            "messages",
            "\(Printable.count(counters.messagesAccepted)) accepted, \(Printable.count(counters.messagesDelivered)) delivered")
        table.add(
            "packets",
            "\(Printable.count(counters.packetsAccepted)) accepted, \(Printable.count(counters.packetsQueued)) queued for readers")
        table.add("", "\(Printable.count(lost)) lost to slow readers, \(Printable.count(counters.packetsDroppedRate)) over a rate")
        table.add("boards", "\(Printable.count(status.boards)), \(Printable.size(status.boardBytes))")
        if let guesses = guesses(counters.credentialsWrong) { table.add("guessed", guesses) }
        if let failure = status.storageFailure { table.add("READ-ONLY", failure) }
        let uptime = Printable.clock(status.uptime)
        return ["\(Printable.escaped(address))   up \(uptime)", ""] + table.lines.dropFirst() + addresses(status.addresses)
            + users(status.users)
    }

    private static func addresses(_ addresses: [RelayStatus.Address]) -> [String] {
        guard !addresses.isEmpty else { return [] }
        var table = Table(("ADDRESS", .left), ("SESSIONS", .right), ("MEMORY", .right))
        for one in addresses { table.add(one.address, Printable.count(one.sessions), Printable.size(one.memoryBytes)) }
        return [""] + table.lines
    }

    /// Users who lag come first, the slowest on top; then users who hold twice as much memory as others, the most first.
    private static func users(_ users: [RelayStatus.User]) -> [String] {
        guard !users.isEmpty else { return ["", "Nobody is connected."] }
        var table = Table(
            ("USER", .left), ("FROM", .left), ("CLIENT", .left), ("MEMORY", .right), ("QUEUED", .right), ("BEHIND", .right),
            ("LOST", .right))
        let lagging = users.filter { $0.backlog >= slow }.sorted { ($1.backlog, $0.user) < ($0.backlog, $1.user) }
        let others = users.filter { $0.backlog < slow }.sorted { one, other in
            (one.memoryBytes.leadingZeroBitCount, one.user) < (other.memoryBytes.leadingZeroBitCount, other.user)
        }
        for user in lagging + others {
            let behind = user.backlog < slow ? "" : Printable.time(user.backlog)
            table.add(
                user.user, user.away ? "away" : user.peer, user.client, Printable.size(user.memoryBytes),
                Printable.size(user.queuedBytes), behind, Printable.count(user.packetsLost))
        }
        return [""] + table.lines
    }

    /// A queue that was not empty for less than this is one that was being written when it was asked for.
    private static let slow = Duration.milliseconds(250)

    private static func channels(_ census: Census) -> [String] {
        guard !census.channels.isEmpty else { return [] }
        var table = Table(
            ("CHANNEL", .left), ("KIND", .left), ("INSIDE", .right), ("SEEN", .right), ("TOPICS", .right), ("PUBLISHERS", .right),
            ("MESSAGES", .right))
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
