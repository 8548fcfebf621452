import RelayCore
import RelayTestKit
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
