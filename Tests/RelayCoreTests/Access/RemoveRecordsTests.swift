import RelayCore
import RelayStorage
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// A moderator removes what one user has on one board.
@Suite struct RemoveRecordsTests {
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

    private func remove(_ user: String = "anna", from channel: String = "lesson") -> UInt32 {
        let id = host.nextRequest()
        let request = RemoveRecordsRequest(id: id, channel: try! Name(channel), user: try! Name(user))
        driver.send(.json(.removeRecords, request), from: host.id)
        return id
    }

    /// What it was answered.
    private func records(_ id: UInt32) -> Int? {
        guard case .frame(_, let body) = host.outcome(id) else { return nil }
        return TestClient.decode(RemoveRecordsAnswer.self, body).records
    }

    private func refusal(_ id: UInt32) -> ErrorBody? { if case .error(let body) = host.outcome(id) { body } else { nil } }

    private func work(_ driver: HubDriver) { for _ in 0..<50 where !driver.unpersisted.isEmpty || driver.readFiles() { driver.persist() } }

    private func marks(_ driver: HubDriver) -> Int { driver.disk.keys.count { $0.first == UInt8(ascii: "E") } }

    private func retain(_ client: TestClient, _ key: String, on channel: String = "lesson") {
        client.retain(channel, key, Array(key.utf8))
        work(client.driver)
    }

    private func board(_ driver: HubDriver, _ channel: String, _ name: String) -> [String] {
        let reader = TestClient(driver, name, by: TestAccess.readerKey)
        reader.subscribe(channel, features: ["messages"], since: .beginning)
        work(driver)
        return reader.board().filter { $0.contains("=") }
    }

    @Test("[AC18, BL6] a user's records go from one board, for all who read it, and no undone clear brings them back; all else stays")
    func removes() {
        let reader = TestClient(driver, "reader", by: TestAccess.readerKey)
        retain(anna, "cleared")
        _ = host.request(.clear) { ChannelRequest(id: $0, channel: try! Name("lesson")) }
        for key in ["a", "b"] { retain(anna, key) }
        retain(host, "c")
        retain(anna, "a", on: "other")
        reader.subscribe("lesson")
        _ = reader.board()
        let id = remove()
        work(driver)
        #expect(records(id) == 3 && marks(driver) == 0)
        #expect(reader.board().filter { $0.hasSuffix("gone") } == ["6 cleared gone", "7 a gone", "8 b gone"])
        #expect(driver.audit.last?.hasSuffix("removed the records of user anna from the board of channel lesson") == true)
        #expect(board(driver, "lesson", "late") == ["5 c=c"] && board(driver, "other", "later") == ["1 a=a"])
        _ = host.request(.undoClear) { ChannelRequest(id: $0, channel: try! Name("lesson")) }
        work(driver)
        #expect(board(driver, "lesson", "last") == ["5 c=c"], "nothing comes back")
        // Of who has nothing there nothing goes, and who has lost all may write again.
        let again = remove(), nobody = remove("nobody")
        retain(anna, "d")
        work(driver)
        #expect(records(again) == 0 && records(nobody) == 0 && board(driver, "lesson", "end") == ["5 c=c", "10 d=d"])
    }

    @Test("[AC18, AC5] no board, and a board that is being removed, are told; a full disk refuses it, and nothing is done")
    func refused() {
        #expect(refusal(remove(from: "nowhere"))?.code == .boardNotFound)
        retain(anna, "a", on: "going")
        _ = host.request(.removeBoard) { ChannelRequest(id: $0, channel: try! Name("going")) }
        #expect(refusal(remove(from: "going"))?.code == .busy)
        work(driver)
        retain(anna, "a")
        let id = remove()
        #expect(host.outcome(id) == .nothing, "not before it is durable")
        driver.failStorage()
        #expect(refusal(id)?.code == .storageFailed && refusal(remove())?.code == .storageFailed)
        driver.handle(.storageRecovered)
        driver.advance(.seconds(7_200))
        work(driver)
        #expect(marks(driver) == 0 && board(driver, "lesson", "late") == ["1 a=a"])
    }

    @Test("[AC18, DL12] many records go in slices, and what others ask for meanwhile is answered between them")
    func slices() {
        for number in 0..<300 { anna.retain("lesson", "a\(number)", [1]) }
        work(driver)
        let id = remove()
        driver.persist()
        // As the journal gets it: what is removed, and what anna writes while the next slice is looked for.
        var order: [String] = []
        while !driver.unpersisted.isEmpty || driver.readFiles() {
            let removals = driver.unpersisted.flatMap(\.entries).count { entry in
                if case .remove? = StoredChange(key: entry.key, value: entry.value ?? [])?.kind { true } else { false }
            }
            if removals > 0 {
                order.append("\(removals) gone")
                anna.retain("other", "b", [1])
                #expect(anna.board().contains { $0.hasPrefix("accepted") })
            } else if !driver.unpersisted.isEmpty {
                order.append("written")
            }
            driver.persist(1)
        }
        #expect(order == ["128 gone", "written", "128 gone", "written", "44 gone", "written"] && records(id) == 300, "\(order)")
    }

    @Test("[AC18, SG2] a disk that fails between two slices is told, and the rest goes when it works again", arguments: [false, true])
    func failsBetween(restarts: Bool) {
        for number in 0..<200 { anna.retain("lesson", "a\(number)", [1]) }
        retain(anna, "a", on: "other")
        let id = remove()
        driver.persist()
        driver.readFiles()
        driver.persist()
        driver.holdsFiles = true
        driver.readFiles()
        #expect(driver.hub.census().boardRecords == 73 && marks(driver) == 1)
        driver.failStorage()
        #expect(refusal(id)?.text == "not all records of user anna are removed: the relay's log says why; the relay tries again by itself")
        driver.holdsFiles = false
        let next = restarts ? driver.restarted(start: 1_800_000_001) : driver
        if !restarts {
            driver.handle(.storageRecovered)
            driver.advance(.seconds(60))
        }
        work(next)
        #expect(marks(next) == 0 && board(next, "lesson", "late").isEmpty && board(next, "other", "later") == ["1 a=a"])
    }

    @Test("[AC18, BL8, BL11] drawings and change sets that were begun there are not finished; those for another board are")
    func unfinished() {
        retain(anna, "a")
        for channel in ["lesson", "other"] { anna.part(channel, "big", 1, of: 2, [1]) }
        anna.changes("lesson", ["b=x"], part: (1, 2))
        work(driver)
        _ = anna.board()
        let id = remove()
        for channel in ["lesson", "other"] { anna.part(channel, "big", 2, of: 2, [2]) }
        anna.changes("lesson", ["c=x"], part: (2, 2))
        work(driver)
        #expect(records(id) == 1)
        #expect(anna.board().filter { $0.hasSuffix("partMissing") }.count == 2)
        #expect(board(driver, "lesson", "late").isEmpty && driver.hub.census().boardRecords == 1)
    }

    @Test("[AC18, AC14] what is asked for meanwhile is one round: each board loses what was meant there, by whom it was meant")
    func together() {
        let aide = TestClient(driver, "aide", by: TestAccess.hostKey), ben = TestClient(driver, "ben", by: TestAccess.editorKey)
        for channel in ["lesson", "other"] {
            retain(anna, "a", on: channel)
            retain(ben, "b", on: channel)
        }
        driver.holdsErasures = true
        let first = remove("nobody")
        driver.persist()
        driver.readFiles()
        let forget = aide.nextRequest()
        driver.send(.json(.forgetUser, ForgetUserRequest(id: forget, user: try! Name("ben"), withRecords: true)), from: aide.id)
        let second = remove(from: "other")
        driver.holdsErasures = false
        work(driver)
        #expect(records(first) == 0 && records(second) == 1)
        #expect(board(driver, "lesson", "late") == ["1 a=a"] && board(driver, "other", "later").isEmpty)
    }

    @Test("[AC18, AC14] a board that cannot be read holds up only what was asked of it")
    func unreadable() {
        for channel in ["torn", "whole"] { retain(anna, "a", on: channel) }
        driver.holdsErasures = true
        let first = remove("nobody", from: "whole")
        driver.persist()
        driver.readFiles()
        let torn = remove(from: "torn"), whole = remove(from: "whole")
        driver.persist()
        driver.holdsFiles = true
        driver.erase()
        driver.handle(.recordsFound(StoredRecords(token: driver.searches.last!.token, outcome: .failed("made to fail"))))
        (driver.holdsErasures, driver.holdsFiles) = (false, false)
        work(driver)
        #expect(records(first) == 0 && records(whole) == 1 && marks(driver) == 1)
        #expect(refusal(torn)?.text.contains("not all records of user anna are removed: the board of torn cannot be read") == true)
    }
}
