import RelayIO
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

    @Test("a pin is 64 hexadecimal digits, and the letters of what is read are small")
    func pins() {
        let digits = String(repeating: "0123456789aBcDeF", count: 4)
        #expect(KeyPin(digits)?.description == digits.lowercased() && KeyPin(digits) == KeyPin(digits.uppercased()))
        let short = digits.dropLast()
        for wrong in ["", String(short), digits + "0", short + "g", short + "é", "0x" + digits.dropFirst(2)] {
            #expect(KeyPin(wrong) == nil, "\(wrong)")
        }
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
