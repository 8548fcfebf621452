import RelayConsole
import RelayServer

@testable import boardrelay

/// What `docs/command-line.md` says of each command: its `--help` without notes and examples.
enum CommandPages {
    /// Options that many commands share stand once; a command that takes one says so.
    private static let connecting: [Command.Option] = [.url, .key, .keyFile, .token, .tokenFile, .user]

    static var connection: String { connecting.map(line).joined() + line(.json) }

    static var commands: String { Boardrelay.commands.map(section).joined(separator: "\n") }

    private static func section(_ command: Command) -> String {
        let arguments = command.arguments.map { $0.isOptional ? " [\($0.name)]" : " \($0.name)" }.joined()
        var text = "## \(command.name)\n\n`boardrelay \(command.name)\(arguments)` \(command.summary).\n\n"
        text += command.arguments.map { "* `\($0.name)`: \(plain($0.help))\n" }.joined()
        let shared = command.options.filter(isShared)
        text += command.options.filter { !isShared($0) }.map(line).joined()
        return text + sharedLine(shared)
    }

    /// Whether an option says here what it says everywhere.
    private static func isShared(_ option: Command.Option) -> Bool {
        (connecting + [.json]).contains { $0.names == option.names && $0.help == option.help }
    }

    private static func sharedLine(_ options: [Command.Option]) -> String {
        let names = options.flatMap(\.names)
        let json = names.contains("--json") ? ["`--json`"] : []
        let others = names.filter { $0 != "--json" }
        let told = others.count == connecting.count ? ["[connection options](#connection-options)"] : others.map { "`\($0)`" }
        return names.isEmpty ? "" : "* " + (json + told).joined(separator: ", ") + "\n"
    }

    private static func line(_ option: Command.Option) -> String {
        let value = option.value.map { " \($0)" } ?? ""
        return "* `\(option.names.joined(separator: "`, `"))\(value)`: \(plain(option.help))\(option.repeats ? " May be repeated." : "")\n"
    }

    /// Without a folder of this machine, and without what Markdown would take for a mark; lines stay below their item.
    private static func plain(_ text: String) -> String {
        text.replacing(RelayServer.Storage.defaultFolder, with: "~/.local/share/boardrelay/data")
            .replacing("*", with: "\\*").replacing("<", with: "\\<").replacing("\n", with: "\n  * ")
    }
}
