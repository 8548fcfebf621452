import RelayClient
import RelayConsole
import RelayIO
import RelayWire

extension Command {
    static let presence = Command(
        name: "presence",
        summary: "shows the users in a channel",
        arguments: [.init(name: "CHANNEL", help: "The channel's name.")],
        options: [
            .flag("--stream", help: "Uses the stream channel of this name instead of the message channel."),
            .flag("--watch", help: "Goes on until Ctrl-C: prints who comes, goes and changes."),
            .value("--timeout", as: "TIME", help: "Ends after this time with exit code 124. Default: never."),
            .json, .url, .space, .user, .key, .keyFile, .token, .tokenFile,
        ],
        notes: [
            "Others do not see this command's user.",
        ],
        examples: [
            .init("boardrelay presence lesson", "Who is there now, with their states."),
            .init("boardrelay presence lesson --watch --json", "And what changes, one JSON object a line."),
        ],
        run: presence)

    private static func presence(_ arguments: Arguments) async throws -> ExitCode {
        let name = try arguments.channel()
        let channel = ChannelID(kind: arguments.flag("--stream") ? .stream : .message, channel: try Name(name))
        let timeout = try arguments.duration("--timeout")
        let json = arguments.flag("--json")
        return try await withClient(arguments, as: try arguments.user(), timeout: timeout, listens: arguments.flag("--watch")) { client in
            if arguments.flag("--watch") {
                try await watch(channel, client: client, json: json)
            } else {
                try await list(channel, client: client, json: json)
            }
            return .ok
        }
    }

    /// Everybody, page by page, as one list.
    private static func list(_ channel: ChannelID, client: WhiteboardClient, json: Bool) async throws {
        let presence = try client.presence(of: channel.kind == .stream ? .stream(channel.channel.text) : .message(channel.channel.text))
        var members: [Member] = []
        var next: String?
        repeat {
            let page = try await presence.users(after: next)
            members += page.members
            next = page.next
        } while next != nil
        if json {
            try Console.print(EventJSON.presence(channel, .snapshot(members: members, total: members.count)).line)
            return
        }
        Console.note(members.isEmpty ? "Nobody is in \(channel.channel)." : "\(members.count) in \(channel.channel):")
        for member in members { try Console.print(EventText.member(member)) }
    }

    private static func watch(_ channel: ChannelID, client: WhiteboardClient, json: Bool) async throws {
        switch channel.kind {
        case .message: try await client.subscribe(channel.name, features: [.presence], quiet: true)
        case .stream: _ = try await client.join(channel.name, features: [.presence], quiet: true)
        }
        for await event in client.told {
            switch event {
            case .presence: try Console.print(json ? EventJSON.object(event).line : EventText.line(event))
            case .link(let state):
                if json { try Console.print(EventJSON.object(event).line) }
                if case .closed(let reason) = state, reason.code != .clientClosed {
                    throw Failure(Printable.escaped(EventText.words(reason)))
                }
                if case .waiting = state { Console.note(EventText.line(event)) }
            default: continue
            }
        }
    }
}
