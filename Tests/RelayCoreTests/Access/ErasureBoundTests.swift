import RelayCore
import RelayStorage
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// Which records a forgotten user loses, whoever comes later, and what one board that fails does to other requests.
@Suite struct ErasureBoundTests {
    let driver: HubDriver
    let host: TestClient
    let anna: TestClient

    init() {
        driver = Self.driver(isJournaled: true)
        host = TestClient(driver, "host", by: TestAccess.hostKey)
        anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        driver.persist()
    }

    private static func driver(isJournaled: Bool) -> HubDriver {
        var configuration = Configuration()
        configuration.isJournaled = isJournaled
        return HubDriver(configuration: configuration, access: TestAccess.rules)
    }

    private func forget(_ user: String, withRecords: Bool = true, by host: TestClient) -> UInt32 {
        let id = host.nextRequest()
        host.driver.send(.json(.forgetUser, ForgetUserRequest(id: id, user: try! Name(user), withRecords: withRecords)), from: host.id)
        return id
    }

    private func ask(_ type: FrameType, _ channel: String, by client: TestClient) -> UInt32 {
        let id = client.nextRequest()
        client.driver.send(.json(type, ChannelRequest(id: id, channel: try! Name(channel))), from: client.id)
        return id
    }

    private func isDone(_ id: UInt32, _ client: TestClient) -> Bool { if case .frame = client.outcome(id) { true } else { false } }

    private func refusal(_ id: UInt32, _ client: TestClient) -> ErrorBody? {
        if case .error(let body) = client.outcome(id) { body } else { nil }
    }

    private func work(_ driver: HubDriver) { for _ in 0..<50 where !driver.unpersisted.isEmpty || driver.readFiles() { driver.persist() } }

    private func marks(_ driver: HubDriver) -> Int { driver.disk.keys.count { $0.first == UInt8(ascii: "E") } }

    private func retain(_ client: TestClient, _ key: String, on channel: String = "lesson") {
        client.retain(channel, key, Array(key.utf8))
        work(client.driver)
    }

    private func board(_ driver: HubDriver, _ name: String) -> [String] {
        let reader = TestClient(driver, name, by: TestAccess.readerKey)
        reader.subscribe("lesson", features: ["messages"], since: .beginning)
        work(driver)
        return reader.board().filter { $0.contains("=") }
    }

    @Test(
        "[AC14] what is accepted after the request stays, however often the erasure is tried, and over a restart", arguments: [false, true])
    func retried(restarts: Bool) {
        driver.holdsErasures = true
        retain(anna, "a")
        _ = forget("anna", by: host)
        work(driver)
        retain(anna, "later")
        anna.part("lesson", "big", 1, of: 2, [1])
        work(driver)
        var next = driver
        if restarts {
            next = driver.restarted(start: 1_800_000_001)
        } else {
            driver.handle(.erased(StoreErased(token: driver.erasures[0].token, failure: "made to fail")))
            _ = forget("nobody", withRecords: false, by: host)
        }
        next.holdsErasures = false
        work(next)
        #expect(marks(next) == 0 && board(next, "late") == ["3 later=later"])
        guard !restarts else { return }
        anna.part("lesson", "big", 2, of: 2, [2])
        work(next)
        #expect(next.hub.census().boardRecords == 2)
    }

    @Test("[AC14, BL8] a drawing whose parts were not whole when the request was accepted is not finished")
    func unfinished() {
        retain(anna, "a")
        anna.part("lesson", "big", 1, of: 2, [1])
        work(driver)
        _ = forget("anna", by: host)
        anna.part("lesson", "big", 2, of: 2, [2])
        work(driver)
        #expect(driver.hub.census().boardRecords == 0 && anna.board().contains { $0.hasSuffix("partMissing") })
    }

    @Test(
        "[AC14, BL6] a clear that is undone while records are looked for brings none of them back, nor does a later one",
        arguments: [true, false])
    func undone(isJournaled: Bool) {
        let driver = Self.driver(isJournaled: isJournaled)
        let host = TestClient(driver, "host", by: TestAccess.hostKey), anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        driver.persist()
        retain(anna, "a")
        retain(host, "b")
        driver.holdsFiles = true
        let forgotten = forget("anna", by: host)
        driver.persist()
        for _ in 0..<2 {
            for type in [.clear, .undoClear] as [FrameType] {
                let id = ask(type, "lesson", by: host)
                driver.persist()
                driver.writeFiles()
                if !isJournaled { driver.handle(.persisted(through: .max)) }
                #expect(isDone(id, host), "\(type)")
            }
            driver.holdsFiles = false
            work(driver)
        }
        #expect(isDone(forgotten, host) && board(driver, "late").map { $0.split(separator: " ")[1] } == ["b=b"])
    }

    @Test("[AC14] a stranger with the id who writes over what is looked for keeps that")
    func overwritten() {
        retain(anna, "a")
        driver.holdsFiles = true
        _ = forget("anna", by: host)
        driver.persist()
        anna.retain("lesson", "a", [120])
        driver.readFiles(now: true)
        driver.holdsFiles = false
        driver.persist()
        driver.writeFiles()
        work(driver)
        #expect(marks(driver) == 0 && board(driver, "late") == ["2 a=x"])
    }

    @Test(
        "[AC14] a board that cannot be read holds up only requests with records, which are told; all else is erased; it is tried after longer and longer"
    )
    func unreadable() {
        for channel in ["torn", "whole"] { retain(anna, "a", on: channel) }
        func fail() {
            driver.persist()
            driver.writeFiles()
            driver.handle(.recordsFound(StoredRecords(token: driver.searches.last!.token, outcome: .failed("made to fail"))))
            driver.holdsFiles = false
            work(driver)
            driver.holdsFiles = true
        }
        driver.holdsFiles = true
        let first = forget("anna", by: host)
        fail()
        let text = refusal(first, host)?.text ?? ""
        #expect(text.contains("not all records of user anna are removed: the board of torn cannot be read; the relay"), "\(text)")
        #expect(driver.hub.census().boardRecords == 1 && marks(driver) == 1)
        let other = ask(.removeBoard, "whole", by: host)
        fail()
        #expect(isDone(other, host) && marks(driver) == 1)
        driver.advance(.seconds(119))
        #expect(driver.searches.isEmpty)
        driver.advance(.seconds(1))
        #expect(driver.searches.count == 1)
        driver.holdsFiles = false
        work(driver)
        #expect(marks(driver) == 0 && driver.hub.census().boardRecords == 0)
    }

    @Test("[AC14, BL9] a board that is removed while records are looked for gets no removal behind its end")
    func removedMeanwhile() {
        retain(anna, "a")
        driver.holdsFiles = true
        let forgotten = forget("anna", by: host)
        driver.persist()
        let removed = ask(.removeBoard, "lesson", by: host)
        driver.readFiles(now: true)
        let changes = driver.unpersisted.flatMap(\.entries).compactMap { StoredChange(key: $0.key, value: $0.value ?? []) }
        #expect(changes.map(\.kind) == [.drop])
        driver.holdsFiles = false
        work(driver)
        #expect(isDone(forgotten, host) && isDone(removed, host) && marks(driver) == 0)
        #expect(driver.restarted(start: 1_800_000_001).hub.census().boards == 0)
    }

    @Test(
        "[AC14, SG2] a failure while records are looked for does not say that they are gone; nor does a durable change try again before its time"
    )
    func words() {
        retain(anna, "a")
        driver.holdsFiles = true
        let id = forget("anna", by: host)
        driver.persist()
        driver.failStorage("no space left")
        let text = refusal(id, host)?.text
        #expect(text == "not all records of user anna are removed: the relay's log says why; the relay tries again by itself")
        driver.handle(.storageRecovered)
        let searches = driver.searches.count
        host.sendSet("lesson", [("k", "v")])
        driver.persist()
        #expect(driver.searches.count == searches)
    }

    @Test("[AC14] what two moderators have forgotten in one round is removed by each")
    func moderators() {
        let ben = TestClient(driver, "ben", by: TestAccess.editorKey), aide = TestClient(driver, "aide", by: TestAccess.hostKey)
        driver.persist()
        retain(anna, "a")
        retain(ben, "b")
        driver.holdsErasures = true
        _ = forget("nobody", withRecords: false, by: host)
        driver.persist()
        _ = forget("anna", by: host)
        _ = forget("ben", by: aide)
        driver.persist()
        driver.erase()
        driver.readFiles()
        let removals = driver.unpersisted.flatMap(\.entries).compactMap { StoredChange(key: $0.key, value: $0.value ?? []) }
        #expect(removals.map { String(decoding: $0.author, as: UTF8.self) } == ["host", "aide"])
    }

    @Test("[AC14, BL9] at most so many erasures are under way; one more is refused with limit and number, and counted")
    func limit() {
        var configuration = Configuration()
        (configuration.isJournaled, configuration.erasuresMax) = (true, 2)
        let driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        let host = TestClient(driver, "host", by: TestAccess.hostKey)
        driver.holdsErasures = true
        driver.persist()
        retain(host, "a")
        let first = forget("anna", by: host)
        driver.persist()
        let second = forget("nobody", withRecords: false, by: host)
        driver.persist()
        for id in [forget("ben", by: host), ask(.removeBoard, "lesson", by: host)] {
            let error = refusal(id, host)
            #expect(error?.code == .limitReached && error?.limit == 2 && error?.actual == 3)
        }
        #expect(driver.hub.census().counters.erasuresRefused == 2)
        driver.holdsErasures = false
        work(driver)
        #expect(isDone(first, host) && isDone(second, host))
        let third = ask(.removeBoard, "lesson", by: host)
        work(driver)
        #expect(isDone(third, host) && driver.hub.census().boards == 0)
    }
}
