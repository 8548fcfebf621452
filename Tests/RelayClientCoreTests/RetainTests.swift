@testable import RelayClientCore
import RelayWire
import Testing

/// Messages that are kept for good: accepted, then stored, and sent again until that is told.
@Suite struct RetainTests {
    private func error(_ body: () throws -> Void) -> RelayError? {
        do {
            try body()
            return nil
        } catch {
            return error as? RelayError
        }
    }

    private func scene() throws -> MachineDriver {
        let driver = MachineDriver()
        driver.logIn()
        try driver.subscribe(head: 5)
        _ = driver.sent()
        return driver
    }

    @Test("[BL1, BL2] a record goes out with its key and the retain flag; the receipt's halves come with accepted and with stored")
    func halves() throws {
        let driver = try scene()
        let record = try driver.retain("text", key: "stroke-1")
        let frame = try #require(driver.published().first)
        #expect(frame.key == "stroke-1" && frame.flags == [.text, .key, .retain] && frame.text == "text")
        #expect(driver.outcome(record.accepted) == nil)
        driver.feed(MachineDriver.accepted(frame.number, offset: 6))
        #expect(driver.outcome(record.accepted) == "+6" && driver.outcome(record.stored) == nil)
        #expect(driver.machine.unstoredCount == 1 && driver.machine.unsent == (0, 0, 4))
        driver.feed(MachineDriver.stored(frame.number, offset: 6))
        #expect(driver.outcome(record.stored) == "+6")
        #expect(driver.machine.unstoredCount == 0 && driver.machine.unsent == (0, 0, 0))
    }

    @Test("[BL1] a removal is a record with an empty payload, and a call of its own: an empty payload is refused at once")
    func removal() throws {
        let driver = try scene()
        try driver.remove("stroke-1")
        let frame = try #require(driver.published().first)
        #expect(frame.key == "stroke-1" && frame.flags == [.key, .retain] && frame.payload.isEmpty)
        #expect(error { try driver.retain("") }?.code == .badRequest)
        #expect(error { try driver.large(.bytes([])) }?.code == .badRequest)
        #expect(error { try driver.retain("x", key: "a/b") }?.code == .badName)
        #expect(driver.published().isEmpty)
    }

    @Test("[BL2] what is told not durable fails with the relay's error, before and after accepted", arguments: [false, true])
    func notStored(isAccepted: Bool) throws {
        let driver = try scene()
        let record = try driver.retain("text")
        _ = driver.sent()
        if isAccepted { driver.feed(MachineDriver.accepted(1, offset: 6)) }
        driver.feed(MachineDriver.notStored(1))
        #expect(driver.outcome(record.accepted) == (isAccepted ? "+6" : "storageFailed"))
        #expect(driver.outcome(record.stored) == "storageFailed")
        driver.comeBack(resumed: false)
        #expect(driver.published().isEmpty, "it is gone, and its publisher knows")
    }

    @Test("[BL2] a refused record fails both halves")
    func refused() throws {
        let driver = try scene()
        let record = try driver.retain("text")
        _ = driver.sent()
        driver.feed(MachineDriver.refused(1, .boardFull))
        #expect(driver.outcome(record.accepted) == "boardFull" && driver.outcome(record.stored) == "boardFull")
    }

    @Test(
        "[BL2, MS9] after a break what is not told durable is sent again before everything else, in order, with its number; the first half is not told twice"
    )
    func sentAgain() throws {
        let driver = try scene()
        let accepted = try driver.retain("accepted", key: "a"), stored = try driver.retain("stored", key: "b")
        let message = try driver.send("message")
        let unanswered = try driver.retain("unanswered", key: "c")
        _ = driver.sent()
        driver.feed([MachineDriver.accepted(1, offset: 6), MachineDriver.accepted(2, offset: 7), MachineDriver.stored(2, offset: 7)])
        driver.cut()
        try driver.send("new")
        driver.pass(.seconds(1))
        driver.open()
        driver.logIn(resumed: true)
        #expect(driver.published().map { "\($0.number) \($0.text)" } == ["1 accepted", "3 message", "4 unanswered", "5 new"])
        driver.feed((1...5).filter { $0 != 2 }.map { MachineDriver.accepted($0, offset: 5 + $0) })
        driver.feed([MachineDriver.stored(1, offset: 6), MachineDriver.stored(4, offset: 9)])
        #expect(driver.outcome(accepted.stored) == "+6" && driver.outcome(unanswered.stored) == "+9")
        #expect(driver.outcome(stored.stored) == "+7" && driver.outcome(message) == "+8")
        driver.comeBack(resumed: true)
        #expect(driver.published().isEmpty)
    }

    @Test("[BL2, MS9] to a relay that was started anew records are sent again, and nothing else: of the rest the outcome is unknown")
    func newStart() throws {
        let driver = try scene()
        let kept = try driver.retain("kept", key: "a"), lost = try driver.retain("lost", key: "b")
        let message = try driver.send("message")
        _ = driver.sent()
        driver.feed(MachineDriver.accepted(1, offset: 6))
        driver.comeBack(resumed: false, start: 2000)
        #expect(driver.outcome(message) == "outcomeUnknown")
        #expect(driver.published().map { "\($0.number) \($0.text)" } == ["1 kept", "2 lost"])
        driver.feed([MachineDriver.accepted(1, offset: 6), MachineDriver.stored(1, offset: 6), MachineDriver.refused(2, .notAccepted)])
        #expect(driver.outcome(kept.accepted) == "+6" && driver.outcome(kept.stored) == "+6")
        #expect(driver.outcome(lost.accepted) == "notAccepted" && driver.outcome(lost.stored) == "notAccepted")
    }

    @Test(
        "[BL2, MS9] after more than 10 minutes a relay that has forgotten gets nothing again, also no records: another's newer one might be lost by it"
    )
    func tooLate() throws {
        let driver = try scene()
        let accepted = try driver.retain("accepted"), unanswered = try driver.retain("unanswered")
        _ = driver.sent()
        driver.feed(MachineDriver.accepted(1, offset: 6))
        driver.comeBack(resumed: false, forgotten: true, after: .seconds(601))
        #expect(driver.published().isEmpty)
        #expect(driver.outcome(accepted.stored) == "outcomeUnknown" && driver.outcome(accepted.accepted) == "+6")
        #expect(driver.outcome(unanswered.accepted) == "outcomeUnknown" && driver.outcome(unanswered.stored) == "outcomeUnknown")
    }

    @Test("[ER5] an error says whether asking again may help; a word that this client does not know promises nothing")
    func retry() throws {
        let words: [(word: String, retry: ErrorCode.Retry)] = [("now", .now), ("later", .later), ("soon", .never)]
        for (word, retry) in words {
            let driver = try scene()
            let record = try driver.retain("a", key: "a")
            _ = driver.sent()
            let body = #"{"code":299,"name":"new","number":1,"retry":"\#(word)","text":"no"}"#
            driver.feed(Frame(.error, body: Array(body.utf8)))
            let error = #expect(throws: RelayError.self) { try driver.completed[record.stored]?.get() }
            #expect(error?.code.rawValue == 299 && error?.retry == retry)
        }
        #expect(RelayError(.unsentFull, "full").retry == .later && RelayError(.tooLarge, "large").retry == .never)
        #expect(ErrorCode.shuttingDown.retry == .reconnect && ErrorCode.banned.retry == .never && ErrorCode.notAccepted.retry == .now)
    }

    @Test("[MS9] a relay that has not forgotten is asked again, however late: it knows")
    func late() throws {
        let driver = try scene()
        try driver.send("plain")
        _ = driver.sent()
        driver.comeBack(resumed: false, after: .seconds(601))
        #expect(driver.lastLogin?.lastNumber == 1 && driver.published().map { "\($0.number) \($0.text)" } == ["1 plain"])
    }

    @Test(
        "[BL2] stored may be told before the number is sent again, or before that is answered: both halves are there, and it is not sent any more"
    )
    func storedEarly() throws {
        let driver = try scene()
        let sentAgain = try driver.retain("sent again", key: "a")
        _ = driver.sent()
        driver.comeBack(resumed: true)
        #expect(driver.published().count == 1)
        driver.feed(MachineDriver.stored(1, offset: 6))
        #expect(driver.outcome(sentAgain.accepted) == "+6" && driver.outcome(sentAgain.stored) == "+6")
        driver.feed(MachineDriver.accepted(1, offset: 6))
        driver.comeBack(resumed: true)
        #expect(driver.published().isEmpty)

        // Two wait for the rate: of the second it is told before its turn.
        let slow = MachineDriver()
        slow.logIn()
        let first = try slow.retain("first", key: "a"), second = try slow.retain("second", key: "b")
        _ = slow.sent()
        slow.cut()
        slow.pass(.seconds(1))
        slow.open()
        slow.logIn(resumed: true) { $0.messagesPerSecond = 1 }
        // What was sent on the old link counts as answered with its end.
        slow.pass(.milliseconds(1_005))
        #expect(slow.published().map(\.number) == [1])
        slow.feed(MachineDriver.stored(2, offset: 7))
        #expect(slow.outcome(second.stored) == "+7" && slow.outcome(first.stored) == nil)
        slow.feed(MachineDriver.accepted(1, offset: 6))
        slow.pass(.seconds(3))
        #expect(slow.published().isEmpty && slow.machine.unsent.messages == 0)
    }

    @Test("[BL2] stored and notStored for numbers that are not known, or not of a record, say nothing")
    func unknownNumbers() throws {
        let driver = try scene()
        let message = try driver.send("message")
        _ = driver.sent()
        driver.feed([
            MachineDriver.stored(1, offset: 6), MachineDriver.notStored(1), MachineDriver.stored(77, offset: 6),
            MachineDriver.notStored(99),
        ])
        #expect(driver.outcome(message) == nil && driver.machine.linkState.isConnected)
        driver.feed(MachineDriver.accepted(1, offset: 6))
        #expect(driver.outcome(message) == "+6")
    }

    @Test("[BL2, MS9] numbers run at most 256 on from a record that is not told durable, so that the relay still knows it; the next waits")
    func window() throws {
        let driver = try scene()
        try driver.retain("old")
        for number in 2...300 { try driver.send("\(number)") }
        func answerAll() {
            for _ in 0..<8 {
                for frame in driver.published() { driver.feed(MachineDriver.accepted(frame.number, offset: frame.number + 5)) }
                driver.pass(.seconds(2))
            }
        }
        answerAll()
        #expect(driver.machine.lastNumber == 256 && driver.machine.unsent.messages == 44)
        driver.feed(MachineDriver.stored(1, offset: 6))
        answerAll()
        #expect(driver.machine.lastNumber == 300)
    }

    @Test("[BL2] what waits to be told durable counts in the bound on bytes")
    func bound() throws {
        let driver = MachineDriver { $0.unsentBytesMax = 10 }
        driver.logIn()
        try driver.retain("123456")
        _ = driver.sent()
        driver.feed(MachineDriver.accepted(1, offset: 1))
        let refused = error { try driver.send("12345") }
        #expect(refused?.code == .unsentFull && refused?.limit == 10 && refused?.actual == 11)
        driver.feed(MachineDriver.stored(1, offset: 1))
        #expect(error { try driver.send("12345") } == nil)
    }

    @Test("[BL2] close waits until all is told durable, and not for ever")
    func close() throws {
        for isTold in [true, false] {
            let driver = try scene()
            let record = try driver.retain("text")
            _ = driver.sent()
            driver.feed(MachineDriver.accepted(1, offset: 6))
            driver.machine.close(token: 9, at: driver.now)
            #expect(driver.sent(.logout).isEmpty)
            if isTold {
                driver.feed(MachineDriver.stored(1, offset: 6))
                #expect(driver.sent(.logout).count == 1)
            }
            driver.pass(.seconds(3))
            #expect(driver.machine.isClosed && driver.outcome(record.stored) == (isTold ? "+6" : "outcomeUnknown"))
        }
    }

    @Test("[HI7] an own message counts as seen, but for one that was accepted while the client catches up; with what comes that does, too")
    func ownWhileBehind() throws {
        let driver = try scene()
        driver.feed(MachineDriver.userNamed(2, "bob"))
        for text in ["a", "b", "c"] { try driver.send(text) }
        _ = driver.sent()
        driver.feed(MachineDriver.accepted(1, offset: 6))
        #expect(driver.position == 6)
        // 7 is a large drawing of bob's.
        driver.feed([MachineDriver.catchingUp(after: 6), MachineDriver.accepted(2, offset: 8)])
        #expect(driver.position == 6)
        // What the app asks anew goes on where it is.
        try driver.ask(.subscribe(try Name("lesson"), features: [.messages], quiet: false)) {
            MachineDriver.subscribed(id: $0, handle: 10, head: 8)
        }
        #expect(driver.position == 6)
        driver.feed([MachineDriver.record(7, "ab", part: (1, 2)), MachineDriver.record(7, "cd", part: (2, 2))])
        #expect(driver.position == 7)
        driver.feed([.json(.caughtUp, CaughtUp(channel: 10, head: 8)), MachineDriver.accepted(3, offset: 9)])
        #expect(driver.position == 9 && !driver.events().contains { if case .caughtUp = $0 { true } else { false } })
    }

    @Test("[SE9] a link that ends between the last of what was kept and caughtUp: the next one says that all has come")
    func onlyTheWordLost() throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.ask(.subscribe(try Name("lesson"), features: [.messages], quiet: false, since: .beginning)) {
            MachineDriver.subscribed(id: $0, handle: 10, head: 1, after: 0)
        }
        driver.feed([MachineDriver.userNamed(2, "bob"), MachineDriver.deliver(offset: 1, "one")])
        driver.cut()
        driver.pass(.seconds(1))
        driver.open()
        driver.logIn(resumed: true)
        #expect(driver.lastLogin?.resume?.seen == ["lesson": [1, 1000, 1, 1]])
        driver.feed(.json(.restored, MachineDriver.subscribed(id: nil, handle: 10, head: 1)))
        #expect(driver.events().contains { if case .caughtUp(channel: _, let head) = $0 { head == 1 } else { false } })
        driver.cut()
        driver.pass(.seconds(15))
        driver.open()
        driver.logIn(resumed: true)
        #expect(driver.lastLogin?.resume?.seen == ["lesson": [1, 1000, 1]])
    }
}
