import RelayCore
import RelayRights
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@Suite struct FreezeTests {
    let driver = HubDriver(access: TestAccess.rules)
    let host: TestClient
    let anna: TestClient

    init() {
        host = TestClient(driver, "host", by: TestAccess.hostKey)
        anna = TestClient(driver, "anna", by: TestAccess.editorKey)
    }

    private func topic(_ client: TestClient, _ channel: String = "lesson") -> ErrorCode? {
        TestClient.code(client.request(.joinTopic) { JoinTopicRequest(id: $0, channel: try! Name(channel), topic: try! Name("points")) })
    }

    private func publishes(_ client: TestClient, _ channel: String = "lesson") -> Bool {
        client.ignore()
        client.publish(channel, [1])
        return client.frames(.accepted).count == 1
    }

    @Test("[AC11] in a frozen channel, message and stream, all but moderators may what a reader may; another channel is as it was")
    func rights() {
        for client in [host, anna] {
            client.subscribe("lesson")
            for channel in ["lesson", "other"] { client.join(channel) }
        }
        #expect(publishes(anna), "what was published to a moment ago is asked about again")
        host.setLock("lesson", "a")
        #expect(TestClient.code(host.freeze("lesson")) == nil)
        #expect(!publishes(anna) && topic(anna) == .notPermitted)
        for channel in ["lesson", "stream:lesson"] {
            #expect(TestClient.code(anna.set(channel, [("a", "b")])) == .notPermitted, "\(channel)")
            #expect(TestClient.code(anna.setLock(channel, "b")) == .notPermitted, "\(channel)")
        }
        anna.part("lesson", "k", 1, of: 2, [1])
        #expect(anna.errors().map(\.code) == [.notPermitted])
        #expect(TestClient.code(anna.acquire("lesson", "a")) == .notPermitted)
        // What a reader may.
        #expect(TestClient.code(anna.subscribe("lesson")) == nil && TestClient.code(anna.join("lesson")) == nil)
        #expect(
            TestClient.code(
                anna.request(.setStates) { SetStatesRequest(id: $0, kind: .message, channel: try! Name("lesson"), states: ["name": "A"]) })
                == nil)
        #expect(publishes(host) && topic(host) == nil)
        #expect(anna.frames(.deliver).count == 1)
        #expect(publishes(anna, "other") && topic(anna, "other") == nil)

        #expect(TestClient.code(host.freeze("lesson", false)) == nil)
        #expect(publishes(anna) && topic(anna) == nil)
        #expect(driver.audit.count == 2)
        #expect(
            driver.audit.first?.hasSuffix(" froze channel lesson") == true
                && driver.audit.last?.hasSuffix(" unfroze channel lesson") == true)
    }

    @Test("[AC11, AC7, SG2] who waits again for a lock whose removal could not be stored is refused if the channel was frozen meanwhile")
    func undoneRemoval() throws {
        var configuration = Configuration()
        configuration.isJournaled = true
        let driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        let host = TestClient(driver, "host", by: TestAccess.hostKey), boss = TestClient(driver, "boss", by: TestAccess.hostKey)
        let anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        func ask(_ client: TestClient, _ type: FrameType) {
            let request = LockRequest(id: client.nextRequest(), kind: .message, channel: try! Name("lesson"), lock: try! Name("L"))
            driver.send(.json(type, request), from: client.id)
        }
        ask(host, .setLock)
        driver.persist()
        _ = boss.sendAcquire("lesson", "L")
        driver.persist()
        let wait = anna.sendAcquire("lesson", "L", waitMs: 60_000)
        let freeze = host.nextRequest()
        driver.send(.json(.setMode, SetModeRequest(id: freeze, channel: try! Name("lesson"), mode: .frozen, on: true)), from: host.id)
        ask(host, .removeLock)
        driver.persist(1)
        driver.failStorage()
        driver.handle(.storageRecovered)
        #expect(TestClient.code(host.outcome(freeze)) == nil)
        #expect(TestClient.code(anna.outcome(wait)) == .notPermitted)
        ask(boss, .releaseLock)
        driver.persist()
        #expect(anna.frames(.answer).isEmpty)
    }

    @Test("[AC11, AC5] a user who may publish is told that the channel is frozen; one who may not, what is missing")
    func toldWhy() {
        host.freeze("lesson")
        let reader = TestClient(driver, "tess", token: driver.token("tess", grants: ["lesson": ["subscribe"]]))
        for client in [anna, reader] { client.publish("lesson", [1]) }
        #expect(anna.errors().map(\.text) == ["channel lesson is frozen: only moderators may change it"])
        #expect(reader.errors().map(\.text) == ["the right publish is missing"])
    }

    @Test("[AC11] neither a grant nor a token for the channel draws in a frozen one")
    func grants() {
        let tess = TestClient(
            driver, "tess", presenceTimeoutMs: 300_000,
            token: driver.token("tess", grants: ["lesson": ["subscribe", "presence", "publish", "clear"]]))
        tess.join("lesson", token: driver.token("tess", grants: ["lesson": ["stream"]]))
        #expect(publishes(tess) && topic(tess) == nil)
        host.freeze("lesson")
        #expect(!publishes(tess) && topic(tess) == .notPermitted)
        #expect(TestClient.code(tess.request(.clear) { ChannelRequest(id: $0, channel: try! Name("lesson")) }) == .notPermitted)
    }

    @Test("[AC11, AC7] flows of all but moderators close, of who is away, too; waits for locks end, a lock that one has stays")
    func ends() throws {
        let bob = TestClient(driver, "bob", by: TestAccess.editorKey), away = TestClient(driver, "away", by: TestAccess.editorKey)
        for client in [host, anna, bob, away] { client.join("lesson") }
        bob.subscribeTopic("lesson", "points")
        let flows = [host, anna, away].map { $0.joinTopic("lesson", "points") }
        driver.cut(away.id)
        for lock in ["a", "b"] { host.setLock("stream:lesson", lock) }
        host.acquire("stream:lesson", "a")
        anna.acquire("stream:lesson", "b")
        let wait = anna.sendAcquire("stream:lesson", "a", waitMs: 5_000)
        for client in [host, anna, bob] { client.ignore() }
        host.freeze("lesson")
        let errors = anna.takeOthers(.error).map { TestClient.decode(ErrorBody.self, $0.body) }
        #expect(errors.count == 2 && errors.contains { $0.flow == flows[1] } && errors.contains { $0.id == wait })
        let closed = bob.takeOthers(.flowClosed).map { TestClient.decode(FlowClosed.self, $0.body).flow }
        #expect(Set(closed) == [flows[1], flows[2]])
        host.packet(flows[0], [1])
        anna.packet(flows[1], [1])
        #expect(bob.frames(.packet).count == 1 && anna.errors().map(\.code) == [.unknownFlow])
        let locks = host.locks("stream:lesson")
        #expect(locks.map { $0.owner } == ["host", "anna"])
        #expect(TestClient.code(anna.lock(.releaseLock, "stream:lesson", "b")) == nil)
    }

    @Test(
        "[AC11] all inside both channels are told, quiet ones and moderators too, once each way; nobody else is; who comes in is told in the answer"
    )
    func told() throws {
        let quiet = TestClient(driver, "quiet", by: TestAccess.editorKey), outside = TestClient(driver, "outside", by: TestAccess.editorKey)
        let message = try #require(anna.answer(SubscribeAnswer.self, anna.subscribe("lesson")))
        let stream = try #require(anna.answer(SubscribeAnswer.self, anna.join("lesson")))
        #expect(message.modes == nil && stream.modes == nil)
        quiet.subscribe("lesson", features: ["messages"], quiet: true)
        host.subscribe("lesson")
        outside.subscribe("other")
        for client in [host, anna, quiet, outside] { client.ignore() }
        host.freeze("lesson")
        let by = try Name("host")
        #expect(anna.modeChanges() == [message, stream].map { ModeChanged(channel: $0.handle, mode: .frozen, on: true, by: by) })
        let told = [ModeChanged(channel: message.handle, mode: .frozen, on: true, by: by)]
        for client in [host, quiet] { #expect(client.modeChanges() == told) }
        #expect(outside.modeChanges().isEmpty)
        #expect(outside.answer(SubscribeAnswer.self, outside.subscribe("lesson"))?.modes == ["frozen"])
        #expect(outside.answer(SubscribeAnswer.self, outside.join("lesson"))?.modes == ["frozen"])
        #expect(outside.answer(SubscribeAnswer.self, outside.subscribe("third"))?.modes == nil)
        for _ in 0..<2 { #expect(TestClient.code(host.freeze("lesson", false)) == nil) }
        #expect(anna.modeChanges().map(\.on) == [false, false], "of both, and not again")
        #expect(anna.answer(SubscribeAnswer.self, anna.subscribe("lesson"))?.modes == nil)
        #expect(driver.audit.count == 2)
    }

    @Test("[AC11, SE9] who comes back is told in restored, and may no more than before")
    func resumed() {
        anna.subscribe("lesson")
        anna.join("lesson")
        driver.cut(anna.id)
        host.freeze("lesson")
        let back = TestClient(driver, "anna", by: TestAccess.editorKey, resume: anna.welcome?.resumeToken)
        #expect(back.welcome?.resumed == true)
        let restored = back.takeOthers(.restored).map { TestClient.decode(SubscribeAnswer.self, $0.body) }
        #expect(restored.map(\.modes) == [["frozen"], ["frozen"]])
        #expect(!publishes(back) && topic(back) == .notPermitted)
    }

    @Test("[AC11, AC7] who is no moderator any more may no more in a frozen channel than others; who becomes one may")
    func renewals() {
        host.join("lesson")
        let flow = host.joinTopic("lesson", "points")
        host.freeze("lesson")
        host.ignore()
        #expect(TestClient.code(host.renew(key: TestAccess.editorKey)) == nil)
        host.packet(flow, [1])
        #expect(host.takeOthers(.error).map { TestClient.decode(ErrorBody.self, $0.body).code } == [.notPermitted, .unknownFlow])
        #expect(!publishes(host))
        anna.renew(key: TestAccess.hostKey)
        #expect(publishes(anna))
    }

    @Test("[AC11] a channel that does not exist is frozen as well, for when it comes to be; one more than may be is limitReached")
    func bounds() {
        var configuration = Configuration()
        configuration.channelModesMax = 2
        let driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        let host = TestClient(driver, "host", by: TestAccess.hostKey), anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        for channel in ["a", "b"] { #expect(TestClient.code(host.freeze(channel)) == nil) }
        #expect(driver.hub.census().channels.isEmpty && driver.hub.census().frozenChannels == ["a", "b"])
        #expect(!publishes(anna, "a") && publishes(anna, "c"))
        guard case .error(let error) = host.freeze("c") else { return #expect(Bool(false), "a third one") }
        #expect(error.code == .limitReached && error.limit == 2 && error.actual == 3)
        #expect(TestClient.code(host.freeze("a", false)) == nil && TestClient.code(host.freeze("c")) == nil)
        #expect(publishes(anna, "a") && !publishes(anna, "c"))
    }

    @Test("[AC11, BL10] in a channel that is open for editing who may publish may change what others drew, until it is closed")
    func openEditing() throws {
        let driver = HubDriver(access: TestAccess.rules)
        let host = TestClient(driver, "host", by: TestAccess.hostKey), anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        let reader = TestClient(driver, "reader", by: TestAccess.readerKey)
        for channel in ["lesson", "other"] { host.retain(channel, "a", [1]) }
        let handle = try #require(reader.answer(SubscribeAnswer.self, reader.subscribe("lesson", features: ["messages"]))).handle
        let opened = host.setMode("lesson", .openEditing, true)
        #expect(TestClient.code(opened) == nil && TestClient.code(anna.setMode("lesson", .openEditing, false)) == .notPermitted)
        #expect(reader.modeChanges() == [ModeChanged(channel: handle, mode: .openEditing, on: true, by: try Name("host"))])
        #expect(anna.answer(SubscribeAnswer.self, anna.subscribe("lesson"))?.modes == ["openEditing"])
        anna.retain("lesson", "a", [2])
        anna.retain("other", "a", [2])
        reader.retain("lesson", "a", [3])
        #expect(anna.board() == ["accepted 1 at 2", "stored 1 at 2", "error 2 notPermitted"])
        #expect(reader.board().contains("error 1 notPermitted"))
        #expect(TestClient.code(anna.request(.clear) { ChannelRequest(id: $0, channel: try! Name("lesson")) }) == .notPermitted)
        // Frozen as well, it is looked at only.
        host.freeze("lesson")
        #expect(anna.answer(SubscribeAnswer.self, anna.subscribe("lesson"))?.modes == ["frozen", "openEditing"])
        anna.retain("lesson", "a", [4])
        #expect(anna.board().last == "error 3 notPermitted")
        host.freeze("lesson", false)
        anna.retain("lesson", "a", [5])
        #expect(anna.board().contains("accepted 4 at 3"))
        host.retain("lesson", "a", [6])
        host.setMode("lesson", .openEditing, false)
        anna.retain("lesson", "a", [7])
        #expect(anna.board().last == "error 5 notPermitted" && driver.hub.census().openChannels.isEmpty)
        #expect(driver.audit.count { $0.contains("channel lesson for editing") } == 2)
        let id = host.nextRequest()
        let body = #"{"channel":"lesson","id":\#(id),"mode":"melted","on":true}"#
        driver.send(Frame(.setMode, body: Array(body.utf8)), from: host.id)
        #expect(TestClient.code(host.outcome(id)) == .badRequest)
    }
}
