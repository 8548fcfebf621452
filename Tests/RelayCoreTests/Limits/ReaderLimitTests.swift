import RelayCore
import RelayPrimitives
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// Readers that say what they take of packets.
@Suite struct ReaderLimitTests {
    // MARK: - What may be said

    @Test(
        "[DL11] a limit is taken from its least to its most, at login and later; one beyond is refused with the limit it passed",
        arguments: [
            (\ReaderLimits.packetsPerSecond, "packetsPerSecond", Limits.readerPacketsPerSecond),
            (\.bytesPerSecond, "bytesPerSecond", Limits.readerBytesPerSecond),
            (\.waitingBytes, "waitingBytes", Limits.readerWaitingBytes),
        ] as [(WritableKeyPath<ReaderLimits, Int?> & Sendable, String, ClosedRange<Int>)])
    func bounds(field: WritableKeyPath<ReaderLimits, Int?> & Sendable, name: String, allowed: ClosedRange<Int>) throws {
        let driver = HubDriver()
        let reader = TestClient(driver, "reader")
        func limits(_ value: Int) -> ReaderLimits {
            var limits = ReaderLimits()
            limits[keyPath: field] = value
            return limits
        }
        for value in [allowed.lowerBound, allowed.upperBound] {
            #expect(TestClient.code(reader.setReaderLimits(limits(value))) == nil, "\(name) \(value)")
            #expect(TestClient(driver, "at-login", readerLimits: limits(value)).welcome != nil, "\(name) \(value)")
        }
        let (low, high) = (allowed.lowerBound, allowed.upperBound)
        for (value, limit) in [(low - 1, low), (high + 1, high), (-1, low)] {
            guard case .error(let error) = reader.setReaderLimits(limits(value)) else {
                Issue.record("\(name) \(value) is taken")
                continue
            }
            #expect(error.code == .badRequest && error.limit == UInt64(limit) && error.actual == UInt64(max(0, value)))
            #expect(error.text.contains("field \(name) "))
            let refused = TestClient(driver, "refused", readerLimits: limits(value))
            #expect(refused.welcome == nil)
            let errors = refused.others.filter { $0.type == FrameType.error.rawValue }.map { TestClient.decode(ErrorBody.self, $0.body) }
            #expect(errors.map(\.code) == [.badRequest] && errors[0].limit == UInt64(limit))
            #expect(errors[0].text.contains("field readerLimits.\(name) "))
        }
        #expect(TestClient.code(reader.setReaderLimits(ReaderLimits())) == nil, "no limits")
    }

    // MARK: - Rates

    @Test("[DL11] a quarter of a second's worth of packets comes at once, one more waits for its moment, and nothing is lost")
    func capacity() throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: 40))
        let flow = lesson.flow("writer")
        for slot in 1...10 { lesson.packet(flow, slot: UInt32(slot)) }
        #expect(try lesson.taken().packets == Array(1...10))
        lesson.packet(flow, slot: 11)
        #expect(try lesson.taken().packets == [])
        lesson.pass(milliseconds: 24)
        #expect(try lesson.taken().packets == [])
        lesson.pass(milliseconds: 1)
        #expect(try lesson.taken() == .init(packets: [11]))
        #expect(lesson.driver.hub.census().counters.packetsShedReader == 0)
    }

    @Test("[DL11] bytes of packet frames: what the rate gives comes, a byte less does not")
    func bytes() throws {
        // A capacity of 2,600 bytes, above the largest packet: 26 frames of 100.
        let lesson = LimitedLesson(ReaderLimits(bytesPerSecond: 10_400))
        let flow = lesson.flow("writer")
        let payload = 100 - Limits.frameHeadBytes - 12
        for slot in 1...26 { lesson.packet(flow, slot: UInt32(slot), bytes: payload) }
        #expect(try lesson.taken().packets == Array(1...26))
        lesson.packet(flow, slot: 27, bytes: payload)
        lesson.pass(.nanoseconds(100 * 1_000_000_000 / 10_400))
        #expect(try lesson.taken().packets == [], "rounded down, it is not there yet")
        lesson.pass(.nanoseconds(1))
        #expect(try lesson.taken() == .init(packets: [27]))
    }

    @Test("[DL11, ST5] the largest packet comes at the least rate of bytes")
    func largest() throws {
        let lesson = LimitedLesson(ReaderLimits(bytesPerSecond: 1_024))
        let flow = lesson.flow("writer")
        lesson.packet(flow, slot: 1, bytes: 1_024)
        lesson.packet(flow, slot: 2, bytes: 1_024)
        #expect(try lesson.taken().packets == [1])
        // 12 bytes are missing.
        lesson.pass(milliseconds: 11)
        #expect(try lesson.taken() == .init())
        lesson.pass(milliseconds: 1)
        #expect(try lesson.taken() == .init(packets: [2]))
    }

    @Test(
        "[DL11, DL7] over any stretch of time no more packets come than the rate and a quarter of a second's worth allow, and each is told",
        arguments: [1, 3, 7, 50, 333, 10_000])
    func rate(limit: Int) throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: limit))
        let flows = (0..<5).map { lesson.flow("writer-\($0)") }
        var dice = SplitMix64(seed: UInt64(limit))
        var came: [(at: UInt64, count: Int)] = []
        var books = LimitedLesson.Books()
        for step in 0..<1_000 {
            for flow in flows where Int.random(in: 0..<3, using: &dice) == 0 {
                books.sent += 1
                lesson.packet(flow, slot: Bool.random(using: &dice) ? UInt32(step % 3) : nil)
            }
            lesson.pass(milliseconds: Int.random(in: 1...9, using: &dice))
            let taken = try lesson.taken()
            books.add(taken)
            came.append((lesson.driver.now.instant.nanoseconds, taken.packets.count))
        }
        for first in stride(from: 0, to: came.count, by: 37) {
            var sum = 0
            for last in first..<came.count {
                sum += came[last].count
                let allowed = Double(limit) * Double(came[last].at - came[first].at) / 1e9 + max(1, Double(limit) / 4)
                guard Double(sum) <= allowed else {
                    Issue.record("\(sum) packets in steps \(first)…\(last), allowed are \(allowed)")
                    return
                }
            }
        }
        lesson.pass(milliseconds: 3_000)
        books.add(try lesson.taken())
        #expect(books.received + books.lost == books.sent)
        #expect(limit == 10_000 ? books.lost == 0 : books.received >= limit * 5 / 4)
    }

    // MARK: - Which packets

    @Test("[DL11, DL5] superseded slots go, then packets without slot, the lowest priority and the oldest first, until the rest fits")
    func order() throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: 16))
        let low = lesson.flow("writer", priority: .low)
        let high = lesson.flow("other", priority: .high)
        for _ in 0..<3 { lesson.packet(low, slot: 1) }
        for _ in 0..<2 { lesson.packet(high) }
        for _ in 0..<3 { lesson.packet(low) }
        let taken = try lesson.taken(by: low)
        #expect(taken.packets == [3, 6])
        #expect(taken.lost == [1...2, 4...5])
        #expect(taken.reasons == [.readerLimit])
        #expect(lesson.driver.hub.census().counters.packetsShedReader == 4)
    }

    @Test("[DL11] of ten senders that move all the time each is served, in turns, and of each the newest comes when all stand still")
    func senders() throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: 20))
        let flows = (0..<10).map { lesson.flow("writer-\($0)") }
        var served: [UInt32: Int] = [:]
        var moves: UInt32 = 0
        _ = try lesson.taken()
        for _ in 0..<100 {
            moves += 1
            for flow in flows { lesson.packet(flow, slot: 1) }
            lesson.pass(milliseconds: 20)
            for packet in try lesson.taken().all { served[packet.flow, default: 0] += 1 }
        }
        let counts = flows.map { served[$0] ?? 0 }
        #expect(counts.allSatisfy { $0 >= 4 } && counts.max()! - counts.min()! <= 1, "\(counts)")
        lesson.pass(milliseconds: 600)
        let last = try lesson.taken()
        #expect(last.all.suffix(10).map(\.sequence) == Array(repeating: moves, count: 10), "\(last)")
    }

    @Test("[DL11, DL1] a sender's packets keep their order, whatever waits; another sender's may pass them")
    func lanes() throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: 4))
        let first = lesson.flow("writer"), second = lesson.flow("other")
        lesson.packet(first, slot: 9)
        #expect(try lesson.taken().packets == [1])
        for slot in 1...2 { lesson.packet(first, slot: UInt32(slot)) }
        lesson.packet(second, slot: 1)
        var came: [String] = []
        for _ in 0..<4 {
            lesson.pass(milliseconds: 250)
            for packet in try lesson.taken().all { came.append("\(packet.flow == first ? "first" : "second") \(packet.sequence)") }
        }
        #expect(came == ["first 2", "second 1", "first 3"])
    }

    @Test("[DL11, DL4] what waits expires as it does elsewhere, and is told so, though its turn never came")
    func expiry() throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: 1))
        let flow = lesson.flow("writer")
        for slot in 1...4 { lesson.packet(flow, slot: UInt32(slot)) }
        #expect(try lesson.taken().packets == [1])
        lesson.pass(milliseconds: 1_000)
        #expect(try lesson.taken().packets == [2])
        lesson.pass(milliseconds: 1)
        let taken = try lesson.taken(by: flow)
        #expect(taken.packets == [] && taken.lost == [3...4] && taken.reasons == [.expired])
    }

    @Test("[DL4, DL11] as many bytes wait as the reader lets; one frame more and half of them go, by its own choice")
    func waiting() throws {
        let lesson = LimitedLesson(ReaderLimits(waitingBytes: 16_384))
        let flow = lesson.flow("writer")
        let payload = 1_024 - Limits.frameHeadBytes - 8
        for _ in 0..<16 { lesson.packet(flow, bytes: payload) }
        #expect(try lesson.taken(by: flow) == .init(packets: Array(1...16)))
        for _ in 0..<17 { lesson.packet(flow, bytes: payload) }
        let taken = try lesson.taken(by: flow)
        #expect(taken.lost == [17...25] && taken.packets == Array(26...33) && taken.reasons == [.readerLimit])
        #expect(try lesson.others() == 33)
    }
}

extension ReaderLimitTests {
    // MARK: - Messages

    @Test("[DL11] messages come at once and in their order, whatever is held, and nothing passes them", arguments: [false, true])
    func messages(asWebSocket: Bool) throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: 5), asWebSocket: asWebSocket)
        let flows = (0..<4).map { lesson.flow("writer-\($0)") }
        var books = LimitedLesson.Books()
        for round in 0..<300 {
            for flow in flows {
                books.sent += 2
                lesson.packet(flow, slot: 1)
                lesson.packet(flow)
            }
            if round % 3 == 0 {
                lesson.client("writer-\(round % 4)").publish("lesson", [UInt8(round % 256)])
                let taken = try lesson.taken()
                #expect(taken.messages == [UInt8(round % 256)])
                books.add(taken)
            }
            lesson.pass(milliseconds: 7)
            books.add(try lesson.taken())
        }
        lesson.pass(milliseconds: 2_000)
        books.add(try lesson.taken())
        #expect(books.received + books.lost == books.sent)
        // 2.1 s and what is allowed at one instant, on credit too.
        #expect(books.received <= 5 * 41 / 10 + 1 + 5 + 1)
    }

    @Test("[DL11] before a message the newest of slots come on credit, a second's worth at most; later turns repay it")
    func credit() throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: 4))
        let flow = lesson.flow("writer")
        // One at once, four on credit, and those without slot do not.
        for slot in 1...7 { lesson.packet(flow, slot: UInt32(slot)) }
        lesson.packet(flow)
        lesson.client("writer").publish("lesson", [1])
        let taken = try lesson.taken(by: flow)
        #expect(taken.packets == Array(1...5) && taken.lost == [6...8] && taken.reasons == [.readerLimit])
        #expect(taken.messages == [1])
        lesson.pass(milliseconds: 1_000)
        for _ in 0..<2 { lesson.packet(flow, slot: 1) }
        lesson.pass(milliseconds: 249)
        #expect(try lesson.taken() == .init())
        lesson.pass(milliseconds: 1)
        #expect(try lesson.taken(by: flow) == .init(packets: [10], lost: [9...9], reasons: [.readerLimit]))
    }

    @Test("[DL11] messages of others pass packets that wait: of ten senders that stop between them the newest comes")
    func passed() throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: 20))
        let flows = (0..<10).map { lesson.flow("writer-\($0)") }
        let speaker = lesson.client("speaker")
        for step in 1...100 {
            for flow in flows { lesson.packet(flow, slot: 1) }
            if step % 5 == 0 {
                speaker.publish("lesson", [UInt8(step)])
                #expect(try lesson.taken().messages == [UInt8(step)])
            }
            lesson.pass(milliseconds: 20)
            _ = try lesson.taken()
        }
        for flow in flows { lesson.packet(flow, slot: 1) }
        speaker.publish("lesson", [0])
        var last = Set(try lesson.taken().all.filter { $0.sequence == 101 }.map(\.flow))
        #expect(last.count < 5)
        lesson.pass(milliseconds: 600)
        last.formUnion(try lesson.taken().all.filter { $0.sequence == 101 }.map(\.flow))
        #expect(last == Set(flows))
    }

    @Test("[DL11, DL1] a sender's own message does not pass its packets: they leave on credit before it, and others' wait")
    func ownMessage() throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: 4))
        let first = lesson.flow("writer"), second = lesson.flow("other")
        lesson.packet(second, slot: 1)
        #expect(try lesson.taken().packets == [1])
        lesson.packet(second, slot: 1)
        lesson.packet(first, slot: 1)
        lesson.client("writer").publish("lesson", [1])
        let frames = lesson.reader.frames()
        #expect(try LimitedLesson.Taken(frames, by: first).packets == [1] && LimitedLesson.Taken(frames, by: second).packets == [])
        #expect(frames.last?.type == FrameType.deliver.rawValue)
        lesson.pass(milliseconds: 500)
        #expect(try lesson.taken(by: second) == .init(packets: [2]))
    }

    @Test("[DL11, ST7] what is no longer selected does not come behind the answer that says so")
    func unselected() throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: 4))
        let flow = lesson.flow("writer")
        for slot in 1...9 { lesson.packet(flow, slot: UInt32(slot)) }
        lesson.reader.request(.unsubscribeTopic) { TopicUsersRequest(id: $0, channel: name("lesson"), topic: name("points")) }
        let taken = try LimitedLesson.Taken(lesson.reader.takeOthers(.packet) + lesson.reader.frames(), by: flow)
        #expect(taken.packets == Array(1...5))
        lesson.pass(milliseconds: 2_000)
        #expect(try lesson.taken() == .init())
    }

    @Test("[DL11] a flow that closes leaves nothing behind: its packets come or are told before")
    func closed() throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: 4))
        let flow = lesson.flow("writer")
        for slot in 1...9 { lesson.packet(flow, slot: UInt32(slot)) }
        lesson.client("writer").request(.leaveTopic) { TopicRequest(id: $0, channel: try! Name("lesson"), topic: try! Name("points")) }
        let frames = lesson.reader.frames()
        let end = try #require(frames.firstIndex { $0.type == FrameType.flowClosed.rawValue })
        let taken = try LimitedLesson.Taken(Array(frames[..<end]), by: flow)
        #expect(taken.packets == Array(1...5) && taken.lost == [6...9])
        #expect(!frames[end...].contains { [FrameType.packet.rawValue, FrameType.lost.rawValue].contains($0.type) })
    }

    // MARK: - Links and changes

    @Test("[DL11, DL2] readers without limits get everything at once")
    func neighbours() throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: 1))
        let flow = lesson.flow("writer")
        for index in 1...50 {
            lesson.packet(flow, slot: 1)
            #expect(try lesson.others() == 1, "packet \(index)")
            _ = try lesson.taken()
        }
    }

    @Test("[DL11] while the socket takes nothing no packet is chosen: the newest comes when it takes again")
    func blocked() throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: 4))
        let flow = lesson.flow("writer")
        for _ in 0..<50 {
            lesson.packet(flow, slot: 1)
            lesson.driver.advance(.milliseconds(10))
        }
        let taken = try lesson.taken(by: flow)
        #expect(taken == .init(packets: [50], lost: [1...49], reasons: [.readerLimit]))
    }

    @Test("[DL11, WS7] what a WebSocket has announced is sent as it is, and held packets are not announced")
    func announced() throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: 4), asWebSocket: true)
        let flow = lesson.flow("writer")
        lesson.client("writer").publish("lesson", [7])
        lesson.packet(flow, slot: 1)
        // A message and a packet are announced, and one byte is taken.
        lesson.driver.take(lesson.reader.id, bytes: 1)
        for _ in 0..<5 { lesson.packet(flow, slot: 1) }
        lesson.driver.take(lesson.reader.id, bytes: 10)
        let taken = try lesson.taken(by: flow)
        #expect(taken.messages == [7] && taken.packets == [1])
        lesson.pass(milliseconds: 250)
        #expect(try lesson.taken(by: flow) == .init(packets: [6], lost: [2...5], reasons: [.readerLimit]))
    }

    @Test("[DL11] limits that change judge anew what is held; without limits all of it comes")
    func changes() throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: 1))
        let flow = lesson.flow("writer")
        for slot in 1...8 { lesson.packet(flow, slot: UInt32(slot)) }
        #expect(try lesson.taken().packets == [1])
        lesson.ask(ReaderLimits(packetsPerSecond: 12))
        // The answer is a frame that nothing may delay: three at once, the others on credit.
        #expect(try lesson.taken().packets == Array(2...8))
        for slot in 1...8 { lesson.packet(flow, slot: UInt32(slot)) }
        #expect(try lesson.taken().packets == [])
        lesson.reader.setReaderLimits(ReaderLimits())
        let others = lesson.reader.others
        lesson.reader.others = []
        #expect(try LimitedLesson.Taken(others, by: flow) == .init(packets: Array(9...16)))
        for _ in 0..<100 { lesson.packet(flow) }
        #expect(try lesson.taken(by: flow) == .init(packets: Array(17...116)))
    }

    @Test("[DL11, DL4] lower bytes that may wait shed at once what waits beyond them")
    func lowered() throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: 1, waitingBytes: 262_144))
        let flow = lesson.flow("writer")
        for slot in 0..<40 { lesson.packet(flow, slot: UInt32(slot), bytes: 1_000) }
        #expect(try lesson.taken().packets == [1])
        #expect(lesson.waitingBytes == 39 * 1_018)
        lesson.ask(ReaderLimits(packetsPerSecond: 1, waitingBytes: 16_384))
        #expect(lesson.waitingBytes <= 8_192)
    }

    @Test("[DL11, SE9] limits hold for the connection: a login without them has none")
    func resumed() throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: 1))
        let flow = lesson.flow("writer")
        lesson.driver.cut(lesson.reader.id)
        let token = try #require(lesson.reader.welcome?.resumeToken)
        let again = TestClient(lesson.driver, "reader", resume: token)
        again.others = []
        for _ in 0..<20 { lesson.packet(flow) }
        #expect(try LimitedLesson.Taken(again.frames(), by: flow).packets == Array(1...20))
    }

    @Test("[DL11, SE13] a farewell comes behind what was held, and nothing is left of a reader that went")
    func farewell() throws {
        let lesson = LimitedLesson(ReaderLimits(packetsPerSecond: 1))
        let flow = lesson.flow("writer")
        for slot in 1...5 { lesson.packet(flow, slot: UInt32(slot)) }
        _ = try lesson.taken()
        lesson.driver.handle(.shutdown)
        let frames = lesson.reader.frames()
        #expect(frames.last?.type == FrameType.closing.rawValue)
        let taken = try LimitedLesson.Taken(frames, by: flow)
        #expect(taken.packets == [2] && taken.lost == [3...5])
    }
}
