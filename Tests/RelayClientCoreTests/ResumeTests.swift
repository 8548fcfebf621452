@testable import RelayClientCore
import RelayWire
import Testing

/// What a client tells its app after a break.
@Suite struct ResumeTests {
    /// In message channel `lesson` (head 5, messages 6 and 7 seen) and stream channel `lesson` hearing all in `points`:
    /// flow 20 of bob with packets 1…3 seen.
    func scene() throws -> MachineDriver {
        let driver = MachineDriver()
        driver.logIn()
        try driver.subscribe(head: 5)
        try driver.ask(.join(try Name("lesson"), features: [.presence], quiet: false, token: nil)) {
            MachineDriver.joined(id: $0, handle: 11)
        }
        let topic = TopicID(channel: try Name("lesson"), topic: try Name("points"))
        try driver.ask(.subscribeTopic(topic, users: nil)) { TopicUsersAnswer(id: $0, all: true) }
        driver.feed(MachineDriver.userNamed(2, "bob"))
        driver.feed(MachineDriver.deliver(offset: 6, "six"))
        driver.feed(MachineDriver.deliver(offset: 7, "seven"))
        driver.feed(MachineDriver.flowOpened(20))
        for sequence in UInt32(1)...3 { driver.feed(MachineDriver.packet(flow: 20, sequence)) }
        _ = driver.events()
        _ = driver.sent()
        return driver
    }

    func comeBack(_ driver: MachineDriver, resumed: Bool) {
        driver.cut()
        driver.pass(.seconds(1))
        driver.open()
        driver.logIn(resumed: resumed)
    }

    func restored(_ head: UInt64, missed: OffsetRange? = nil, after: UInt64? = nil) -> Frame {
        .json(.restored, MachineDriver.subscribed(id: nil, handle: 10, head: head, missed: missed, after: after))
    }

    func offsets(_ events: [ClientEvent]) -> [UInt64] {
        events.compactMap { if case .message(let message) = $0 { message.offset } else { nil } }
    }

    /// The pong to the ping behind the login.
    func restoredAll(_ driver: MachineDriver) {
        for frame in driver.sent(.ping) { driver.feed(Frame(.pong, body: frame.body)) }
    }

    func lost(_ events: [ClientEvent]) -> [String] {
        events.compactMap { event in
            guard case .packetsLost(let lost) = event else { return nil }
            return lost.entries.map { "\(lost.reason) \($0.flow) \($0.publisher) \($0.first)…\($0.last.map { "\($0)" } ?? "?")" }.joined(
                separator: ", ")
        }
    }

    func missed(_ events: [ClientEvent]) -> [MessagesMissed.Extent] {
        events.compactMap { if case .messagesMissed(let missed) = $0 { missed.extent } else { nil } }
    }

    @Test("[SE9, HI2] the login says what was seen; what is not kept is told, the rest comes, and the next login says how far")
    func messages() throws {
        let driver = try scene()
        comeBack(driver, resumed: true)
        #expect(driver.lastLogin?.resume?.seen == ["lesson": [7, 1000, 1]])
        driver.feed(restored(20, missed: OffsetRange(from: 8, to: 12), after: 12))
        driver.feed(MachineDriver.userNamed(2, "bob"))
        driver.feed(MachineDriver.deliver(offset: 13, "thirteen"))
        let events = driver.events()
        #expect(missed(events) == [.range(8...12)])
        #expect(offsets(events) == [13])
        // The link breaks in the middle: an own message that was accepted meanwhile says nothing of those before it.
        try driver.send("mine")
        _ = driver.sent()
        driver.feed(MachineDriver.accepted(1, offset: 21))
        comeBack(driver, resumed: true)
        #expect(driver.lastLogin?.resume?.seen == ["lesson": [13, 1000, 1]])
        driver.feed(restored(21, after: 13))
        for offset in UInt64(14)...20 { driver.feed(MachineDriver.deliver(offset: offset, "\(offset)")) }
        driver.feed(.json(.caughtUp, CaughtUp(channel: 10, head: 21)))
        #expect(offsets(driver.events()) == Array(14...20))
        comeBack(driver, resumed: true)
        #expect(driver.lastLogin?.resume?.seen == ["lesson": [21, 1000, 1]])
    }

    @Test(
        "[SE4, SE9] places in channels with the largest names fit into a login; with one more the session is new, and each channel is asked for from where it was"
    )
    func manyChannels() throws {
        for count in [MachineDriver.largePlacesMax, MachineDriver.largePlacesMax + 1] {
            let driver = MachineDriver()
            driver.logIn()
            for number in 0..<count {
                let name = MachineDriver.largeName(number)
                try driver.ask(.subscribe(name, features: [.messages], quiet: false)) { id in
                    SubscribeAnswer(
                        id: id, kind: .message, channel: name, handle: UInt32.max - UInt32(number), features: [.messages], quiet: false,
                        epoch: Epoch(start: 1000, incarnation: 1), head: Limits.integerMax)
                }
            }
            driver.cut()
            driver.pass(.seconds(1))
            driver.open()
            let login = try #require(driver.sent(.login).last)
            #expect(login.bytes.count <= Limits.bytesBeforeLoginMax)
            let seen = MachineDriver.decode(LoginRequest.self, login).resume?.seen
            #expect(seen?.count == (count == MachineDriver.largePlacesMax ? count : nil))
            driver.logIn()
            let since = driver.sent(.subscribe).compactMap { MachineDriver.decode(SubscribeRequest.self, $0).since }
            #expect(since.count == count)
        }
    }

    @Test("[HI4] a gap is told in its place, and counts as seen")
    func gap() throws {
        let driver = try scene()
        comeBack(driver, resumed: true)
        driver.feed(restored(20, after: 7))
        driver.feed(.json(.gap, Gap(channel: 10, from: 8, to: 15)))
        driver.feed(MachineDriver.userNamed(2, "bob"))
        driver.feed(MachineDriver.deliver(offset: 16, "sixteen"))
        let events = driver.events()
        #expect(missed(events) == [.range(8...15)] && offsets(events) == [16])
        comeBack(driver, resumed: true)
        #expect(driver.lastLogin?.resume?.seen == ["lesson": [16, 1000, 1]])
    }

    @Test("[CH6] another epoch is told as a reset, then what of it is not kept any more, and all that is kept follows")
    func reset() throws {
        let driver = try scene()
        comeBack(driver, resumed: false)
        let subscribe = try #require(driver.sent(.subscribe).first)
        driver.feed(
            .json(
                .answer,
                MachineDriver.subscribed(
                    id: MachineDriver.decode(RequestID.self, subscribe).id, handle: 10, head: 5, start: 1001,
                    missed: OffsetRange(from: 1, to: 2),
                    reset: true, after: 2)))
        driver.feed(MachineDriver.userNamed(2, "bob"))
        for offset in UInt64(3)...5 { driver.feed(MachineDriver.deliver(offset: offset, "\(offset)")) }
        let events = driver.events()
        #expect(missed(events) == [.reset, .range(1...2)] && offsets(events) == [3, 4, 5])
        guard case .message(let message)? = events.last else {
            Issue.record("no message")
            return
        }
        #expect(message.epoch == Epoch(start: 1001, incarnation: 1))
    }

    @Test("[SE9, MS6] an own message counts as seen when it was accepted, with an echo when that has come", arguments: [false, true])
    func ownMessages(came: Bool) throws {
        let driver = try scene()
        try driver.machine.send(.text("mine"), to: "lesson", customType: nil, echo: true, token: 900, at: driver.now)
        _ = driver.sent()
        driver.feed(MachineDriver.accepted(1, offset: 8))
        if came { driver.feed(MachineDriver.deliver(offset: 8, "mine")) }
        comeBack(driver, resumed: true)
        #expect(driver.lastLogin?.resume?.seen == ["lesson": [came ? 8 : 7, 1000, 1]])
        driver.feed(restored(8))
        try driver.send("mine, too")
        _ = driver.sent()
        driver.feed(MachineDriver.accepted(2, offset: 9))
        comeBack(driver, resumed: true)
        #expect(driver.lastLogin?.resume?.seen == ["lesson": [9, 1000, 1]])
    }

    @Test("[SE9, DL6] packets missed are told per flow, exactly, without those that were told lost before")
    func packets() throws {
        let driver = try scene()
        // 5…6 are known to be lost before the break; 4 and 7…9 go with the link.
        driver.feed(MachineDriver.lost([(20, 5, 6)]))
        #expect(lost(driver.events()) == ["slowReader 20 bob 5…6"])
        comeBack(driver, resumed: true)
        driver.feed(.json(.restored, MachineDriver.joined(id: nil, handle: 11)))
        driver.feed(MachineDriver.flowOpened(20, next: 10))
        #expect(lost(driver.events()) == ["linkBroken 20 bob 4…4, linkBroken 20 bob 7…9"])
        driver.feed(MachineDriver.packet(flow: 20, 10))
        #expect(lost(driver.events()).isEmpty)
    }

    @Test(
        "[SE9] a flow that opened while away was missed from where on it was meant for the session; one that also closed is told as well; one that was known to have closed is not told again"
    )
    func flowsOfMeanwhile() throws {
        let driver = try scene()
        driver.feed(.json(.flowClosed, FlowClosed(flow: 20, last: 3)))
        _ = driver.events()
        comeBack(driver, resumed: true)
        driver.feed(.json(.restored, MachineDriver.joined(id: nil, handle: 11)))
        driver.feed(MachineDriver.flowOpened(20, next: 4))
        driver.feed(.json(.flowClosed, FlowClosed(flow: 20, last: 3)))
        driver.feed(MachineDriver.flowOpened(30, next: 6, from: 1, user: "cleo"))
        driver.feed(.json(.flowClosed, FlowClosed(flow: 30, last: 5)))
        driver.feed(MachineDriver.flowOpened(31, next: 3, from: 1, user: "dora"))
        driver.feed(MachineDriver.flowOpened(32, next: 1, from: 1, user: "emil"))
        driver.feed(MachineDriver.flowOpened(33, next: 9, from: 7, user: "fred"))
        driver.feed(MachineDriver.flowOpened(34, next: 9, from: 9, user: "gina"))
        restoredAll(driver)
        #expect(lost(driver.events()) == ["linkBroken 30 cleo 1…5", "linkBroken 31 dora 1…2", "linkBroken 33 fred 7…8"])
    }

    @Test("[SE9] of a flow that was selected anew meanwhile only what was meant since is missed")
    func selectedAnew() throws {
        let driver = try scene()
        comeBack(driver, resumed: true)
        driver.feed(.json(.restored, MachineDriver.joined(id: nil, handle: 11)))
        driver.feed(MachineDriver.flowOpened(20, next: 10, from: 7))
        restoredAll(driver)
        #expect(lost(driver.events()) == ["linkBroken 20 bob 7…9"])
    }

    @Test(
        "[SE9] a flow that is not named again has closed: how many were missed is unknown, told at the pong behind the login and not before"
    )
    func unconfirmed() throws {
        let driver = try scene()
        comeBack(driver, resumed: true)
        driver.feed(.json(.restored, MachineDriver.joined(id: nil, handle: 11)))
        #expect(lost(driver.events()).isEmpty)
        restoredAll(driver)
        #expect(lost(driver.events()) == ["linkBroken 20 bob 4…?"])
        driver.feed(MachineDriver.packet(flow: 20, 9))
        #expect(driver.events().withoutLink.isEmpty, "of a flow that is gone nothing is shown")
    }

    @Test("[SE9, DL6] of a flow that has closed meanwhile nothing is told again that was told lost before", arguments: [false, true])
    func closedAfterLoss(resumed: Bool) throws {
        let driver = try scene()
        driver.feed(MachineDriver.lost([(20, 5, 6)]))
        _ = driver.events()
        comeBack(driver, resumed: resumed)
        if resumed { restoredAll(driver) }
        #expect(lost(driver.events()) == ["linkBroken 20 bob 4…4, linkBroken 20 bob 7…?"])
    }

    @Test("[SE9, ST13] of one's own packets nothing is lost that was sent without an echo", arguments: [false, true], [true, false])
    func own(echo: Bool, resumed: Bool) throws {
        let driver = try scene()
        try driver.joinTopic()
        driver.feed(MachineDriver.flowOpened(21, user: "alice", device: driver.machine.settings.device))
        let topic = TopicID(channel: try Name("lesson"), topic: try Name("points"))
        try driver.machine.sendPacket(.text("p"), topic, slot: nil, senderTime: nil, echo: echo, at: driver.now)
        _ = driver.sent()
        _ = driver.events()
        comeBack(driver, resumed: resumed)
        if resumed {
            driver.feed(.json(.restored, MachineDriver.joined(id: nil, handle: 11)))
            driver.feed(MachineDriver.flowOpened(20, next: 4))
            driver.feed(MachineDriver.flowOpened(21, next: 2, from: 1, user: "alice", device: driver.machine.settings.device))
        }
        let others = resumed ? [] : ["linkBroken 20 bob 4…?"]
        #expect(lost(driver.events()) == others + (echo ? ["linkBroken 21 alice 1…\(resumed ? "1" : "?")"] : []))
    }

    @Test("[DL6] a notice that names a flow before its opening is told with the opening")
    func early() throws {
        let driver = try scene()
        driver.feed(MachineDriver.lost([(40, 1, 2), (20, 4, 4)], reason: 2))
        #expect(lost(driver.events()) == ["expired 20 bob 4…4"])
        driver.feed(MachineDriver.flowOpened(40, user: "cleo"))
        #expect(lost(driver.events()) == ["expired 40 cleo 1…2"])
        driver.feed(MachineDriver.packet(flow: 40, 3))
        guard case .packet? = driver.events().last else {
            Issue.record("no packet")
            return
        }
    }

    @Test(
        "[SE10, CH6] a new session asks again for all the app wants, in the order of names, from where it was; what is missed is told; flows of before are lost"
    )
    func newSession() throws {
        let driver = try scene()
        try driver.ask(.setStates(ChannelID(kind: .stream, channel: try Name("lesson")), ["tool": "pen"])) { EmptyAnswer(id: $0) }
        try driver.joinTopic()
        _ = driver.sent()
        comeBack(driver, resumed: false)
        let asked = driver.sent().filter { $0.type >= 0x20 && $0.type < 0x80 }
        #expect(
            asked.compactMap { FrameType(rawValue: $0.type)?.name } == ["setStates", "subscribe", "join", "subscribeTopic", "joinTopic"])
        let subscribe = MachineDriver.decode(SubscribeRequest.self, asked[1])
        #expect(subscribe.since == .position(ChannelPosition(epoch: Epoch(start: 1000, incarnation: 1), offset: 7)))
        #expect(lost(driver.events()) == ["linkBroken 20 bob 4…?"])
        driver.feed(.json(.answer, MachineDriver.subscribed(id: subscribe.id, handle: 10, head: 9, missed: OffsetRange(from: 8, to: 9))))
        #expect(missed(driver.events()) == [.range(8...9)])
    }
}
