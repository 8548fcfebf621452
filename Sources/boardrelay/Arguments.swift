/// An option that a command takes: `--name VALUE`, `--name=VALUE`, or a flag.
struct Option: Sendable {
    var name: String
    var takesValue: Bool

    static func flag(_ name: String) -> Option { Option(name: name, takesValue: false) }
    static func value(_ name: String) -> Option { Option(name: name, takesValue: true) }
}

/// What was typed is not what the command takes: exit code 2.
struct Usage: Error {
    var text: String

    static func failed(_ text: String) -> Int32 {
        complain("boardrelay: \(text)")
        return 2
    }
}

/// The words behind a command, sorted into options and the rest.
struct Arguments: Sendable {
    private var values: [String: [String]] = [:]
    private(set) var rest: [String] = []

    /// - Throws: `Usage` for an unknown option, a missing value, a value for a flag, a flag or value given twice.
    init(_ words: [String], options: [Option]) throws {
        let options = options + [.flag("help")]
        var index = 0
        var onlyRest = false
        while index < words.count {
            let word = words[index]
            index += 1
            if onlyRest || word == "-" || !word.hasPrefix("-") {
                rest.append(word)
                continue
            }
            if word == "--" {
                onlyRest = true
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0] == "-h" ? "help" : String(parts[0].drop { $0 == "-" })
            guard let option = options.first(where: { $0.name == name }) else { throw Usage(text: "there is no option \(parts[0])") }
            guard values[name] == nil else { throw Usage(text: "--\(name) stands twice") }
            if option.takesValue {
                if parts.count == 2 {
                    values[name] = [String(parts[1])]
                } else {
                    guard index < words.count else { throw Usage(text: "--\(name) wants a value") }
                    values[name] = [words[index]]
                    index += 1
                }
            } else {
                guard parts.count == 1 else { throw Usage(text: "--\(name) takes no value") }
                values[name] = []
            }
        }
    }

    func has(_ name: String) -> Bool { values[name] != nil }

    func value(_ name: String) -> String? { values[name]?.first }

    /// A whole number within bounds.
    func number(_ name: String, _ range: ClosedRange<Int>) throws -> Int? {
        guard let text = value(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw Usage(text: "--\(name) is a number within \(range.lowerBound)…\(range.upperBound), not '\(text)'")
        }
        return number
    }

    func expectNoRest() throws {
        if let first = rest.first { throw Usage(text: "unexpected argument '\(first)'") }
    }
}
