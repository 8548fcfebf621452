import RelayCore
import RelayMonitoring
import RelayRights
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// What a moderator sees of the relay over the wire. Who may ask: `AccessMatrixTests`.
@Suite struct StatusTests {
    private func status(_ client: TestClient, after user: String? = nil, limit: Int? = nil) throws -> RelayStatus {
        try #require(client.answer(StatusAnswer.self, client.status(after: user, limit: limit))).status
    }

    @Test("[AC16] it is for moderators, by key; on an open relay for everybody who was not made less")
    func moderators() throws {
        let closed = HubDriver(access: TestAccess.rules)
        let host = TestClient(closed, "host", by: TestAccess.hostKey), anna = TestClient(closed, "anna", by: TestAccess.editorKey)
        #expect(try status(host).users.map(\.user) == ["anna", "host"])
        #expect(TestClient.code(anna.status()) == .notPermitted && closed.audit == [])
        // The refusal comes before the request's own mistakes.
        #expect(TestClient.code(anna.status(limit: 0)) == .notPermitted)

        let open = HubDriver()
        let one = TestClient(open, "one"), other = TestClient(open, "other")
        #expect(try status(one).sessions == .init(present: 2, away: 0))
        one.setRole("other", "reader")
        #expect(TestClient.code(other.status()) == .notPermitted)
    }

    @Test("[AC16] a moderator is told the join key of now, if it asks; who came in by a key that counts no more is not")
    func joinKey() throws {
        var rules = TestAccess.rules
        rules.joinKey = TestAccess.editorKey
        let driver = HubDriver(access: rules)
        let host = TestClient(driver, "host", by: TestAccess.hostKey), anna = TestClient(driver, "anna", by: TestAccess.editorKey)
        func key(_ client: TestClient, asks: Bool = true) throws -> String? {
            try #require(client.answer(StatusAnswer.self, client.status(joinKey: asks))).joinKey
        }
        #expect(try key(host) == TestAccess.editorKey && key(host, asks: false) == nil)
        #expect(TestClient.code(anna.status(joinKey: true)) == .notPermitted)
        (rules.keys[1], rules.joinKey) = (.init("KEYEDITOR-0004", .editor), "KEYEDITOR-0004")
        driver.changeAccess(rules, endsSessions: false)
        #expect(try key(host) == "KEYEDITOR-0004")
        rules.keys[2] = .init("KEYHOST-00000004", .moderator)
        driver.changeAccess(rules, endsSessions: false)
        #expect(try key(host) == nil)
        let open = HubDriver()
        #expect(try key(TestClient(open, "one")) == nil, "it has none")
    }

    @Test("[AC16] of a reader that takes nothing it tells what waits, how much of it is packets, what it lost, and since when")
    func slow() throws {
        var configuration = Configuration()
        configuration.limits.packetsPerSecond = 1_000_000
        let driver = HubDriver(configuration: configuration)
        let writer = TestClient(driver, "writer"), reader = TestClient(driver, "reader")
        for client in [writer, reader] {
            client.subscribe("lesson", features: ["messages"])
            client.join("lesson", features: [])
        }
        reader.subscribeTopic("lesson", "points")
        let flow = writer.joinTopic("lesson", "points")
        _ = (writer.frames(), reader.frames())
        var told = try status(writer)
        #expect(told.users.map(\.user) == ["reader", "writer"])
        #expect(told.users[0].queuedBytes == 0 && told.users[0].backlog == .zero && told.users[0].packetsLost == 0)

        driver.advance(.milliseconds(250))
        writer.publish("lesson", [UInt8](repeating: 0, count: 500))
        for _ in 0..<10 { writer.packet(flow, [UInt8](repeating: 0, count: 86)) }
        // It takes a little and no more: a queue that was never tried is none that lags.
        driver.take(reader.id, bytes: 100)
        driver.advance(.milliseconds(400))
        _ = writer.frames()
        told = try status(writer)
        let found = driver.hub.load(of: reader.id)
        let load = try #require(found)
        #expect(told.users[0].backlog == .milliseconds(400))
        #expect(told.users[0].queuedPacketBytes == 1_000 && load.packets == 1_000)
        #expect(told.users[0].queuedBytes == load.reliable + load.packets && load.reliable > 400)
        #expect(told.queuedBytes == told.users[0].queuedBytes, "nobody else is slow, and the asker has taken all")
        #expect(told.counters.packetsShedExpired == 0)

        // After a second packets are of no use any more.
        driver.advance(.milliseconds(1_700))
        told = try status(writer)
        #expect(told.users[0].packetsLost == 10 && told.users[0].queuedPacketBytes == 0 && told.users[0].backlog == .milliseconds(2_100))
        #expect(told.counters.packetsShedExpired == 10)
        _ = reader.frames()
        told = try status(writer)
        #expect(told.users[0].queuedBytes == 0 && told.users[0].backlog == .zero && told.users[0].packetsLost == 10)
        #expect(told.queuedBytes == 0 && told.pinnedBytes == 0)
    }

    @Test("[AC16, SE15] of each session it tells the memory that it makes the relay hold: all of them make up what is counted")
    func memory() throws {
        let driver = HubDriver()
        let host = TestClient(driver, "host"), anna = TestClient(driver, "anna")
        func held() throws -> [Int] { try status(host).users.map(\.memoryBytes) }
        let before = try held()
        #expect(before[0] == before[1] && before[0] > 0)
        anna.subscribe("lesson")
        anna.request(.setStates) { id in
            SetStatesRequest(id: id, kind: .message, channel: try! Name("lesson"), states: ["name": String(repeating: "a", count: 1_000)])
        }
        let after = try held()
        #expect(after[0] > before[0] + 1_000 && after[1] == before[1])
        #expect(driver.hub.census().sessionMemoryBytes == after.reduce(0, +))
        // Who is away holds it until it ends.
        driver.cut(anna.id)
        #expect(try held() == after && status(host).users[0].away)
    }

    @Test("[AC16, SE15, MD4] it tells the ten addresses that make the relay hold most, all kinds of it summed, where the users begin")
    func addresses() throws {
        let driver = HubDriver(), host = TestClient(driver, "host")
        let pupils = (1...12).map { TestClient(driver, "pupil-\($0)", from: .ipv4(UInt32($0))) }
        let value = String(repeating: "x", count: 10_000)
        for (pupil, count) in zip(pupils, [0, 0, 3, 2]) {
            for number in 0..<count { pupil.set("lesson-\(number)", [(pupil.user, value)]) }
        }
        pupils[11].subscribe("lesson-0")
        let second = TestClient(driver, "second", from: .ipv4(4))
        let told = try status(host), one = try #require(told.addresses.last)
        #expect(told.addresses.map(\.address).prefix(4) == ["0.0.0.3", "0.0.0.4", "0.0.0.12", "this machine"])
        #expect(told.addresses.dropFirst(4).map(\.address) == [1, 2, 5, 6, 7, 8].map { "0.0.0.\($0)" })
        #expect(told.addresses.map(\.sessions) == [1, 2, 1, 1, 1, 1, 1, 1, 1, 1])
        // A session alone, an item with its key, or two of both.
        #expect(one.memoryBytes == told.users.first { $0.user == "host" }!.memoryBytes)
        #expect(told.addresses.prefix(2).map(\.memoryBytes) == [one.memoryBytes + 3 * 10_519, 2 * (one.memoryBytes + 10_519)])
        #expect(driver.hub.census().addresses == told.addresses)
        #expect(try status(host, after: "host").addresses == [])
        // Who comes back from elsewhere holds it there.
        driver.cut(second.id)
        let token = try #require(second.welcome?.resumeToken)
        TestClient(driver, "second", resume: token, from: .ipv6(0x2001_0db8_0000_0007)).subscribe("lesson-0")
        #expect(try status(host).addresses.prefix(2).map(\.memoryBytes) == [one.memoryBytes + 3 * 10_519, one.memoryBytes + 2 * 10_519])
        let moved = driver.hub.census().addresses[3]
        #expect(moved == .init(address: "2001:db8:0:7::/64", sessions: 1, memoryBytes: told.addresses[2].memoryBytes))
    }

    @Test("[AC16] counters and the time since the start: two answers differ by what happened between them")
    func rates() throws {
        let driver = HubDriver()
        let host = TestClient(driver, "host"), reader = TestClient(driver, "reader")
        for client in [host, reader] { client.subscribe("lesson", features: ["messages"]) }
        let first = try status(host)
        driver.advance(.milliseconds(1_500))
        for _ in 0..<3 { host.publish("lesson", [1]) }
        host.unban("nobody")
        let second = try status(host)
        #expect(second.uptime - first.uptime == .milliseconds(1_500))
        #expect(second.counters.messagesAccepted - first.counters.messagesAccepted == 3)
        #expect(second.counters.messagesDelivered - first.counters.messagesDelivered == 3, "to one reader: its author gets none")
        #expect(second.counters.refusals - first.counters.refusals == 1)
        let census = driver.hub.census()
        #expect(second.channels == .init(message: census.messageChannels, stream: census.streamChannels) && census.messageChannels == 1)
        #expect(second.connections == 2)
    }

    @Test("[AC16] a page has at most so many users, and the next one goes on behind it, whoever came or left meanwhile")
    func pages() throws {
        let driver = HubDriver()
        let host = TestClient(driver, "m")
        let clients = ["c", "a", "z", "e"].map { TestClient(driver, $0) }
        #expect(try #require(host.statusOfAll()).users.map(\.user) == ["a", "c", "e", "m", "z"])
        #expect(try #require(host.statusOfAll(limit: 2)).users.map(\.user) == ["a", "c", "e", "m", "z"])
        let page = try status(host, limit: 2)
        #expect(page.users.map(\.user) == ["a", "c"] && page.next == "c")
        // The one it ended with leaves, and one comes before it.
        clients[0].request(.logout) { EmptyRequest(id: $0) }
        TestClient(driver, "b").ignore()
        #expect(try status(host, after: "c", limit: 2).users.map(\.user) == ["e", "m"])
        let last = try status(host, after: "m", limit: 1)
        #expect(last.users.map(\.user) == ["z"] && last.next == nil)
        #expect(try status(host, after: "z").users == [])
        for limit in [0, 101, -1] { #expect(TestClient.code(host.status(limit: limit)) == .badRequest) }
    }

    @Test(
        "[AC16, FR3] a hundred users with the longest names, and clients that are six times as long when written, need two pages, each a whole frame"
    )
    func longest() throws {
        let driver = HubDriver()
        let host = TestClient(driver, "~")
        let users = (0..<120).map { "\"\($0 + 100)" + String(repeating: "\"", count: 60) }
        for user in users {
            let id = driver.open()
            let request = LoginRequest(
                id: 1, user: try Name(user), instance: "00000000000000aa", client: String(repeating: "\u{1}", count: 64))
            driver.send(.json(.login, request), from: id)
            #expect(driver.received(id).map(\.type) == [FrameType.welcome.rawValue])
        }
        let page = try status(host)
        #expect((40..<100).contains(page.users.count) && page.next == page.users.last?.user)
        #expect(try #require(host.statusOfAll()).users.map(\.user) == users + ["~"])
        #expect(page.users[0].client.utf8.count == 64)
    }

    @Test("[AC16, SE9] who is away is listed without an address until its time is over; who came back, or took over, stands there once")
    func away() throws {
        let driver = HubDriver()
        let host = TestClient(driver, "host")
        let anna = TestClient(driver, "anna", presenceTimeoutMs: 20_000)
        #expect(try status(host).users[0].peer.hasPrefix("test:"))
        driver.cut(anna.id)
        func seen() throws -> String {
            let told = try status(host)
            let census = driver.hub.census()
            #expect(told.sessions == .init(present: census.sessionsPresent, away: census.sessionsAway))
            #expect(told.users.map(\.user) == census.sessions.map(\.user) && told.users.map(\.away) == census.sessions.map(\.away))
            return told.users.map { "\($0.user)\($0.away ? " away" : "")\($0.peer.isEmpty ? " nowhere" : "")" }.joined(separator: ", ")
        }
        #expect(try seen() == "anna away nowhere, host")
        let back = TestClient(driver, "anna", resume: anna.welcome?.resumeToken, presenceTimeoutMs: 20_000)
        #expect(back.welcome?.resumed == true)
        #expect(try seen() == "anna, host")
        let other = TestClient(driver, "anna", presenceTimeoutMs: 20_000)
        #expect(try seen() == "anna, host")
        driver.cut(other.id)
        // The host's own link must not fall silent.
        for _ in 0..<4 {
            driver.advance(.milliseconds(4_900))
            driver.send(Frame(.ping), from: host.id)
        }
        #expect(try seen() == "anna away nowhere, host")
        driver.advance(.milliseconds(400))
        #expect(try seen() == "host")
        #expect(TestClient(driver, "anna").welcome?.resumed == false)
        #expect(try seen() == "anna, host")
        host.end("anna")
        #expect(try seen() == "host")
    }

    @Test("[AC16] since when somebody is here goes on over reconnects and logins that take over, and begins anew after a leave")
    func since() throws {
        let driver = HubDriver()
        let host = TestClient(driver, "host")
        func here() throws -> [String: UInt64] {
            Dictionary(uniqueKeysWithValues: try status(host).users.map { ($0.user, $0.session.wholeMilliseconds) })
        }
        driver.advance(.milliseconds(1_000))
        let anna = TestClient(driver, "anna", presenceTimeoutMs: 20_000)
        driver.advance(.milliseconds(300))
        #expect(try here() == ["anna": 300, "host": 1_300])
        driver.cut(anna.id)
        driver.advance(.milliseconds(200))
        #expect(TestClient(driver, "anna", resume: anna.welcome?.resumeToken, presenceTimeoutMs: 20_000).welcome?.resumed == true)
        #expect(try here()["anna"] == 500)
        let other = TestClient(driver, "anna")
        driver.advance(.milliseconds(100))
        #expect(try here()["anna"] == 600)
        other.request(.logout) { EmptyRequest(id: $0) }
        // Its rate buckets still count: the id has a session that lingers.
        TestClient(driver, "anna").ignore()
        driver.advance(.milliseconds(50))
        #expect(try here()["anna"] == 50)
    }

    @Test("[AC16] a user id that is asked about is known while somebody has it, and as long as the relay keeps something of it")
    func known() throws {
        let driver = HubDriver()
        let host = TestClient(driver, "host")
        func isKnown(_ user: String) throws -> Bool? {
            try #require(host.answer(StatusAnswer.self, host.status(limit: 1, asking: user))).status.known
        }
        #expect(try status(host).known == nil && isKnown("host") == true && isKnown("anna") == false)
        let anna = TestClient(driver, "anna")
        #expect(try isKnown("anna") == true)
        anna.request(.logout) { EmptyRequest(id: $0) }
        #expect(try isKnown("anna") == false, "on an open relay nothing is kept of who came")
        host.setRole("anna", "reader")
        #expect(try isKnown("anna") == true)
        host.forget("anna")
        #expect(try isKnown("anna") == false)
        host.ban("anna")
        #expect(try isKnown("anna") == true)

        let closed = HubDriver(access: TestAccess.rules)
        let teacher = TestClient(closed, "host", by: TestAccess.hostKey)
        TestClient(closed, "ben", by: TestAccess.editorKey).request(.logout) { EmptyRequest(id: $0) }
        func isKeptThere() throws -> Bool? {
            try #require(teacher.answer(StatusAnswer.self, teacher.status(asking: "ben"))).status.known
        }
        #expect(try isKeptThere() == true, "whose the id is")
        teacher.forget("ben")
        #expect(try isKeptThere() == false)
    }

    @Test("[AC16] it tells why nothing can be stored")
    func storage() throws {
        var configuration = Configuration()
        configuration.isJournaled = true
        let driver = HubDriver(configuration: configuration)
        driver.hub.restored(lastSequence: 0, at: driver.now)
        _ = driver.hub.takeEffects()
        let host = TestClient(driver, "host")
        #expect(try status(host).storageFailure == nil)
        driver.failStorage("no space left")
        #expect(try status(host).storageFailure?.contains("no space left") == true)
    }
}
