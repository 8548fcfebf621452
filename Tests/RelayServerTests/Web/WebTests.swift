import Foundation
import RelayCore
import RelayGateway
import RelayIO
@testable import RelayServer
import RelayWire
import Testing

/// What of the web the engine's shell keeps by itself.
@Suite struct WebTests {
    private func site() throws -> Site {
        try WebSite(.init()).site(port: 7420, addresses: ["127.0.0.1"], names: [], links: [])
    }

    /// The answer to a request, and the link that is to write it.
    private func asked(_ fields: String) throws -> (WebLink, Gateway.Answer) {
        let web = WebLink(RemoteEnd(try SocketAddress.resolve(host: "127.0.0.1", port: 5)[0]), isProtected: false, now: 0)
        var bytes = Array("GET /relay-client.js HTTP/1.1\r\nHost: 127.0.0.1:7420\r\n\(fields)\r\n".utf8)
        let site = try site()
        let action = bytes.withUnsafeMutableBytes { bytes in
            var position = 0
            return web.gateway.next(bytes, &position, site: site, wallMilliseconds: 0)
        }
        guard case .respond(let answer)? = action else { throw RelayServerError(text: "no answer: \(String(describing: action))") }
        return (web, answer)
    }

    @Test(
        "[HT3] an answer has 30 s to be read, the last one of a connection too; behind one that is read 10 s begin",
        arguments: ["", "Connection: close\r\n"])
    func deadlines(fields: String) throws {
        let (web, answer) = try asked(fields)
        #expect(web.deadline == 10_000_000_000)
        web.append(answer)
        web.noteWaiting(now: 7)
        #expect(web.deadline == 30_000_000_007)
        var read = 0
        while web.hasPieces {
            let count = web.withNextPiece { min($0.count, 1_000) }
            web.wrote(count)
            read += count
        }
        #expect(read == answer.head.count + answer.body.count)
        // Another one behind it, before anything else was waited for.
        web.noteAnswer(now: 8)
        #expect(web.deadline == 30_000_000_008)
        guard fields.isEmpty else { return }
        web.gateway.responseWritten()
        web.noteWaiting(now: 9)
        #expect(web.deadline == 10_000_000_009)
    }

    @Test(
        "options that are none are an error that names them",
        arguments: [
            (["a b"], [], [], nil, "a b"), ([""], [], [], nil, "is no name"), ([], ["localhost:5173"], [], nil, "localhost:5173"),
            ([], ["http://a/b"], [], nil, "http://a/b"),
            ([], [], ["proxy.example"], nil, "proxy.example"), ([], [], [], "0123456789abcde", "not 15 bytes"),
            ([], [], [], "0123456789 abcdef", "visible characters"),
        ] as [([String], [String], [String], String?, String)])
    func wrongOptions(names: [String], origins: [String], proxies: [String], token: String?, named: String) async {
        var options = WhiteboardRelay.Options(port: 0)
        options.web.hostNames = names
        options.web.origins = origins
        options.web.trustedProxies = proxies
        options.web.operatorToken = token
        let error = await #expect(throws: RelayServerError.self) { try await WhiteboardRelay.start(options) }
        #expect(error?.text.contains(named) == true, "\(error?.text ?? "")")
    }

    /// What comes for a request, up to the end of the connection.
    private func answer(_ request: String, from server: WhiteboardRelay, as host: String = "127.0.0.1") throws -> String {
        let link = try RawLink(server.address)
        try link.send(raw: Array("\(request)\r\nHost: \(host):\(server.address.port)\r\nConnection: close\r\n\r\n".utf8))
        return String(decoding: try link.bytesUntilEnd(), as: UTF8.self)
    }

    @Test("[HT7] a relay is asked by the name that the network knows it by, as long as it has it, and by no other")
    func announcedName() async throws {
        let server = try await WhiteboardRelay.start(.init(port: 0))
        func status(_ host: String) throws -> Substring { try answer("GET / HTTP/1.1", from: server, as: host).prefix(12) }
        #expect(try status("boardrelay-2.local") == "HTTP/1.1 421")
        server.announced(as: "boardrelay-2.local")
        #expect(try (status("boardrelay-2.local"), status("boardrelay.local")) == ("HTTP/1.1 200", "HTTP/1.1 421"))
        server.announced(as: nil)
        #expect(try status("boardrelay-2.local") == "HTTP/1.1 421")
        await server.stop()
    }

    @Test("[SE5, HT9] a relay that is full of sessions, and of connections that say nothing, answers /healthz by HTTP")
    func healthOfAFullRelay() async throws {
        var options = WhiteboardRelay.Options(port: 0)
        options.hub.connectionsMax = 32
        let server = try await WhiteboardRelay.start(options)
        let inside = try (0..<30).map { _ in try RawLink(server.address) }
        for (number, link) in inside.enumerated() { try link.login("user-\(number)") }
        let silent = try (0..<40).map { _ in try RawLink(server.address) }
        #expect(try answer("GET /healthz HTTP/1.1", from: server).hasPrefix("HTTP/1.1 200 "))
        withExtendedLifetime((inside, silent)) {}
        await server.stop()
    }

    @Test("[HT9] what an alarm waits for is counted from 0: refusals, closes and refused requests by every reason there is")
    func counters() async throws {
        let server = try await WhiteboardRelay.start(.init(port: 0))
        let lines = Set(try answer("GET /metrics HTTP/1.1", from: server).split(whereSeparator: \.isNewline).map { String($0) })
        #expect(ErrorCode.all.contains { $0.code == .slowConsumer })
        for code in ErrorCode.all {
            let name = code.code.closesConnection ? "closes" : "refusals"
            #expect(lines.contains("boardrelay_\(name)_total{code=\"\(code.name)\"} 0"))
        }
        for refusal in HTTPRefusal.allCases { #expect(lines.contains("boardrelay_http_refusals_total{reason=\"\(refusal.rawValue)\"} 0")) }
        await server.stop()
    }

    @Test("[HT9] who asks for the numbers with a wrong token is named in the log; without one it is no attempt")
    func wrongToken() async throws {
        let warnings = Mutex<[String]>([])
        var options = WhiteboardRelay.Options(port: 0)
        options.log = { line in if line.level == .warning { warnings.withLock { $0.append(line.text) } } }
        options.web.operatorToken = "0123456789abcdef"
        let server = try await WhiteboardRelay.start(options)
        #expect(try answer("GET /metrics HTTP/1.1\r\nX-Forwarded-For: 10.0.0.9", from: server).hasPrefix("HTTP/1.1 401 "))
        for _ in 1...2 {
            #expect(try answer("GET /metrics HTTP/1.1\r\nAuthorization: Bearer SECRETISH", from: server).hasPrefix("HTTP/1.1 401 "))
        }
        await server.stop()
        let lines = warnings.withLock { $0 }
        #expect(lines.count == 1 && lines[0].wholeMatch(of: /wrong token from 127\.0\.0\.1:[0-9]+, for \/metrics/) != nil, "\(lines)")
    }

    @Test("[HT8] a page that is refused for its origin is named in the log with what lets it, once")
    func refusedOrigin() async throws {
        let warnings = Mutex<[String]>([])
        let server = try await WhiteboardRelay.start(
            .init(port: 0, log: { line in if line.level == .warning { warnings.withLock { $0.append(line.text) } } }))
        for origin in ["http://app.example", "http://app.example", "null"] {
            let upgrade =
                "GET /ws HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: \(origin)\r\nConnection: upgrade"
            #expect(try answer(upgrade, from: server).hasPrefix("HTTP/1.1 403 "))
        }
        await server.stop()
        #expect(
            warnings.withLock { $0 } == [
                "a page of http://app.example may not connect: 'serve --allow-origin http://app.example' lets it",
                "a page of null may not connect: it has to be served by http",
            ])
    }

    @Test(
        "[HT10] a log names who asks behind a proxy that is trusted, with the proxy; else the other end",
        arguments: [
            (["10.0.0.1"], "X-Forwarded-For: 203.0.113.9\r\n", "203.0.113.9 by 10.0.0.1:5"),
            ([], "X-Forwarded-For: 203.0.113.9\r\n", "10.0.0.1:5"),
            (["10.0.0.1"], "X-Forwarded-For: nobody\r\n", "somebody behind 10.0.0.1:5"), (["10.0.0.1"], "", "10.0.0.1:5"),
        ])
    func client(trusted: [String], fields: String, client: String) throws {
        let operators = Operators(token: nil, trustedProxies: Set(trusted.compactMap { IPAddress($0) }))
        let end = RemoteEnd(text: "10.0.0.1:5", address: try #require(IPAddress("10.0.0.1")))
        #expect(operators.client(of: try request(fields), from: end).text == client)
    }

    @Test(
        "[HT10] who asks counts by an IPv4 address or the first 64 bits of an IPv6 one; loopback is this machine itself without fields of proxies",
        arguments: [
            ("192.168.1.9", [], "", "192.168.1.9"), ("2001:db8:0:7:1::9", [], "", "2001:db8:0:7::/64"),
            ("::ffff:192.168.1.9", [], "", "192.168.1.9"), ("127.0.0.1", [], "", "this machine"), ("::1", [], "", "this machine"),
            ("127.0.0.1", [], "Via: 1.1 proxy\r\n", "127.0.0.1"), ("::1", [], "X-Forwarded-For: 10.0.0.1\r\n", "0:0:0:0::/64"),
            ("127.0.0.1", ["127.0.0.1"], "X-Forwarded-For: 203.0.113.9\r\n", "203.0.113.9"),
            ("127.0.0.1", ["127.0.0.1"], "X-Forwarded-For: 2001:db8:0:7:1::9\r\n", "2001:db8:0:7::/64"),
            ("127.0.0.1", ["127.0.0.1"], "X-Forwarded-For: 127.0.0.1\r\n", "127.0.0.1"),
            ("127.0.0.1", ["127.0.0.1"], "X-Forwarded-For: nobody\r\n", "127.0.0.1"),
            ("127.0.0.1", ["127.0.0.1"], "", "this machine"), ("10.0.0.1", ["10.0.0.1"], "", "this machine"),
            ("192.168.1.9", [], "X-Forwarded-For: 203.0.113.9\r\n", "192.168.1.9"),
        ])
    func address(host: String, trusted: [String], fields: String, address: String) throws {
        let operators = Operators(token: nil, trustedProxies: Set(trusted.compactMap { IPAddress($0) }))
        let end = RemoteEnd(text: "", address: try #require(IPAddress(host)))
        #expect(operators.client(of: try request(fields), from: end).address.description == address)
        if fields.isEmpty { #expect(operators.peer(of: end).address.description == address) }
    }

    private func request(_ fields: String) throws -> HTTPRequest {
        var parser = HTTPRequestParser()
        var position = 0
        let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n".utf8)
        return try #require(try bytes.withUnsafeBytes { try parser.next($0, &position) })
    }

    @Test("what went to the journal together is one time, up to what is durable; what failed is none")
    func journal() {
        var times = JournalTimes()
        times.submitted(3, at: 1_000_000_000)
        times.submitted(5, at: 1_000_000_000)
        times.persisted(through: 4, at: 1_004_000_000)
        #expect(times.histogram.count == 1 && times.histogram.sum == 0.004)
        times.failed()
        times.persisted(through: 9, at: 2_000_000_000)
        #expect(times.histogram.count == 1)
    }
}
