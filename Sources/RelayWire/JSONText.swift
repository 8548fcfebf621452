/// JSON while it is written: numbers are integers, slashes stand as they are, and whoever writes says keys in the order of
/// their bytes or has them sorted.
package struct JSONText {
    package private(set) var bytes: [UInt8] = []

    package init() { bytes.reserveCapacity(1024) }

    // MARK: - Objects and arrays, each element with a comma behind it until the bracket closes

    @inline(__always)
    package mutating func beginObject() { bytes.append(UInt8(ascii: "{")) }

    @inline(__always)
    package mutating func beginArray() { bytes.append(UInt8(ascii: "[")) }

    package mutating func endObject() { close(UInt8(ascii: "}")) }
    package mutating func endArray() { close(UInt8(ascii: "]")) }

    /// In place of the last comma, if there is one.
    @inline(__always)
    private mutating func close(_ bracket: UInt8) {
        if bytes[bytes.count - 1] == UInt8(ascii: ",") { bytes[bytes.count - 1] = bracket } else { bytes.append(bracket) }
        bytes.append(UInt8(ascii: ","))
    }

    /// A key that needs no escapes.
    @inline(__always)
    package mutating func key(_ key: StaticString) {
        bytes.append(UInt8(ascii: "\""))
        append(key)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    package mutating func key(_ key: String) {
        quote(key)
        bytes.append(UInt8(ascii: ":"))
    }

    // MARK: - Values

    package mutating func value(_ text: String) {
        quote(text)
        bytes.append(UInt8(ascii: ","))
    }

    package mutating func value(_ flag: Bool) {
        append(flag ? "true," : "false,")
    }

    package mutating func null() { append("null,") }

    package mutating func value(_ integer: some FixedWidthInteger) {
        var digits: (UInt64, UInt64, UInt64) = (0, 0, 0)
        withUnsafeMutableBytes(of: &digits) { digits in
            var first = digits.count - 1
            digits[first] = UInt8(ascii: ",")
            var rest = UInt64(integer.magnitude)
            repeat {
                first -= 1
                digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            if integer < 0 {
                first -= 1
                digits[first] = UInt8(ascii: "-")
            }
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: digits[first...]))
        }
    }

    @inline(__always)
    private mutating func append(_ literal: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    private mutating func quote(_ text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { text in
            var plain = 0
            for index in 0..<text.count where Self.isEscaped(text[index]) {
                bytes.append(contentsOf: text[plain..<index])
                plain = index + 1
                escape(text[index])
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[plain...]))
        }
        bytes.append(UInt8(ascii: "\""))
    }

    @inline(__always)
    private static func isEscaped(_ byte: UInt8) -> Bool { byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x00..<0x20:
            append(byte < 0x10 ? "u000" : "u001")
            let digit = byte & 0xF
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        default: bytes.append(byte)
        }
    }

    /// Puts parts of it, one behind the other from `start` to the end, into another order.
    mutating func rearrange(from start: Int, _ parts: [Range<Int>]) {
        let moved = parts.flatMap { bytes[$0] }
        bytes.replaceSubrange(start..., with: moved)
    }

    /// The whole value is written.
    consuming func finished() -> [UInt8] {
        bytes.removeLast()
        return bytes
    }
}
