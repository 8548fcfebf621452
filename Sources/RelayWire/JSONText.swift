/// JSON while it is written: slashes stand as they are, and the writer says keys in the order of their bytes.
///
/// It is written into memory that is there; what is behind its end is only counted.
package struct JSONText {
    private let room: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    init(into room: UnsafeMutableBufferPointer<UInt8>) { self.room = room }

    /// What most texts fit into; larger ones are written twice.
    private static let bytesExpected = 2048

    /// The bytes of one value.
    ///
    /// - Parameter write: writes the value; is called again, for the same one, when the first room was too small.
    package static func bytes(_ write: (inout JSONText) -> Void) -> [UInt8] {
        func fill(_ room: UnsafeMutableBufferPointer<UInt8>) -> Int {
            var text = JSONText(into: room)
            write(&text)
            return text.bytes
        }
        var bytes = 0
        let most = [UInt8](unsafeUninitializedCapacity: bytesExpected) { room, count in
            bytes = fill(room)
            count = bytes <= room.count ? bytes : 0
        }
        if bytes <= bytesExpected { return most }
        return [UInt8](unsafeUninitializedCapacity: bytes) { room, count in count = fill(room) }
    }

    /// The bytes of one object; keys are in ascending order of their bytes.
    package static func object(_ members: (inout JSONText) -> Void) -> [UInt8] {
        bytes { text in
            text.beginObject()
            members(&text)
            text.endObject()
        }
    }

    /// How many bytes it takes once the whole value is written; some more if they do not fit.
    var bytes: Int { count - 1 }

    private mutating func append(_ byte: UInt8) {
        if count < room.count { room[count] = byte }
        count += 1
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        if let from = bytes.baseAddress, count + bytes.count <= room.count {
            (room.baseAddress.unsafelyUnwrapped + count).update(from: from, count: bytes.count)
        }
        count += bytes.count
    }

    private mutating func append(_ literal: StaticString) {
        append(UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    // MARK: - Objects and arrays, each element with a comma behind it until the bracket closes

    mutating func beginObject() { append(UInt8(ascii: "{")) }
    mutating func beginArray() { append(UInt8(ascii: "[")) }
    mutating func endObject() { close(UInt8(ascii: "}")) }
    mutating func endArray() { close(UInt8(ascii: "]")) }

    /// In place of the last comma, if there is one.
    @inline(never)
    private mutating func close(_ bracket: UInt8) {
        if count <= room.count, room[count - 1] == UInt8(ascii: ",") { count -= 1 }
        append(bracket)
        append(UInt8(ascii: ","))
    }

    /// A key that needs no escapes.
    @inline(never)
    mutating func key(_ key: StaticString) {
        append(UInt8(ascii: "\""))
        append(key)
        append(UInt8(ascii: "\""))
        append(UInt8(ascii: ":"))
    }

    @inline(never)
    mutating func key(_ key: String) {
        quote(key)
        append(UInt8(ascii: ":"))
    }

    // MARK: - Members

    package mutating func member(_ key: StaticString, _ value: Int) {
        self.key(key)
        self.value(isNegative: value < 0, UInt64(value.magnitude))
    }

    package mutating func member(_ key: StaticString, _ value: String) {
        self.key(key)
        self.value(value)
    }

    package mutating func member(_ key: StaticString, _ values: [String]) {
        self.key(key)
        beginArray()
        for value in values { self.value(value) }
        endArray()
    }

    /// - Parameter json: a value that is JSON already.
    package mutating func member(_ key: StaticString, json: [UInt8]) {
        self.key(key)
        value(json: json)
    }

    // MARK: - Values

    mutating func value(json: [UInt8]) {
        json.withUnsafeBufferPointer { append($0) }
        append(UInt8(ascii: ","))
    }

    @inline(never)
    mutating func value(_ text: String) {
        quote(text)
        append(UInt8(ascii: ","))
    }

    @inline(never)
    mutating func value(_ flag: Bool) {
        append(flag ? "true," : "false,")
    }

    @inline(never)
    mutating func value(isNegative: Bool, _ magnitude: UInt64) {
        var digits: (UInt64, UInt64, UInt64) = (0, 0, 0)
        withUnsafeMutableBytes(of: &digits) { digits in
            var first = digits.count - 1
            digits[first] = UInt8(ascii: ",")
            var rest = magnitude
            repeat {
                first -= 1
                digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            if isNegative {
                first -= 1
                digits[first] = UInt8(ascii: "-")
            }
            append(UnsafeBufferPointer(rebasing: digits.bindMemory(to: UInt8.self)[first...]))
        }
    }

    @inline(never)
    private mutating func quote(_ text: String) {
        var text = text
        append(UInt8(ascii: "\""))
        text.withUTF8 { text in
            var plain = 0
            for index in 0..<text.count where Self.isEscaped(text[index]) {
                append(UnsafeBufferPointer(rebasing: text[plain..<index]))
                plain = index + 1
                escape(text[index])
            }
            append(UnsafeBufferPointer(rebasing: text[plain...]))
        }
        append(UInt8(ascii: "\""))
    }

    @inline(__always)
    private static func isEscaped(_ byte: UInt8) -> Bool { byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") }

    private mutating func escape(_ byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: append(UInt8(ascii: "b"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0C: append(UInt8(ascii: "f"))
        case 0x0D: append(UInt8(ascii: "r"))
        case 0x00..<0x20:
            append(byte < 0x10 ? "u000" : "u001")
            let digit = byte & 0xF
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        default: append(byte)
        }
    }
}
