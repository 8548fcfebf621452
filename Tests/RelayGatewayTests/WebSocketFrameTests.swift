import RelayGateway
import RelayWire
import Testing

@Suite("WebSocket: frames of the relay") struct WebSocketFrameTests {
    @Test("[WS9] the frames of RFC 6455 §5.7 that a server sends, and the heads at both sides of each bound")
    func standard() throws {
        #expect(WebSocketFrame.bytes(.text, Array("Hello".utf8)).hex == "810548656c6c6f")
        #expect(WebSocketFrame.pong(Array("Hello".utf8)).hex == "8a0548656c6c6f")
        for (count, head) in [
            (0, "8200"), (125, "827d"), (126, "827e007e"), (256, "827e0100"), (65_535, "827effff"), (65_536, "827f0000000000010000"),
            (81_926, "827f0000000000014006"),
        ] {
            #expect(WebSocketFrame.head(.binary, payloadBytes: count).hex == head)
        }
    }

    @Test("[WS8] each code that closes a connection has one of its own above 4,000, and its name as the reason")
    func closing() {
        for (code, name) in ErrorCode.all where code.closesConnection {
            let close = WebSocketClose(code)
            #expect(close.code == 4_000 + code.rawValue && close.reason == name && WebSocketClose.isValid(close.code))
        }
        #expect(WebSocketFrame.close(WebSocketClose(.replaced)).hex == "880a" + "10ce" + Array("replaced".utf8).hex)
        #expect(WebSocketFrame.close(nil).hex == "8800")
    }

    @Test("[WS8] a reason is cut at 123 bytes, where a character ends")
    func reason() {
        func payload(_ reason: String) -> [UInt8] { Array(WebSocketFrame.close(WebSocketClose(1000, reason)).dropFirst(4)) }
        #expect(payload(String(repeating: "a", count: 123)).count == 123 && payload(String(repeating: "a", count: 124)).count == 123)
        #expect(payload(String(repeating: "a", count: 122) + "é") == [UInt8](repeating: 0x61, count: 122))
        #expect(payload(String(repeating: "a", count: 121) + "éb").count == 123)
    }

    /// A socket that takes what it takes of each write.
    struct Pipe {
        var outlet = WebSocketOutlet()
        var queue: [UInt8] = []
        var written: [UInt8] = []

        /// Writes at most so many bytes, of which `whole` of the queue are whole frames.
        mutating func write(atMost limit: Int, whole: Int? = nil) {
            let announced = outlet.plan(queuedBytes: whole ?? queue.count)
            let all = outlet.front + queue.prefix(announced)
            let taken = min(limit, all.count)
            written += all.prefix(taken)
            queue.removeFirst(outlet.wrote(taken))
        }
    }

    @Test(
        "[WS9] a batch is one message behind one head, however little of it the socket takes at a time",
        arguments: [1, 2, 3, 7, 100, 1_000])
    func batches(step: Int) {
        var pipe = Pipe()
        pipe.queue = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        let (first, second) = (Array(pipe.queue.prefix(200)), Array(pipe.queue.suffix(100)))
        pipe.write(atMost: step, whole: 200)
        while pipe.outlet.announcedBytes > 0 { pipe.write(atMost: step) }
        pipe.write(atMost: 1_000)
        #expect(pipe.written == WebSocketFrame.bytes(.binary, first) + WebSocketFrame.bytes(.binary, second))
        #expect(pipe.queue == [] && !pipe.outlet.hasFront)
    }

    @Test("[WS9] what is not of the queue waits for the end of the message, and nothing follows a close")
    func control() {
        var pipe = Pipe()
        pipe.queue = [1, 2, 3, 4]
        pipe.write(atMost: 3)
        pipe.outlet.enqueuePong(WebSocketFrame.pong([1]))
        pipe.outlet.enqueuePong(WebSocketFrame.pong([2]))
        pipe.outlet.enqueueClose(WebSocketFrame.close(WebSocketClose(1000)))
        pipe.outlet.enqueueClose(WebSocketFrame.close(WebSocketClose(1001)))
        while !pipe.outlet.isEnded { pipe.write(atMost: 3) }
        #expect(pipe.written.hex == "820401020304" + "8a0101" + "8a0102" + "880203e8")
        pipe.outlet.enqueuePong(WebSocketFrame.pong([4]))
        pipe.queue = [5]
        #expect(!pipe.outlet.hasFront)
        pipe.write(atMost: 100)
        #expect(pipe.written.count == 16 && pipe.queue == [5])
    }

    @Test("[WS6] of a client that pings and reads nothing the last 16 are kept, behind the one that is being written")
    func deaf() {
        var pipe = Pipe()
        for count in 0..<1_000 {
            pipe.outlet.enqueuePong(WebSocketFrame.pong([UInt8(truncatingIfNeeded: count)]))
            // One byte, and then the socket is full.
            pipe.write(atMost: count == 0 ? 1 : 0)
        }
        #expect(pipe.outlet.front.hex == "0100")
        for _ in 0..<3 { pipe.write(atMost: 100) }
        let last = (984..<1_000).flatMap { WebSocketFrame.pong([UInt8(truncatingIfNeeded: $0)]) }
        #expect(pipe.written == WebSocketFrame.pong([0]) + last && !pipe.outlet.hasFront)
    }

    @Test("[WS9] what was queued before the end goes before the close")
    func last() {
        var pipe = Pipe()
        pipe.queue = [9]
        pipe.outlet.enqueueClose(WebSocketFrame.close(nil))
        while !pipe.outlet.isEnded { pipe.write(atMost: 100) }
        #expect(pipe.written.hex == "820109" + "8800")
    }
}
