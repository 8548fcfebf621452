import RelayIO

extension String {
    /// Without white space and line ends on both sides.
    package var trimmed: String { String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()) }
}

/// Asks whoever sits at the terminal.
package enum Question {
    /// Whether somebody can be asked: what is said can be read there, and what is typed comes from there.
    package static var canBeAsked: Bool { Console.inputIsTerminal && Console.errorsAreTerminal }

    /// - Returns: whether the answer is yes; the end of the input is no.
    package static func isYes(_ words: String) -> Bool {
        // A command that has been at a relay watches Ctrl-C by now: at a question it ends.
        let watching = [SIGINT, SIGTERM].map { ($0, signal($0, SIG_DFL)) }
        defer { for (number, handler) in watching { signal(number, handler) } }
        Console.endPassing()
        Console.noteRaw("\(words) [y/N] ")
        return ["y", "yes"].contains((readLine() ?? "").trimmed.lowercased())
    }
}
