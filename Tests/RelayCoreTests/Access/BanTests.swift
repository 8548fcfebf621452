import RelayCore
import RelayRights
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@Suite struct BanTests {
    let driver = HubDriver(access: TestAccess.rules)
    let host: TestClient

    init() {
        host = TestClient(driver, "host", by: TestAccess.hostKey)
        host.subscribe("lesson")
        host.ignore()
    }

    /// How a login ends: let in, or by the code of the refusal or of the farewell.
    private func login(
        _ user: String, secret: String? = nil, key: String? = TestAccess.editorKey, token: String? = nil, resume: String? = nil
    ) -> String {
        let client = TestClient(
            driver, user, resume: resume, presenceTimeoutMs: 300_000, secret: TestAccess.secret(of: secret ?? user),
            key: token == nil ? key : nil, token: token)
        defer { driver.cut(client.id) }
        if client.welcome != nil { return "in" }
        let closing = client.others.first { $0.type == FrameType.closing.rawValue }.map {
            TestClient.decode(CloseNotice.self, $0.body).code
        }
        let error = client.others.first { $0.type == FrameType.error.rawValue }.map { TestClient.decode(ErrorBody.self, $0.body).code }
        return (closing ?? error)?.name ?? "nothing"
    }

    private func presence() -> [String] {
        host.takeOthers(.presence).map { TestClient.decode(PresenceEvent.self, $0.body) }.map { "\($0.event) \($0.user?.text ?? "-")" }
    }

    @Test(
        "[AC13] the session ends with banned, others see leave; neither the id nor the secret comes in any more, with whatever credential; unbanned it does"
    )
    func bans() {
        let anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        anna.subscribe("lesson")
        host.ignore()
        #expect(TestClient.code(host.ban("anna")) == nil)
        let closing = anna.closing()
        #expect(closing?.code == .banned && closing?.text == "user anna is banned" && closing?.code.clientReconnects == false)
        #expect(presence() == ["leave anna"])
        driver.cut(anna.id)

        #expect(login("anna") == "banned" && login("anna", resume: anna.welcome?.resumeToken) == "banned")
        #expect(login("anna", secret: "another device") == "banned")
        #expect(login("anna", token: driver.token("anna", role: .editor)) == "banned")
        #expect(login("anna", key: TestAccess.hostKey) == "banned")
        #expect(login("berta", secret: "anna") == "banned", "the same client under another id")
        #expect(login("berta", secret: "anna", token: driver.token("berta", role: .editor)) == "banned")
        #expect(login("berta") == "in")

        #expect(TestClient.code(host.unban("anna")) == nil)
        #expect(login("anna") == "in")
        #expect(TestClient.code(host.unban("anna")) == .notBanned && TestClient.code(host.unban("nobody")) == .notBanned)
        #expect(driver.audit.count == 2 && driver.audit[0].hasSuffix("banned user anna") && driver.audit[1].hasSuffix("unbanned user anna"))
    }

    @Test("[AC13, AC2] who has no right credential does not learn of a ban: the refusal is the one that everybody gets, as late")
    func strangers() {
        TestClient(driver, "anna", by: TestAccess.editorKey).ignore()
        host.ban("anna")
        for user in ["anna", "berta"] {
            let client = TestClient(driver, user, secret: TestAccess.secret(of: "anna"), key: "KEYNONE-0000")
            #expect(client.others.isEmpty)
            driver.advance(.seconds(1))
            #expect(client.errors().map(\.code) == [.keyWrong], "\(user)")
            // With a right one it does, and what waited comes before.
            client.login(secret: TestAccess.secret(of: "anna"), key: "KEYNONE-0001")
            client.login(secret: TestAccess.secret(of: "anna"), key: TestAccess.editorKey)
            let frames = client.others + client.frames()
            #expect(frames.map(\.type) == [FrameType.error.rawValue, FrameType.closing.rawValue], "\(user)")
        }
    }

    @Test("[AC13] a user who is not there is banned with the secret that it is known by; one that nobody knows by its id alone")
    func absent() {
        #expect(login("anna") == "in")
        driver.advance(.seconds(600))
        let host = TestClient(driver, "host", by: TestAccess.hostKey)
        for user in ["anna", "ghost"] { #expect(TestClient.code(host.ban(user)) == nil) }
        #expect(login("anna") == "banned" && login("berta", secret: "anna") == "banned")
        #expect(login("ghost") == "banned" && login("berta", secret: "ghost") == "in")
        // Longer than an id belongs to anybody.
        driver.advance(.seconds(25 * 3600))
        let late = TestClient(driver, "host", by: TestAccess.hostKey)
        #expect(login("anna", secret: "new") == "banned" && login("carl", secret: "anna") == "banned")
        // A ban again, of whom nothing is known any more, keeps the secret.
        late.ban("anna", forMs: 60_000)
        #expect(login("carl", secret: "anna") == "banned")
        driver.advance(.seconds(60))
        #expect(login("carl", secret: "anna") == "in")
    }

    @Test("[AC13] all sessions of the secret end, those away, too; that of a moderator does not, but does when it renews as less")
    func secrets() {
        func client(_ user: String, _ key: String) -> TestClient {
            TestClient(driver, user, presenceTimeoutMs: 300_000, secret: TestAccess.secret(of: "tablet"), key: key)
        }
        let anna = client("anna", TestAccess.editorKey), berta = client("berta", TestAccess.editorKey),
            away = client("away", TestAccess.editorKey)
        let teacher = client("teacher", TestAccess.hostKey)
        driver.cut(away.id)
        host.ban("anna")
        #expect(anna.closing()?.text == "user anna is banned" && berta.closing()?.text == "this client is banned")
        #expect(driver.hub.census().sessionsAway == 0 && driver.hub.census().sessionsPresent == 2)
        #expect(!driver.isClosing(teacher.id))
        teacher.subscribe("lesson")
        host.ignore()
        #expect(teacher.renew(key: TestAccess.editorKey) == .nothing)
        #expect(teacher.takeOthers(.closing).map { TestClient.decode(CloseNotice.self, $0.body).code } == [.banned])
        #expect(presence() == ["leave teacher"], "it is gone, not away")
    }

    @Test("[AC13, AC8] who is let in by a token that a renewal replaces is asked about the ban at the renewal as well")
    func renewal() {
        // Let in as a moderator, and so spared by a ban of the secret.
        let anna = TestClient(
            driver, "anna", presenceTimeoutMs: 300_000, secret: TestAccess.secret(of: "tablet"),
            token: driver.token("anna", role: .moderator))
        TestClient(driver, "berta", presenceTimeoutMs: 300_000, secret: TestAccess.secret(of: "tablet"), key: TestAccess.editorKey).ignore()
        host.ban("berta")
        #expect(anna.renew(token: "a.b.c") == .nothing)
        #expect(!driver.isClosing(anna.id), "a wrong one says nothing of bans")
        #expect(anna.renew(token: driver.token("anna", role: .editor)) == .nothing)
        #expect(driver.isClosing(anna.id) && driver.hub.census().counters.closes["banned"] == 2)
    }

    @Test("[AC13] a moderator by credential, and oneself, is not banned; nor is anybody by who is no moderator")
    func moderators() {
        let other = TestClient(driver, "other", by: TestAccess.hostKey), anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        #expect(TestClient.code(host.ban("other")) == .notPermitted && TestClient.code(host.ban("host")) == .notPermitted)
        #expect(TestClient.code(anna.ban("host")) == .notPermitted && TestClient.code(anna.ban("other")) == .notPermitted)
        #expect(!driver.isClosing(other.id) && driver.audit.isEmpty && driver.hub.census().bans == 0)
        driver.cut(other.id)
        host.end("other")
        #expect(TestClient.code(host.ban("other")) == nil)
        #expect(login("other", key: TestAccess.hostKey) == "banned")
    }

    @Test("[AC13] a ban ends by itself, to the millisecond, by the wall clock; the text says how long it lasts")
    func times() {
        let anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        host.ban("anna", forMs: 7_200_000)
        #expect(anna.closing()?.text == "user anna is banned for another 7200 s")
        driver.moveWall(by: .milliseconds(7_199_999))
        #expect(login("anna") == "banned" && host.bans().count == 1)
        driver.moveWall(by: .milliseconds(1))
        #expect(login("anna") == "in")
        #expect(host.bans().isEmpty && TestClient.code(host.unban("anna")) == .notBanned)
        driver.advance(.seconds(3600))
        #expect(driver.hub.census().bans == 0, "it is forgotten within the hour")
        #expect(driver.audit.count == 1, "that it is over is nobody's doing")
    }

    @Test("[AC13] 1 s and a year pass, less and more is badRequest with the limit it passed")
    func timeLimits() {
        for time in [1_000, 31_536_000_000] { #expect(TestClient.code(host.ban("anna", forMs: time)) == nil) }
        for (time, limit) in [(999, 1_000), (0, 1_000), (-1, 1_000), (31_536_000_001, 31_536_000_000)] {
            guard case .error(let error) = host.ban("berta", forMs: time) else { return #expect(Bool(false), "\(time)") }
            #expect(error.code == .badRequest && error.limit == UInt64(limit) && error.actual == UInt64(max(0, time)))
        }
        #expect(host.bans().map(\.user) == ["anna"])
    }

    @Test(
        "[AC13] bans are listed in order of ids, page by page, with who made them, when, and until when; a newer one takes the place of the one before"
    )
    func lists() throws {
        let users = ["zoe", "anna", "Berta", "carl", "dora"]
        for user in users { host.ban(user) }
        driver.advance(.seconds(1))
        let now = driver.now.wallMilliseconds
        host.ban("carl", forMs: 5_000)
        for limit in [1, 2, 100] {
            let bans = host.bans(limit: limit)
            #expect(bans.map(\.user) == users.sorted())
            #expect(
                bans.first { $0.user == "carl" }
                    == BanInfo(user: "carl", by: "host", wallMilliseconds: now, endMilliseconds: now + 5_000))
            #expect(bans.first?.endMilliseconds == nil && bans.first?.wallMilliseconds == now - 1_000)
        }
        for limit in [0, 101] { #expect(TestClient.code(host.request(.getBans) { PageRequest(id: $0, limit: limit) }) == .badRequest) }
        #expect(driver.audit.count == 6)
    }

    @Test("[AC13] one more than may be is limitReached; one that is over makes room")
    func bounds() {
        var configuration = Configuration()
        configuration.bansMax = 2
        let driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        let host = TestClient(driver, "host", by: TestAccess.hostKey)
        host.ban("a", forMs: 1_000)
        host.ban("b")
        guard case .error(let error) = host.ban("c") else { return #expect(Bool(false), "a third one") }
        #expect(error.code == .limitReached && error.limit == 2 && error.actual == 3)
        #expect(TestClient.code(host.ban("b", forMs: 60_000)) == nil)
        driver.advance(.seconds(1))
        #expect(TestClient.code(host.ban("c")) == nil && host.bans().map(\.user) == ["b", "c"])
    }

    @Test("[AC13, AC15] on an open relay everybody may ban everybody else, by the secret, too, and nobody itself")
    func open() {
        let driver = HubDriver()
        let anna = TestClient(driver, "anna", secret: TestAccess.secret(of: "anna")),
            bob = TestClient(driver, "bob", secret: TestAccess.secret(of: "bob"))
        #expect(TestClient.code(anna.ban("anna")) == .notPermitted)
        #expect(TestClient.code(anna.ban("bob")) == nil && bob.closing()?.code == .banned)
        let again = TestClient(driver, "carl", secret: TestAccess.secret(of: "bob"))
        #expect(again.welcome == nil && driver.isClosing(again.id))
        #expect(TestClient(driver, "carl", secret: TestAccess.secret(of: "carl")).welcome != nil)
    }
}
