/// A settings file: a line is `name = value`, the name that of an option without its dashes. A line that begins with `#` says nothing.
/// An option that may be repeated has a line for each value. A flag is `yes` or `no`.
package struct SettingsFile: Sendable {
    package struct Line: Sendable {
        package var number: Int
        package var name: String
        package var value: String
    }

    package static let bytesMax = 65_536

    package let path: String
    package private(set) var lines: [Line] = []

    /// - Throws: `UsageError`, which names the path and the line.
    package init(_ text: String, path: String) throws(UsageError) {
        self.path = path
        var number = 0
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            number += 1
            let line = String(line).trimmed
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            guard let equals = line.firstIndex(of: "=") else {
                throw UsageError("\(path):\(number): a setting is 'name = value', not \(Printable.quoted(line))")
            }
            let value = String(line[line.index(after: equals)...]).trimmed
            let isQuoted = value.count >= 2 && value.first == "\"" && value.last == "\""
            let bare = isQuoted ? String(value.dropFirst().dropLast()) : value
            lines.append(Line(number: number, name: String(line[..<equals]).trimmed, value: bare))
        }
    }
}

extension SettingsFile {
    /// A file in which each setting of a command is explained and commented out.
    package static func example(of command: Command) -> String {
        let blocks = command.settings.map { option in
            // A default of several words is no value.
            let isValue = option.fallback.map { !$0.contains(" ") } ?? false
            let more = (isValue ? "" : option.fallback.map { " Default: \($0)." } ?? "") + (option.repeats ? " A line for each." : "")
            let value = option.value == nil ? " no" : isValue ? " " + option.fallback! : ""
            return (Help.wrap(option.help + more, width: 76).map { "# " + $0 } + ["#\(option.setting) =\(value)"]).joined(separator: "\n")
        }
        let head = "# Settings of 'boardrelay \(command.name)': what is commented out has its default."
        return ([head] + blocks).joined(separator: "\n\n")
    }
}

/// Where the value of an option is from; what is later in this list wins.
package enum SettingSource: Sendable, Equatable {
    case file(path: String, line: Int)
    case environment(String)
    case commandLine

    var rank: Int {
        switch self {
        case .file: 0
        case .environment: 1
        case .commandLine: 2
        }
    }

    /// How the option is called there.
    func label(_ option: String) -> String {
        switch self {
        case .file(let path, let line): "\(path):\(line): \(option.drop { $0 == "-" })"
        case .environment(let name): "$\(name)"
        case .commandLine: "option \(option)"
        }
    }
}

extension Command.Option {
    /// The name that is not short.
    package var name: String { names.last! }
    /// In a settings file.
    package var setting: String { String(name.drop { $0 == "-" }) }
    /// In the environment. Several values stand between commas.
    package var variable: String { "BOARDRELAY_" + setting.uppercased().replacing("-", with: "_") }
}

extension Command {
    /// Its options that a settings file and the environment may set.
    package var settings: [Option] { (options + borrowed).filter { !Self.notSettings.contains($0.name) } }

    private static let notSettings: Set<String> = ["--config", "--json", "--defaults"]
}
