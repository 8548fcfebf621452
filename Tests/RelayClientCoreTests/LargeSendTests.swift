@testable import RelayClientCore
import RelayWire
import Testing

/// Drawings above the size of one message, on their way to the relay.
@Suite struct LargeSendTests {
    private func error(_ body: () throws -> Void) -> RelayError? {
        do {
            try body()
            return nil
        } catch {
            return error as? RelayError
        }
    }

    /// Messages of 4 bytes, drawings of 40.
    private static func small(_ limits: inout ServerLimits) {
        limits.messageBytesMax = 4
        limits.largeMessageBytesMax = 40
    }

    private func scene(_ change: (inout ServerLimits) -> Void = small) -> MachineDriver {
        let driver = MachineDriver()
        driver.logIn(change)
        _ = driver.sent()
        return driver
    }

    private func words(_ published: [MachineDriver.Published]) -> [String] {
        published.map { "\($0.number):\($0.part)/\($0.parts) \($0.text)" }
    }

    private func comeBack(_ driver: MachineDriver, resumed: Bool, start: UInt32 = 1000) {
        driver.cut()
        driver.pass(.seconds(1))
        driver.open()
        driver.logIn(resumed: resumed, start: start, Self.small)
    }

    @Test(
        "[BL8] a drawing is cut at byte positions; each part has key, custom type and flags, and with its custom type the size of a message at most"
    )
    func parts() throws {
        let driver = scene()
        let drawing = try driver.large(.text("aé345678"), key: "big", customType: "t")
        let sent = driver.published()
        #expect(sent.map { "\($0.number):\($0.part)/\($0.parts)" } == ["1:1/3", "2:2/3", "3:3/3"])
        #expect(sent.map(\.payload.count) == [3, 3, 3] && sent.flatMap(\.payload) == Array("aé345678".utf8))
        #expect(sent.allSatisfy { $0.flags == [.text, .customType, .key, .part, .retain] && $0.key == "big" && $0.customType == "t" })
        driver.feed([MachineDriver.accepted(1, offset: 0), MachineDriver.accepted(2, offset: 0)])
        #expect(driver.outcome(drawing.accepted) == nil)
        driver.feed(MachineDriver.accepted(3, offset: 7))
        #expect(driver.outcome(drawing.accepted) == "+7" && driver.outcome(drawing.stored) == nil)
        driver.feed(MachineDriver.stored(3, offset: 7))
        #expect(driver.outcome(drawing.stored) == "+7" && driver.machine.drawings.isEmpty)
    }

    @Test("[BL8] a drawing that is not retained is stored when it is accepted; without a key it gets one of its own, not the same twice")
    func unretained() throws {
        let driver = scene()
        let one = try driver.large(.text("123456"), key: nil, retain: false),
            other = try driver.large(.text("123456"), key: nil, retain: false)
        let sent = driver.published()
        #expect(sent.map(\.flags).allSatisfy { $0 == [.text, .key, .part] } && Set(sent.map(\.key)).count == 2)
        #expect(sent.allSatisfy { (try? Name($0.key!)) != nil })
        driver.feed((1...4).map { MachineDriver.accepted($0, offset: $0) })
        #expect(driver.outcome(one.accepted) == "+2" && driver.outcome(one.stored) == "+2" && driver.outcome(other.stored) == "+4")
        #expect(error { try driver.large(.text("123456"), key: nil, retain: true) }?.code == .badName)
    }

    @Test(
        "[BL8, MS2, MS7] what one message holds is one message, with a key only if it is retained; sizes at their limits pass, one over is refused with limit and size, and nothing is queued"
    )
    func sizes() throws {
        let driver = scene()
        let whole = try driver.large(.text("1234"), retain: false)
        let sent = driver.published()
        #expect(sent.map(\.flags) == [[.text]])
        driver.feed(MachineDriver.accepted(1, offset: 1))
        #expect(driver.outcome(whole.stored) == "+1")
        try driver.large(.text(String(repeating: "x", count: 40)))
        #expect(driver.published().count == 10)
        let over = error { try driver.large(.text(String(repeating: "x", count: 40)), customType: "t") }
        #expect(over?.code == .tooLarge && over?.limit == 40 && over?.actual == 41)
        let parts = scene {
            $0.messageBytesMax = 1
            $0.largeMessageBytesMax = 100_000
        }
        #expect(error { try parts.large(.bytes([UInt8](repeating: 1, count: 65_535))) } == nil)
        #expect(error { try parts.large(.bytes([UInt8](repeating: 1, count: 65_536))) }?.code == .tooLarge)
    }

    @Test("[BL8] 4 drawings are under way at most; when the receipt of one is complete there is room for another")
    func four() throws {
        let driver = scene()
        for index in 0..<4 { try driver.large(.text("123456"), key: "k\(index)") }
        let refused = error { try driver.large(.text("123456"), key: "k4") }
        #expect(refused?.code == .limitReached && refused?.limit == 4 && refused?.actual == 5)
        #expect(driver.machine.unsent.messages == 4 && driver.machine.unsent.bytes == 24)
        driver.feed([MachineDriver.accepted(1, offset: 0), MachineDriver.accepted(2, offset: 1), MachineDriver.stored(2, offset: 1)])
        try driver.large(.text("123456"), key: "k4")
        #expect(driver.machine.drawings.count == 4)
    }

    @Test(
        "[BL8] what is sent meanwhile goes before the parts that wait for the rate, and always finds a quarter of it; what has the same key waits"
    )
    func beside() throws {
        let driver = scene {
            Self.small(&$0)
            $0.messagesPerSecond = 4
        }
        try driver.large(.text(String(repeating: "x", count: 40)))
        #expect(driver.published().map(\.part) == [1, 2, 3])
        try driver.send("now")
        #expect(driver.published().map(\.text) == ["now"])
        let later = try driver.retain("new", key: "big")
        try driver.send("too")
        for number in 1...4 as ClosedRange<UInt64> { driver.feed(MachineDriver.accepted(number, offset: 0)) }
        var order: [String] = []
        for _ in 0..<40 {
            driver.pass(.milliseconds(300))
            for frame in driver.published() {
                order.append(frame.parts > 1 ? "\(frame.part)" : frame.text)
                driver.feed(MachineDriver.accepted(frame.number, offset: frame.part == frame.parts ? 9 : 0))
            }
        }
        #expect(order == (4...10).map { "\($0)" } + ["new", "too"] && driver.outcome(later.accepted) == "+9")
    }

    @Test(
        "[BL8] partMissing: it begins anew with new numbers, once for all that is refused together; after 5 times the error is the outcome")
    func partMissing() throws {
        let driver = scene()
        let drawing = try driver.large(.text("1234567890"))
        for round in 0..<5 {
            let numbers = driver.published().map(\.number)
            try #require(numbers == (1...3).map { UInt64(round * 3 + $0) })
            #expect(driver.outcome(drawing.accepted) == nil)
            driver.feed([
                MachineDriver.accepted(numbers[0], offset: 0), MachineDriver.refused(numbers[1], .partMissing),
                MachineDriver.refused(numbers[2], .partMissing),
            ])
        }
        #expect(driver.published().isEmpty)
        #expect(
            driver.outcome(drawing.accepted) == "partMissing" && driver.outcome(drawing.stored) == "partMissing"
                && driver.machine.drawings.isEmpty)
    }

    @Test("[BL7, BL8] any other refusal of a part ends the drawing, and no more of its parts leave")
    func refused() throws {
        let driver = scene {
            Self.small(&$0)
            $0.unansweredMax = 2
        }
        let drawing = try driver.large(.text("1234567890123"))
        #expect(driver.published().map(\.part) == [1, 2])
        driver.feed(MachineDriver.refused(1, .quotaReached))
        #expect(driver.outcome(drawing.accepted) == "quotaReached" && driver.outcome(drawing.stored) == "quotaReached")
        driver.feed(MachineDriver.refused(2, .partMissing))
        driver.pass(.seconds(5))
        #expect(driver.published().isEmpty)
    }

    @Test(
        "[BL8, MS9] a break in the middle: parts that were not answered are sent again with their numbers, then the rest",
        arguments: [true, false])
    func brokenOff(retain: Bool) throws {
        let driver = scene {
            Self.small(&$0)
            $0.unansweredMax = 2
        }
        let drawing = try driver.large(.text("1234567890123"), retain: retain)
        _ = driver.sent()
        driver.feed(MachineDriver.accepted(1, offset: retain ? 0 : 1))
        #expect(words(driver.published()) == ["3:3/4 9012"])
        comeBack(driver, resumed: true)
        #expect(words(driver.published()) == ["2:2/4 5678", "3:3/4 9012", "4:4/4 3"])
        driver.feed((2...4).map { MachineDriver.accepted($0, offset: $0) })
        #expect(driver.outcome(drawing.accepted) == "+4" && driver.outcome(drawing.stored) == (retain ? nil : "+4"))
    }

    @Test(
        "[BL8, MS9] a relay started anew: before the last part was sent the drawing begins anew, retained or not", arguments: [true, false])
    func newStart(retain: Bool) throws {
        let driver = scene {
            Self.small(&$0)
            $0.unansweredMax = 2
        }
        let drawing = try driver.large(.text("1234567890123"), retain: retain)
        _ = driver.sent()
        comeBack(driver, resumed: false, start: 2000)
        #expect(words(driver.published()) == ["3:1/4 1234", "4:2/4 5678", "5:3/4 9012", "6:4/4 3"])
        driver.feed((3...6).map { MachineDriver.accepted($0, offset: $0) })
        #expect(driver.outcome(drawing.accepted) == "+6")
    }

    @Test("[BL8] a relay started anew: a drawing whose parts so far were all accepted begins anew, too", arguments: [true, false])
    func newStartBetweenParts(retain: Bool) throws {
        let driver = scene {
            Self.small(&$0)
            $0.messagesPerSecond = 4
        }
        let drawing = try driver.large(.text("1234567890123"), retain: retain)
        #expect(driver.published().map(\.part) == [1, 2, 3])
        driver.feed((1...3).map { MachineDriver.accepted($0, offset: retain ? 0 : $0, credit: 1) })
        comeBack(driver, resumed: false, start: 2000)
        driver.pass(.seconds(2))
        #expect(words(driver.published()) == ["4:1/4 1234", "5:2/4 5678", "6:3/4 9012", "7:4/4 3"])
        driver.feed((4...7).map { MachineDriver.accepted($0, offset: $0) })
        #expect(driver.outcome(drawing.accepted) == "+7")
    }

    @Test(
        "[BL2, BL8] a relay started anew: with the last part sent only that is asked again; unretained the outcome is unknown",
        arguments: [true, false])
    func newStartAtTheEnd(retain: Bool) throws {
        let driver = scene()
        let drawing = try driver.large(.text("123456"), retain: retain)
        _ = driver.sent()
        comeBack(driver, resumed: false, start: 2000)
        guard retain else {
            #expect(driver.published().isEmpty && driver.outcome(drawing.accepted) == "outcomeUnknown")
            return
        }
        #expect(words(driver.published()) == ["2:2/2 56"])
        // It was durable; had it not been, the part before would be missing.
        driver.feed(MachineDriver.accepted(2, offset: 5))
        #expect(driver.outcome(drawing.accepted) == "+5")
        comeBack(driver, resumed: false, start: 3000)
        #expect(words(driver.published()) == ["2:2/2 56"])
        driver.feed(MachineDriver.refused(2, .partMissing))
        #expect(words(driver.published()) == ["3:1/2 1234", "4:2/2 56"])
        driver.feed([MachineDriver.accepted(3, offset: 0), MachineDriver.accepted(4, offset: 9), MachineDriver.stored(4, offset: 9)])
        #expect(driver.outcome(drawing.accepted) == "+5" && driver.outcome(drawing.stored) == "+9")
    }

    @Test("[BL8] a drawing that was lost with the relay does not take the place of what has its key since")
    func superseded() throws {
        let driver = scene()
        let drawing = try driver.large(.text("123456"))
        _ = driver.sent()
        driver.feed([MachineDriver.accepted(1, offset: 0), MachineDriver.accepted(2, offset: 5)])
        let newer = try driver.retain("new", key: "big")
        _ = driver.sent()
        driver.feed(MachineDriver.accepted(3, offset: 6))
        comeBack(driver, resumed: false, start: 2000)
        #expect(driver.published().map(\.number) == [2, 3])
        driver.feed([MachineDriver.refused(2, .partMissing), MachineDriver.accepted(3, offset: 4), MachineDriver.stored(3, offset: 4)])
        #expect(driver.published().isEmpty)
        #expect(driver.outcome(drawing.stored) == "partMissing" && driver.outcome(newer.stored) == "+4")
    }

    @Test("[BL8] the end of the client completes every receipt once: unsent drawings as closed, sent ones as unknown")
    func closed() throws {
        let driver = scene()
        let sent = try driver.large(.text("123456"), key: "a")
        _ = driver.sent()
        driver.cut()
        let unsent = try driver.large(.text("123456"), key: "b")
        driver.machine.finish()
        driver.carryOut()
        #expect(driver.outcome(sent.accepted) == "outcomeUnknown" && driver.outcome(sent.stored) == "outcomeUnknown")
        #expect(driver.outcome(unsent.accepted) == "clientClosed" && driver.outcome(unsent.stored) == "clientClosed")
        #expect(driver.machine.unsent == (0, 0, 0) && driver.machine.unstoredCount == 0)
    }
}
