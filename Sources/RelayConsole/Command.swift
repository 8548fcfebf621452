/// What a command is called, takes and does, declared once: the parser, the help and the tests read it.
package struct Command: Sendable {
    package var name: String
    /// Half a sentence, for the list of commands and the top of the help.
    package var summary: String
    package var arguments: [Argument] = []
    package var options: [Option] = []
    /// Options of another command that it takes, too. Its notes say so; its help does not repeat them.
    package var borrowed: [Option] = []
    /// Paragraphs below the options.
    package var notes: [String] = []
    package var examples: [Example] = []
    package var run: @Sendable (Arguments) async throws -> ExitCode

    package init(
        name: String, summary: String, arguments: [Argument] = [], options: [Option] = [], borrowed: [Option] = [], notes: [String] = [],
        examples: [Example] = [],
        run: @escaping @Sendable (Arguments) async throws -> ExitCode
    ) {
        self.name = name
        self.summary = summary
        self.arguments = arguments
        self.options = options
        self.borrowed = borrowed
        self.notes = notes
        self.examples = examples
        self.run = run
    }

    /// Something without a name, in order; only the last ones may be left out.
    package struct Argument: Sendable {
        package var name: String
        package var isOptional = false
        /// All that it may be; empty: anything.
        package var words: [String]
        package var help: String

        package init(name: String, isOptional: Bool = false, words: [String] = [], help: String) {
            self.name = name
            self.isOptional = isOptional
            self.words = words
            self.help = help
        }

        /// The first argument of a command that does several things.
        package static func action<Action: RawRepresentable<String> & CaseIterable>(_: Action.Type, help: String) -> Argument {
            Argument(name: "ACTION", words: Action.allCases.map(\.rawValue), help: help)
        }

        /// The help as the end of a sentence.
        package var meaning: String { help.first!.lowercased() + help.dropFirst().prefix { $0 != "." } }
    }

    package struct Option: Sendable {
        /// `--json`, or short and long, `-n` and `--count`.
        package var names: [String]
        /// What stands for the value in the help; `nil` for a flag.
        package var value: String?
        package var repeats = false
        /// All that the value may be; empty: anything.
        package var words: [String] = []
        /// What holds where the option is not given, for the end of the help.
        package var fallback: String?
        package var help: String

        package static func flag(_ names: String..., help: String) -> Option { Option(names: names, value: nil, help: help) }
        package static func value(_ names: String..., as value: String, default fallback: String? = nil, help: String) -> Option {
            Option(names: names, value: value, fallback: fallback, help: help)
        }
        package static func choice<Choice: RawRepresentable<String> & CaseIterable>(
            _ names: String..., as value: String, of _: Choice.Type, default fallback: Choice? = nil, help: String
        ) -> Option {
            Option(names: names, value: value, words: Choice.allCases.map(\.rawValue), fallback: fallback?.rawValue, help: help)
        }
        package static func list(_ names: String..., as value: String, help: String) -> Option {
            Option(names: names, value: value, repeats: true, help: help)
        }

        /// The help, with what holds by default and whether it may be repeated.
        package var fullHelp: String { help + (fallback.map { " Default: \($0)." } ?? "") + (repeats ? " May be repeated." : "") }
    }

    package struct Example: Sendable {
        package var line: String
        package var meaning: String

        package init(_ line: String, _ meaning: String) {
            self.line = line
            self.meaning = meaning
        }
    }

    package static let help = Option.flag("-h", "--help", help: "Shows this.")

    /// With `--help`, which every command takes.
    package var allOptions: [Option] { options + borrowed + [Self.help] }
}

/// What the program ends with.
package enum ExitCode: Int32, Sendable {
    case ok = 0
    case failed = 1
    case usage = 2
    case timedOut = 124
    /// Ctrl-C, as shells count it.
    case interrupted = 130
}

/// A command line that cannot be understood: exit code 2.
package struct UsageError: Error, Equatable, CustomStringConvertible {
    package var description: String
    package init(_ text: String) { description = text }
}

/// Why a command did not do what it was asked: exit code 1, or the one given.
package struct Failure: Error, Equatable, CustomStringConvertible {
    package var description: String
    package var exitCode: ExitCode

    package init(_ text: String, exitCode: ExitCode = .failed) {
        description = text
        self.exitCode = exitCode
    }
}
