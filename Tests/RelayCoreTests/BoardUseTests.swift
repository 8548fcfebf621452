import RelayCore
import RelayPrimitives
import RelayStorage
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// Who began a board, when, when it was last used, and what that decides.
@Suite struct BoardUseTests {
    /// A day (UTC) that begins two hours after the relay.
    private let driver: HubDriver
    private let host: TestClient

    init() {
        var configuration = Configuration()
        configuration.isJournaled = true
        driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        driver.hub.restored(lastSequence: 0, at: driver.now)
        driver.moveWall(by: .milliseconds(Int64(day - driver.now.wallMilliseconds % day - 2 * hour)))
        host = TestClient(driver, "host", by: TestAccess.hostKey)
    }

    private let hour: UInt64 = 3_600_000, day: UInt64 = 24 * 3_600_000
    private var now: UInt64 { driver.now.wallMilliseconds }
    /// When this day began.
    private var today: UInt64 { now - now % day }

    /// A board of two records, durable.
    private func board(of user: String, _ name: String = "lesson") {
        let anna = TestClient(driver, user, by: TestAccess.editorKey)
        for key in ["a", "b"] { anna.retain(name, key, [1]) }
        driver.persist()
        leave(anna)
    }

    private func leave(_ client: TestClient) {
        client.request(.logout) { EmptyRequest(id: $0) }
        driver.cut(client.id)
        driver.persist()
    }

    private func boards(_ client: TestClient? = nil, unused: UInt64? = nil) -> [BoardInfo] {
        let client = client ?? host
        return client.answer(BoardsAnswer.self, client.request(.boards) { BoardsRequest(id: $0, unusedMs: unused) })?.boards ?? []
    }

    private func remove(unused: UInt64?) -> TestClient.Outcome {
        let id = host.nextRequest()
        driver.send(.json(.removeBoard, RemoveBoardRequest(id: id, channel: try! Name("lesson"), unusedMs: unused)), from: host.id)
        driver.persist()
        return host.outcome(id)
    }

    @Test("[BL12] a board tells who began it and when, its file, and its last change as its last use, before a restart and after it")
    func told() throws {
        let began = now
        board(of: "anna")
        driver.moveWall(by: .seconds(60))
        let bob = TestClient(driver, "bob", by: TestAccess.editorKey)
        bob.retain("lesson", "c", [1])
        driver.persist()
        let board = try #require(boards().first)
        #expect(board.owner == "anna" && board.createdMilliseconds == began && board.records == 3)
        #expect(board.changedMilliseconds == began + 60_000 && board.usedMilliseconds == began + 60_000)
        #expect(board.fileBytes > board.records * 70)
        let next = driver.restarted(start: 1_800_000_001)
        let again = boards(TestClient(next, "host", by: TestAccess.hostKey))
        #expect(again == [board])
    }

    @Test("[BL12] a board that has just begun was changed when it began")
    func begun() throws {
        let anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        anna.retain("lesson", "a", [1])
        let board = try #require(boards().first)
        #expect(board.records == 0 && board.createdMilliseconds == now && board.changedMilliseconds == now)
        leave(anna)
        driver.moveWall(by: .milliseconds(Int64(3 * hour)))
        #expect(boards().first?.usedMilliseconds == board.changedMilliseconds)
    }

    @Test("[BL12] who is in the channel uses its board, now and on that day; who is there quietly does not")
    func reading() throws {
        board(of: "anna")
        let changed = now
        driver.moveWall(by: .milliseconds(Int64(3 * hour)))
        let host = TestClient(driver, "host", by: TestAccess.hostKey)
        host.subscribe("lesson", quiet: true)
        #expect(boards(host).first?.usedMilliseconds == changed)
        let bob = TestClient(driver, "bob", by: TestAccess.editorKey)
        bob.subscribe("lesson")
        #expect(boards(host).first?.usedMilliseconds == now)
        leave(bob)
        // Of the day alone its beginning is told: it is another one than that of the change.
        #expect(boards(host).first?.usedMilliseconds == today && today > changed)
        let next = driver.restarted(start: 1_800_000_001)
        #expect(boards(TestClient(next, "host", by: TestAccess.hostKey)).first?.usedMilliseconds == today)
    }

    @Test("[BL12] reading costs an entry of the journal for each board and day, however many come")
    func cost() {
        board(of: "anna")
        var entries = 0
        for _ in 0..<2 {
            for user in ["bob", "carol", "bob"] {
                let reader = TestClient(driver, user, by: TestAccess.editorKey)
                reader.subscribe("lesson")
                entries += driver.unpersisted.flatMap(\.entries).count { $0.key.first == UInt8(ascii: "D") }
                driver.persist()
                leave(reader)
            }
            driver.moveWall(by: .milliseconds(Int64(day)))
        }
        #expect(entries == 2)
    }

    @Test("[BL12] a stay that lasts for days counts for each of them, an hour late at most")
    func longStay() {
        board(of: "anna")
        let bob = TestClient(driver, "bob", by: TestAccess.editorKey)
        bob.subscribe("lesson")
        driver.persist()
        driver.moveWall(by: .milliseconds(Int64(2 * day)))
        for _ in 0..<901 {
            driver.advance(.seconds(4))
            driver.send(Frame(type: FrameType.ping.rawValue, body: []), from: bob.id)
            bob.ignore()
        }
        driver.persist()
        let next = driver.restarted(start: 1_800_000_001)
        #expect(boards(TestClient(next, "host", by: TestAccess.hostKey)).first?.usedMilliseconds == today)
    }

    @Test("[BL12] unused is judged by the relay's clock: neither a member, nor a change, nor a day that lasts; both sides of the bound")
    func unused() throws {
        board(of: "anna")
        let changed = now
        #expect(boards(unused: 0).count == 1 && boards(unused: 1).isEmpty)
        driver.moveWall(by: .milliseconds(999))
        #expect(boards(unused: 1_000).isEmpty && TestClient.code(remove(unused: 1_000)) == .boardInUse)
        driver.moveWall(by: .milliseconds(1))
        #expect(boards(unused: 1_000).count == 1 && now == changed + 1_000)
        let bob = TestClient(driver, "bob", by: TestAccess.editorKey)
        bob.subscribe("lesson")
        #expect(boards(unused: 0).isEmpty)
        guard case .error(let refusal) = remove(unused: 0) else { return #expect(Bool(false), "it was removed with somebody in it") }
        #expect(refusal.code == .boardInUse && refusal.limit == 0 && refusal.actual == 0)
        leave(bob)
        // That day is over first.
        driver.moveWall(by: .milliseconds(Int64(today + day - now) + 999))
        #expect(boards(unused: 1_000).isEmpty)
        driver.moveWall(by: .milliseconds(1))
        #expect(boards(unused: 1_000).count == 1)
        #expect(boards(unused: UInt64(Limits.integerMax)).isEmpty)
        #expect(TestClient.code(remove(unused: 1_000)) == nil && boards().isEmpty)
        #expect(!driver.disk.keys.contains { [UInt8(ascii: "N"), UInt8(ascii: "D")].contains($0.first) })
    }

    @Test("[BL12] a board that is used between the list and the removal stays; a change that is not durable yet counts")
    func usedMeanwhile() {
        board(of: "anna")
        driver.moveWall(by: .seconds(60))
        #expect(boards(unused: 30_000).count == 1)
        let bob = TestClient(driver, "bob", by: TestAccess.editorKey)
        bob.retain("lesson", "c", [1])
        let id = host.nextRequest()
        driver.send(.json(.removeBoard, RemoveBoardRequest(id: id, channel: try! Name("lesson"), unusedMs: 30_000)), from: host.id)
        driver.persist()
        #expect(TestClient.code(host.outcome(id)) == .boardInUse && boards().map(\.records) == [3])
    }

    @Test("[BL12, SG2] a use that could not be stored is stored once something can be stored again")
    func failed() {
        board(of: "anna")
        driver.moveWall(by: .milliseconds(Int64(day)))
        let bob = TestClient(driver, "bob", by: TestAccess.editorKey)
        driver.persist()
        bob.subscribe("lesson")
        driver.failStorage()
        driver.handle(.storageRecovered)
        leave(bob)
        let known = today
        driver.advance(.seconds(3_600))
        driver.persist()
        let next = driver.restarted(start: 1_800_000_001)
        #expect(boards(TestClient(next, "host", by: TestAccess.hostKey)).first?.usedMilliseconds == known)
    }

    // MARK: - Forgetting

    @Test("[AC14, BL12] forgetting tells what went and what stays, counted; whose a board was no file says any more")
    func forgets() throws {
        let anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        anna.set("user:anna", [("name", "Anna"), ("class", "7b")])
        for key in ["a", "b", "c"] { anna.retain("lesson", key, [1]) }
        driver.persist()
        host.setRole("anna", "reader")
        driver.persist()
        func forget(_ withRecords: Bool) -> Forgotten? {
            let id = host.nextRequest()
            driver.send(.json(.forgetUser, ForgetUserRequest(id: id, user: try! Name("anna"), withRecords: withRecords)), from: host.id)
            for _ in 0..<50 where !driver.unpersisted.isEmpty || driver.readFiles() { driver.persist() }
            return host.answer(ForgetUserAnswer.self, host.outcome(id))?.forgotten
        }
        var wanted = Forgotten()
        (wanted.metadata, wanted.hadRole, wanted.boards, wanted.keptBytes, wanted.isHere) = (2, true, 1, 3 * 66, true)
        #expect(forget(false) == wanted)
        #expect(boards().map(\.owner) == [nil] && boards().map(\.records) == [3])
        leave(anna)
        host.ban("anna")
        driver.persist()
        wanted = Forgotten()
        (wanted.wasIDFreed, wanted.records, wanted.isBanned) = (true, 3, true)
        #expect(forget(true) == wanted)
        wanted = Forgotten()
        wanted.isBanned = true
        #expect(forget(true) == wanted)
        let next = driver.restarted(start: 1_800_000_001)
        #expect(boards(TestClient(next, "host", by: TestAccess.hostKey)).map(\.owner) == [nil])
        let name = Array("anna".utf8)
        // The ban stays; the numbers of its publishes (MS9) and the revision of its metadata (MD2) do until they are over.
        for (key, value) in driver.disk where !"XWM".utf8.contains(key.first!) {
            #expect(!(key + value).indices.contains { (key + value)[$0...].starts(with: name) }, "\(String(decoding: key, as: UTF8.self))")
        }
    }

    // MARK: - Imports

    @Test("[RT10, BL7] parts of a moderator's change sets and drawings, and its boards, have no rate while the disk keeps up; others' have")
    func imports() {
        func drive(_ change: (inout Configuration) -> Void = { _ in }) -> HubDriver {
            var configuration = Configuration()
            configuration.isJournaled = true
            configuration.limits.messagesPerSecond = 2
            change(&configuration)
            let driver = HubDriver(configuration: configuration, access: TestAccess.rules)
            driver.hub.restored(lastSequence: 0, at: driver.now)
            return driver
        }
        func refused(_ client: TestClient, _ driver: HubDriver, persists: Bool = true) -> Int {
            for number in 0..<10 {
                client.changes("lesson", ["k\(number)=x"])
                if persists { driver.persist() }
            }
            return client.board().count { $0.hasSuffix("rateLimited") }
        }
        let driver = drive(), host = TestClient(driver, "host", by: TestAccess.hostKey)
        #expect(refused(host, driver) == 0)
        for part in 1...8 { host.part("lesson", "photo", UInt16(part), of: 8, [1]) }
        driver.persist()
        #expect(!host.board().contains { $0.hasPrefix("error") })
        // Plain messages are shown to others one by one, and have it; so have an editor's sets.
        for _ in 0..<3 { host.publish("lesson", [1]) }
        #expect(host.board().count { $0.hasSuffix("rateLimited") } == 1)
        #expect(refused(TestClient(driver, "anna", by: TestAccess.editorKey), driver) == 8)
        for number in 0..<25 { host.changes("board \(number)", ["a=1"]) }
        driver.persist()
        #expect(!host.board().contains { $0.hasPrefix("error") } && driver.hub.census().boards == 26)
        // A disk that lags: beyond an eighth of what may wait the rate holds.
        let slow = drive { $0.unjournaledBytesMax = 8 * 4_000 }
        #expect(refused(TestClient(slow, "host", by: TestAccess.hostKey), slow, persists: false) > 0)
    }
}
