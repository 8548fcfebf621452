import RelayConsole
import RelayWire

/// What a benchmark prints: rows on standard output as soon as they are there, progress on standard error.
struct BenchReport: Sendable {
    let scenario: String
    let json: Bool

    private static let nameWidth = 36, width = 150

    /// - Parameter fields: in the order of the table; their names are the keys of the JSON.
    func row(_ what: String, _ fields: [(String, JSONValue)]) throws {
        if json {
            try Console.print(
                JSONValue.object(
                    [
                        .init(key: "type", value: "row"), .init(key: "scenario", value: .string(scenario)),
                        .init(key: "what", value: .string(what)),
                    ] + fields.map { .init(key: $0.0, value: $0.1) }
                ).line)
        } else {
            let shown = fields.filter { $0.1 != .null }.map { name, value in
                switch value {
                case .bool(let value): "\(name) \(value ? "yes" : "no")"
                case .number(let number) where number.magnitude < 10 && number != number.rounded(): "\(name) \(number)"
                case .number(let number): "\(name) \(number >= 100 ? Printable.count(Int(number.rounded())) : Printable.fixed(number))"
                case .integer(let number): "\(name) \(Printable.count(number))"
                case .string(let text): "\(name) \(text)"
                default: name
                }
            }
            // Many columns take more than one line.
            var line = what + String(repeating: " ", count: max(1, Self.nameWidth - what.count)), isEmpty = true
            for text in shown {
                if !isEmpty, line.count + 3 + text.count > Self.width {
                    try Console.print(line)
                    line = String(repeating: " ", count: Self.nameWidth)
                    isEmpty = true
                }
                line += (isEmpty ? "" : "   ") + text
                isEmpty = false
            }
            try Console.print(line)
        }
    }

    func progress(_ text: String) { if Console.errorsAreTerminal { Console.pass(text) } }
    func progressEnds() { Console.endPassing() }
}
