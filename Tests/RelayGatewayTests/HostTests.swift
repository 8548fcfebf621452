import RelayGateway
import Testing

@Suite("Hosts and origins") struct HostTests {
    @Test(
        "[HT7] an address is the same however it is written",
        arguments: [
            ("192.168.1.5", "::ffff:192.168.1.5"), ("::ffff:c0a8:105", "192.168.1.5"), ("fe80::1", "FE80:0:0:0:0:0:0:1"),
            ("::", "0:0:0:0:0:0:0:0"),
            ("2001:db8::8:800:200c:417a", "2001:DB8:0:0:8:800:200C:417A"), ("::1", "0:0::0:1"), ("1::", "1:0:0:0:0:0:0:0"),
            ("::13.1.68.3", "::d01:4403"),
            ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
        ])
    func equal(one: String, other: String) throws {
        #expect(try #require(IPAddress(one)) == #require(IPAddress(other)))
    }

    @Test(
        "[HT7] what is no address",
        arguments: [
            "", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.", "1..2.3", "127.1", "0x7f.0.0.1", "2130706433", "+1.2.3.4", ":",
            ":::", "1::2::3",
            "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "12345::", "g::", "fe80::1%eth0", "::1.2.3", "1.2.3.4::", ":1::",
            "1::1:", "[::1]",
        ])
    func noAddress(text: String) { #expect(IPAddress(text) == nil) }

    @Test(
        "[HT7] loopback is 127.0.0.0/8 and ::1",
        arguments: [
            ("127.0.0.1", true), ("127.255.255.255", true), ("::1", true), ("::ffff:127.0.0.1", true), ("128.0.0.1", false),
            ("126.255.255.255", false),
            ("::", false), ("::2", false), ("0.0.0.0", false),
        ])
    func loopback(text: String, isLoopback: Bool) throws { #expect(try #require(IPAddress(text)).isLoopback == isLoopback) }

    @Test(
        "[HT7] a field Host that names nothing is refused",
        arguments: [
            "", ":7420", "a b", "a:b", "a:0", "a:65536", "a:1:2", "a:+1", "user@a", "a/b", "[::1", "::1", "[1.2.3.4]", "[::1]7420",
            "[fe80::1%25eth0]", "a..b", ".",
            ".a", "a..", "a%2eb", "é.example", String(repeating: "a", count: 64), "a\u{0}b", "a:000080",
        ])
    func invalid(host: String) { #expect(Authority(host) == nil) }

    @Test("[HT7] the longest names pass, and a colon without a port means none")
    func authorities() {
        #expect(Authority(String(repeating: "a", count: 63)) != nil)
        let longest =
            Array(repeating: String(repeating: "a", count: 63), count: 3).joined(separator: ".") + "." + String(repeating: "a", count: 61)
        #expect(longest.utf8.count == 253 && Authority(longest) != nil && Authority(longest + "a") == nil)
        #expect(
            Authority("A.Example.:") == Authority("a.example") && Authority("a:65535")?.port == 65_535
                && Authority("[::1]:7420")?.port == 7_420)
    }

    private static let check = HostCheck(
        port: 7420, addresses: ["192.168.1.5", "fe80::1%eth0", "2001:db8::5"], names: ["Board.local"],
        given: ["relay.example", "school.example:8443", "tls.example:443", "10.1.1.1:80"].compactMap { Authority($0) })

    @Test(
        "[HT7] names and addresses of the relay are known, in every form",
        arguments: [
            "192.168.1.5:7420", "[::ffff:192.168.1.5]:7420", "[2001:db8::5]:7420", "[2001:DB8:0:0::5]:7420", "localhost:7420",
            "LOCALHOST.:7420", "127.0.0.1:7420",
            "127.8.8.8:7420", "[::1]:7420", "board.local:7420", "BOARD.LOCAL.:7420", "relay.example", "relay.example:1",
            "Relay.Example.:443",
            "school.example:8443", "tls.example", "tls.example:443", "10.1.1.1", "10.1.1.1:80",
        ])
    func known(host: String) throws { #expect(Self.check.allows(try #require(Authority(host)))) }

    @Test(
        "[HT7] any other name or port is not, as when a foreign name is made to lead here",
        arguments: [
            "evil.example:7420", "192.168.1.5.evil.example:7420", "localhost.evil.example:7420", "xlocalhost:7420",
            "board.local.evil.example:7420",
            "notboard.local:7420", "board:7420", "192.168.1.6:7420", "192.168.1.5", "192.168.1.5:80", "localhost", "127.0.0.1:80",
            "[fe80::1]:7420",
            "0.0.0.0:7420", "[::]:7420", "school.example", "school.example:7420", "tls.example:80", "10.1.1.1:7420", "rebind.network:7420",
            "0x7f.0.0.1:7420", "127.1:7420",
        ])
    func foreign(host: String) throws { #expect(!Self.check.allows(try #require(Authority(host)))) }

    @Test("[HT7] a page that had its own name made to lead here reads nothing of the relay: neither files, state nor a socket")
    func rebinding() throws {
        for path in ["/", "/relay-client.js", "/healthz", "/nothing"] {
            let connection = Connection()
            let answer = try #require(connection.answer(Connection.get(path, host: "rebind.example:7420")))
            #expect(answer.status == .misdirectedRequest && answer.refusal == .wrongHost && answer.closes)
        }
        // Its origin is that name, too: that the two agree is not enough.
        let socket = Connection()
        let upgrade = Connection.upgrade("Origin: http://rebind.example:7420").replacing("192.168.1.5:7420", with: "rebind.example:7420")
        #expect(socket.answer(upgrade)?.refusal == .wrongHost)
        // A second one on a connection that began well.
        let mixed = Connection()
        #expect(mixed.answer(Connection.get("/"))?.status == .ok)
        #expect(mixed.answer(Connection.get("/", host: "rebind.example:7420"))?.refusal == .wrongHost)
    }

    @Test("[HT7] a wrong name gets a page with the right links, as text and without its own name")
    func page() throws {
        let connection = Connection(Connection.site(links: ["http://192.168.1.5:7420/", "http://<b>\"x\"&'y'"]))
        let answer = try #require(connection.answer(Connection.get("/", host: "evil.example:7420")))
        let page = text(answer.body)
        #expect(page.contains("<a href=\"http://192.168.1.5:7420/\">http://192.168.1.5:7420/</a>"))
        #expect(page.contains("http://&lt;b&gt;&quot;x&quot;&amp;&#39;y&#39;") && !page.contains("<b>") && !page.contains("evil"))
        #expect(answer.field("Content-Type") == "text/html; charset=utf-8" && answer.field("Cache-Control") == "no-store")
        #expect(text(WrongHostPage.response(links: []).body).contains("Ask whoever runs it"))
    }

    @Test("[HT7] a host that is none is refused as such")
    func invalidHost() {
        let connection = Connection()
        #expect(connection.answer(Connection.get("/", host: "user@192.168.1.5:7420"))?.refusal == .hostInvalid)
    }

    private func allows(_ origins: [String], host: String, https: Bool = false, given: Set<Origin> = []) throws -> Bool {
        OriginCheck.allows(origins.map { Array($0.utf8) }, host: try #require(Authority(host)), takesHTTPS: https, given: given)
    }

    @Test("[HT8] a page of the relay's own may connect, and a program that is no browser")
    func sameOrigin() throws {
        #expect(try allows([], host: "192.168.1.5:7420"))
        #expect(try allows(["http://192.168.1.5:7420"], host: "192.168.1.5:7420"))
        #expect(try allows(["http://BOARD.local:7420"], host: "board.LOCAL.:7420"))
        #expect(try allows(["http://[fe80::1]:7420"], host: "[fe80:0::1]:7420"))
        #expect(
            try allows(["http://relay.example"], host: "relay.example:80") && allows(["http://relay.example:80"], host: "relay.example"))
        #expect(
            try allows(["https://relay.example"], host: "relay.example", https: true)
                && allows(["https://relay.example"], host: "relay.example:443", https: true))
    }

    @Test(
        "[HT8] a page of another origin may not, whatever it says it is",
        arguments: [
            "http://evil.example", "http://evil.example:7420", "http://192.168.1.5", "http://192.168.1.5:80", "http://192.168.1.6:7420",
            "https://192.168.1.5:7420", "null", "",
            "192.168.1.5:7420", "file://", "http://192.168.1.5:7420.evil.example", "http://192.168.1.5:7420@evil.example",
            "http://evil.example#192.168.1.5:7420",
            "http://192.168.1.5:7420/", "ws://192.168.1.5:7420", "http://192.168.1.5:7420 http://evil.example", "chrome-extension://abc",
            "http:192.168.1.5:7420",
        ])
    func crossSite(origin: String) throws {
        #expect(try !allows([origin], host: "192.168.1.5:7420"))
        let connection = Connection()
        let answer = try #require(connection.answer(Connection.upgrade("Origin: \(origin)")))
        #expect(answer.refusal == .foreignOrigin && answer.status == .forbidden && answer.closes)
        #expect(connection.gateway.refusedOrigin == origin)
    }

    @Test("[HT8] a page whose origin the operator gave may, by whatever name it reaches the relay; its neighbours may not")
    func given() throws {
        let given: Set = [try #require(Origin("http://localhost:5173".utf8)), try #require(Origin("HTTPS://App.example".utf8))]
        #expect(
            try allows(["http://localhost:5173"], host: "192.168.1.5:7420", given: given)
                && allows(["https://app.example"], host: "board.local:7420", given: given))
        for other in [
            "http://localhost", "https://localhost:5173", "http://app.example", "https://app.example:444", "https://x.app.example", "null",
        ] {
            #expect(try !allows([other], host: "192.168.1.5:7420", given: given), "\(other)")
        }
        for text in ["localhost:5173", "http://", "http://a/", "http://a?b", "ftp://a", "http://a b", "null", ""] {
            #expect(Origin(text.utf8) == nil, "\(text)")
        }
    }

    @Test(
        "[HT10] an address is written as people write it",
        arguments: [
            ("192.168.1.5", "192.168.1.5"), ("::ffff:10.0.0.1", "10.0.0.1"), ("0:0:0:0:0:0:0:1", "::1"), ("::", "::"),
            ("FE80::A", "fe80::a"),
            ("2001:db8:0:1:0:0:0:1", "2001:db8:0:1::1"), ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
            ("1:2:3:4:5:6:7:0", "1:2:3:4:5:6:7:0"), ("1:0:0:0:0:0:0:0", "1::"),
        ])
    func written(address: String, text: String) throws {
        let address = try #require(IPAddress(address))
        #expect(address.description == text && IPAddress(text) == address)
    }

    @Test("[HT8] two origins are none, and TLS counts only behind a proxy that is trusted")
    func twoOrigins() throws {
        let own = "http://192.168.1.5:7420"
        #expect(try !allows([own, own], host: "192.168.1.5:7420"))
        #expect(try !allows(["https://relay.example"], host: "relay.example"))
        #expect(try !allows(["https://relay.example:80"], host: "relay.example", https: true))
    }
}
