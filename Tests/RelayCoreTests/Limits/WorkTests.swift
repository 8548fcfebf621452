import RelayCore
import RelayPrimitives
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// Requests are answered in turns, and what one client asks for delays nobody else. [DL12]
@Suite struct WorkTests {
    /// A channel whose topics are told in about 56 KB, and a sixteenth of the turns, shares and bounds of a relay.
    private static func crowd(_ change: (inout Configuration) -> Void = { _ in }) -> HubDriver {
        let driver = HubDriver.patient {
            $0.requestTurnBytes /= 8
            $0.requestShareBytes /= 16
            $0.requestBacklogBytes /= 16
            $0.heldBytesPerConnection /= 16
            change(&$0)
        }
        for index in 0..<20 {
            let publisher = TestClient(driver, "publisher-\(index)-\(String(repeating: "x", count: 40))")
            publisher.join("crowd", features: [])
            for topic in 0..<8 {
                publisher.request(.joinTopic) {
                    JoinTopicRequest(
                        id: $0, channel: name("crowd"), topic: name("topic-\(topic)"), meta: String(repeating: "m", count: 200))
                }
            }
            driver.cut(publisher.id)
        }
        return driver
    }

    private static func join(_ client: TestClient) -> [UInt8] {
        Frame.json(.join, JoinRequest(id: client.nextRequest(), channel: name("crowd"))).bytes
    }

    private static func load(_ client: TestClient) -> Int { client.driver.hub.load(of: client.id)!.reliable }

    private static func answers(_ client: TestClient) -> [UInt32] {
        client.frames(.answer).map { TestClient.decode(RequestID.self, $0.body).id }
    }

    @Test(
        "[DL12] of 400 joins at once, each with a long answer, one more than the backlog is queued at any moment, and all are answered in order"
    )
    func amplification() {
        let driver = Self.crowd { $0.limits.messagesPerSecond = 400 }
        let reader = TestClient(driver, "reader"), pupil = TestClient(driver, "pupil")
        pupil.subscribe("lesson")
        let before = Self.load(reader)
        driver.send(Self.join(reader), from: reader.id)
        let one = Self.load(reader) - before
        #expect(one > 50_000)
        _ = reader.frames()

        driver.send((0..<400).flatMap { _ in Self.join(reader) }, from: reader.id)
        var answered: [UInt32] = [], refused = 0
        for _ in 0..<400 {
            let load = Self.load(reader)
            #expect(load <= driver.hub.settings.requestBacklogBytes + one)
            pupil.publish("lesson", [1])
            if !pupil.errors().isEmpty { refused += 1 }
            for frame in driver.received(reader.id) where frame.type == FrameType.answer.rawValue {
                answered.append(TestClient.decode(RequestID.self, frame.body).id)
            }
        }
        #expect(answered == Array(3...402) && refused == 0)
        #expect(driver.hub.bytesHeld == 0)
    }

    @Test("[DL12] in one turn a connection is answered its share and all together a turn, and no request more")
    func turns() {
        let driver = Self.crowd { ($0.requestShareBytes, $0.requestTurnBytes) = (1 << 20, 128 * 1024) }
        let readers = (0..<4).map { TestClient(driver, "reader-\($0)") }
        // As one turn of the engine: what comes is handled, and then flushed.
        driver.offers = false
        for reader in readers { driver.send(Self.join(reader) + Self.join(reader), from: reader.id) }
        func loads() -> [Bool] { readers.map { Self.load($0) > 0 } }
        #expect(loads() == [true, true, false, false], "each of them takes more than half a turn")
        driver.nextTurn()
        driver.nextTurn()
        #expect(loads() == [true, true, true, true], "those that wait come in their order, before they ask again")
        var turns = 0
        while driver.hub.bytesHeld > 0, turns < 100 {
            driver.nextTurn()
            turns += 1
        }
        #expect(readers.map { Self.answers($0).count } == [2, 2, 2, 2])
    }

    @Test("[DL12] who waits behind many connections of another address is answered in the next turn, before the second of them")
    func rounds() {
        let driver = Self.crowd { ($0.requestShareBytes, $0.requestTurnBytes) = (1 << 20, 128 * 1024) }
        let readers = (0..<20).map { TestClient(driver, "reader-\($0)", from: .ipv4(1)) }
        let others = (0..<2).map { TestClient(driver, "other-\($0)", from: .ipv4(2 + UInt32($0))) }
        driver.offers = false
        for reader in readers { driver.send(Self.join(reader) + Self.join(reader), from: reader.id) }
        for other in others { driver.send(Self.join(other), from: other.id) }
        #expect(others.allSatisfy { Self.load($0) == 0 })
        driver.nextTurn()
        #expect(others.contains { !Self.answers($0).isEmpty })
        driver.nextTurn()
        #expect(others.allSatisfy { Self.load($0) > 0 || !Self.answers($0).isEmpty })
        #expect(readers.count { Self.load($0) > 0 || !Self.answers($0).isEmpty } < 10)
        while driver.hub.bytesHeld > 0 { driver.nextTurn() }
    }

    @Test("[DL12] what one connection had too much its address pays for: another of it waits, while those of others do not")
    func debts() {
        let driver = Self.crowd()
        let dear = TestClient(driver, "dear", from: .ipv4(1)), same = TestClient(driver, "same", from: .ipv4(1))
        let other = TestClient(driver, "other", from: .ipv4(2)), local = TestClient(driver, "local")
        driver.offers = false
        driver.send(Self.join(dear), from: dear.id)
        for client in [same, other, local] { driver.send(Frame.json(.boards, PageRequest(id: 9)).bytes, from: client.id) }
        var turns: [String: Int] = [:]
        for turn in 1...40 {
            driver.nextTurn()
            for client in [same, other, local] where turns[client.user] == nil {
                if !Self.answers(client).isEmpty { turns[client.user] = turn }
            }
        }
        // The answer has some 56 KB: three and a half turns of 16 KiB for all, 14 shares of 4 KiB for the address.
        #expect((3...5).contains(turns["other"] ?? 0) && (3...5).contains(turns["local"] ?? 0) && (13...16).contains(turns["same"] ?? 0))
    }

    @Test("[DL12] publishes before a request that waits pass, those behind it wait in order, and a ping does not")
    func order() {
        let driver = Self.crowd(), reader = TestClient(driver, "reader"), witness = TestClient(driver, "witness")
        reader.subscribe("lesson")
        witness.subscribe("lesson")
        _ = witness.frames()
        driver.offers = false
        let first = Frame.publish(number: 1, channel: "lesson", payload: [1]).bytes
        let second = Frame.publish(number: 2, channel: "lesson", payload: [2]).bytes
        let ping = Frame(.ping, body: [7, 7]).bytes
        driver.send(Self.join(reader) + first + Self.join(reader) + second, from: reader.id)
        // In pieces.
        for byte in ping { driver.send([byte], from: reader.id) }
        driver.send(Array(second[..<3]), from: reader.id)
        #expect(witness.frames(.deliver).map(\.body.last) == [1])
        let frames = reader.frames()
        #expect(frames.filter { $0.type == FrameType.pong.rawValue }.map(\.body) == [[7, 7]])
        #expect(frames.filter { $0.type == FrameType.answer.rawValue }.count == 1)
        #expect(driver.hub.bytesHeld == Self.join(reader).count + second.count + 3)
        while driver.hub.wantsTurn { driver.nextTurn() }
        #expect(witness.frames(.deliver).map(\.body.last) == [2])
        #expect(Self.answers(reader).count == 1)
        #expect(driver.hub.bytesHeld == 0)
        driver.send(Array(second[3...]), from: reader.id)
        #expect(reader.frames(.accepted).count == 1, "the rest of a frame that was cut")
    }

    @Test("[DL12] behind so many frames that wait a connection is not read, until its reader has taken what waits for it")
    func pause() {
        let driver = Self.crowd { ($0.requestShareBytes, $0.requestTurnBytes) = (1 << 20, 1 << 20) }
        let reader = TestClient(driver, "reader")
        driver.send(Self.join(reader) + Self.join(reader) + Self.join(reader), from: reader.id)
        #expect(!driver.isPaused(reader.id))
        var sent = 3
        while !driver.isPaused(reader.id), sent < 1_000 {
            driver.send(Self.join(reader), from: reader.id)
            sent += 1
        }
        #expect(driver.hub.bytesHeld > 8 * 1024 && driver.hub.bytesHeld < 9 * 1024)
        // It is not taken for silent while it takes something, though little, and nothing of it is read.
        for _ in 0..<30 {
            driver.take(reader.id, bytes: 1_000)
            driver.advance(.seconds(1))
        }
        #expect(driver.isPaused(reader.id) && !driver.isClosing(reader.id))
        var answers = Self.answers(reader).count
        while driver.hub.bytesHeld > 0 { answers += Self.answers(reader).count }
        #expect(!driver.isPaused(reader.id))
        #expect(answers + Self.answers(reader).count == sent)
    }

    @Test("[DL12, HB3] a peer that is gone is not kept by frames that wait: it takes nothing, and is closed as silent")
    func gone() {
        let driver = Self.crowd(), reader = TestClient(driver, "reader")
        driver.send((0..<400).flatMap { _ in Self.join(reader) }, from: reader.id)
        #expect(driver.isPaused(reader.id))
        driver.advance(.seconds(21))
        #expect(driver.hub.census().counters.closes["heartbeatTimeout"] == 1)
        #expect(driver.hub.bytesHeld == 0)
    }

    @Test("[DL12] when all connections hold what they may, a request is refused with busy in place of waiting, and nothing more is held")
    func total() {
        let driver = Self.crowd { $0.heldBytesMax = 1_000 }
        let readers = (0..<2).map { TestClient(driver, "reader-\($0)") }
        driver.offers = false
        for reader in readers { driver.send((0..<40).flatMap { _ in Self.join(reader) }, from: reader.id) }
        let errors = readers[1].errors()
        #expect(errors.count == 40, "what the first one asked for has taken the turn")
        refused(errors.first, .busy, limit: 1_000, actual: driver.hub.bytesHeld)
    }

    @Test("[DL12] reading stops for all that have to wait, long before what they hold is refused")
    func manyHold() {
        let driver = Self.crowd { $0.heldBytesMax = 10_000 }
        let readers = (0..<50).map { TestClient(driver, "reader-\($0)") }
        driver.offers = false
        for _ in 0..<10 { for reader in readers { driver.send(Self.join(reader), from: reader.id) } }
        #expect(driver.hub.bytesHeld <= 10_000 && driver.hub.census().counters.refusals == [:])
        #expect(readers.contains { driver.isPaused($0.id) })
        driver.offers = true
        var frames: [FrameType: Int] = [:]
        while frames[.answer, default: 0] + frames[.error, default: 0] < 500 {
            let before = frames
            for reader in readers { for frame in reader.frames() { frames[FrameType(rawValue: frame.type)!, default: 0] += 1 } }
            guard frames != before else { break }
        }
        #expect(frames[.answer, default: 0] + frames[.error, default: 0] == 500, "each request has come to its end: \(frames)")
    }

    @Test("[DL12] a client that joins 50 channels at its start is refused nothing")
    func start() {
        let driver = Self.crowd()
        let client = TestClient(driver, "client")
        let joins = (1...50).flatMap {
            Frame.json(.join, JoinRequest(id: client.nextRequest(), channel: name($0 == 1 ? "crowd" : "channel-\($0)"))).bytes
        }
        driver.send(joins, from: client.id)
        var answers = 0
        for _ in 0..<60 { answers += Self.answers(client).count }
        #expect(answers == 50)
        #expect(driver.hub.census().counters.refusals == [:])
    }

    @Test("[DL12] what comes together because nobody was served for 3 s is not over any rate; as much once more is")
    func forgiven() {
        let driver = HubDriver(), alice = TestClient(driver, "alice")
        alice.publish("lesson", [1])
        driver.advance(.seconds(1))
        driver.stall(.seconds(3))
        for _ in 0..<240 { alice.publish("lesson", [1]) }
        #expect(alice.errors().isEmpty)
        alice.publish("lesson", [1])
        #expect(alice.errors().map(\.code) == [.rateLimited])
        driver.stall(.seconds(30))
        for _ in 0..<661 { alice.publish("lesson", [1]) }
        #expect(alice.errors().map(\.code) == [.rateLimited], "10 s at most are forgiven")
    }

    @Test("[DL12] so is it with what comes for the first time, and not with what begins later")
    func forgivenFromTheFirst() {
        let driver = HubDriver(), alice = TestClient(driver, "alice")
        driver.stall(.seconds(2))
        driver.stall(.seconds(1))
        driver.nextTurn()
        for _ in 0..<240 { alice.publish("lesson", [1]) }
        for number in 0..<50 { alice.sendSet("lesson", [("k\(number)", "x")]) }
        #expect(alice.errors().isEmpty)
        alice.publish("lesson", [1])
        alice.sendSet("lesson", [("k", "x")])
        #expect(alice.errors().map(\.code) == [.rateLimited, .rateLimited])
        driver.advance(.seconds(1))
        for _ in 0..<61 { alice.publish("another", [1]) }
        #expect(alice.errors().map(\.code) == [.rateLimited])
    }

    @Test("[DL12] a user's first requests that have waited for a turn for 3 s are not over any rate; another user's are")
    func forgivenWhileHeld() {
        let driver = Self.crowd(), reader = TestClient(driver, "reader"), other = TestClient(driver, "other")
        driver.offers = false
        driver.send(Self.join(reader) + Self.join(reader), from: reader.id)
        for number in 0..<50 { reader.sendSet("lesson", [("k\(number)", "x")]) }
        #expect(driver.hub.bytesHeld > 0)
        driver.advance(.seconds(3))
        driver.offers = true
        for _ in 0..<100 where driver.hub.bytesHeld > 0 { _ = reader.frames() }
        #expect(driver.hub.bytesHeld == 0 && driver.hub.census().counters.refusals == [:])
        for number in 0..<21 { other.sendSet("lesson", [("k\(number)", "y")]) }
        #expect(other.errors().map(\.code) == [.rateLimited])
    }

    @Test("[DL12] time in which nothing happened is no stall")
    func idle() {
        let driver = HubDriver(), alice = TestClient(driver, "alice")
        alice.subscribe("lesson")
        driver.advance(.seconds(3))
        for _ in 0..<61 { alice.publish("lesson", [1]) }
        #expect(alice.errors().map(\.code) == [.rateLimited])
    }

    @Test("[RT6, ST6] so does a packet for a flow that is not one of the session")
    func unknownFlows() {
        let driver = HubDriver(), alice = TestClient(driver, "alice")
        for _ in 0..<401 { driver.send(.publishPacket(flow: 77, payload: [1]), from: alice.id) }
        #expect(Dictionary(grouping: alice.errors(), by: \.code).mapValues(\.count) == [.unknownFlow: 400, .rateLimited: 1])
    }

    @Test("[RT6] a frame that no client sends costs what a request costs")
    func unknown() {
        let driver = HubDriver(), alice = TestClient(driver, "alice")
        for _ in 0..<401 { driver.send(Frame(type: 0xEE, flags: 0, body: []), from: alice.id) }
        #expect(Dictionary(grouping: alice.errors(), by: \.code).mapValues(\.count) == [.unknownFrame: 400, .rateLimited: 1])
    }
}
