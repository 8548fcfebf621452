import RelayClient
import RelayConsole
import RelayIO
import RelayWire

extension Command {
    static let sub = Command(
        name: "sub",
        summary: "prints what arrives on a channel",
        arguments: [.init(name: "CHANNEL", help: "The channel's name.")],
        options: [
            .json,
            .flag(
                "--raw",
                help: "Prints only payloads, each with a newline behind it; the rest goes to standard error."),
            .value("-n", "--count", as: "COUNT", help: "Ends after this many messages and packets."),
            .value("--timeout", as: "TIME", help: "Ends after this time with exit code 124. Default: never."),
            .list("--topic", as: "TOPIC", help: "Also joins the stream channel and prints the packets of this topic."),
            .flag("--stream", help: "Also joins the stream channel and prints who publishes there."),
            .flag("--presence", help: "Prints who comes, goes and changes."),
            .flag("--metadata", help: "Prints the channel's metadata and its changes."),
            .flag("--locks", help: "Prints the channel's locks and what happens to them."),
            .choice("--since", as: "WHERE", of: Start.self, default: .now, help: "beginning: prints all kept messages first."),
            .flag("--until-now", help: "Ends when every message accepted until now has come."),
            .value("--packets-per-second", as: "COUNT", help: "Takes at most so many packets: of each slot the newest. Default: all."),
            .value("--bytes-per-second", as: "COUNT", help: "Takes at most so many bytes of packets, 1024 or more. Default: all."),
            .flag("--quiet", help: "Hides this user from others."),
            .url, .space, .user, .key, .keyFile, .token, .tokenFile,
        ],
        notes: [
            "Without --json, invisible characters are printed as escapes, so nothing that others send can change the terminal.",
            "If a moderator disconnects or bans this user, sub prints why and exits with 1.",
        ],
        examples: [
            .init("boardrelay sub lesson --json", "Every message on the board 'lesson', one JSON object a line."),
            .init("boardrelay sub lesson --topic points --topic cursor", "Messages, and the live points and cursors between them."),
            .init("boardrelay sub lesson --since beginning", "Also earlier messages that the relay keeps."),
            .init(
                "boardrelay sub lesson --raw | while read line; do echo \"$line\"; done",
                "Only what was sent, for other programs."),
            .init("boardrelay sub lesson --since beginning --until-now --json", "Only the messages that the relay keeps."),
            .init("boardrelay sub lesson -n 1 --timeout 10s", "Waits for one message; exit code 124 if none comes in 10 s."),
        ],
        run: sub)

    private enum Start: String, CaseIterable { case now, beginning }

    private static func sub(_ arguments: Arguments) async throws -> ExitCode {
        let channel = try arguments.channel()
        let topics = try arguments.names("--topic")
        let count = try arguments.integer("-n", in: 1...Int.max)
        let timeout = try arguments.duration("--timeout")
        let since: Since? = try arguments.choice("--since", of: Start.self) == .beginning ? .beginning : nil
        let limits = ReaderLimits(
            packetsPerSecond: try arguments.integer("--packets-per-second", in: Limits.readerPacketsPerSecond),
            bytesPerSecond: try arguments.integer("--bytes-per-second", in: Limits.readerBytesPerSecond))
        let user = try arguments.user()
        let form = try PrintForm(arguments)
        var arrived = 0
        let code = try await withClient(arguments, as: user, timeout: timeout, listens: true) { client in
            let wanted = [("--presence", Feature.presence), ("--metadata", .metadata), ("--locks", .locks)].filter { arguments.flag($0.0) }
            let features = Set(wanted.map(\.1))
            if limits != ReaderLimits() { try await client.setReaderLimits(limits) }
            try await client.subscribe(channel, features: features.union([.messages]), quiet: arguments.flag("--quiet"), since: since)
            if !topics.isEmpty || arguments.flag("--stream") {
                let stream = try await client.join(channel, features: features, quiet: arguments.flag("--quiet"))
                for topic in topics { try await stream.subscribeTopic(topic, users: .all) }
            }
            if form == .json { try Console.print(EventJSON.subscribed(channel, as: user).line) }
            Console.note("Listening on \(channel) as \(user).")
            // Where the barrier fails the link has ended for good, or the channel is gone, and an event says so.
            if arguments.flag("--until-now") { Task { if (try? await client.barrier(in: channel)) != nil { await client.close() } } }
            events: for await events in client.told {
                for event in events.oneByOne {
                    if try show(event, as: form, topics: arguments.flag("--stream")) { arrived += 1 }
                    if let count, arrived >= count { break events }
                }
            }
            return .ok
        }
        if code == .timedOut {
            let wanted = count.map { " of \($0)" } ?? ""
            Console.note("boardrelay sub: timed out; \(arrived)\(wanted) arrived")
        }
        return code
    }

    /// Prints an event where it belongs.
    ///
    /// - Returns: whether it is one of those that are counted.
    /// - Throws: `Failure` when the link has ended for good, or this client is no longer in the channel; `Console.OutputClosed`.
    private static func show(_ event: ClientEvent, as form: PrintForm, topics: Bool) throws -> Bool {
        switch event {
        case .message, .board, .packet, .direct:
            try form.print(message: event)
            if case .direct(let message) = event { message.acknowledge() }
            return true
        case .link(let state):
            // It is no data.
            if form == .json { Console.note(EventJSON.object(event).line) }
            switch state {
            case .closed(let reason) where reason.code == .clientClosed: break
            case .closed(let reason): throw Failure(Printable.escaped(EventText.words(reason)))
            case .waiting where form != .json: Console.note(EventText.line(event))
            case .idle, .connecting, .connected, .waiting: break
            }
        case .topics where !topics: break
        case .presence, .topics, .metadata, .locks, .cleared, .accessChanged, .channelMode: try form.print(event)
        case .refused(let refusal) where refusal.subject == .channel:
            // The user has lost the channel: nothing would ever come.
            if form == .json { try form.print(event) }
            throw Failure(EventText.line(event))
        case .packetsLost, .packetsDropped, .messagesMissed, .caughtUp, .refused, .accessExpiring, .joinCodeEnded:
            if form == .json { try form.print(event) } else { Console.note(EventText.line(event)) }
        }
        return false
    }
}
