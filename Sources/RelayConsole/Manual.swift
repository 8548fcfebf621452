/// The manual page, section 1, made from the table that makes the help.
package enum Manual {
    package static func page(_ commands: [Command], version: String, notes: [(String, String)]) -> String {
        var lines = [
            ".\\\" From 'boardrelay man'.", ".TH BOARDRELAY 1 \"\" \"boardrelay \(version)\" \"User commands\"",
            ".SH NAME", "boardrelay \\- a realtime relay for whiteboards, and the tools to use it",
            ".SH SYNOPSIS", ".B boardrelay", ".I COMMAND", "[options]",
            ".SH COMMANDS",
        ]
        for command in commands { lines += section(command) }
        lines.append(".SH ENVIRONMENT AND EXIT STATUS")
        for (name, meaning) in notes { lines += tagged(".B \(text(name))", meaning) }
        return lines.joined(separator: "\n")
    }

    private static func section(_ command: Command) -> [String] {
        let arguments = command.arguments.map { $0.isOptional ? " [\($0.name)]" : " " + $0.name }.joined()
        var lines = [
            ".SS \(text("boardrelay " + command.name + arguments + " [options]"))", paragraph(command.summary.capitalizedSentence),
        ]
        for argument in command.arguments { lines += tagged(".I \(text(argument.name))", argument.help) }
        for option in command.options + [Command.help] {
            let names = option.names.map { "\\fB\(text($0))\\fR" }.joined(separator: ", ")
            lines += tagged(names + (option.value.map { " \\fI\(text($0))\\fR" } ?? ""), option.fullHelp)
        }
        for note in command.notes { lines += [".PP", paragraph(note)] }
        if !command.examples.isEmpty { lines += [".PP", "Examples:"] }
        for example in command.examples { lines += tagged(".B \(text(example.line))", example.meaning) }
        return lines
    }

    private static func tagged(_ tag: String, _ meaning: String) -> [String] { [".TP", tag, paragraph(meaning)] }

    /// What stands on a line of its own stays so.
    private static func paragraph(_ words: String) -> String {
        words.split(separator: "\n").map { text(String($0)) }.joined(separator: "\n.br\n")
    }

    /// Text as it is: a dash is the one that is typed, and no line is taken for a request.
    private static func text(_ words: String) -> String {
        let escaped = words.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }
}

extension String {
    fileprivate var capitalizedSentence: String { prefix(1).uppercased() + dropFirst() + "." }
}
