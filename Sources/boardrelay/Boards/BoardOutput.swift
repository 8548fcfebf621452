import BoardFormat
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayConsole
import RelayIO
import RelayWire

/// Where an exported board goes: a file, which is there as a whole or not at all, or standard output.
struct BoardOutput {
    /// How a character is written that cannot be seen, or that a terminal obeys.
    enum Escape: Sendable { case json, xml }

    private let path: String?
    private let escape: Escape
    private let temporary: String?
    /// Open until all is written, or nothing is left.
    private var descriptor: Int32?
    private(set) var bytes = 0

    /// - Parameter path: `nil` or `-` for standard output.
    /// - Throws: `Failure` that names the path.
    init(path: String?, escape: Escape) throws(Failure) {
        self.escape = escape
        guard let path, path != "-" else {
            self.path = nil
            temporary = nil
            descriptor = nil
            return
        }
        self.path = path
        let temporary = "\(path).\(ProcessInfo.processInfo.processIdentifier).part"
        self.temporary = temporary
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Failure("\(Printable.quoted(path)) cannot be written: \(String(cString: strerror(errno)))") }
        self.descriptor = descriptor
    }

    /// Whole lines.
    mutating func write(_ lines: [UInt8]) throws {
        bytes += lines.count
        guard let descriptor else {
            // Into a pipe as it is; a terminal must not be changed by what others wrote.
            let text = String(decoding: lines.dropLast(), as: UTF8.self)
            return try Console.print(Console.outputIsTerminal ? Self.shown(text, escape) : text)
        }
        guard lines.withUnsafeBytes({ Descriptor.write($0, to: descriptor) }) else { throw failure(String(cString: strerror(errno))) }
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
    mutating func finish() throws {
        guard let descriptor, let temporary, let path else { return }
        guard fsync(descriptor) == 0 else { throw failure(String(cString: strerror(errno))) }
        self.descriptor = nil
        guard close(descriptor) == 0 else { throw failure(String(cString: strerror(errno))) }
        guard rename(temporary, path) == 0 else { throw failure(String(cString: strerror(errno))) }
    }

    /// Something went wrong: nothing is left.
    mutating func abandon() {
        if let descriptor { close(descriptor) }
        descriptor = nil
        if let temporary { unlink(temporary) }
    }

    private mutating func failure(_ problem: String) -> Failure {
        abandon()
        return Failure("\(Printable.quoted(path ?? "standard output")) cannot be written: \(problem)")
    }
}
