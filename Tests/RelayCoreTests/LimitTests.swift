import RelayCore
import RelayTestKit
import RelayWire
import Testing

/// Both sides of every count and size: at the limit it passes, one over is refused with code, limit and value, and
/// nothing has changed.
@Suite struct LimitTests {
    private func driver(_ change: (inout Configuration) -> Void = { _ in }) -> HubDriver {
        var configuration = Configuration()
        // Requests are counted elsewhere.
        configuration.limits.requestsPerSecond = 100_000
        configuration.requestsBurst = 100_000
        change(&configuration)
        return HubDriver(configuration: configuration)
    }

    private func passes(_ outcome: TestClient.Outcome) -> Bool { if case .frame(.answer, _) = outcome { true } else { false } }

    private func refused(_ outcome: TestClient.Outcome, _ code: ErrorCode, limit: Int, actual: Int, _ what: String = "") {
        guard case .error(let error) = outcome else {
            Issue.record("\(what): not refused: \(outcome)")
            return
        }
        #expect(error.code == code && error.limit == UInt64(limit) && error.actual == UInt64(actual), "\(what): \(error)")
    }

    // MARK: - Channels

    @Test("[CH7] 50 subscribed message channels and 100 joined stream channels; one more of either is refused, calling again is not one more")
    func channelsPerSession() {
        let driver = driver()
        let alice = TestClient(driver, "alice")
        for index in 0..<50 { #expect(passes(alice.subscribe("m\(index)"))) }
        for index in 0..<100 { #expect(passes(alice.join("s\(index)"))) }
        refused(alice.subscribe("m50"), .limitReached, limit: 50, actual: 51)
        refused(alice.join("s100"), .limitReached, limit: 100, actual: 101)
        #expect(passes(alice.subscribe("m7")) && passes(alice.join("s7")))
        #expect(driver.hub.census().channels.count == 150, "what is refused leaves no channel behind")
        alice.request(.unsubscribe) { ChannelRequest(id: $0, channel: try! Name("m0")) }
        #expect(passes(alice.subscribe("m50")))
    }

    @Test("[ST2] a stream channel holds 1,000 users, quiet ones among them; one more is refused")
    func usersPerStreamChannel() {
        let driver = driver()
        for index in 0..<1_000 { #expect(passes(TestClient(driver, "u\(index)").join("lesson", quiet: index == 0))) }
        let late = TestClient(driver, "late")
        refused(late.join("lesson"), .channelFull, limit: 1_000, actual: 1_001)
        #expect(passes(late.join("other")))
    }

    @Test("[CH8, SE5] channels of each kind and connections of a relay; the one too many gets a code, those inside notice nothing")
    func relayLimits() {
        let driver = driver {
            $0.channelsMax = 2
            $0.connectionsMax = 2
        }
        let alice = TestClient(driver, "alice")
        #expect(passes(alice.subscribe("a")) && passes(alice.subscribe("b")) && passes(alice.join("a")) && passes(alice.join("b")))
        refused(alice.subscribe("c"), .relayFull, limit: 2, actual: 3)
        refused(alice.join("c"), .relayFull, limit: 2, actual: 3)
        alice.publish("c", [1])
        #expect(alice.errors().map(\.code) == [.relayFull])
        let bob = TestClient(driver, "bob")
        let third = driver.open()
        #expect(driver.received(third).map { FrameType(rawValue: $0.type) } == [.closing])
        #expect(bob.welcome != nil && driver.isOpen(bob.id) && !driver.isClosing(bob.id))
        #expect(Configuration().channelsMax == 10_000 && Configuration().connectionsMax == 12_000)
    }

    // MARK: - Topics

    @Test("[ST3] 8 published topics per user and channel; topic meta of 256 bytes and lifetimes of 50…1,000 ms pass")
    func publishedTopics() {
        let alice = TestClient(driver(), "alice")
        alice.join("lesson")
        alice.join("other")
        func join(_ topic: String, _ channel: String = "lesson", meta: String? = nil, lifetimeMs: Int? = nil) -> TestClient.Outcome {
            alice.request(.joinTopic) {
                JoinTopicRequest(id: $0, channel: try! Name(channel), topic: try! Name(topic), meta: meta, lifetimeMs: lifetimeMs)
            }
        }
        let long = String(repeating: "é", count: 128)
        #expect(passes(join("t0", meta: long, lifetimeMs: 50)) && passes(join("t1", lifetimeMs: 1_000)))
        refused(join("t2", meta: long + "x"), .tooLarge, limit: 256, actual: 257)
        refused(join("t2", lifetimeMs: 49), .badRequest, limit: 50, actual: 49)
        refused(join("t2", lifetimeMs: 1_001), .badRequest, limit: 1_000, actual: 1_001)
        for index in 2..<8 { #expect(passes(join("t\(index)"))) }
        refused(join("t8"), .limitReached, limit: 8, actual: 9)
        #expect(passes(join("t3")) && passes(join("t8", "other")))
    }

    @Test("[ST7, ST8] 50 subscribed topics per channel; 64 listed users per selection over several calls, oneself and those who are not there among them")
    func selections() throws {
        let alice = TestClient(driver(), "alice")
        alice.join("lesson")
        for index in 0..<50 { #expect(passes(alice.subscribeTopic("lesson", "t\(index)", users: index == 0 ? [] : nil)) || index == 0) }
        alice.subscribeTopic("lesson", "t0", users: ["alice"])
        refused(alice.subscribeTopic("lesson", "t50"), .limitReached, limit: 50, actual: 51)
        let first = alice.answer(TopicUsersAnswer.self, alice.subscribeTopic("lesson", "t0", users: (0..<40).map { "u\($0)" }))
        #expect(first?.succeeded.count == 40 && first?.failed.isEmpty == true)
        let second = try #require(alice.answer(TopicUsersAnswer.self, alice.subscribeTopic("lesson", "t0", users: ["_bad"] + (30..<70).map { "u\($0)" })))
        #expect(second.succeeded.count == 33, "10 are listed already, 23 make 64")
        #expect(second.failed.map(\.code) == [.badName] + [ErrorCode](repeating: .limitReached, count: 7))
        #expect(second.failed.dropFirst().map(\.user) == (63..<70).map { "u\($0)" })
    }

    // MARK: - States and presence

    @Test("[PR8] 32 states and 2,048 bytes of keys and values per user and channel; what replaces counts instead; 150 channels of a session")
    func states() {
        let driver = driver()
        let alice = TestClient(driver, "alice")
        func set(_ states: [String: String], _ channel: String = "lesson") -> TestClient.Outcome {
            alice.request(.setStates) { SetStatesRequest(id: $0, kind: .message, channel: try! Name(channel), states: states) }
        }
        #expect(passes(set(Dictionary(uniqueKeysWithValues: (0..<32).map { ("k\($0)", "v") }))))
        refused(set(["one more": "v"]), .limitReached, limit: 32, actual: 33)
        #expect(passes(set(["k0": "other"])))
        #expect(passes(set(["big": String(repeating: "x", count: 2_045)], "bytes")))
        refused(set(["b": ""], "bytes"), .tooLarge, limit: 2_048, actual: 2_049)
        refused(set(["big": String(repeating: "x", count: 2_046)], "bytes"), .tooLarge, limit: 2_048, actual: 2_049)
        // Two channels have states so far; in some of the next ones the session is, in some it is not.
        for index in 0..<148 {
            if index < 40 { alice.subscribe("c\(index)") }
            #expect(passes(set(["k": "v"], "c\(index)")))
        }
        refused(set(["k": "v"], "c148"), .limitReached, limit: 150, actual: 151)
        alice.subscribe("c148")
        refused(set(["k": "v"], "c148"), .limitReached, limit: 150, actual: 151)
        alice.request(.removeStates) { RemoveStatesRequest(id: $0, kind: .message, channel: try! Name("c0")) }
        #expect(passes(set(["k": "v"], "c148")))
    }

    @Test("[PR3, PR4] a snapshot has at most 100 members and the total; the pages of who have all 250, each once, while others come and go")
    func pages() throws {
        let driver = driver()
        let members = (0..<250).map { TestClient(driver, "user-\(1_000 + $0)") }
        for member in members { member.subscribe("lesson", features: []) }
        let watcher = TestClient(driver, "watcher")
        watcher.subscribe("lesson", features: ["presence"], quiet: true)
        let snapshot = try #require(watcher.takeOthers(.presence).first.map { TestClient.decode(PresenceEvent.self, $0.body) })
        #expect(snapshot.members?.count == 100 && snapshot.total == 250)
        #expect(snapshot.members?.map(\.user.text) == (0..<100).map { "user-\(1_000 + $0)" })
        func who(_ after: Name?, limit: Int? = nil) -> TestClient.Outcome {
            watcher.request(.who) { WhoRequest(id: $0, kind: .message, channel: try! Name("lesson"), after: after, limit: limit) }
        }
        refused(who(nil, limit: 101), .badRequest, limit: 100, actual: 101)
        refused(who(nil, limit: 0), .badRequest, limit: 100, actual: 0)
        var seen: [String] = []
        var after: Name?
        repeat {
            let page = try #require(watcher.answer(WhoAnswer.self, who(after)))
            seen += page.members.map(\.user.text)
            after = page.next
            // Behind the page somebody leaves, before it somebody comes.
            if seen.count == 100 {
                members[249].request(.unsubscribe) { ChannelRequest(id: $0, channel: try! Name("lesson")) }
                TestClient(driver, "a first one").subscribe("lesson", features: [])
            }
        } while after != nil
        #expect(seen == (0..<249).map { "user-\(1_000 + $0)" })
    }

    @Test("[PR6] above 50 members presence comes in intervals of 5 s, at 50 and from 39 on at once")
    func intervals() {
        let driver = driver()
        let watcher = TestClient(driver, "watcher")
        watcher.subscribe("lesson", features: ["presence"])
        func events() -> [PresenceEvent.Kind] { watcher.takeOthers(.presence).map { TestClient.decode(PresenceEvent.self, $0.body).event } }
        func beat(_ seconds: Int) {
            for _ in 0..<seconds {
                driver.send(Frame(.ping), from: watcher.id)
                driver.advance(.seconds(1))
            }
        }
        _ = events()
        var members: [TestClient] = []
        func come() {
            members.append(TestClient(driver, "u\(members.count)", presenceTimeoutMs: 300_000))
            members.last!.subscribe("lesson", features: [])
        }
        for _ in 0..<49 { come() }
        #expect(events() == [PresenceEvent.Kind](repeating: .join, count: 49), "50 members: each is told at once")
        come()
        #expect(events().isEmpty, "the 51st waits for the interval")
        beat(5)
        #expect(events() == [.interval])
        func leave() { members.removeLast().request(.logout) { EmptyRequest(id: $0) } }
        while members.count > 39 { leave() }
        #expect(events().isEmpty, "40 members: still in intervals")
        leave()
        #expect(events() == [.interval], "39: the rest at once")
        leave()
        #expect(events() == [.leave])
    }

    @Test("[PR7] in an interval a leave and a return within 2 s are not told, with other states they are a change, after more than 2 s they are both told")
    func flapping() throws {
        let driver = driver {
            $0.presenceIntervalAbove = 2
            $0.presenceIntervalBelow = 1
        }
        let watcher = TestClient(driver, "watcher", presenceTimeoutMs: 300_000)
        let others = ["a", "b", "c", "d"].map { TestClient(driver, $0, presenceTimeoutMs: 300_000) }
        watcher.subscribe("lesson", features: ["presence"])
        for other in others { other.subscribe("lesson", features: []) }
        driver.advance(.seconds(6))
        _ = watcher.takeOthers(.presence)
        func flap(_ client: TestClient, away: Duration, states: [String: String] = [:]) {
            client.request(.unsubscribe) { ChannelRequest(id: $0, channel: try! Name("lesson")) }
            driver.advance(away)
            if !states.isEmpty { client.request(.setStates) { SetStatesRequest(id: $0, kind: .message, channel: try! Name("lesson"), states: states) } }
            client.subscribe("lesson", features: [])
        }
        driver.send(Frame(.ping), from: watcher.id)
        flap(others[0], away: .milliseconds(300))
        flap(others[1], away: .milliseconds(300), states: ["tool": "pen"])
        flap(others[2], away: .milliseconds(2_001))
        driver.advance(.seconds(5))
        let told = watcher.takeOthers(.presence).map { TestClient.decode(PresenceEvent.self, $0.body) }
        #expect(told.allSatisfy { $0.event == .interval })
        #expect(told.flatMap { $0.changed ?? [] }.map { "\($0.user) \($0.states)" } == [#"b ["tool": "pen"]"#])
        #expect(told.flatMap { $0.left ?? [] }.map(\.text) == ["c"] && told.flatMap { $0.joined ?? [] }.map(\.user.text) == ["c"])
    }

    // MARK: - Sizes

    @Test("[MS2, ST5] 32,768 bytes of payload and custom type, types of 1…32 bytes, packets of 1,024 bytes; one over leaves offset and sequence as they are")
    func sizes() {
        let driver = driver()
        let alice = TestClient(driver, "alice")
        alice.join("lesson")
        let flow = alice.joinTopic("lesson", "points")
        func publish(_ bytes: Int, _ type: String? = nil) -> ErrorBody? {
            alice.publish("lesson", [UInt8](repeating: 1, count: bytes), customType: type)
            return alice.errors().first
        }
        #expect(publish(32_768) == nil && publish(32_736, String(repeating: "t", count: 32)) == nil && publish(1, "t") == nil)
        for (bytes, type, limit, actual) in [
            (32_769, nil, 32_768, 32_769), (32_768, "t", 32_768, 32_769), (1, String(repeating: "t", count: 33), 32, 33), (1, "", 32, 0),
        ] as [(Int, String?, UInt64, UInt64)] {
            let error = publish(bytes, type)
            #expect(error?.code == .tooLarge && error?.actual == actual && error?.limit == limit, "\(bytes) \(type ?? "-"): \(String(describing: error))")
        }
        #expect(driver.hub.head(of: try! Name("lesson")) == 3)
        alice.packet(flow, [UInt8](repeating: 1, count: 1_024))
        #expect(alice.errors().isEmpty)
        alice.packet(flow, [UInt8](repeating: 1, count: 1_025))
        let error = alice.errors().first
        #expect(error?.code == .tooLarge && error?.limit == 1_024 && error?.actual == 1_025 && error?.flow == flow)
        #expect(driver.hub.sequence(ofFlow: flow) == 1)
    }

    @Test("[SE2, SE7, HB1] client descriptions of 64 bytes, presence timeouts of 5,000…300,000 ms, pings of 8 bytes")
    func login() {
        let driver = driver()
        func login(client: String? = nil, presenceTimeoutMs: Int? = nil) -> ErrorBody? {
            let id = driver.open()
            defer { driver.cut(id) }
            driver.send(
                .json(.login, LoginRequest(
                    id: 1, user: try! Name("alice"), instance: "00000000000000aa", presenceTimeoutMs: presenceTimeoutMs, client: client)),
                from: id)
            let frames = driver.received(id)
            return frames.first { $0.type == FrameType.error.rawValue }.map { TestClient.decode(ErrorBody.self, $0.body) }
        }
        #expect(login(client: String(repeating: "é", count: 32)) == nil)
        let long = login(client: String(repeating: "é", count: 32) + "x")
        #expect(long?.code == .tooLarge && long?.limit == 64 && long?.actual == 65)
        for (milliseconds, limit) in [(5_000, nil), (300_000, nil), (4_999, 5_000), (300_001, 300_000)] as [(Int, UInt64?)] {
            let error = login(presenceTimeoutMs: milliseconds)
            #expect(error?.limit == limit && (error == nil) == (limit == nil), "\(milliseconds)")
        }
        let alice = TestClient(driver, "alice")
        driver.send(Frame(.ping, body: [UInt8](repeating: 1, count: 8)), from: alice.id)
        #expect(alice.frames(.pong).count == 1)
        driver.send(Frame(.ping, body: [UInt8](repeating: 1, count: 9)), from: alice.id)
        let error = alice.errors().first
        #expect(error?.code == .badRequest && error?.limit == 8 && error?.actual == 9)
    }

    @Test("[JS1] a JSON body of 16,384 bytes passes, one byte more is refused; both leave the connection alive")
    func jsonBody() {
        let driver = driver()
        let alice = TestClient(driver, "alice")
        for (bytes, passes) in [(16_384, true), (16_385, false)] {
            let head = #"{"id":5,"user":"bob","pad":""#
            let body = Array((head + String(repeating: "x", count: bytes - head.utf8.count - 2) + "\"}").utf8)
            #expect(body.count == bytes)
            driver.send(Frame(.whereIs, body: body), from: alice.id)
            let frames = alice.frames()
            #expect(frames.count == 1 && (frames[0].type == FrameType.answer.rawValue) == passes)
            if !passes {
                let error = TestClient.decode(ErrorBody.self, frames[0].body)
                #expect(error.code == .tooLarge && error.limit == 16_384 && error.actual == 16_385)
            }
        }
    }

    @Test("[DM5, DM4] 128 direct messages wait for confirmation, one more is refused; after 10 s each is unconfirmed")
    func directs() {
        let driver = driver { $0.limits.directMessagesPerSecond = 1_000 }
        let alice = TestClient(driver, "alice", presenceTimeoutMs: 300_000), bob = TestClient(driver, "bob", presenceTimeoutMs: 300_000)
        for number in 1...UInt64(129) { driver.send(.direct(number: number, user: "bob", payload: [1]), from: alice.id) }
        let errors = alice.errors()
        #expect(errors.map(\.code) == [.limitReached] && errors[0].limit == 128 && errors[0].actual == 129 && errors[0].number == 129)
        #expect(bob.frames(.directDeliver).count == 128)
        driver.advance(.milliseconds(4_900))
        for client in [alice, bob] { driver.send(Frame(.ping), from: client.id) }
        driver.advance(.milliseconds(5_099))
        #expect(alice.errors().isEmpty)
        driver.advance(.milliseconds(1))
        #expect(alice.errors().map(\.code) == [ErrorCode](repeating: .unconfirmed, count: 128))
    }

    @Test("[SE6] limits that are configured are told in the welcome and are those that are held")
    func configured() {
        let driver = driver {
            $0.limits.messageBytesMax = 10
            $0.limits.packetBytesMax = 5
            $0.limits.messagesPerSecond = 2
            $0.limits.subscribedChannelsMax = 1
            $0.limits.joinedChannelsMax = 1
            $0.limits.publishedTopicsMax = 1
            $0.limits.subscribedTopicsMax = 1
        }
        let alice = TestClient(driver, "alice")
        #expect(alice.welcome?.limits == driver.hub.settings.limits)
        #expect(passes(alice.subscribe("a")) && passes(alice.join("a")))
        refused(alice.subscribe("b"), .limitReached, limit: 1, actual: 2)
        refused(alice.join("b"), .limitReached, limit: 1, actual: 2)
        let flow = alice.joinTopic("a", "t")
        refused(alice.request(.joinTopic) { JoinTopicRequest(id: $0, channel: try! Name("a"), topic: try! Name("u")) }, .limitReached, limit: 1, actual: 2)
        #expect(passes(alice.subscribeTopic("a", "t")))
        refused(alice.subscribeTopic("a", "u"), .limitReached, limit: 1, actual: 2)
        alice.publish("a", [UInt8](repeating: 1, count: 11))
        #expect(alice.errors().first?.limit == 10)
        alice.packet(flow, [UInt8](repeating: 1, count: 6))
        #expect(alice.errors().first?.limit == 5)
        for _ in 0..<3 { alice.publish("a", [1]) }
        let errors = alice.errors()
        #expect(errors.count == 1 && errors[0].code == .rateLimited && errors[0].limit == 2)
    }
}
