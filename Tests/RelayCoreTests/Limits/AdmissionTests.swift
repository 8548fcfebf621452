import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// Who gets a place, when there are not enough.
@Suite struct AdmissionTests {
    private func end(_ driver: HubDriver, _ id: ConnectionID) -> ErrorCode? {
        driver.received(id).first { $0.type == FrameType.closing.rawValue }.map { TestClient.decode(CloseNotice.self, $0.body).code }
    }

    @Test(
        "[SE5] one more connection without login than may be closes the oldest such one; who logs in at once gets in, those inside notice nothing"
    )
    func greetings() {
        let driver = HubDriver.patient { $0.greetingsMax = 3 }
        let alice = TestClient(driver, "alice")
        let waiting = (0..<3).map { _ in driver.open() }
        #expect(waiting.allSatisfy { end(driver, $0) == nil })
        let bob = TestClient(driver, "bob")
        #expect(bob.welcome != nil)
        #expect(waiting.map { end(driver, $0) } == [.tooManyConnections, nil, nil])
        // A flood takes only from itself.
        for _ in 0..<3_000 { _ = driver.open() }
        #expect(passes(alice.subscribe("lesson")) && passes(bob.subscribe("lesson")))
        #expect(TestClient(driver, "carol").welcome != nil)
        #expect(driver.hub.census().counters.closes["tooManyConnections", default: 0] == 3_000 + 2 - 1)
    }

    @Test("[SE5] at the bound of all connections those without login make room, and nobody else")
    func full() {
        let driver = HubDriver.patient { $0.connectionsMax = 3 }
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob")
        let idle = driver.open()
        let carol = TestClient(driver, "carol")
        #expect(carol.welcome != nil && end(driver, idle) == .tooManyConnections)
        driver.cut(idle)
        let late = driver.open()
        #expect(end(driver, late) == .tooManyConnections)
        #expect(passes(alice.subscribe("lesson")) && passes(bob.subscribe("lesson")) && passes(carol.subscribe("lesson")))
    }

    @Test("[SE5] one more session than may be is told to come back; who has one, present or away, takes it up")
    func sessions() throws {
        let driver = HubDriver.patient { $0.sessionsMax = 2 }
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob")
        let token = try #require(bob.welcome?.resumeToken)
        driver.cut(bob.id)
        let carol = TestClient(driver, "carol")
        #expect(carol.welcome == nil && driver.hub.census().counters.closes["tooManySessions"] == 1)
        let again = TestClient(driver, "bob", resume: token)
        #expect(again.welcome?.resumed == true)
        alice.request(.logout) { EmptyRequest(id: $0) }
        driver.advance(.seconds(5))
        #expect(TestClient(driver, "carol").welcome != nil)
    }

    @Test("[SE5] whoever comes and goes, of those without login nothing is left")
    func nothingLeft() {
        let driver = HubDriver.patient { $0.greetingsMax = 5 }
        for round in 0..<3_000 {
            let id = driver.open()
            if round % 3 == 0 { driver.cut(id) }
            if round % 7 == 0 { _ = TestClient(driver, "user-\(round % 10)") }
        }
        driver.advance(.seconds(30))
        let after = (0..<5).map { _ in driver.open() }
        #expect(after.allSatisfy { end(driver, $0) == nil }, "five places are free again")
    }
}
