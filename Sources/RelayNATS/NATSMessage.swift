import RelayWire

/// A message of a server: MSG, or HMSG with a header.
package struct NATSMessage: Equatable, Sendable {
    package let subject: String
    /// The number of the subscription that it is for.
    package let subscription: UInt64
    package let reply: String?
    package let header: NATSHeader?
    package let payload: [UInt8]
}

/// The header of a message.
///
///     NATS/1.0[ status[ description]]⏎
///     Name: value⏎ …
///     ⏎
package struct NATSHeader: Equatable, Sendable {
    package struct Field: Equatable, Sendable {
        package let name: String
        package let value: String
    }

    /// Of a message that the server makes itself: 100 for heartbeats and flow control, 503 where nobody answers.
    package let status: Int?
    /// In their order. Names are compared as they stand, as servers do.
    package let fields: [Field]

    /// - Throws: `badHeader`.
    init(_ bytes: [UInt8]) throws(NATSError) {
        guard bytes.suffix(4) == [0x0D, 0x0A, 0x0D, 0x0A] else { throw .badHeader("no empty line at its end") }
        var lines: [String] = []
        for line in bytes.dropLast(3).split(separator: 0x0A, omittingEmptySubsequences: false) {
            let content = Array(line.dropLast())
            guard line.last == 0x0D, content.isPrintable else { throw .badHeader(Array(line).excerpt) }
            lines.append(String(decoding: content, as: UTF8.self))
        }
        let words = lines[0].split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        status = words.count > 1 ? decimal(words[1]).map { Int(clamping: $0) } : nil
        guard words.first == "NATS/1.0", words.count == 1 || words[1].utf8.count == 3 && status != nil else {
            throw .badHeader(Array(lines[0].utf8).excerpt)
        }
        var fields: [Field] = []
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else { throw .badHeader(Array(line.utf8).excerpt) }
            fields.append(Field(name: String(parts[0]), value: String(parts[1].drop { $0 == " " })))
        }
        self.fields = fields
    }

    /// Of the first field of this name.
    package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
}

/// Digits alone; `nil` for anything else, and beyond 2⁶⁴−1.
func decimal(_ text: some StringProtocol) -> UInt64? { text.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? UInt64(text) : nil }

extension [UInt8] {
    /// Well-formed UTF-8 without control characters.
    var isPrintable: Bool { allSatisfy { $0 >= 0x20 && $0 != 0x7F } && withUnsafeBytes { isValidUTF8($0) } }

    /// The beginning, for an error's text.
    var excerpt: String { String(decoding: prefix(60).map { 0x20..<0x7F ~= $0 ? $0 : UInt8(ascii: "?") }, as: UTF8.self) }
}
