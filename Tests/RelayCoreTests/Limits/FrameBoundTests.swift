import RelayCore
import RelayPrimitives
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// Whatever clients put together, no answer and no event is longer than a frame may be. `HubDriver` reads each frame as
/// a client does: one that announces too much stops the test.
@Suite struct FrameBoundTests {
    @Test("[ST7, FR3] a request names at most 1,000 users: 5,000 names that each fail are refused, 1,000 are answered in one frame")
    func failures() throws {
        let alice = TestClient(HubDriver.patient(), "alice")
        alice.join("lesson")
        #expect(passes(alice.subscribeTopic("lesson", "t", users: ["bob"])))
        // As many as fit into a request.
        let many = [String](repeating: "", count: 5_000)
        for type in [FrameType.subscribeTopic, .unsubscribeTopic] {
            func ask(_ users: [String]) -> TestClient.Outcome {
                alice.request(type) { TopicUsersRequest(id: $0, channel: name("lesson"), topic: name("t"), users: users) }
            }
            refused(ask(many), .limitReached, limit: 1_000, actual: 5_000)
            refused(ask([String](repeating: "bob", count: 1_001)), .limitReached, limit: 1_000, actual: 1_001)
            // The most that comes back for what was sent: names are repeated, and quotes in them take two bytes again.
            let bytes = (Limits.jsonBodyBytesMax - 80) / 1_000 - 3
            let long = [String](repeating: String(repeating: "\"", count: bytes / 2), count: 1_000)
            let answer = try #require(alice.answer(TopicUsersAnswer.self, ask(long)))
            #expect(answer.succeeded.count + answer.failed.count == 1_000)
        }
        let listed = alice.answer(
            SubscribedUsersAnswer.self,
            alice.request(.subscribedUsers) { SubscribedUsersRequest(id: $0, channel: name("lesson"), topic: name("t")) })
        #expect(listed?.users.map(\.text).contains("bob") == true, "what was refused took nobody away")
    }

    @Test(
        "[ST8, FR3] everybody who publishes in a topic, 300 with names that double when written, comes page by page, each once and in order"
    )
    func publishers() throws {
        let driver = HubDriver.patient()
        let users = (0..<300).map { index in
            let digits = String(10_000 + index)
            return digits + String(repeating: "\"", count: Limits.nameBytesMax - digits.utf8.count)
        }
        var dice = SplitMix64(seed: 3)
        for user in users.shuffled(using: &dice) {
            let client = TestClient(driver, user)
            client.join("lesson")
            client.joinTopic("lesson", "points")
            _ = client.frames()
        }
        let watcher = try #require(users.first.map { TestClient(driver, $0) })
        watcher.join("lesson")
        watcher.subscribeTopic("lesson", "points")
        var seen: [String] = []
        var after: Name?
        repeat {
            let outcome = watcher.request(.subscribedUsers) {
                SubscribedUsersRequest(id: $0, channel: name("lesson"), topic: name("points"), after: after)
            }
            let page = try #require(watcher.answer(SubscribedUsersAnswer.self, outcome))
            #expect(page.all && !page.users.isEmpty)
            seen += page.users.map(\.text)
            after = page.next
        } while after != nil
        // The watcher took over the first one's session, whose flows ended.
        #expect(seen == Array(users.dropFirst()))
    }

    @Test("[PR4, FR3] where a user is comes page by page, however many channels a relay lets it into", arguments: [150, 700])
    func places(count: Int) throws {
        let driver = HubDriver.patient { $0.limits.joinedChannelsMax = 1_000 }
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob")
        let channels = (0..<count).map { index in
            let digits = String(1_000 + index)
            return digits + String(repeating: "\"", count: Limits.nameBytesMax - digits.utf8.count)
        }
        for channel in channels { alice.join(channel) }
        alice.subscribe(channels[count - 1])
        var seen: [ChannelID] = []
        var after: ChannelID?
        var pages = 0
        repeat {
            let outcome = bob.request(.whereIs) { WhereRequest(id: $0, user: name("alice"), after: after) }
            let page = try #require(bob.answer(WhereAnswer.self, outcome))
            #expect(!page.channels.isEmpty)
            seen += page.channels
            after = page.next
            pages += 1
        } while after != nil
        let last = ChannelID(kind: .message, channel: name(channels[count - 1]))
        #expect(Set(seen) == Set(channels.map { ChannelID(kind: .stream, channel: name($0)) } + [last]))
        #expect(seen == seen.sorted() && seen.count == count + 1 && pages == (count + 1 + 125) / 126, "126 of 97 bytes fit into 12 KiB")
        let end = bob.answer(WhereAnswer.self, bob.request(.whereIs) { WhereRequest(id: $0, user: name("alice"), after: seen.last) })
        #expect(end?.channels == [] && end?.next == nil)
    }

    @Test("[PR6, FR3] an interval with as many states as there can be is split so that each frame holds, and nothing is told twice")
    func intervals() {
        let driver = HubDriver.patient {
            $0.presenceIntervalAbove = 1
            $0.presenceIntervalBelow = 1
        }
        let watcher = TestClient(driver, "watcher", presenceTimeoutMs: 300_000)
        watcher.subscribe("lesson", features: ["presence"])
        TestClient(driver, "a first one").subscribe("lesson", features: [])
        _ = watcher.frames()
        // Each byte is written as an escape of six. Five full ones and a sixth reach the page's bound, a seventh passes it.
        let sizes = [2_047, 2_047, 2_047, 2_047, 2_047, 1_653, 2_047, 2_047]
        let clients = sizes.indices.map { TestClient(driver, "user-\($0)", presenceTimeoutMs: 300_000) }
        for (client, size) in zip(clients, sizes) {
            client.setStates(["k": String(repeating: "\u{1}", count: size)])
            client.subscribe("lesson", features: [])
        }
        watcher.ping()
        driver.advance(.seconds(5))
        var told = watcher.frames(.presence)
        #expect(told.count == 1)
        driver.advance(.milliseconds(249))
        #expect(watcher.frames(.presence).isEmpty)
        driver.advance(.milliseconds(1))
        told += watcher.frames(.presence)
        let joined = told.flatMap { TestClient.decode(PresenceEvent.self, $0.body).joined ?? [] }
        #expect(joined.map(\.user) == ["a first one"] + sizes.indices.map { "user-\($0)" })
        #expect(joined.dropFirst().map { $0.states["k"]?.utf8.count } == sizes)
        #expect(told.count == 2 && told.allSatisfy { $0.body.count <= Limits.frameBodyBytesMax })
    }
}
