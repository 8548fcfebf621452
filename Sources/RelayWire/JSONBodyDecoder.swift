// Types out of a body that `JSONScanner` has passed, without a copy of it: each decoder and container is a place among the
// tokens. Only what `Decodable` conformances here need is quick.

/// The tokens, shared by all that reads from them.
final class JSONDocument {
    let tokens: JSONTokens
    /// The key that was found last, and its object: the next one wanted is the same, or stands behind it, most often.
    var lastKey = 0
    var lastObject = -1

    init(_ tokens: JSONTokens) { self.tokens = tokens }
}

struct JSONBodyDecoder: Decoder {
    let document: JSONDocument
    /// Of the value's token.
    let index: Int

    var codingPath: [any CodingKey] { document.tokens.path(to: index) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try require(.object, [String: Any].self)
        return KeyedDecodingContainer(JSONMembers(document: document, object: index))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try require(.array, [Any].self)
        return JSONElements(document: document, array: index)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    private var token: JSONToken { document.tokens[index] }

    private func require(_ kind: JSONToken.Kind, _ type: Any.Type) throws { if token.kind != kind { throw mismatch(type) } }

    private func mismatch(_ type: Any.Type) -> DecodingError {
        let context = DecodingError.Context(codingPath: codingPath, debugDescription: "\(token.kind) is no \(type)")
        return token.kind == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// A value of any type. Comparisons of types are gone where the type is known.
    @inline(__always)
    func value<T: Decodable>(_ type: T.Type) throws -> T {
        if T.self == String.self { return try string() as! T }
        if T.self == Bool.self { return try bool() as! T }
        if T.self == Int.self { return try integer(Int.self) as! T }
        if T.self == UInt16.self { return try integer(UInt16.self) as! T }
        if T.self == UInt32.self { return try integer(UInt32.self) as! T }
        if T.self == Int64.self { return try integer(Int64.self) as! T }
        if T.self == UInt64.self { return try integer(UInt64.self) as! T }
        return try otherValue(type)
    }

    @inline(never)
    private func otherValue<T: Decodable>(_ type: T.Type) throws -> T {
        if T.self == Int8.self { return try integer(Int8.self) as! T }
        if T.self == Int16.self { return try integer(Int16.self) as! T }
        if T.self == Int32.self { return try integer(Int32.self) as! T }
        if T.self == UInt8.self { return try integer(UInt8.self) as! T }
        if T.self == UInt.self { return try integer(UInt.self) as! T }
        precondition(T.self != Double.self && T.self != Float.self, "numbers are integers [JS3]")
        return try T(from: self)
    }

    private func string() throws -> String {
        guard token.kind == .text || token.kind == .escapedText else { throw mismatch(String.self) }
        return document.tokens.string(index)
    }

    private func bool() throws -> Bool {
        guard token.kind == .yes || token.kind == .no else { throw mismatch(Bool.self) }
        return token.kind == .yes
    }

    private func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        guard token.kind == .integer else { throw mismatch(type) }
        let digits = document.tokens.raw(index)
        let isNegative = digits[0] == UInt8(ascii: "-")
        let magnitude = digits[(isNegative ? 1 : 0)...].reduce(Int64(0)) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        if let value = T(exactly: isNegative ? -magnitude : magnitude) { return value }
        throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: "the number does not fit \(type)"))
    }
}

extension JSONBodyDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { token.kind == .null }
    // Each requirement of the protocol, one for each type.
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try value(type) }
}

/// Members of one object.
private struct JSONMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let document: JSONDocument
    let object: Int

    private var end: Int { Int(document.tokens[object].next) }

    var codingPath: [any CodingKey] { document.tokens.path(to: object) }

    var allKeys: [Key] {
        var keys: [Key] = []
        var key = object + 1
        while key < end {
            if let wanted = Key(stringValue: document.tokens.string(key)) { keys.append(wanted) }
            key = Int(document.tokens[key].next)
        }
        return keys
    }

    /// The index of the value under a key.
    private func find(_ key: Key) -> Int? {
        var name = key.stringValue
        return name.withUTF8 { name in
            let first = object + 1
            let end = end
            guard first < end else { return nil }
            let from = document.lastObject == object ? document.lastKey : first
            return find(name, from: from, to: end) ?? find(name, from: first, to: from)
        }
    }

    private func find(_ name: UnsafeBufferPointer<UInt8>, from: Int, to end: Int) -> Int? {
        var key = from
        while key < end {
            if document.tokens.has(key, name) {
                document.lastKey = key
                document.lastObject = object
                return key + 1
            }
            key = Int(document.tokens[key].next)
        }
        return nil
    }

    private func decoder(_ key: Key) throws -> JSONBodyDecoder {
        guard let index = find(key) else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "no such key"))
        }
        return JSONBodyDecoder(document: document, index: index)
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).decodeNil() }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try decoder(key).value(type) }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let index = find(key), document.tokens[index].kind != .null else { return nil }
        return try JSONBodyDecoder(document: document, index: index).value(type)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try decoder(key).unkeyedContainer() }
    func superDecoder() throws -> any Decoder { preconditionFailure("no body has a class") }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }
}

/// Elements of one array, one after the other.
private struct JSONElements: UnkeyedDecodingContainer {
    let document: JSONDocument
    let array: Int
    private var next: Int
    private(set) var currentIndex = 0

    init(document: JSONDocument, array: Int) {
        self.document = document
        self.array = array
        next = array + 1
    }

    private var end: Int { Int(document.tokens[array].next) }

    var codingPath: [any CodingKey] { document.tokens.path(to: array) }
    /// Not counted before they are read.
    var count: Int? { nil }
    var isAtEnd: Bool { next >= end }

    private func decoder(_ type: Any.Type) throws -> JSONBodyDecoder {
        guard !isAtEnd else {
            let path: [any CodingKey] = codingPath + [JSONPathKey(intValue: currentIndex)]
            throw DecodingError.valueNotFound(type, .init(codingPath: path, debugDescription: "the array has no more elements"))
        }
        return JSONBodyDecoder(document: document, index: next)
    }

    private mutating func advance() {
        next = Int(document.tokens[next].next)
        currentIndex += 1
    }

    mutating func decodeNil() throws -> Bool {
        guard try decoder(Never.self).decodeNil() else { return false }
        advance()
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let value = try decoder(type).value(type)
        advance()
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        let container = try decoder(type).container(keyedBy: type)
        advance()
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try decoder([Any].self).unkeyedContainer()
        advance()
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let element = try decoder((any Decoder).self)
        advance()
        return element
    }
}
