/// What a command is called, takes and does, declared once: the parser, the help and the tests read it.
struct Command: Sendable {
    var name: String
    /// Half a sentence, for the list of commands and the top of the help.
    var summary: String
    var arguments: [Argument] = []
    var options: [Option] = []
    /// Paragraphs below the options.
    var notes: [String] = []
    var examples: [Example] = []
    var run: @Sendable (Arguments) async throws -> ExitCode

    /// Something without a name, in order; only the last ones may be left out.
    struct Argument: Sendable {
        var name: String
        var isOptional = false
        var help: String
    }

    struct Option: Sendable {
        /// `--json`, or short and long, `-n` and `--count`.
        var names: [String]
        /// What stands for the value in the help; `nil` for a flag.
        var value: String?
        var repeats = false
        var help: String

        static func flag(_ names: String..., help: String) -> Option { Option(names: names, value: nil, help: help) }
        static func value(_ names: String..., as value: String, help: String) -> Option {
            Option(names: names, value: value, help: help)
        }
        static func list(_ names: String..., as value: String, help: String) -> Option {
            Option(names: names, value: value, repeats: true, help: help)
        }
    }

    struct Example: Sendable {
        var line: String
        var meaning: String

        init(_ line: String, _ meaning: String) {
            self.line = line
            self.meaning = meaning
        }
    }

    static let help = Option.flag("-h", "--help", help: "Shows this.")

    /// With `--help`, which every command takes.
    var allOptions: [Option] { options + [Self.help] }
}

/// What the program ends with.
enum ExitCode: Int32, Sendable {
    case ok = 0
    case failed = 1
    case usage = 2
    case timedOut = 124
    /// Ctrl-C, as shells count it.
    case interrupted = 130
}

/// A command line that cannot be understood: exit code 2.
struct UsageError: Error, Equatable, CustomStringConvertible {
    var description: String
    init(_ text: String) { description = text }
}

/// Why a command did not do what it was asked: exit code 1, or the one given.
struct Failure: Error, Equatable, CustomStringConvertible {
    var description: String
    var exitCode: ExitCode

    init(_ text: String, exitCode: ExitCode = .failed) {
        description = text
        self.exitCode = exitCode
    }
}
