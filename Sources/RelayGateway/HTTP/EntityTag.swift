/// A strong validator of a file that never changes while the relay runs. [RFC 9110 §8.8.3]
package struct EntityTag: Equatable, Sendable {
    /// With its quotes.
    package let text: String

    /// - Parameter opaque: visible ASCII without quotes.
    package init(_ opaque: String) { text = "\"\(opaque)\"" }

    /// Whether `If-None-Match` names it: the client has these bytes already. [RFC 9110 §13.1.2]
    ///
    /// Compared weakly, as the field wants it. A field that is no list of tags names none.
    package func isNamed(by values: [[UInt8]]) -> Bool {
        if values.count == 1, values[0] == [UInt8(ascii: "*")] { return true }
        return values.contains { Self.tags($0[...]).contains { $0.elementsEqual(text.utf8) } }
    }

    /// A comma may stand in a tag, so the list is walked and not split.
    private static func tags(_ value: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        let quote = UInt8(ascii: "\""), comma = UInt8(ascii: ",")
        var tags: [ArraySlice<UInt8>] = []
        var rest = trimmed(value)
        while !rest.isEmpty {
            if rest.first == comma {
                rest = trimmed(rest.dropFirst())
                continue
            }
            if rest.starts(with: "W/".utf8) { rest = rest.dropFirst(2) }
            guard rest.first == quote, let end = rest.dropFirst().firstIndex(of: quote) else { return [] }
            tags.append(rest[...end])
            rest = trimmed(rest[(end + 1)...])
            guard rest.isEmpty || rest.first == comma else { return [] }
        }
        return tags
    }
}
