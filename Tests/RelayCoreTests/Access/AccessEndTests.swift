import RelayCore
import RelayRights
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@Suite struct AccessEndTests {
    let driver = HubDriver(access: TestAccess.rules)

    private func anna(seconds: Int64, role: Role = .editor, resume: String? = nil) -> TestClient {
        TestClient(driver, "anna", resume: resume, presenceTimeoutMs: 300_000, token: driver.token("anna", role: role, seconds: seconds))
    }

    /// Keeps links alive while time passes; what came, without pings.
    @discardableResult
    private func pass(_ duration: Duration, _ clients: TestClient...) -> [Frame] {
        var left = duration
        while left > .zero {
            driver.advance(min(left, .seconds(4)))
            left = left - .seconds(4)
            for client in clients { driver.send(Frame(.pong), from: client.id) }
        }
        let frames = clients[0].others + clients[0].frames()
        clients[0].others = []
        return frames.filter { $0.type != FrameType.ping.rawValue }
    }

    private func notices(_ frames: [Frame]) -> [UInt64] {
        frames.filter { $0.type == FrameType.accessExpiring.rawValue }.map { TestClient.decode(AccessExpiring.self, $0.body).inMs }
    }

    @Test("[AC8] 30 s before the end comes the notice, at the end accessExpired, both to the millisecond")
    func end() {
        let anna = anna(seconds: 100)
        #expect(pass(.milliseconds(69_999), anna).isEmpty)
        #expect(notices(pass(.milliseconds(1), anna)) == [30_000])
        #expect(pass(.milliseconds(29_999), anna).isEmpty)
        #expect(!driver.isClosing(anna.id))
        driver.advance(.milliseconds(1))
        #expect(anna.closing()?.code == .accessExpired)
        #expect(driver.hub.census().sessionsAway == 1)
    }

    @Test("[AC8] a renewal after the notice puts the end off, and has a notice of its own")
    func renewed() {
        let anna = anna(seconds: 40)
        #expect(notices(pass(.seconds(15), anna)) == [30_000])
        #expect(TestClient.code(anna.renew(token: driver.token("anna", role: .editor, seconds: 60))) == nil)
        #expect(pass(.milliseconds(29_999), anna).isEmpty)
        #expect(notices(pass(.milliseconds(1), anna)) == [30_000])
        #expect(TestClient.code(anna.renew(key: TestAccess.editorKey)) == nil)
        #expect(pass(.seconds(3600), anna).isEmpty && !driver.isClosing(anna.id), "a key has no end")
    }

    @Test("[AC8] a renewal with a shorter token ends sooner")
    func shortened() {
        let anna = anna(seconds: 86_400)
        #expect(TestClient.code(anna.renew(token: driver.token("anna", role: .editor, seconds: 50))) == nil)
        #expect(notices(pass(.seconds(20), anna)) == [30_000])
        pass(.seconds(30), anna)
        #expect(driver.isClosing(anna.id))
    }

    @Test("[AC8, SE9] resumed with a new token nobody sees a thing; with the old one it is tokenExpired, told late")
    func resumed() {
        let old = driver.token("anna", role: .editor, seconds: 20)
        let anna = TestClient(driver, "anna", presenceTimeoutMs: 300_000, token: old)
        let bob = TestClient(driver, "bob", presenceTimeoutMs: 300_000, secret: TestAccess.secret(of: "bob"), key: TestAccess.editorKey)
        for client in [anna, bob] {
            client.subscribe("lesson")
            client.join("lesson")
            client.subscribeTopic("lesson", "points")
        }
        let flow = anna.joinTopic("lesson", "points")
        pass(.seconds(20), bob, anna)
        #expect(driver.isClosing(anna.id))
        driver.cut(anna.id)
        let late = TestClient(driver, "anna", resume: anna.welcome?.resumeToken, presenceTimeoutMs: 300_000, token: old)
        #expect(late.others.isEmpty && late.welcome == nil)
        #expect(pass(.seconds(1), bob).isEmpty)
        #expect(late.errors().map(\.code) == [.tokenExpired])
        late.login(resume: anna.welcome?.resumeToken, presenceTimeoutMs: 300_000, token: driver.token("anna", role: .editor))
        #expect(late.welcome?.resumed == true && late.welcome?.lastEnd?.code == .accessExpired)
        late.packet(flow, [1])
        #expect(bob.frames().map(\.type) == [FrameType.packet.rawValue])
    }

    @Test("[AC7, AC8] who resumes with fewer rights has fewer: channels are left, flows closed, behind welcome")
    func resumedWithLess() {
        let anna = anna(seconds: 3600)
        let bob = TestClient(driver, "bob", presenceTimeoutMs: 300_000, secret: TestAccess.secret(of: "bob"), key: TestAccess.editorKey)
        for client in [anna, bob] {
            for channel in ["lesson", "staff"] { client.subscribe(channel) }
            client.join("lesson")
        }
        _ = anna.joinTopic("lesson", "points")
        driver.cut(anna.id)
        bob.others = []
        _ = bob.frames()
        let back = TestClient(
            driver, "anna", resume: anna.welcome?.resumeToken, presenceTimeoutMs: 300_000,
            token: driver.token("anna", grants: ["lesson": ["subscribe", "presence"]]))
        #expect(back.welcome?.resumed == true)
        let types = back.others.compactMap { FrameType(rawValue: $0.type) }
        #expect(types.filter { [.removed, .error, .restored].contains($0) } == [.error, .removed, .restored, .restored])
        let events = bob.frames().filter { $0.type == FrameType.presence.rawValue }.map {
            TestClient.decode(PresenceEvent.self, $0.body).event
        }
        #expect(events == [.leave])
    }

    @Test("[AC7, SE8] a stay that passes over to another login with fewer rights ends for others at once")
    func takenOverWithLess() {
        let anna = anna(seconds: 3600)
        let bob = TestClient(driver, "bob", secret: TestAccess.secret(of: "bob"), key: TestAccess.editorKey)
        for client in [anna, bob] { client.subscribe("lesson") }
        _ = bob.frames()
        let other = TestClient(driver, "anna", token: driver.token("anna", grants: ["other": ["subscribe"]]))
        #expect(other.welcome?.resumed == false && !other.others.contains { $0.type == FrameType.removed.rawValue })
        let events = bob.frames(.presence).map { TestClient.decode(PresenceEvent.self, $0.body).event }
        #expect(events == [.leave])
    }

    @Test("[AC8] when the host's clock is set back the end is later, when it is set forward it is found within ten minutes")
    func wallClock() {
        let anna = anna(seconds: 3600)
        driver.moveWall(by: .seconds(-1800))
        #expect(pass(.seconds(3600), anna).isEmpty && !driver.isClosing(anna.id))
        #expect(notices(pass(.seconds(1770), anna)) == [30_000])
        driver.moveWall(by: .seconds(-600))
        #expect(pass(.seconds(600), anna).isEmpty && !driver.isClosing(anna.id), "told once of one end")
        pass(.seconds(30), anna)
        #expect(anna.closing() == nil && driver.isClosing(anna.id))

        let bob = TestClient(driver, "bob", token: driver.token("bob", role: .editor, seconds: 86_400))
        driver.moveWall(by: .seconds(86_400))
        pass(.seconds(600), bob)
        #expect(driver.isClosing(bob.id))
    }

    @Test("[AC4, AC8] renewals and joins with tokens, however many, leave nothing behind that is looked at for ever")
    func deadlines() {
        let anna = anna(seconds: 86_400)
        let token = driver.token("anna", grants: ["lesson": ["stream"]], seconds: 86_400)
        for _ in 0..<100 {
            anna.renew(token: driver.token("anna", role: .reader, seconds: 86_400))
            anna.join("lesson", token: token)
        }
        pass(.seconds(1300), anna)
        #expect(driver.hub.census().deadlines < 20)
    }
}
