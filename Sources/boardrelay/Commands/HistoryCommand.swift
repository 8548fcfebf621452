import RelayClient
import RelayConsole
import RelayIO
import RelayWire

extension Command {
    static let history = Command(
        name: "history",
        summary: "prints the kept messages of a channel",
        arguments: [.init(name: "CHANNEL", help: "The message channel's name.")],
        options: [
            .value("-n", "--count", as: "COUNT", help: "Prints at most this many. Default: all that are kept."),
            .value("--from", as: "OFFSET", help: "Starts at this offset; with --backwards goes down from it."),
            .flag("--backwards", help: "Prints the newest first."),
            .flag("--raw", help: "Prints only payloads, each with a newline behind it."),
            .value("--timeout", as: "TIME", help: "Gives up after this time with exit code 124. Default: 30s."),
            .json, .url, .space, .user, .key, .keyFile, .token, .tokenFile,
        ],
        notes: [
            """
            A relay keeps a channel's newest messages for 10 minutes, at most 1,000 and 8 MiB, unless its operator changed that. \
            Records are not among them: 'boardrelay board export' has those. \
            Standard error tells what is no longer kept. A message sent in parts is one line, which says how many parts are left if \
            some are gone.
            """
        ],
        examples: [
            .init("boardrelay history lesson", "All that is kept, oldest first."),
            .init("boardrelay history lesson --backwards -n 10 --json", "The ten newest, newest first, one JSON object a line."),
        ],
        run: history)

    private static func history(_ arguments: Arguments) async throws -> ExitCode {
        let channel = try arguments.channel()
        let count = try arguments.integer("-n", in: 1...Int.max) ?? .max
        let from = try arguments.integer("--from", in: 0...Int.max).map { UInt64($0) }
        let timeout = try arguments.duration("--timeout") ?? .seconds(30)
        let backwards = arguments.flag("--backwards")
        let form = try PrintForm(arguments)
        return try await withClient(arguments, as: try arguments.user(), timeout: timeout) { client in
            var joined = JoinedHistory(backwards: backwards)
            var page = try await client.history(of: channel, from: from, backwards: backwards, limit: min(count, 100))
            guard page.epoch != nil else {
                guard try await client.boards().contains(where: { $0.channel == channel }) else {
                    throw await noSuch("message channel", channel, client)
                }
                Console.note(
                    "Nobody has been in \(channel) for a while: there is no history. What its board keeps: 'boardrelay board export \(channel)'."
                )
                return .ok
            }
            if page.floor > 0 {
                Console.note(
                    "The history begins after #\(page.floor); the newest is #\(page.head). What the board keeps: 'boardrelay board export \(channel)'."
                )
            }
            page.messages.forEach { joined.add($0) }
            while let next = page.next, !isEnough(joined, count) {
                page = try await client.history(of: channel, from: next, backwards: backwards, limit: 100)
                page.messages.forEach { joined.add($0) }
            }
            if joined.count == 0, page.floor == 0 {
                Console.note("No messages are kept. What the board keeps: 'boardrelay board export \(channel)'.")
            }
            for entry in joined.entries(count) {
                switch entry {
                case .whole(let message): try form.print(message: .message(message))
                case .incomplete(let parts): try show(incomplete: parts, as: form)
                }
            }
            return .ok
        }
    }

    /// Parts of a message that are still to come may change the order: a page more tells.
    private static func isEnough(_ joined: JoinedHistory, _ count: Int) -> Bool {
        joined.count >= count && joined.entries(count).allSatisfy(\.isWhole)
    }

    private static func show(incomplete parts: [Message], as form: PrintForm) throws {
        let newest = parts.last!, all = Int(newest.part!.of)
        let bytes = parts.reduce(0) { $0 + $1.payload.byteCount }
        let object: JSONValue = [
            "type": "incomplete", "channel": .string(newest.channel), "sender": .string(newest.sender),
            "offset": .integer(Int(clamping: newest.offset)), "time": .integer(Int(clamping: newest.wallMilliseconds)),
            "customType": .optional(newest.customType), "bytes": .integer(bytes),
            "parts": .integer(parts.count), "partsSent": .integer(all),
        ]
        var line = newest
        line.key = nil
        line.payload = .text("large message, \(Printable.count(bytes, "byte")) in \(parts.count) of \(all) parts")
        switch form {
        case .json: try Console.print(object.line)
        case .text: try Console.print(EventText.line(.message(line)))
        case .raw: Console.note("Not whole: \(EventText.line(.message(line)))")
        }
    }
}
