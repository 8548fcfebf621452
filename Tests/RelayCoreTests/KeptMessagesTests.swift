import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// What a message channel keeps, and how somebody who was not there gets it.
@Suite struct KeptMessagesTests {
    func driver(_ change: (inout Configuration) -> Void = { _ in }) -> HubDriver {
        var configuration = Configuration()
        configuration.limits.messagesPerSecond = 1_000_000
        configuration.limits.packetsPerSecond = 1_000_000
        change(&configuration)
        return HubDriver(configuration: configuration)
    }

    func bob(_ driver: HubDriver) -> TestClient { TestClient(driver, "bob", instance: "00000000000000bb") }

    /// What comes to a client, in words: `5` a message by offset, `gap 1…3`, `caughtUp 7`, `lost 2…4`, `packet 1`.
    func told(_ frames: [Frame]) -> [String] {
        frames.compactMap { frame in
            frame.body.withUnsafeBytes { body in
                switch FrameType(rawValue: frame.type) {
                case .deliver?: return "\(try! DeliverFrame(flags: frame.flags, body: body).offset)"
                case .packet?: return "packet \(try! PacketFrame(flags: frame.flags, body: body).sequence)"
                case .lost?:
                    let lost = try! LostFrame(body: body)
                    return "lost \(lost.reason): " + lost.ranges.map { "\($0.first)…\($0.last)" }.joined(separator: ",")
                case .gap?:
                    let gap = TestClient.decode(Gap.self, frame.body)
                    return "gap \(gap.from)…\(gap.to)"
                case .caughtUp?: return "caughtUp \(TestClient.decode(CaughtUp.self, frame.body).head)"
                case .flowClosed?: return "flowClosed"
                default: return nil
                }
            }
        }
    }

    func told(_ client: TestClient) -> [String] {
        let frames = client.others + client.frames()
        client.others = []
        return told(frames)
    }

    func answer(_ client: TestClient, since: Since, features: [String]? = nil) -> SubscribeAnswer? {
        client.answer(SubscribeAnswer.self, client.subscribe("lesson", features: features, since: since))
    }

    func position(_ offset: UInt64, start: UInt32 = 1_800_000_000) -> Since {
        .position(ChannelPosition(epoch: Epoch(start: start, incarnation: 1), offset: offset))
    }

    // MARK: - What is kept

    @Test("[HI1] a channel keeps its newest messages: by count, by bytes, by age to the millisecond, and none when none is allowed")
    func bounds() {
        // 24 bytes of a delivery's head and 6 of the frame's stand before each payload.
        for (name, kept, change) in [
            ("count", 3, { $0.historyMessagesMax = 3 }), ("bytes", 2, { $0.historyBytesMax = 2 * 130 + 129 }),
            ("none", 0, { $0.historyMessagesMax = 0 }),
        ] as [(String, Int, (inout Configuration) -> Void)] {
            let driver = driver(change), alice = TestClient(driver, "alice"), bob = bob(driver)
            for _ in 1...5 { alice.publish("lesson", [UInt8](repeating: 1, count: 100)) }
            let census = driver.hub.census()
            #expect(census.historyMessages == kept && census.historyBytes == kept * (130 + 256), "\(name)")
            let answer = answer(bob, since: .beginning)
            #expect(
                answer?.missed == OffsetRange(from: 1, to: UInt64(5 - kept)) && answer?.recovered == false
                    && answer?.after == UInt64(5 - kept))
            #expect(told(bob) == (6 - kept..<6).map { "\($0)" } + ["caughtUp 5"], "\(name)")
        }
        let driver = driver()
        TestClient(driver, "alice").publish("lesson", [1])
        driver.advance(.milliseconds(599_999))
        // Whoever was there has been silent for too long.
        let bob = bob(driver)
        TestClient(driver, "carol", instance: "00000000000000cc").publish("lesson", [2])
        #expect(answer(bob, since: .beginning)?.recovered == true && told(bob) == ["1", "2", "caughtUp 2"])
        driver.advance(.milliseconds(1))
        #expect(answer(bob, since: .beginning)?.missed == OffsetRange(from: 1, to: 1) && told(bob) == ["2", "caughtUp 2"])
    }

    @Test("[HI1] all channels together keep so much; the oldest go first, and nothing is left when the channels have ended")
    func total() {
        let driver = driver { $0.historyBytesTotalMax = 7 * 386 + 100 }
        let alice = TestClient(driver, "alice")
        for number in 0..<20 {
            alice.publish("lesson-\(number % 4)", [UInt8](repeating: 1, count: 100))
            driver.advance(.milliseconds(1))
            #expect(driver.hub.census().historyBytes <= 7 * 386 + 100)
        }
        #expect(driver.hub.census().historyMessages == 6)
        let bob = bob(driver)
        // Of 20 messages the newest six are there: the last one of lesson-0 is number 17.
        bob.subscribe("lesson-0", since: .beginning)
        #expect(told(bob) == ["5", "caughtUp 5"])
        for client in [alice, bob] { driver.cut(client.id) }
        driver.advance(.seconds(1_300))
        let census = driver.hub.census()
        #expect(census.historyBytes == 0 && census.historyMessages == 0 && census.channels.isEmpty && census.deadlines == 0)
    }

    @Test("[HI1] a message with noHistory is not kept and not told missed; who was catching up when it was accepted gets it")
    func transient() {
        let driver = driver(), alice = TestClient(driver, "alice"), bob = bob(driver)
        alice.publish("lesson", [1])
        alice.publish("lesson", [2], flags: .noHistory)
        alice.publish("lesson", [3])
        begin(bob, since: .beginning)
        alice.publish("lesson", [4], flags: .noHistory)
        alice.publish("lesson", [5])
        #expect(told(bob) == ["1", "3", "4", "5", "caughtUp 5"])
        let carol = TestClient(driver, "carol", instance: "00000000000000cc")
        #expect(answer(carol, since: .beginning)?.recovered == true)
        #expect(told(carol) == ["1", "3", "5", "caughtUp 5"])
    }

    @Test("[HI1] the bounds hold to the byte and to the message: what reaches one is kept, one more drops the oldest")
    func exactly() {
        // Frames of 130, 130 and 131 bytes.
        for (name, kept, change) in [
            ("bytes", 3, { $0.historyBytesMax = 391 }), ("a byte less", 2, { $0.historyBytesMax = 390 }),
            ("one message", 1, { $0.historyBytesMax = 131 }), ("no message", 0, { $0.historyBytesMax = 130 }),
            ("count", 3, { $0.historyMessagesMax = 3 }), ("one less", 2, { $0.historyMessagesMax = 2 }),
            ("in total", 3, { $0.historyBytesTotalMax = 391 + 3 * 256 }),
            // Then down to 15 of its 16 parts.
            ("in total, a byte less", 2, { $0.historyBytesTotalMax = 390 + 3 * 256 }),
        ] as [(String, Int, (inout Configuration) -> Void)] {
            let driver = driver(change), alice = TestClient(driver, "alice"), bob = bob(driver)
            for bytes in [100, 100, 101] { alice.publish("lesson", [UInt8](repeating: 1, count: bytes)) }
            #expect(driver.hub.census().historyMessages == kept, "\(name)")
            #expect(driver.hub.census().historyBytes == [0, 131, 261, 391][kept] + kept * 256, "\(name)")
            let missed = kept == 3 ? nil : OffsetRange(from: 1, to: UInt64(3 - kept))
            #expect(answer(bob, since: .beginning)?.missed == missed, "\(name)")
            #expect(told(bob) == (4 - kept..<4).map { "\($0)" } + ["caughtUp 3"], "\(name)")
        }
    }

    @Test("[HI1, HI4] a message with noHistory that a reader's catch-up kept here is missed by that reader alone when it is dropped")
    func transientDropped() {
        for most in [3, 0] {
            let driver = driver {
                $0.historyMessagesMax = most
                $0.catchUpBlockBytes = 1
                $0.catchUpQueueBytes = 1
            }
            let alice = TestClient(driver, "alice"), bob = bob(driver)
            for number in UInt8(1)...3 { alice.publish("lesson", [number]) }
            begin(bob, since: .beginning)
            alice.publish("lesson", [4], flags: .noHistory)
            for number in UInt8(5)...7 where most > 0 { alice.publish("lesson", [number]) }
            #expect(driver.hub.census().historyMessages == most)
            // It has seen all that was to be kept of what is not here.
            let carol = TestClient(driver, "carol", instance: "00000000000000cc")
            let answer = answer(carol, since: position(3))
            #expect(answer?.recovered == true && answer?.missed == nil, "\(most)")
            #expect(told(carol) == (most > 0 ? ["5", "6", "7", "caughtUp 7"] : ["caughtUp 4"]))
            #expect(told(bob) == (most > 0 ? ["gap 1…4", "5", "6", "7", "caughtUp 7"] : ["gap 4…4", "caughtUp 4"]))
        }
    }

    @Test("[CH2, HI1] what a channel keeps goes with it, at that moment, and a new one of its name has nothing of it")
    func endOfChannel() {
        let driver = driver()
        // The first message sets the moments at which old ones are looked for: every minute from here on.
        let before = TestClient(driver, "carol", instance: "00000000000000cc")
        before.publish("other", [1])
        driver.cut(before.id)
        driver.advance(.seconds(30))
        let alice = TestClient(driver, "alice")
        for _ in 1...10 { alice.publish("lesson", [UInt8](repeating: 1, count: 100)) }
        driver.cut(alice.id)
        driver.advance(.milliseconds(599_999))
        #expect(driver.hub.census().channels.map(\.name) == ["lesson"] && driver.hub.census().historyBytes == 10 * (130 + 256))
        driver.advance(.milliseconds(1))
        #expect(driver.hub.census().channels.isEmpty && driver.hub.census().historyBytes == 0 && driver.hub.census().historyMessages == 0)
        let again = TestClient(driver, "alice", instance: "00000000000000ab"), bob = bob(driver)
        again.publish("lesson", [2])
        let answer = answer(bob, since: position(10))
        #expect(answer?.reset == true && answer?.after == 0 && answer?.head == 1 && told(bob) == ["1", "caughtUp 1"])
    }

    // MARK: - Catching up

    /// Subscribes, and reads nothing.
    func begin(_ client: TestClient, since: Since) {
        driver(of: client).send(
            .json(
                .subscribe, SubscribeRequest(id: client.nextRequest(), channel: try! Name("lesson"), features: ["messages"], since: since)),
            from: client.id)
    }

    func driver(of client: TestClient) -> HubDriver { client.driver }

    @Test(
        "[CH6, HI2] since: what is missing is told, what is kept follows, then what is sent",
        arguments: [
            (Since.beginning, 1, 2, nil),
            (.position(ChannelPosition(epoch: Epoch(start: 1_800_000_000, incarnation: 1), offset: 0)), 1, 2, nil),
            (.position(ChannelPosition(epoch: Epoch(start: 1_800_000_000, incarnation: 1), offset: 1)), 2, 2, nil),
            (.position(ChannelPosition(epoch: Epoch(start: 1_800_000_000, incarnation: 1), offset: 2)), nil, 2, nil),
            (.position(ChannelPosition(epoch: Epoch(start: 1_800_000_000, incarnation: 1), offset: 4)), nil, 4, nil),
            (.position(ChannelPosition(epoch: Epoch(start: 1_800_000_000, incarnation: 1), offset: 5)), nil, 5, nil),
            (.position(ChannelPosition(epoch: Epoch(start: 1_800_000_000, incarnation: 1), offset: 6)), 1, 2, true),
            (.position(ChannelPosition(epoch: Epoch(start: 1_700_000_000, incarnation: 1), offset: 3)), 1, 2, true),
        ] as [(Since, UInt64?, UInt64, Bool?)])
    func since(_ since: Since, missedFrom: UInt64?, after: UInt64, reset: Bool?) {
        let driver = driver { $0.historyMessagesMax = 3 }
        let alice = TestClient(driver, "alice"), bob = bob(driver)
        for number in UInt8(1)...5 { alice.publish("lesson", [number]) }
        let answer = answer(bob, since: since)
        #expect(answer?.missed == missedFrom.map { OffsetRange(from: $0, to: 2) } && answer?.reset == reset && answer?.after == after)
        #expect(answer?.recovered == (missedFrom == nil && reset == nil) && answer?.head == 5)
        let kept = after < 5 ? (after + 1...5).map { "\($0)" } : []
        #expect(told(bob) == kept + ["caughtUp 5"])
        alice.publish("lesson", [6])
        #expect(told(bob) == ["6"])
    }

    @Test("[HI2] with a message arriving between any two bytes that a reader takes, each comes once and in order; little ever waits for it")
    func seam() {
        let driver = driver {
            $0.catchUpQueueBytes = 300
            $0.catchUpBlockBytes = 400
        }
        let alice = TestClient(driver, "alice"), bob = bob(driver)
        for _ in 1...40 { alice.publish("lesson", [UInt8](repeating: 1, count: 100)) }
        begin(bob, since: .beginning)
        var most = 0
        for _ in 0..<100 {
            driver.take(bob.id, bytes: 333)
            alice.publish("lesson", [UInt8](repeating: 2, count: 20))
            most = max(most, driver.hub.load(of: bob.id)?.reliable ?? 0)
        }
        let words = told(bob)
        #expect(words.filter { !$0.hasPrefix("caughtUp") } == (1...140).map { "\($0)" })
        #expect(words.filter { $0.hasPrefix("caughtUp") }.count == 1 && words.last == "140")
        // The answer and the presence of one, a block, and what was live at the end.
        #expect(most < 300 + 400 + 600, "\(most)")
    }

    @Test("[HI2] a reader of the whole history is no slow consumer by it, and others are served between two blocks")
    func blocks() {
        let driver = driver {
            $0.reliableBacklogBytesHard = 200_000
            $0.reliableBacklogBytesSoft = 150_000
            $0.catchUpTurnBytes = 100_000
        }
        let alice = TestClient(driver, "alice"), readers = [bob(driver), TestClient(driver, "carol", instance: "00000000000000cc")]
        for _ in 1...100 { alice.publish("lesson", [UInt8](repeating: 1, count: 30_000)) }
        _ = alice.frames()
        driver.offers = false
        for reader in readers { begin(reader, since: .beginning) }
        var turns = 0
        while driver.hub.wantsTurn || turns == 0 {
            turns += 1
            driver.hub.beginFlush(at: driver.now)
            alice.publish("other", [1])
            var served: Set<Int32> = []
            var given = 0
            while let id = driver.hub.nextDirty() {
                served.insert(id.index)
                let bytes = driver.flush(id)
                if id != alice.id { given += bytes }
                #expect((driver.hub.load(of: id)?.reliable ?? 0) < 64 * 1024 + 64 * 1024)
            }
            // Everybody in each turn; at most the turn's share and a block that was begun.
            #expect(turns >= 30 || served == [alice.id.index, readers[0].id.index, readers[1].id.index], "turn \(turns): \(served)")
            #expect(given <= 100_000 + 64 * 1024 + 2_000, "turn \(turns): \(given) bytes")
        }
        #expect(turns >= 36, "6 MB at up to 165 kB a turn")
        for reader in readers {
            let frames = driver.received(reader.id)
            #expect(told(frames) == (1...100).map { "\($0)" } + ["caughtUp 100"])
            #expect(!frames.contains { $0.type == FrameType.closing.rawValue })
        }
        #expect(driver.hub.census().catchingUp == 0 && driver.hub.census().counters.messagesRecovered == 200)
    }

    @Test("[HI2, MS6] own messages come to another client object, and to the same one only with echo")
    func own() {
        let driver = driver()
        let alice = TestClient(driver, "alice")
        alice.publish("lesson", [1])
        alice.publish("lesson", [2], flags: .echo)
        #expect(answer(alice, since: .beginning)?.recovered == true && told(alice) == ["2", "caughtUp 2"])
        driver.cut(alice.id)
        let again = TestClient(driver, "alice", instance: "00000000000000ab")
        #expect(answer(again, since: .beginning)?.recovered == true && told(again) == ["1", "2", "caughtUp 2"])
    }

    @Test("[HI2] subscribing again lets it go on; with since it begins anew; without messages, and after leaving, nothing more comes")
    func again() throws {
        for change in ["again", "since", "presence", "leave"] {
            let driver = driver {
                $0.catchUpBlockBytes = 1
                $0.catchUpQueueBytes = 1
            }
            let alice = TestClient(driver, "alice"), bob = bob(driver)
            for number in UInt8(1)...4 { alice.publish("lesson", [number]) }
            begin(bob, since: .beginning)
            while !told(driver.received(bob.id, all: false)).contains("2") { driver.take(bob.id, bytes: 31) }
            let name = try Name("lesson")
            let request: Frame =
                switch change {
                case "again": .json(.subscribe, SubscribeRequest(id: 90, channel: name, features: ["messages", "presence"]))
                case "since": .json(.subscribe, SubscribeRequest(id: 90, channel: name, features: ["messages"], since: .beginning))
                case "presence": .json(.subscribe, SubscribeRequest(id: 90, channel: name, features: ["presence"]))
                default: .json(.unsubscribe, ChannelRequest(id: 90, channel: name))
                }
            driver.send(request, from: bob.id)
            alice.publish("lesson", [5])
            let words = told(bob)
            switch change {
            case "again": #expect(words == ["3", "4", "5", "caughtUp 5"] || words == ["4", "5", "caughtUp 5"], "\(words)")
            case "since": #expect(words.suffix(6) == ["1", "2", "3", "4", "5", "caughtUp 5"], "\(words)")
            default: #expect(!words.contains("5") && !words.contains { $0.hasPrefix("caughtUp") }, "\(change): \(words)")
            }
            #expect(driver.hub.census().catchingUp == 0)
        }
    }

    @Test("[HI4] what the history drops before it was given is told in its place")
    func gap() {
        let driver = driver {
            $0.historyMessagesMax = 4
            $0.catchUpBlockBytes = 1
            $0.catchUpQueueBytes = 1
        }
        let alice = TestClient(driver, "alice"), bob = bob(driver)
        for number in UInt8(1)...4 { alice.publish("lesson", [number]) }
        begin(bob, since: .beginning)
        while !told(driver.received(bob.id, all: false)).contains("1") { driver.take(bob.id, bytes: 31) }
        for number in UInt8(5)...9 { alice.publish("lesson", [number]) }
        let words = told(bob)
        #expect(
            words == ["gap 2…5", "6", "7", "8", "9", "caughtUp 9"] || words == ["2", "gap 3…5", "6", "7", "8", "9", "caughtUp 9"],
            "\(words)")
    }

    @Test(
        "[HI3, HI5, DL7] packets of that name are lost meanwhile, and told exactly: before caughtUp, a flow's end, and a change of the selection",
        arguments: ["caughtUp", "flowClosed", "unsubscribeTopic"])
    func packets(end: String) throws {
        let driver = driver(), alice = TestClient(driver, "alice"), bob = bob(driver)
        for client in [alice, bob] { client.join("lesson") }
        let flow = alice.joinTopic("lesson", "points")
        bob.subscribeTopic("lesson", "points")
        alice.publish("lesson", [1])
        alice.packet(flow, [1])
        _ = told(bob)
        begin(bob, since: .beginning)
        for number in UInt8(2)...4 { alice.packet(flow, [number]) }
        switch end {
        case "flowClosed":
            driver.send(.json(.leaveTopic, TopicRequest(id: 90, channel: try Name("lesson"), topic: try Name("points"))), from: alice.id)
            #expect(told(bob) == ["lost 3: 2…4", "flowClosed", "1", "caughtUp 1"])
        case "unsubscribeTopic":
            driver.send(
                .json(.unsubscribeTopic, TopicUsersRequest(id: 90, channel: try Name("lesson"), topic: try Name("points"))), from: bob.id)
            alice.packet(flow, [5])
            #expect(told(bob) == ["lost 3: 2…4", "1", "caughtUp 1"])
        default:
            #expect(told(bob) == ["1", "lost 3: 2…4", "caughtUp 1"])
            alice.packet(flow, [5])
            #expect(told(bob) == ["packet 5"])
        }
        #expect(driver.hub.census().counters.packetsShedCatchingUp == 3)
    }

    // MARK: - Resumption

    @Test(
        "[SE9, HI2] a session goes on where its client was; a channel that it does not name goes on with what is sent",
        arguments: [nil, 0, 2, 4, 9] as [UInt64?])
    func resumed(seen: UInt64?) throws {
        let driver = driver { $0.historyMessagesMax = 3 }
        let alice = TestClient(driver, "alice"), bob = bob(driver)
        let answer = try #require(bob.answer(SubscribeAnswer.self, bob.subscribe("lesson", features: ["messages"])))
        let epoch = try #require(answer.epoch)
        func place(_ offset: UInt64) -> [UInt64] { Since.position(ChannelPosition(epoch: epoch, offset: offset)).place }
        let token = try #require(bob.welcome?.resumeToken)
        driver.cut(bob.id)
        for number in UInt8(1)...4 { alice.publish("lesson", [number]) }
        let id = driver.open()
        driver.send(
            .json(
                .login,
                LoginRequest(
                    id: 1, user: try Name("bob"), instance: "00000000000000bb",
                    resume: ResumeRequest(token: token, seen: seen.map { ["lesson": place($0), "elsewhere": place(1)] }))),
            from: id)
        let frames = driver.received(id)
        let restored = try #require(
            frames.first { $0.type == FrameType.restored.rawValue }.map { TestClient.decode(SubscribeAnswer.self, $0.body) })
        switch seen {
        case 0:
            #expect(restored.missed == OffsetRange(from: 1, to: 1) && restored.after == 1 && told(frames) == ["2", "3", "4", "caughtUp 4"])
        case 2: #expect(restored.recovered == true && restored.after == 2 && told(frames) == ["3", "4", "caughtUp 4"])
        default: #expect(restored.after == nil && restored.missed == nil && told(frames).isEmpty)
        }
        alice.publish("lesson", [5])
        #expect(told(driver.received(id)) == ["5"])
    }

    @Test("[SE2, SE11] who has seen nothing of a channel yet says so in the login, and gets all that is kept")
    func seenNothing() throws {
        let driver = driver(), alice = TestClient(driver, "alice"), bob = bob(driver)
        for number in UInt8(1)...3 { alice.publish("lesson", [number]) }
        bob.subscribe("lesson", since: .beginning)
        // The answer went with the link.
        let token = try #require(bob.welcome?.resumeToken)
        driver.cut(bob.id)
        let id = driver.open()
        driver.send(
            .json(
                .login,
                LoginRequest(
                    id: 1, user: try Name("bob"), instance: "00000000000000bb",
                    resume: ResumeRequest(token: token, seen: ["lesson": Since.beginning.place]))), from: id)
        let frames = driver.received(id)
        let restored = try #require(
            frames.first { $0.type == FrameType.restored.rawValue }.map { TestClient.decode(SubscribeAnswer.self, $0.body) })
        #expect(restored.recovered == true && restored.after == 0 && restored.reset == nil)
        #expect(told(frames) == ["1", "2", "3", "caughtUp 3"])
    }

    @Test("[SE9] positions that are none are badRequest")
    func badPositions() throws {
        let places: [[UInt64]] = [[1], [1, 2], [1 << 53, 1, 1], [1, 1 << 32, 1], [1, 1, 1 << 32], [1, 2, 3, 0], [1, 2, 3, 1, 1]]
        for place in places {
            let driver = driver()
            let id = driver.open()
            driver.send(
                .json(
                    .login,
                    LoginRequest(
                        id: 1, user: try Name("bob"), instance: "00000000000000bb",
                        resume: ResumeRequest(token: String(repeating: "0", count: 32), seen: ["lesson": place]))), from: id)
            let error = try #require(driver.received(id).first { $0.type == FrameType.error.rawValue })
            #expect(TestClient.decode(ErrorBody.self, error.body).code == .badRequest)
        }
    }
}
