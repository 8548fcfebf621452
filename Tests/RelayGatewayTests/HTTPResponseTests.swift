import RelayGateway
import Testing

@Suite("Answers") struct HTTPResponseTests {
    @Test("[HT6] an answer, byte for byte")
    func whole() throws {
        let connection = Connection()
        let answer = try #require(connection.answer(Connection.get("/")))
        #expect(
            answer.headText == """
                HTTP/1.1 200 OK\r
                Date: Sun, 06 Nov 1994 08:49:37 GMT\r
                Content-Type: text/html; charset=utf-8\r
                Content-Length: 12\r
                Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r
                Referrer-Policy: no-referrer\r
                X-Content-Type-Options: nosniff\r
                Cache-Control: no-cache\r
                ETag: "one"\r
                \r

                """)
        #expect(answer.body == Connection.page.bytes && !answer.closes && answer.refusal == nil)
    }

    @Test(
        "[HT6] the fields that keep a page safe stand on each answer, once",
        arguments: [
            Connection.get("/"), Connection.get("/", method: "HEAD"), Connection.get("/", "If-None-Match: *"), Connection.get("/nothing"),
            Connection.get("/", host: "evil.example"), Connection.get("/", method: "DELETE"), Connection.get("/ws"), Connection.upgrade(),
            "\u{16}",
            Connection.upgrade("Origin: http://evil.example"), "GET / HTTP/1.1\n",
        ])
    func security(request: String) throws {
        let connection = Connection()
        let actions = connection.receive(request)
        let answer: Gateway.Answer
        switch try #require(actions.last) {
        case .respond(let response): answer = response
        case .upgrade(let upgrade, _): answer = upgrade
        case .ask, .receive, .pong, .send, .close: return unexpected("no answer: \(actions)")
        }
        for (name, value) in HTTPResponse.securityFields { #expect(answer.field(name) == value, "\(name)") }
        #expect(
            answer.headText.hasPrefix("HTTP/1.1 \(answer.status.rawValue) \(answer.status.phrase)\r\nDate: ")
                && answer.headText.hasSuffix("\r\n\r\n"))
        #expect(!answer.headText.dropLast(2).contains("\r\n\r\n"))
    }

    @Test("[HT6] HEAD says what GET would, and nothing follows")
    func head() throws {
        let one = Connection(), other = Connection()
        let get = try #require(one.answer(Connection.get("/relay-client.js")))
        let head = try #require(other.answer(Connection.get("/relay-client.js", method: "HEAD")))
        #expect(head.head == get.head && head.body == [] && get.body == Connection.script.bytes)
    }

    @Test(
        "[HT6] of a HEAD that is refused nothing follows the head either",
        arguments: [
            "HEAD / HTTP/1.1\r\n\r\n", "HEAD / HTTP/2.0\r\n", "HEAD http://a/ HTTP/1.1\r\n",
            Connection.get("/", host: "evil.example", method: "HEAD"),
            Connection.get("/nothing", method: "HEAD"), Connection.get("/ws", method: "HEAD"),
        ])
    func headRefused(request: String) throws {
        let connection = Connection()
        let answer = try #require(connection.answer(request))
        #expect(answer.refusal != nil && answer.body == [] && answer.field("Content-Length") != "0")
        // What comes behind it is another request.
        guard !answer.closes else { return }
        #expect(connection.answer("\u{16}")?.body.isEmpty == false)
    }

    @Test(
        "[HT6] who has the file is told so, and gets no body and no length",
        arguments: [
            (["*"], true), (["\"one\""], true), (["W/\"one\""], true), (["\"two\", \"one\""], true),
            (["\"two\"", "W/\"x\", W/\"one\" "], true),
            (["\"a,b\" ,\"one\""], true), ([",, \"one\""], true), (["\"two\""], false), (["one"], false), (["\"one"], false),
            (["\"ONE\""], false),
            (["\"one\" \"two\""], false), (["w/\"one\""], false), (["*, \"two\""], false), ([""], false), (["\"two,\"one\""], false),
        ])
    func notModified(values: [String], isKnown: Bool) throws {
        let connection = Connection()
        let fields = values.map { "If-None-Match: \($0)\r\n" }.joined()
        let answer = try #require(connection.answer(String(Connection.get("/").dropLast()) + fields + "\r\n"))
        #expect(
            answer.status == (isKnown ? .notModified : .ok) && answer.field("ETag") == "\"one\""
                && answer.field("Cache-Control") == "no-cache")
        #expect(answer.field("Content-Length") == (isKnown ? nil : "12") && answer.body.isEmpty == isKnown)
    }

    @Test("[HT6] a file's tag follows from its bytes")
    func tags() {
        func tag(_ text: String) -> String { EmbeddedFile(path: "/", mediaType: "a/b", bytes: Array(text.utf8)).entityTag.text }
        #expect(tag("a") == tag("a") && tag("a") != tag("b") && tag("a").utf8.count == 24)
    }

    @Test("[HT6] what a page loads it names by an address that changes with it, and a browser keeps what stands there")
    func lasting() throws {
        func files(_ script: String) -> [EmbeddedFile] {
            EmbeddedFile.withLasting([
                EmbeddedFile(
                    path: "/", mediaType: "text/html; charset=utf-8",
                    bytes: Array(#"<script src="/page/a.js"></script><a href="/status">/page/a.js</a>"#.utf8)),
                EmbeddedFile(path: "/page/a.js", mediaType: "text/javascript; charset=utf-8", bytes: Array(script.utf8), isForAll: true),
            ])
        }
        let all = files("one"), connection = Connection(Connection.site(files: all))
        let page = try #require(connection.answer(Connection.get("/")))
        let named = try #require(String(decoding: page.body, as: UTF8.self).wholeMatch(
            of: #/<script src="(/~[\w-]{8}/page/a\.js)"></script><a href="/status">/page/a\.js</a>/#)).1
        let lasting = try #require(connection.answer(Connection.get(String(named))))
        let plain = try #require(connection.answer(Connection.get("/page/a.js")))
        #expect(page.field("Cache-Control") == "no-cache" && plain.field("Cache-Control") == "no-cache")
        #expect(lasting.field("Cache-Control") == "public, max-age=31536000, immutable")
        #expect(lasting.body == plain.body && lasting.field("ETag") == plain.field("ETag"))
        #expect(lasting.field("Access-Control-Allow-Origin") == "*")
        // Of another relay's page nothing is mixed with this one's.
        let other = files("two")
        #expect(other.map(\.path).filter { $0.hasPrefix("/~") } != all.map(\.path).filter { $0.hasPrefix("/~") })
        #expect(other[0].entityTag != all[0].entityTag && files("one") == all)
        #expect(Connection(Connection.site(files: other)).answer(Connection.get(String(named)))?.status == .notFound)
    }

    @Test("[HT1] a method that is not answered is told those that are, and an upgrade its version")
    func required() throws {
        let connection = Connection()
        #expect(connection.answer(Connection.get("/", method: "PUT"))?.field("Allow") == "GET, HEAD")
        let other = Connection()
        let answer = try #require(other.answer(Connection.get("/ws")))
        #expect(
            answer.status == .upgradeRequired && answer.field("Upgrade") == "websocket" && answer.field("Connection") == "Upgrade, close")
        #expect(answer.field("Sec-WebSocket-Version") == "13")
    }

    @Test(
        "[HT6] dates: the standard's own, leap days and the ends of centuries",
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
            (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] as [(UInt64, String)])
    func dates(seconds: UInt64, text: String) { #expect(HTTPDate.text(wallMilliseconds: seconds * 1_000 + 999) == text) }
}
