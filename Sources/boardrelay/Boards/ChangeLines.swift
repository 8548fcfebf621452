#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayClient
import RelayConsole
import RelayWire

/// A change set as text: a JSON object a line, `{"key":"a","text":"…"}`, with `customType` if it has one and `base64` in place of `text`
/// for bytes, or `{"key":"a","isRemoval":true}`.
enum ChangeLines {
    /// - Throws: a `Failure` that names the line.
    static func read(_ bytes: [UInt8]) throws -> [RecordChange] {
        var changes: [RecordChange] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) { continue }
            do {
                changes.append(try change(Array(line)))
            } catch {
                throw Failure("line \(index + 1): \((error as? WireError)?.text ?? "\(error)")")
            }
        }
        return changes
    }

    private static func change(_ line: [UInt8]) throws -> RecordChange {
        guard case .object(let members) = try JSONValue(reading: line, .body(bytesMax: 64 * 1024, anyKeys: false)) else {
            throw Failure("one object is expected")
        }
        var fields: [String: JSONValue] = [:]
        for member in members { fields[member.key] = member.value }
        guard case .string(let key)? = fields["key"] else { throw Failure("key is missing, or no string") }
        if fields["isRemoval"] == .bool(true) { return RecordChange(removing: key) }
        var customType: String?
        if case .string(let type)? = fields["customType"] { customType = type }
        switch (fields["text"], fields["base64"]) {
        case (.string(let text)?, nil): return RecordChange(key: key, payload: .text(text), customType: customType)
        case (nil, .string(let text)?):
            guard let bytes = Data(base64Encoded: text) else { throw Failure("base64 is not well-formed") }
            return RecordChange(key: key, payload: .bytes(Array(bytes)), customType: customType)
        default: throw Failure("a change has text, base64 or isRemoval")
        }
    }
}
