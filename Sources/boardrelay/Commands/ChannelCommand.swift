import RelayClient
import RelayConsole
import RelayWire

extension Command {
    static let channel = Command(
        name: "channel",
        summary: "freezes channels, opens them for editing, and ends them",
        arguments: [
            .action(ChannelAction.self, help: "freeze, unfreeze, open, close or end."),
            .init(name: "NAME", help: "The name of both the message and the stream channel."),
        ],
        options: [
            .value("--reason", as: "TEXT", help: "end: text for the people in it, at most 256 bytes."),
            .value("--timeout", as: "TIME", help: "Gives up after this time with exit code 124. Default: 30s, for end none."),
            .json, .url, .space, .user, .key, .keyFile, .token, .tokenFile,
        ],
        notes: [
            """
            If nobody is in the channel, the command does it, says so, and lists the channels in use. Hidden users (sub --quiet) do \
            not count.
            """,
            "For moderators: see 'boardrelay user'. It survives a restart. The relay tells the people in the channel.",
            """
            end takes everybody out of the channel and removes its board, history, metadata and locks for good: export the board first. \
            People may come in again, to an empty channel; freeze it to keep it empty. end stops when no file in the data folder holds \
            any of it; Ctrl-C ends only the waiting.
            """,
        ],
        examples: [
            .init("boardrelay channel freeze lesson", "Nobody but moderators draws on 'lesson'."),
            .init("boardrelay channel unfreeze lesson", "Everybody who may draw can draw again."),
            .init("boardrelay channel open lesson", "Everybody who may draw there may also change what others drew."),
            .init("boardrelay channel close lesson", "Only moderators and coeditors may, as before."),
            .init("boardrelay channel end lesson --reason 'The lesson is over.'", "Everybody is out, and all that was in it is gone."),
        ],
        run: moderateChannel)

    private enum ChannelAction: String, CaseIterable {
        case freeze, unfreeze, open, close, end

        var words: String {
            switch self {
            case .freeze: "frozen"
            case .unfreeze: "no longer frozen"
            case .open: "open for editing"
            case .close: "no longer open for editing"
            case .end: "gone, from the relay's disk, too"
            }
        }
    }

    private static func moderateChannel(_ arguments: Arguments) async throws -> ExitCode {
        let action: ChannelAction = try arguments.action()
        let name = try arguments.name(argument: 1, "NAME")!
        let json = arguments.flag("--json"), reason = arguments.value("--reason"), isEnd = action == .end
        if reason != nil, !isEnd { throw UsageError("option --reason is for end") }
        try checkReason(reason)
        let address = try arguments.address()
        let timeout = try arguments.duration("--timeout") ?? (isEnd ? nil : .seconds(30))
        return try await moderate("channel", arguments, timeout: timeout, isErasing: isEnd) { client in
            // Looked for first: what is not found out changes nothing.
            let room = try await Room(name, client)
            switch action {
            case .freeze: try await client.moderation.freeze(name)
            case .unfreeze: try await client.moderation.unfreeze(name)
            case .open: try await client.moderation.openEditing(name)
            case .close: try await client.moderation.closeEditing(name)
            case .end: try await untilErased { try await client.moderation.endChannel(name, reason: reason) }
            }
            if json {
                let fields: JSONValue = ["type": .string(action.rawValue), "channel": .string(name), "relay": .string("\(address)")]
                try Console.print(JSONValue.object([fields, room.fields]).line)
            } else {
                Console.note("\(address): \(name) is \(action.words).")
                for line in room.lines { Console.note(line) }
            }
        }
    }

    /// A channel, and, if nobody is in it, where people are.
    private struct Room {
        let name: String
        let people: Int
        /// Those with the most people first.
        private(set) var others: [(channel: String, people: Int)] = []
        private var isWhole = true

        init(_ name: String, _ client: WhiteboardClient) async throws {
            self.name = name
            people = try await People.inside(name, client).count
            guard people == 0 else { return }
            let found = try await People.look(client)
            isWhole = found.isWhole
            others = found.channels.map { ($0, $1.count) }.sorted { ($1.people, $0.channel) < ($0.people, $1.channel) }
        }

        var fields: JSONValue {
            let used = others.map { ["channel": .string($0.channel), "people": .integer($0.people)] as JSONValue }
            return ["people": .integer(people), "channelsInUse": people == 0 ? .array(used) : .null]
        }

        var lines: [String] {
            guard people == 0 else { return [] }
            guard !others.isEmpty else {
                return [
                    "Nobody is in \(name), nor" + (isWhole ? "" : ", of the first \(People.askedMax) people,") + " in any other channel."
                ]
            }
            var table = Table(("  CHANNEL", .left), ("PEOPLE", .right))
            for other in others { table.add("  \(other.channel)", Printable.count(other.people)) }
            return ["Nobody is in \(name). People are in:"] + table.lines
        }
    }
}
