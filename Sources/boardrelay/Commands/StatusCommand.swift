import Foundation
import RelayCore
import RelayIO
import RelayServer

extension Command {
    static let status = Command(
        name: "status",
        summary: "shows what goes on in a relay on this machine",
        options: [
            .flag("--json", help: "One JSON object instead of tables."),
        ] + ControlSocket.options,
        notes: ["Asks over a Unix socket that only the user who runs the relay can open."],
        examples: [
            .init("boardrelay status", "The relay with the usual data folder, or else the one in memory on port 7420."),
            .init("boardrelay status --json | jq .census.counters", "What has happened since it started."),
        ],
        run: status)

    private static func status(_ arguments: Arguments) async throws -> ExitCode {
        let status = try ControlSocket.ask(try ControlSocket.sockets(arguments)) { path throws(RelayServerError) in try RelayServer.status(controlSocket: path) }
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
            + summary(census, status.journal) + sessions(census) + channels(census)
    }

    private static func summary(_ census: Census, _ journal: JournalStatus?) -> [String] {
        let counters = census.counters
        let lost = counters.packetsShedSlow + counters.packetsShedExpired
        var table = Table(("", .left), ("", .left))
        table.add(
            "now",
            "\(Printable.count(census.connections, "connection")), \(Printable.count(census.sessionsPresent, "session"))"
                + " (\(Printable.count(census.sessionsAway)) away), \(Printable.count(census.channels.count, "channel")),"
                + " \(Printable.size(census.queueMemoryBytes)) of queues")
        table.add(
            "messages",
            "\(Printable.count(counters.messagesAccepted)) accepted, \(Printable.count(counters.messagesDelivered)) delivered,"
                + " \(Printable.count(counters.refusals["rateLimited"] ?? 0)) over a rate")
        table.add(
            "packets",
            "\(Printable.count(counters.packetsAccepted)) accepted, \(Printable.count(counters.packetsQueued)) queued for readers,"
                + " \(Printable.count(lost)) lost to slow readers, \(Printable.count(counters.packetsDroppedRate)) over a rate")
        table.add(
            "kept",
            "\(Printable.count(census.metadataSets, "set")) of metadata, \(Printable.size(census.metadataBytes)), \(Printable.count(census.locks, "lock")); "
                + (journal.map(kept) ?? "in memory, gone with the relay"))
        table.add(
            "boards",
            "\(Printable.count(census.boards)), \(Printable.count(census.boardRecords, "record")), \(Printable.size(census.boardBytes))")
        table.add(
            "decided",
            "\(Printable.count(census.setRoles, "role")) set, \(Printable.count(census.frozenChannels, "channel")) frozen, \(Printable.count(census.bans, "ban")); "
                + Printable.count(counters.moderations, "decision"))
        if let failure = census.storageFailure { table.add("READ-ONLY", Printable.escaped(failure)) }
        return Array(table.lines.dropFirst())
    }

    private static func kept(_ journal: JournalStatus) -> String {
        "\(Printable.size(journal.bytes)) in \(Printable.escaped(journal.folder)), \(Printable.count(journal.records, "change")) by"
            + " \(Printable.count(journal.fsyncs, "sync")), \(Printable.count(journal.failures, "failure"))"
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
