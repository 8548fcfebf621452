import Foundation
import RelayWire

// Foundation's coders behind a look at the bytes, for comparison.

enum ReferenceJSON {
    static func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8], bytesMax: Int) throws(WireError) -> T {
        let checked = bytes.withUnsafeBytes { bytes in
            Result { () throws(WireError) in try ReferenceScanner.check(bytes, bytesMax: bytesMax) }
        }
        try checked.get()
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let error as WireError {
            throw error
        } catch let error as DecodingError {
            throw WireError(.badRequest, describe(error))
        } catch {
            throw WireError(.badRequest, "the JSON body cannot be read")
        }
    }

    static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(value))
    }

    private static func describe(_ error: DecodingError) -> String {
        func path(_ context: DecodingError.Context) -> String {
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            return path.isEmpty ? "the body" : "field \(path)"
        }
        switch error {
        case .keyNotFound(let key, _): return "field \(key.stringValue) is missing"
        case .typeMismatch(_, let context): return "\(path(context)) has the wrong type"
        case .valueNotFound(_, let context): return "\(path(context)) is null"
        case .dataCorrupted(let context): return "\(path(context)) has a value that is not allowed"
        @unknown default: return "the JSON body cannot be read"
        }
    }
}

/// A body as Foundation sees it.
enum ReferenceValue: Codable, Equatable {
    case object([String: ReferenceValue]), array([ReferenceValue]), text(String), integer(Int64), flag(Bool), null

    init(_ bytes: [UInt8]) throws { self = try JSONDecoder().decode(Self.self, from: Data(bytes)) }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let array = try? value.decode([ReferenceValue].self) {
            self = .array(array)
        } else {
            self = .object(try value.decode([String: ReferenceValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .object(let members): try value.encode(members)
        case .array(let elements): try value.encode(elements)
        case .text(let text): try value.encode(text)
        case .integer(let integer): try value.encode(integer)
        case .flag(let flag): try value.encode(flag)
        case .null: try value.encodeNil()
        }
    }

    subscript(key: String) -> ReferenceValue? {
        switch self {
        case .object(let members): members[key]
        case .array(let elements): Int(key.dropFirst("Index ".count)).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
        case .text, .integer, .flag, .null: nil
        }
    }

    /// Whether the other has the same, and perhaps more members in its objects.
    func isPart(of other: ReferenceValue) -> Bool {
        switch (self, other) {
        case (.object(let members), .object): members.allSatisfy { key, value in other[key].map { value.isPart(of: $0) } == true }
        case (.array(let elements), .array(let others)):
            elements.count == others.count && zip(elements, others).allSatisfy { $0.isPart(of: $1) }
        case (.text(let text), .text(let other)): text.utf8.elementsEqual(other.utf8)
        default: self == other
        }
    }

    /// Whether an error is true of it as far as one can see that without knowing the type: `field a.b is missing`.
    func explains(_ error: String) -> Bool {
        let words = error.dropFirst(error.hasPrefix("field ") ? "field ".count : error.count)
        for (ending, isTrue) in [
            (" is missing", { $0 == nil }), (" is null", { $0 == .null }), (" has the wrong type", { $0 != nil && $0 != .null }),
            (" has a value that is not allowed", { $0 != nil && $0 != .null }),
        ] as [(String, (ReferenceValue?) -> Bool)] where words.hasSuffix(ending) {
            let path = words.dropLast(ending.count).split(separator: ".", omittingEmptySubsequences: false)
            return isTrue(path.reduce(self) { $0?[String($1)] })
        }
        return false
    }
}

/// The look at the bytes, which kept every key as an array of its own.
private struct ReferenceScanner {
    private let bytes: UnsafeRawBufferPointer
    private var index = 0
    private var depth = 0
    private var anyKeys = false
    /// Keys from the body's top to where the scanner is.
    private var path: [[UInt8]] = []

    /// - Parameter anyKeys: whether keys may be other than ASCII: for who reads one ASCII key of a body that is refused.
    static func check(
        _ bytes: UnsafeRawBufferPointer, bytesMax: Int = Limits.jsonBodyBytesMax, anyKeys: Bool = false
    ) throws(WireError) {
        guard bytes.count <= bytesMax else {
            throw WireError(
                .tooLarge, "a JSON body has at most \(bytesMax) bytes, this one has \(bytes.count)",
                limit: bytesMax, actual: bytes.count)
        }
        guard isValidUTF8(bytes) else { throw WireError(.badText, "the JSON body is not well-formed UTF-8") }
        var scanner = ReferenceScanner(bytes: bytes)
        scanner.anyKeys = anyKeys
        scanner.skipSpace()
        guard scanner.peek == UInt8(ascii: "{") else { throw scanner.problem("one object is expected") }
        try scanner.value()
        scanner.skipSpace()
        guard scanner.index == bytes.count else { throw scanner.problem("nothing may follow the object") }
    }

    private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Says where: a byte, and the field whose value it belongs to. [JS5]
    private func problem(_ text: String) -> WireError {
        // Keys may be as long as the body: a hint is enough.
        let field = String(decoding: Array(path.joined(separator: [UInt8(ascii: ".")])).prefix(100), as: UTF8.self)
        return WireError(.badRequest, "JSON, byte \(index)\(field.isEmpty ? "" : ", field \(field)"): \(text)")
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { index += 1 }
    }

    private mutating func value() throws(WireError) {
        switch peek {
        case UInt8(ascii: "{"): try object()
        case UInt8(ascii: "["): try array()
        case UInt8(ascii: "\""): _ = try string(wanted: false)
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: try number()
        }
    }

    private mutating func enter() throws(WireError) {
        depth += 1
        guard depth <= Limits.jsonDepthMax else {
            throw WireError(
                .badRequest, "JSON nests deeper than \(Limits.jsonDepthMax)", limit: Limits.jsonDepthMax, actual: depth)
        }
        index += 1
        skipSpace()
    }

    private mutating func object() throws(WireError) {
        try enter()
        defer { depth -= 1 }
        if peek == UInt8(ascii: "}") { index += 1; return }
        var keys: Set<[UInt8]> = []
        while true {
            guard peek == UInt8(ascii: "\"") else { throw problem("a key in quotes is expected") }
            let key = try string(wanted: true)
            guard anyKeys || key.allSatisfy({ $0 < 0x80 }) else {
                throw WireError(.badName, "JSON, byte \(index): a key is ASCII, \(String(decoding: key, as: UTF8.self)) is not")
            }
            guard keys.insert(key).inserted else { throw problem("key \(String(decoding: key, as: UTF8.self)) stands twice") }
            skipSpace()
            guard peek == UInt8(ascii: ":") else { throw problem("a colon is expected") }
            index += 1
            skipSpace()
            path.append(key)
            try value()
            path.removeLast()
            skipSpace()
            if peek == UInt8(ascii: ",") {
                index += 1
                skipSpace()
            } else if peek == UInt8(ascii: "}") {
                index += 1
                return
            } else {
                throw problem("a comma or a closing brace is expected")
            }
        }
    }

    private mutating func array() throws(WireError) {
        try enter()
        defer { depth -= 1 }
        if peek == UInt8(ascii: "]") { index += 1; return }
        while true {
            try value()
            skipSpace()
            if peek == UInt8(ascii: ",") {
                index += 1
                skipSpace()
            } else if peek == UInt8(ascii: "]") {
                index += 1
                return
            } else {
                throw problem("a comma or a closing bracket is expected")
            }
        }
    }

    private mutating func word(_ word: StaticString) throws(WireError) {
        let count = word.utf8CodeUnitCount
        guard index + count <= bytes.count, (0..<count).allSatisfy({ bytes[index + $0] == word.utf8Start[$0] }) else {
            throw problem("a value is expected")
        }
        index += count
    }

    private mutating func number() throws(WireError) {
        let start = index
        if peek == UInt8(ascii: "-") { index += 1 }
        var magnitude: UInt64 = 0
        let firstDigit = index
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            index += 1
            magnitude = magnitude &* 10 &+ UInt64(byte - UInt8(ascii: "0"))
            guard index - firstDigit <= 16, magnitude <= Limits.integerMax else {
                throw problem("an integer is within ±\(Limits.integerMax)")
            }
        }
        guard index > firstDigit else {
            index = start
            throw problem("a value is expected")
        }
        if bytes[firstDigit] == UInt8(ascii: "0"), index > firstDigit + 1 { throw problem("a number has no leading zero") }
        if let byte = peek, byte == UInt8(ascii: ".") || byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            throw problem("numbers are integers without fraction or exponent")
        }
    }

    /// Reads a string; gives its unescaped bytes when they are wanted for comparison.
    private mutating func string(wanted: Bool) throws(WireError) -> [UInt8] {
        index += 1
        var text: [UInt8] = []
        while true {
            guard let byte = peek else { throw problem("a string does not end") }
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                return text
            case UInt8(ascii: "\\"):
                let scalar = try escape()
                if wanted { text.append(contentsOf: String(scalar).utf8) }
            case 0x00..<0x20:
                throw problem("a control character in a string is written as an escape")
            default:
                if wanted { text.append(byte) }
            }
        }
    }

    private mutating func escape() throws(WireError) -> Unicode.Scalar {
        guard let byte = peek else { throw problem("a string does not end") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
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

    private mutating func hex4() throws(WireError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw problem("four hexadecimal digits are expected")
            }
            index += 1
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
