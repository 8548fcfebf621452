import RelayCore
import RelayRights
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@Suite struct ForgetUserTests {
    let driver = HubDriver(access: TestAccess.rules)
    let host: TestClient

    init() { host = TestClient(driver, "host", by: TestAccess.hostKey) }

    private func leave(_ client: TestClient) {
        client.request(.logout) { EmptyRequest(id: $0) }
        driver.cut(client.id)
    }

    @Test("[AC14, MD7] metadata, role and whose the id is are gone, subscribers are told as of any removal; the ban stays")
    func forgets() throws {
        let anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        anna.set("user:anna", [("name", "Anna"), ("class", "7b")])
        leave(anna)
        host.setRole("anna", "reader")
        host.request(.subscribeUserMetadata) { UserRequest(id: $0, user: try! Name("anna")) }
        host.ignore()
        #expect(TestClient.code(host.forget("anna")) == nil)
        let events = host.metadataEvents()
        #expect(events.count == 1 && events[0].head.event == .changed && events[0].head.removed?.map(\.text) == ["class", "name"])
        #expect(events[0].head.majorRevision == 2 && host.metadata("user:anna")?.values == [:])
        // Another client may have the id, and is what its key makes it.
        let other = TestClient(driver, "anna", secret: TestAccess.secret(of: "other"), key: TestAccess.editorKey)
        #expect(other.welcome?.access == AccessBody(role: "editor"))
        leave(other)
        host.ban("anna")
        #expect(TestClient.code(host.forget("anna")) == nil && host.bans().count == 1)
        #expect(driver.audit.filter { $0.hasSuffix("had user anna forgotten") }.count == 2)
    }

    @Test("[AC14] of who is there the id stays its own; its role goes, and it is told")
    func present() {
        let anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        host.setRole("anna", "reader")
        anna.ignore()
        #expect(TestClient.code(host.forget("anna")) == nil)
        #expect(anna.accessChanges().map(\.access) == [AccessBody(role: "editor")])
        let thief = TestClient(driver, "anna", secret: TestAccess.secret(of: "thief"), key: TestAccess.editorKey)
        #expect(thief.welcome == nil && !driver.isClosing(anna.id))
        // Nothing is left to forget: answered, neither told nor logged.
        #expect(TestClient.code(host.forget("anna")) == nil && TestClient.code(host.forget("nobody")) == nil)
        #expect(anna.frames().isEmpty && driver.audit.count == 2)
        #expect(TestClient.code(anna.forget("host")) == .notPermitted)
    }

    @Test("[AC14, AC3] who comes back while the disk is at it keeps its id, on the disk, too")
    func comesBack() {
        var configuration = Configuration()
        configuration.isJournaled = true
        let driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        let host = TestClient(driver, "host", by: TestAccess.hostKey)
        var anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        anna.request(.logout) { EmptyRequest(id: $0) }
        driver.cut(anna.id)
        driver.persist()
        let forget = host.nextRequest()
        driver.send(.json(.forgetUser, ForgetUserRequest(id: forget, user: try! Name("anna"))), from: host.id)
        anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        driver.persist()
        #expect(TestClient.code(host.outcome(forget)) == nil && anna.welcome != nil)
        driver.persist()
        let next = driver.restarted(start: 1_800_000_001)
        #expect(TestClient(next, "anna", secret: TestAccess.secret(of: "thief"), key: TestAccess.editorKey).welcome == nil)
        #expect(TestClient(next, "anna", by: TestAccess.editorKey).welcome != nil)
    }

    @Test("[AC14] who goes while the disk is at it has no id any more, before a restart and after it")
    func goes() {
        var configuration = Configuration()
        configuration.isJournaled = true
        let driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        let host = TestClient(driver, "host", by: TestAccess.hostKey), anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        let set = anna.sendSet("user:anna", [("name", "Anna")])
        driver.persist()
        #expect(TestClient.code(anna.outcome(set)) == nil)
        let forget = host.nextRequest()
        driver.send(.json(.forgetUser, ForgetUserRequest(id: forget, user: try! Name("anna"))), from: host.id)
        anna.request(.logout) { EmptyRequest(id: $0) }
        driver.cut(anna.id)
        driver.persist()
        driver.persist()
        let next = driver.restarted(start: 1_800_000_001)
        #expect(TestClient(next, "anna", secret: TestAccess.secret(of: "other"), key: TestAccess.editorKey).welcome != nil)
        #expect(TestClient(driver, "anna", secret: TestAccess.secret(of: "other"), key: TestAccess.editorKey).welcome != nil)
    }

    @Test("[AC14, SG2] what could not be stored is not forgotten, nothing of it; when that works again all of it is")
    func undone() {
        var configuration = Configuration()
        configuration.isJournaled = true
        let driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        let host = TestClient(driver, "host", by: TestAccess.hostKey), anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        let set = anna.sendSet("user:anna", [("name", "Anna")])
        let role = host.nextRequest()
        driver.send(.json(.setRole, SetRoleRequest(id: role, user: try! Name("anna"), role: "reader")), from: host.id)
        driver.persist()
        #expect(TestClient.code(anna.outcome(set)) == nil && TestClient.code(host.outcome(role)) == nil)
        driver.cut(anna.id)
        host.end("anna")
        driver.persist()
        let bytes = driver.hub.census().metadataBytes
        let forget = host.nextRequest()
        driver.send(.json(.forgetUser, ForgetUserRequest(id: forget, user: try! Name("anna"))), from: host.id)
        #expect(host.outcome(forget) == .nothing && driver.unpersisted.count == 1, "one record")
        driver.failStorage()
        #expect(TestClient.code(host.outcome(forget)) == .storageFailed)
        #expect(host.metadata("user:anna")?.values == ["name": "Anna"] && driver.hub.census().metadataBytes == bytes)
        #expect(driver.hub.census().setRoles == 1)
        let thief = TestClient(driver, "anna", secret: TestAccess.secret(of: "thief"), key: TestAccess.editorKey)
        #expect(thief.welcome == nil)
        driver.handle(.storageRecovered)
        driver.send(.json(.forgetUser, ForgetUserRequest(id: 900, user: try! Name("anna"))), from: host.id)
        driver.persist()
        #expect(host.metadata("user:anna")?.values == [:] && driver.hub.census().setRoles == 0)
        let next = driver.restarted(start: 1_800_000_001)
        #expect(next.hub.census().metadataBytes == 0 && next.hub.census().setRoles == 0)
        #expect(TestClient(next, "anna", secret: TestAccess.secret(of: "thief"), key: TestAccess.editorKey).welcome != nil)
    }
}
