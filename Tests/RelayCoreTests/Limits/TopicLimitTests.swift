import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@Suite struct TopicLimitTests {
    private func publish(
        _ client: TestClient, _ topic: String, _ channel: String = "lesson", meta: String? = nil, lifetimeMs: Int? = nil
    ) -> TestClient.Outcome {
        client.request(.joinTopic) {
            JoinTopicRequest(id: $0, channel: name(channel), topic: name(topic), meta: meta, lifetimeMs: lifetimeMs)
        }
    }

    @Test("[ST3] 8 published topics per user and channel; one more is refused and told to nobody, one left makes place")
    func published() {
        let driver = HubDriver.patient()
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob")
        for client in [alice, bob] { client.join("lesson") }
        alice.join("other")
        for index in 0..<8 { #expect(passes(publish(alice, "t\(index)"))) }
        _ = bob.frames()
        refused(publish(alice, "t8"), .limitReached, limit: 8, actual: 9)
        #expect(bob.frames(.topics).isEmpty)
        #expect(passes(publish(alice, "t3")), "one that it publishes in already is no more")
        #expect(passes(publish(alice, "t8", "other")) && passes(publish(bob, "t8")), "other channels and users have their own")
        alice.request(.leaveTopic) { TopicRequest(id: $0, channel: name("lesson"), topic: name("t0")) }
        #expect(passes(publish(alice, "t8")))
    }

    // MARK: - The snapshot of a channel's publishers

    /// Lets publishers come, each with 8 topics and what takes most in JSON, until one is refused.
    ///
    /// - Returns: how many flows were opened, and the refusal.
    @discardableResult
    private func crowd(_ driver: HubDriver, _ channel: String, from address: AddressKey = .local) -> (flows: Int, error: ErrorBody?) {
        for number in 0..<60 {
            let user = "\(number) \(channel)"
            let client = TestClient(driver, user + String(repeating: "\"", count: 64 - user.count), from: address)
            defer { driver.cut(client.id) }
            client.join(channel)
            for topic in 0..<8 {
                let outcome = publish(
                    client, "\(topic)" + String(repeating: "\"", count: 63), channel, meta: String(repeating: "\u{1}", count: 256))
                if case .error(let body) = outcome { return (number * 8 + topic, body) }
            }
        }
        return (480, nil)
    }

    private func load(_ client: TestClient) -> Int { client.driver.hub.load(of: client.id)!.reliable }

    @Test("[ST2, DL8] whatever many publishers put into a channel, who comes in behind all that may wait is no slow reader by that")
    func everybodyComesIn() {
        let driver = HubDriver.patient { ($0.metadataCallsPerSecond, $0.metadataCallsBurst) = (1_000, 1_000) }
        let (flows, error) = crowd(driver, "lesson")
        #expect((250..<320).contains(flows))
        #expect(error?.code == .channelFull && error?.limit == 512 * 1024 && (error?.actual ?? 0) > 512 * 1024)
        let writer = TestClient(driver, String(repeating: "\"", count: 64))
        for page in 0..<10 {
            let keys = (0..<100).map { ("\(page)\($0)" + String(repeating: "\"", count: 58), "x") }
            #expect(passes(writer.set("stream:lesson", keys, record: true)))
        }
        let reader = TestClient(driver, "reader")
        reader.join("other")
        driver.offers = false
        let join = JoinRequest(id: 99, channel: name("lesson"), features: ["presence", "metadata", "locks"])
        driver.send(.json(.join, join), from: reader.id)
        let settings = driver.hub.settings
        #expect(load(reader) + settings.requestBacklogBytes < settings.reliableBacklogBytesSoft)
        let told = reader.frames(.topics).map { TestClient.decode(TopicsEvent.self, $0.body) }
        #expect(told.reduce(0) { $0 + $1.publishers.count } == flows)
    }

    @Test("[ST2] of a channel's publishers an address leaves others a quarter, however many users it has; who leaves makes room")
    func publisherShares() throws {
        let driver = HubDriver.patient { $0.publisherBytesPerChannelMax = 100_000 }
        let one = crowd(driver, "lesson", from: .ipv4(1)), other = TestClient(driver, "other", from: .ipv4(2))
        #expect(one.error?.code == .channelFull && one.error?.limit == 25_000 && (one.error?.actual ?? 0) > 75_000)
        other.join("lesson")
        let meta = String(repeating: "m", count: 256)
        for topic in 0..<8 { #expect(passes(publish(other, "\(topic)", meta: meta))) }
        #expect(crowd(driver, "other", from: .ipv4(1)).flows == one.flows, "each channel has its own")
        // They are gone with their presence timeout.
        driver.advance(.seconds(11))
        #expect(crowd(driver, "lesson", from: .ipv4(1)).flows >= one.flows - 2)
    }

    @Test("[SE9, DL8] a session that is in more than may be told at once ends when it resumes: a new one comes into each channel")
    func resumption() throws {
        let driver = HubDriver.patient { ($0.publisherBytesPerChannelMax, $0.reliableBacklogBytesSoft) = (20_000, 80_000) }
        let channels = (0..<6).map { "channel-\($0)" }
        let witness = TestClient(driver, "witness")
        witness.join("channel-0")
        var reader = TestClient(driver, "reader")
        for channel in channels.prefix(3) { reader.join(channel) }
        for channel in channels { crowd(driver, channel) }
        driver.cut(reader.id)
        reader = TestClient(driver, "reader", resume: try #require(reader.welcome?.resumeToken))
        #expect(reader.welcome?.resumed == true && reader.takeOthers(.restored).count == 3)
        for channel in channels.dropFirst(3) { reader.join(channel) }
        driver.cut(reader.id)
        _ = witness.frames()
        let token = try #require(reader.welcome?.resumeToken)
        #expect(driver.isClosing(TestClient(driver, "reader", resume: token).id))
        #expect(driver.hub.census().counters.closes["slowConsumer"] == 1)
        let events = witness.frames(.presence).map { TestClient.decode(PresenceEvent.self, $0.body) }
        #expect(events.filter { $0.user?.text == "reader" }.map(\.event) == [.timeout])
        reader = TestClient(driver, "reader", resume: token)
        #expect(reader.welcome?.resumed == false)
        for channel in channels { reader.join(channel) }
        #expect(!driver.isClosing(reader.id))
    }

    @Test("[ST3] topic meta has 256 bytes, a lifetime 50…1,000 ms; beyond them no flow is opened")
    func options() {
        let alice = TestClient(HubDriver.patient(), "alice"), meta = String(repeating: "é", count: 128)
        alice.join("lesson")
        _ = alice.takeOthers(.topics)
        refused(publish(alice, "t", meta: meta + "x"), .tooLarge, limit: 256, actual: 257)
        refused(publish(alice, "t", lifetimeMs: 49), .badRequest, limit: 50, actual: 49)
        refused(publish(alice, "t", lifetimeMs: 1_001), .badRequest, limit: 1_000, actual: 1_001)
        refused(publish(alice, "t", lifetimeMs: -1), .badRequest, limit: 50, actual: 0)
        #expect(alice.takeOthers(.topics).isEmpty)
        #expect(passes(publish(alice, "t", meta: meta, lifetimeMs: 50)))
        #expect(passes(publish(alice, "u", lifetimeMs: 1_000)))
    }

    @Test("[ST7] 50 subscribed topics per channel; one more is refused and not heard, a selection that is taken away makes place")
    func subscribed() {
        let driver = HubDriver.patient()
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob")
        for client in [alice, bob] { client.join("lesson") }
        alice.join("other")
        for index in 0..<50 { #expect(passes(alice.subscribeTopic("lesson", "t\(index)", users: index == 0 ? ["bob"] : nil))) }
        refused(alice.subscribeTopic("lesson", "t50"), .limitReached, limit: 50, actual: 51)
        refused(alice.subscribeTopic("lesson", "t50", users: ["bob"]), .limitReached, limit: 50, actual: 51)
        let flow = bob.joinTopic("lesson", "t50")
        #expect(driver.hub.receivers(ofFlow: flow) == [])
        #expect(passes(alice.subscribeTopic("lesson", "t0", users: ["carol"])) && passes(alice.subscribeTopic("other", "t50")))
        // A selection of nobody is none.
        alice.request(.unsubscribeTopic) { TopicUsersRequest(id: $0, channel: name("lesson"), topic: name("t0"), users: ["bob", "carol"]) }
        #expect(passes(alice.subscribeTopic("lesson", "t50")))
        #expect(driver.hub.receivers(ofFlow: flow).map(\.text) == ["alice"])
        refused(alice.subscribeTopic("lesson", "t0"), .limitReached, limit: 50, actual: 51)
    }

    @Test(
        "[ST8] a selection lists 64 users over any number of calls, oneself and those who are not there among them; each user fails for itself"
    )
    func listed() throws {
        let alice = TestClient(HubDriver.patient(), "alice")
        alice.join("lesson")
        func list(_ users: [String]) throws -> TopicUsersAnswer {
            try #require(alice.answer(TopicUsersAnswer.self, alice.subscribeTopic("lesson", "t", users: users)))
        }
        func listed() -> [String]? {
            let outcome = alice.request(.subscribedUsers) { SubscribedUsersRequest(id: $0, channel: name("lesson"), topic: name("t")) }
            return alice.answer(SubscribedUsersAnswer.self, outcome)?.users.map(\.text)
        }
        let users = (10..<80).map { "u\($0)" }
        let first = try list(["alice"] + users[..<40])
        #expect(first.succeeded == ["alice"] + users[..<40] && first.failed.isEmpty && !first.all)
        let bad = ["", "_private", "a*b", "é", String(repeating: "x", count: 65)]
        let second = try list(bad + users[30..<70])
        #expect(second.succeeded == Array(users[30..<63]), "10 are listed already, 23 more make 64")
        #expect(second.failed.map(\.user) == bad + users[63..<70])
        #expect(second.failed.map(\.code) == [ErrorCode](repeating: .badName, count: 5) + [ErrorCode](repeating: .limitReached, count: 7))
        #expect(second.failed.allSatisfy { $0.name == $0.code.name })
        #expect(listed() == ["alice"] + users[..<63])

        let gone = alice.request(.unsubscribeTopic) {
            TopicUsersRequest(id: $0, channel: name("lesson"), topic: name("t"), users: ["u10", "u79", "_private"])
        }
        let answer = try #require(alice.answer(TopicUsersAnswer.self, gone))
        #expect(answer.succeeded == ["u10"] && answer.failed.map(\.code) == [.notSubscribed, .notSubscribed])
        #expect(try list(["u79", "u78"]).succeeded == ["u79"], "one place was free")
        #expect(try list(users).failed.map(\.user) == ["u10"] + users[63..<69])
    }
}
