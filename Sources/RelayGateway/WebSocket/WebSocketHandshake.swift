import RelayPrimitives

/// The answer to a request that turns its connection into a WebSocket. [RFC 6455 §4.2]
package enum WebSocketHandshake {
    /// The one subprotocol there is; a client may leave it out. [WS2]
    package static let subprotocol: StaticString = "boardrelay.v1"

    /// Whether a request asks for WebSocket, rightly or not.
    package static func isUpgrade(_ request: HTTPRequest) -> Bool {
        request.list("upgrade", has: "websocket") || !request.values("sec-websocket-key").isEmpty
    }

    /// Judges the request; the origin has been looked at before. Extensions are declined by not being named. [WS1, WS2, WS3]
    package static func response(to request: HTTPRequest) throws(HTTPRefusal) -> HTTPResponse {
        guard request.method == .get, request.version == .http11, request.list("upgrade", has: "websocket"),
            request.list("connection", has: "upgrade")
        else { throw .webSocketUpgrade }
        guard request.values("sec-websocket-version").map({ String(decoding: $0, as: UTF8.self) }) == ["13"] else {
            throw .webSocketVersion
        }
        let keys = request.values("sec-websocket-key")
        guard keys.count == 1, isKey(keys[0]) else { throw .webSocketKey }
        var response = HTTPResponse(.switchingProtocols)
        response.fields = [
            .init("Upgrade", "websocket"), .init("Connection", "Upgrade"), .init("Sec-WebSocket-Accept", accept(keys[0])),
        ]
        let isOffered = subprotocol.withUTF8Buffer { name in request.list("sec-websocket-protocol").contains { $0.elementsEqual(name) } }
        if isOffered { response.fields.append(.init("Sec-WebSocket-Protocol", "\(subprotocol)")) }
        return response
    }

    /// Shows the client that it was heard by somebody who knows WebSocket. [RFC 6455 §1.3]
    package static func accept(_ key: [UInt8]) -> String {
        let digest = SHA1.hash(key + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
        // 20 bytes are 27 digits and one of padding, of the alphabet with + and /. [RFC 4648 §4]
        return String(Base64URL.encode(digest).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }) + "="
    }

    /// 16 bytes are 22 digits and two of padding.
    private static func isKey(_ key: [UInt8]) -> Bool {
        guard key.count == 24, key.suffix(2).elementsEqual("==".utf8) else { return false }
        var digits = key.prefix(22)
        for index in digits.indices {
            switch digits[index] {
            case UInt8(ascii: "+"): digits[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): digits[index] = UInt8(ascii: "_")
            case UInt8(ascii: "-"), UInt8(ascii: "_"): return false
            default: break
            }
        }
        return Base64URL.decode(digits)?.count == 16
    }
}
