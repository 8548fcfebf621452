import RelayGateway
import Testing

@Suite("Operators and proxies") struct OperatorTests {
    private func request(_ fields: [String], host: String = "localhost:7420") throws -> HTTPRequest {
        try #require(Reading("GET /metrics HTTP/1.1\r\nHost: \(host)\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n").requests.first)
    }

    @Test(
        "[HT9] numbers are for this machine and for who has the token",
        arguments: [
            ("127.0.0.1", [], true), ("::1", [], true), ("127.9.9.9", ["User-Agent: prometheus"], true), ("192.168.1.7", [], false),
            ("::ffff:10.0.0.1", [], false),
            // A proxy on this machine hands on what comes from elsewhere.
            ("127.0.0.1", ["X-Forwarded-For: 127.0.0.1"], false), ("127.0.0.1", ["Forwarded: for=127.0.0.1"], false),
            ("127.0.0.1", ["Via: 1.1 proxy"], false),
            ("127.0.0.1", ["x-real-ip:"], false), ("::1", ["X-Forwarded-Host: a"], false), ("::1", ["X-Forwarded-Proto: https"], false),
            ("127.0.0.1", ["X-Forwarded-Ssl: on"], false), ("127.0.0.1", ["X-Forwarded-Scheme: https"], false),
            ("127.0.0.1", ["x-forwarded-prefix: /board"], false), ("127.0.0.1", ["X-FORWARDED-USER: anna"], false),
            ("127.0.0.1", ["X-Forwarde: 1"], true),
            ("127.0.0.1", ["Fastly-Client-IP: 10.0.0.1"], false), ("127.0.0.1", ["X-Client-IP: 10.0.0.1"], false),
            ("192.168.1.7", ["Authorization: Bearer right"], true), ("192.168.1.7", ["authorization: bearer right"], true),
            ("127.0.0.1", ["Authorization: Bearer right", "X-Forwarded-For: 10.0.0.1"], true),
            ("192.168.1.7", ["Authorization: Bearer wrong"], false), ("127.0.0.1", ["Authorization: Bearer wrong"], false),
            ("192.168.1.7", ["Authorization: Bearer righ"], false),
            ("192.168.1.7", ["Authorization: Bearer right2"], false), ("192.168.1.7", ["Authorization: Bearer RIGHT"], false),
            ("192.168.1.7", ["Authorization: Bearer  right"], false),
            ("192.168.1.7", ["Authorization: Basic right"], false), ("192.168.1.7", ["Authorization: right"], false),
            ("192.168.1.7", ["Authorization: Bearer"], false),
            ("192.168.1.7", ["Authorization: Bearer right", "Authorization: Bearer right"], false),
            ("127.0.0.1", ["Authorization:"], false),
        ])
    func operators(peer: String, fields: [String], isAllowed: Bool) throws {
        let peer = try #require(IPAddress(peer))
        let request = try request(fields)
        #expect(OperatorCheck(token: Array("right".utf8)).allows(request, peer: peer) == isAllowed)
        // Without a token nothing but the place counts.
        let byToken = fields.contains { $0.lowercased().hasPrefix("authorization") }
        for token in [nil, []] as [[UInt8]?] {
            #expect(OperatorCheck(token: token).allows(request, peer: peer) == (isAllowed && !byToken))
        }
    }

    @Test(
        "[HT9] a proxy that says nothing of itself hands on the name by which it was asked: numbers are for loopback's own names",
        arguments: [
            ("localhost", true), ("LOCALHOST.:7420", true), ("127.0.0.1:7420", true), ("[::1]:7420", true), ("board.example", false),
            ("192.168.1.5:7420", false), ("a.localhost", false),
        ])
    func names(host: String, isAllowed: Bool) throws {
        let check = OperatorCheck(token: Array("right".utf8)), peer = try #require(IPAddress("127.0.0.1"))
        #expect(check.allows(try request([], host: host), peer: peer) == isAllowed)
        #expect(check.allows(try request(["Authorization: Bearer right"], host: host), peer: peer))
    }

    @Test("[HT9] who may not is told how, and may ask something else")
    func refused() throws {
        let connection = Connection()
        connection.receive(Connection.get("/healthz"))
        let answer = connection.gateway.answer(HTTPResponse(HTTPRefusal.operatorOnly), wallMilliseconds: Connection.wall)
        #expect(
            answer.status == .unauthorized && answer.field("WWW-Authenticate") == "Bearer realm=\"boardrelay\"" && !answer.closes
                && answer.refusal == .operatorOnly)
    }

    @Test(
        "[HT10] an address that was forwarded counts as far as every proxy on the way is trusted",
        arguments: [
            ([], [], "10.0.0.1"), (["203.0.113.9"], [], "10.0.0.1"), (["127.0.0.1"], [], "10.0.0.1"),
            (["127.0.0.1"], ["10.0.0.2"], "10.0.0.1"),
            (["203.0.113.9"], ["10.0.0.1"], "203.0.113.9"), (["127.0.0.1, 203.0.113.9"], ["10.0.0.1"], "203.0.113.9"),
            (["127.0.0.1", "203.0.113.9"], ["10.0.0.1"], "203.0.113.9"),
            (["203.0.113.9, 10.0.0.2"], ["10.0.0.1", "10.0.0.2"], "203.0.113.9"),
            (["x, 203.0.113.9, 10.0.0.2"], ["10.0.0.1", "10.0.0.2"], "203.0.113.9"), (["203.0.113.9:5123"], ["10.0.0.1"], "203.0.113.9"),
            (["[2001:db8::1]:80"], ["10.0.0.1"], "2001:db8::1"), (["2001:db8::1"], ["10.0.0.1"], "2001:db8::1"),
            (["unknown"], ["10.0.0.1"], nil), ([], ["10.0.0.1"], "10.0.0.1"),
            (["10.0.0.1"], ["10.0.0.1"], "10.0.0.1"), (["localhost"], ["10.0.0.1"], nil),
        ])
    func forwarded(fields: [String], trusted: [String], client: String?) throws {
        let found = ClientAddress.of(
            try request(fields.map { "X-Forwarded-For: \($0)" }), peer: try #require(IPAddress("10.0.0.1")),
            trusted: Set(trusted.compactMap { IPAddress($0) }))
        #expect(found == client.flatMap { IPAddress($0) })
    }
}
