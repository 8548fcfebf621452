import RelayPrimitives
import Testing

@Suite("base64url") struct Base64URLTests {
    @Test("RFC 4648 §10, without padding, both ways")
    func vectors() {
        let rows = [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"),
        ]
        for (plain, text) in rows {
            #expect(Base64URL.encode(Array(plain.utf8)) == text)
            #expect(Base64URL.decode(text) == Array(plain.utf8))
        }
    }

    @Test("the two digits in which it differs from base64, RFC 4648 §5")
    func alphabet() {
        #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8" && Base64URL.decode("-_8") == [0xFB, 0xFF])
        #expect(Base64URL.decode("+/8") == nil)
    }

    @Test("every one and two bytes, and every length to 100, come back")
    func roundTrips() {
        for first in UInt8.min ... .max {
            #expect(Base64URL.decode(Base64URL.encode([first])) == [first])
            for second in stride(from: UInt8(0), to: 255, by: 5) {
                #expect(Base64URL.decode(Base64URL.encode([first, second])) == [first, second])
            }
        }
        for count in 0...100 {
            let bytes = (0..<count).map { UInt8($0 * 73 & 0xFF) }
            let text = Base64URL.encode(bytes)
            #expect(text.utf8.count == (count * 8 + 5) / 6)
            #expect(Base64URL.decode(text) == bytes)
            #expect(Base64URL.decode(Array(text.utf8)[...]) == bytes)
        }
    }

    /// Of all texts of up to three digits exactly one is read for each sequence of bytes.
    @Test("strict: each sequence of 0…2 bytes has one text, whatever single bytes stand in it")
    func strict() {
        let every = (UInt8.min ... .max).map { $0 }
        #expect(every.allSatisfy { Base64URL.decode([$0]) == nil }, "one digit is no byte")
        let two = every.flatMap { first in every.compactMap { Base64URL.decode([first, $0]) } }
        #expect(two.count == 256 && Set(two).count == 256)
        // The last digit of three has two bits that must be zero: 64 × 64 × 16 texts for 65,536 pairs of bytes.
        let digits = every.filter { Base64URL.decode([$0, UInt8(ascii: "A")]) != nil }
        #expect(digits.count == 64)
        var three = 0
        for first in digits {
            for last in every where Base64URL.decode([first, UInt8(ascii: "A"), last]) != nil { three += 1 }
        }
        #expect(three == 64 * 16)
    }

    @Test(
        "padding, white space, other alphabets and a digit too many are refused",
        arguments: [
            "Zg==", "Zg=", "Zm8=", "Zm9v=", "=", "====", " Zm9v", "Zm9v ", "Zm 9v", "Zm9v\n", "Zm9v\r\n", "Z", "Zm9vY", "Zm+v", "Zm/v",
            "Zm9v.", "Zm9é", "Zm9\u{0}", "Zh", "Zm9",
        ])
    func refused(text: String) {
        #expect(Base64URL.decode(text) == nil)
        #expect(Base64URL.decode(Array(text.utf8)[...]) == nil)
    }
}
