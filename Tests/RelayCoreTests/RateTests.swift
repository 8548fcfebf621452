import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@Suite struct RateTests {
    @Test("[RT1, RT2, MS3] of 61 messages at one instant 60 pass; the next one passes after exactly the time it was told")
    func messageBurst() throws {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice")
        for _ in 0..<61 { alice.publish("lesson", [1]) }
        let frames = alice.frames()
        #expect(frames.count { $0.type == FrameType.accepted.rawValue } == 60)
        let error = try #require(
            frames.filter { $0.type == FrameType.error.rawValue }.map { TestClient.decode(ErrorBody.self, $0.body) }.first)
        #expect(error.code == .rateLimited && error.limit == 60 && error.number == 61)
        let wait = try #require(error.retryAfterMs)

        driver.advance(.milliseconds(Int64(wait) - 1))
        alice.publish("lesson", [1])
        #expect(alice.errors().first?.code == .rateLimited)
        driver.advance(.milliseconds(1))
        alice.publish("lesson", [1])
        #expect(alice.frames(.accepted).count == 1)
    }

    @Test("[RT1] 60 messages and 200 packets a second pass for a minute without one refusal, in every channel and topic")
    func sustained() {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice")
        alice.join("lesson")
        let flows = [alice.joinTopic("lesson", "points"), alice.joinTopic("lesson", "cursor")]
        for tick in 0..<(60 * 600) {
            // Every 1/60 s a message in each of two channels, every 1/200 s a packet in each of two topics.
            if tick % 10 == 0 { for channel in ["lesson", "board"] { alice.publish(channel, []) } }
            if tick % 3 == 0 { for flow in flows { alice.packet(flow, []) } }
            // 1/600 s, in whole nanoseconds that add up to a second exactly.
            driver.advance(.nanoseconds(tick % 3 == 0 ? 1_666_666 : 1_666_667))
            if tick % 600 == 0 { _ = alice.frames() }
        }
        let counters = driver.hub.census().counters
        #expect(counters.messagesAccepted == 2 * 60 * 60)
        #expect(counters.packetsAccepted == 2 * 200 * 60)
        #expect(counters.refusals.isEmpty && counters.packetsDroppedRate == 0)
    }

    @Test("[RT1, RT4, ST6] of 201 packets at one instant 200 pass; notices come once a second and add up")
    func packets() {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob")
        alice.join("lesson")
        bob.join("lesson")
        bob.subscribeTopic("lesson", "points")
        let flow = alice.joinTopic("lesson", "points")
        _ = bob.frames()
        for _ in 0..<201 { alice.packet(flow, []) }
        var delivered = bob.frames(.packet)
        #expect(delivered.count == 200)
        for _ in 0..<40 {
            driver.advance(.milliseconds(50))
            for _ in 0..<30 { alice.packet(flow, []) }
            delivered += bob.frames(.packet)
        }
        driver.advance(.seconds(2))
        let notices = alice.frames(.packetsDropped).map { TestClient.decode(PacketsDroppedNotice.self, $0.body) }
        let sent = 201 + 40 * 30
        let sequences = delivered.map { frame in
            frame.body.withUnsafeBytes { UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self)) }
        }
        #expect(sequences == Array(1...UInt32(delivered.count)))
        #expect((3...5).contains(notices.count), "in four seconds")
        #expect(notices.last.map { Int($0.total) + delivered.count } == sent)
        #expect(notices.reduce(0) { $0 + $1.dropped } == notices.last?.total)
    }

    @Test("[RT3] a reconnect resets nothing; two seconds after the session's end everything is new")
    func reconnect() {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice")
        for _ in 0..<60 { alice.publish("lesson", []) }
        driver.cut(alice.id)
        let again = TestClient(driver, "alice", instance: "00000000000000ab")
        again.publish("lesson", [])
        #expect(again.errors().first?.code == .rateLimited)
        again.request(.logout) { EmptyRequest(id: $0) }
        driver.cut(again.id)
        #expect(driver.hub.census().users == 1)
        driver.advance(.seconds(2))
        #expect(driver.hub.census().users == 0)
    }

    @Test("[RT5] ten times the rate for ten seconds is abuse, for nine seconds it is not", arguments: [9, 10])
    func abuse(seconds: Int) {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice")
        for _ in 0..<seconds {
            for _ in 0..<600 {
                alice.publish("lesson", [])
                _ = alice.frames(.accepted)
            }
            driver.advance(.seconds(1))
        }
        #expect(driver.isClosing(alice.id) == (seconds == 10))
        #expect(driver.hub.census().counters.closes["abuse"] == (seconds == 10 ? 1 : nil))
    }

    @Test("[RT6] 400 requests at one instant pass, the next is refused; direct messages have 60 a second")
    func requests() {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob")
        for _ in 0..<400 {
            #expect(alice.answer(WhereAnswer.self, alice.request(.whereIs) { WhereRequest(id: $0, user: try! Name("bob")) }) != nil)
        }
        guard case .error(let error) = alice.request(.whereIs, { WhereRequest(id: $0, user: try! Name("bob")) }) else {
            Issue.record("request 401 passed")
            return
        }
        #expect(error.code == .rateLimited && error.limit == 200 && error.retryAfterMs == 5)

        for number in 1...61 { driver.send(.direct(number: UInt64(number), user: "bob", payload: []), from: alice.id) }
        #expect(alice.errors().map(\.code) == [.rateLimited])
        #expect(bob.frames(.directDeliver).count == 60)
    }
}
