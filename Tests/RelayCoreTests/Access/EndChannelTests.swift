import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// A moderator ends the channels of a name.
@Suite struct EndChannelTests {
    let driver: HubDriver
    let host: TestClient
    let anna: TestClient

    init() { self.init(isJournaled: true) }

    private init(isJournaled: Bool) {
        var configuration = Configuration()
        configuration.isJournaled = isJournaled
        driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        host = TestClient(driver, "host", by: TestAccess.hostKey)
        anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        driver.persist()
    }

    private func end(_ channel: String = "lesson", reason: String? = nil, by client: TestClient? = nil) -> UInt32 {
        let client = client ?? host
        let id = client.nextRequest()
        driver.send(.json(.endChannel, EndChannelRequest(id: id, channel: try! Name(channel), reason: reason)), from: client.id)
        return id
    }

    private func isDone(_ id: UInt32) -> Bool { if case .frame = host.outcome(id) { true } else { false } }

    private func refusal(_ id: UInt32) -> ErrorBody? { if case .error(let body) = host.outcome(id) { body } else { nil } }

    private func work(_ driver: HubDriver) { for _ in 0..<50 where !driver.unpersisted.isEmpty || driver.readFiles() { driver.persist() } }

    private func removed(_ client: TestClient) -> [RemovedNotice] {
        client.takeOthers(.removed).map { TestClient.decode(RemovedNotice.self, $0.body) }
    }

    /// Everything that a channel can have: anna and host are in both kinds, and everybody hears of everything.
    private func fill() {
        for client in [host, anna] {
            client.subscribe("lesson", features: ["messages", "presence", "metadata", "locks"])
            client.join("lesson", features: ["presence", "metadata", "locks"])
            client.subscribeTopic("lesson", "points")
            _ = client.joinTopic("lesson", "points")
        }
        anna.request(.setStates) { SetStatesRequest(id: $0, kind: .message, channel: try! Name("lesson"), states: ["name": "Anna"]) }
        anna.retain("lesson", "a", [1])
        host.publish("lesson", [2])
        for owner in ["lesson", "stream:lesson"] { anna.sendSet(owner, [("title", "Ink"), ("page", "7")]) }
        let lock = anna.nextRequest()
        driver.send(
            .json(.setLock, SetLockRequest(id: lock, kind: .message, channel: try! Name("lesson"), lock: try! Name("pen"))), from: anna.id)
        work(driver)
        anna.sendAcquire("lesson", "pen")
        work(driver)
        for client in [host, anna] { client.ignore() }
    }

    /// Nothing is left of any channel, and nothing is counted that is not there.
    private func isNothingLeft(_ driver: HubDriver) -> Bool {
        let census = driver.hub.census()
        return census.channels.isEmpty && census.boards == 0 && census.metadataSets == 0 && census.metadataBytes == 0 && census.locks == 0
            && census.historyBytes == 0 && census.messageChannels == 0 && census.streamChannels == 0
            && driver.hub.sessionMemory == driver.hub.recountedMemory()
            && !driver.hub.placesHeld.keys.contains { $0.hasPrefix("message") || $0.hasPrefix("stream") }
    }

    @Test("[AC19, CH8] board, history, metadata, locks and places of both kinds are gone, in one record, and over a restart")
    func gone() throws {
        fill()
        let id = end()
        #expect(host.outcome(id) == .nothing && driver.unpersisted.count == 1)
        work(driver)
        #expect(isDone(id) && isNothingLeft(driver))
        #expect(driver.audit.last?.hasSuffix("ended channel lesson") == true)
        #expect(!driver.disk.keys.contains { $0.first == UInt8(ascii: "E") }, "it is erased")
        let next = driver.restarted(start: 1_800_000_001)
        #expect(isNothingLeft(next))
    }

    @Test("[AC19] everybody in it is told last, with the reason, and of nobody else's leaving; the channel that comes is another one")
    func told() throws {
        fill()
        let known = driver.hub.epoch(of: try! Name("lesson"))
        let before = try #require(known)
        let since = Since.position(ChannelPosition(epoch: before, offset: 2))
        let id = end(reason: "the lesson is over")
        work(driver)
        #expect(isDone(id))
        let frames = anna.frames()
        #expect(frames.map(\.type) == [FrameType.removed, .removed].map(\.rawValue), "and nothing else")
        let notices = frames.map { TestClient.decode(RemovedNotice.self, $0.body) }
        #expect(notices.map(\.text) == ["the lesson is over", "the lesson is over"] && Set(notices.map(\.channel)).count == 2)
        #expect(notices.allSatisfy { $0.code == .channelEnded })
        #expect(removed(host).count == 2)
        let subscribed = anna.subscribe("lesson", features: ["messages", "metadata"], since: since)
        let answer = try #require(anna.answer(SubscribeAnswer.self, subscribed))
        #expect(answer.epoch != before && answer.head == 0 && answer.reset == true && !notices.map(\.channel).contains(answer.handle))
        anna.set("lesson", [("title", "New")])
        work(driver)
        #expect(anna.metadata("lesson")?.majorRevision == 1 && anna.metadata("lesson")?.values == ["title": "New"])
        anna.publish("lesson", [1])
        #expect(driver.hub.head(of: try Name("lesson")) == 1)
    }

    @Test("[AC19, SG2] what could not be stored is not ended: everybody is in, everything is there, and it can be ended then")
    func fails() throws {
        fill()
        let wait = host.sendAcquire("lesson", "pen", waitMs: 60_000)
        let before = driver.hub.census()
        let id = end()
        driver.failStorage()
        #expect(refusal(id)?.code == .storageFailed && refusal(end())?.code == .storageFailed && removed(anna).isEmpty)
        #expect(host.outcome(wait) == .nothing)
        let after = driver.hub.census()
        #expect(after.channels.map(\.subscribers) == [2, 2] && after.boards == 1 && after.boardRecords == 1 && after.locks == 1)
        #expect(after.metadataSets == 2 && after.metadataBytes == before.metadataBytes && after.historyMessages == before.historyMessages)
        driver.handle(.storageRecovered)
        anna.retain("lesson", "b", [1])
        work(driver)
        #expect(anna.board().contains { $0.hasPrefix("stored") } && driver.hub.census().boardRecords == 2)
        let again = end()
        work(driver)
        #expect(isDone(again) && isNothingLeft(driver))
        guard case .error(let refused) = host.outcome(wait) else {
            Issue.record("whoever waits for a lock is not told")
            return
        }
        #expect(refused.code == .lockNotFound)
    }

    @Test("[AC19] without board, metadata and locks it needs no disk; a channel that is none is answered, and neither told nor logged")
    func small() throws {
        host.subscribe("lesson")
        anna.join("lesson")
        host.publish("lesson", [1])
        driver.failStorage()
        #expect(isDone(end()) && isNothingLeft(driver) && removed(anna).count == 1 && driver.audit.count == 1)
        #expect(isDone(end()) && isDone(end("nowhere")) && driver.audit.count == 1)
        #expect(refusal(end(reason: String(repeating: "é", count: 129)))?.code == .tooLarge)
    }

    @Test("[AC19, BL3, HI8] who reads the board then is out of it: the barrier is answered, and nothing more of the board comes")
    func reading() throws {
        for number in 0..<60 { anna.retain("lesson", "a\(number)", [UInt8](repeating: 1, count: 8_000)) }
        work(driver)
        let reader = TestClient(driver, "reader", by: TestAccess.readerKey)
        driver.persist()
        driver.send(
            .json(.subscribe, SubscribeRequest(id: 90, channel: try Name("lesson"), features: ["messages"], since: .beginning)),
            from: reader.id)
        driver.send(.json(.barrier, BarrierRequest(id: 91, channel: try Name("lesson"))), from: reader.id)
        driver.take(reader.id, bytes: 10_000)
        let id = end()
        work(driver)
        let types = reader.frames().compactMap { FrameType(rawValue: $0.type) }
        #expect(types.contains(.deliver) && !types.contains(.caughtUp) && types.last == .removed)
        #expect(types.suffix(2).first == .answer, "of the barrier")
        #expect(isDone(id) && isNothingLeft(driver))
    }

    @Test("[AC19, SE9] a session that is away is out of it, without a word, and finds itself out")
    func away() throws {
        let bob = TestClient(driver, "bob", instance: "00000000000000bb", secret: TestAccess.secret(of: "bob"), key: TestAccess.editorKey)
        driver.persist()
        for client in [bob, anna] { client.subscribe("lesson") }
        bob.subscribe("other")
        let token = try #require(bob.welcome?.resumeToken)
        driver.cut(bob.id)
        let id = end()
        #expect(isDone(id))
        let back = TestClient(
            driver, "bob", instance: "00000000000000bb", resume: token, secret: TestAccess.secret(of: "bob"), key: TestAccess.editorKey)
        let restored = back.takeOthers(.restored).map { TestClient.decode(SubscribeAnswer.self, $0.body).channel.text }
        #expect(back.welcome?.resumed == true && restored == ["other"])
    }

    @Test("[AC19, BL6] what comes behind the request stands in the new channel, or is refused until the board is gone")
    func meanwhile() throws {
        fill()
        let id = end()
        anna.retain("lesson", "b", [1])
        #expect(anna.board().contains { $0.hasSuffix("busy") })
        host.publish("lesson", [3])
        let set = anna.sendSet("lesson", [("title", "New")])
        work(driver)
        #expect(isDone(id) && TestClient.code(anna.outcome(set)) == nil)
        let census = driver.hub.census()
        #expect(census.historyMessages == 1 && census.boards == 0 && census.locks == 0 && census.channels.map(\.name) == ["lesson"])
        #expect(host.metadata("lesson")?.values == ["title": "New"] && host.metadata("stream:lesson")?.values == [:])
        let next = driver.restarted(start: 1_800_000_001)
        #expect(TestClient(next, "host", by: TestAccess.hostKey).metadata("lesson")?.values == ["title": "New"])
    }

    @Test("[AC19] a relay without a disk ends it, too")
    func inMemory() {
        let test = EndChannelTests(isJournaled: false)
        test.fill()
        let id = test.end()
        for _ in 0..<50 where test.driver.readFiles() || !test.driver.unpersisted.isEmpty { test.driver.persist() }
        #expect(test.isDone(id) && test.isNothingLeft(test.driver) && test.removed(test.anna).count == 2)
    }
}
