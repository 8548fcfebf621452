import RelayCore
import RelayStorage
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// What a moderator has removed is answered when the disk has nothing of it any more.
@Suite struct ErasureAnswerTests {
    private static let secret = "what anna drew"
    let driver: HubDriver
    let host: TestClient
    let anna: TestClient

    init() {
        var configuration = Configuration()
        configuration.isJournaled = true
        configuration.limits.messagesPerSecond = 1_000_000
        driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        host = TestClient(driver, "host", by: TestAccess.hostKey)
        anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        driver.persist()
    }

    private func ask(_ type: FrameType, _ make: (UInt32) -> some JSONObject) -> UInt32 {
        let id = host.nextRequest()
        driver.send(.json(type, make(id)), from: host.id)
        return id
    }

    private func forget(_ user: String, withRecords: Bool? = nil) -> UInt32 {
        ask(.forgetUser) { ForgetUserRequest(id: $0, user: try! Name(user), withRecords: withRecords) }
    }

    private func isDone(_ id: UInt32) -> Bool { if case .frame = host.outcome(id) { true } else { false } }

    private func work() { for _ in 0..<50 where !driver.unpersisted.isEmpty || driver.readFiles() { driver.persist() } }

    private func draw(_ client: TestClient, _ channel: String, _ key: String) {
        client.retain(channel, key, Array("\(Self.secret) \(key)".utf8))
    }

    private func holders(_ driver: HubDriver) -> [String] {
        driver.storage.disk.list.filter { String(decoding: driver.storage.disk.contents($0)!, as: UTF8.self).contains(Self.secret) }
    }

    private func marks(_ driver: HubDriver) -> Int { driver.disk.keys.count { $0.first == UInt8(ascii: "E") } }

    @Test("[AC14, BL9] it is gone when it is durable, and answered when it is erased; what is wanted meanwhile is one more erasure for all")
    func answered() {
        driver.holdsErasures = true
        anna.sendSet("user:anna", [("name", "Anna")])
        draw(anna, "lesson", "a")
        driver.persist()
        let first = forget("anna")
        driver.persist()
        #expect(!isDone(first) && host.metadata("user:anna")?.values == [:] && driver.erasures.count == 1 && marks(driver) == 1)
        let second = ask(.removeBoard) { ChannelRequest(id: $0, channel: try! Name("lesson")) }, third = forget("nobody")
        driver.persist()
        #expect(!isDone(second) && !isDone(third) && driver.erasures.count == 1)
        driver.erase()
        #expect(isDone(first) && driver.erasures.count == 1 && marks(driver) == 1)
        driver.erase()
        #expect(isDone(second) && isDone(third) && driver.erasures.isEmpty && marks(driver) == 0 && holders(driver).isEmpty)
    }

    @Test("[AC14, SG2] a disk that does not let go of it is told, and asked again after a minute; so is one that fails")
    func fails() {
        driver.holdsErasures = true
        anna.sendSet("user:anna", [("name", "Anna")])
        driver.persist()
        let first = forget("anna")
        driver.persist()
        driver.handle(.erased(StoreErased(token: driver.erasures[0].token, failure: "made to fail")))
        guard case .error(let refusal) = host.outcome(first) else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.code == .storageFailed && refusal.text.contains("still stands on the disk: the relay's log") && marks(driver) == 1)
        driver.advance(.seconds(59))
        #expect(driver.erasures.count == 1)
        driver.advance(.seconds(1))
        #expect(driver.erasures.count == 2)
        driver.failStorage()
        driver.handle(.storageRecovered)
        #expect(driver.erasures.count == 2, "not at once")
        driver.advance(.seconds(60))
        #expect(driver.erasures.count == 3)
        driver.erase()
        #expect(marks(driver) == 0 && driver.hub.census().metadataBytes == 0)
    }

    @Test("[AC14, SG4] what was not erased before the relay ended is when it has started anew, records that were to be removed included")
    func restart() {
        driver.holdsErasures = true
        for number in 0..<200 { draw(anna, "lesson", "a\(number)") }
        anna.sendSet("user:anna", [("name", Self.secret)])
        driver.persist()
        _ = forget("anna", withRecords: true)
        driver.persist()
        #expect(marks(driver) == 1 && !holders(driver).isEmpty)
        let next = driver.restarted(start: 1_800_000_001, crash: .takesAll)
        for _ in 0..<50 where !next.unpersisted.isEmpty || next.readFiles() { next.persist() }
        #expect(marks(next) == 0 && holders(next).isEmpty && next.hub.census().boardRecords == 0)
    }

    @Test("[AC14, BL1, BL6] with its records all that a user drew goes from all boards, and no undone clear brings it back; others' stays")
    func withRecords() throws {
        let bob = TestClient(driver, "bob", by: TestAccess.hostKey), reader = TestClient(driver, "reader", by: TestAccess.readerKey)
        driver.persist()
        draw(anna, "other", "a")
        draw(anna, "cleared", "a")
        bob.retain("cleared", "b", Array("bob".utf8))
        driver.persist()
        _ = bob.request(.clear) { ChannelRequest(id: $0, channel: try! Name("cleared")) }
        for number in 0..<300 { draw(anna, "lesson", "a\(number)") }
        for key in ["b", "a7"] { bob.retain("lesson", key, Array("bob".utf8)) }
        driver.persist()
        reader.subscribe("lesson")
        reader.ignore()
        let id = forget("anna", withRecords: true)
        driver.persist()
        _ = reader.board()
        work()
        #expect(isDone(id) && holders(driver).isEmpty && marks(driver) == 0)
        let late = TestClient(driver, "late", by: TestAccess.readerKey)
        late.subscribe("lesson", features: ["messages"], since: .beginning)
        #expect(late.board() == ["301 b=bob", "302 a7=bob", "caughtUp 601"])
        let undo = ask(.undoClear) { ChannelRequest(id: $0, channel: try! Name("cleared")) }
        driver.persist()
        late.subscribe("cleared", features: ["messages"], since: .beginning)
        #expect(TestClient.code(host.outcome(undo)) == nil && late.board().filter { $0.contains("=") } == ["5 b=bob"])
        #expect(
            driver.hub.census().boardRecords == 3 && driver.audit.contains { $0.hasSuffix("had user anna forgotten, with its records") })
    }

    @Test("[AC14, BL1] readers that are there are told of each removal, in the order of offsets, and of nothing else")
    func told() {
        let reader = TestClient(driver, "reader", by: TestAccess.readerKey)
        for key in ["a", "b", "c"] { draw(anna, "lesson", key) }
        driver.persist()
        reader.subscribe("lesson")
        _ = reader.board()
        let id = forget("anna", withRecords: true)
        driver.persist()
        work()
        #expect(reader.board().filter { $0.hasSuffix("gone") } == ["4 a gone", "5 b gone", "6 c gone"] && isDone(id))
        // Whoever is drawing goes on: what comes now is new.
        draw(anna, "lesson", "d")
        driver.persist()
        #expect(reader.board() == ["7 d=\(Self.secret) d"] && driver.hub.census().boardRecords == 1)
    }

    @Test("[AC14, BL1] what somebody else writes under a key while it is looked for stays", arguments: [true, false])
    func overwritten(isDurable: Bool) {
        let bob = TestClient(driver, "bob", by: TestAccess.hostKey)
        draw(anna, "lesson", "a")
        driver.persist()
        driver.holdsFiles = true
        let id = forget("anna", withRecords: true)
        driver.persist()
        bob.retain("lesson", "a", Array("bob".utf8))
        if isDurable { driver.persist() }
        driver.readFiles(now: true)
        driver.holdsFiles = false
        driver.writeFiles()
        driver.persist()
        work()
        #expect(isDone(id) && driver.hub.census().boardRecords == 1 && holders(driver).isEmpty)
    }

    @Test("[AC14] a relay without a disk answers when the records are removed")
    func inMemory() {
        let driver = HubDriver(access: TestAccess.rules), host = TestClient(driver, "host", by: TestAccess.hostKey)
        let anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        draw(anna, "lesson", "a")
        let id = host.nextRequest()
        driver.send(.json(.forgetUser, ForgetUserRequest(id: id, user: try! Name("anna"), withRecords: true)), from: host.id)
        while driver.readFiles() {}
        guard case .frame = host.outcome(id) else {
            Issue.record("not answered")
            return
        }
        #expect(driver.hub.census().boardRecords == 0)
    }
}
