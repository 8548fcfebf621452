/// Help texts, laid out for a terminal of 80 columns.
package enum Help {
    package static let width = 80

    package static func text(for command: Command, program: String = "boardrelay") -> String {
        var lines = ["\(program) \(command.name): \(command.summary)", ""]
        let arguments = command.arguments.map { $0.isOptional ? " [\($0.name)]" : " " + $0.name }.joined()
        lines.append("Usage: \(program) \(command.name)\(arguments) [options]")
        if !command.arguments.isEmpty {
            lines += ["", "Arguments:"] + columns(command.arguments.map { ($0.name, $0.help) })
        }
        lines += ["", "Options:"] + columns((command.options + [Command.help]).map { (label($0), $0.fullHelp) })
        for note in command.notes { lines += [""] + wrap(note, width: width) }
        lines += examples(command.examples)
        return lines.joined(separator: "\n")
    }

    package static func overview(_ commands: [Command], notes: [(String, String)], examples list: [Command.Example]) -> String {
        var lines = ["boardrelay: a realtime relay for whiteboards, and the tools to use it", ""]
        lines += ["Usage: boardrelay COMMAND [options]", "       boardrelay COMMAND --help", "", "Commands:"]
        lines += columns(commands.map { ($0.name, $0.summary) })
        lines += ["", "Everywhere:"] + columns(notes)
        lines += examples(list)
        return lines.joined(separator: "\n")
    }

    private static func label(_ option: Command.Option) -> String {
        // Long names stand in one column, with or without a short one before them.
        let names = option.names.joined(separator: ", ")
        return (option.names.count == 1 ? "    " : "") + names + (option.value.map { " " + $0 } ?? "")
    }

    private static func examples(_ examples: [Command.Example]) -> [String] {
        guard !examples.isEmpty else { return [] }
        return ["", "Examples:"] + examples.flatMap { ["  " + $0.line] + wrap($0.meaning, width: width - 6).map { "      " + $0 } }
    }

    /// Labels on the left, texts wrapped on the right; a long label has its text below.
    private static func columns(_ rows: [(String, String)]) -> [String] {
        let widest = min(rows.map(\.0.count).max() ?? 0, 26)
        return rows.flatMap { label, text in
            let wrapped = wrap(text, width: width - widest - 4)
            let indent = String(repeating: " ", count: widest + 4)
            if label.count > widest { return ["  " + label] + wrapped.map { indent + $0 } }
            let padded = label + String(repeating: " ", count: widest - label.count)
            return ["  " + padded + "  " + (wrapped.first ?? "")] + wrapped.dropFirst().map { indent + $0 }
        }
    }

    /// Lines of at most this width; what stands on a line of its own in the text stays so.
    package static func wrap(_ text: String, width: Int) -> [String] {
        text.split(separator: "\n").flatMap { wrap(line: $0, width: width) }
    }

    private static func wrap(line text: Substring, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }
}
