import RelayCore
import RelayRights
import RelayTestKit
import RelayTesting
import RelayTokens
import RelayWire
import Testing

/// A channel of both kinds with a host and anna in it, everything of anna's open that a right is good for.
private struct Room {
    let driver = HubDriver(access: TestAccess.rules)
    let host: TestClient
    let anna: TestClient
    let flow: UInt32
    /// Of the message and the stream channel.
    let handles: [UInt32]

    init(_ role: Role? = .editor, grants: [String: [String]] = [:]) {
        host = TestClient(driver, "host", presenceTimeoutMs: 300_000, secret: TestAccess.secret(of: "host"), key: TestAccess.hostKey)
        anna = TestClient(
            driver, "anna", instance: "00000000000000bb", presenceTimeoutMs: 300_000,
            token: driver.token("anna", role: role, grants: grants))
        host.subscribe("lesson", features: ["messages", "presence", "metadata", "locks"])
        host.join("lesson")
        host.subscribeTopic("lesson", "points")
        let message = anna.subscribe("lesson", features: ["messages", "presence", "metadata", "locks"])
        let stream = anna.join("lesson", features: ["presence", "metadata", "locks"])
        handles = [message, stream].map {
            TestClient.decode(SubscribeAnswer.self, { if case .frame(_, let body) = $0 { body } else { [] } }($0)).handle
        }
        flow = anna.joinTopic("lesson", "points")
        anna.subscribeTopic("lesson", "points")
        anna.request(.subscribeUserMetadata) { UserRequest(id: $0, user: try! Name("host")) }
        anna.request(.subscribeUserMetadata) { UserRequest(id: $0, user: try! Name("anna")) }
        forget()
    }

    func forget() {
        for client in [host, anna] { _ = (client.frames(), client.others = []) }
    }

    func removed() -> [RemovedNotice] { anna.takeOthers(.removed).map { TestClient.decode(RemovedNotice.self, $0.body) } }

    func presence() -> [String] {
        host.takeOthers(.presence).map { TestClient.decode(PresenceEvent.self, $0.body) }.map {
            "\($0.event) \($0.channel) \($0.user?.text ?? "-")"
        }
    }

    func renew(_ role: Role? = nil, grants: [String: [String]] = [:], seconds: Int64 = 3600) -> TestClient.Outcome {
        anna.renew(token: driver.token("anna", role: role, grants: grants, seconds: seconds))
    }
}

@Suite struct RenewTests {
    @Test("[AC8] a renewal is answered with what it gives, and it gives that at once")
    func widens() throws {
        let room = Room(.reader, grants: ["lesson": ["stream", "metadata"]])
        room.anna.publish("lesson", [1])
        #expect(room.anna.errors().map(\.code) == [.notPermitted])
        let answer = room.anna.answer(RenewAnswer.self, room.renew(.editor, seconds: 60))
        #expect(try #require(answer).access == AccessBody(role: "editor", untilMs: 60_000))
        room.anna.publish("lesson", [1])
        #expect(room.anna.frames(.accepted).count == 1)
        #expect(room.removed().isEmpty)
        let key = room.anna.answer(RenewAnswer.self, room.anna.renew(key: TestAccess.hostKey))
        #expect(try #require(key).access == AccessBody(role: "moderator"))
        #expect(TestClient.code(room.anna.set("user:host", [("a", "b")])) == nil)
    }

    @Test("[AC7] a channel that one may not be in any more is left: removed to oneself, leave to others, nothing of it after that")
    func removedFromChannels() throws {
        let room = Room()
        let outcome = room.renew(grants: ["other": ["subscribe"]])
        #expect(TestClient.code(outcome) == nil)
        let frames = room.anna.others + room.anna.frames()
        let errors = frames.filter { $0.type == FrameType.error.rawValue }.map { TestClient.decode(ErrorBody.self, $0.body) }
        #expect(errors.map(\.flow) == [room.flow], "its flow is told as any that closes")
        room.anna.others = frames
        let removed = room.removed()
        #expect(removed.map(\.channel) == room.handles && removed.allSatisfy { $0.code == .notPermitted })
        let events = room.presence()
        #expect(events == room.handles.map { "leave \($0) anna" })
        room.forget()
        room.host.publish("lesson", [1])
        room.host.set("lesson", [("a", "b")])
        room.host.setLock("lesson", "a")
        let flow = room.host.joinTopic("lesson", "points")
        room.host.packet(flow, [1])
        room.anna.packet(room.flow, [1])
        #expect(room.anna.frames().map(\.type) == [FrameType.error.rawValue], "the flow is none any more")
        #expect(room.driver.hub.census().channels.map(\.subscribers) == [1, 1])
    }

    @Test("[AC7] without stream one's flows close: an error for each, flowClosed and publisherLeft to subscribers; the rest stays")
    func flowsClose() {
        let room = Room()
        let second = room.anna.joinTopic("lesson", "cursor")
        room.anna.packet(room.flow, [1])
        room.forget()
        #expect(TestClient.code(room.renew(.reader)) == nil)
        let errors = room.anna.takeOthers(.error).map { TestClient.decode(ErrorBody.self, $0.body) }
        #expect(errors.map(\.flow) == [room.flow, second] && errors.allSatisfy { $0.code == .notPermitted && $0.id == nil })
        let frames = room.host.frames()
        let closed = frames.filter { $0.type == FrameType.flowClosed.rawValue }.map { TestClient.decode(FlowClosed.self, $0.body) }
        #expect(closed == [FlowClosed(flow: room.flow, last: 1)])
        let topics = frames.filter { $0.type == FrameType.topics.rawValue }.map { TestClient.decode(TopicsEvent.self, $0.body).event }
        #expect(topics == [.publisherLeft, .publisherLeft])
        #expect(frames.allSatisfy { $0.type != FrameType.presence.rawValue })
        room.anna.packet(room.flow, [1])
        #expect(room.anna.errors().map(\.code) == [.unknownFlow])
        room.host.publish("lesson", [1])
        #expect(room.anna.frames(.deliver).count == 1)
    }

    @Test("[AC7] without presence that feature is off, the others stay on")
    func presenceOff() {
        let room = Room()
        #expect(TestClient.code(room.renew(grants: ["lesson": ["subscribe"]])) == nil)
        room.forget()
        let bob = TestClient(room.driver, "bob", secret: TestAccess.secret(of: "bob"), key: TestAccess.editorKey)
        bob.subscribe("lesson")
        bob.join("lesson")
        bob.publish("lesson", [1])
        bob.set("lesson", [("a", "b")])
        let types = Set(room.anna.frames().compactMap { FrameType(rawValue: $0.type) })
        #expect(types == [.deliver, .userNamed, .metadata])
        #expect(TestClient.code(room.anna.subscribe("lesson")) == .notPermitted)
        #expect(TestClient.code(room.anna.subscribe("lesson", features: ["messages"])) == nil)
    }

    @Test("[AC7] without metadata everywhere other users' metadata ends, one's own does not")
    func userMetadata() {
        let room = Room()
        #expect(TestClient.code(room.renew(.reader)) == nil)
        room.forget()
        room.host.set("user:host", [("a", "b")])
        #expect(room.anna.frames().isEmpty)
        room.host.set("user:anna", [("a", "b")])
        #expect(room.anna.frames(.metadata).count == 1)
    }

    @Test("[AC7, LK4] who waits for a lock and may not have it any more is refused, and never gets it")
    func waitsEnd() throws {
        let room = Room()
        room.host.setLock("lesson", "a")
        room.host.acquire("lesson", "a")
        let wait = room.anna.sendAcquire("lesson", "a", waitMs: 3_000)
        room.forget()
        #expect(TestClient.code(room.renew(.reader)) == nil)
        #expect(TestClient.code(room.anna.outcome(wait)) == .notPermitted)
        room.host.lock(.releaseLock, "lesson", "a")
        #expect(room.host.locks("lesson").first { $0.lock == "a" }?.owner == nil)
        room.driver.advance(.seconds(4))
        let ids = room.anna.takeOthers(.error).map { TestClient.decode(ErrorBody.self, $0.body).id }
        #expect(!ids.contains(wait), "refused once")
    }

    @Test("[AC7] a lock that one has is kept, and may be given back")
    func locksStay() {
        let room = Room()
        room.host.setLock("lesson", "a")
        room.anna.acquire("lesson", "a")
        #expect(TestClient.code(room.renew(.reader)) == nil)
        #expect(room.host.locks("lesson").first?.owner == "anna")
        #expect(TestClient.code(room.anna.lock(.releaseLock, "lesson", "a")) == nil)
        #expect(TestClient.code(room.anna.acquire("lesson", "a")) == .notPermitted)
    }

    @Test("[AC7] what was published to a moment ago is asked about again")
    func publishStops() {
        let room = Room()
        room.anna.publish("lesson", [1])
        room.anna.part("lesson", "k", 1, of: 2, [1])
        #expect(TestClient.code(room.renew(.reader)) == nil)
        room.forget()
        room.anna.publish("lesson", [2])
        room.anna.part("lesson", "k", 2, of: 2, [1])
        #expect(room.anna.errors().map(\.code) == [.notPermitted, .notPermitted])
        #expect(room.host.frames().isEmpty)
    }

    @Test("[AC7, HI2] who catches up and may not any more gets nothing further")
    func catchUpStops() {
        let room = Room()
        for _ in 0..<20 { room.host.publish("lesson", Array(repeating: 1, count: 30_000)) }
        room.forget()
        room.driver.send(
            .json(.subscribe, SubscribeRequest(id: 900, channel: try! Name("lesson"), features: ["messages"], since: .beginning)),
            from: room.anna.id)
        room.driver.take(room.anna.id, bytes: 1_000)
        room.driver.send(
            .json(.renew, RenewRequest(id: 901, token: room.driver.token("anna", grants: ["other": ["subscribe"]]))), from: room.anna.id)
        let frames = room.anna.frames()
        #expect((1..<10).contains(frames.count { $0.type == FrameType.deliver.rawValue }), "what was queued, no more")
        let firstRemoved = frames.firstIndex { $0.type == FrameType.removed.rawValue } ?? 0
        #expect(
            !frames[firstRemoved...].contains { $0.type == FrameType.deliver.rawValue } && frames.last?.type == FrameType.removed.rawValue)
        #expect(!frames.contains { $0.type == FrameType.caughtUp.rawValue })
        #expect(room.driver.hub.census().catchingUp == 0)
    }

    @Test("[AC8, AC2] a wrong renewal changes nothing, is answered late as a wrong login is, and the third closes the connection")
    func wrong() {
        let room = Room(.reader, grants: ["lesson": ["stream", "metadata"]])
        let foreign = try! TokenSecret(bytes: Array(repeating: 7, count: 32))
        let attempts: [(key: String?, token: String?)] = [
            (nil, room.driver.token("bob", role: .moderator)), ("KEYHOST-0004", nil),
            (nil, room.driver.token("anna", role: .moderator, secret: foreign)), (TestAccess.hostKey, nil),
        ]
        for (key, token) in attempts { #expect(room.anna.renew(key: key, token: token) == .nothing) }
        room.anna.packet(room.flow, [1])
        #expect(room.anna.errors().isEmpty && room.host.frames(.packet).count == 1, "what there was goes on")
        var codes: [[ErrorCode]] = []
        for seconds in [1, 2, 4] {
            room.driver.advance(.seconds(seconds) - .milliseconds(1))
            #expect(room.anna.frames().allSatisfy { $0.type == FrameType.ping.rawValue })
            room.driver.advance(.milliseconds(1))
            let frames = room.anna.frames()
            codes.append(frames.filter { $0.type == FrameType.error.rawValue }.map { TestClient.decode(ErrorBody.self, $0.body).code })
            let closing = frames.first { $0.type == FrameType.closing.rawValue }.map { TestClient.decode(CloseNotice.self, $0.body).code }
            #expect(closing == (seconds == 4 ? .credentialsWrong : nil))
        }
        #expect(codes == [[.tokenInvalid], [.keyWrong], [.tokenInvalid]])
        // The session is away, not gone: whoever has the right credential goes on.
        let back = TestClient(
            room.driver, "anna", resume: room.anna.welcome?.resumeToken,
            token: room.driver.token("anna", role: .reader, grants: ["lesson": ["stream"]]))
        #expect(back.welcome?.resumed == true)
    }

    @Test("[AC8] a malformed renewal is badRequest at once")
    func malformed() {
        let room = Room()
        #expect(TestClient.code(room.anna.renew(key: "a", token: "b")) == .badRequest)
        #expect(TestClient.code(room.anna.renew(key: "")) == .badRequest)
        #expect(room.driver.hub.census().counters.credentialsWrong == 0)
    }
}
