import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// Readers that catch up, where more than one thing happens to them at once.
@Suite struct CatchUpTests {
    private func driver(_ change: (inout Configuration) -> Void = { _ in }) -> HubDriver {
        var configuration = Configuration()
        configuration.limits.messagesPerSecond = 1_000_000
        configuration.limits.packetsPerSecond = 1_000_000
        change(&configuration)
        return HubDriver(configuration: configuration)
    }

    /// One message a block, and the next one only when nothing waits.
    private func step(_ configuration: inout Configuration) {
        configuration.catchUpBlockBytes = 1
        configuration.catchUpQueueBytes = 1
    }

    private func place(_ offset: UInt64, _ epoch: Epoch) -> [UInt64] { Since.position(ChannelPosition(epoch: epoch, offset: offset)).place }

    private func bob(_ driver: HubDriver, resume: String? = nil) -> TestClient {
        TestClient(driver, "bob", instance: "00000000000000bb", resume: resume)
    }

    /// Subscribes, and reads nothing.
    private func begin(_ client: TestClient, _ channel: String = "lesson", since: Since = .beginning) {
        let request = SubscribeRequest(id: client.nextRequest(), channel: try! Name(channel), features: ["messages"], since: since)
        client.driver.send(.json(.subscribe, request), from: client.id)
    }

    /// Whole frames of the next `bytes` bytes.
    private func take(_ client: TestClient, _ bytes: Int) -> [Frame] {
        client.driver.take(client.id, bytes: bytes)
        return client.driver.received(client.id, all: false)
    }

    private func rest(_ client: TestClient) -> [Frame] {
        defer { client.others = [] }
        return client.others + client.frames()
    }

    /// What a reader is told of messages, in words; those of a channel in `names` with its name: `a3`, `a caughtUp 3`.
    private func told(_ frames: [Frame], names: [UInt32: String] = [:]) -> [String] {
        frames.compactMap { frame in
            frame.body.withUnsafeBytes { body in
                switch FrameType(rawValue: frame.type) {
                case .deliver?:
                    let message = try! DeliverFrame(flags: frame.flags, body: body)
                    return "\(names[message.channel] ?? "")\(message.offset)"
                case .packet?: return "packet \(try! PacketFrame(flags: frame.flags, body: body).sequence)"
                case .gap?:
                    let gap = TestClient.decode(Gap.self, frame.body)
                    return "gap \(gap.from)…\(gap.to)"
                case .caughtUp?:
                    let end = TestClient.decode(CaughtUp.self, frame.body)
                    return (names[end.channel].map { "\($0) " } ?? "") + "caughtUp \(end.head)"
                case .closing?: return TestClient.decode(CloseNotice.self, frame.body).name
                default: return nil
                }
            }
        }
    }

    private func handles(_ frames: [Frame]) -> [UInt32: String] {
        frames.reduce(into: [:]) { names, frame in
            guard frame.type == FrameType.answer.rawValue else { return }
            let answer = TestClient.decode(SubscribeAnswer.self, frame.body)
            names[answer.handle] = answer.channel.text
        }
    }

    // MARK: - Two at once

    @Test("[HI2, HI3] two channels catch up in turns, a block each; the shorter one is live while the longer one goes on")
    func rotation() {
        let driver = driver(step), alice = TestClient(driver, "alice"), bob = bob(driver)
        for number in UInt8(1)...6 {
            alice.publish("a", [number])
            if number <= 2 { alice.publish("b", [number]) }
        }
        begin(bob, "a")
        begin(bob, "b")
        var frames: [Frame] = []
        while !told(frames).contains("caughtUp 2") { frames += take(bob, 1) }
        alice.publish("b", [3])
        frames += rest(bob)
        let words = told(frames, names: handles(frames))
        #expect(words.filter { $0.hasPrefix("a") } == ["a1", "a2", "a3", "a4", "a5", "a6", "a caughtUp 6"], "\(words)")
        #expect(words.filter { $0.hasPrefix("b") } == ["b1", "b2", "b caughtUp 2", "b3"], "\(words)")
        #expect(words.prefix(5) == ["a1", "b1", "a2", "b2", "b caughtUp 2"], "\(words)")
        let live = words.firstIndex(of: "b3") ?? .max
        #expect(live < words.firstIndex(of: "a caughtUp 6") ?? 0, "\(words)")
    }

    @Test("[HI3, HI5] of two channels that catch up each has its own packets lost; the others' come at once")
    func packetsOfTwo() {
        let driver = driver(step), alice = TestClient(driver, "alice"), bob = bob(driver)
        var flows: [String: UInt32] = [:]
        for channel in ["a", "b", "c"] {
            for client in [alice, bob] { client.join(channel) }
            flows[channel] = alice.joinTopic(channel, "points")
            bob.subscribeTopic(channel, "points")
        }
        for number in UInt8(1)...6 {
            alice.publish("a", [number])
            if number <= 2 { alice.publish("b", [number]) }
        }
        _ = rest(bob)
        begin(bob, "a")
        begin(bob, "b")
        var frames: [Frame] = []
        while !told(frames).contains("caughtUp 2") {
            for name in ["a", "b", "c"] { alice.packet(flows[name]!, [1]) }
            frames += take(bob, 40)
        }
        let sent = driver.hub.census().counters.packetsAccepted
        for name in ["a", "b", "c"] { alice.packet(flows[name]!, [2]) }
        frames += rest(bob)
        // By flow: what came, and what was told lost.
        var came: [UInt32: [UInt32]] = [:], lost: [UInt32: [UInt32]] = [:], lostBeforeEnd: [String: Int] = [:]
        let names = handles(frames)
        for frame in frames {
            frame.body.withUnsafeBytes { body in
                switch FrameType(rawValue: frame.type) {
                case .packet?:
                    let packet = try! PacketFrame(flags: frame.flags, body: body)
                    came[packet.flow, default: []].append(packet.sequence)
                case .lost?: for range in try! LostFrame(body: body).ranges { lost[range.flow, default: []] += range.first...range.last }
                case .caughtUp?:
                    let name = names[TestClient.decode(CaughtUp.self, frame.body).channel]!
                    lostBeforeEnd[name] = lost[flows[name]!]?.count
                default: break
                }
            }
        }
        let each = UInt32(sent / 3)
        #expect(came[flows["c"]!] == Array(1...each + 1) && lost[flows["c"]!] == nil)
        #expect(came[flows["b"]!]?.last == each + 1 && lostBeforeEnd["b"] == lost[flows["b"]!]?.count)
        #expect(came[flows["a"]!] == nil && lostBeforeEnd["a"] == Int(each) + 1)
        for name in ["a", "b"] {
            #expect(((came[flows[name]!] ?? []) + (lost[flows[name]!] ?? [])).sorted() == Array(1...each + 1), "\(name)")
        }
    }

    @Test("[HI2] a link that packets of other names fill does not keep a reader from catching up")
    func packetsDoNotStarve() {
        let driver = driver(), alice = TestClient(driver, "alice"), bob = bob(driver)
        for _ in 1...30 { alice.publish("lesson", [UInt8](repeating: 1, count: 10_000)) }
        for client in [alice, bob] { client.join("other") }
        let flow = alice.joinTopic("other", "points")
        bob.subscribeTopic("other", "points")
        let packet = [UInt8](repeating: 1, count: 1_000)
        // As many as may wait: more come in than the link takes.
        for _ in 1...250 { alice.packet(flow, packet) }
        begin(bob)
        var words: [String] = []
        var turns = 0
        while !words.contains("caughtUp 30"), turns < 400 {
            turns += 1
            for _ in 1...12 { alice.packet(flow, packet) }
            _ = rest(alice)
            words += told(take(bob, 10_000))
            driver.advance(.milliseconds(20))
        }
        let messages = words.filter { !$0.hasPrefix("packet") }
        #expect(messages == (1...30).map { "\($0)" } + ["caughtUp 30"], "after \(turns) turns: \(messages)")
    }

    // MARK: - Broken off

    @Test(
        "[SE9, HI2] cut after any byte of a catch-up and resumed from what had come, each message comes once, and nothing is left of the old connection"
    )
    func cutAnywhere() throws {
        var ends = Set<UInt64>()
        for bytes in stride(from: 1, through: 701, by: 7) {
            let driver = driver(step)
            let alice = TestClient(driver, "alice"), bob = bob(driver)
            for number in UInt8(1)...8 { alice.publish("lesson", [number]) }
            begin(bob)
            let before = take(bob, bytes)
            let token = try #require(bob.welcome?.resumeToken)
            // Also when the answer has not come: the channel has a name.
            let epoch = try #require(driver.hub.epoch(of: try Name("lesson")))
            let seen = UInt64(told(before).last { Int($0) != nil } ?? "0")!
            ends.insert(seen)
            driver.cut(bob.id)
            #expect(driver.hub.census().catchingUp == 0)
            alice.publish("lesson", [9])
            // The connection's slot goes to somebody else, to whom none of it comes.
            let carol = TestClient(driver, "carol", instance: "00000000000000cc")
            #expect(told(rest(carol)).isEmpty)
            let id = driver.open()
            driver.send(
                .json(
                    .login,
                    LoginRequest(
                        id: 1, user: try Name("bob"), instance: "00000000000000bb",
                        resume: ResumeRequest(token: token, seen: ["lesson": place(seen, epoch)]))), from: id)
            alice.publish("lesson", [10])
            let after = told(driver.received(id))
            #expect(after == (seen + 1...10).map { "\($0)" } + ["caughtUp 10"], "after \(bytes) bytes: \(after)")
            #expect(driver.hub.census().catchingUp == 0)
        }
        #expect(ends.count >= 7, "cut in few places: \(ends.sorted())")
    }

    @Test(
        "[SE8, SE9, HI2] taken over in the middle, by another client object or with its token, the old connection gets no more and the new one the rest",
        arguments: [false, true])
    func takenOver(resumes: Bool) throws {
        let driver = driver(step)
        let alice = TestClient(driver, "alice"), old = bob(driver)
        for number in UInt8(1)...6 { alice.publish("lesson", [number]) }
        begin(old)
        var before: [Frame] = []
        while !told(before).contains("3") { before += take(old, 1) }
        let epoch = try #require(driver.hub.epoch(of: try Name("lesson")))
        let token = try #require(old.welcome?.resumeToken)
        let id = driver.open()
        let instance = resumes ? "00000000000000bb" : "00000000000000bc"
        driver.send(
            .json(
                .login,
                LoginRequest(
                    id: 1, user: try Name("bob"), instance: instance,
                    resume: resumes ? ResumeRequest(token: token, seen: ["lesson": place(3, epoch)]) : nil)), from: id)
        #expect(driver.hub.census().catchingUp == (resumes ? 1 : 0))
        alice.publish("lesson", [7])
        if !resumes {
            #expect(told(driver.received(id)).isEmpty, "it has not subscribed")
            let request = SubscribeRequest(
                id: 2, channel: try Name("lesson"), features: ["messages"], since: .position(ChannelPosition(epoch: epoch, offset: 3)))
            driver.send(.json(.subscribe, request), from: id)
        }
        alice.publish("lesson", [8])
        // What was in its queue may still leave it: a block that had begun.
        let farewell = told(rest(old))
        #expect(farewell.last == "replaced" && (farewell.count == 1 || farewell == ["4", "replaced"]), "\(farewell)")
        #expect(told(driver.received(id)) == ["4", "5", "6", "7", "8", "caughtUp 8"])
        alice.publish("lesson", [9])
        #expect(told(driver.received(id)) == ["9"] && driver.hub.census().catchingUp == 0)
    }

    // MARK: - Memory

    @Test(
        "[HI2, HI3, DL1] over many chunks, with packets of another name between them, every byte is what was sent, and the memory is given back"
    )
    func chunks() {
        let driver = driver { $0.catchUpBlockBytes = 10_000 }
        let alice = TestClient(driver, "alice"), bob = bob(driver)
        func payload(_ number: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0 &* 7) } }
        // Of sizes that end on no boundary of a chunk, and one that is larger than any chunk before it.
        let sizes = (1...60).map { $0 == 40 ? 32_768 : 100 + $0 * 97 % 6_000 }
        for (index, size) in sizes.enumerated() { alice.publish("lesson", payload(index + 1, size)) }
        for client in [alice, bob] { client.join("other") }
        let flow = alice.joinTopic("other", "points")
        bob.subscribeTopic("other", "points")
        _ = rest(alice)
        _ = rest(bob)
        begin(bob)
        var frames: [Frame] = [], packets = 0
        while driver.hub.census().catchingUp > 0 {
            packets += 1
            alice.packet(flow, payload(packets, 1 + packets * 13 % 1_000))
            _ = rest(alice)
            frames += take(bob, 1_777)
        }
        frames += rest(bob)
        var next = 0, nextPacket = 0, changes = 0, wasPacket = false
        for frame in frames {
            frame.body.withUnsafeBytes { body in
                let isPacket: Bool
                switch FrameType(rawValue: frame.type) {
                case .deliver?:
                    let message = try! DeliverFrame(flags: frame.flags, body: body)
                    next += 1
                    #expect(message.offset == UInt64(next) && Array(message.payload) == payload(next, sizes[next - 1]), "message \(next)")
                    isPacket = false
                case .packet?:
                    let packet = try! PacketFrame(flags: frame.flags, body: body)
                    nextPacket += 1
                    #expect(
                        packet.sequence == UInt32(nextPacket) && Array(packet.payload) == payload(nextPacket, 1 + nextPacket * 13 % 1_000),
                        "packet \(nextPacket)")
                    isPacket = true
                default: return
                }
                if isPacket != wasPacket { changes += 1 }
                wasPacket = isPacket
            }
        }
        #expect(
            next == 60 && nextPacket == packets && changes >= 20,
            "\(next) messages, \(nextPacket) of \(packets) packets, \(changes) changes")
        for client in [alice, bob] { driver.cut(client.id) }
        #expect(driver.hub.queueMemoryBytes == 0)
    }

    @Test("[HI5] what is remembered of lost packets grows with the flows, not with the packets, however long a reader does not read")
    func lostIsBounded() {
        let driver = driver {
            $0.limits.requestsPerSecond = 10_000; $0.requestsBurst = 10_000
        }
        let bob = bob(driver)
        bob.join("lesson")
        bob.subscribeTopic("lesson", "points")
        var flows: [(client: TestClient, flow: UInt32)] = []
        for number in 0..<150 {
            let client = TestClient(driver, "user-\(number)", instance: "00000000000001\(number % 90 + 10)")
            client.join("lesson")
            flows.append((client, client.joinTopic("lesson", "points")))
        }
        flows[0].client.publish("lesson", [1])
        for client in flows { _ = rest(client.client) }
        _ = rest(bob)
        begin(bob)
        for _ in 0..<40 {
            for (client, flow) in flows { client.packet(flow, [1]) }
        }
        #expect(driver.hub.lostMeanwhile(of: bob.id) <= 2 * 150 + 64)
        var lost: [UInt32: UInt32] = [:]
        for frame in rest(bob) where frame.type == FrameType.lost.rawValue {
            for range in frame.body.withUnsafeBytes({ try! LostFrame(body: $0) }).ranges {
                #expect(range.first == lost[range.flow, default: 0] + 1)
                lost[range.flow] = range.last
            }
        }
        #expect(lost == Dictionary(uniqueKeysWithValues: flows.map { ($0.flow, 40) }))
    }
}
