/// Bytes as text that stands unchanged in an address or a header: base64url without padding. [RFC 4648 §5, §3.2]
public enum Base64URL {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let noDigit: UInt8 = 255
    /// The value of each digit; `noDigit` for every other byte.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: noDigit, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    /// Four digits for three bytes; two or three for the one or two that may be left at the end.
    public static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var bits: UInt32 = 0, bitCount: UInt32 = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(digits[Int(bits >> bitCount & 63)])
            }
        }
        if bitCount > 0 { text.append(digits[Int(bits << (6 - bitCount) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads what `encode` writes and nothing else, so that the same bytes are always the same text: no padding, no white space,
    /// no digits of the other alphabet, no digit too many, and the bits that no byte needs are zero. [RFC 4648 §3.5]
    ///
    /// - Returns: `nil` for any other text. No text at all is no bytes.
    public static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        // Never more than the 6 bits of a digit and fewer than 8 that were left before it.
        var bits: UInt32 = 0, bitCount: UInt32 = 0
        for digit in text {
            let value = values[Int(digit)]
            guard value != noDigit else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(bits >> bitCount))
                bits &= 1 << bitCount - 1
            }
        }
        // 6 bits left are a digit that begins no byte.
        return bitCount < 6 && bits == 0 ? bytes : nil
    }

    /// The same of a text.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? { decode(Array(text.utf8)[...]) }
}
