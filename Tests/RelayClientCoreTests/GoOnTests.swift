@testable import RelayClientCore
import RelayWire
import Testing

/// What a client does behind a publish that the relay has refused: the order of the calls holds.
@Suite struct GoOnTests {
    private let driver = MachineDriver()

    /// What was published and asked, in order: `5:text`, `goOn lesson 2`.
    private func sent() -> [String] {
        driver.sent().compactMap { frame in
            switch FrameType(rawValue: frame.type) {
            case .publish?:
                let published = MachineDriver.Published(frame)
                return "\(published.number):\(published.text)" + (published.parts > 1 ? " \(published.part)/\(published.parts)" : "")
            case .goOn?:
                let request = MachineDriver.decode(GoOnRequest.self, frame)
                return "goOn \(request.channel) \(request.number)"
            default: return nil
            }
        }
    }

    private func answerGoOn() {
        for (id, pending) in driver.machine.requests {
            if case .goOn = pending.request { driver.feed(.json(.answer, EmptyAnswer(id: id))) }
        }
    }

    @Test("[MS10] what was refused behind a refusal is sent again in its order, under new numbers; the app hears of the first alone")
    func order() throws {
        driver.logIn()
        let calls = try ["1", "2", "3", "4"].map { try driver.send($0) }
        try driver.send("other", to: "other")
        #expect(sent() == ["1:1", "2:2", "3:3", "4:4", "5:other"])
        driver.feed(MachineDriver.accepted(1, offset: 1))
        driver.feed(MachineDriver.refused(2, .tooLarge))
        let late = try driver.send("late")
        driver.feed(MachineDriver.refused(3, .behindRefused))
        #expect(sent() == [], "4 is not answered yet")
        driver.feed(MachineDriver.refused(4, .behindRefused))
        #expect(sent() == ["goOn lesson 2", "6:3", "7:4", "8:late"])
        driver.feed([5, 6, 7, 8].map { MachineDriver.accepted($0, offset: $0) })
        #expect(calls.map { driver.outcome($0) } == ["+1", "tooLarge", "+6", "+7"] && driver.outcome(late) == "+8")
        answerGoOn()
        #expect(driver.machine.goingOn.isEmpty && driver.machine.stopped.isEmpty)
    }

    @Test("[MS10] a refusal with nothing behind it goes on at once; one for its rate, or of a number of before, stops nothing")
    func alone() throws {
        driver.logIn()
        try driver.send("1")
        _ = sent()
        driver.feed(MachineDriver.refused(1, .tooLarge))
        #expect(sent() == ["goOn lesson 1"])
        for (number, code) in [(2, .rateLimited), (3, .notAccepted), (4, .outcomeUnknown)] as [(UInt64, ErrorCode)] {
            try driver.send("x")
            driver.feed(MachineDriver.refused(number, code))
        }
        #expect(sent() == ["2:x", "3:x", "4:x"])
    }

    @Test("[MS10, SE3] a relay that does not choose it is not asked to go on")
    func older() throws {
        driver.connect()
        driver.feed(
            .json(
                .welcome,
                Welcome(
                    id: 1, relay: String(repeating: "0", count: 32), user: try Name("alice"), handle: 1,
                    resumeToken: String(repeating: "f", count: 32), resumed: false, lastEnd: nil, start: 1, heartbeatMs: 5_000,
                    presenceTimeoutMs: 10_000, access: AccessBody(role: "moderator"), limits: ServerLimits())))
        try driver.send("1")
        driver.feed(MachineDriver.refused(1, .tooLarge))
        try driver.send("2")
        #expect(sent() == ["1:1", "2:2"])
    }

    @Test("[MS10, MS9] when the link breaks meanwhile, what was behind was not accepted: it follows on the next one, behind goOn")
    func breaks() throws {
        driver.logIn()
        for text in ["1", "2", "3", "4"] { try driver.send(text) }
        try driver.send("other", to: "other")
        _ = sent()
        driver.feed([MachineDriver.refused(2, .tooLarge), MachineDriver.refused(3, .behindRefused)])
        driver.comeBack(resumed: true)
        #expect(sent() == ["goOn lesson 2", "1:1", "5:other", "6:3", "7:4"])
    }

    @Test(
        "[MS10] a goOn that was not answered is sent again with each login; a new session of the relay is told, too",
        arguments: [true, false])
    func unanswered(resumed: Bool) throws {
        driver.logIn()
        try driver.send("1")
        _ = sent()
        driver.feed(MachineDriver.refused(1, .tooLarge))
        driver.comeBack(resumed: resumed)
        #expect(sent() == ["goOn lesson 1"])
        answerGoOn()
        driver.comeBack(resumed: resumed)
        #expect(sent() == [])
    }

    @Test("[MS10, MS9] a refusal that was lost with its link: what is sent again with its number is refused, and follows under a new one")
    func lostRefusal() throws {
        driver.logIn()
        for text in ["1", "2", "3"] { try driver.send(text) }
        try driver.send("4", to: "other")
        _ = sent()
        driver.comeBack(resumed: true)
        #expect(sent() == ["1:1", "2:2", "3:3", "4:4"])
        driver.feed([MachineDriver.refused(1, .tooLarge), MachineDriver.refused(2, .behindRefused)])
        driver.feed([MachineDriver.refused(3, .behindRefused), MachineDriver.accepted(4, offset: 1)])
        #expect(sent() == ["goOn lesson 1", "5:2", "6:3"])
    }

    @Test("[MS10, BL8] of a drawing the parts that were refused leave again, from the first of them")
    func parts() throws {
        driver.logIn {
            $0.messageBytesMax = 4
            $0.largeMessageBytesMax = 40
        }
        try driver.send("no")
        let drawing = try driver.large(.text("123456789"))
        #expect(sent() == ["1:no", "2:1234 1/3", "3:5678 2/3", "4:9 3/3"])
        driver.feed(MachineDriver.refused(1, .notPermitted))
        driver.feed((2...4).map { MachineDriver.refused($0, .behindRefused) })
        #expect(sent() == ["goOn lesson 1", "5:1234 1/3", "6:5678 2/3", "7:9 3/3"])
        driver.feed((5...7).map { MachineDriver.accepted($0, offset: $0 == 7 ? 3 : 0) })
        #expect(driver.outcome(drawing.accepted) == "+3")
    }

    @Test("[MS10, BL2] a record that is sent again stays before the drawing of the same key that was sent behind it")
    func keyOrder() throws {
        driver.logIn {
            $0.messageBytesMax = 4
            $0.largeMessageBytesMax = 40
        }
        try driver.send("no")
        try driver.retain("old", key: "k")
        try driver.large(.text("123456"), key: "k")
        _ = sent()
        driver.feed(MachineDriver.refused(1, .notPermitted))
        driver.feed((2...4).map { MachineDriver.refused($0, .behindRefused) })
        #expect(sent() == ["goOn lesson 1", "5:old", "6:1234 1/2", "7:56 2/2"])
    }

    @Test("[MS10] at the end what was sent behind a refusal is known not to have been accepted")
    func ends() throws {
        driver.logIn()
        let calls = try ["1", "2"].map { try driver.send($0) }
        driver.feed(MachineDriver.refused(1, .tooLarge))
        driver.machine.finish()
        driver.carryOut()
        #expect(calls.map { driver.outcome($0) } == ["tooLarge", "clientClosed"])
    }
}
