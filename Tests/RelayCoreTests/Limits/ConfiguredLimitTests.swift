import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// Every limit that an operator may change, made small: the welcome tells it, and it is the one that is held.
@Suite struct ConfiguredLimitTests {
    @Test("[SE6] each limit of the welcome is told as configured, and refusals follow it")
    func welcome() throws {
        var configuration = Configuration()
        configuration.limits.messageBytesMax = 10
        configuration.limits.messagesPerSecond = 2
        configuration.limits.packetBytesMax = 5
        configuration.limits.packetsPerSecond = 3
        configuration.limits.directMessagesPerSecond = 4
        configuration.limits.requestsPerSecond = 6
        configuration.limits.subscribedChannelsMax = 1
        configuration.limits.joinedChannelsMax = 2
        configuration.limits.publishedTopicsMax = 1
        configuration.limits.subscribedTopicsMax = 2
        configuration.limits.unansweredMax = 7
        configuration.requestsBurst = 20
        let driver = HubDriver(configuration: configuration)
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob")
        #expect(alice.welcome?.limits == configuration.limits)

        #expect(passes(alice.subscribe("a")))
        refused(alice.subscribe("b"), .limitReached, limit: 1, actual: 2)
        #expect(passes(alice.join("a")) && passes(alice.join("b")))
        refused(alice.join("c"), .limitReached, limit: 2, actual: 3)
        let flow = alice.joinTopic("a", "t")
        refused(
            alice.request(.joinTopic) { JoinTopicRequest(id: $0, channel: name("a"), topic: name("u")) }, .limitReached, limit: 1, actual: 2
        )
        #expect(passes(alice.subscribeTopic("a", "t")) && passes(alice.subscribeTopic("a", "u")))
        refused(alice.subscribeTopic("a", "v"), .limitReached, limit: 2, actual: 3)

        alice.publish("a", [UInt8](repeating: 1, count: 11))
        refused(alice.errors().first, .tooLarge, limit: 10, actual: 11)
        for _ in 0..<3 { alice.publish("a", [UInt8](repeating: 1, count: 10)) }
        var errors = alice.errors()
        #expect(errors.map(\.code) == [.rateLimited] && errors[0].limit == 2)
        alice.packet(flow, [UInt8](repeating: 1, count: 6))
        refused(alice.errors().first, .tooLarge, limit: 5, actual: 6)
        for _ in 0..<4 { alice.packet(flow, [UInt8](repeating: 1, count: 5)) }
        #expect(driver.hub.sequence(ofFlow: flow) == 3)
        for number in 101...UInt64(105) { driver.send(.direct(number: number, user: "bob", payload: []), from: alice.id) }
        errors = alice.errors()
        #expect(errors.map(\.code) == [.rateLimited] && errors[0].limit == 4 && errors[0].number == 105)

        for _ in 0..<20 { #expect(passes(bob.request(.whereIs) { WhereRequest(id: $0, user: name("alice")) })) }
        guard case .error(let error) = bob.request(.whereIs, { WhereRequest(id: $0, user: name("alice")) }) else {
            Issue.record("the burst is not held")
            return
        }
        #expect(error.code == .rateLimited && error.limit == 6 && error.retryAfterMs == 167)
    }

    @Test("[ST2, PR8, DM5, PR6] limits that the welcome does not tell are held as configured")
    func others() {
        let driver = HubDriver.patient {
            $0.streamChannelUsersMax = 1
            $0.statesPerUserMax = 2
            $0.channelsWithStatesMax = 1
            $0.directPendingMax = 1
            $0.presenceTimeoutDefault = .seconds(7)
        }
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob")
        #expect(alice.welcome?.presenceTimeoutMs == 7_000 && alice.welcome?.heartbeatMs == 3_500)
        #expect(passes(alice.join("a")))
        refused(bob.join("a"), .channelFull, limit: 1, actual: 2)
        refused(alice.setStates(["a": "", "b": "", "c": ""]), .limitReached, limit: 2, actual: 3)
        #expect(passes(alice.setStates(["a": "", "b": ""])))
        refused(alice.setStates(["a": ""], "other"), .limitReached, limit: 1, actual: 2)
        for number in 1...UInt64(2) { driver.send(.direct(number: number, user: "bob", payload: []), from: alice.id) }
        refused(alice.errors().first, .limitReached, limit: 1, actual: 2)
    }
}
