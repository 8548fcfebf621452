import RelayCore
import RelayRights
import RelayTestKit
import RelayTesting
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

    /// A relay with few places for ids.
    private func small(_ places: Int) -> HubDriver {
        var configuration = Configuration()
        (configuration.claimsMax, configuration.isJournaled) = (places, true)
        return HubDriver(configuration: configuration, access: TestAccess.rules)
    }

    private func login(_ driver: HubDriver, _ user: String, secret: String? = nil, from address: AddressKey = .local) -> TestClient {
        let client = TestClient(driver, user, secret: TestAccess.secret(of: secret ?? user), key: TestAccess.editorKey, from: address)
        driver.persist()
        return client
    }

    private func comeAndGo(_ driver: HubDriver, _ user: String, from address: AddressKey = .local) -> TestClient {
        let client = login(driver, user, from: address)
        client.request(.logout) { EmptyRequest(id: $0) }
        driver.cut(client.id)
        return client
    }

    @Test("[AC3] an id is kept as long as a board has records of that user")
    func heldByRecords() {
        let driver = small(1_000)
        let anna = login(driver, "anna")
        anna.retain("lesson", "a", [1])
        driver.persist()
        anna.request(.logout) { EmptyRequest(id: $0) }
        driver.cut(anna.id)
        driver.advance(.seconds(48 * 3600))
        #expect(code(login(driver, "anna", secret: "other")) == .userIDTaken)
        let next = driver.restarted(start: 1_800_000_001)
        next.advance(.seconds(48 * 3600))
        #expect(code(login(next, "anna", secret: "other")) == .userIDTaken)
        let host = TestClient(next, "host", secret: TestAccess.secret(of: "host"), key: TestAccess.hostKey)
        host.request(.clear) { ChannelRequest(id: $0, channel: name("lesson")) }
        next.persist()
        #expect(login(next, "anna", secret: "other").welcome != nil)
    }

    @Test("[AC3] newcomers make no id free that was used today, or has records or metadata: when no place is left they are relayFull")
    func bound() throws {
        let driver = small(32)
        let here = login(driver, "here")
        let drawer = login(driver, "drawer")
        drawer.retain("lesson", "a", [1])
        let keeper = login(driver, "keeper")
        keeper.set("user:keeper", [("a", "b")])
        for client in [drawer, keeper] {
            client.request(.logout) { EmptyRequest(id: $0) }
            driver.cut(client.id)
        }
        driver.persist()
        driver.advance(.seconds(48 * 3600))
        let again = login(driver, "here")
        _ = comeAndGo(driver, "today")
        // Two of 32 places are for moderators.
        for number in 0..<26 { #expect(comeAndGo(driver, "user-\(number)").welcome != nil) }
        for number in 26..<200 {
            let late = login(driver, "user-\(number)")
            let error = late.others.first.map { TestClient.decode(ErrorBody.self, $0.body) }
            #expect(error?.code == .relayFull && error?.limit == 30 && error?.actual == 31 && error?.retryAfterMs == 60_000)
            #expect(error?.retry == "later")
            driver.cut(late.id)
        }
        for user in ["here", "drawer", "keeper", "today", "user-0"] {
            #expect(code(login(driver, user, secret: "other")) == .userIDTaken, "\(user)")
        }
        #expect(login(driver, "today").welcome != nil && !driver.isClosing(again.id))
        #expect(TestClient(driver, "host", secret: TestAccess.secret(of: "host"), key: TestAccess.hostKey).welcome != nil)
        #expect(here.welcome != nil && driver.hub.census().userIDs == 31)
    }

    @Test("[AC3] when no place is left, ids that nobody holds any more go, looked for once a minute")
    func makesRoom() {
        let driver = small(15)
        for number in 0..<15 {
            _ = comeAndGo(driver, "user-\(number)")
            driver.advance(.seconds(60))
        }
        #expect(code(login(driver, "late")) == .relayFull)
        driver.advance(.seconds(24 * 3600 - 14 * 60))
        #expect(login(driver, "late").welcome != nil, "two are a day old")
        #expect(login(driver, "later").welcome != nil)
        #expect(code(login(driver, "last")) == .relayFull)
    }

    @Test("[AC3] one address makes a quarter of the ids, by tokens, which the operator gives, what is left; those stored are nobody's")
    func quarter() {
        let driver = small(1_600), school = AddressKey.ipv4(1), home = AddressKey.ipv4(2)
        for number in 0..<375 { #expect(comeAndGo(driver, "user-\(number)", from: school).welcome != nil) }
        #expect(code(login(driver, "late", from: school)) == .relayFull)
        #expect(login(driver, "user-7", from: school).welcome != nil, "it is there")
        #expect(login(driver, "at home", from: home).welcome != nil)
        #expect(TestClient(driver, "ticket", token: driver.token("ticket", role: .editor), from: school).welcome != nil)
        let next = driver.restarted(start: 1_800_000_001)
        #expect(login(next, "late", from: school).welcome != nil)
    }
}
