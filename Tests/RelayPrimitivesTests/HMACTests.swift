import RelayPrimitives
import Testing

@Suite("HMAC-SHA-256") struct HMACTests {
    @Test("RFC 4231 cases 1 to 4, 6 and 7")
    func vectors() throws {
        let vectors = try ResponseFile("rfc-4231-sha256.txt").groups
        #expect(vectors.count == 6)
        for vector in vectors {
            let key = try ResponseFile.bytes(vector, "Key"), message = try ResponseFile.bytes(vector, "Msg")
            #expect(vector["Len"] == "\(message.count * 8)")
            #expect(HMACSHA256.authenticate(message, key: key).hex == vector["MD"])
        }
    }

    @Test("RFC 4231 case 5: the first 128 bits")
    func truncated() {
        let code = HMACSHA256.authenticate(Array("Test With Truncation".utf8), key: [UInt8](repeating: 0x0c, count: 20))
        #expect(Array(code.prefix(16)).hex == "a3b6167473100ee06e0c796c2955552b")
    }

    @Test("keys around the size of a block: what is longer counts as its hash, what is shorter as if zeros followed")
    func keys() {
        let message = Array("message".utf8)
        for count in [0, 1, 63, 64, 65, 128] {
            let key = [UInt8](repeating: 7, count: count)
            // RFC 2104 §2, by the letter.
            let block = count > 64 ? SHA256.hash(key) + [UInt8](repeating: 0, count: 32) : key + [UInt8](repeating: 0, count: 64 - count)
            let expected = SHA256.hash(block.map { $0 ^ 0x5c } + SHA256.hash(block.map { $0 ^ 0x36 } + message))
            #expect(HMACSHA256.authenticate(message, key: key) == expected, "\(count)")
        }
    }

    @Test("every cut of a message into two pieces gives the code of the whole, from one keyed value")
    func pieces() {
        let keyed = HMACSHA256(key: Array("key".utf8))
        let message = (0..<130).map { UInt8($0) }
        let whole = HMACSHA256.authenticate(message, key: Array("key".utf8))
        for cut in 0...130 {
            var code = keyed
            code.update(Array(message[..<cut]))
            message[cut...].withUnsafeBytes { code.update($0) }
            #expect(code.finalize() == whole, "\(cut)")
        }
    }

    @Test("equal only when every byte is, and lengths")
    func constantTime() {
        let code = (0..<32).map { UInt8($0) }
        #expect(isEqualInConstantTime(code, code) && isEqualInConstantTime([], []))
        for index in code.indices {
            for bit in 0..<8 {
                var other = code
                other[index] ^= 1 << UInt8(bit)
                #expect(!isEqualInConstantTime(code, other) && !isEqualInConstantTime(other, code))
            }
        }
        #expect(!isEqualInConstantTime(code, code + [0]) && !isEqualInConstantTime(code, []) && !isEqualInConstantTime([], code))
        #expect(!isEqualInConstantTime(code, Array(code.dropLast())))
    }
}
