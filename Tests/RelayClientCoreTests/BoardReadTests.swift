import RelayPrimitives
@testable import RelayClientCore
import RelayWire
import Testing

/// How records come to an app: in batches while a board is read, as messages otherwise.
@Suite struct BoardReadTests {
    private func live() throws -> MachineDriver {
        let driver = MachineDriver()
        driver.logIn()
        try driver.subscribe(head: 5)
        driver.feed(MachineDriver.userNamed(2, "bob"))
        _ = driver.events()
        _ = driver.sent()
        return driver
    }

    private func reading(head: UInt64 = 100) throws -> MachineDriver {
        let driver = MachineDriver()
        driver.logIn()
        try driver.readBoard(head: head)
        _ = driver.events()
        _ = driver.sent()
        return driver
    }

    private func batches(_ events: [ClientEvent]) -> [BoardBatch] {
        events.compactMap { if case .board(let batch) = $0 { batch } else { nil } }
    }

    @Test("[BL1, BL3] a record of a live channel is a message with its key; a removal says that it is one; the position follows")
    func single() throws {
        let driver = try live()
        driver.feed([
            MachineDriver.record(6, key: "a", "x"), MachineDriver.record(7, key: "a", [], isText: false),
            MachineDriver.record(8, key: "b", "", retain: false),
        ])
        let events = driver.events()
        #expect(events.words == ["6r", "7-", "8"])
        guard case .message(let record) = events[0], case .message(let message) = events[2] else { throw CancellationError() }
        #expect(record.key == "a" && record.isRetained && !record.isRemoval && record.payload == .text("x"))
        #expect(message.key == "b" && !message.isRetained && !message.isRemoval)
        #expect(driver.position == 8)
    }

    @Test("[BL3] from the beginning records come together, as many as one piece of bytes brings, with the progress by offsets")
    func batch() throws {
        let driver = try reading()
        driver.feed((1...50).map { MachineDriver.record($0, "x") })
        driver.feed([MachineDriver.record(75, "x")])
        let batches = batches(driver.events())
        #expect(batches.map { $0.messages.map(\.offset) } == [Array(1...50), [75]])
        #expect(batches.map(\.progress) == [0.5, 0.75] && batches.allSatisfy { $0.channel == "lesson" })
        #expect(driver.position == 75)
    }

    @Test("[BL3] a batch has at most 256 messages, and ends once its payloads have 512 KiB")
    func bounds() throws {
        let many = try reading(head: 1_000)
        many.feed((1...600).map { MachineDriver.record($0, "x") })
        #expect(batches(many.events()).map(\.messages.count) == [256, 256, 88])
        let heavy = try reading()
        heavy.feed((1...40).map { MachineDriver.record($0, [UInt8](repeating: 1, count: 32_000), isText: false) })
        #expect(batches(heavy.events()).map(\.messages.count) == [17, 17, 6])
    }

    @Test(
        "[BL3] a batch stands before whatever comes behind it: messages, what is cleared, gaps, other channels, caughtUp, the end of the link"
    )
    func order() throws {
        let driver = try reading()
        try driver.ask(.join(try Name("lesson"), features: [.presence], quiet: false, token: nil)) {
            MachineDriver.joined(id: $0, handle: 11)
        }
        try driver.ask(.subscribeTopic(TopicID(channel: try Name("lesson"), topic: try Name("points")), users: nil)) {
            TopicUsersAnswer(id: $0, all: true)
        }
        driver.feed(MachineDriver.flowOpened(20))
        _ = driver.events()
        driver.feed([
            MachineDriver.record(1, "x"), MachineDriver.record(2, "x"), MachineDriver.record(3, key: nil, "m", retain: false),
            MachineDriver.record(4, "x"),
            MachineDriver.packet(flow: 20, 1), MachineDriver.record(5, "x"), .json(.gap, Gap(channel: 10, from: 6, to: 8)),
            MachineDriver.record(9, "x"), MachineDriver.cleared(10), MachineDriver.record(11, "x"), MachineDriver.caughtUp(100),
            MachineDriver.record(101, "live"),
        ])
        #expect(
            driver.events().words == [
                "[1r 2r]", "3", "[4r]", "packet 1", "[5r]", "missed 6…8", "[9r]", "cleared 10 bob", "[11r]", "caughtUp 100", "101r",
            ])
        #expect(driver.position == 101)

        let faulty = try reading()
        faulty.feed([MachineDriver.record(1, "x"), MachineDriver.record(2, "x", publisher: 99)])
        guard case .board? = faulty.events().first else { throw CancellationError() }
    }

    @Test(
        "[BL3] a break in the middle of reading: batches go on, resumed or in a new session, from the position", arguments: [true, false])
    func goesOn(resumed: Bool) throws {
        let driver = try reading()
        driver.feed((1...50).map { MachineDriver.record($0, "x") })
        driver.comeBack(resumed: resumed)
        if resumed {
            #expect(driver.lastLogin?.resume?.seen == ["lesson": [50, 1000, 1, 1]])
            driver.feed(.json(.restored, MachineDriver.subscribed(id: nil, handle: 10, head: 200, after: 50)))
        } else {
            let subscribe = try #require(driver.sent(.subscribe).first.map { MachineDriver.decode(SubscribeRequest.self, $0) })
            #expect(subscribe.since == .rest(ChannelPosition(epoch: Epoch(start: 1000, incarnation: 1), offset: 50)))
            driver.feed(.json(.answer, MachineDriver.subscribed(id: subscribe.id, handle: 10, head: 200, after: 50)))
        }
        _ = driver.events()
        driver.feed([
            MachineDriver.userNamed(2, "bob"), MachineDriver.record(100, "x"), MachineDriver.record(150, "x"), MachineDriver.caughtUp(200),
        ])
        let events = driver.events()
        #expect(events.words == ["[100r 150r]", "caughtUp 200"] && batches(events).map(\.progress) == [0.75])
    }

    /// Enough for an app to tell that its record was removed while nobody told it where it was.
    @Test(
        "[BL3, MS9] an own record answered behind the reading it is missing from: its offset is told, behind caughtUp with the head above it",
        arguments: [true, false])
    func answeredBehindReading(hasMore: Bool) throws {
        let driver = try reading(head: 4)
        let own = try driver.retain("own")
        driver.feed([MachineDriver.userNamed(2, "bob"), MachineDriver.record(4, "x")])
        driver.comeBack(resumed: true)
        #expect(driver.lastLogin?.resume?.seen == ["lesson": [4, 1000, 1, 1]])
        _ = driver.events()
        driver.feed(.json(.restored, MachineDriver.subscribed(id: nil, handle: 10, head: 9, after: hasMore ? 4 : nil)))
        if hasMore { driver.feed(MachineDriver.caughtUp(9)) }
        #expect(driver.events().words == ["caughtUp 9"] && driver.outcome(own.accepted) == nil)
        driver.feed([MachineDriver.accepted(1, offset: 5), MachineDriver.stored(1, offset: 5)])
        #expect(driver.outcome(own.accepted) == "+5" && driver.outcome(own.stored) == "+5")
        #expect(driver.events().isEmpty && driver.position == 9)
    }

    @Test("[BL3] who comes back to a position gets records one by one, and nothing is told missing without missed")
    func position() throws {
        let driver = try live()
        driver.feed(MachineDriver.record(6, "x"))
        driver.comeBack(resumed: true)
        _ = driver.events()
        driver.feed([
            .json(.restored, MachineDriver.subscribed(id: nil, handle: 10, head: 9, after: 6)), MachineDriver.userNamed(2, "bob"),
            MachineDriver.record(7, key: "a", [], isText: false), MachineDriver.record(9, key: "b", "y"), MachineDriver.caughtUp(9),
        ])
        #expect(driver.events().words == ["7-", "9r", "caughtUp 9"])
    }

    @Test("[BL5] after a restart the channel goes on in another epoch: without reset nothing is told, and the position is in the new one")
    func restart() throws {
        let driver = try live()
        driver.feed(MachineDriver.record(6, "x"))
        driver.comeBack(resumed: false, start: 2000)
        _ = driver.events()
        let id = try #require(driver.sent(.subscribe).first.map { MachineDriver.decode(RequestID.self, $0).id })
        var answer = MachineDriver.subscribed(id: id, handle: 10, head: 8, start: 2000, after: 6)
        answer.recovered = false
        driver.feed([.json(.answer, answer), MachineDriver.userNamed(2, "bob"), MachineDriver.record(8, "y"), MachineDriver.caughtUp(8)])
        #expect(driver.events().words == ["8r", "caughtUp 8"])
        #expect(driver.machine.known.positions[try Name("lesson")] == ChannelPosition(epoch: Epoch(start: 2000, incarnation: 1), offset: 8))
    }

    @Test("[BL4] a reset voids what was seen: it is told, then all comes in batches under the new epoch, then caughtUp")
    func reset() throws {
        let driver = try live()
        driver.feed([MachineDriver.record(6, "x"), MachineDriver.record(7, "ab", part: (1, 2)), MachineDriver.reset(head: 4)])
        let lesson = try Name("lesson")
        #expect(driver.position == 0 && driver.machine.known.catchingUp.contains(lesson))
        driver.feed([MachineDriver.record(2, "x"), MachineDriver.record(4, "y"), MachineDriver.caughtUp(4)])
        let events = driver.events()
        #expect(events.words == ["6r", "reset", "[2r 4r]", "caughtUp 4"])
        let batch = try #require(batches(events).first)
        #expect(batch.messages.allSatisfy { $0.epoch == Epoch(start: 1000, incarnation: 2) } && driver.position == 4)
        // The drawing that was half there is nothing to the new numbering.
        driver.feed(MachineDriver.record(7, "cd", part: (2, 2)))
        #expect(driver.events().words == ["missed 7…7"])
    }

    @Test("[BL4] a subscription that is answered with reset is read in batches, too")
    func answeredWithReset() throws {
        let driver = try live()
        driver.comeBack(resumed: true)
        _ = driver.events()
        driver.feed([
            .json(.restored, MachineDriver.subscribed(id: nil, handle: 10, head: 4, reset: true, after: 0)),
            MachineDriver.userNamed(2, "bob"),
            MachineDriver.record(1, "x"), MachineDriver.record(4, "y"), MachineDriver.caughtUp(4),
        ])
        #expect(driver.events().words == ["reset", "[1r 4r]", "caughtUp 4"])
    }

    @Test("[BL6] what is cleared is told with its author and counts as seen; of channels that were left nothing is told")
    func cleared() throws {
        let driver = try live()
        driver.feed(MachineDriver.cleared(6))
        #expect(driver.events() == [.cleared(BoardCleared(channel: "lesson", offset: 6, user: "bob", wallMilliseconds: 5))])
        #expect(driver.position == 6)
        try driver.ask(.unsubscribe(try Name("lesson"))) { EmptyAnswer(id: $0) }
        driver.feed([MachineDriver.cleared(7), MachineDriver.reset(head: 8), MachineDriver.caughtUp(8)])
        #expect(driver.events().isEmpty)
    }

    @Test("[HI7] one that is live and catches up without having asked is not told caughtUp; its position is the head")
    func caughtUpWhileLive() throws {
        let driver = try live()
        driver.feed([
            MachineDriver.catchingUp(after: 5), MachineDriver.record(6, "back"), MachineDriver.record(9, "again"),
            MachineDriver.caughtUp(12),
        ])
        #expect(driver.events().words == ["[6r 9r]"] && driver.position == 12)
    }

    @Test(
        "[HI7, SE9] subscribed again while a large drawing is still to come, the position stays; with messages wanted anew it is the head"
    )
    func subscribedAgain() throws {
        let driver = try live()
        driver.feed([MachineDriver.catchingUp(after: 5)])
        try driver.subscribe(head: 6)
        #expect(driver.position == 5)
        driver.feed([MachineDriver.record(6, "a", part: (1, 2)), MachineDriver.record(6, "b", part: (2, 2)), MachineDriver.caughtUp(6)])
        #expect(driver.position == 6)
        for (features, position) in [([.presence], 8), ([.messages], 9)] as [(Set<Feature>, UInt64)] {
            try driver.ask(.subscribe(try Name("lesson"), features: features, quiet: false)) {
                MachineDriver.subscribed(id: $0, handle: 10, head: position)
            }
            if features.contains(.messages) { #expect(driver.position == position) }
        }
    }

    @Test("[BL6, BL9] requests about boards and their answers")
    func requests() throws {
        let driver = try live()
        func answer(_ request: ClientRequest, _ type: FrameType, _ body: (UInt32) -> any JSONObject) throws -> ClientAnswer? {
            let token = try driver.ask(request)
            let id = try #require(driver.sent(type).first.map { MachineDriver.decode(RequestID.self, $0).id })
            driver.feed(.json(.answer, body(id)))
            return try driver.completed[token]?.get()
        }
        let lesson = try Name("lesson")
        #expect(
            try answer(.clear(lesson), .clear) { ClearAnswer(id: $0, offset: 6, records: 3) }
                == .boardChange(BoardClearing(offset: 6, records: 3)))
        #expect(
            try answer(.undoClear(lesson), .undoClear) { ClearAnswer(id: $0, offset: 9, records: 2) }
                == .boardChange(BoardClearing(offset: 9, records: 2)))
        let board = BoardInfo(channel: lesson.text, records: 2, bytes: 300, changedMilliseconds: 7)
        #expect(
            try answer(.boards(after: nil), .boards) { BoardsAnswer(id: $0, boards: [board], next: lesson, bytes: 300, bytesMax: 1_000) }
                == .boards([board], next: lesson))
        #expect(try answer(.removeBoard(lesson), .removeBoard) { EmptyAnswer(id: $0) } == .done)
    }

    @Test(
        "[HI6, BL8] a part of a drawing in the history says which it is; text that was cut inside a character is bytes; a part that cannot be is refused"
    )
    func historyParts() throws {
        func page(_ part: UInt16, of parts: UInt16, _ flags: FrameFlags) throws -> (HistoryPage?, MachineDriver) {
            let driver = try live()
            let token = try driver.ask(.history(try Name("lesson"), from: nil, backwards: false, limit: nil))
            let id = try #require(driver.sent(.history).first.map { MachineDriver.decode(RequestID.self, $0).id })
            var body: [UInt8] = []
            body.append(bigEndian: id)
            body.append(bigEndian: UInt64(3))
            body.append(bigEndian: UInt64(4))
            body.append(short: "bob")
            if flags.contains(.key) { body.append(short: "k") }
            body.append(bigEndian: part)
            body.append(bigEndian: parts)
            body.append(0xC3)
            driver.feed(Frame(.historyItem, flags: flags, body: body))
            driver.feed(
                .json(.answer, HistoryAnswer(id: id, epoch: Epoch(start: 1000, incarnation: 1), head: 3, count: 1, floor: 0, next: nil)))
            guard case .success(.history(let page))? = driver.completed[token] else { return (nil, driver) }
            return (page, driver)
        }
        let message = try #require(page(1, of: 2, [.text, .key, .part]).0?.messages.first)
        #expect(message.part == MessagePart(number: 1, of: 2, isText: true) && message.payload == .bytes([0xC3]) && message.key == "k")
        let end = MessagePart(number: 0, of: 2, isText: false)
        #expect(try page(0, of: 2, [.key, .part]).0?.messages.first?.part == end)
        for (part, parts, flags) in [(3, 2, [.key, .part]), (1, 1, [.key, .part]), (1, 2, .part)]
            as [(UInt16, UInt16, FrameFlags)]
        {
            #expect(try page(part, of: parts, flags).0 == nil, "\(part) of \(parts)")
        }
    }
}
