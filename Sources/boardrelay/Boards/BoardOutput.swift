import BoardFormat
import RelayConsole
import RelayIO
import RelayWire

/// Where an exported board goes: a file, which is there as a whole or not at all, or standard output.
struct BoardOutput {
    /// How a character is written that cannot be seen, or that a terminal obeys.
    enum Escape: Sendable { case json, xml }

    private let escape: Escape
    /// `nil`: standard output.
    private var file: WholeFile?
    private(set) var bytes = 0

    /// - Parameter path: `nil` or `-` for standard output.
    /// - Throws: `Failure` that names the path.
    init(path: String?, escape: Escape) throws(Failure) {
        self.escape = escape
        if let path, path != "-" { file = try WholeFile(path, mode: 0o644) }
    }

    /// Whole lines.
    mutating func write(_ lines: [UInt8]) throws {
        bytes += lines.count
        guard file == nil else { return try file!.write(lines) }
        // Into a pipe as it is; a terminal must not be changed by what others wrote.
        let text = String(decoding: lines.dropLast(), as: UTF8.self)
        try Console.print(Console.outputIsTerminal ? Self.shown(text, escape) : text)
    }

    /// The same document, with nothing in it that a terminal obeys.
    static func shown(_ text: String, _ escape: Escape) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            guard scalar != "\n", scalar.isHidden else {
                shown.append(scalar)
                continue
            }
            switch escape {
            case .xml: shown.append(contentsOf: "&#x\(String(scalar.value, radix: 16));".unicodeScalars)
            case .json:
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    shown.append(contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).unicodeScalars)
                }
            }
        }
        return String(shown)
    }

    /// All is written: the file takes its name.
    mutating func finish() throws(Failure) { try file?.finish() }

    /// Something went wrong: nothing is left.
    mutating func abandon() { file?.abandon() }
}
