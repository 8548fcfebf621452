/// Reads one JSON object or array from bytes (RFC 8259), strictly, and never traps whatever they are.
///
/// Well-formed UTF-8 without byte-order mark, no key twice in an object, nesting within a bound, integers within
/// ±(2⁵³−1). Fractions and exponents only where the caller takes them (recordings do, the board format does not).
struct JSONReader {
    private let bytes: [UInt8]
    private let takesFractions: Bool
    private var index = 0
    private var depth = 0

    static func object(from bytes: [UInt8], takesFractions: Bool = false) throws(BoardError) -> JSONObject {
        var reader = JSONReader(bytes: bytes, takesFractions: takesFractions)
        reader.skipSpace()
        guard reader.peek == UInt8(ascii: "{") else { throw reader.problem("one object is expected") }
        let object = try reader.object()
        try reader.end("object")
        return object
    }

    static func array(from bytes: [UInt8], takesFractions: Bool = false) throws(BoardError) -> [JSONValue] {
        var reader = JSONReader(bytes: bytes, takesFractions: takesFractions)
        reader.skipSpace()
        guard reader.peek == UInt8(ascii: "[") else { throw reader.problem("one array is expected") }
        let array = try reader.array()
        try reader.end("array")
        return array
    }

    private mutating func end(_ what: String) throws(BoardError) {
        skipSpace()
        guard index == bytes.count else { throw problem("nothing may follow the \(what)") }
    }

    private init(bytes: [UInt8], takesFractions: Bool) {
        self.bytes = bytes
        self.takesFractions = takesFractions
    }

    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    private func problem(_ text: String) -> BoardError { .badJSON(byte: index, problem: text) }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { index += 1 }
    }

    private mutating func value() throws(BoardError) -> JSONValue {
        switch peek {
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    /// Steps over the opening bracket.
    private mutating func enter() throws(BoardError) {
        depth += 1
        guard depth <= BoardLimits.depthMax else { throw problem("nested deeper than \(BoardLimits.depthMax)") }
        index += 1
        skipSpace()
    }

    /// After an element: whether another one follows.
    private mutating func another(closing: UInt8) throws(BoardError) -> Bool {
        skipSpace()
        let byte = peek
        guard byte == UInt8(ascii: ",") || byte == closing else {
            throw problem("a comma or \(Character(Unicode.Scalar(closing))) is expected")
        }
        index += 1
        if byte == closing { return false }
        skipSpace()
        return true
    }

    private mutating func object() throws(BoardError) -> JSONObject {
        try enter()
        defer { depth -= 1 }
        var object = JSONObject()
        var keys: Set<[UInt8]> = []
        if peek == UInt8(ascii: "}") {
            index += 1
            return object
        }
        repeat {
            guard peek == UInt8(ascii: "\"") else { throw problem("a key in quotes is expected") }
            let key = try string()
            guard keys.insert(Array(key.utf8)).inserted else { throw problem("a key stands twice") }
            skipSpace()
            guard peek == UInt8(ascii: ":") else { throw problem("a colon is expected") }
            index += 1
            skipSpace()
            object.fields.append(.init(key: key, value: try value()))
        } while try another(closing: UInt8(ascii: "}"))
        return object
    }

    private mutating func array() throws(BoardError) -> [JSONValue] {
        try enter()
        defer { depth -= 1 }
        var values: [JSONValue] = []
        if peek == UInt8(ascii: "]") {
            index += 1
            return values
        }
        repeat { values.append(try value()) } while try another(closing: UInt8(ascii: "]"))
        return values
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(BoardError) -> JSONValue {
        let count = word.utf8CodeUnitCount
        guard index + count <= bytes.count, (0..<count).allSatisfy({ bytes[index + $0] == word.utf8Start[$0] }) else {
            throw problem("a value is expected")
        }
        index += count
        return value
    }

    /// Steps over digits and gives their count.
    private mutating func digits() -> Int {
        let start = index
        while let byte = peek, (0x30...0x39).contains(byte) { index += 1 }
        return index - start
    }

    private mutating func number() throws(BoardError) -> JSONValue {
        let start = index
        if peek == UInt8(ascii: "-") { index += 1 }
        let first = index
        let count = digits()
        guard count > 0 else {
            index = start
            throw problem("a value is expected")
        }
        guard count == 1 || bytes[first] != 0x30 else { throw problem("a number has no leading zero") }
        let integerEnd = index
        if peek == UInt8(ascii: ".") {
            index += 1
            guard digits() > 0 else { throw problem("a digit is expected") }
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            index += 1
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { index += 1 }
            guard digits() > 0 else { throw problem("a digit is expected") }
        }
        if index == integerEnd, count <= 16 {
            let magnitude = bytes[first..<index].reduce(0) { $0 * 10 + Int($1 - 0x30) }
            if magnitude <= BoardLimits.integerMax { return .integer(first == start ? magnitude : -magnitude) }
        }
        guard takesFractions, let value = Double(String(decoding: bytes[start..<index], as: UTF8.self)) else {
            throw .badJSON(byte: start, problem: "numbers are integers within ±\(BoardLimits.integerMax)")
        }
        return .fraction(value)
    }

    private mutating func string() throws(BoardError) -> String {
        let start = index
        index += 1
        var text: [UInt8] = []
        while let byte = peek {
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw .badJSON(byte: start, problem: "the string is not well-formed UTF-8")
                }
                return string
            case UInt8(ascii: "\\"): text.append(contentsOf: String(try escape()).utf8)
            case 0..<0x20: throw problem("a control character in a string is written as an escape")
            default: text.append(byte)
            }
        }
        throw problem("a string does not end")
    }

    private mutating func escape() throws(BoardError) -> Unicode.Scalar {
        let byte = peek
        index += 1
        switch byte {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try hex4()
            if let scalar = Unicode.Scalar(first) { return scalar }
            guard (0xD800...0xDBFF).contains(first), peek == UInt8(ascii: "\\") else { throw problem("half a surrogate pair") }
            index += 1
            guard peek == UInt8(ascii: "u") else { throw problem("half a surrogate pair") }
            index += 1
            let second = try hex4()
            guard (0xDC00...0xDFFF).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
            else { throw problem("half a surrogate pair") }
            return scalar
        default:
            throw problem("an unknown escape")
        }
    }

    private mutating func hex4() throws(BoardError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, byte < 0x80, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw problem("four hexadecimal digits are expected")
            }
            index += 1
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
