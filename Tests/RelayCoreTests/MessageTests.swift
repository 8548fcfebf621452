import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// What a WebSocket's message has announced. Of each message `HubDriver` checks that it ends where a frame ends.
@Suite("messages of a WebSocket") struct MessageTests {
    private func lesson(_ configuration: Configuration = .init()) -> (HubDriver, writer: TestClient, reader: TestClient, flow: UInt32) {
        var configuration = configuration
        configuration.limits.packetsPerSecond = 1_000_000
        configuration.limits.messagesPerSecond = 1_000_000
        let driver = HubDriver(configuration: configuration)
        let writer = TestClient(driver, "writer"), reader = TestClient(driver, "reader", presenceTimeoutMs: 300_000, asWebSocket: true)
        for client in [writer, reader] {
            client.subscribe("lesson", features: ["messages"])
            client.join("lesson")
        }
        reader.subscribeTopic("lesson", "points")
        let flow = writer.joinTopic("lesson", "points")
        // The writer is named before the first of its messages.
        writer.publish("lesson", [0])
        _ = reader.frames()
        return (driver, writer, reader, flow)
    }

    /// Of 1,024 bytes with their heads: 64 are a message.
    private func packets(_ count: Int, _ writer: TestClient, _ flow: UInt32) {
        for _ in 0..<count { writer.packet(flow, [UInt8](repeating: 0, count: 1024 - 14)) }
    }

    private func sequences(_ frames: [Frame]) throws -> [UInt32] {
        try frames.filter { $0.type == FrameType.packet.rawValue }.map { frame in
            try frame.body.withUnsafeBytes { try PacketFrame(flags: frame.flags, body: $0).sequence }
        }
    }

    private func lost(_ frames: [Frame]) throws -> [LostRange] {
        try frames.filter { $0.type == FrameType.lost.rawValue }.flatMap { frame in
            try frame.body.withUnsafeBytes { try LostFrame(body: $0).ranges }
        }
    }

    @Test("[WS7, DL4, DL6] packets that a message has announced are sent, whatever is shed behind them")
    func announcedPackets() throws {
        let (driver, writer, reader, flow) = lesson()
        packets(200, writer, flow)
        driver.take(reader.id, bytes: 10)
        packets(300, writer, flow)
        let frames = reader.frames()
        let (came, gone) = (try sequences(frames), try lost(frames))
        #expect(Array(came.prefix(64)) == Array(1...64))
        #expect(gone.count == 1 && gone.first?.first == 65)
        #expect(came.count + gone.reduce(0) { $0 + Int($1.last - $1.first) + 1 } == 500)
    }

    @Test("[WS7, DL6] a notice that is announced stays; what is shed from then on has one of its own")
    func announcedNotice() throws {
        let (driver, writer, reader, flow) = lesson()
        packets(257, writer, flow)
        driver.take(reader.id, bytes: 1)
        packets(300, writer, flow)
        let frames = reader.frames()
        let gone = try lost(frames)
        #expect(gone.first == LostRange(flow: flow, first: 1, last: 129))
        #expect(gone.count == 2 && gone[1].first == 130 + 63, "the message holds the notice and 63 packets: \(gone)")
        #expect(try sequences(frames).count + gone.reduce(0) { $0 + Int($1.last - $1.first) + 1 } == 557)
    }

    @Test("[WS7, ER2] of a reader that is closed as slow the announced messages come, then why, and nothing else")
    func slow() {
        let (driver, writer, reader, _) = lesson()
        for value: UInt8 in 1...3 { writer.publish("lesson", [UInt8](repeating: value, count: 32_000)) }
        driver.take(reader.id, bytes: 1000)
        for _ in 0..<262 { writer.publish("lesson", [UInt8](repeating: 9, count: 32_000)) }
        #expect(driver.isClosing(reader.id))
        let frames = reader.frames()
        #expect(frames.map(\.type) == [FrameType.deliver.rawValue, FrameType.deliver.rawValue, FrameType.closing.rawValue])
        #expect(frames.prefix(2).map(\.body.last) == [1, 2])
    }

    @Test("[WS7] a message has as many whole frames as fit, or one that does not")
    func limit() {
        for (limit, bytes) in [
            (1, 1_000), (999, 1_000), (1_000, 1_000), (1_999, 1_000), (2_000, 2_000), (2_999, 2_000), (3_000, 3_000), (65_536, 3_000),
        ] {
            let (driver, writer, reader, _) = lesson()
            // 30 bytes of heads: 1,000 each.
            for _ in 0..<3 { writer.publish("lesson", [UInt8](repeating: 1, count: 1_000 - 30)) }
            #expect(driver.announce(reader.id, limit: limit) == bytes, "of \(limit)")
        }
    }

    @Test("[WS7, DL9] a reader that stands still in a message copies it with the rest, and nothing of it changes")
    func moved() throws {
        var configuration = Configuration()
        configuration.pinnedBytesPerSessionMax = 64 * 1024
        let (driver, writer, reader, flow) = lesson(configuration)
        packets(10, writer, flow)
        driver.take(reader.id, bytes: 2_000)
        for value: UInt8 in 0..<40 { writer.publish("lesson", [value] + [UInt8](repeating: 0, count: 32_000)) }
        #expect(driver.hub.load(of: reader.id)!.shared <= 64 * 1024 + 256 * 1024)
        let frames = reader.frames()
        #expect(try sequences(frames) == Array(1...10))
        #expect(frames.filter { $0.type == FrameType.deliver.rawValue }.count == 40)
    }
}
