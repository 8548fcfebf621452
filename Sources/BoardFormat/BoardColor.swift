/// A colour with its opacity, written `#RRGGBBAA`.
public struct BoardColor: Equatable, Sendable, CustomStringConvertible {
    /// Red in the highest byte, opacity in the lowest.
    public var rgba: UInt32

    public init(rgba: UInt32) { self.rgba = rgba }

    public static let black = Self(rgba: 0x0000_00FF)

    /// `#` and eight hexadecimal digits; nothing else is a colour.
    public init?(_ text: String) {
        let digits = text.utf8.dropFirst()
        guard text.utf8.first == UInt8(ascii: "#"), digits.count == 8 else { return nil }
        var value: UInt32 = 0
        for byte in digits {
            guard byte < 0x80, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        rgba = value
    }

    public var description: String {
        let digits = String(rgba, radix: 16, uppercase: true)
        return "#" + String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }
}

/// Names a stroke or text on its board: 1…64 of `A–Z a–z 0–9 . - : _`, the first one not `_`.
///
/// So an id needs no escapes in JSON and may stand wherever the protocol wants a name.
public struct ElementID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let text: String

    /// - Throws: `outOfRange` for the length, `badValue` for the letters; both name `field`.
    public init(_ text: String, field: String = "id") throws(BoardError) {
        let count = text.utf8.count
        guard BoardLimits.idBytes.contains(count) else {
            throw .outOfRange(field: field, limit: BoardLimits.idBytes, actual: count)
        }
        for (position, byte) in text.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"):
                continue
            case UInt8(ascii: "_") where position > 0:
                continue
            default:
                throw .badValue(field: field, problem: "an id is made of A–Z a–z 0–9 . - : _ and does not start with _")
            }
        }
        self.text = text
    }

    public var description: String { text }

    public static func < (left: Self, right: Self) -> Bool { left.text.utf8.lexicographicallyPrecedes(right.text.utf8) }
}
