import RelayCore
import RelayRights
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@Suite struct EndSessionTests {
    let driver = HubDriver(access: TestAccess.rules)
    let host: TestClient

    init() {
        host = TestClient(driver, "host", by: TestAccess.hostKey)
        host.subscribe("lesson")
        host.ignore()
    }

    private func presence() -> [String] {
        host.takeOthers(.presence).map { TestClient.decode(PresenceEvent.self, $0.body) }.map { "\($0.event) \($0.user?.text ?? "-")" }
    }

    @Test("[AC12] the session ends with the reason, others see leave, what it would resume with is void, and it may log in again")
    func ends() {
        let anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        anna.subscribe("lesson")
        host.ignore()
        #expect(TestClient.code(host.end("anna", reason: "See you tomorrow.")) == nil)
        let closing = anna.closing()
        #expect(closing?.code == .endedByModerator && closing?.text == "See you tomorrow." && closing?.code.clientReconnects == false)
        #expect(driver.isClosing(anna.id) && presence() == ["leave anna"])
        driver.cut(anna.id)
        let back = TestClient(driver, "anna", by: TestAccess.editorKey, resume: anna.welcome?.resumeToken)
        #expect(back.welcome?.resumed == false && back.welcome?.lastEnd == nil)
        driver.advance(.seconds(1))
        #expect(presence().isEmpty && driver.audit.count == 1 && driver.audit[0].hasSuffix("ended the session of user anna"))
        #expect(!driver.log.contains { $0.text.contains("tomorrow") }, "what people write is in no line of this log")
    }

    @Test("[AC12] who is away is gone at once, and resumes nothing")
    func away() {
        let anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        anna.subscribe("lesson")
        driver.cut(anna.id)
        host.ignore()
        #expect(TestClient.code(host.end("anna")) == nil)
        #expect(presence() == ["leave anna"])
        #expect(TestClient(driver, "anna", by: TestAccess.editorKey, resume: anna.welcome?.resumeToken).welcome?.resumed == false)
    }

    @Test(
        "[AC12] a user without a session is userOffline, and so is one whose session has just ended; a moderator's may be ended, one's own, too"
    )
    func others() {
        #expect(TestClient.code(host.end("nobody")) == .userOffline)
        let other = TestClient(driver, "other", by: TestAccess.hostKey)
        #expect(TestClient.code(host.end("other")) == nil && other.closing()?.code == .endedByModerator)
        #expect(TestClient.code(host.end("other")) == .userOffline)
        #expect(driver.audit.count == 1)
        #expect(TestClient.code(host.end("host")) == nil)
        #expect(host.takeOthers(.closing).count == 1, "behind the answer")
        #expect(driver.hub.census().sessionsPresent == 0)
    }

    @Test("[AC12] a reason of 256 bytes passes, one more is tooLarge with both numbers, and nobody's session ends")
    func reasons() {
        let anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        guard case .error(let error) = host.end("anna", reason: String(repeating: "é", count: 128) + "x") else {
            return #expect(Bool(false), "257 bytes")
        }
        #expect(error.code == .tooLarge && error.limit == 256 && error.actual == 257 && !driver.isClosing(anna.id))
        let reason = String(repeating: "é", count: 128)
        #expect(TestClient.code(host.end("anna", reason: reason)) == nil && anna.closing()?.text == reason)
    }

    @Test("[AC12, AC15] it needs no storage: on a disk that takes nothing sessions end as well")
    func readOnly() {
        var configuration = Configuration()
        configuration.isJournaled = true
        let driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        let host = TestClient(driver, "host", by: TestAccess.hostKey), anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        driver.failStorage()
        #expect(TestClient.code(host.ban("anna")) == .storageFailed && !driver.isClosing(anna.id))
        #expect(TestClient.code(host.end("anna")) == nil && driver.isClosing(anna.id))
    }
}
