import RelayPrimitives
@testable import RelayClientCore
import RelayWire
import Testing

/// What a client asks again after a break, and what it tells an app that does not read.
extension ResumeTests {
    // MARK: - Asked again

    @Test("[DL11] what it takes of packets is told with each login, and changed by a request that is asked again")
    func readerLimits() throws {
        let driver = MachineDriver { $0.readerLimits.packetsPerSecond = 20 }
        driver.logIn()
        #expect(driver.lastLogin?.readerLimits == ReaderLimits(packetsPerSecond: 20))
        let token = driver.token()
        #expect {
            try driver.machine.setReaderLimits(ReaderLimits(packetsPerSecond: 0), token: token, at: driver.now)
        } throws: {
            ($0 as? RelayError)?.code == .badRequest
        }
        try driver.machine.setReaderLimits(ReaderLimits(bytesPerSecond: 4_096), token: token, at: driver.now)
        let request = MachineDriver.decode(SetReaderLimitsRequest.self, try #require(driver.sent(.setReaderLimits).first))
        #expect(request.limits == ReaderLimits(bytesPerSecond: 4_096))
        comeBack(driver, resumed: true)
        #expect(driver.lastLogin?.readerLimits == ReaderLimits(bytesPerSecond: 4_096) && driver.completed[token] == nil)
        for ping in driver.sent(.ping) { driver.feed(Frame(.pong, body: ping.body)) }
        let again = MachineDriver.decode(SetReaderLimitsRequest.self, try #require(driver.sent(.setReaderLimits).first))
        driver.feed(.json(.answer, EmptyAnswer(id: again.id)))
        #expect(driver.completed[token] == .success(.done))
    }

    @Test("what was asked again and not answered when the link broke once more is asked a third time, resumed or not")
    func askedAgain() throws {
        for resumed in [true, false] {
            let driver = try scene()
            comeBack(driver, resumed: false)
            _ = driver.sent()
            driver.cut()
            driver.pass(.seconds(15))
            driver.open()
            driver.logIn(resumed: resumed)
            // A resumption may still name what that request has achieved.
            let first = driver.sent()
            for ping in first where ping.type == FrameType.ping.rawValue { driver.feed(Frame(.pong, body: ping.body)) }
            let names = (first + driver.sent()).compactMap { FrameType(rawValue: $0.type)?.name }.filter { $0 != "ping" }
            #expect(names == ["subscribe", "join", "subscribeTopic"], "resumed: \(resumed)")
        }
    }

    @Test(
        "[SE9] packets from before a selection that was asked again are not lost, whether its answer was, or the request itself",
        arguments: [false, true])
    func selectedAgain(wasHeard: Bool) throws {
        let driver = try scene()
        comeBack(driver, resumed: false)
        driver.cut()
        driver.pass(.seconds(15))
        _ = driver.events()
        driver.open()
        driver.logIn(resumed: true)
        let first = driver.sent()
        if wasHeard {
            driver.feed(.json(.restored, MachineDriver.joined(id: nil, handle: 11)))
            driver.feed(MachineDriver.flowOpened(30, next: 30))
        }
        for frame in first where frame.type == FrameType.ping.rawValue { driver.feed(Frame(.pong, body: frame.body)) }
        let sent = driver.sent()
        func answer(_ type: FrameType, _ body: (UInt32) -> any JSONObject) throws {
            let frame = try #require(sent.first { $0.type == type.rawValue })
            driver.feed(.json(.answer, body(MachineDriver.decode(RequestID.self, frame).id)))
        }
        #expect(sent.contains { $0.type == FrameType.join.rawValue } == !wasHeard)
        if !wasHeard { try answer(.join) { MachineDriver.joined(id: $0, handle: 11) } }
        try answer(.subscribeTopic) { TopicUsersAnswer(id: $0, all: true) }
        if !wasHeard { driver.feed(MachineDriver.flowOpened(30, next: 30)) }
        #expect(lost(driver.events()) == [])
        driver.feed(MachineDriver.packet(flow: 30, 30))
        #expect(driver.events().contains { if case .packet = $0 { true } else { false } })
    }

    @Test(
        "[SE9] after an end of a selection that was not answered, packets before the next selection are not told lost",
        arguments: [false, true])
    func selectionMayHaveEnded(byLeaving: Bool) throws {
        let driver = try scene()
        let lesson = try Name("lesson"), topic = TopicID(channel: lesson, topic: try Name("points"))
        if byLeaving {
            try driver.ask(.leave(lesson))
            try driver.ask(.join(lesson, features: [.presence], quiet: false, token: nil))
        } else {
            try driver.ask(.unsubscribeTopic(topic, users: nil))
        }
        try driver.ask(.subscribeTopic(topic, users: nil))
        _ = driver.sent()
        comeBack(driver, resumed: true)
        _ = driver.events()
        driver.feed(.json(.restored, MachineDriver.joined(id: nil, handle: 11)))
        driver.feed(MachineDriver.flowOpened(30, next: 30))
        #expect(lost(driver.events()) == [])
    }

    @Test("[SE9] a channel that a resumption names is not subscribed again: that request was heard")
    func heardOnce() throws {
        let driver = try scene()
        comeBack(driver, resumed: false)
        driver.cut()
        driver.pass(.seconds(15))
        driver.open()
        driver.logIn(resumed: true)
        driver.feed(restored(9, after: 7))
        let first = driver.sent()
        for frame in first where frame.type == FrameType.ping.rawValue { driver.feed(Frame(.pong, body: frame.body)) }
        #expect(
            (first + driver.sent()).compactMap { FrameType(rawValue: $0.type)?.name }.filter { $0 != "ping" } == ["join", "subscribeTopic"])
    }

    @Test("[SE9, HI2] when the answer to a subscription of a new session was lost, the next login says where the app is in the channel")
    func answerLost() throws {
        let driver = try scene()
        comeBack(driver, resumed: false)
        #expect(driver.sent(.subscribe).count == 1)
        comeBack(driver, resumed: true)
        #expect(driver.lastLogin?.resume?.seen == ["lesson": [7, 1000, 1]])
        // The relay heard the subscription.
        driver.feed(restored(20, after: 7))
        let first = driver.sent()
        for frame in first where frame.type == FrameType.ping.rawValue { driver.feed(Frame(.pong, body: frame.body)) }
        #expect(!(first + driver.sent()).contains { $0.type == FrameType.subscribe.rawValue })
        driver.feed(MachineDriver.userNamed(2, "bob"))
        for offset in UInt64(8)...21 { driver.feed(MachineDriver.deliver(offset: offset, "kept")) }
        driver.feed(.json(.caughtUp, CaughtUp(channel: 10, head: 21)))
        let events = driver.events()
        #expect(offsets(events) == Array(8...21) && missed(events).isEmpty)
    }

    @Test("[SE11] a subscription that the app waits for is asked again; where it was to begin, the login says", arguments: [false, true])
    func waitsForSubscription(wasHeard: Bool) throws {
        let driver = MachineDriver(), lesson = try Name("lesson")
        driver.logIn()
        let token = try driver.ask(.subscribe(lesson, features: [.messages], quiet: false, since: .beginning))
        _ = driver.sent()
        comeBack(driver, resumed: true)
        #expect(driver.completed[token] == nil && driver.lastLogin?.resume?.seen == ["lesson": []])
        if wasHeard {
            driver.feed(restored(3, after: 0))
            driver.feed(MachineDriver.userNamed(2, "bob"))
            driver.feed(MachineDriver.deliver(offset: 1, "kept"))
        }
        // Once more, before the relay has restored all: now it goes on where it is.
        comeBack(driver, resumed: true)
        #expect(driver.lastLogin?.resume?.seen == ["lesson": wasHeard ? [1, 1000, 1, 1] : []])
        let first = driver.sent()
        if wasHeard { driver.feed(restored(3, after: 1)) }
        for ping in first where ping.type == FrameType.ping.rawValue { driver.feed(Frame(.pong, body: ping.body)) }
        let again = try #require(driver.sent(.subscribe).first)
        let request = MachineDriver.decode(SubscribeRequest.self, again)
        #expect(request.since == (wasHeard ? nil : .beginning))
        driver.feed(.json(.answer, MachineDriver.subscribed(id: request.id, handle: 10, head: 3, after: wasHeard ? nil : 0)))
        #expect(try driver.completed[token]?.get() == .done)
        driver.feed(MachineDriver.userNamed(2, "bob"))
        for offset in UInt64(wasHeard ? 2 : 1)...3 { driver.feed(MachineDriver.deliver(offset: offset, "kept")) }
        driver.feed(.json(.caughtUp, CaughtUp(channel: 10, head: 3)))
        #expect(offsets(driver.events()) == [1, 2, 3])
    }

    @Test("[SE11] in a new session, too; a question is asked again as well, and what changes something is not")
    func waitsInNewSession() throws {
        let driver = MachineDriver(), lesson = try Name("lesson")
        driver.logIn()
        let tokens = try [
            driver.ask(.subscribe(lesson, features: [.messages], quiet: false, since: .beginning)),
            driver.ask(.whereIs(try Name("bob"))), driver.ask(.clear(lesson)),
        ]
        _ = driver.sent()
        comeBack(driver, resumed: false)
        #expect(throws: RelayError.self) { try driver.completed[tokens[2]]?.get() }
        let names = driver.sent().compactMap { FrameType(rawValue: $0.type)?.name }.filter { $0 != "ping" }
        #expect(names == ["subscribe", "where"] && driver.completed[tokens[0]] == nil && driver.completed[tokens[1]] == nil)
        // What still waits when the client ends has an outcome that nobody knows.
        driver.machine.close(token: 99, at: driver.now)
        driver.cut()
        #expect(throws: RelayError.self) { try driver.completed[tokens[0]]?.get() }
        #expect(throws: RelayError.self) { try driver.completed[tokens[1]]?.get() }
    }

    @Test("[SE14] what waits at the relay is withdrawn there, what waits here is not sent; a barrier is asked again, a cancel not")
    func withdrawn() throws {
        let driver = MachineDriver(), lesson = try Name("lesson"), cancelled = RelayError(.cancelled, "withdrawn")
        driver.logIn()
        let pen = LockID(channel: ChannelID(kind: .message, channel: lesson), name: try Name("pen"))
        func error(_ token: ClientToken) -> RelayError? { if case .failure(let error)? = driver.completed[token] { error } else { nil } }
        let (lock, other) = (try driver.ask(.acquireLock(pen, waitMilliseconds: 1_000)), try driver.ask(.barrier(nil)))
        let asked = MachineDriver.decode(RequestID.self, try #require(driver.sent(.acquireLock).first)).id
        driver.machine.withdraw(lock, cancelled)
        driver.carryOut()
        let cancel = MachineDriver.decode(CancelRequest.self, try #require(driver.sent(.cancel).first))
        #expect(cancel.request == asked && error(lock)?.outcome == .unknown)
        driver.feed(.json(.error, ErrorBody(WireError(.cancelled, "withdrawn"), id: asked)))
        // Refused, it is nobody's: the wait goes on.
        driver.feed(.json(.error, ErrorBody(WireError(.rateLimited, "too many"), id: cancel.id)))
        #expect(driver.events().filter { if case .refused = $0 { true } else { false } }.isEmpty)
        // The request and its cancel go with the link; a barrier is asked again, unless it is withdrawn before that.
        let second = try driver.ask(.acquireLock(pen, waitMilliseconds: 1_000)), barrier = try driver.ask(.barrier(lesson))
        driver.machine.withdraw(second, cancelled)
        _ = driver.sent()
        driver.cut()
        driver.machine.withdraw(barrier, cancelled)
        let queued = try driver.ask(.barrier(lesson))
        driver.machine.withdraw(queued, cancelled)
        driver.carryOut()
        #expect(error(barrier)?.outcome == .unknown && error(queued)?.outcome == .nothingHappened)
        driver.comeBack(resumed: false)
        #expect(driver.sent().filter { $0.type != FrameType.ping.rawValue }.map(\.type) == [FrameType.barrier.rawValue])
        #expect(driver.completed[other] == nil)
        // What was answered is not there to be withdrawn.
        driver.machine.withdraw(lock, cancelled)
        #expect(driver.sent(.cancel).isEmpty)
    }

    @Test("[SE11] who follows an opening is told what became of it, and not what its caller was told who did not wait for that")
    func followed() throws {
        let driver = MachineDriver(), lesson = try Name("lesson")
        driver.logIn()
        let token = try driver.ask(.subscribe(lesson, features: [.messages], quiet: false))
        driver.machine.follow(token)
        let id = MachineDriver.decode(RequestID.self, try #require(driver.sent(.subscribe).first)).id
        driver.machine.withdraw(token, RelayError(.cancelled, "withdrawn"))
        driver.carryOut()
        #expect(throws: RelayError.self) { try driver.completed[token]?.get() }
        driver.feed(.json(.answer, MachineDriver.subscribed(id: id, handle: 10, head: 0)))
        var outcomes: [Bool] = []
        while let told = driver.machine.nextTold() {
            if case .completed(token, let result, isCatchingUp: _) = told { outcomes.append((try? result.get()) != nil) }
        }
        #expect(outcomes == [true])
    }

    @Test("[SE2] an opening whose caller stops waiting while a login is under way is asked again: the login has named its place")
    func withdrawnBehindALogin() throws {
        for isUnderWay in [true, false] {
            let driver = MachineDriver(), lesson = try Name("lesson")
            driver.logIn()
            let token = try driver.ask(.subscribe(lesson, features: [.messages], quiet: false))
            _ = driver.sent()
            driver.cut()
            let withdraws = {
                driver.machine.withdraw(token, RelayError(.cancelled, "withdrawn"))
                driver.carryOut()
            }
            if !isUnderWay { withdraws() }
            driver.pass(.seconds(1))
            driver.open()
            if isUnderWay { withdraws() }
            driver.logIn(resumed: true)
            for ping in driver.sent(.ping) { driver.feed(Frame(.pong, body: ping.body)) }
            #expect(driver.sentNames().contains("subscribe") == isUnderWay)
        }
    }

    @Test("what is refused when it is asked again is told and not wanted any more")
    func refusedAgain() throws {
        let driver = try scene()
        comeBack(driver, resumed: false)
        let join = try #require(driver.sent(.join).first)
        driver.feed(.json(.error, ErrorBody(WireError(.channelFull, "full"), id: MachineDriver.decode(RequestID.self, join).id)))
        guard case .refused(let refusal)? = driver.events().last else {
            Issue.record("not told")
            return
        }
        #expect(refusal.subject == .channel && refusal.place?.kind == .stream && refusal.error.code == .channelFull)
        #expect(driver.machine.subscribedChannels.map(\.kind) == [.message])
    }

    @Test("[SE11, SE9] a subscription whose answer was lost is as the relay says at the next resumption, either way")
    func unsure() throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.ask(.subscribe(try Name("lesson"), features: [.messages], quiet: false))
        _ = driver.sent()
        comeBack(driver, resumed: true)
        driver.feed(restored(3))
        restoredAll(driver)
        #expect(driver.machine.subscribedChannels.map(\.description) == ["message:lesson"])
        try driver.ask(.unsubscribe(try Name("lesson")))
        _ = driver.sent()
        comeBack(driver, resumed: true)
        restoredAll(driver)
        #expect(driver.machine.subscribedChannels.isEmpty)
    }

    @Test("while its app holds the relay back, a client does not take silence for the relay's, and is heard itself")
    func heldBack() {
        let driver = MachineDriver()
        driver.logIn()
        driver.machine.isHeldBack = true
        _ = driver.sent()
        var pings = 0
        for _ in 0..<12 {
            driver.pass(.seconds(5))
            pings += driver.sent(.ping).count
        }
        #expect(driver.machine.linkState.isConnected && pings == 12)
        driver.machine.isHeldBack = false
        driver.pass(.seconds(11))
        #expect(!driver.machine.linkState.isConnected, "from here on it is the relay's")
    }

    @Test("[DM2] a direct message is acknowledged when the app says so, on the link it came by and on no other")
    func directs() throws {
        func direct(_ delivery: UInt64) -> Frame {
            var body: [UInt8] = []
            body.append(bigEndian: delivery)
            body.append(bigEndian: UInt64(0))
            body.append(short: "bob")
            return Frame(.directDeliver, body: body)
        }
        let driver = MachineDriver()
        driver.logIn()
        _ = driver.sent()
        driver.feed(direct(5))
        func deliveries() -> [DirectMessage.Delivery] {
            driver.events().compactMap { if case .direct(let message) = $0 { message.delivery } else { nil } }
        }
        let first = deliveries()
        #expect(driver.sentNames() == [] && first.count == 1, "reading alone says nothing")
        for delivery in first { driver.machine.acknowledge(delivery) }
        #expect(driver.sent(.directReceived).map { $0.body.last } == [5])
        driver.feed(direct(6))
        comeBack(driver, resumed: true)
        let second = deliveries()
        for delivery in second { driver.machine.acknowledge(delivery) }
        #expect(second.count == 1 && driver.sent(.directReceived).isEmpty)
    }
}
