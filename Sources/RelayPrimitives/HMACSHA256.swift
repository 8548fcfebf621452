/// HMAC-SHA-256: 32 bytes that can be made for a message only with the key. [RFC 2104, FIPS 198-1]
///
/// A value that was made from a key and has taken in nothing can be copied for each message: the key is then hashed once.
/// Compare what is received with `isEqualInConstantTime`.
public struct HMACSHA256: Sendable {
    /// Bytes of an authentication code.
    public static let codeBytes = SHA256.digestBytes

    /// H(key ⊕ ipad ‖ message so far).
    private var inner = SHA256()
    /// H(key ⊕ opad …): the digest of `inner` is still to come.
    private var outer = SHA256()

    /// - Parameter key: of any length. One of more than 64 bytes, a block, counts as its hash. [RFC 2104 §2]
    public init(key: [UInt8]) {
        var block = key.count > blockBytes ? SHA256.hash(key) : key
        block += [UInt8](repeating: 0, count: blockBytes - block.count)
        inner.update(block.map { $0 ^ 0x36 })
        outer.update(block.map { $0 ^ 0x5c })
    }

    /// Takes in the next piece of the message, of any size. O(bytes), nothing is allocated.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) { inner.update(bytes) }

    /// Takes in the next piece of the message, of any size.
    public mutating func update(_ bytes: [UInt8]) { inner.update(bytes) }

    /// The code of all that has come: 32 bytes.
    public consuming func finalize() -> [UInt8] {
        outer.update(inner.finalize())
        return outer.finalize()
    }

    /// The code of a whole message: 32 bytes.
    public static func authenticate(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = HMACSHA256(key: key)
        code.update(message)
        return code.finalize()
    }
}
