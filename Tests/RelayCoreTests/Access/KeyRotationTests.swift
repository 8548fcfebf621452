import RelayCore
import RelayRights
import RelayTestKit
import RelayTesting
import RelayTokens
import RelayWire
import Testing

@Suite struct KeyRotationTests {
    let driver = HubDriver(access: TestAccess.rules)

    /// The editors' key is replaced; the others stay.
    private static let rotated: AccessRules = {
        var rules = TestAccess.rules
        rules.keys[1] = .init("KEYEDITOR-0004", .editor)
        return rules
    }()

    private func login(_ user: String, key: String, resume: String? = nil) -> TestClient {
        TestClient(driver, user, resume: resume, presenceTimeoutMs: 300_000, secret: TestAccess.secret(of: user), key: key)
    }

    @Test("[AC1] after a rotation what the old key's sessions would resume with is void, and they go on until they break")
    func resumeTokens() {
        let anna = login("anna", key: TestAccess.editorKey), away = login("away", key: TestAccess.editorKey)
        let host = login("host", key: TestAccess.hostKey)
        let tess = TestClient(driver, "tess", presenceTimeoutMs: 300_000, token: driver.token("tess", role: .editor))
        for client in [anna, away, host, tess] { client.subscribe("lesson") }
        driver.cut(away.id)
        driver.changeAccess(Self.rotated, endsSessions: false)
        for client in [anna, host, tess] { #expect(TestClient.code(client.join("lesson")) == nil, "\(client.user) goes on") }
        for client in [anna, host, tess] { driver.cut(client.id) }

        let old = login("anna", key: TestAccess.editorKey, resume: anna.welcome?.resumeToken)
        driver.advance(.seconds(1))
        #expect(old.errors().map(\.code) == [.keyWrong])
        for client in [anna, away] {
            let back = login(client.user, key: "KEYEDITOR-0004", resume: client.welcome?.resumeToken)
            #expect(back.welcome?.resumed == false, "\(client.user)")
        }
        #expect(login("host", key: TestAccess.hostKey, resume: host.welcome?.resumeToken).welcome?.resumed == true)
        let back = TestClient(driver, "tess", resume: tess.welcome?.resumeToken, token: driver.token("tess", role: .editor))
        #expect(back.welcome?.resumed == true)
    }

    @Test("[AC1] with the end of sessions the old key's are closed with keyChanged, those away end too; others see leave, and stay")
    func endsSessions() {
        let anna = login("anna", key: TestAccess.editorKey), away = login("away", key: TestAccess.editorKey)
        let host = login("host", key: TestAccess.hostKey)
        let tess = TestClient(driver, "tess", presenceTimeoutMs: 300_000, token: driver.token("tess", role: .editor))
        for client in [anna, away, host, tess] { client.subscribe("lesson") }
        driver.cut(away.id)
        for client in [host, tess] { _ = (client.frames(), client.others = []) }
        driver.changeAccess(Self.rotated, endsSessions: true)
        #expect(anna.closing()?.code == .keyChanged)
        for client in [host, tess] {
            #expect(!driver.isClosing(client.id))
            let events = client.frames().filter { $0.type == FrameType.presence.rawValue }.map {
                TestClient.decode(PresenceEvent.self, $0.body)
            }
            #expect(events.map { "\($0.event) \($0.user!)" } == ["leave anna", "leave away"])
        }
        #expect(driver.hub.census().sessionsPresent == 2 && driver.hub.census().sessionsAway == 0)
        // The user ids still belong to their clients.
        #expect(login("anna", key: "KEYEDITOR-0004").welcome?.resumed == false)
        let thief = TestClient(driver, "away", secret: TestAccess.secret(of: "thief"), key: "KEYEDITOR-0004")
        #expect(thief.takeOthers(.error).map { TestClient.decode(ErrorBody.self, $0.body).code } == [.userIDTaken])
    }

    @Test("[AC1, AC8] a session that has renewed with another credential is judged by that")
    func renewed() {
        let anna = login("anna", key: TestAccess.editorKey), bob = login("bob", key: TestAccess.editorKey)
        #expect(TestClient.code(anna.renew(key: TestAccess.readerKey)) == nil)
        #expect(TestClient.code(bob.renew(token: driver.token("bob", role: .editor))) == nil)
        driver.changeAccess(Self.rotated, endsSessions: true)
        #expect(!driver.isClosing(anna.id) && !driver.isClosing(bob.id))
    }

    @Test("[AC1] when the secret of tokens is replaced, one of the old secret neither begins, resumes, renews nor adds")
    func tokenSecret() throws {
        let anna = TestClient(driver, "anna", presenceTimeoutMs: 300_000, token: driver.token("anna", role: .reader))
        let old = driver.token("anna", role: .editor)
        let secret = try TokenSecret(bytes: Array(repeating: 5, count: 32))
        driver.changeAccess(
            AccessRules(keys: TestAccess.rules.keys, tokens: try TokenRules(secrets: [secret], tolerance: .zero)), endsSessions: true)
        #expect(!driver.isClosing(anna.id))
        #expect(TestClient.code(anna.join("lesson", token: old)) == .tokenInvalid)
        #expect(anna.renew(token: old) == .nothing)
        driver.advance(.seconds(1))
        #expect(anna.errors().map(\.code) == [.tokenInvalid])
        driver.cut(anna.id)
        let back = TestClient(driver, "anna", resume: anna.welcome?.resumeToken, presenceTimeoutMs: 300_000, token: old)
        driver.advance(.seconds(1))
        #expect(back.welcome == nil && back.errors().map(\.code) == [.tokenInvalid])
        back.login(
            resume: anna.welcome?.resumeToken, presenceTimeoutMs: 300_000, token: driver.token("anna", role: .reader, secret: secret))
        #expect(back.welcome?.resumed == true)
    }
}
