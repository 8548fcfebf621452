/// Writes one flat JSON object without spaces, byte for byte as `JSON.stringify` does with sorted keys.
///
/// The caller gives the fields in ascending order of their keys.
struct JSONWriter {
    private(set) var bytes: [UInt8] = [UInt8(ascii: "{")]
    private var lastKey = ""

    mutating func field(_ key: String, _ value: Int) {
        open(key)
        bytes.append(integer: value)
    }

    mutating func field(_ key: String, _ value: String) {
        open(key)
        bytes.append(quoted: value)
    }

    mutating func field(_ key: String, _ values: [String]) {
        open(key)
        bytes.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(quoted: value)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// A value that is JSON already.
    mutating func field(_ key: String, raw value: [UInt8]) {
        open(key)
        bytes.append(contentsOf: value)
    }

    mutating func finish() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private mutating func open(_ key: String) {
        assert(key > lastKey, "field \(key) after \(lastKey)")
        if !lastKey.isEmpty { bytes.append(UInt8(ascii: ",")) }
        lastKey = key
        bytes.append(quoted: key)
        bytes.append(UInt8(ascii: ":"))
    }
}

extension [UInt8] {
    mutating func append(integer value: Int) {
        append(contentsOf: String(value).utf8)
    }

    mutating func append(quoted text: String) {
        append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): append(contentsOf: "\\\"".utf8)
            case UInt8(ascii: "\\"): append(contentsOf: "\\\\".utf8)
            case 0x08: append(contentsOf: "\\b".utf8)
            case 0x09: append(contentsOf: "\\t".utf8)
            case 0x0A: append(contentsOf: "\\n".utf8)
            case 0x0C: append(contentsOf: "\\f".utf8)
            case 0x0D: append(contentsOf: "\\r".utf8)
            case 0..<0x20:
                append(contentsOf: "\\u00".utf8)
                append(contentsOf: (byte < 0x10 ? "0" : "").utf8)
                append(contentsOf: String(byte, radix: 16).utf8)
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }
}
