import RelayConsole
import RelayServer

@testable import boardrelay

/// What `docs/command-line.md` says of each command: its `--help` without notes and examples.
enum CommandPages {
    /// An option that two commands have in the same words stands once, before all commands; of two wordings the more common one.
    private static let shared: [Command.Option] = {
        let all = Boardrelay.commands.flatMap(\.options)
        func uses(_ option: Command.Option) -> Int { all.count { isSame($0, option) } }
        var found: [Command.Option] = []
        for option in all where uses(option) >= 2 && !all.contains(where: { $0.names == option.names && uses($0) > uses(option) }) {
            if !found.contains(where: { isSame($0, option) }) { found.append(option) }
        }
        return found
    }()

    private static let connecting: [Command.Option] = [.url, .user, .key, .keyFile, .token, .tokenFile]

    static var sharedOptions: String {
        (connecting + shared.filter { option in !connecting.contains { isSame($0, option) } }).map(line).joined()
    }

    static var commands: String {
        // What shows and measures a relay is for a look at it, not for running it: `--help` is enough.
        Boardrelay.commands.filter { !["bench", "demo", "replay"].contains($0.name) }.map(section).joined(separator: "\n")
    }

    private static func section(_ command: Command) -> String {
        let arguments = command.arguments.map { $0.isOptional ? " [\($0.name)]" : " \($0.name)" }.joined()
        var text = "## \(command.name)\n\n`boardrelay \(command.name)\(arguments)` \(command.summary).\n\n"
        text += command.arguments.filter { $0.help != "The channel's name." }.map { "* `\($0.name)`: \(plain($0.help))\n" }.joined()
        text += command.options.filter { !isShared($0) }.map(line).joined()
        return text + sharedLine(command.options.filter(isShared))
    }

    private static func isSame(_ one: Command.Option, _ other: Command.Option) -> Bool {
        one.names == other.names && one.help == other.help
    }
    private static func isShared(_ option: Command.Option) -> Bool { shared.contains { isSame($0, option) } }

    /// The options of a command that stand elsewhere; those of a connection, which come together, are one link.
    private static func sharedLine(_ options: [Command.Option]) -> String {
        let takesConnection = connecting.allSatisfy { option in options.contains { isSame($0, option) } }
        let own = takesConnection ? options.filter { option in !connecting.contains { isSame($0, option) } } : options
        let told = own.map { "`\($0.names.last!)`" } + (takesConnection ? ["[connection options](#shared-options)"] : [])
        return told.isEmpty ? "" : "* " + told.joined(separator: ", ") + "\n"
    }

    private static func line(_ option: Command.Option) -> String {
        let value = option.value.map { " \($0)" } ?? ""
        return "* `\(option.names.joined(separator: "`, `"))\(value)`: \(plain(own(option)))\n"
    }

    /// An option's help without the first sentence where that of its name stands before all commands.
    private static func own(_ option: Command.Option) -> String {
        func first(_ text: String) -> String { text.prefix { $0 != "." } + ". " }
        let head = first(option.help)
        let isKnown = shared.contains { $0.names == option.names && !isSame($0, option) && first($0.help) == head }
        return isKnown ? String(option.fullHelp.dropFirst(head.count)) : option.fullHelp
    }

    /// Without a folder of this machine, and without what Markdown would take for a mark; lines stay below their item.
    private static func plain(_ text: String) -> String {
        text.replacing(WhiteboardRelay.Storage.defaultFolder, with: "~/.local/share/boardrelay/data")
            .replacing("*", with: "\\*").replacing("<", with: "\\<").replacing("\n", with: "\n  * ")
    }
}
