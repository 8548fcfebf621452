import RelayPrimitives
import RelayRights
import RelayWire
import Testing

@testable import RelayClientCore

/// Calls whose caller stops waiting, and what is ended over links that end.
@Suite struct CallTests {
    private static let lesson = try! Name("lesson"), bob = try! Name("bob")
    private static let channel = ChannelID(kind: .message, channel: lesson)
    private static let points = TopicID(channel: lesson, topic: try! Name("points"))
    private static let pen = LockID(channel: channel, name: try! Name("pen"))
    private static let cancelled = RelayError(.cancelled, "cancelled"), timeout = Duration.seconds(3)

    /// One of each that an app can make.
    static let requests: [ClientRequest] = [
        .subscribe(lesson, features: [.messages], quiet: false), .unsubscribe(lesson),
        .join(lesson, features: [.presence], quiet: false, token: nil), .leave(lesson),
        .joinTopic(points, TopicOptions(qos: .ordered, priority: .normal, meta: "", lifetimeMilliseconds: nil)), .leaveTopic(points),
        .subscribeTopic(points, users: nil), .unsubscribeTopic(points, users: nil), .subscribedUsers(points),
        .who(channel, after: nil, limit: nil), .whereIs(bob), .setStates(channel, ["a": "b"]), .removeStates(channel, nil),
        .getStates(channel, bob), .history(lesson, from: nil, backwards: false, limit: nil), .barrier(lesson),
        .writeMetadata(
            .channel(channel),
            MetadataWrite(items: [], mustExist: false, majorRevision: nil, lock: nil, recordsUser: false, recordsTime: false)),
        .removeMetadata(.channel(channel), nil, majorRevision: nil, lock: nil), .getMetadata(.channel(channel), after: nil),
        .subscribeUserMetadata(bob), .unsubscribeUserMetadata(bob), .setLock(pen, ttlMilliseconds: 1_000),
        .acquireLock(pen, waitMilliseconds: nil), .acquireLock(pen, waitMilliseconds: 2_000), .releaseLock(pen),
        .revokeLock(pen, owner: bob, device: nil), .removeLock(pen), .getLocks(channel), .clear(lesson), .undoClear(lesson),
        .boards(after: nil), .removeBoard(lesson), .renew(.key("key")), .offerDevice(secret: nil), .offerJoinCode(lesson),
        .withdrawJoinCode, .setReaderLimits(ReaderLimits()),
        .setRole(bob, nil), .setMode(lesson, .frozen, true), .endSession(bob, reason: nil),
        .ban(bob, forMilliseconds: nil), .unban(bob), .bans(after: nil), .forget(bob, withRecords: false),
        .removeRecords(of: bob, from: lesson), .endChannel(lesson, reason: nil), .status(after: nil, limit: nil, user: nil),
    ]

    private func error(_ driver: MachineDriver, _ token: ClientToken) -> RelayError? {
        if case .failure(let error)? = driver.completed[token] { error } else { nil }
    }

    private func ask(_ driver: MachineDriver, _ request: ClientRequest) throws -> ClientToken {
        let token = try driver.ask(request)
        driver.machine.endCall(token, after: Self.timeout + request.waitAtRelay, at: driver.now)
        return token
    }

    private func withdraw(_ driver: MachineDriver, _ token: ClientToken) {
        driver.machine.withdraw(token, Self.cancelled)
        driver.carryOut()
    }

    /// The names of what the relay gets, without those of what a link begins with.
    private func names(_ driver: MachineDriver) -> [String] { driver.sentNames().filter { $0 != "login" } }

    @Test(
        "a call that waits for a link ends with its caller or its time: nothing has happened, and nothing is sent but what ends something",
        arguments: requests, [true, false])
    func waitsHere(request: ClientRequest, isCancelled: Bool) throws {
        let driver = MachineDriver()
        driver.machine.connect(token: 1, at: driver.now)
        let token = try ask(driver, request)
        if isCancelled {
            withdraw(driver, token)
        } else {
            driver.pass(Self.timeout + request.waitAtRelay - .nanoseconds(1))
            #expect(driver.completed[token] == nil)
            driver.pass(.nanoseconds(1))
        }
        let found = try #require(error(driver, token))
        #expect(found.code == (isCancelled ? .cancelled : .timedOut))
        #expect(found.outcome == (request.isHandedOver ? .unknown : .nothingHappened))
        driver.open()
        driver.logIn()
        #expect(names(driver).count == (request.isHandedOver ? 1 : 0))
    }

    @Test(
        "a call that was sent ends with its caller or its time: its outcome is unknown, and its answer is heard by nobody",
        arguments: requests, [true, false])
    func sent(request: ClientRequest, isCancelled: Bool) throws {
        let driver = MachineDriver()
        driver.logIn()
        let token = try ask(driver, request), id = try #require(driver.machine.requests.first { $0.value.token == token }).key
        _ = driver.sent()
        if isCancelled { withdraw(driver, token) } else { driver.pass(Self.timeout + request.waitAtRelay) }
        let found = try #require(error(driver, token))
        #expect(found.code == (isCancelled ? .cancelled : .timedOut) && found.outcome == .unknown)
        #expect(names(driver) == (request.waits ? ["cancel"] : []))
        withdraw(driver, token)
        driver.feed(.json(.error, ErrorBody(WireError(.notPermitted, "no"), id: id)))
        #expect(driver.events().filter { if case .refused = $0 { true } else { false } }.isEmpty)
    }

    @Test("what nobody waits for any more is not asked again after a break, but for what ends something", arguments: requests)
    func notAskedAgain(request: ClientRequest) throws {
        let driver = MachineDriver()
        driver.logIn()
        let token = try ask(driver, request)
        _ = driver.sent()
        withdraw(driver, token)
        driver.comeBack(resumed: false)
        #expect(names(driver).filter { $0 != "cancel" }.count == (request.isEnding ? 1 : 0))
    }

    @Test("a call that is answered in time has no end of its own any more")
    func answered() throws {
        let driver = MachineDriver()
        driver.logIn()
        let before = driver.machine.nextDeadline
        let token = try ask(driver, .clear(Self.lesson))
        #expect(driver.machine.nextDeadline! < before!)
        driver.feed(.json(.answer, ClearAnswer(id: MachineDriver.decode(RequestID.self, driver.sent().last!).id, offset: 1, records: 2)))
        #expect(error(driver, token) == nil && driver.completed[token] != nil)
        #expect(driver.machine.nextDeadline! >= before!)
    }

    @Test("an answer that cannot be read ends the link, and its call is told")
    func unreadable() throws {
        let driver = MachineDriver()
        driver.logIn()
        let token = try ask(driver, .clear(Self.lesson))
        driver.feed(.json(.answer, EmptyRequest(id: MachineDriver.decode(RequestID.self, driver.sent().last!).id)))
        #expect(error(driver, token)?.code == .outcomeUnknown)
    }

    // MARK: - Locks

    private func grant(_ driver: MachineDriver, _ id: UInt32) { driver.feed(.json(.answer, FencingAnswer(id: id, fencing: 7))) }

    private func acquire(_ driver: MachineDriver) throws -> (token: ClientToken, id: UInt32) {
        let token = try driver.ask(.acquireLock(Self.pen, waitMilliseconds: 1_000))
        return (token, MachineDriver.decode(RequestID.self, try #require(driver.sent(.acquireLock).last)).id)
    }

    @Test("a lock that came when nobody waited for it any more goes back")
    func crossed() throws {
        let driver = MachineDriver()
        driver.logIn()
        let (token, id) = try acquire(driver)
        withdraw(driver, token)
        _ = driver.sent()
        grant(driver, id)
        let release = MachineDriver.decode(LockRequest.self, try #require(driver.sent(.releaseLock).first))
        #expect(release.lock == Self.pen.name)
        // It was somebody else's by then: nobody is told.
        driver.feed(.json(.error, ErrorBody(WireError(.lockNotHeld, "not held"), id: release.id)))
        #expect(driver.events().filter { if case .refused = $0 { true } else { false } }.isEmpty)
    }

    @Test("another call that waits for the lock gets it, and when that ends, too, it goes back")
    func wantedByAnother() throws {
        let driver = MachineDriver()
        driver.logIn()
        let (first, id) = try acquire(driver), (second, other) = try acquire(driver)
        withdraw(driver, first)
        _ = driver.sent()
        grant(driver, id)
        #expect(names(driver) == [])
        withdraw(driver, second)
        #expect(names(driver) == ["cancel", "releaseLock"])
        driver.feed(.json(.error, ErrorBody(WireError(.cancelled, "withdrawn"), id: other)))
        #expect(names(driver) == [])
    }

    @Test("one whose last waiter went with the link goes back over the next link", arguments: [true, false])
    func orphanedOverBreak(resumed: Bool) throws {
        let driver = MachineDriver()
        driver.logIn()
        let (first, id) = try acquire(driver), (second, _) = try acquire(driver)
        withdraw(driver, first)
        grant(driver, id)
        driver.cut()
        #expect(error(driver, second)?.code == .outcomeUnknown)
        withdraw(driver, try driver.ask(.acquireLock(Self.pen, waitMilliseconds: 1_000)))
        #expect(driver.machine.gather().isEmpty, "nothing is written without a link")
        driver.pass(.seconds(1))
        driver.open()
        driver.logIn(resumed: resumed)
        #expect(names(driver) == ["releaseLock"])
    }

    @Test("one that this client has already stays, until it is released or lost", arguments: [true, false])
    func held(isReleased: Bool) throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.subscribe()
        let (_, had) = try acquire(driver)
        grant(driver, had)
        let (token, id) = try acquire(driver)
        withdraw(driver, token)
        _ = driver.sent()
        grant(driver, id)
        #expect(names(driver) == [])
        if isReleased {
            try driver.ask(.releaseLock(Self.pen))
            driver.feed(.json(.answer, EmptyRequest(id: MachineDriver.decode(RequestID.self, try #require(driver.sent().last)).id)))
        } else {
            driver.feed(
                .json(
                    .locks,
                    LocksEvent(
                        channel: 10, event: .revoked, locks: [LockDetail(lock: Self.pen.name.text)], user: try Name("alice"))))
        }
        let (again, late) = try acquire(driver)
        withdraw(driver, again)
        _ = driver.sent()
        grant(driver, late)
        #expect(names(driver) == ["releaseLock"])
    }

    // MARK: - What is ended over a break

    private func restored() -> Frame {
        .json(.restored, MachineDriver.subscribed(id: nil, handle: 7, head: 3, after: 0))
    }

    private func completedWell(_ driver: MachineDriver, _ token: ClientToken) -> Bool {
        if case .success? = driver.completed[token] { true } else { false }
    }

    @Test("[SE11] leaving is asked again when the session goes on, whether the relay has heard it or not", arguments: [true, false])
    func leaves(wasHeard: Bool) throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.subscribe()
        let token = try driver.ask(.unsubscribe(Self.lesson))
        _ = driver.sent()
        driver.comeBack(resumed: true)
        let probe = try #require(driver.sent(.ping).last)
        if !wasHeard { driver.feed(restored()) }
        driver.feed(Frame(.pong, body: probe.body))
        let id = MachineDriver.decode(RequestID.self, try #require(driver.sent(.unsubscribe).first)).id
        driver.feed(wasHeard ? .json(.error, ErrorBody(WireError(.notSubscribed, "no"), id: id)) : .json(.answer, EmptyRequest(id: id)))
        #expect(completedWell(driver, token) && driver.machine.subscribedChannels == [])
        driver.comeBack(resumed: false)
        #expect(names(driver) == [])
    }

    @Test("[SE11] what was left is not entered in a new session: nobody sees the client come")
    func notEntered() throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.subscribe()
        try driver.joinTopic()
        let tokens = try [
            driver.ask(.unsubscribe(Self.lesson)), driver.ask(.leaveTopic(Self.points)),
            driver.ask(.unsubscribeTopic(Self.points, users: nil)), driver.ask(.unsubscribeUserMetadata(Self.bob)),
            driver.ask(.leave(Self.lesson)),
        ]
        _ = driver.sent()
        driver.comeBack(resumed: false)
        let asked = driver.sent().filter { $0.type != FrameType.ping.rawValue }
        #expect(
            asked.compactMap { FrameType(rawValue: $0.type)?.name }
                == ["unsubscribe", "leaveTopic", "unsubscribeTopic", "unsubscribeUserMetadata", "leave"])
        for frame in asked {
            driver.feed(.json(.error, ErrorBody(WireError(.notSubscribed, "no"), id: MachineDriver.decode(RequestID.self, frame).id)))
        }
        #expect(tokens.allSatisfy { completedWell(driver, $0) })
    }

    @Test("[SE11] who left and came in again is in it again, from where it said", arguments: [true, false])
    func cameAgain(resumed: Bool) throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.subscribe()
        let left = try driver.ask(.unsubscribe(Self.lesson))
        let entered = try driver.ask(.subscribe(Self.lesson, features: [.messages], quiet: false, since: .beginning))
        _ = driver.sent()
        driver.comeBack(resumed: resumed)
        var frames = driver.sent()
        if resumed {
            driver.feed(restored())
            driver.feed(Frame(.pong, body: try #require(frames.last { $0.type == FrameType.ping.rawValue }).body))
            frames = driver.sent()
        }
        frames.removeAll { $0.type == FrameType.ping.rawValue }
        #expect(frames.compactMap { FrameType(rawValue: $0.type)?.name } == ["unsubscribe", "subscribe"])
        let again = MachineDriver.decode(SubscribeRequest.self, frames[1])
        #expect(again.since == .beginning)
        let id = MachineDriver.decode(RequestID.self, frames[0]).id
        driver.feed(resumed ? .json(.answer, EmptyRequest(id: id)) : .json(.error, ErrorBody(WireError(.notSubscribed, "no"), id: id)))
        driver.feed(.json(.answer, MachineDriver.subscribed(id: again.id, handle: 8, head: 3, after: 0)))
        #expect(completedWell(driver, left) && completedWell(driver, entered) && driver.machine.subscribedChannels == [Self.channel])
    }
}
