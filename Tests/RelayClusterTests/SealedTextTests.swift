import RelayCluster
import RelayPrimitives
import Testing

/// Keys of a relay on their way through a log.
@Suite("A sealed text")
struct SealedTextTests {
    private static let secret = (0..<32).map { UInt8($0) }
    private static let nonce = (0..<16).map { UInt8(0xA0 + $0) }

    /// Made with Python's `hmac` and `hashlib`, which know nothing of this code:
    ///
    ///     H = lambda key, text: hmac.new(key, text, hashlib.sha256).digest()
    ///     key = lambda purpose: H(secret, b"boardrelay sealed text 1: " + purpose)
    ///     stream = b"".join(H(key(b"encryption"), nonce + n.to_bytes(4, "big")) for n in range(3))
    ///     body = b"\x01" + nonce + bytes(a ^ b for a, b in zip(text, stream))
    ///     sealed = body + H(key(b"authentication"), len(context).to_bytes(2, "big") + context + body)
    @Test("is what another implementation makes")
    func vector() {
        let text = Array("join abcdefghijklmnopqrstuvwxyz\nhost 234567abcdefghijklmnopqrst\n".utf8)
        let sealed = SealedText.seal(text, secret: Self.secret, context: "keys of space main", nonce: Self.nonce)
        #expect(sealed.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() == Self.expected)
        #expect(SealedText.open(sealed, secret: Self.secret, context: "keys of space main") == text)
    }

    private static let expected =
        "01a0a1a2a3a4a5a6a7a8a9aaabacadaeaf1991deaa35f53e1c11d40d562899349f04b6546c265dad1e7237a26f06dcbae66a8fada07e33de63b183e1"
        + "3823b4714a4f4bc0ac5277d49268410084960e5f4df37ff3e19efeebe1aa47b1c8d4c615ebe1283b889f38c564ac106169c94cf276"

    @Test("of any length is what it was", arguments: [0, 1, 31, 32, 33, 64, 4047])
    func lengths(count: Int) {
        let text = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let sealed = SealedText.seal(text, secret: Self.secret, context: "", nonce: Self.nonce)
        #expect(sealed.count == count + 49)
        #expect(SealedText.open(sealed, secret: Self.secret, context: "") == text)
    }

    @Test("that was changed anywhere, cut, or belongs elsewhere is none")
    func changed() {
        let sealed = SealedText.seal(Array("secret".utf8), secret: Self.secret, context: "a", nonce: Self.nonce)
        for index in sealed.indices {
            var other = sealed
            other[index] ^= 1
            #expect(SealedText.open(other, secret: Self.secret, context: "a") == nil, "byte \(index)")
        }
        for count in 0..<sealed.count { #expect(SealedText.open(Array(sealed[..<count]), secret: Self.secret, context: "a") == nil) }
        #expect(SealedText.open(sealed, secret: Self.secret, context: "b") == nil)
        #expect(SealedText.open(sealed, secret: Self.secret.reversed(), context: "a") == nil)
        #expect(SealedText.open([UInt8](repeating: 1, count: 5000), secret: Self.secret, context: "a") == nil)
    }
}
