/// What a client says on its WebSocket: relay frames for the hub, or in tests messages that go back.
struct WebSocketReader: Sendable {
    enum Event {
        /// Bytes of relay frames, in the buffer that was given.
        case receive(Range<Int>)
        /// The answer to a ping.
        case pong([UInt8])
        /// A message that goes back.
        case send([UInt8])
        case close(WebSocketClose?)
    }

    private var decoder: WebSocketDecoder
    private var frames = WholeFrames()
    /// Of its own and not a case with the frames, so that a message grows in place.
    private var echo: WebSocketEcho?

    init(_ sockets: Site.Sockets) {
        switch sockets {
        case .relay: decoder = WebSocketDecoder(messageBytesMax: GatewayLimits.messageBytesMax)
        case .echo(let most):
            decoder = WebSocketDecoder(messageBytesMax: most, takesText: true)
            echo = WebSocketEcho()
        }
    }

    mutating func next(_ bytes: UnsafeMutableRawBufferPointer, _ position: inout Int) throws(WebSocketClose) -> Event? {
        while let event = try decoder.next(bytes, &position) {
            switch event {
            case .payload(let range):
                let part = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[range])
                guard echo == nil else {
                    echo!.take(part)
                    continue
                }
                frames.take(part)
                return .receive(range)
            case .message(let isText):
                if echo != nil { return .send(echo!.endMessage(isText: isText)) }
                guard frames.endMessage() else { throw .protocolError("a message holds whole relay frames") }
            case .ping(let data): return .pong(WebSocketFrame.pong(data))
            // Nobody asked for it. [WS9]
            case .pong: continue
            case .close(let close): return .close(close)
            }
        }
        return nil
    }
}
