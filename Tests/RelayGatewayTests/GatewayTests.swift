import RelayGateway
import RelayPrimitives
import RelayWire
import Testing

@Suite("A connection") struct GatewayTests {
    private func statuses(_ actions: [Gateway.Action]) -> [UInt16] {
        actions.compactMap { if case .respond(let answer) = $0 { answer.status.rawValue } else { nil } }
    }

    @Test("[HT4] one connection answers request after request, and closes when it is asked to")
    func keepsAlive() throws {
        let connection = Connection()
        #expect(
            statuses(connection.receive(Connection.get("/") + Connection.get("/nothing") + Connection.get("/relay-client.js"))) == [
                200, 404, 200,
            ])
        #expect(connection.gateway.waiting == .request)
        let last = try #require(connection.answer(Connection.get("/", "Connection: keep-alive, Close")))
        #expect(last.closes && last.field("Connection") == "close" && connection.gateway.waiting == .ended)
        #expect(connection.receive(Connection.get("/")) == [])
    }

    @Test("[HT4] HTTP/1.0 is answered once")
    func http10() throws {
        let connection = Connection()
        let answer = try #require(connection.answer("GET / HTTP/1.0\r\nHost: localhost:7420\r\nConnection: keep-alive\r\n\r\n"))
        #expect(answer.closes && answer.status == .ok && answer.headText.hasPrefix("HTTP/1.1 200"))
    }

    @Test("[HT4] the hundredth answer of a connection is its last")
    func bounded() throws {
        let connection = Connection()
        for _ in 1..<GatewayLimits.requestsPerConnectionMax { #expect(connection.answer(Connection.get("/"))?.closes == false) }
        #expect(connection.answer(Connection.get("/"))?.closes == true)
    }

    @Test("[HT4] the next request is looked at when the last answer is written: 8,192 bytes wait, one more ends the connection")
    func pipelined() throws {
        let next = Connection.get("/nothing", "Cookie: ")
        for extra in 0...1 {
            let connection = Connection()
            connection.writesAtOnce = false
            #expect(statuses(connection.receive(Connection.get("/"))) == [200])
            #expect(connection.gateway.waiting == .answer)
            let padding = String(repeating: "c", count: 8_192 + extra - next.utf8.count)
            #expect(connection.receive(next.replacing("Cookie: ", with: "Cookie: \(padding)")) == [])
            connection.gateway.responseWritten()
            let actions = connection.receive("")
            guard case .respond(let answer)? = actions.first else { return unexpected("\(actions)") }
            #expect(answer.status == (extra == 0 ? .notFound : .badRequest) && answer.refusal == (extra == 0 ? .notFound : .pipelined))
            #expect(answer.closes == (extra == 1))
        }
    }

    @Test("[HT4] requests behind one that waits are answered in their order, wherever the bytes were cut")
    func order() {
        let requests = Array((Connection.get("/") + Connection.get("/nothing") + Connection.get("/", method: "HEAD")).utf8)
        for cut in 0...requests.count {
            let connection = Connection()
            connection.writesAtOnce = false
            var statuses: [UInt16] = []
            for piece in requests.cut(at: [cut]) { statuses += self.statuses(connection.receive(piece)) }
            while connection.gateway.waiting == .answer {
                connection.gateway.responseWritten()
                statuses += self.statuses(connection.receive(""))
            }
            #expect(statuses == [200, 404, 200], "cut at \(cut)")
        }
    }

    @Test("[HT5] a dynamic path is the caller's to answer, then or later, and of a HEAD only the head is sent")
    func dynamic() throws {
        for method in ["GET", "HEAD"] {
            let connection = Connection()
            let actions = connection.receive(Connection.get("/healthz?x", method: method))
            guard case .ask(let request)? = actions.first, actions.count == 1 else { return unexpected("\(actions)") }
            #expect(request.target.path == "/healthz" && connection.gateway.waiting == .answer)
            #expect(connection.receive(Connection.get("/")) == [])
            let answer = connection.gateway.answer(.text(.ok, "ok\n"), wallMilliseconds: Connection.wall)
            #expect(
                answer.body == (method == "GET" ? Array("ok\n".utf8) : []) && answer.field("Content-Length") == "3"
                    && answer.field("Cache-Control") == "no-store")
            connection.gateway.responseWritten()
            #expect(statuses(connection.receive("")) == [200])
        }
    }

    @Test("[HT3] a head that takes too long is told so; a connection that asks for nothing ends without a word")
    func slow() throws {
        let connection = Connection()
        #expect(connection.gateway.waiting == .request)
        connection.receive("GET / HT")
        #expect(connection.gateway.waiting == .head)
        let answer = try #require(connection.headTimedOut())
        #expect(answer.status == .requestTimeout && answer.closes && answer.refusal == .slowHead && connection.gateway.waiting == .ended)
        let idle = Connection()
        idle.receive(Connection.get("/"))
        #expect(idle.gateway.waiting == .request && idle.headTimedOut() == nil && idle.gateway.waiting == .ended)
        // An answer that is on its way is not the head's time.
        let busy = Connection()
        busy.receive(Connection.get("/healthz"))
        #expect(busy.headTimedOut() == nil && busy.gateway.waiting == .answer)
    }

    @Test("[HT1] after a refusal nothing of the connection is read", arguments: HTTPRequestTests.bad)
    func ends(row: HTTPRequestTests.Row) {
        let connection = Connection()
        let actions = connection.receive(row.text + Connection.get("/"))
        guard case .respond(let answer)? = actions.first, actions.count == 1 else { return unexpected("\(actions)") }
        #expect(answer.refusal == row.refusal && answer.closes && answer.field("Connection") != nil && connection.gateway.waiting == .ended)
        #expect(text(answer.body) == "\(answer.status.rawValue) \(answer.status.phrase): \(row.refusal.text)\n")
        #expect(connection.receive(Connection.get("/")) == [])
    }

    // MARK: - WebSocket

    private let frames = Frame(.ping, body: [1]).bytes + Frame(.publish, body: [UInt8](repeating: 7, count: 300)).bytes

    @Test("[WS7] relay frames reach the hub byte for byte, wherever the link is cut, and frames behind the request too")
    func relay() {
        let bytes =
            Array(Connection.upgrade().utf8) + masked(2, frames) + masked(2, Array(frames.prefix(50)), isFinal: false) + masked(9, [5])
            + masked(0, Array(frames.dropFirst(50)))
        for cut in 0...bytes.count {
            let connection = Connection()
            for piece in bytes.cut(at: [cut]) { connection.receive(piece) }
            let others = connection.actions.filter { if case .receive = $0 { false } else { true } }
            guard others.count == 2, case .upgrade = others[0] else { return unexpected("cut at \(cut): \(others)") }
            #expect(connection.received == frames + frames && others[1] == .pong([0x8A, 0x01, 0x05]))
        }
    }

    @Test("[WS7] a message that ends in a frame, or holds none, ends the socket; where one begins in a frame is no concern of TCP's")
    func wholeFrames() {
        for (message, isWhole) in [
            (frames, true), (Array(frames.dropLast()), false), ([], false), ([0, 0, 0], false), (Array(frames.prefix(4)), false),
            (Array(frames.prefix(7)), true),
            // A length that no frame has is the hub's to refuse.
            ([0, 0, 0, 1], true), ([0xFF, 0xFF, 0xFF, 0xFF, 1], true),
        ] {
            let connection = Connection.webSocket()
            connection.receive(masked(2, message))
            let failure = WebSocketClose(1002, "a message holds whole relay frames")
            #expect(
                connection.actions.last
                    == (isWhole
                        ? .receive(6 + (message.count > 125 ? 2 : 0)..<(masked(2, message).count))
                        : .close(frame: WebSocketFrame.close(failure), .failure(failure))))
            #expect(connection.received == message)
        }
    }

    @Test("[WS4, WS6] on a relay's socket text is 1003, and a message over 81,926 bytes 1009 before a byte of it is handed on")
    func refused() {
        for (bytes, code) in [
            (masked(1, Array("hi".utf8)), 1003), ([0x82, 0xFF, 0, 0, 0, 0, 0, 1, 0x40, 0x07], 1009), ([0x82, 0x01], 1002),
        ] as [([UInt8], UInt16)] {
            let connection = Connection.webSocket()
            let actions = connection.receive(bytes)
            guard case .close(let frame?, .failure(let close))? = actions.first, actions.count == 1 else { return unexpected("\(actions)") }
            #expect(
                close.code == code && frame == WebSocketFrame.close(close) && connection.received == []
                    && connection.gateway.waiting == .ended)
            #expect(connection.receive(masked(2, frames)) == [])
        }
        let largest = Connection.webSocket()
        largest.receive(masked(2, Frame(.publish, body: [UInt8](repeating: 1, count: Limits.frameBodyBytesMax)).bytes))
        #expect(largest.received.count == 81_926 && largest.gateway.waiting == .webSocket)
    }

    @Test("[WS6, WS8] a close is answered with its code, once, and nothing is read behind it")
    func closes() {
        for (payload, answer) in [([], "8800"), ([0x03, 0xE9] + Array("away".utf8), "880203e9"), ([0x0F, 0xA0], "88020fa0")]
            as [([UInt8], String)]
        {
            let connection = Connection.webSocket()
            let actions = connection.receive(masked(8, payload) + masked(2, frames))
            guard case .close(let frame?, .peer)? = actions.first, actions.count == 1 else { return unexpected("\(actions)") }
            #expect(frame.hex == answer && connection.received == [] && connection.close(WebSocketClose(1000)) == nil)
        }
    }

    @Test("[WS8] behind the relay's own close nothing reaches the hub, and the other side's ends it without another frame")
    func closesFirst() {
        let connection = Connection.webSocket()
        #expect(connection.close(WebSocketClose(.replaced)) == WebSocketFrame.close(WebSocketClose(.replaced)))
        #expect(connection.close(WebSocketClose(.replaced)) == nil)
        #expect(connection.receive(masked(2, frames) + masked(9, [])) == [] && connection.received == [])
        #expect(connection.receive(masked(8, [0x10, 0xCE])) == [.close(frame: nil, .peer(WebSocketClose(4_302)))])
        #expect(connection.gateway.waiting == .ended)
    }

    @Test("[WS9] a pong that nobody asked for means nothing, alone and between two messages")
    func pong() {
        let connection = Connection.webSocket()
        #expect(connection.receive(masked(10, [1])) == [] && connection.gateway.waiting == .webSocket)
        connection.receive(masked(2, frames) + masked(10, []) + masked(2, frames))
        #expect(connection.received == frames + frames)
    }

    @Test("[WS1] an upgrade behind a request that is not answered yet is refused; behind one that is, it is taken")
    func upgradeLater() {
        let early = Connection()
        early.writesAtOnce = false
        early.receive(Connection.get("/") + Connection.upgrade())
        early.gateway.responseWritten()
        guard case .respond(let answer)? = early.receive("").first else { return unexpected("\(early.actions)") }
        #expect(answer.refusal == .pipelinedUpgrade && answer.closes)
        let late = Connection()
        late.receive(Connection.get("/"))
        guard case .upgrade? = late.receive(Connection.upgrade()).first else { return unexpected("\(late.actions)") }
    }

    @Test("[WS5, WS6] in the tests' own mode every message comes back, text as text, up to its limit")
    func echo() {
        var site = Connection.site()
        site.sockets = .echo(messageBytesMax: 1_000)
        let connection = Connection.webSocket(site)
        let most = [UInt8](repeating: 0x61, count: 1_000)
        connection.receive(masked(1, Array("grü".utf8), isFinal: false) + masked(0, Array("ß".utf8)) + masked(2, []) + masked(2, most))
        #expect(
            connection.actions == [
                .send(WebSocketFrame.bytes(.text, Array("grüß".utf8))), .send([0x82, 0]), .send(WebSocketFrame.bytes(.binary, most)),
            ])
        guard case .close(_, .failure(let close))? = connection.receive(masked(2, most + [1])).first else {
            return unexpected("\(connection.actions)")
        }
        #expect(close.code == 1009)
    }

    @Test("[HT1, WS5] no bytes trap, and each connection ends with at most one last word", arguments: UInt64(1)...4)
    func noise(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let whole = Array((Connection.get("/") + Connection.upgrade()).utf8) + masked(2, frames) + masked(9, [1]) + masked(8, [3, 0xE8])
        for _ in 0..<1_500 {
            let connection = Connection()
            for piece in Mutant.mutated(whole, using: &generator).randomCut(using: &generator) { connection.receive(piece) }
            let lasts = connection.actions.indices.filter {
                switch connection.actions[$0] {
                case .respond(let answer): answer.closes
                case .close: true
                case .ask, .upgrade, .receive, .pong, .send: false
                }
            }
            #expect(lasts.isEmpty || lasts == [connection.actions.count - 1])
            #expect((connection.gateway.waiting == .ended) == !lasts.isEmpty)
        }
    }
}
