/// A name of a user, channel, topic, key or lock: 1…64 bytes of ASCII 0x20–0x7E without `*`, `/`, `\`, the first
/// one neither `_` nor space. Identity is bytes: within ASCII `==` on strings is exactly that. [NM1]
package struct Name: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// 1…64 bytes of ASCII.
    package let text: String

    /// - Throws: `badName`, with the length where that is what is wrong.
    package init(_ text: String) throws(WireError) {
        if let problem = Self.problem(in: text.utf8) { throw problem }
        self.text = text
    }

    /// Reads a name from a frame. The bytes are copied.
    package init(bytes: UnsafeRawBufferPointer) throws(WireError) {
        if let problem = Self.problem(in: bytes) { throw problem }
        text = String(decoding: bytes, as: UTF8.self)
    }

    init(unchecked text: String) { self.text = text }

    /// Stands in a body until the body's own name is read.
    static var unread: Name { Name(unchecked: "?") }

    package var description: String { text }

    package static func < (left: Name, right: Name) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    private static func problem(in bytes: some Collection<UInt8>) -> WireError? {
        let count = bytes.count
        guard count > 0 else { return WireError(.badName, "a name has at least 1 byte", limit: 1, actual: 0) }
        guard count <= Limits.nameBytesMax else {
            return WireError(
                .badName, "a name has at most \(Limits.nameBytesMax) bytes, this one has \(count)",
                limit: Limits.nameBytesMax, actual: count)
        }
        for (position, byte) in bytes.enumerated() {
            let refusedAtStart = position == 0 && (byte == UInt8(ascii: "_") || byte == UInt8(ascii: " "))
            let refusedAnywhere = byte == UInt8(ascii: "*") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\")
            if byte < 0x20 || byte > 0x7E || refusedAnywhere || refusedAtStart {
                return WireError(
                    .badName,
                    "a name is ASCII 0x20–0x7E without * / \\ and does not start with _ or space; byte \(position) is 0x\(String(byte, radix: 16))"
                )
            }
        }
        return nil
    }
}
