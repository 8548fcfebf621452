import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@Suite struct ChannelLimitTests {
    @Test(
        "[CH7] 50 subscribed message channels and 100 joined stream channels; one more of either is refused, calling again is not one more")
    func perSession() {
        let driver = HubDriver.patient()
        let alice = TestClient(driver, "alice")
        for index in 0..<50 { #expect(passes(alice.subscribe("m\(index)"))) }
        for index in 0..<100 { #expect(passes(alice.join("s\(index)"))) }
        refused(alice.subscribe("m50"), .limitReached, limit: 50, actual: 51)
        refused(alice.join("s100"), .limitReached, limit: 100, actual: 101)
        #expect(passes(alice.subscribe("m7")) && passes(alice.join("s7")))
        #expect(driver.hub.census().channels.count == 150, "what is refused leaves no channel behind")
        alice.leave("m0")
        alice.leave("s0", .leave)
        #expect(passes(alice.subscribe("m50")) && passes(alice.join("s100")))
    }

    @Test("[CH7, SE8] channels that a login takes over are not its own before it comes in: it has 50 places of its own")
    func takenOver() {
        let driver = HubDriver.patient()
        let alice = TestClient(driver, "alice")
        for index in 0..<50 { alice.subscribe("old\(index)") }
        let again = TestClient(driver, "alice", instance: "00000000000000ab")
        for index in 0..<25 { #expect(passes(again.subscribe("old\(index)"))) }
        for index in 0..<25 { #expect(passes(again.subscribe("new\(index)"))) }
        refused(again.subscribe("old25"), .limitReached, limit: 50, actual: 51)
        refused(again.subscribe("new25"), .limitReached, limit: 50, actual: 51)
    }

    @Test(
        "[ST2] a stream channel holds 1,000 users, quiet ones counted; one more is refused, those inside come in again, and a place that is left is free"
    )
    func usersOfStreamChannel() {
        let driver = HubDriver.patient()
        let users = (0..<1_000).map { TestClient(driver, "u\($0)") }
        for (index, user) in users.enumerated() { #expect(passes(user.join("lesson", quiet: index == 0))) }
        let late = TestClient(driver, "late")
        refused(late.join("lesson"), .channelFull, limit: 1_000, actual: 1_001)
        refused(late.join("lesson", quiet: true), .channelFull, limit: 1_000, actual: 1_001)
        #expect(driver.hub.members(of: ChannelID(kind: .stream, channel: name("lesson"))).count == 999)
        #expect(passes(late.subscribe("lesson")), "the message channel of that name is another one")
        #expect(passes(users[1].join("lesson", quiet: true)))
        let again = TestClient(driver, "u2", instance: "00000000000000ab")
        #expect(passes(again.join("lesson")), "who takes over a stay takes no other place")
        refused(late.join("lesson"), .channelFull, limit: 1_000, actual: 1_001)
        users[0].leave("lesson", .leave)
        #expect(passes(late.join("lesson")))
    }

    @Test("[CH8] a relay full of channels of one kind refuses one more, by whatever it would come to be; the other kind has its own count")
    func ofRelay() {
        #expect(Configuration().channelsMax == 10_000)
        let driver = HubDriver.patient { $0.channelsMax = 2 }
        let alice = TestClient(driver, "alice")
        #expect(passes(alice.subscribe("a")))
        alice.publish("b", [1])
        #expect(alice.frames(.accepted).count == 1)
        refused(alice.subscribe("c"), .relayFull, limit: 2, actual: 3)
        alice.publish("c", [1])
        refused(alice.errors().first, .relayFull, limit: 2, actual: 3)
        #expect(passes(alice.subscribe("b")), "one that is there is no more")
        #expect(passes(alice.join("c")) && passes(alice.join("d")))
        refused(alice.join("a"), .relayFull, limit: 2, actual: 3)
        alice.leave("c", .leave)
        #expect(passes(alice.join("a")), "a stream channel ends with its last member")
    }

    @Test("[SE5] a relay that holds all its connections turns one more away, those inside notice nothing, and a place that is left is free")
    func connections() {
        #expect(Configuration().connectionsMax == 12_000)
        let driver = HubDriver.patient { $0.connectionsMax = 2 }
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob")
        let third = driver.open()
        let frames = driver.received(third)
        #expect(frames.map(\.type) == [FrameType.closing.rawValue])
        #expect(frames.first.map { TestClient.decode(CloseNotice.self, $0.body).code } == .tooManyConnections)
        driver.cut(third)
        #expect(passes(alice.subscribe("lesson")) && passes(bob.subscribe("lesson")))
        driver.cut(bob.id)
        #expect(TestClient(driver, "carol").welcome != nil)
    }
}
