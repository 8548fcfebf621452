import RelayCore
import RelayRights
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@Suite struct SetRoleTests {
    let driver = HubDriver(access: TestAccess.rules)
    let host: TestClient

    init() { host = TestClient(driver, "host", by: TestAccess.hostKey) }

    private func topic(_ client: TestClient) -> ErrorCode? {
        TestClient.code(client.request(.joinTopic) { JoinTopicRequest(id: $0, channel: try! Name("lesson"), topic: try! Name("points")) })
    }

    private func canPublish(_ client: TestClient) -> Bool {
        client.ignore()
        client.publish("lesson", [1])
        return client.frames(.accepted).count == 1
    }

    @Test(
        "[AC10, AC7] who is made a reader may at once only look on: flows close, other users' metadata ends, waits for locks too; it is told first"
    )
    func reader() throws {
        let anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        anna.subscribe("lesson")
        anna.join("lesson")
        host.join("lesson")
        let flow = anna.joinTopic("lesson", "points")
        #expect(canPublish(anna))
        anna.request(.subscribeUserMetadata) { UserRequest(id: $0, user: try! Name("host")) }
        host.setLock("lesson", "a")
        host.acquire("lesson", "a")
        let wait = anna.sendAcquire("lesson", "a", waitMs: 3_000)
        for client in [anna, host] { client.ignore() }

        #expect(TestClient.code(host.setRole("anna", "reader")) == nil)
        let frames = anna.frames()
        #expect(frames.first?.type == FrameType.accessChanged.rawValue)
        let errors = frames.filter { $0.type == FrameType.error.rawValue }.map { TestClient.decode(ErrorBody.self, $0.body) }
        #expect(
            Set(errors.map(\.flow)) == [flow, nil] && errors.contains { $0.id == wait } && errors.allSatisfy { $0.code == .notPermitted })
        #expect(TestClient.decode(AccessChanged.self, frames[0].body) == AccessChanged(AccessBody(role: "reader"), by: try Name("host")))
        #expect(host.accessChanges().isEmpty, "nobody else is concerned")
        #expect(!canPublish(anna) && topic(anna) == .notPermitted)
        host.set("user:host", [("a", "b")])
        #expect(anna.frames(.metadata).isEmpty)
        #expect(TestClient.code(anna.subscribe("lesson")) == nil)
        #expect(driver.audit.count == 1 && driver.audit[0].contains("user host") && driver.audit[0].hasSuffix("made user anna a reader"))
    }

    @Test("[AC10] a reader is cut to reading in all that its credentials give: grants, and a token for one channel")
    func grants() throws {
        let anna = TestClient(
            driver, "anna", presenceTimeoutMs: 300_000,
            token: driver.token("anna", role: .editor, grants: ["lesson": ["clear", "subscribe"], "*": ["direct"]]))
        anna.join("lesson", token: driver.token("anna", grants: ["lesson": ["stream", "clear"]]))
        #expect(topic(anna) == nil)
        host.setRole("anna", "reader")
        let change = try #require(anna.accessChanges().first)
        #expect(change.access.role == "reader" && change.access.grants == ["lesson": ["subscribe"]] && change.access.untilMs == 3_600_000)
        #expect(
            topic(anna) == .notPermitted
                && TestClient.code(anna.request(.clear) { ChannelRequest(id: $0, channel: try! Name("lesson")) }) == .notPermitted)
        // Brought later, it adds nothing either.
        #expect(TestClient.code(anna.join("lesson", token: driver.token("anna", grants: ["lesson": ["stream"]]))) == nil)
        #expect(topic(anna) == .notPermitted)
        host.setRole("anna", nil)
        #expect(topic(anna) == nil, "the token for the channel counts again")
    }

    @Test("[AC10] an editor is one who had less; who has more by grants keeps that; without a role the credential counts again")
    func editor() throws {
        let anna = TestClient(driver, "anna", by: TestAccess.readerKey)
        let tess = TestClient(driver, "tess", presenceTimeoutMs: 300_000, token: driver.token("tess", grants: ["lesson": ["clear"]]))
        #expect(!canPublish(anna) && !canPublish(tess))
        for user in ["anna", "tess"] { #expect(TestClient.code(host.setRole(user, "editor")) == nil) }
        #expect(tess.accessChanges().map(\.access) == [AccessBody(role: "editor", grants: ["lesson": ["clear"]], untilMs: 3_600_000)])
        #expect(canPublish(anna) && canPublish(tess))
        #expect(TestClient.code(tess.request(.clear) { ChannelRequest(id: $0, channel: try! Name("lesson")) }) == .boardNotFound)
        host.retain("lesson", "a", [1])
        anna.retain("lesson", "a", [2])
        #expect(anna.board() == ["error 3 notPermitted"])
        _ = host.setRole("anna", "coeditor")
        #expect(anna.accessChanges().map(\.access) == [AccessBody(role: "coeditor")])
        anna.retain("lesson", "a", [3])
        #expect(anna.board() == ["accepted 4 at 4", "stored 4 at 4"])
        #expect(TestClient.code(host.setRole("anna", nil)) == nil)
        #expect(anna.accessChanges().map(\.access) == [AccessBody(role: "reader")])
        #expect(!canPublish(anna))
        #expect(driver.audit.count == 4 && driver.audit[2].hasSuffix("made user anna a coeditor"))
        #expect(driver.audit[3].hasSuffix("gave user anna back what its credential gives"))
    }

    @Test("[AC10] it holds for who is not there, who comes back, resumes or renews, whatever the key gives; welcome and renew tell it")
    func holds() throws {
        #expect(TestClient.code(host.setRole("anna", "reader")) == nil)
        let anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        #expect(anna.welcome?.access == AccessBody(role: "reader"))
        #expect(!canPublish(anna))
        let renewed = anna.answer(RenewAnswer.self, anna.renew(token: driver.token("anna", role: .editor, seconds: 60)))
        #expect(renewed?.access == AccessBody(role: "reader", untilMs: 60_000))
        #expect(!canPublish(anna))
        driver.cut(anna.id)
        let back = TestClient(driver, "anna", by: TestAccess.editorKey, resume: anna.welcome?.resumeToken)
        #expect(back.welcome?.resumed == true && back.welcome?.access == AccessBody(role: "reader"))
        #expect(!canPublish(back))
        driver.cut(back.id)
        #expect(TestClient.code(host.setRole("anna", nil)) == nil)
        let again = TestClient(driver, "anna", by: TestAccess.editorKey, resume: back.welcome?.resumeToken)
        #expect(again.welcome?.resumed == true && canPublish(again))
    }

    @Test("[AC10, SE9] who is away is made a reader as well: its flows close, and it resumes as one")
    func away() {
        let anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        anna.join("lesson")
        anna.joinTopic("lesson", "points")
        driver.cut(anna.id)
        host.setRole("anna", "reader")
        #expect(driver.hub.census().channels.first?.flows == 0)
        let back = TestClient(driver, "anna", by: TestAccess.editorKey, resume: anna.welcome?.resumeToken)
        #expect(back.welcome?.resumed == true && topic(back) == .notPermitted)
    }

    @Test("[AC10] a moderator is one by its credential: it is not made less, nor oneself, and who comes with that credential has all of it")
    func moderators() {
        let other = TestClient(driver, "other", by: TestAccess.hostKey)
        for (user, role) in [("other", "reader"), ("other", "coeditor"), ("other", nil), ("host", "reader"), ("host", "editor")] {
            #expect(TestClient.code(host.setRole(user, role)) == .notPermitted, "\(user) \(role ?? "-")")
        }
        #expect(TestClient.code(host.setRole("anna", "moderator")) == .badRequest)
        #expect(TestClient.code(host.setRole("anna", "")) == .badRequest)
        #expect(driver.audit.isEmpty && other.frames().isEmpty)
        host.setRole("late", "reader")
        let late = TestClient(driver, "late", by: TestAccess.hostKey)
        #expect(late.welcome?.access == AccessBody(role: "moderator"))
        #expect(TestClient.code(late.freeze("lesson")) == nil)
        // With another credential the role counts.
        #expect(TestClient.code(late.renew(key: TestAccess.editorKey)) == nil)
        #expect(TestClient.code(late.freeze("lesson", false)) == .notPermitted && !canPublish(late))
    }

    @Test("[AC10, AC15] on an open relay everybody may make everybody else a reader, who then is no moderator")
    func open() {
        let driver = HubDriver()
        let anna = TestClient(driver, "anna"), bob = TestClient(driver, "bob")
        #expect(TestClient.code(anna.setRole("anna", "reader")) == .notPermitted)
        #expect(TestClient.code(anna.setRole("bob", "reader")) == nil)
        #expect(bob.accessChanges().map(\.access) == [AccessBody(role: "reader")])
        bob.publish("lesson", [1])
        #expect(bob.errors().map(\.code) == [.notPermitted])
        #expect(TestClient.code(bob.setRole("anna", "reader")) == .notPermitted)
        #expect(TestClient.code(anna.setRole("bob", nil)) == nil)
        #expect(TestClient.code(bob.setRole("anna", "reader")) == nil)
    }

    @Test("[AC10, AC15] what is so already is answered, and neither told nor logged; over the bound it is limitReached")
    func bounds() {
        var configuration = Configuration()
        configuration.setRolesMax = 2
        let driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        let host = TestClient(driver, "host", by: TestAccess.hostKey), anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        for _ in 0..<2 { #expect(TestClient.code(host.setRole("anna", "reader")) == nil) }
        #expect(TestClient.code(host.setRole("bob", nil)) == nil)
        #expect(anna.accessChanges().count == 1 && driver.audit.count == 1)
        #expect(TestClient.code(host.setRole("bob", "editor")) == nil)
        guard case .error(let error) = host.setRole("carl", "reader") else { return #expect(Bool(false), "a third one") }
        #expect(error.code == .limitReached && error.limit == 2 && error.actual == 3)
        #expect(TestClient.code(host.setRole("anna", "editor")) == nil, "who has one gets another")
        #expect(TestClient.code(host.setRole("anna", nil)) == nil)
        #expect(TestClient.code(host.setRole("carl", "reader")) == nil)
        #expect(driver.hub.census().setRoles == 2 && driver.hub.census().counters.moderations == UInt64(driver.audit.count))
    }
}
