/// One value or key of a JSON body, in the order in which they stand there.
struct JSONToken {
    enum Kind: UInt8 {
        case object, array
        /// A string whose bytes are its text, and one with escapes.
        case text, escapedText
        case integer, fraction, yes, no, null
    }

    var kind: Kind
    /// Of a string without its quotes, in bytes from the start of the body.
    var start: Int32
    var end: Int32
    /// The index of the token behind this one and all that belongs to it: a key's value, an object's members. `open` until that
    /// is read.
    var next: Int32

    static let open: Int32 = -1
}

/// A body that has been checked, for as long as its bytes are there.
struct JSONTokens {
    let bytes: UnsafeRawBufferPointer
    var tokens: [JSONToken] = []

    /// None.
    init() { bytes = UnsafeRawBufferPointer(start: nil, count: 0) }

    init(of bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        tokens.reserveCapacity(min(48, bytes.count / 4 + 4))
    }

    @inline(__always)
    subscript(index: Int) -> JSONToken {
        get { tokens[index] }
        set { tokens[index] = newValue }
    }

    /// Bytes of a string or number as they stand there.
    @inline(__always)
    func raw(_ index: Int) -> UnsafeRawBufferPointer {
        let token = tokens[index]
        return UnsafeRawBufferPointer(rebasing: bytes[Int(token.start)..<Int(token.end)])
    }

    func string(_ index: Int) -> String {
        tokens[index].kind == .text ? String(decoding: raw(index), as: UTF8.self) : String(decoding: unescaped(index), as: UTF8.self)
    }

    /// Whether a string has this text, byte by byte.
    @inline(__always)
    func has(_ index: Int, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard tokens[index].kind == .text else { return unescaped(index).elementsEqual(text) }
        return isSame(raw(index), UnsafeRawBufferPointer(text))
    }

    /// Whether two strings have the same text.
    func areSame(_ left: Int, _ right: Int) -> Bool {
        if tokens[left].kind == .text, tokens[right].kind == .text { return isSame(raw(left), raw(right)) }
        return unescaped(left) == unescaped(right)
    }

    private func isSame(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        left.count == right.count && left.elementsEqual(right)
    }

    /// The text of a string whose escapes have been checked.
    func unescaped(_ index: Int) -> [UInt8] {
        let raw = raw(index)
        var text: [UInt8] = []
        text.reserveCapacity(raw.count)
        var index = 0
        while index < raw.count {
            guard raw[index] == UInt8(ascii: "\\") else {
                text.append(raw[index])
                index += 1
                continue
            }
            index += 2
            switch raw[index - 1] {
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                var scalar = hex4(raw, index)
                index += 4
                if (0xD800...0xDBFF).contains(scalar) {
                    scalar = 0x10000 + (scalar - 0xD800) << 10 + (hex4(raw, index + 2) - 0xDC00)
                    index += 6
                }
                text.append(contentsOf: UTF8.encode(Unicode.Scalar(scalar)!)!)
            default: text.append(raw[index - 1])
            }
        }
        return text
    }

    private func hex4(_ raw: UnsafeRawBufferPointer, _ index: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 << 4 | UInt32(hexValue(raw[index + $1])!) }
    }

    /// Keys from the top to a token, and positions in arrays.
    func path(to target: Int) -> [String] {
        var path: [String] = []
        var index = 0
        while index < target {
            var child = index + 1
            var position = 0
            let isObject = tokens[index].kind == .object
            // The last one that begins at or before the target has it.
            while let next = end(of: child), next <= target {
                child = next
                position += 1
            }
            path.append(isObject ? string(child) : "Index \(position)")
            index = isObject ? child + 1 : child
        }
        return path
    }

    private func end(of index: Int) -> Int? { tokens[index].next == JSONToken.open ? nil : Int(tokens[index].next) }
}

/// Of one hexadecimal digit, of either case.
@inline(__always)
func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
