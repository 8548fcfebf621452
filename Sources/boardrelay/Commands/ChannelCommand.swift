import RelayClient

extension Command {
    static let channel = Command(
        name: "channel",
        summary: "freezes channels: everybody but moderators only looks on",
        arguments: [
            .init(name: "ACTION", help: "freeze or unfreeze."),
            .init(name: "NAME", help: "The channel's name; the message and the stream channel of it are meant."),
        ],
        options: [
            .value("--timeout", as: "TIME", help: "Gives up after this time with exit code 124; 30s if not given."),
            .json, .url, .user, .key, .keyFile, .token, .tokenFile,
        ],
        notes: [
            "For moderators, as 'boardrelay user' is: give --as, it is what the log shows. A channel that is frozen stays so over restarts of the relay, whether somebody is in it or not; those in it are told.",
        ],
        examples: [
            .init("boardrelay channel freeze lesson", "Nobody but moderators draws on 'lesson'."),
            .init("boardrelay channel unfreeze lesson", "Everybody who might before does again."),
        ],
        run: moderateChannel)

    private enum ChannelAction: String, CaseIterable { case freeze, unfreeze }

    private static func moderateChannel(_ arguments: Arguments) async throws -> ExitCode {
        let action: ChannelAction = try arguments.action()
        let name = try arguments.name(argument: 1, "NAME")!
        let json = arguments.flag("--json")
        return try await moderate("channel", arguments) { moderation in
            switch action {
            case .freeze: try await moderation.freeze(name)
            case .unfreeze: try await moderation.unfreeze(name)
            }
            if json {
                let fields: JSON = ["type": .string(action.rawValue), "channel": .string(name)]
                try Console.print(fields.line)
            } else {
                Console.note("\(Printable.escaped(name)) is " + (action == .freeze ? "frozen." : "not frozen any more."))
            }
        }
    }
}
