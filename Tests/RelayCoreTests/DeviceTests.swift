import RelayCore
import RelayMonitoring
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// One person, several devices.
@Suite struct DeviceTests {
    private let driver = HubDriver()

    private func device(_ number: Int, user: String = "alice", onlyDevice: Bool? = nil, presenceTimeoutMs: Int? = nil) -> TestClient {
        let digits = "00000000000000" + (number < 10 ? "0" : "") + "\(number)"
        return TestClient(driver, user, instance: digits, device: digits, onlyDevice: onlyDevice, presenceTimeoutMs: presenceTimeoutMs)
    }

    private func events(_ client: TestClient) -> [PresenceEvent] {
        client.takeOthers(.presence).map { TestClient.decode(PresenceEvent.self, $0.body) }
    }

    private func code(_ outcome: TestClient.Outcome) -> ErrorCode? { TestClient.code(outcome) }

    private func fencing(_ client: TestClient, _ outcome: TestClient.Outcome) -> UInt64? {
        client.answer(FencingAnswer.self, outcome)?.fencing
    }

    @Test("[SE8] a second device of a user comes in and the first one notices nothing; the same device is replaced")
    func second() {
        let laptop = device(1), tablet = device(2)
        #expect(tablet.welcome?.resumed == false && laptop.closing() == nil)
        #expect(laptop.welcome?.handle != tablet.welcome?.handle)
        let again = device(1)
        #expect(again.welcome != nil && laptop.closing()?.code == .replaced && tablet.closing() == nil)
        #expect(driver.hub.census().sessionsPresent == 2 && driver.hub.census().users == 1)
    }

    @Test(
        "[SE2, SE8] a device has 16 hexadecimal digits",
        arguments: ["", "00000000000000a", "00000000000000aaa", "00000000000000ag", "+0000000000000aa"])
    func digits(device: String) {
        let client = TestClient(driver, "alice", device: device)
        #expect(client.welcome == nil)
        let errors = client.others.filter { $0.type == FrameType.error.rawValue }.map { TestClient.decode(ErrorBody.self, $0.body).code }
        #expect(errors == [.badRequest])
    }

    @Test("[SE8] 8 devices have a session, a ninth is refused with limit and count; one that is away longest makes room, others stay")
    func ninth() {
        var all = (1...8).map { device($0, presenceTimeoutMs: 300_000) }
        #expect(all.allSatisfy { $0.welcome != nil })
        let ninth = device(9)
        let refusal = ninth.others.map { TestClient.decode(ErrorBody.self, $0.body) }
        #expect(refusal.map(\.code) == [.limitReached] && refusal[0].limit == 8 && refusal[0].actual == 9 && ninth.welcome == nil)
        #expect(device(1).welcome != nil, "one of the eight may come again")
        driver.cut(all[4].id)
        driver.advance(.milliseconds(1))
        driver.cut(all[2].id)
        #expect(ninth.login(instance: "0000000000000009", device: "0000000000000009") > 0 && ninth.welcome != nil)
        #expect(driver.hub.census().sessions.map(\.device).contains("0000000000000003"), "it is away for a shorter time")
        #expect(!driver.hub.census().sessions.map(\.device).contains("0000000000000005"))
        #expect(device(10).welcome != nil && device(11).welcome == nil)
        all = []
    }

    @Test("[SE8] devices that come and go leave no more than 8 behind, and the rates of the user go on")
    func lingering() {
        for number in 1...40 { device(number).request(.logout) { EmptyRequest(id: $0) } }
        #expect(driver.hub.census().users == 1)
        driver.advance(.seconds(3))
        #expect(driver.hub.census().users == 0)
    }

    @Test("[SE8] onlyDevice replaces the others; stays pass over unseen, without states; what is left ends as timeout")
    func only() {
        let bob = TestClient(driver, "bob", presenceTimeoutMs: 300_000)
        bob.subscribe("lesson")
        bob.subscribe("other")
        let laptop = device(1), tablet = device(2)
        for client in [laptop, tablet] { client.subscribe("lesson") }
        tablet.subscribe("other")
        tablet.setStates(["tool": "pen"])
        _ = events(bob)
        let phone = device(3, onlyDevice: true)
        #expect(laptop.closing()?.code == .replaced && tablet.closing()?.code == .replaced && phone.welcome != nil)
        let told = events(bob)
        #expect(told.map(\.event) == [.stateChanged] && told.first?.removed == [try! Name("tool")])
        phone.subscribe("lesson")
        #expect(events(bob).isEmpty)
        for _ in 0..<11 {
            driver.send(Frame(.ping), from: phone.id)
            driver.send(Frame(.ping), from: bob.id)
            driver.advance(.seconds(1))
        }
        let ends = events(bob)
        let lesson = ChannelID(kind: .message, channel: try! Name("lesson"))
        #expect(ends.map(\.event) == [.timeout] && driver.hub.members(of: lesson).count == 2)
        #expect(driver.hub.census().sessions.filter { $0.user == "alice" }.count == 1)
    }

    @Test("[PR1, PR5, PR8] a user comes with its first device and goes with its last; what a device takes along is told as removed")
    func presence() {
        let bob = TestClient(driver, "bob", presenceTimeoutMs: 300_000)
        bob.subscribe("lesson")
        let laptop = device(1), tablet = device(2)
        laptop.subscribe("lesson")
        #expect(events(bob).filter { $0.event == .join }.count == 1)
        tablet.setStates(["tool": "pen"])
        tablet.subscribe("lesson")
        let change = events(bob)
        #expect(change.map(\.event) == [.stateChanged] && change[0].states == ["tool": "pen"])
        #expect(bob.states(of: "alice") == ["tool": "pen"])
        laptop.setStates(["tool": "eraser"])
        #expect(events(bob).map(\.states) == [["tool": "eraser"]], "the newest counts")
        tablet.setStates(["tool": "pen"])
        #expect(events(bob).map(\.states) == [["tool": "pen"]], "set again it is the newest, whatever it was")
        tablet.setStates(["tool": "pen"])
        #expect(events(bob).isEmpty)
        tablet.request(.unsubscribe) { ChannelRequest(id: $0, channel: try! Name("lesson")) }
        let back = events(bob)
        #expect(back.map(\.event) == [.stateChanged] && back[0].states == ["tool": "eraser"] && back[0].removed == nil)
        laptop.request(.unsubscribe) { ChannelRequest(id: $0, channel: try! Name("lesson")) }
        #expect(events(bob).map(\.event) == [.leave])
    }

    @Test("[MS4, MS5, MS6] a message reaches the sender's other devices, under a handle of its own")
    func messages() {
        let laptop = device(1), tablet = device(2)
        for client in [laptop, tablet] { client.subscribe("lesson") }
        _ = (laptop.frames(), tablet.frames())
        laptop.publish("lesson", [1])
        #expect(tablet.frames(.deliver).count == 1)
        #expect(laptop.frames(.deliver).isEmpty)
        tablet.publish("lesson", [2])
        let names = laptop.frames().filter { $0.type == FrameType.userNamed.rawValue }
        #expect(names.contains { $0.body.suffix(5) == Array("alice".utf8)[...] })
    }

    @Test("[DM2, DM3, DM4] a direct message goes to all devices; the first receipt confirms it; the last end fails it")
    func direct() {
        let bob = TestClient(driver, "bob"), laptop = device(1), tablet = device(2)
        driver.send(.direct(number: 1, user: "alice", payload: [9]), from: bob.id)
        let first = laptop.frames(.directDeliver), second = tablet.frames(.directDeliver)
        #expect(first.count == 1 && second.count == 1)
        for client in [laptop, tablet] { driver.send(Frame(.directReceived, body: Array(first[0].body.prefix(8))), from: client.id) }
        #expect(bob.frames(.confirmed).count == 1)
        driver.send(.direct(number: 2, user: "alice", payload: [9]), from: bob.id)
        driver.cut(laptop.id)
        #expect(bob.errors().isEmpty)
        driver.cut(tablet.id)
        #expect(bob.errors().map(\.code) == [.unconfirmed])
    }

    @Test("[LK1, LK3, LK6, LK7] a lock is a device's: another device of the user finds it held, and cannot release it")
    func locks() {
        let laptop = device(1), tablet = device(2), mia = TestClient(driver, "mia")
        laptop.setLock("lesson", "pen")
        #expect(fencing(laptop, laptop.acquire("lesson", "pen")) != nil)
        #expect(code(tablet.acquire("lesson", "pen")) == .lockHeld && code(tablet.lock(.releaseLock, "lesson", "pen")) == .lockNotHeld)
        #expect(mia.locks("lesson").map(\.ownerDevice) == ["0000000000000001"])
        #expect(code(mia.lock(.revokeLock, "lesson", "pen", owner: "alice", device: "0000000000000002")) == .lockNotHeld)
        #expect(code(mia.lock(.revokeLock, "lesson", "pen", owner: "alice", device: "1")) == .badRequest)
        #expect(code(mia.lock(.revokeLock, "lesson", "pen", owner: "alice", device: "0000000000000001")) == nil)
        #expect(fencing(tablet, tablet.acquire("lesson", "pen")) != nil)
        driver.cut(tablet.id)
        driver.advance(.seconds(9))
        #expect(mia.locks("lesson").map(\.owner) == ["alice"])
        driver.advance(.seconds(1))
        #expect(mia.locks("lesson").map(\.owner) == [nil], "the laptop's connection does not keep the tablet's lock")
    }

    @Test("[RT1] the rates are the user's: 60 messages of two devices pass together")
    func rates() {
        let laptop = device(1), tablet = device(2)
        for _ in 0..<30 { for client in [laptop, tablet] { client.publish("lesson", [1]) } }
        #expect(laptop.errors().isEmpty && tablet.errors().isEmpty)
        tablet.publish("lesson", [1])
        #expect(tablet.errors().map(\.code) == [.rateLimited])
    }

    @Test("[ST3, ST9, ST11] two devices publish in one topic, each with its own flow; a leaving one closes its own")
    func flows() {
        let bob = TestClient(driver, "bob"), laptop = device(1), tablet = device(2)
        for client in [bob, laptop, tablet] { client.join("lesson") }
        bob.subscribeTopic("lesson", "points", users: ["alice"])
        let first = laptop.joinTopic("lesson", "points"), second = tablet.joinTopic("lesson", "points")
        #expect(first != 0 && second != 0 && first != second)
        let opened = bob.takeOthers(.flowOpened).map { TestClient.decode(FlowOpened.self, $0.body) }
        #expect(opened.map(\.device) == ["0000000000000001", "0000000000000002"] && Set(opened.map(\.user.text)) == ["alice"])
        driver.send(.publishPacket(flow: first, payload: [1]), from: tablet.id)
        #expect(tablet.errors().map(\.code) == [.unknownFlow])
        laptop.request(.leave) { ChannelRequest(id: $0, channel: try! Name("lesson")) }
        let closed = bob.takeOthers(.flowClosed).map { TestClient.decode(FlowClosed.self, $0.body).flow }
        #expect(closed == [first])
    }

    @Test("[MS9] 4 instances are remembered of each device: those of another push none out")
    func windows() {
        func come(_ device: String, _ instance: String) -> TestClient { TestClient(driver, "alice", instance: instance, device: device) }
        let laptop = "0000000000000001", tablet = "0000000000000002"
        come(laptop, "00000000000000a0").publish("lesson", [1])
        for number in 1...5 { come(tablet, "00000000000000b\(number)").publish("lesson", [1]) }
        for number in 1...4 { come(laptop, "00000000000000a\(number)").publish("lesson", [1]) }
        #expect(come(laptop, "00000000000000a0").welcome?.lastNumber == 1)
        #expect(come(laptop, "00000000000000a5").welcome?.lastNumber == 0)
        #expect(come(laptop, "00000000000000a6").welcome?.lastNumber == 0)
        #expect(come(laptop, "00000000000000a1").welcome?.lastNumber == 0, "the fifth one before")
    }

    @Test(
        "[MS9] a client object that comes back on another device is known there: nothing that it sends again counts twice",
        arguments: [true, false])
    func movedInstance(isAway: Bool) {
        let bob = TestClient(driver, "bob"), laptop = device(1)
        bob.subscribe("lesson")
        laptop.retain("lesson", "a", [1])
        laptop.publish("lesson", [2])
        #expect(bob.frames(.deliver).count == 2)
        if isAway { driver.cut(laptop.id) }
        let tablet = TestClient(driver, "alice", instance: "0000000000000001", device: "0000000000000002", lastNumber: 2)
        #expect(tablet.welcome?.lastNumber == 2 && tablet.welcome?.forgotten == nil)
        if !isAway { #expect(laptop.closing()?.code == .replaced) }
        tablet.retain("lesson", "a", [1])
        tablet.publish("lesson", [2])
        #expect(tablet.frames(.accepted).count == 2 && bob.frames(.deliver).isEmpty)
        let again = device(1)
        #expect(again.welcome?.lastNumber == 2 && tablet.closing()?.code == .replaced)
    }

    @Test("[AC10, AC12, AC13] moderators speak of persons: a role, an end and a ban mean all devices")
    func moderation() {
        let mia = TestClient(driver, "mia"), laptop = device(1), tablet = device(2)
        mia.request(.setRole) { SetRoleRequest(id: $0, user: try! Name("alice"), role: "reader") }
        for client in [laptop, tablet] { #expect(client.frames(.accessChanged).count == 1) }
        mia.request(.endSession) { EndSessionRequest(id: $0, user: try! Name("alice")) }
        for client in [laptop, tablet] { #expect(client.closing()?.code == .endedByModerator) }
        let again = device(1), more = device(2)
        mia.request(.banUser) { BanUserRequest(id: $0, user: try! Name("alice")) }
        for client in [again, more] { #expect(client.closing()?.code == .banned) }
    }
}
