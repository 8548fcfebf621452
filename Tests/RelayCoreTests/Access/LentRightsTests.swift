import RelayCore
import RelayRights
import RelayTestKit
import RelayTesting
import RelayTokens
import RelayWire
import Testing

@Suite struct LentRightsTests {
    let driver = HubDriver(access: TestAccess.rules)

    private func reader(_ grants: [String: [String]] = [:], role: Role? = .reader) -> TestClient {
        TestClient(driver, "anna", presenceTimeoutMs: 300_000, token: driver.token("anna", role: role, grants: grants, seconds: 86_400))
    }

    private func lent(_ rights: [String], on pattern: String = "lesson", seconds: Int64 = 60, user: String = "anna") -> String {
        driver.token(user, grants: [pattern: rights], seconds: seconds)
    }

    private func topic(_ client: TestClient, _ channel: String = "lesson", _ topic: String = "points") -> ErrorCode? {
        TestClient.code(client.request(.joinTopic) { JoinTopicRequest(id: $0, channel: try! Name(channel), topic: try! Name(topic)) })
    }

    private func pass(_ duration: Duration, _ clients: TestClient...) {
        var left = duration
        while left > .zero {
            driver.advance(min(left, .seconds(4)))
            left = left - .seconds(4)
            for client in clients { driver.send(Frame(.pong), from: client.id) }
        }
    }

    @Test("[AC9] a token in join adds its rights in that stream channel and nowhere else")
    func adds() {
        let anna = reader()
        #expect(
            TestClient.code(anna.join("lesson", token: lent(["stream", "publish", "lock", "direct"].filter { $0 != "direct" }, on: "*")))
                == nil)
        #expect(topic(anna) == nil)
        #expect(TestClient.code(anna.setLock("stream:lesson", "a")) == nil)
        #expect(TestClient.code(anna.setLock("lesson", "a")) == .notPermitted, "the message channel is another one")
        anna.publish("lesson", [1])
        #expect(anna.errors().map(\.code) == [.notPermitted])
        #expect(TestClient.code(anna.join("other")) == nil)
        #expect(topic(anna, "other") == .notPermitted)
        #expect(TestClient.code(anna.set("user:anna", [("a", "b")])) == .notPermitted, "everywhere is nowhere in a channel")
    }

    @Test("[AC9] with nothing but such a token one comes in, and with its end goes out")
    func comesAndGoes() throws {
        let anna = reader(["home": ["subscribe"]], role: nil)
        let bob = TestClient(driver, "bob", presenceTimeoutMs: 300_000, secret: TestAccess.secret(of: "bob"), key: TestAccess.editorKey)
        bob.join("lesson")
        #expect(TestClient.code(anna.join("lesson")) == .notPermitted)
        let outcome = anna.join("lesson", token: lent(["subscribe", "presence", "stream"]))
        let handle = try #require(anna.answer(SubscribeAnswer.self, outcome)).handle
        #expect(topic(anna) == nil)
        pass(.milliseconds(59_999), anna, bob)
        #expect(topic(anna, "lesson", "second") == nil)
        for client in [anna, bob] { _ = (client.frames(), client.others = []) }
        driver.advance(.milliseconds(1))
        let frames = anna.frames()
        let removed = frames.filter { $0.type == FrameType.removed.rawValue }.map { TestClient.decode(RemovedNotice.self, $0.body) }
        #expect(removed.map(\.channel) == [handle] && removed.map(\.code) == [.notPermitted])
        let events = bob.frames(.presence).map { TestClient.decode(PresenceEvent.self, $0.body).event }
        #expect(events == [.leave])
        #expect(!driver.isClosing(anna.id))
    }

    @Test("[AC9, AC7] when it is over one stays with what one has of one's own: flows close")
    func flowsEnd() {
        let anna = reader()
        anna.join("lesson", token: lent(["stream"]))
        let flow = anna.joinTopic("lesson", "points")
        pass(.seconds(60), anna)
        let errors = (anna.others + anna.frames()).filter { $0.type == FrameType.error.rawValue }.map {
            TestClient.decode(ErrorBody.self, $0.body)
        }
        #expect(errors.map(\.flow) == [flow] && errors.map(\.code) == [.notPermitted])
        #expect(topic(anna) == .notPermitted)
        #expect(driver.hub.census().channels.map(\.subscribers) == [1])
    }

    @Test("[AC9] it counts as long as one is in the channel: not after leave and join")
    func leaveAndJoin() {
        let anna = reader()
        anna.join("lesson", token: lent(["stream"]))
        #expect(TestClient.code(anna.join("lesson")) == nil)
        #expect(topic(anna) == nil, "again inside it still counts")
        anna.request(.leave) { ChannelRequest(id: $0, channel: try! Name("lesson")) }
        anna.join("lesson")
        #expect(topic(anna) == .notPermitted)
    }

    @Test("[AC9, AC7, LK4] nor does who waited for a lock of the channel with it, and left")
    func leaveWaiting() {
        let host = TestClient(driver, "host", secret: TestAccess.secret(of: "host"), key: TestAccess.hostKey)
        host.setLock("stream:lesson", "a")
        host.acquire("stream:lesson", "a")
        let anna = reader()
        anna.join("lesson", token: lent(["lock"]))
        let wait = anna.sendAcquire("stream:lesson", "a", waitMs: 60_000)
        #expect(TestClient.code(anna.request(.leave) { ChannelRequest(id: $0, channel: try! Name("lesson")) }) == nil)
        #expect(TestClient.code(anna.outcome(wait)) == .notPermitted || anna.takeOthers(.error).count == 1)
        host.lock(.releaseLock, "stream:lesson", "a")
        #expect(host.locks("stream:lesson").first?.owner == nil)
    }

    @Test("[AC9, SE8] nor after another login that takes the stay over")
    func takeover() {
        let anna = reader()
        anna.join("lesson", token: lent(["stream"]))
        let other = reader()
        #expect(TestClient.code(other.join("lesson")) == nil)
        #expect(topic(other) == .notPermitted)
    }

    @Test("[AC9, SE9] after a resumption it does, and its end comes also while the session is away")
    func resume() {
        let anna = reader()
        anna.join("lesson", token: lent(["stream"], seconds: 100))
        let flow = anna.joinTopic("lesson", "points")
        driver.cut(anna.id)
        driver.advance(.seconds(50))
        let back = TestClient(
            driver, "anna", resume: anna.welcome?.resumeToken, presenceTimeoutMs: 300_000, token: driver.token("anna", role: .reader))
        #expect(back.welcome?.resumed == true && topic(back, "lesson", "second") == nil)
        driver.cut(back.id)
        driver.advance(.seconds(50))
        #expect(driver.hub.census().channels.first?.flows == 0)
        let again = TestClient(
            driver, "anna", resume: back.welcome?.resumeToken, presenceTimeoutMs: 300_000, token: driver.token("anna", role: .reader))
        #expect(again.welcome?.resumed == true)
        again.packet(flow, [1])
        #expect(again.errors().map(\.code) == [.unknownFlow])
        #expect(topic(again) == .notPermitted)
    }

    @Test("[AC9, AC7] a second token takes the place of the first: what that alone gave is over at once")
    func second() {
        let anna = reader(["home": ["subscribe"]], role: nil)
        anna.join("lesson", token: lent(["subscribe", "presence", "stream"]))
        let flow = anna.joinTopic("lesson", "points")
        #expect(TestClient.code(anna.join("lesson", features: [], token: lent(["subscribe"], seconds: 3600))) == nil)
        anna.packet(flow, [1])
        #expect(anna.errors().map(\.code) == [.unknownFlow])
        #expect(topic(anna) == .notPermitted)
        // Without the right to be there it is refused, and the one before stays.
        #expect(TestClient.code(anna.join("lesson", features: [], token: lent(["stream"], seconds: 3600))) == .notPermitted)
        pass(.seconds(61), anna)
        #expect(driver.hub.census().channels.map(\.subscribers) == [1], "the second one holds for an hour")
    }

    @Test("[AC9] one that is wrong, over, or another's is refused before the channel is looked at, and changes nothing")
    func wrong() {
        let anna = reader()
        let foreign = try! TokenSecret(bytes: Array(repeating: 7, count: 32))
        let over = lent(["stream"], seconds: 1)
        driver.advance(.seconds(1))
        for (token, code) in [
            ("x", .tokenInvalid), (lent(["stream"], user: "bob"), .tokenInvalid), (over, .tokenExpired),
            (driver.token("anna", role: .editor, secret: foreign), .tokenInvalid),
        ] as [(String, ErrorCode)] {
            #expect(TestClient.code(anna.join("lesson", token: token)) == code)
        }
        #expect(driver.hub.census().channels.isEmpty && !driver.isClosing(anna.id))
    }

    @Test("[AC9] a relay without tokens refuses one with tokenInvalid")
    func noTokens() {
        let driver = HubDriver(access: AccessRules(keys: TestAccess.rules.keys, tokens: nil))
        let anna = TestClient(driver, "anna", secret: TestAccess.secret(of: "anna"), key: TestAccess.editorKey)
        #expect(TestClient.code(anna.join("lesson", token: driver.token("anna", role: .editor))) == .tokenInvalid)
        #expect(TestClient.code(anna.join("lesson")) == nil)
    }
}
