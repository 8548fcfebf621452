@testable import RelayClientCore
import RelayWire
import Testing

/// Drawings in parts, as they come: one message or none.
@Suite struct LargeReceiveTests {
    private func live(_ change: (inout ServerLimits) -> Void = { _ in }) throws -> MachineDriver {
        let driver = MachineDriver()
        driver.logIn(change)
        try driver.subscribe(head: 5)
        driver.feed([MachineDriver.userNamed(2, "bob"), MachineDriver.userNamed(3, "cleo")])
        _ = driver.events()
        _ = driver.sent()
        return driver
    }

    private func messages(_ events: [ClientEvent]) -> [Message] {
        events.compactMap { if case .message(let message) = $0 { message } else { nil } }
    }

    /// A part of a drawing that is not retained.
    private func part(
        _ offset: UInt64, _ number: UInt16, of parts: UInt16 = 2, _ text: String, key: String = "k", publisher: UInt32 = 2,
        customType: String? = nil
    ) -> Frame {
        MachineDriver.record(offset, key: key, text, part: (number, parts), retain: false, publisher: publisher, customType: customType)
    }

    @Test("[BL8] parts of several publishers and keys, mixed with messages, make one message each, at the place of their last part")
    func mixed() throws {
        let driver = try live()
        driver.feed([
            part(6, 1, of: 3, "a"), part(7, 1, "A", publisher: 3), part(8, 1, "1", key: "l"), MachineDriver.deliver(offset: 9, "m"),
            part(10, 2, of: 3, "b"), part(11, 2, "B", publisher: 3), part(12, 3, of: 3, "c", customType: nil), part(13, 2, "2", key: "l"),
        ])
        let messages = messages(driver.events())
        #expect(
            messages.map { "\($0.offset) \($0.sender) \($0.payload)" } == [
                "9 bob text(\"m\")", "11 cleo text(\"AB\")", "12 bob text(\"abc\")", "13 bob text(\"12\")",
            ])
        #expect(messages.allSatisfy { $0.key == nil } && messages.allSatisfy { !$0.isRetained })
        #expect(driver.position == 13 && driver.machine.known.partials.isEmpty)
    }

    @Test("[BL8] a record has one offset, which counts as seen with its last part; a break before it begins from its first part")
    func record() throws {
        let driver = try live()
        driver.feed([MachineDriver.record(9, "ab", part: (1, 3)), MachineDriver.record(9, "cd", part: (2, 3))])
        #expect(driver.position == 8 && driver.events().isEmpty)
        driver.comeBack(resumed: true)
        #expect(driver.lastLogin?.resume?.seen == ["lesson": [8, 1000, 1]])
        driver.feed([.json(.restored, MachineDriver.subscribed(id: nil, handle: 10, head: 9, after: 8)), MachineDriver.userNamed(2, "bob")])
        for (number, text) in [(1, "ab"), (2, "cd"), (3, "e")] {
            driver.feed(MachineDriver.record(9, text, part: (UInt16(number), 3), customType: "image"))
        }
        driver.feed(MachineDriver.caughtUp(9))
        let events = driver.events()
        #expect(events.words == ["9r", "caughtUp 9"] && driver.position == 9)
        let message = try #require(messages(events).first)
        #expect(message.payload == .text("abcde") && message.isRetained && message.key == "k" && message.customType == "image")
    }

    @Test("[BL8] parts that are messages go on over a break: each counts as seen")
    func goesOn() throws {
        let driver = try live()
        driver.feed(part(6, 1, "a"))
        driver.comeBack(resumed: true)
        #expect(driver.lastLogin?.resume?.seen == ["lesson": [6, 1000, 1]])
        driver.feed([
            .json(.restored, MachineDriver.subscribed(id: nil, handle: 10, head: 7, after: 6)), MachineDriver.userNamed(2, "bob"),
            part(7, 2, "b"),
        ])
        #expect(messages(driver.events()).map(\.payload) == [.text("ab")])
    }

    @Test("[BL8] text is checked as a whole: letters may be cut by parts; what is no text comes as its bytes, and the link lives")
    func text() throws {
        let driver = try live()
        let letter = Array("é".utf8)
        driver.feed([
            MachineDriver.record(6, [letter[0]], part: (1, 2), retain: false),
            MachineDriver.record(7, [letter[1]], part: (2, 2), retain: false),
            MachineDriver.record(8, [letter[0]], part: (1, 2), retain: false),
            MachineDriver.record(9, [letter[0]], part: (2, 2), retain: false),
        ])
        #expect(messages(driver.events()).map(\.payload) == [.text("é"), .bytes([letter[0], letter[0]])])
        #expect(driver.machine.linkState.isConnected)
    }

    @Test("[BL8] while a board is read a drawing comes in its batch, in its place")
    func inBatch() throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.readBoard(head: 10)
        _ = driver.events()
        driver.feed([
            MachineDriver.record(1, "x"), MachineDriver.record(5, "a", part: (1, 2)), MachineDriver.record(5, "b", part: (2, 2)),
            MachineDriver.record(6, "y"),
            MachineDriver.caughtUp(10),
        ])
        #expect(driver.events().words == ["[1r 5r 6r]", "caughtUp 10"])
    }

    @Test("[BL8] part 1 begins anew: what came before it is dropped, and counted")
    func beginsAnew() throws {
        let driver = try live()
        driver.feed([part(6, 1, of: 3, "x"), part(7, 2, of: 3, "y"), part(8, 1, "a"), part(9, 2, "b")])
        #expect(messages(driver.events()).map(\.payload) == [.text("ab")])
    }

    @Test("[BL8] the end of a drawing that is not whole drops its parts, of that publisher and key, and tells it as missed")
    func ended() throws {
        let driver = try live()
        driver.feed([part(6, 1, "a"), part(7, 1, "A", publisher: 3), part(8, 1, "1", key: "l"), part(9, 0, "")])
        #expect(driver.events().words == ["missed 6…6"] && driver.position == 9 && driver.machine.drawingsDropped == 1)
        driver.feed([part(10, 2, "B", publisher: 3), part(11, 2, "2", key: "l"), part(12, 0, "", key: "nobody's")])
        #expect(messages(driver.events()).map(\.payload) == [.text("AB"), .text("12")])
        #expect(driver.position == 12 && driver.machine.known.partials.isEmpty)
    }

    @Test("[BL8, BL5] a relay that was started anew does not go on with parts that were messages: the drawing is told as missed")
    func startedAnew() throws {
        let driver = try live()
        driver.feed(part(6, 1, "a"))
        driver.comeBack(resumed: false)
        let id = MachineDriver.decode(RequestID.self, try #require(driver.sent(.subscribe).first)).id
        _ = driver.events()
        var answer = MachineDriver.subscribed(id: id, handle: 11, head: 9, start: 1_001, after: 6)
        answer.recovered = false
        driver.feed(.json(.answer, answer))
        #expect(driver.events().words == ["missed 6…6"] && driver.machine.known.partials.isEmpty)
    }

    @Test(
        "[BL8] parts that do not follow one another, or differ, make nothing, which is told; the drawing after them is made",
        arguments: [
            "gap", "twice", "parts", "customType", "noFirst",
        ])
    func broken(how: String) throws {
        let driver = try live()
        switch how {
        case "gap": driver.feed([part(6, 1, of: 3, "a"), part(7, 3, of: 3, "c")])
        case "twice": driver.feed([part(6, 1, of: 3, "a"), part(7, 2, of: 3, "b"), part(8, 2, of: 3, "b"), part(9, 3, of: 3, "c")])
        case "parts": driver.feed([part(6, 1, of: 3, "a"), part(7, 2, of: 2, "b")])
        case "customType": driver.feed([part(6, 1, "a"), part(7, 2, "b", customType: "t")])
        default: driver.feed(part(7, 2, "b"))
        }
        #expect(driver.events().words == [how == "twice" ? "missed 9…9" : "missed 7…7"])
        #expect(driver.machine.drawingsDropped > 0 && driver.machine.known.partials.isEmpty)
        driver.feed([part(16, 1, "a"), part(17, 2, "b")])
        #expect(messages(driver.events()).map(\.payload) == [.text("ab")])
    }

    @Test("[BL8] a record that does not come whole is told as missed", arguments: ["caughtUp", "next", "noFirst", "missing"])
    func recordMissing(how: String) throws {
        let driver = try live()
        let first = MachineDriver.record(6, "a", part: (1, 3))
        switch how {
        case "caughtUp": driver.feed([first, MachineDriver.caughtUp(6)])
        case "next": driver.feed([first, MachineDriver.record(7, key: "l", "x")])
        case "noFirst": driver.feed([MachineDriver.record(6, "b", part: (2, 3)), MachineDriver.record(6, "c", part: (3, 3))])
        default: driver.feed([first, MachineDriver.record(6, "c", part: (3, 3))])
        }
        #expect(driver.events().words == ["missed 6…6"] + (how == "next" ? ["7r"] : []))
        #expect(driver.position == (how == "next" ? 7 : 6) && driver.machine.known.partials.isEmpty)
    }

    @Test("[BL8] what is told as missed is not put together: a gap, a reset, a channel that was left")
    func given() throws {
        for how in 0..<3 {
            let driver = try live()
            driver.feed([part(6, 1, "a"), part(7, 1, "A", publisher: 3)])
            switch how {
            case 0: driver.feed(.json(.gap, Gap(channel: 10, from: 8, to: 20)))
            case 1: driver.feed(MachineDriver.reset(head: 0))
            default: try driver.ask(.unsubscribe(try Name("lesson"))) { EmptyAnswer(id: $0) }
            }
            #expect(driver.machine.known.partials.isEmpty && driver.machine.drawingsDropped == 2)
        }
    }

    @Test(
        "[BL8, FR7] parts that no relay may send end the link with relayFault",
        arguments: [
            MachineDriver.record(6, "a", part: (0, 2)), MachineDriver.record(6, "", part: (0, 2)),
            MachineDriver.record(6, "a", part: (3, 2)),
            MachineDriver.record(6, "a", part: (0, 2), retain: false), MachineDriver.record(6, "", part: (0, 1), retain: false),
            MachineDriver.record(6, "a", part: (1, 1)),
            MachineDriver.record(6, "a", part: (1, 0)), MachineDriver.record(6, "", part: (1, 2)),
            MachineDriver.record(6, key: nil, "a", part: (1, 2)),
            MachineDriver.record(6, key: nil, "a"), MachineDriver.record(6, key: "a/b", "a"),
            Frame(.deliver, flags: [.key, .part, .retain], body: Array(MachineDriver.record(6, "a", part: (1, 2)).body.prefix(28))),
            Frame(.stored, body: [1, 2, 3]), Frame(.notStored, body: Array("{}".utf8)), Frame(.cleared, body: Array("{}".utf8)),
            Frame(.reset, body: Array("{}".utf8)),
        ])
    func hostile(frame: Frame) throws {
        let driver = try live()
        driver.feed(frame)
        guard case .waiting(_, let reason)? = driver.events().links.last, reason.code == .relayFault else {
            Issue.record("\(driver.machine.linkState)")
            return
        }
    }

    @Test("[BL8] a drawing above the limit is dropped: at the limit it passes, one byte over it does not")
    func tooLarge() throws {
        let driver = try live { $0.largeMessageBytesMax = 5 }
        driver.feed([
            part(6, 1, "abc"), part(7, 2, "de"), part(8, 1, "abc"), part(9, 2, "def"), part(10, 1, "abc", customType: "t"),
            part(11, 2, "de", customType: "t"),
        ])
        #expect(messages(driver.events()).map(\.payload) == [.text("abcde")])
        #expect(driver.machine.drawingsDropped == 2)
    }

    @Test("[BL8] 10,000 half drawings are bounded by number and by bytes: the oldest are dropped, counted, and told as missed")
    func bounded() throws {
        let driver = try live { $0.largeMessageBytesMax = 1_000 }
        var told = 0
        for index in UInt64(0)..<10_000 {
            driver.feed(part(6 + index, 1, "x", key: "k\(index)"))
            told += driver.events().words.count { $0.hasPrefix("missed") }
        }
        let lesson = try Name("lesson")
        #expect(driver.machine.known.partials[lesson]?.drawings.count == 256)
        #expect(driver.machine.drawingsDropped == 10_000 - 256 && told == 10_000 - 256)
        for index in UInt64(0)..<10 {
            driver.feed(part(20_000 + index, 1, String(repeating: "y", count: 900), key: "y\(index)"))
            _ = driver.events()
        }
        #expect(driver.machine.known.partials[lesson]?.bytes == 3_600 && driver.machine.known.partials[lesson]?.drawings.count == 4)
        // The newest are whole nevertheless.
        driver.feed(part(30_000, 2, "z", key: "y9"))
        #expect(messages(driver.events()).count == 1)
    }
}
