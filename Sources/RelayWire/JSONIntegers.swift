// A decoder that finds a number outside its field's type says so without the field's name, which JS5 wants. Derived
// `Decodable` conformances of this module find these functions before the library's: each reads the number as the widest
// type, which holds whatever `JSONScanner` lets through, and narrows it where the key is known.

extension KeyedDecodingContainer {
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try narrowed(decode(Int64.self, forKey: key), key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try narrowed(decode(Int64.self, forKey: key), key) }

    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try decodeIfPresent(Int64.self, forKey: key).map { try narrowed($0, key) }
    }

    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try decodeIfPresent(Int64.self, forKey: key).map { try narrowed($0, key) }
    }

    private func narrowed<T: FixedWidthInteger>(_ number: Int64, _ key: Key) throws -> T {
        if let narrow = T(exactly: number) { return narrow }
        throw DecodingError.dataCorrupted(
            .init(codingPath: codingPath + [key], debugDescription: "\(number) does not fit"))
    }
}
