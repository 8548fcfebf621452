/// What the scanner takes beside the rules that hold for all JSON here.
package struct JSONRules: Sendable {
    package enum Root: Sendable {
        case object, array
    }

    package var root = Root.object
    /// Most bytes of the whole text.
    package var bytesMax = Limits.jsonBodyBytesMax
    /// Deepest nesting, the outermost object or array counted.
    package var depthMax = Limits.jsonDepthMax
    /// Whether keys may be other than ASCII.
    package var anyKeys = false
    /// Whether numbers may have a fraction, an exponent or more than 53 bits.
    package var fractions = false

    package init() {}

    /// Rules of a body. [JS1–JS4]
    package static func body(bytesMax: Int, anyKeys: Bool) -> JSONRules {
        var rules = JSONRules()
        rules.bytesMax = bytesMax
        rules.anyKeys = anyKeys
        return rules
    }
}

/// A strict look at raw bytes of JSON (RFC 8259) before any type is read from them.
///
/// One object or array; well-formed UTF-8 without a byte-order mark; no key twice in one object, compared after unescaping; no
/// lone surrogate escapes. What else is allowed `JSONRules` say; those of a body: keys are ASCII, numbers are integers within
/// ±(2⁵³−1), written as such. [JS1–JS4]
package struct JSONScanner {
    private var tokens: JSONTokens
    private var index = 0
    private var depth = 0
    private let rules: JSONRules

    /// Above so many members keys are looked up instead of compared with each other.
    private static let comparedKeysMax = 16

    /// - Parameter anyKeys: whether keys may be other than ASCII: for a reader of one ASCII key of a body that is refused.
    package static func check(
        _ bytes: UnsafeRawBufferPointer, bytesMax: Int = Limits.jsonBodyBytesMax, anyKeys: Bool = false
    ) throws(WireError) {
        _ = try tokens(of: bytes, .body(bytesMax: bytesMax, anyKeys: anyKeys))
    }

    static func tokens(of bytes: UnsafeRawBufferPointer, _ rules: JSONRules) throws(WireError) -> JSONTokens {
        guard bytes.count <= rules.bytesMax else {
            throw WireError(
                .tooLarge, "a JSON body has at most \(rules.bytesMax) bytes, this one has \(bytes.count)",
                limit: rules.bytesMax, actual: bytes.count)
        }
        guard isValidUTF8(bytes) else { throw WireError(.badText, "the JSON body is not well-formed UTF-8") }
        var scanner = JSONScanner(bytes, rules)
        scanner.skipSpace()
        guard scanner.peek == UInt8(ascii: rules.root == .object ? "{" : "[") else {
            throw scanner.problem("one \(rules.root) is expected")
        }
        try scanner.value()
        scanner.skipSpace()
        guard scanner.index == bytes.count else { throw scanner.problem("nothing may follow the \(rules.root)") }
        return scanner.tokens
    }

    private init(_ bytes: UnsafeRawBufferPointer, _ rules: JSONRules) {
        tokens = JSONTokens(of: bytes)
        self.rules = rules
    }

    @inline(__always)
    private var peek: UInt8? { index < tokens.bytes.count ? tokens.bytes[index] : nil }

    /// Says where: a byte, and the field whose value it belongs to. [JS5]
    private func problem(_ text: String) -> WireError {
        // Open tokens are keys whose value is being read, and what they stand in. Keys may be as long as the body: a hint is enough.
        let keys = tokens.tokens.indices.filter { tokens[$0].next == JSONToken.open && tokens[$0].kind.isText }.map(tokens.unescaped)
        let field = String(decoding: Array(keys.joined(separator: [UInt8(ascii: ".")])).prefix(100), as: UTF8.self)
        return WireError(.badRequest, "JSON, byte \(index)\(field.isEmpty ? "" : ", field \(field)"): \(text)")
    }

    @inline(__always)
    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { index += 1 }
    }

    /// - Parameter next: if it is not the token behind this one.
    @inline(__always)
    private mutating func append(_ kind: JSONToken.Kind, from start: Int, to end: Int, next: Int32? = nil) {
        let behind = Int32(truncatingIfNeeded: tokens.tokens.count + 1)
        tokens.tokens.append(
            JSONToken(kind: kind, start: Int32(truncatingIfNeeded: start), end: Int32(truncatingIfNeeded: end), next: next ?? behind))
    }

    private mutating func value() throws(WireError) {
        switch peek {
        case UInt8(ascii: "{"): try object()
        case UInt8(ascii: "["): try array()
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "t"): try word("true", .yes)
        case UInt8(ascii: "f"): try word("false", .no)
        case UInt8(ascii: "n"): try word("null", .null)
        default: try number()
        }
    }

    /// - Returns: the index of the token.
    private mutating func enter(_ kind: JSONToken.Kind) throws(WireError) -> Int {
        depth += 1
        guard depth <= rules.depthMax else {
            throw WireError(.badRequest, "JSON nests deeper than \(rules.depthMax)", limit: rules.depthMax, actual: depth)
        }
        let token = tokens.tokens.count
        append(kind, from: index, to: index, next: JSONToken.open)
        index += 1
        skipSpace()
        return token
    }

    /// Behind the closing bracket.
    private mutating func leave(_ token: Int) {
        index += 1
        depth -= 1
        close(token)
    }

    @inline(__always)
    private mutating func close(_ token: Int) { tokens.tokens[token].next = Int32(truncatingIfNeeded: tokens.tokens.count) }

    private mutating func object() throws(WireError) {
        let object = try enter(.object)
        if peek == UInt8(ascii: "}") { return leave(object) }
        var count = 0
        var known: Set<[UInt8]> = []
        while true {
            guard peek == UInt8(ascii: "\"") else { throw problem("a key in quotes is expected") }
            let key = tokens.tokens.count
            try string()
            try checkKey(key, of: object, count: count, &known)
            count += 1
            skipSpace()
            guard peek == UInt8(ascii: ":") else { throw problem("a colon is expected") }
            index += 1
            skipSpace()
            tokens.tokens[key].next = JSONToken.open
            try value()
            close(key)
            skipSpace()
            if peek == UInt8(ascii: ",") {
                index += 1
                skipSpace()
            } else if peek == UInt8(ascii: "}") {
                return leave(object)
            } else {
                throw problem("a comma or a closing brace is expected")
            }
        }
    }

    /// - Parameter count: of the keys before it.
    /// - Parameter known: these keys, once there are many.
    private func checkKey(_ key: Int, of object: Int, count: Int, _ known: inout Set<[UInt8]>) throws(WireError) {
        let isASCII = tokens[key].kind == .text ? tokens.raw(key).allSatisfy { $0 < 0x80 } : tokens.unescaped(key).allSatisfy { $0 < 0x80 }
        guard rules.anyKeys || isASCII else {
            throw WireError(.badName, "JSON, byte \(index): a key is ASCII, \(tokens.string(key)) is not")
        }
        if count < Self.comparedKeysMax {
            var other = object + 1
            while other < key {
                if tokens.areSame(other, key) { throw problem("key \(tokens.string(key)) stands twice") }
                other = Int(tokens[other].next)
            }
        } else {
            if count == Self.comparedKeysMax {
                var other = object + 1
                while other < key {
                    known.insert(tokens.unescaped(other))
                    other = Int(tokens[other].next)
                }
            }
            guard known.insert(tokens.unescaped(key)).inserted else { throw problem("key \(tokens.string(key)) stands twice") }
        }
    }

    private mutating func array() throws(WireError) {
        let array = try enter(.array)
        if peek == UInt8(ascii: "]") { return leave(array) }
        while true {
            try value()
            skipSpace()
            if peek == UInt8(ascii: ",") {
                index += 1
                skipSpace()
            } else if peek == UInt8(ascii: "]") {
                return leave(array)
            } else {
                throw problem("a comma or a closing bracket is expected")
            }
        }
    }

    private mutating func word(_ word: StaticString, _ kind: JSONToken.Kind) throws(WireError) {
        let count = word.utf8CodeUnitCount
        guard index + count <= tokens.bytes.count, (0..<count).allSatisfy({ tokens.bytes[index + $0] == word.utf8Start[$0] }) else {
            throw problem("a value is expected")
        }
        append(kind, from: index, to: index + count)
        index += count
    }

    private mutating func number() throws(WireError) {
        let start = index
        if peek == UInt8(ascii: "-") { index += 1 }
        var magnitude: UInt64 = 0
        let firstDigit = index
        while let byte = peek, isDigit(byte) {
            index += 1
            magnitude = min(magnitude, Limits.integerMax) &* 10 &+ UInt64(byte - UInt8(ascii: "0"))
            guard rules.fractions || magnitude <= Limits.integerMax && index - firstDigit <= 16 else {
                throw problem("an integer is within ±\(Limits.integerMax)")
            }
        }
        guard index > firstDigit else {
            index = start
            throw problem("a value is expected")
        }
        if tokens.bytes[firstDigit] == UInt8(ascii: "0"), index > firstDigit + 1 { throw problem("a number has no leading zero") }
        let hasFraction = try fraction()
        append(!hasFraction && magnitude <= Limits.integerMax ? .integer : .fraction, from: start, to: index)
    }

    /// Steps over a fraction and an exponent.
    ///
    /// - Returns: whether there is one.
    private mutating func fraction() throws(WireError) -> Bool {
        guard let byte = peek, byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e") else { return false }
        guard rules.fractions else { throw problem("numbers are integers without fraction or exponent") }
        if byte == UInt8(ascii: ".") {
            index += 1
            try digits()
        }
        if let byte = peek, byte | 0x20 == UInt8(ascii: "e") {
            index += 1
            if let sign = peek, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { index += 1 }
            try digits()
        }
        return true
    }

    private mutating func digits() throws(WireError) {
        guard let byte = peek, isDigit(byte) else { throw problem("a digit is expected") }
        while let byte = peek, isDigit(byte) { index += 1 }
    }

    private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private mutating func string() throws(WireError) {
        index += 1
        let start = index
        var kind = JSONToken.Kind.text
        while true {
            guard let byte = peek else { throw problem("a string does not end") }
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                return append(kind, from: start, to: index - 1)
            case UInt8(ascii: "\\"):
                kind = .escapedText
                try escape()
            case 0x00..<0x20:
                throw problem("a control character in a string is written as an escape")
            default:
                continue
            }
        }
    }

    private mutating func escape() throws(WireError) {
        guard let byte = peek else { throw problem("a string does not end") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"),
            UInt8(ascii: "t"):
            return
        case UInt8(ascii: "u"):
            let first = try hex4()
            guard (0xD800...0xDFFF).contains(first) else { return }
            guard first < 0xDC00, peek == UInt8(ascii: "\\") else { throw problem("half a surrogate pair") }
            index += 1
            guard peek == UInt8(ascii: "u") else { throw problem("half a surrogate pair") }
            index += 1
            guard (0xDC00...0xDFFF).contains(try hex4()) else { throw problem("half a surrogate pair") }
        default:
            throw problem("an unknown escape")
        }
    }

    private mutating func hex4() throws(WireError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = hexValue(byte) else { throw problem("four hexadecimal digits are expected") }
            index += 1
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}

extension JSONToken.Kind {
    /// A string, or a key.
    fileprivate var isText: Bool { self == .text || self == .escapedText }
}
