import RelayGateway
import Testing

@Suite("WebSocket: handshake") struct WebSocketHandshakeTests {
    private func upgrade(_ request: String) -> Gateway.Answer? {
        let connection = Connection()
        let actions = connection.receive(request)
        guard actions.count == 1 else { return nil }
        switch actions[0] {
        case .upgrade(let answer, _), .respond(let answer): return answer
        case .ask, .receive, .pong, .send, .close: return nil
        }
    }

    @Test("[WS1] the answer to the key of RFC 6455 §1.3 is the one that stands there")
    func accept() throws {
        #expect(WebSocketHandshake.accept(Array("dGhlIHNhbXBsZSBub25jZQ==".utf8)) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        let answer = try #require(upgrade(Connection.upgrade("Origin: http://192.168.1.5:7420")))
        #expect(answer.status == .switchingProtocols && answer.field("Sec-WebSocket-Accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(
            answer.field("Upgrade") == "websocket" && answer.field("Connection") == "Upgrade" && answer.field("Content-Length") == nil
                && answer.body == [])
    }

    @Test(
        "[WS2, WS3] the subprotocol is named if it was offered, and no extension ever",
        arguments: [
            ([], nil), (["Sec-WebSocket-Protocol: boardrelay.v1"], "boardrelay.v1"),
            (["Sec-WebSocket-Protocol: mqtt, boardrelay.v1 ,x"], "boardrelay.v1"),
            (["Sec-WebSocket-Protocol: mqtt", "Sec-WebSocket-Protocol: boardrelay.v1"], "boardrelay.v1"),
            (["Sec-WebSocket-Protocol: BoardRelay.v1"], nil),
            (["Sec-WebSocket-Protocol: boardrelay.v2"], nil),
            (["Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"], nil),
        ])
    func offers(fields: [String], name: String?) throws {
        let request = String(Connection.upgrade().dropLast()) + fields.map { $0 + "\r\n" }.joined() + "\r\n"
        let answer = try #require(upgrade(request))
        #expect(
            answer.status == .switchingProtocols && answer.field("Sec-WebSocket-Protocol") == name
                && answer.field("Sec-WebSocket-Extensions") == nil)
        #expect(!answer.headText.contains("-Protocol") || name != nil)
    }

    @Test(
        "[WS1] a request to upgrade that is not one of RFC 6455 is refused for its own reason",
        arguments: [
            ("Upgrade: websocket", "Upgrade: h2c", .webSocketUpgrade),
            ("Connection: keep-alive, Upgrade", "Connection: keep-alive", .webSocketUpgrade),
            ("GET /ws HTTP/1.1", "HEAD /ws HTTP/1.1", .webSocketUpgrade), ("GET /ws HTTP/1.1", "GET /ws HTTP/1.0", .webSocketUpgrade),
            ("Upgrade: websocket", "Upgrade: websocket/13", .webSocketUpgrade),
            ("Sec-WebSocket-Version: 13", "X: y", .webSocketVersion), ("Version: 13", "Version: 8", .webSocketVersion),
            ("Version: 13", "Version: 13, 8", .webSocketVersion),
            ("Version: 13", "Version: 013", .webSocketVersion),
            ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Version: 13", .webSocketVersion),
            ("Sec-WebSocket-Key: \(Connection.key)", "X: y", .webSocketKey), (Connection.key, "dGhlIHNhbXBsZSBub25jZQ", .webSocketKey),
            (Connection.key, "dGhlIHNhbXBsZSBub25jZR==", .webSocketKey), (Connection.key, "dGhlIHNhbXBsZSBub25jZ===", .webSocketKey),
            (Connection.key, "dGhlIHNhbXBsZSBub25j", .webSocketKey), (Connection.key, "-_-_-_-_-_-_-_-_-_-_-A==", .webSocketKey),
            (Connection.key, "dGhlIHNhbXBsZSBub25jZWRkZGQ=", .webSocketKey),
            ("Sec-WebSocket-Key", "Sec-WebSocket-Key: AAAA\r\nSec-WebSocket-Key", .webSocketKey),
            ("Upgrade: websocket\r\n", "", .webSocketUpgrade),
        ] as [(String, String, HTTPRefusal)])
    func bad(part: String, replacement: String, refusal: HTTPRefusal) throws {
        let good = Connection.upgrade()
        try #require(good.contains(part))
        let answer = try #require(upgrade(good.replacing(part, with: replacement, maxReplacements: 1)))
        #expect(answer.refusal == refusal && answer.closes)
        #expect((answer.field("Sec-WebSocket-Version") == "13") == (refusal == .webSocketVersion))
    }

    @Test("[WS1] names of fields and tokens are read in capitals and small letters, and digits of the key as they are")
    func letters() throws {
        let answer = upgrade(
            "GET /ws HTTP/1.1\r\nHOST: 192.168.1.5:7420\r\nUPGRADE: x, WebSocket\r\nconnection: UPGRADE\r\nsec-websocket-key: ++++////++++////++++/w==\r\nSEC-WEBSOCKET-VERSION: 13\r\n\r\n"
        )
        #expect(answer?.status == .switchingProtocols)
    }

    @Test("[WS1] a socket stands under its own path, and what is no upgrade is told of it")
    func paths() throws {
        #expect(upgrade(Connection.upgrade().replacing("/ws", with: "/"))?.status == .ok)
        #expect(upgrade(Connection.get("/ws"))?.refusal == .upgradeRequired)
    }
}
