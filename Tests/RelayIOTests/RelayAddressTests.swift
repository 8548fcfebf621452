import RelayIO
import RelayPrimitives
import Testing

@Suite struct RelayAddressTests {
    @Test("an address is read in every form that people write", arguments: [
        ("relay://board.local:7421", "board.local", 7421), ("board.local", "board.local", 7420), ("127.0.0.1:80", "127.0.0.1", 80),
        ("tcp://10.0.0.1", "10.0.0.1", 7420), ("HTTP://x:1/#", "x", 1), ("ws://[::1]:9", "::1", 9), ("[fe80::1]", "fe80::1", 7420),
    ] as [(String, String, UInt16)])
    func reads(text: String, host: String, port: UInt16) {
        #expect(RelayAddress(text) == RelayAddress(host: host, port: port))
    }

    @Test("relays, https and wss are relays behind TLS; the last two stand on port 443 unless another is named", arguments: [
        ("relays://board.local:7421", "board.local", 7421), ("RELAYS://[::1]", "::1", 7420),
        ("https://board.example/#", "board.example", 443), ("https://board.example:7420/b?c", "board.example", 7420),
        ("wss://[fe80::1]/", "fe80::1", 443),
    ] as [(String, String, UInt16)])
    func protected(text: String, host: String, port: UInt16) {
        #expect(RelayAddress(text) == RelayAddress(host: host, port: port, protection: .certified))
        #expect(RelayAddress(text) != RelayAddress(host: host, port: port))
    }

    @Test("a pin is 16 bytes in base64url, 22 letters")
    func pins() {
        let letters = "AbCdEfGhIjKlMnOpQr-_0Q"
        #expect(KeyPin(letters)?.description == letters)
        let short = letters.dropLast()
        for wrong in ["", String(short), letters + "A", short + "R", short + "+", short + "é", short + "=", short + "Q=="] {
            #expect(KeyPin(wrong) == nil, "\(wrong)")
        }
    }

    @Test("[TL4] the pin of a key is that of the document")
    func pinOfKey() throws {
        let key = try #require(Base64URL.decode(
            "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li_hp_m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q"))
        #expect(KeyPin(subjectPublicKeyInfo: key).description == "XNJS-wzokyQ2-vjM0QQJgQ")
    }

    @Test("what is no address is none", arguments: [
        "", "relay://", ":7420", "ftp://x", "x:0", "x:65536", "x:-1", "x:+1", "x:", "::1", "[::1", "[x]:1", "a b", "x:1:2", "x:7420abc",
        "http://x:1/#key=abc", "x#/b/lesson", "relays://", "relays:/x", "https:///b", "x#pin=ab",
    ])
    func refuses(text: String) {
        #expect(RelayAddress(text) == nil)
    }

    @Test(
        "an address is printed so that it can be read again",
        arguments: ["relay://x:1", "relay://[::1]:7420", "relays://x:443", "relays://[::1]:7420"])
    func prints(text: String) {
        #expect(RelayAddress(text)?.description == text)
    }
}
