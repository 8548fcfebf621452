@testable import RelayClientCore
import RelayPrimitives
import RelayWire
import Testing

/// Connecting, coming back, heartbeats, the end.
@Suite struct LinkTests {
    @Test("[SE2] the login says who, which instance and secret, in the words of the protocol; the first welcome completes the connection")
    func login() throws {
        let driver = MachineDriver { $0.presenceTimeout = .seconds(30) }
        driver.connect()
        let login = try #require(driver.sent(.login).first.map { MachineDriver.decode(LoginRequest.self, $0) })
        #expect(login.user?.text == "alice" && login.instance == "00000000000000aa")
        #expect(login.versions == [Limits.protocolVersion] && login.resume == nil)
        #expect(login.secret == String(repeating: "01", count: 16) && login.presenceTimeoutMs == 30_000)
        #expect(driver.completed[1] == nil)
        driver.logIn()
        #expect(try driver.completed[1]?.get() == .done)
        #expect(driver.events().links == [.connecting, .connected(resumed: false)] && driver.machine.linkState.isConnected)
    }

    @Test("a token that comes when its attempt is over is not used")
    func lateToken() {
        let driver = MachineDriver { $0.connectTimeout = .seconds(3) }
        driver.machine.connect(token: nil, at: driver.now)
        driver.carryOut()
        let first = driver.linksAsked[0]
        let isUsed = driver.machine.use(.token("early"), for: first)
        driver.pass(.seconds(3))
        let isUsedLate = driver.machine.use(.token("late"), for: first)
        #expect(isUsed && !isUsedLate && driver.machine.credential == .token("early"))
        driver.pass(.seconds(1))
        let isUsedNext = driver.machine.use(.token("next"), for: driver.linksAsked[1])
        #expect(driver.linksAsked.count == 2 && isUsedNext)
    }

    @Test(
        "a first connection that fails or takes too long is told, and tried again; a refusal ends the client; with waitsForConnectivity connect waits")
    func firstConnection() throws {
        let failed = MachineDriver()
        failed.connect()
        failed.cut("no route")
        #expect(throws: RelayError(.connectFailed, "no route")) { try failed.completed[1]?.get() }
        #expect(!failed.machine.isClosed && failed.machine.nextDeadline != nil)
        failed.pass(.seconds(1))
        failed.machine.connect(token: 2, at: failed.now)
        failed.open()
        failed.logIn()
        #expect(try failed.completed[2]?.get() == .done)
        failed.machine.connect(token: 3, at: failed.now)
        failed.carryOut()
        #expect(try failed.completed[3]?.get() == .done, "it is connected")

        let refused = MachineDriver()
        refused.connect()
        refused.feed(.json(.error, ErrorBody(WireError(.badRequest, "no"), id: 1)))
        #expect(throws: RelayError(.badRequest, "no")) { try refused.completed[1]?.get() }
        #expect(refused.machine.isClosed && refused.machine.nextDeadline == nil)

        let silent = MachineDriver { $0.connectTimeout = .seconds(3) }
        silent.connect()
        silent.pass(.milliseconds(2_999))
        #expect(silent.completed[1] == nil)
        silent.pass(.milliseconds(1))
        #expect(throws: RelayError.self) { try silent.completed[1]?.get() }

        let patient = MachineDriver { $0.waitsForConnectivity = true }
        patient.connect()
        patient.cut()
        #expect(patient.completed[1] == nil && !patient.machine.isClosed)
        patient.pass(.zero)
        patient.open()
        patient.logIn()
        #expect(try patient.completed[1]?.get() == .done)
    }

    @Test(
        "[ER3] after a 2xx the client comes back, at once and then after random pauses under a bound that doubles to 15 s; after a 3xx never"
    )
    func comesBack() {
        let driver = MachineDriver()
        driver.logIn()
        _ = driver.events()
        driver.feed(.json(.closing, CloseNotice(code: .shuttingDown, text: "")))
        var pauses: [Duration] = []
        for _ in 0..<12 {
            guard case .waiting(let pause, _)? = driver.events().links.last else { break }
            pauses.append(pause)
            driver.pass(pause)
            driver.cut()
        }
        #expect(pauses.count == 12 && pauses[0] == .zero)
        for (index, pause) in pauses.enumerated().dropFirst() {
            #expect(pause < min(.seconds(15), .milliseconds(500) * (1 << (index - 1))), "pause \(index)")
        }
        #expect(Set(pauses).count == 12, "they are random")
        #expect(pauses.max()! > .seconds(4))

        for code in [ErrorCode.replaced, .abuse, .protocolError, ErrorCode(rawValue: 399)] {
            let driver = MachineDriver()
            driver.logIn()
            driver.feed(.json(.closing, CloseNotice(code: code, text: "because")))
            #expect(driver.machine.isClosed && driver.events().links.last == .closed(reason: RelayError(code, "because")))
        }
    }

    @Test(
        "[SE17] of several addresses the next one is tried at once, until none is left; who says where the relay is, is believed once",
        arguments: [
            ("relay://b:1", 1, ["relay://b:1"]), ("relay://b:1", 3, ["relay://b:1", "relay://b:1"]), (nil, 1, []), (nil, 3, ["", ""]),
        ] as [(String?, Int, [String])])
    func elsewhere(address: String?, count: Int, tried: [String]) {
        let driver = MachineDriver { $0.addresses = count }
        driver.connect()
        var atOnce: [String] = []
        for _ in 0..<5 {
            let code: ErrorCode = address == nil ? .shuttingDown : .moved
            driver.feed(.json(.closing, CloseNotice(code: code, text: "", address: address)))
            guard case .waiting(let pause, _)? = driver.events().links.last, pause == .zero, driver.completed[1] == nil else { break }
            atOnce.append(driver.elsewhere.last!)
            driver.pass(.zero)
            driver.open()
        }
        #expect(atOnce == tried, "\(atOnce)")
        #expect(throws: RelayError.self) { try driver.completed[1]?.get() }
        #expect(driver.elsewhere.count == (address == nil && count == 1 ? 0 : tried.count + 1), "the next attempt begins elsewhere, too")
    }

    @Test("[SE17] a relay that says nothing any more is left for the next address; one that has let in and breaks is not")
    func silent() {
        let driver = MachineDriver { $0.addresses = 2 }
        driver.logIn()
        driver.cut()
        #expect(driver.elsewhere == [])
        driver.pass(.seconds(1))
        driver.open()
        // Nobody answers the login.
        driver.pass(.seconds(11))
        #expect(driver.elsewhere == [""])
        driver.open()
        driver.logIn()
        driver.pass(.seconds(11))
        #expect(driver.elsewhere == ["", ""], "two heartbeats without a word")
        driver.open()
        driver.logIn()
        driver.feed(.json(.closing, CloseNotice(code: .moved, text: "", address: "relay://b:1")))
        #expect(driver.elsewhere == ["", ""], "where it was let in it comes back")
    }

    @Test("a link that was good for 15 s starts the pauses anew; one that broke sooner does not")
    func goodLink() {
        for (seconds, isGood) in [(14, false), (15, true)] {
            let driver = MachineDriver()
            driver.logIn()
            for _ in 0..<3 {
                driver.cut()
                guard case .waiting(let pause, _)? = driver.events().links.last else { continue }
                driver.pass(pause)
                driver.open()
                driver.logIn()
            }
            #expect(driver.machine.linkState.isConnected)
            _ = driver.events()
            for _ in 0..<seconds {
                driver.pass(.seconds(1))
                driver.feed(Frame(.ping))
            }
            driver.cut()
            guard case .waiting(let pause, _)? = driver.events().links.last else { continue }
            #expect((pause == .zero) == isGood, "\(seconds) s")
        }
    }

    @Test("[HB2, HB3] silence for one interval is asked about, for two ends the link; every byte counts as a sign of life")
    func heartbeat() {
        let driver = MachineDriver()
        driver.logIn()
        _ = driver.sent()
        driver.pass(.milliseconds(1))
        driver.feed(Frame(.pong))
        driver.pass(.milliseconds(4_999))
        #expect(driver.sent(.ping).isEmpty)
        driver.pass(.milliseconds(1))
        #expect(driver.sent(.ping).count == 1)
        driver.pass(.milliseconds(1))
        driver.feed([0])
        driver.pass(.milliseconds(9_999))
        #expect(driver.machine.linkState.isConnected)
        driver.pass(.milliseconds(1))
        let silent = RelayError(.heartbeatTimeout, "the relay has fallen silent")
        #expect(driver.events().links.contains(.waiting(after: .zero, reason: silent)))
    }

    @Test("[HB4] a host that slept asks once and waits 2 s for the answer before it judges the relay, without being woken meanwhile")
    func slept() {
        for answers in [true, false] {
            let driver = MachineDriver()
            driver.logIn()
            driver.pass(.seconds(5))
            _ = driver.sent()
            driver.sleep(.seconds(600))
            #expect(driver.machine.linkState.isConnected && driver.sent(.ping).count == 1)
            #expect(driver.machine.nextDeadline == driver.now + .seconds(2))
            if answers { driver.feed(Frame(.pong)) }
            driver.pass(.seconds(2))
            #expect(driver.machine.linkState.isConnected == answers)
        }
    }

    @Test("wakeUp: one that waits tries at once, a live link is probed for 2 s, a closed client stays closed")
    func wakeUp() {
        let driver = MachineDriver()
        driver.logIn()
        _ = driver.sent()
        driver.machine.wakeUp(at: driver.now)
        #expect(driver.sent(.ping).count == 1)
        driver.pass(.milliseconds(1_999))
        #expect(driver.machine.linkState.isConnected)
        driver.pass(.milliseconds(1))
        #expect(!driver.machine.linkState.isConnected)
        driver.pass(.zero)
        driver.cut()
        guard case .waiting(let pause, _)? = driver.events().links.last, pause > .zero else {
            Issue.record("not waiting")
            return
        }
        driver.machine.wakeUp(at: driver.now)
        #expect(driver.machine.linkState == .connecting)
        driver.machine.finish()
        driver.machine.wakeUp(at: driver.now)
        #expect(driver.machine.isClosed)
    }

    @Test(
        "[HB1] the relay's ping is answered with its bytes; the round trip is measured at the login and every four intervals, traffic or not"
    )
    func roundTrip() {
        let driver = MachineDriver()
        driver.logIn()
        let first = driver.sent(.ping)
        #expect(first.count == 1 && driver.machine.roundTrip == nil)
        driver.pass(.milliseconds(30))
        driver.feed(Frame(.pong, body: first[0].body))
        #expect(driver.machine.roundTrip == .milliseconds(30))
        driver.feed(Frame(.ping, body: [1, 2, 3]))
        #expect(driver.sent(.pong).map(\.body) == [[1, 2, 3]])
        var pings = 0
        for _ in 0..<40 {
            driver.pass(.seconds(1))
            driver.feed(Frame(.ping))
            pings += driver.sent(.ping).count
        }
        #expect(pings == 2)
    }

    @Test("close sends what waits, logs out and ends; it takes at most 2 s and half a second for the answer")
    func close() throws {
        let driver = MachineDriver()
        driver.logIn()
        _ = driver.sent()
        let message = try driver.send("last")
        driver.machine.close(token: 9, at: driver.now)
        #expect(driver.sentNames() == ["publish"], "not before it is answered")
        #expect(throws: RelayError.self) { try driver.send("too late") }
        driver.feed(MachineDriver.accepted(1, offset: 1))
        #expect(driver.sentNames() == ["logout"])
        #expect(try driver.completed[message]?.get() == .offset(1))
        driver.feed(.json(.closing, CloseNotice(code: .loggedOut, text: "")))
        #expect(try driver.completed[9]?.get() == .done)
        #expect(driver.events().links.last == .closed(reason: .clientClosed))

        let stuck = MachineDriver()
        stuck.logIn()
        let lost = try stuck.send("never answered")
        stuck.machine.close(token: 9, at: stuck.now)
        stuck.pass(.milliseconds(1_999))
        #expect(stuck.completed[9] == nil)
        _ = stuck.sent()
        stuck.pass(.milliseconds(1))
        #expect(stuck.sentNames() == ["logout"])
        stuck.pass(.milliseconds(500))
        #expect(try stuck.completed[9]?.get() == .done)
        #expect(throws: RelayError.self) { try stuck.completed[lost]?.get() }
        #expect(stuck.machine.isClosed)
    }

    @Test("[SE12] a close gives up the packets that wait after 2 s, tells them, and logs out all the same; without a link at once")
    func closeDrops() throws {
        for isLive in [true, false] {
            let driver = MachineDriver()
            driver.logIn()
            try driver.joinTopic()
            _ = driver.sent()
            for _ in 0..<1_000 { try driver.packet("p") }
            let sentAtOnce = driver.sent(.publishPacket).count
            if !isLive { driver.cut() }
            driver.machine.close(token: 9, at: driver.now)
            var names: [String] = []
            // As long as a link takes what is sent.
            for _ in 0..<200 where isLive {
                driver.pass(.milliseconds(10))
                names += driver.sentNames()
            }
            #expect(isLive ? names.last == "logout" : names.isEmpty)
            let sent = sentAtOnce + names.count { $0 == "publishPacket" }
            let dropped = driver.events().compactMap { event in
                if case .packetsDropped(let packets) = event { "\(packets.reason) \(packets.dropped)" } else { nil }
            }
            #expect(sent < 1_000 && dropped == ["closed \(1_000 - sent)"])
            if isLive { driver.feed(.json(.closing, CloseNotice(code: .loggedOut, text: ""))) }
            #expect(try driver.completed[9]?.get() == .done)
        }
    }

    private func publishes(_ driver: MachineDriver) -> [(number: UInt64, text: String)] {
        driver.sent(.publish).map { frame in
            frame.body.withUnsafeBytes { body in
                let publish = try! PublishFrame(flags: frame.flags, body: body)
                return (publish.number, String(decoding: publish.payload, as: UTF8.self))
            }
        }
    }

    @Test(
        "[SE11, MS9] messages that were not answered are sent again with their numbers, before what waits; a change may have happened or not",
        arguments: [false, true])
    func inFlight(resumed: Bool) throws {
        let driver = MachineDriver()
        driver.logIn()
        let first = try driver.send("one"), second = try driver.send("two"), change = try driver.ask(.clear(try Name("lesson")))
        _ = driver.sent()
        driver.feed(MachineDriver.accepted(1, offset: 4))
        driver.cut()
        let error = #expect(throws: RelayError.self) { try driver.completed[change]?.get() }
        #expect(error?.code == .outcomeUnknown && error?.outcome == .unknown)
        #expect(try driver.completed[first]?.get() == .offset(4))
        let third = try driver.send("three")
        #expect(driver.machine.unsent.messages == 2 && driver.completed[second] == nil)
        driver.pass(.zero)
        driver.open()
        driver.logIn(resumed: resumed)
        let again = publishes(driver)
        #expect(again.map(\.number) == [2, 3] && again.map(\.text) == ["two", "three"])
        driver.feed(MachineDriver.accepted(2, offset: 5))
        driver.feed(MachineDriver.accepted(3, offset: 6))
        #expect(try driver.completed[second]?.get() == .offset(5) && driver.completed[third]?.get() == .offset(6))
        #expect(driver.machine.unsent == (0, 0, 0))
    }

    @Test(
        "[MS9] a relay that was started anew, or has forgotten the client, is not asked again: the outcome is unknown",
        arguments: [false, true])
    func outcomeUnknown(isLate: Bool) throws {
        let driver = MachineDriver()
        driver.logIn()
        let sent = try driver.send("in flight")
        _ = driver.sent()
        driver.cut()
        let later = try driver.send("later")
        if isLate { driver.sleep(.seconds(601)) } else { driver.pass(.zero) }
        driver.open()
        driver.logIn(start: isLate ? 1000 : 1001, forgotten: isLate)
        #expect(driver.lastLogin?.lastNumber == 1)
        let error = #expect(throws: RelayError.self) { try driver.completed[sent]?.get() }
        #expect(error?.code == .outcomeUnknown)
        #expect(publishes(driver).map(\.text) == ["later"] && driver.completed[later] == nil)
    }

    @Test("[MS9] what waits to be sent again when the link breaks once more is given up as well when the relay is another one")
    func outcomeUnknownLater() throws {
        let driver = MachineDriver()
        driver.logIn { $0.messagesPerSecond = 1 }
        let sent = try driver.send("in flight")
        _ = driver.sent()
        driver.cut()
        driver.pass(.zero)
        driver.open()
        driver.logIn(resumed: true, publishAfterMs: 1_000) { $0.messagesPerSecond = 1 }
        #expect(publishes(driver).isEmpty)
        driver.cut()
        driver.pass(.seconds(1))
        driver.open()
        driver.logIn(start: 1001)
        let error = #expect(throws: RelayError.self) { try driver.completed[sent]?.get() }
        #expect(error?.code == .outcomeUnknown)
        driver.pass(.seconds(2))
        #expect(publishes(driver).isEmpty)
    }

    @Test("[MS9, RT8] what is sent again waits for its credit as if it were new: the relay may not have seen it")
    func againAtTheRate() throws {
        let driver = MachineDriver()
        driver.logIn { $0.messagesPerSecond = 10 }
        for number in 1...10 { try driver.send("\(number)") }
        _ = driver.sent()
        driver.cut()
        driver.pass(.zero)
        driver.open()
        driver.logIn(resumed: true, publishAfterMs: 700) { $0.messagesPerSecond = 10 }
        driver.pass(.milliseconds(707))
        #expect(publishes(driver).isEmpty, "what was unanswered may have been accepted just now")
        driver.pass(.milliseconds(1))
        #expect(publishes(driver).map(\.number) == Array(1...10))
    }
}
