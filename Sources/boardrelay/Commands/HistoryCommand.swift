import RelayClient
import RelayConsole
import RelayIO
import RelayWire

extension Command {
    static let history = Command(
        name: "history",
        summary: "prints the messages that the relay keeps of a channel",
        arguments: [.init(name: "CHANNEL", help: "The message channel's name.")],
        options: [
            .value("-n", "--count", as: "COUNT", help: "At most so many; all that are kept if not given."),
            .value("--from", as: "OFFSET", help: "From this offset on; with --backwards from it down."),
            .flag("--backwards", help: "The newest first."),
            .value("--timeout", as: "TIME", help: "Gives up after this time with exit code 124; 30s if not given."),
            .json, .url, .user, .key, .keyFile, .token, .tokenFile,
        ],
        notes: [
            "A relay keeps the newest messages of a channel for ten minutes, at most 1,000 and 8 MiB, unless its operator has set it otherwise. What is not kept any more is said on standard error.",
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
        let backwards = arguments.flag("--backwards"), json = arguments.flag("--json")
        return try await withClient(arguments, as: try arguments.user(), timeout: timeout) { client in
            var next = from
            var left = count
            var isFirst = true
            repeat {
                let page = try await client.history(of: channel, from: next, backwards: backwards, limit: min(left, 100))
                if isFirst { note(page, channel) }
                isFirst = false
                for message in page.messages {
                    try Console.print(json ? EventJSON.object(.message(message)).line : EventText.line(.message(message)))
                }
                left -= page.messages.count
                next = page.next
            } while next != nil && left > 0
            return .ok
        }
    }

    private static func note(_ page: HistoryPage, _ channel: String) {
        if page.epoch == nil { return Console.note("There is no message channel \(Printable.escaped(channel)).") }
        if page.floor > 0 { Console.note("Messages up to #\(page.floor) are not kept any more; the newest is #\(page.head).") }
    }
}
