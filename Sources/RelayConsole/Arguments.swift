import RelayIO

/// What is known at an address of a relay that this user runs on this machine; `nil`: no such relay is there, or it has none.
package struct OwnRelay: Sendable {
    package let hostKey: @Sendable (RelayAddress, _ space: String?) -> String?
    /// Of its TLS.
    package let protection: @Sendable (RelayAddress) -> RelayAddress.Protection?

    package init(
        hostKey: @escaping @Sendable (RelayAddress, _ space: String?) -> String? = { _, _ in nil },
        protection: @escaping @Sendable (RelayAddress) -> RelayAddress.Protection? = { _ in nil }
    ) {
        self.hostKey = hostKey
        self.protection = protection
    }
}

/// A command line, taken apart as its command declares: options in any order and place, `--option value`,
/// `--option=value`, `-n 5`, `-n5`; after `--` everything is an argument. The value of an option may begin with a dash.
package struct Arguments: Sendable {
    private let command: Command
    /// By the option's last name.
    private var given: [String: [String]] = [:]
    /// The same; without it: the command line.
    private var sources: [String: SettingSource] = [:]
    package private(set) var positional: [String] = []
    /// Tells of a relay that this user runs on this machine.
    package let own: OwnRelay

    /// - Throws: `UsageError`, which names the option or argument.
    package init(
        _ words: [String], for command: Command, own: OwnRelay = OwnRelay()
    ) throws(UsageError) {
        self.command = command
        self.own = own
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                positional.append(contentsOf: rest)
                break
            }
            guard word.hasPrefix("-"), word != "-" else {
                positional.append(word)
                continue
            }
            let (name, attached) = Self.split(word)
            guard let option = command.allOptions.first(where: { $0.names.contains(name) }) else {
                throw UsageError("unknown option \(name)" + Self.suggestion(for: name, among: command.allOptions))
            }
            try take(option, name: name, attached: attached, rest: &rest)
        }
        if wantsHelp { return }
        if let missing = command.arguments.dropFirst(positional.count).first(where: { !$0.isOptional }) {
            throw UsageError("\(missing.name) is missing: \(missing.meaning)")
        }
        guard positional.count <= command.arguments.count else {
            let isText = ["TEXT", "VALUE"].contains(command.arguments.last?.name)
            let cure = isText ? ": put quotes around a \(command.arguments.last!.name) of several words" : ""
            throw UsageError("unexpected argument \(Printable.quoted(positional[command.arguments.count]))\(cure)")
        }
    }

    private mutating func take(
        _ option: Command.Option, name: String, attached: String?, rest: inout ArraySlice<String>
    ) throws(UsageError) {
        let key = option.name
        guard option.value != nil else {
            guard attached == nil else { throw UsageError("option \(name) takes no value") }
            given[key] = [""]
            return
        }
        guard let value = attached ?? rest.popFirst() else {
            throw UsageError("option \(name) wants a value: \(name) \(option.value!)")
        }
        guard option.repeats || given[key] == nil else { throw UsageError("option \(name) stands twice") }
        given[key, default: []].append(value)
    }

    /// `--a=b` and `-ab` are an option and its value.
    private static func split(_ word: String) -> (name: String, attached: String?) {
        if word.hasPrefix("--") {
            guard let equals = word.firstIndex(of: "=") else { return (word, nil) }
            return (String(word[..<equals]), String(word[word.index(after: equals)...]))
        }
        guard word.count > 2 else { return (word, nil) }
        var attached = word.dropFirst(2)
        if attached.first == "=" { attached = attached.dropFirst() }
        return (String(word.prefix(2)), String(attached))
    }

    private static func suggestion(for name: String, among options: [Command.Option]) -> String {
        let names = options.flatMap(\.names).filter { $0.hasPrefix("--") }
        let near = names.map { (distance: editDistance($0, name), name: $0) }.min { $0.distance < $1.distance }
        guard let near, near.distance <= 2 else { return "" }
        return ", did you mean \(near.name)?"
    }
}

// MARK: - Settings

extension Arguments {
    /// Takes from the environment and from a file what the command line does not say.
    ///
    /// - Throws: `UsageError`, which names all settings of the file that there are not.
    package mutating func fill(from file: SettingsFile?, _ environment: [String: String]) throws(UsageError) {
        for option in command.settings where given[option.name] == nil {
            // Kubernetes sets $BOARDRELAY_PORT to an address, in each container beside a service of this name.
            guard let text = environment[option.variable], !text.isEmpty, option.name != "--port" || !text.hasPrefix("tcp://") else {
                continue
            }
            try set(option, to: option.repeats ? text.split(separator: ",").map(String.init) : [text], from: .environment(option.variable))
        }
        guard let file else { return }
        var problems: [String] = []
        for line in file.lines {
            let source = SettingSource.file(path: file.path, line: line.number)
            guard let option = command.settings.first(where: { $0.setting == line.name }) else {
                let near = Self.suggestion(for: "--" + line.name, among: command.settings).replacing("--", with: "")
                problems.append("\(file.path):\(line.number): there is no setting \(Printable.quoted(line.name))\(near)")
                continue
            }
            let known = self.source(option.name)
            if let known, known.rank > source.rank { continue }
            guard option.repeats || known == nil else {
                throw UsageError("\(source.label(option.name)) stands twice")
            }
            try set(option, to: [line.value], from: source)
        }
        if !problems.isEmpty { throw UsageError(problems.joined(separator: "\n")) }
    }

    /// Takes the values of a file in place of any others.
    ///
    /// - Parameter names: of the options that it may set.
    /// - Throws: `UsageError`, for another one, or one that stands twice.
    package mutating func override(by file: SettingsFile, _ names: Set<String>) throws(UsageError) {
        var taken: Set<String> = []
        for line in file.lines {
            let source = SettingSource.file(path: file.path, line: line.number)
            guard let option = command.settings.first(where: { $0.setting == line.name }), names.contains(option.name) else {
                let known = names.map { String($0.drop { $0 == "-" }) }.sorted().joined(separator: ", ")
                throw UsageError("\(file.path):\(line.number): \(Printable.quoted(line.name)) is no setting of a space: these are \(known)")
            }
            if taken.insert(option.name).inserted {
                (given[option.name], sources[option.name]) = (nil, nil)
            } else if !option.repeats {
                throw UsageError("\(source.label(option.name)) stands twice")
            }
            try set(option, to: [line.value], from: source)
        }
    }

    private mutating func set(_ option: Command.Option, to values: [String], from source: SettingSource) throws(UsageError) {
        if option.value == nil {
            switch values[0] {
            case "yes": given[option.name] = [""]
            case "no": break
            default: throw UsageError("\(source.label(option.name)) is yes or no, not \(Printable.quoted(values[0]))")
            }
        } else {
            given[option.name, default: []] += values
        }
        if sources[option.name] == nil { sources[option.name] = source }
    }

    /// Where a value is from; `nil`: nothing says it.
    package func source(_ name: String) -> SettingSource? {
        let name = option(name).name
        return sources[name] ?? (given[name] == nil ? nil : .commandLine)
    }

    /// What is wrong with the value of an option, by how it is called where the value stands.
    package func wrong(_ name: String, _ what: String) -> UsageError { UsageError("\((source(name) ?? .commandLine).label(name)) \(what)") }

    /// Of two options that exclude each other the one with the stronger source, if both are there.
    ///
    /// - Throws: when they stand in the same place.
    package mutating func prefer(_ name: String, _ other: String) throws(UsageError) {
        guard flag(name), flag(other), let source = source(name), let otherSource = self.source(other) else { return }
        try source.rank == otherSource.rank ? exclude(name, other) : ()
        given[option(source.rank < otherSource.rank ? name : other).name] = nil
    }
}

// MARK: - Reading values

extension Arguments {
    package var wantsHelp: Bool { given["--help"] != nil }

    private func option(_ name: String) -> Command.Option {
        guard let option = command.allOptions.first(where: { $0.names.contains(name) }) else {
            preconditionFailure("command \(command.name) does not declare \(name)")
        }
        return option
    }

    func declares(_ name: String) -> Bool { command.allOptions.contains { $0.names.contains(name) } }

    package func values(_ name: String) -> [String] { given[option(name).name] ?? [] }
    package func flag(_ name: String) -> Bool { !values(name).isEmpty }
    package func value(_ name: String) -> String? { values(name).first }

    package func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = value(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            let bounds =
                range.upperBound == .max
                ? "of at least \(range.lowerBound)" : "within \(range.lowerBound)…\(range.upperBound)"
            throw wrong(name, "wants a whole number \(bounds), not \(Printable.quoted(text))")
        }
        return number
    }

    /// How much quicker than recorded; 1 if not given.
    package func speed(orWord word: String? = nil) throws(UsageError) -> Double {
        guard let text = value("--speed") else { return 1 }
        guard let speed = Double(text), (0.01...10_000).contains(speed) else {
            let other = word.map { " or \($0)" } ?? ""
            throw UsageError("option --speed wants a number within 0.01…10000\(other), not \(Printable.quoted(text))")
        }
        return speed
    }

    /// `10s`, `500ms`, `1.5m`, `2h`.
    package func duration(_ name: String) throws(UsageError) -> Duration? {
        guard let text = value(name) else { return nil }
        guard let duration = Duration(text: text) else {
            throw wrong(name, "wants a time such as 10s, 500ms or 1m, not \(Printable.quoted(text))")
        }
        return duration
    }

    /// `1000`, `64MB`, `1.5GB`, `256MiB`.
    package func size(_ name: String) throws(UsageError) -> Int? {
        guard let text = value(name) else { return nil }
        guard let bytes = byteCount(text) else {
            throw wrong(name, "wants a size such as 1000, 64MB or 256MiB, not \(Printable.quoted(text))")
        }
        return bytes
    }

    /// One of a few words.
    package func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, of type: Choice.Type = Choice.self
    ) throws(UsageError) -> Choice? where Choice.RawValue == String {
        guard let text = value(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw wrong(name, "wants one of \(words), not \(Printable.quoted(text))")
        }
        return choice
    }

    /// - Throws: when both are given.
    package func exclude(_ name: String, _ other: String) throws(UsageError) {
        if !values(name).isEmpty, !values(other).isEmpty { throw UsageError("options \(name) and \(other) exclude each other") }
    }
}

extension Duration {
    /// A number and a unit (`ms`, `s`, `m`, `h`, `d`), without space or sign; a fraction is allowed. At most 1,000 days.
    package init?(text: String) {
        let units: [(String, Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)]
        guard let (unit, seconds) = units.first(where: { text.hasSuffix($0.0) }) else { return nil }
        let digits = text.dropLast(unit.count)
        guard digits.first?.isASCII == true, digits.allSatisfy({ $0.isASCII && $0.isNumber || $0 == "." }),
            let number = Double(digits), number * seconds <= 86_400_000
        else { return nil }
        self = .seconds(number * seconds)
    }
}

/// A number of bytes, or one with a unit: `kB`, `MB`, `GB`, `KiB`, `MiB`, `GiB`; a fraction is allowed there. At most 1 PB.
package func byteCount(_ text: String) -> Int? {
    let units: [(String, Double)] = [
        ("KiB", 1_024), ("MiB", 1_048_576), ("GiB", 1_073_741_824), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("", 1),
    ]
    let (unit, factor) = units.first { text.hasSuffix($0.0) }!
    let digits = text.dropLast(unit.count)
    guard digits.first?.isASCII == true, digits.allSatisfy({ $0.isASCII && $0.isNumber || $0 == "." && factor > 1 }),
        let number = Double(digits), number * factor <= 1e15
    else { return nil }
    return Int(number * factor)
}

/// How many letters must be put in, taken out or changed to get from one word to the other.
package func editDistance(_ left: String, _ right: String) -> Int {
    let right = Array(right)
    var row = Array(0...right.count)
    for (i, letter) in left.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for j in right.indices {
            let changed = diagonal + (letter == right[j] ? 0 : 1)
            diagonal = row[j + 1]
            row[j + 1] = min(changed, row[j] + 1, row[j + 1] + 1)
        }
    }
    return row[right.count]
}
