import RelayCore
import RelayRights
import RelayTestKit
import RelayWire
import Testing

@Suite struct ClaimTests {
    let driver = HubDriver(access: TestAccess.rules)

    private func login(_ user: String, secret: String, key: String = TestAccess.editorKey) -> TestClient {
        TestClient(driver, user, secret: TestAccess.secret(of: secret), key: key)
    }

    private func code(_ client: TestClient) -> ErrorCode? {
        client.others.first { $0.type == FrameType.error.rawValue }.map { TestClient.decode(ErrorBody.self, $0.body).code }
    }

    /// Keeps the link alive while time passes.
    private func pass(_ duration: Duration, _ clients: TestClient...) {
        var left = duration
        while left > .zero {
            driver.advance(min(left, .seconds(4)))
            left = left - .seconds(4)
            for client in clients { driver.send(Frame(.pong), from: client.id) }
        }
    }

    @Test("[AC3] 1,000 logins with another secret on a live id are userIDTaken, and not one byte goes to anybody inside")
    func taken() {
        let anna = login("anna", secret: "anna"), bob = login("bob", secret: "bob")
        for client in [anna, bob] {
            client.subscribe("lesson")
            client.join("lesson")
            client.subscribeTopic("lesson", "points")
        }
        _ = anna.joinTopic("lesson", "points")
        anna.setLock("lesson", "a")
        anna.acquire("lesson", "a")
        for client in [anna, bob] { _ = (client.frames(), client.others = []) }
        let users = driver.hub.census().users
        for attempt in 0..<1_000 {
            let thief = login(
                "anna", secret: "thief-\(attempt % 7)", key: attempt.isMultiple(of: 2) ? TestAccess.hostKey : TestAccess.editorKey)
            #expect(code(thief) == .userIDTaken && thief.welcome == nil)
            #expect(driver.takeBytes(anna.id, limit: 1).isEmpty && driver.takeBytes(bob.id, limit: 1).isEmpty)
            driver.cut(thief.id)
        }
        let census = driver.hub.census()
        #expect(census.users == users && census.sessionsPresent == 2 && census.counters.closes == [:])
        // The one who is inside is, in every respect: its own resumption works.
        driver.cut(anna.id)
        let back = TestClient(
            driver, "anna", resume: anna.welcome?.resumeToken, secret: TestAccess.secret(of: "anna"), key: TestAccess.editorKey)
        #expect(back.welcome?.resumed == true)
        #expect(bob.frames().isEmpty)
    }

    @Test("[AC3] a login with a key needs a secret")
    func secretWanted() {
        let anna = TestClient(driver, "anna", key: TestAccess.editorKey)
        #expect(code(anna) == .badRequest && anna.welcome == nil)
    }

    @Test("[AC3] the same secret takes over, with whichever key")
    func sameClient() {
        let first = login("anna", secret: "anna")
        let second = login("anna", secret: "anna", key: TestAccess.hostKey)
        #expect(second.welcome?.access.role == "moderator" && first.closing()?.code == .replaced)
    }

    @Test("[AC3] an id is free 24 h after the end of its session, not a millisecond before")
    func free() {
        let anna = login("anna", secret: "anna")
        anna.request(.logout) { EmptyRequest(id: $0) }
        driver.cut(anna.id)
        driver.advance(.seconds(24 * 3600) - .milliseconds(1))
        #expect(code(login("anna", secret: "other")) == .userIDTaken)
        driver.advance(.milliseconds(1))
        #expect(login("anna", secret: "other").welcome != nil)
        #expect(code(login("anna", secret: "anna")) == .userIDTaken, "it belongs to the other one now")
    }

    @Test("[AC3] while its session is there, or away, an id is never free")
    func heldBySession() {
        let anna = TestClient(driver, "anna", presenceTimeoutMs: 300_000, secret: TestAccess.secret(of: "anna"), key: TestAccess.editorKey)
        pass(.seconds(25 * 3600), anna)
        #expect(code(login("anna", secret: "other")) == .userIDTaken)
        driver.cut(anna.id)
        driver.advance(.seconds(299))
        #expect(code(login("anna", secret: "other")) == .userIDTaken)
        driver.advance(.seconds(1 + 24 * 3600 - 1))
        #expect(code(login("anna", secret: "other")) == .userIDTaken, "the day begins with the end of the session")
        driver.advance(.seconds(1))
        #expect(login("anna", secret: "other").welcome != nil)
    }

    @Test("[AC3] an id is kept as long as the relay keeps metadata of that user, but not because somebody looks for it")
    func heldByMetadata() {
        let anna = login("anna", secret: "anna"), bob = login("bob", secret: "bob")
        anna.set("user:anna", [("color", "red")])
        bob.set("user:bob", [("color", "blue")])
        for client in [anna, bob] {
            client.request(.logout) { EmptyRequest(id: $0) }
            driver.cut(client.id)
        }
        let carl = login("carl", secret: "carl")
        carl.request(.logout) { EmptyRequest(id: $0) }
        driver.cut(carl.id)
        let host = TestClient(driver, "host", presenceTimeoutMs: 300_000, secret: TestAccess.secret(of: "host"), key: TestAccess.hostKey)
        host.request(.subscribeUserMetadata) { UserRequest(id: $0, user: try! Name("carl")) }
        pass(.seconds(25 * 3600), host)
        #expect(code(login("anna", secret: "other")) == .userIDTaken)
        #expect(login("carl", secret: "other").welcome != nil, "nothing is kept of carl")
        host.remove("user:bob")
        pass(.seconds(25 * 3600), host)
        #expect(login("bob", secret: "other").welcome != nil)
        #expect(code(login("anna", secret: "other")) == .userIDTaken)
    }

    @Test("[AC3] a token for the id takes it over without a secret, and whoever had it before does not get it back")
    func token() {
        let squatter = login("anna", secret: "squatter")
        let anna = TestClient(driver, "anna", token: driver.token("anna", role: .editor))
        #expect(anna.welcome != nil && squatter.closing()?.code == .replaced)
        #expect(code(login("anna", secret: "squatter")) == .userIDTaken)
        #expect(!driver.isClosing(anna.id))
        // The secret that came with a token is the one that is known.
        let again = TestClient(driver, "anna", secret: TestAccess.secret(of: "anna"), token: driver.token("anna", role: .editor))
        #expect(again.welcome != nil)
        #expect(login("anna", secret: "anna").welcome != nil)
    }

    @Test("[AC3] what is remembered is bounded: the longest unseen go, who is here or has metadata stays")
    func bound() {
        var configuration = Configuration()
        configuration.claimsMax = 32
        let driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        func login(_ user: String, secret: String) -> TestClient {
            TestClient(driver, user, presenceTimeoutMs: 300_000, secret: TestAccess.secret(of: secret), key: TestAccess.editorKey)
        }
        let here = login("here", secret: "here")
        let kept = login("kept", secret: "kept")
        kept.set("user:kept", [("a", "b")])
        kept.request(.logout) { EmptyRequest(id: $0) }
        for number in 10..<40 {
            driver.advance(.milliseconds(10))
            let client = login("user-\(number)", secret: "user-\(number)")
            client.request(.logout) { EmptyRequest(id: $0) }
            driver.cut(client.id)
        }
        driver.advance(.milliseconds(10))
        #expect(code(login("user-10", secret: "other")) == .userIDTaken, "32 are remembered")
        // The 33rd: two go, the ones that were unseen the longest.
        let one = login("one-more", secret: "one-more")
        #expect(login("user-10", secret: "other").welcome != nil && login("user-11", secret: "other").welcome != nil)
        for user in ["user-39", "here", "kept"] { #expect(code(login(user, secret: "other")) == .userIDTaken, "\(user)") }
        #expect(!driver.isClosing(here.id) && !driver.isClosing(one.id))
    }
}
