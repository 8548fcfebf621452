import RelayCore
import RelayStorage
import RelayRights
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@Suite struct ClaimStorageTests {
    private static func relay() -> HubDriver {
        var configuration = Configuration()
        configuration.isJournaled = true
        return HubDriver(configuration: configuration, access: TestAccess.rules)
    }

    private func login(_ driver: HubDriver, _ user: String, secret: String) -> TestClient {
        TestClient(driver, user, secret: TestAccess.secret(of: secret), key: TestAccess.editorKey)
    }

    private func code(_ client: TestClient) -> ErrorCode? {
        client.others.first { $0.type == FrameType.error.rawValue }.map { TestClient.decode(ErrorBody.self, $0.body).code }
    }

    private func end(_ client: TestClient) {
        client.request(.logout) { EmptyRequest(id: $0) }
        client.driver.cut(client.id)
    }

    /// Entries that wait for the disk and name the user.
    private func writes(_ driver: HubDriver, _ user: String) -> [JournalEntry] {
        driver.unpersisted.flatMap(\.entries).filter { String(decoding: $0.key, as: UTF8.self).contains(user) }
    }

    @Test("[AC3] after a restart an id belongs to the same client, for what is left of the day")
    func restart() {
        let driver = Self.relay()
        end(login(driver, "anna", secret: "anna"))
        let token = TestClient(driver, "tess", token: driver.token("tess", role: .editor))
        end(token)
        driver.persist()
        driver.advance(.seconds(12 * 3600))
        let next = driver.restarted(start: 1_800_000_001)
        next.persist()
        #expect(code(login(next, "anna", secret: "other")) == .userIDTaken)
        #expect(code(login(next, "tess", secret: "other")) == .userIDTaken, "it has no secret: no key gets it")
        #expect(login(next, "anna", secret: "anna").welcome != nil)
        next.advance(.seconds(13 * 3600))
        #expect(login(next, "tess", secret: "other").welcome != nil)
    }

    @Test("[AC3] who is there for days is known after a crash as well as who came an hour ago")
    func longStay() {
        var configuration = Configuration()
        (configuration.isJournaled, configuration.heartbeatMax) = (true, .seconds(150))
        let driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        let anna = TestClient(
            driver, "anna", presenceTimeoutMs: 300_000, secret: TestAccess.secret(of: "anna"), key: TestAccess.editorKey)
        for _ in 0..<(30 * 60) {
            driver.advance(.seconds(60))
            driver.send(Frame(.pong), from: anna.id)
            driver.persist()
        }
        #expect(driver.hub.census().counters.sessionsOpened == 1 && !driver.isClosing(anna.id))
        let next = driver.restarted(start: 1_800_000_001)
        #expect(code(login(next, "anna", secret: "other")) == .userIDTaken)
    }

    @Test("[AC3] the journal is told once an hour at most that an id is in use, and each hour that it is")
    func writesAnHour() {
        let driver = Self.relay()
        var writes = 0
        var hours = 0
        // Every 50 minutes somebody comes and goes, for two days.
        for _ in 0..<58 {
            let anna = login(driver, "anna", secret: "anna")
            driver.advance(.seconds(1))
            end(anna)
            writes += self.writes(driver, "anna").count
            driver.persist()
            driver.advance(.seconds(50 * 60 - 1))
            writes += self.writes(driver, "anna").count
            driver.persist()
            hours += 1
        }
        #expect((20...49).contains(writes), "\(writes) writes in 48 hours")
        let next = driver.restarted(start: 1_800_000_001)
        #expect(code(login(next, "anna", secret: "other")) == .userIDTaken)
    }

    @Test("[AC3] what is forgotten is forgotten on the disk, too, after an hour at the latest")
    func forgotten() {
        let driver = Self.relay()
        end(login(driver, "anna", secret: "anna"))
        driver.persist()
        let entries = driver.disk.count
        driver.advance(.seconds(25 * 3600))
        #expect(writes(driver, "anna").map(\.value) == [nil])
        driver.persist()
        #expect(driver.disk.count == entries - 1)
    }

    @Test("[AC3] what was forgotten while the relay was down is taken from the disk at its start")
    func forgottenAtStart() {
        let driver = Self.relay()
        end(login(driver, "anna", secret: "anna"))
        driver.persist()
        driver.moveWall(by: .seconds(24 * 3600))
        let next = driver.restarted(start: 1_800_000_001)
        #expect(writes(next, "anna").map(\.value) == [nil])
        #expect(login(next, "anna", secret: "other").welcome != nil)
    }

    @Test("[AC3, SG2] on a disk that takes nothing logins go on, and ids are held as long as the relay runs")
    func readOnly() {
        let driver = Self.relay()
        driver.failStorage()
        let anna = login(driver, "anna", secret: "anna")
        #expect(anna.welcome != nil)
        #expect(code(login(driver, "anna", secret: "other")) == .userIDTaken)
        end(anna)
        #expect(writes(driver, "anna").isEmpty)
        driver.advance(.seconds(25 * 3600))
        #expect(login(driver, "anna", secret: "other").welcome != nil)
        driver.handle(.storageRecovered)
        let again = login(driver, "anna", secret: "other")
        #expect(again.welcome != nil && writes(driver, "anna").count == 1, "stored as soon as that works")
    }

    @Test("[AC3, SG2] whose id could not be stored is stored when that works again, be it that nobody comes back before")
    func recovered() {
        let driver = Self.relay()
        end(login(driver, "anna", secret: "anna"))
        driver.failStorage()
        end(login(driver, "bob", secret: "bob"))
        driver.handle(.storageRecovered)
        driver.persist()
        let next = driver.restarted(start: 1_800_000_001)
        for user in ["anna", "bob"] { #expect(code(login(next, user, secret: "other")) == .userIDTaken, "\(user)") }
    }

    @Test("[AC3] the disk has a digest and not the secret")
    func digest() {
        let driver = Self.relay()
        _ = login(driver, "anna", secret: "anna")
        let stored = writes(driver, "anna")
        #expect(stored.count == 1)
        let digits = Array(TestAccess.secret(of: "anna"))
        let secret = stride(from: 0, to: 32, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16)! }
        for entry in stored { #expect(entry.value.map { value in !value.indices.contains { value[$0...].starts(with: secret) } } == true) }
    }
}
