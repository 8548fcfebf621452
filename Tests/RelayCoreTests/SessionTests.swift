import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@Suite struct SessionTests {
    @Test("[SE4] a connection that says nothing is closed after 10 s, not before")
    func silent() {
        let driver = HubDriver()
        let id = driver.open()
        driver.advance(.milliseconds(9_999))
        #expect(!driver.isClosing(id))
        driver.advance(.milliseconds(1))
        #expect(driver.isClosing(id))
        #expect(driver.hub.census().counters.closes == ["loginTimeout": 1])
    }

    @Test("[SE4, FR5] who speaks HTTP may take its time; from the upgrade on it has 10 s to log in")
    func upgraded() {
        let driver = HubDriver()
        let page = driver.open(), socket = driver.open()
        for id in [page, socket] { driver.speakHTTP(id) }
        driver.advance(.seconds(5))
        driver.upgrade(socket)
        driver.advance(.milliseconds(9_999))
        #expect(!driver.isClosing(socket) && !driver.isClosing(page))
        driver.advance(.milliseconds(1))
        #expect(driver.isClosing(socket) && !driver.isClosing(page))
        #expect(driver.received(socket).map(\.type) == [FrameType.closing.rawValue])
    }

    @Test("[SE5, HT3] who speaks HTTP makes room for newcomers as others do that have not logged in, and is told nothing")
    func pageMakesRoom() {
        var configuration = Configuration()
        configuration.connectionsMax = 2
        let driver = HubDriver(configuration: configuration)
        let page = driver.open()
        driver.speakHTTP(page)
        let inside = TestClient(driver, "inside"), newcomer = driver.open()
        #expect(driver.isClosing(page) && !driver.isClosing(inside.id) && !driver.isClosing(newcomer))
        #expect(driver.received(page).isEmpty)
        driver.cut(page)
        #expect(driver.hub.census().connections == 2)
    }

    @Test("[SE13] the end of a relay is the end of those who speak HTTP, too, without a word")
    func pageAtTheEnd() {
        let driver = HubDriver()
        let page = driver.open()
        driver.speakHTTP(page)
        driver.handle(.shutdown)
        #expect(driver.isClosing(page) && driver.received(page).isEmpty)
    }

    @Test("[HB2, HB3, SE9, PR5] silence is pinged after one interval, closed after two; away ends as timeout after its own time")
    func heartbeat() {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob", presenceTimeoutMs: 300_000)
        alice.subscribe("lesson")
        bob.subscribe("lesson")
        func keepBob() { driver.send(Frame(.pong), from: bob.id) }
        _ = bob.frames()
        driver.advance(.milliseconds(4_999))
        keepBob()
        #expect(alice.frames(.ping).isEmpty)
        driver.advance(.milliseconds(1))
        #expect(alice.frames(.ping).count == 1)
        driver.advance(.milliseconds(4_999))
        keepBob()
        #expect(!driver.isClosing(alice.id))
        driver.advance(.milliseconds(1))
        #expect(alice.closing()?.code == .heartbeatTimeout)
        driver.cut(alice.id)
        for _ in 0..<9 {
            driver.advance(.seconds(1))
            keepBob()
        }
        #expect(bob.frames(.presence).isEmpty, "away is not told")
        driver.advance(.seconds(1))
        let events = bob.frames(.presence).map { TestClient.decode(PresenceEvent.self, $0.body) }
        #expect(events.map(\.event) == [.timeout] && events[0].user?.text == "alice")
    }

    @Test("[HB4] when the host slept for an hour nobody times out, and the next silence counts from then")
    func sleepingHost() {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice")
        let away = TestClient(driver, "away")
        driver.cut(away.id)
        driver.sleep(.seconds(3600))
        #expect(!driver.isClosing(alice.id))
        #expect(driver.hub.census().sessionsAway == 1)
        driver.advance(.seconds(11))
        #expect(driver.isClosing(alice.id))
        #expect(driver.hub.census().counters.sessionsTimedOut == 1)
    }

    @Test("[SE9, SE10] resuming keeps handles and flows and tells what was missed; an old token is a new session")
    func resume() throws {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob")
        for client in [alice, bob] {
            client.subscribe("lesson")
            client.join("lesson")
        }
        alice.subscribeTopic("lesson", "points")
        let flow = bob.joinTopic("lesson", "points")
        bob.packet(flow, [1])
        _ = alice.frames()
        driver.cut(alice.id)
        bob.packet(flow, [2])
        bob.publish("lesson", [3])

        let token = try #require(alice.welcome?.resumeToken)
        let id = driver.open()
        driver.send(
            .json(.login, LoginRequest(id: 1, user: try Name("alice"), instance: "00000000000000aa", resume: .init(token: token))), from: id
        )
        let frames = driver.received(id)
        #expect(
            frames.map(\.type) == [.welcome, .restored, .presence, .restored, .presence, .topics, .flowOpened].map(\FrameType.rawValue))
        let restored = TestClient.decode(SubscribeAnswer.self, frames[1].body)
        #expect(restored.kind == .message && restored.head == 1)
        let opened = TestClient.decode(FlowOpened.self, frames[6].body)
        #expect(opened.flow == flow && opened.next == 3)
        bob.packet(flow, [4])
        #expect(driver.received(id).map(\.type) == [FrameType.packet.rawValue])
        #expect(bob.frames(.presence).isEmpty, "nobody saw a thing")

        let stranger = TestClient(driver, "alice", resume: token)
        #expect(stranger.welcome?.resumed == false)
        #expect(driver.received(id).last.map { TestClient.decode(CloseNotice.self, $0.body).code } == .replaced)
    }

    @Test("[SE9] flows that opened and closed while a session was away are named at its resumption, the newest 256 of them, and no others")
    func closedFlows() {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice", presenceTimeoutMs: 60_000), bob = TestClient(driver, "bob", presenceTimeoutMs: 60_000)
        alice.join("lesson")
        bob.join("lesson")
        alice.subscribeTopic("lesson", "points")
        driver.cut(alice.id)
        var last: UInt32 = 0
        for index in 0..<260 {
            driver.advance(.milliseconds(100))
            let flow = bob.joinTopic("lesson", "points")
            for _ in 0..<(index % 3) { bob.packet(flow, [1]) }
            bob.request(.leaveTopic) { TopicRequest(id: $0, channel: try! Name("lesson"), topic: try! Name("points")) }
            // Not meant for alice.
            _ = bob.joinTopic("lesson", "other")
            bob.request(.leaveTopic) { TopicRequest(id: $0, channel: try! Name("lesson"), topic: try! Name("other")) }
            last = flow
        }
        let connection = driver.open()
        driver.send(
            .json(
                .login,
                LoginRequest(
                    id: 1, user: try! Name("alice"), instance: "00000000000000aa", resume: ResumeRequest(token: alice.welcome!.resumeToken))
            ),
            from: connection)
        let frames = driver.received(connection)
        let opened = frames.filter { $0.type == FrameType.flowOpened.rawValue }.map { TestClient.decode(FlowOpened.self, $0.body) }
        let closed = frames.filter { $0.type == FrameType.flowClosed.rawValue }.map { TestClient.decode(FlowClosed.self, $0.body) }
        #expect(opened.count == 256 && closed.count == 256 && closed.last?.flow == last)
        #expect(opened.map(\.next) == (4..<260).map { UInt32($0 % 3) + 1 } && opened.allSatisfy { $0.topic.text == "points" })
        #expect(zip(opened, closed).allSatisfy { $0.flow == $1.flow && $0.next == $1.last + 1 })
    }

    @Test(
        "[SE9, ST9] a resumption tells of each flow from where on it was meant for the session, whenever that was asked and whether it was answered"
    )
    func flowsFrom() throws {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice", presenceTimeoutMs: 60_000), bob = TestClient(driver, "bob", presenceTimeoutMs: 60_000)
        alice.join("lesson")
        bob.join("lesson")
        let early = bob.joinTopic("lesson", "points")
        for _ in 0..<3 { bob.packet(early, [1]) }
        // Asked, and cut off before any answer.
        driver.send(
            .json(.subscribeTopic, TopicUsersRequest(id: alice.nextRequest(), channel: try Name("lesson"), topic: try Name("points"))),
            from: alice.id)
        driver.cut(alice.id)
        for _ in 0..<2 { bob.packet(early, [1]) }
        let carol = TestClient(driver, "carol")
        carol.join("lesson")
        let late = carol.joinTopic("lesson", "points")
        carol.packet(late, [1])
        let closed = TestClient(driver, "dora")
        closed.join("lesson")
        let gone = closed.joinTopic("lesson", "points")
        closed.packet(gone, [1])
        closed.request(.leaveTopic) { TopicRequest(id: $0, channel: try! Name("lesson"), topic: try! Name("points")) }
        let again = TestClient(driver, "alice", resume: alice.welcome!.resumeToken)
        #expect(again.welcome?.resumed == true)
        let opened = again.takeOthers(.flowOpened).map { TestClient.decode(FlowOpened.self, $0.body) }
        #expect(opened.map(\.flow) == [gone, early, late])
        #expect(opened.map(\.from) == [1, 4, 1] && opened.map(\.next) == [2, 6, 2])
    }

    @Test("[SE8] who takes over and comes in again is not noticed; the channels it leaves out end as timeout")
    func takeover() {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob", presenceTimeoutMs: 300_000)
        for channel in ["kept", "dropped"] {
            alice.subscribe(channel)
            bob.subscribe(channel)
        }
        _ = bob.frames()
        let again = TestClient(driver, "alice", instance: "00000000000000ab", presenceTimeoutMs: 300_000)
        again.subscribe("kept")
        #expect(bob.frames(.presence).isEmpty)
        driver.advance(.seconds(10))
        let events = bob.frames(.presence).map { TestClient.decode(PresenceEvent.self, $0.body) }
        #expect(events.map(\.event) == [.timeout])
        #expect(driver.hub.members(of: ChannelID(kind: .message, channel: try! Name("kept"))).map(\.user) == ["alice", "bob"])
        #expect(driver.hub.members(of: ChannelID(kind: .message, channel: try! Name("dropped"))).map(\.user) == ["bob"])
    }

    @Test("[SE13] at the end everybody is told behind what was queued, and newcomers are turned away")
    func shutdown() {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice")
        alice.publish("lesson", [])
        driver.handle(.shutdown)
        #expect(alice.frames().map(\.type) == [FrameType.accepted.rawValue, FrameType.closing.rawValue])
        let late = driver.open()
        #expect(driver.received(late).map(\.type) == [FrameType.closing.rawValue])
    }
}
