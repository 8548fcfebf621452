import RelayPrimitives
import Testing

@testable import RelayClientCore

/// What several readers get of one sequence, and what they may hold.
@Suite struct ReaderFeedTests {
    private let limit = ClientLimits.readerBytesMax

    private static func at(_ seconds: Int) -> Instant { Instant(nanoseconds: UInt64(seconds) * 1_000_000_000) }

    private static func message(_ number: UInt64) -> ReaderItem {
        let message = Message(channel: "lesson", sender: "bob", offset: number, wallMilliseconds: 0, payload: .text(""))
        return ReaderItem(content: .event(.message(message)), audience: .handles)
    }

    private static func packet(_ sequence: UInt32, flow: UInt32 = 5) -> ReaderItem {
        let packet = Packet(channel: "lesson", topic: "points", publisher: "bob", flow: flow, sequence: sequence, payload: .text(""))
        return ReaderItem(content: .event(.packet(packet)), audience: .handles)
    }

    /// What waits for a reader: the numbers of messages, and lost ranges.
    private static func rest(_ feed: inout ReaderFeed, _ reader: ReaderFeed.ID, at now: Int = 0) -> [String] {
        var found: [String] = []
        while true {
            switch feed.take(reader, at: at(now)) {
            case .item(let item):
                switch item.content {
                case .event(.message(let message)): found.append("\(message.offset)")
                case .event(.packet(let packet)): found.append("packet \(packet.sequence)")
                case .event(.packetsLost(let lost)):
                    found.append(lost.entries.map { "\(lost.reason) \($0.flow): \($0.first)-\($0.last ?? 0)" }.joined(separator: ", "))
                default: found.append("?")
                }
            case .nothing: return found
            case .end(let error): return found + [error.map { "\($0.name) \($0.limit ?? 0)" } ?? "end"]
            }
        }
    }

    @Test("each reader gets everything from where it was made on, whatever the others do; without a reader nothing is kept")
    func each() {
        var feed = ReaderFeed(patience: .seconds(10))
        #expect(feed.append(Self.message(1), cost: 100, mayWait: false, at: Self.at(0)) == 0 && feed.bytes == 0)
        let early = feed.open(at: Self.at(0)) { $0 }
        feed.append(Self.message(2), cost: 100, mayWait: false, at: Self.at(0))
        let late = feed.open(at: Self.at(0)) { $0 }
        #expect(feed.append(Self.message(3), cost: 100, mayWait: false, at: Self.at(0)) == 2)
        #expect(feed.bytes == 200, "what both wait for counts once")
        #expect(Self.rest(&feed, early) == ["2", "3"] && feed.bytes == 100)
        feed.finish(late)
        feed.append(Self.message(4), cost: 100, mayWait: false, at: Self.at(0))
        #expect(Self.rest(&feed, late) == ["3", "end"], "it ends behind what it has not taken")
        #expect(Self.rest(&feed, early) == ["4"] && feed.bytes == 0)
        feed.append(Self.message(5), cost: 100, mayWait: false, at: Self.at(0))
        feed.close(early)
        #expect(feed.bytes == 0 && Self.rest(&feed, early) == ["end"])
    }

    @Test("a reader that lags loses packets first, told by flow in the place of the first; messages come all")
    func packets() {
        var feed = ReaderFeed(patience: .seconds(10))
        let reader = feed.open(at: Self.at(0)) { $0 }
        let items = [
            Self.message(1), Self.packet(1), Self.packet(2), Self.message(2), Self.packet(1, flow: 6), Self.packet(3), Self.message(3),
            Self.packet(4), Self.message(4), Self.message(5), Self.message(6),
        ]
        for item in items { feed.append(item, cost: limit / 8, mayWait: false, at: Self.at(0)) }
        #expect(Self.rest(&feed, reader) == ["1", "readerLag 5: 1-4, readerLag 6: 1-1", "2", "3", "4", "5", "6"])
        #expect(feed.bytes == 0)
    }

    @Test("a reader that lags with messages alone is told tooSlow, and others go on; one event above the bound ends nobody")
    func tooSlow() {
        var feed = ReaderFeed(patience: .seconds(10))
        let slow = feed.open(at: Self.at(0)) { $0 }
        let fast = feed.open(at: Self.at(0)) { $0 }
        let other = feed.open(at: Self.at(0)) { item in
            if case .event(.message(let message)) = item.content, message.offset > 6 { item } else { nil }
        }
        for number in 1...9 {
            feed.append(Self.message(UInt64(number)), cost: limit / 4, mayWait: false, at: Self.at(0))
            #expect(Self.rest(&feed, fast) == ["\(number)"])
        }
        #expect(Self.rest(&feed, slow) == ["tooSlow \(limit)"])
        #expect(Self.rest(&feed, slow) == ["end"], "the reason is told once")
        #expect(Self.rest(&feed, other) == ["7", "8", "9"], "it lags by what it wants")
        #expect(feed.bytes == 0)
        let patient = feed.open(at: Self.at(0)) { $0 }
        feed.append(Self.message(1), cost: 100, mayWait: false, at: Self.at(0))
        feed.append(Self.message(2), cost: 2 * limit, mayWait: false, at: Self.at(0))
        #expect(Self.rest(&feed, patient) == ["1", "2"])
    }

    @Test("all readers together have a bound: the one that lags most goes")
    func together() {
        var feed = ReaderFeed(patience: .seconds(10))
        let readers = (0..<8).map { index in
            feed.open(at: Self.at(0)) { item in
                if case .event(.message(let message)) = item.content, message.offset == index { item } else { nil }
            }
        }
        for _ in 0..<3 {
            for index in 0..<8 { feed.append(Self.message(UInt64(index)), cost: limit / 3, mayWait: false, at: Self.at(0)) }
        }
        #expect(feed.bytes <= ClientLimits.readersBytesMax)
        let ends = readers.map { Self.rest(&feed, $0) }
        let slow = ends.filter { $0 == ["tooSlow \(limit)"] }.count
        #expect((1...4).contains(slow) && ends.filter { $0.count == 3 }.count >= 3, "\(ends)")
        #expect(feed.bytes == 0)
    }

    @Test("while a channel catches up a full reader holds the relay back until half is taken; after 10 s without taking it ends")
    func holdsBack() {
        var feed = ReaderFeed(patience: .seconds(10))
        let reader = feed.open(at: Self.at(0)) { $0 }
        for number in 1...8 { feed.append(Self.message(UInt64(number)), cost: limit / 4, mayWait: true, at: Self.at(0)) }
        #expect(feed.holdsBack && feed.nextDeadline == Self.at(10))
        feed.deadline(at: Self.at(9))
        for _ in 0..<6 {
            #expect(feed.holdsBack)
            guard case .item = feed.take(reader, at: Self.at(9)) else { return #expect(Bool(false), "it still has some") }
        }
        #expect(!feed.holdsBack && feed.nextDeadline == nil)
        for number in 1...8 { feed.append(Self.message(UInt64(number)), cost: limit / 4, mayWait: true, at: Self.at(9)) }
        #expect(feed.nextDeadline == Self.at(19))
        feed.deadline(at: Self.at(19))
        #expect(!feed.holdsBack && Self.rest(&feed, reader) == ["tooSlow \(limit)"] && feed.bytes == 0)
    }
}
