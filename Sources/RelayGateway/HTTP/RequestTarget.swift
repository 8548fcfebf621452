import RelayWire

/// The target of a request in origin form: a path and perhaps a query. [RFC 9112 §3.2.1]
///
/// Whatever is found by a path is found by comparing it as a whole with the names in a table, never by walking a folder;
/// what would lead elsewhere in a folder is refused all the same, in every encoding.
package struct RequestTarget: Equatable, Sendable {
    /// As it was sent.
    package let raw: [UInt8]
    /// Decoded. Begins with `/`; without `.` and `..` as steps, `\`, `%` and control characters.
    package let path: String
    /// What stands behind the `?`, as it was sent.
    package let query: [UInt8]?

    package init(_ bytes: ArraySlice<UInt8>) throws(HTTPRefusal) {
        guard bytes.first == UInt8(ascii: "/") else { throw .targetForm }
        let mark = bytes.firstIndex(of: UInt8(ascii: "?"))
        let decoded = try Self.decoded(bytes[..<(mark ?? bytes.endIndex)])
        for byte in decoded where byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "%") {
            throw .traversal
        }
        for step in decoded.split(separator: UInt8(ascii: "/")) where step.elementsEqual(".".utf8) || step.elementsEqual("..".utf8) {
            throw .traversal
        }
        guard decoded.withUnsafeBytes({ isValidUTF8($0) }) else { throw .percentEncoding }
        path = String(decoding: decoded, as: UTF8.self)
        if let mark {
            query = Array(bytes[(mark + 1)...])
            _ = try Self.decoded(bytes[(mark + 1)...], isQuery: true)
        } else {
            query = nil
        }
        raw = Array(bytes)
    }

    /// Each `%` is followed by two digits of a byte; a `/` is never encoded, because whether it then separates is in doubt.
    private static func decoded(_ bytes: ArraySlice<UInt8>, isQuery: Bool = false) throws(HTTPRefusal) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            guard byte == UInt8(ascii: "%") else {
                guard isPathByte(byte) || isQuery && byte == UInt8(ascii: "?") else { throw .targetByte }
                decoded.append(byte)
                continue
            }
            guard index + 1 < bytes.endIndex, let high = digit(bytes[index]), let low = digit(bytes[index + 1]) else {
                throw .percentEncoding
            }
            index += 2
            if !isQuery, high << 4 | low == UInt8(ascii: "/") { throw .traversal }
            decoded.append(high << 4 | low)
        }
        return decoded
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// `pchar` and `/`, without the percent sign. [RFC 3986 §3.3]
    private static func isPathByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"), UInt8(ascii: "$"),
            UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","),
            UInt8(ascii: ";"),
            UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}
