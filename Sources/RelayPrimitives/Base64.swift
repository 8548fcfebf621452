/// Bytes as text (RFC 4648, section 4), with padding and without line breaks.
package enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")
    /// The value of each digit; 255 for every other byte.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var group = UInt32(bytes[start]) << 16
            if count > 1 { group |= UInt32(bytes[start + 1]) << 8 }
            if count > 2 { group |= UInt32(bytes[start + 2]) }
            for place in 0..<4 {
                text.append(place <= count ? digits[Int(group >> (18 - 6 * UInt32(place)) & 63)] : padding)
            }
        }
        return text
    }

    /// - Returns: `nil` unless this is exactly what `encode` gives for some bytes.
    package static func decode(_ text: [UInt8]) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        for start in stride(from: 0, to: text.count, by: 4) {
            let isLast = start + 4 == text.count
            let count = isLast && text[start + 3] == padding ? (text[start + 2] == padding ? 1 : 2) : 3
            var group: UInt32 = 0
            for place in 0..<4 {
                let value = place <= count ? values[Int(text[start + place])] : 0
                guard value < 64 else { return nil }
                group = group << 6 | UInt32(value)
            }
            // Bits below the last byte are zero, so that the same bytes are always the same text.
            guard count == 3 || group & (count == 2 ? 0xFF : 0xFFFF) == 0 else { return nil }
            bytes.append(UInt8(group >> 16))
            if count > 1 { bytes.append(UInt8(group >> 8 & 0xFF)) }
            if count > 2 { bytes.append(UInt8(group & 0xFF)) }
        }
        return bytes
    }
}
