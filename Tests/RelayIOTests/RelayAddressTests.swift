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

    @Test("what is no address is none", arguments: [
        "", "relay://", ":7420", "ftp://x", "x:0", "x:65536", "x:-1", "x:+1", "x:", "::1", "[::1", "[x]:1", "a b", "x:1:2", "x:7420abc", "http://x:1/#key=abc",
        "x#/b/lesson",
    ])
    func refuses(text: String) {
        #expect(RelayAddress(text) == nil)
    }

    @Test("an address is printed so that it can be read again", arguments: ["relay://x:1", "relay://[::1]:7420"])
    func prints(text: String) {
        #expect(RelayAddress(text)?.description == text)
    }
}
