import RelayCore
import RelayRights
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// What moderators decide, on a relay with a disk.
@Suite struct ModerationStorageTests {
    let driver: HubDriver
    let host: TestClient
    let anna: TestClient

    init() {
        var configuration = Configuration()
        configuration.isJournaled = true
        driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        host = TestClient(driver, "host", by: TestAccess.hostKey)
        anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        for client in [host, anna] { client.subscribe("lesson") }
        driver.persist()
        for client in [host, anna] { client.ignore() }
    }

    private func publishes(_ client: TestClient) -> Bool {
        client.ignore()
        client.publish("lesson", [1])
        return client.frames(.accepted).count == 1
    }

    /// Sends a request without waiting for what the disk says.
    private func send(_ type: FrameType, _ make: (UInt32) -> some JSONObject) -> UInt32 {
        let id = host.nextRequest()
        driver.send(.json(type, make(id)), from: host.id)
        return id
    }

    private func sendAll() -> [UInt32] {
        [
            send(.setRole) { SetRoleRequest(id: $0, user: try! Name("anna"), role: "reader") },
            send(.setMode) { SetModeRequest(id: $0, channel: try! Name("lesson"), mode: .frozen, on: true) },
            send(.banUser) { BanUserRequest(id: $0, user: try! Name("anna")) },
        ]
    }

    @Test("[AC15, SG1] nothing holds, is answered, told or logged before it is durable; then the answer comes first")
    func durable() {
        let ids = sendAll()
        for id in ids { #expect(host.outcome(id) == .nothing) }
        #expect(publishes(anna) && !driver.isClosing(anna.id) && anna.frames().isEmpty && host.bans().isEmpty)
        #expect(driver.audit.isEmpty && driver.log.allSatisfy { !$0.text.contains("banned") })
        host.ignore()
        driver.persist(1)
        #expect(TestClient.code(host.outcome(ids[0])) == nil && host.outcome(ids[1]) == .nothing)
        #expect(anna.accessChanges().count == 1 && !publishes(anna) && driver.audit.count == 1)
        host.ignore()
        driver.persist(1)
        #expect(host.frames().map(\.type) == [FrameType.answer.rawValue, FrameType.modeChanged.rawValue])
        #expect(driver.audit.count == 2 && !driver.isClosing(anna.id))
        driver.persist()
        #expect(host.frames().map(\.type) == [FrameType.answer.rawValue, FrameType.presence.rawValue])
        #expect(driver.isClosing(anna.id) && driver.audit.count == 3)
    }

    @Test("[AC15, SG2] what cannot be stored is storageFailed and never was; nothing is logged")
    func failed() {
        let ids = sendAll()
        driver.failStorage()
        for id in ids { #expect(TestClient.code(host.outcome(id)) == .storageFailed) }
        #expect(publishes(anna) && !driver.isClosing(anna.id) && host.bans().isEmpty && driver.audit.isEmpty)
        for outcome in [host.setRole("anna", "reader"), host.freeze("lesson"), host.ban("anna")] {
            #expect(TestClient.code(outcome) == .storageFailed)
        }
        driver.handle(.storageRecovered)
        let again = sendAll()
        driver.persist()
        for id in again { #expect(TestClient.code(host.outcome(id)) == nil) }
        #expect(driver.isClosing(anna.id) && driver.audit.count == 3)
    }

    @Test("[AC15, SG1] what is asked twice before the disk has answered is judged by the first, answered behind it, and logged once")
    func twice() {
        let first = sendAll()[..<2], second = sendAll()[..<2]
        let unban = send(.unbanUser) { UserRequest(id: $0, user: try! Name("anna")) }
        let again = send(.unbanUser) { UserRequest(id: $0, user: try! Name("anna")) }
        #expect(host.outcome(again) == .nothing, "a refusal that rests on what is not durable waits for it")
        driver.persist()
        for id in first + second + [unban] { #expect(TestClient.code(host.outcome(id)) == nil) }
        #expect(TestClient.code(host.outcome(again)) == .notBanned)
        #expect(driver.audit.count == 5, "two bans, of which the second took the place of the first")
    }

    @Test(
        "[AC10, AC11, AC13, AC15] after a restart, and another one, roles, frozen channels and bans hold, by the secret, too, as long as they would have"
    )
    func restart() throws {
        host.ban("carl")
        for id in sendAll() { _ = host.outcome(id) }
        host.ban("dora", forMs: 3_600_000)
        host.setRole("emil", "coeditor")
        driver.persist()
        var next = driver.restarted(start: 1_800_000_001)
        next.persist()
        next = next.restarted(start: 1_800_000_002)
        let host = TestClient(next, "host", by: TestAccess.hostKey)
        let bans = host.bans().map { "\($0.user) \($0.by) \($0.endMilliseconds == nil)" }
        #expect(bans == ["anna host true", "carl host true", "dora host false"])
        #expect(next.hub.census().setRoles == 2 && next.hub.census().frozenChannels.count == 1)
        #expect(TestClient(next, "anna", by: TestAccess.editorKey).welcome == nil)
        #expect(TestClient(next, "fritz", secret: TestAccess.secret(of: "anna"), key: TestAccess.editorKey).welcome == nil)
        let emil = TestClient(next, "emil", by: TestAccess.readerKey)
        #expect(emil.welcome?.access == AccessBody(role: "coeditor"))
        #expect(!publishes(emil), "the channel is frozen")
        #expect(emil.answer(SubscribeAnswer.self, emil.subscribe("lesson"))?.modes == ["frozen"])
        next.advance(.seconds(3600))
        next.persist()
        #expect(TestClient(next, "dora", by: TestAccess.editorKey).welcome != nil)
        next.advance(.seconds(3600))
        next.persist()
        // What is over, or was taken back, is not on the disk any more.
        let keys = Set(next.disk.keys.compactMap { $0.first })
        #expect(keys.isSuperset(of: Array("AFX".utf8)))
        let last = TestClient(next, "host", by: TestAccess.hostKey)
        let ids = [
            (FrameType.unbanUser, "anna"), (.unbanUser, "carl"), (.forgetUser, "anna"), (.forgetUser, "emil"),
        ].map { type, user in
            let id = last.nextRequest()
            next.send(.json(type, UserRequest(id: id, user: try! Name(user))), from: last.id)
            return id
        }
        next.send(.json(.setMode, SetModeRequest(id: 900, channel: try Name("lesson"), mode: .frozen, on: false)), from: last.id)
        next.persist()
        for id in ids { #expect(TestClient.code(last.outcome(id)) == nil) }
        #expect(next.disk.keys.allSatisfy { !"AFX".utf8.contains($0[0]) })
    }

    /// All that three users are told, and the log has, when a moderator decides all that there is to decide.
    private static func transcript(isJournaled: Bool) -> [String] {
        var configuration = Configuration()
        configuration.isJournaled = isJournaled
        let driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        let clients = [("host", TestAccess.hostKey), ("anna", TestAccess.editorKey), ("bob", TestAccess.editorKey)].map { user, key in
            TestClient(driver, user, by: key)
        }
        func ask(_ client: TestClient, _ type: FrameType, _ make: (UInt32) -> some JSONObject) {
            driver.send(.json(type, make(client.nextRequest())), from: client.id)
            driver.persist()
        }
        let host = clients[0], anna = try! Name("anna"), bob = try! Name("bob"), lesson = try! Name("lesson")
        for client in clients {
            ask(client, .subscribe) { SubscribeRequest(id: $0, channel: lesson) }
            ask(client, .join) { JoinRequest(id: $0, channel: lesson) }
            ask(client, .joinTopic) { JoinTopicRequest(id: $0, channel: lesson, topic: try! Name("points")) }
        }
        clients[1].sendSet("user:anna", [("name", "Anna")])
        driver.persist()
        ask(host, .subscribeUserMetadata) { UserRequest(id: $0, user: anna) }
        for role in ["reader", "reader", "editor", nil, "reader"] { ask(host, .setRole) { SetRoleRequest(id: $0, user: anna, role: role) } }
        for isFrozen in [true, true, false, true] {
            ask(host, .setMode) { SetModeRequest(id: $0, channel: lesson, mode: .frozen, on: isFrozen) }
        }
        ask(host, .banUser) { BanUserRequest(id: $0, user: bob, forMs: 60_000) }
        ask(host, .banUser) { BanUserRequest(id: $0, user: try! Name("host")) }
        ask(host, .getBans) { PageRequest(id: $0) }
        for _ in 0..<2 { ask(host, .unbanUser) { UserRequest(id: $0, user: bob) } }
        for _ in 0..<2 { ask(host, .forgetUser) { ForgetUserRequest(id: $0, user: anna) } }
        for _ in 0..<2 { ask(host, .endSession) { EndSessionRequest(id: $0, user: anna, reason: "enough") } }
        let frames = clients.flatMap { client in
            (client.others + client.frames()).map {
                "\(client.user): \(FrameType(rawValue: $0.type)!.name) \(String(decoding: $0.body, as: UTF8.self))"
            }
        }
        return frames + driver.audit
    }

    @Test(
        "[AC15, SG1] with a disk and without one the same decisions lead to the same frames, byte for byte, and the same lines of the log")
    func sameInMemory() {
        let kept = Self.transcript(isJournaled: true)
        #expect(kept == Self.transcript(isJournaled: false))
        #expect(
            kept.count { $0.contains("accessChanged") } == 5 && kept.count { $0.contains("modeChanged") } == 3 * 2 * 3,
            "each change of both channels, to three users")
    }

    @Test("[AC15] over its bound of unstored changes the relay is busy, and nothing is decided")
    func busy() {
        var configuration = Configuration()
        (configuration.isJournaled, configuration.unjournaledBytesMax) = (true, 1)
        let driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        let host = TestClient(driver, "host", by: TestAccess.hostKey)
        for outcome in [host.setRole("anna", "reader"), host.freeze("lesson"), host.ban("anna")] {
            #expect(TestClient.code(outcome) == .busy)
        }
        driver.persist()
        #expect(driver.audit.isEmpty && driver.hub.census().bans == 0)
    }

    @Test("[AC15] each line of the log says who, what, whom and when, and none of them a key or a secret")
    func audit() throws {
        let ids = sendAll()
        driver.persist()
        for id in ids { _ = host.outcome(id) }
        let lines = driver.log.filter { $0.auditedAt != nil }
        #expect(
            lines.count == 3 && lines.allSatisfy { $0.auditedAt == driver.now.wallMilliseconds && $0.text.hasPrefix("user host, test:1 ") })
        #expect(
            lines.map { $0.text.dropFirst("user host, test:1 ".count) } == [
                "made user anna a reader", "froze channel lesson", "banned user anna",
            ])
        for line in driver.log { #expect(!line.text.contains("KEY") && !line.text.contains("5ec4e7")) }
    }
}
