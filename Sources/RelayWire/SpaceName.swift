/// The name of a space, an operator's word: 1…32 bytes of `a`–`z`, `0`–`9` and `-`, a letter or digit at both ends. [SE16]
///
/// It is the path of the whiteboard's page, so words that the relay's own paths have are none.
package struct SpaceName: Hashable, Comparable, Sendable, CustomStringConvertible {
    package static let bytesMax = 32
    private static let taken: Set<String> = ["healthz", "metrics", "readyz", "status", "ws"]

    package let text: String

    /// - Throws: `badName`, with the length where that is what is wrong.
    package init(_ text: some StringProtocol) throws(WireError) {
        let count = text.utf8.count
        guard (1...Self.bytesMax).contains(count) else {
            throw WireError(
                .badName, "the name of a space has 1…\(Self.bytesMax) bytes, not \(count)", limit: Self.bytesMax, actual: count)
        }
        let isFit = text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
        guard isFit, text.first != "-", text.last != "-" else {
            throw WireError(.badName, "the name of a space has small letters, digits, and hyphens between them")
        }
        guard !Self.taken.contains(String(text)) else { throw WireError(.badName, "/\(text) is a path of the relay, and no space") }
        self.text = String(text)
    }

    package var description: String { text }

    package static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}
