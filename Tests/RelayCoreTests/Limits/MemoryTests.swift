import RelayCore
import RelayPrimitives
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// What clients make the relay hold is counted as it takes memory. [SE15]
@Suite struct MemoryTests {
    private static func driver(_ bytes: Int) -> HubDriver { HubDriver.patient { $0.sessionMemoryMax = bytes } }

    private func code(_ outcome: TestClient.Outcome) -> ErrorCode? {
        if case .error(let body) = outcome { body.code } else { nil }
    }

    private func isCounted(_ driver: HubDriver) -> Bool { driver.hub.census().sessionMemoryBytes == driver.hub.recountedMemory() }

    @Test("[SE15] selections are counted by those they list, and one more is refused while packets and messages go on")
    func selections() throws {
        let driver = Self.driver(200_000), alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob")
        for client in [alice, bob] { client.join("lesson") }
        let flow = alice.joinTopic("lesson", "points")
        bob.subscribeTopic("lesson", "points")
        var outcomes: [ErrorCode?] = []
        for topic in 0..<40 {
            let users = (0..<64).map { "user-\(topic)-\($0)" }
            outcomes.append(
                code(
                    bob.request(.subscribeTopic) {
                        TopicUsersRequest(id: $0, channel: name("lesson"), topic: name("t\(topic)"), users: users)
                    }))
        }
        let taken = outcomes.prefix { $0 == nil }.count
        #expect((10..<20).contains(taken) && outcomes[taken...].allSatisfy { $0 == .relayFull })
        #expect(isCounted(driver) && driver.hub.census().sessionMemoryBytes <= 200_000)
        alice.packet(flow, [1])
        #expect(bob.frames(.packet).count == 1)
        bob.request(.leave) { ChannelRequest(id: $0, channel: name("lesson")) }
        #expect(isCounted(driver))
        bob.join("lesson")
        #expect(
            code(
                bob.request(.subscribeTopic) {
                    TopicUsersRequest(id: $0, channel: name("lesson"), topic: name("t"), users: ["a"])
                }) == nil, "what was left makes room")
    }

    @Test("[SE15] states, also those set before coming in, topics and stays are counted; what ends with a session is free again")
    func states() {
        let driver = Self.driver(60_000), alice = TestClient(driver, "alice")
        var refused: [ErrorCode] = []
        for channel in 0..<20 {
            let states = Dictionary(uniqueKeysWithValues: (0..<32).map { ("state-\($0)", "x") })
            let outcome = alice.request(.setStates) {
                SetStatesRequest(id: $0, kind: .message, channel: name("channel-\(channel)"), states: states)
            }
            if let code = code(outcome) { refused.append(code) }
        }
        #expect((13..<17).contains(refused.count) && Set(refused) == [.relayFull])
        #expect(isCounted(driver))
        alice.subscribe("channel-0")
        #expect(isCounted(driver))
        alice.request(.removeStates) { RemoveStatesRequest(id: $0, kind: .message, channel: name("channel-0"), keys: nil) }
        #expect(isCounted(driver))
        alice.request(.logout) { EmptyRequest(id: $0) }
        driver.cut(alice.id)
        driver.advance(.seconds(30))
        #expect(driver.hub.census().sessionMemoryBytes == 0)
    }

    @Test("[MS9, SE15] numbers that are remembered are counted, with a session and without one, until they are forgotten")
    func windows() {
        let driver = Self.driver(1 << 20), alice = TestClient(driver, "alice", instance: "00000000000000a1")
        alice.subscribe("lesson")
        let before = driver.hub.census()
        for _ in 1...300 {
            alice.publish("lesson", [1])
            driver.advance(.milliseconds(50))
        }
        let full = driver.hub.census()
        #expect(full.publishMemoryBytes == 0 && full.sessionMemoryBytes == before.sessionMemoryBytes + 256 * 32 && isCounted(driver))
        driver.cut(alice.id)
        driver.advance(.seconds(30))
        let gone = driver.hub.census()
        #expect(gone.sessionMemoryBytes == 0 && gone.publishMemoryBytes == 384 + 256 * 32)
        let again = TestClient(driver, "alice", instance: "00000000000000a1", lastNumber: 300)
        #expect(driver.hub.census().publishMemoryBytes == 0 && isCounted(driver))
        #expect(driver.hub.census().sessionMemoryBytes > 256 * 32)
        driver.cut(again.id)
        driver.advance(.seconds(30 + 601))
        #expect(driver.hub.census().publishMemoryBytes == 0 && driver.hub.census().sessionMemoryBytes == 0)
    }

    @Test("[MS9, SE15] one address that comes as one client object after another pushes out its own, and nobody else's")
    func windowsOfAnAddress() {
        let driver = HubDriver.patient { $0.publishWindowBytesMax = 20 * 384 }
        let bob = TestClient(driver, "bob", instance: "00000000000000b1", from: .ipv4(0xC000_0207))
        bob.subscribe("lesson")
        bob.publish("lesson", [1])
        driver.cut(bob.id)
        driver.advance(.seconds(30))
        for number in 0..<60 {
            driver.cut(TestClient(driver, "mallory-\(number)", from: .ipv4(0xC633_6409)).id)
            driver.advance(.seconds(1))
        }
        driver.advance(.seconds(30))
        #expect(driver.hub.census().publishMemoryBytes <= 20 * 384)
        let again = TestClient(driver, "bob", instance: "00000000000000b1", lastNumber: 1, from: .ipv4(0xC000_0207))
        #expect(again.welcome?.lastNumber == 1 && again.welcome?.forgotten != true)
    }

    @Test("[SE15] a login that finds no room is refused, and those inside go on")
    func logins() {
        let driver = Self.driver(50_000)
        let clients = (0..<20).map { TestClient(driver, "user-\($0)") }
        let inside = clients.filter { $0.welcome != nil }
        #expect((10..<13).contains(inside.count))
        let errors = clients.dropFirst(inside.count).flatMap { $0.takeOthers(.error) }
        #expect(Set(errors.map { TestClient.decode(ErrorBody.self, $0.body).code }) == [.relayFull])
        #expect(clients.allSatisfy { !driver.isClosing($0.id) })
    }

    @Test("[SE15, SE9] flows that have closed are kept once for all who heard them, 256 for each of them, and counted")
    func closedFlows() {
        let driver = Self.driver(10_000_000), alice = TestClient(driver, "alice")
        alice.join("lesson")
        let readers = (0..<10).map { TestClient(driver, "reader-\($0)") }
        for reader in readers {
            reader.join("lesson")
            reader.subscribeTopic("lesson", "points")
        }
        let before = driver.hub.census().sessionMemoryBytes
        for _ in 0..<300 {
            _ = alice.joinTopic("lesson", "points")
            alice.request(.leaveTopic) { TopicRequest(id: $0, channel: name("lesson"), topic: name("points")) }
        }
        let grown = driver.hub.census().sessionMemoryBytes - before
        #expect(isCounted(driver) && (10 * 256 * 32..<10 * 256 * 100).contains(grown))
    }

    @Test("[SG3] of what waits for the disk an address leaves others a quarter; what is stored is free again")
    func unjournaled() {
        let driver = HubDriver.patient {
            ($0.isJournaled, $0.unjournaledBytesMax) = (true, 16_000)
            ($0.metadataCallsPerSecond, $0.metadataCallsBurst) = (1_000, 1_000)
        }
        driver.hub.restored(lastSequence: 0, at: driver.now)
        _ = driver.hub.takeEffects()
        let pupils = (0..<2).map { TestClient(driver, "pupil-\($0)", from: .ipv4(1)) }
        let other = TestClient(driver, "other", from: .ipv4(2))
        let value = String(repeating: "x", count: 900)
        var sent = [[UInt32](), []]
        for index in 0..<40 { sent[index % 2].append(pupils[index % 2].sendSet("lesson", [("k\(index)", value)])) }
        let held = driver.hub.census().changesUnjournaledBytes
        #expect((12_000..<14_000).contains(held), "three quarters, and a change")
        let refused = zip(pupils, sent).flatMap { pupil, ids in ids.compactMap { code(pupil.outcome($0)) } }
        #expect(refused.count > 20 && Set(refused) == [.busy])
        let change = other.sendSet("lesson", [("other", value)])
        #expect(driver.hub.census().changesUnjournaledBytes > held)
        driver.persist()
        #expect(other.answer(MetadataAnswer.self, other.outcome(change)) != nil)
        #expect(driver.hub.census().changesUnjournaledBytes == 0)
        let again = pupils[0].sendSet("lesson", [("k", value)])
        driver.persist()
        #expect(code(pupils[0].outcome(again)) == nil)
    }

    @Test("[MD4] of tiny items the sum counts what they take")
    func items() {
        let driver = HubDriver.patient {
            $0.metadataBytesTotalMax = 1_000_000
            ($0.metadataCallsPerSecond, $0.metadataCallsBurst) = (1_000, 1_000)
        }
        let alice = TestClient(driver, "alice")
        let items = (0..<100).map { ("k\($0)", "x") }
        let outcomes = (0..<40).map { code(alice.set("channel-\($0)", items)) }
        #expect(outcomes.prefix { $0 == nil }.count == 19 && outcomes.last == .storageFull)
        alice.remove("channel-0")
        #expect(code(alice.set("channel-50", items)) == nil)
    }

    // MARK: - Metadata by address

    private let value = String(repeating: "x", count: 1_000)

    private func metadataDriver(isJournaled: Bool = false) -> HubDriver {
        let driver = HubDriver.patient {
            ($0.isJournaled, $0.metadataBytesTotalMax) = (isJournaled, 100_000)
            ($0.metadataCallsPerSecond, $0.metadataCallsBurst) = (1_000, 1_000)
        }
        driver.hub.restored(lastSequence: 0, at: driver.now)
        _ = driver.hub.takeEffects()
        return driver
    }

    /// Writes sets of one item until one is refused.
    ///
    /// - Returns: how many were written, and the refusal.
    private func fill(_ clients: [TestClient], _ prefix: String, ofUsers: Bool = false) -> (count: Int, error: ErrorBody?) {
        for number in 0..<1_000 {
            let client = clients[number % clients.count]
            let id = client.sendSet((ofUsers ? "user:" : "") + "\(prefix)-\(number)", [("key", value)])
            client.driver.persist()
            if case .error(let body) = client.outcome(id) { return (number, body) }
        }
        return (1_000, nil)
    }

    private func held(_ driver: HubDriver) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: driver.hub.metadataCharges.map { ($0.key.description, $0.value) })
    }

    @Test("[MD4] of all metadata an address leaves others a quarter, however many users it has; sets of channels and of users count alike")
    func metadataShares() throws {
        let driver = metadataDriver()
        let pupils = (0..<3).map { TestClient(driver, "pupil-\($0)", from: .ipv4(1)) }
        let half = (0..<20).map { code(pupils[$0 % 3].set("channel-\($0)", [("key", value)])) }
        #expect(half.allSatisfy { $0 == nil })
        let (count, error) = fill(pupils, "pupil", ofUsers: true)
        // An item of 1,003 bytes counts 1,515.
        #expect(count == 29 && error?.code == .storageFull && error?.limit == 25_000 && error?.actual == 50 * 1_515)
        let (others, full) = fill([TestClient(driver, "other", from: .ipv4(2))], "other")
        #expect(others == 16 && full?.code == .storageFull && full?.limit == 25_000)
        #expect(code(TestClient(driver, "third", from: .ipv4(3)).set("third", [("key", "x")])) == nil)
        #expect(fill([TestClient(driver, "host")], "host").error?.limit == 100_000, "this machine may take all")
        for number in 0..<20 { pupils[0].remove("channel-\(number)") }
        #expect(code(pupils[0].set("again", [("key", value)])) == nil)
    }

    @Test("[MD4] an item is charged to the address that wrote it last; who removes one pays for nothing")
    func lastWriter() {
        let driver = metadataDriver()
        let pupil = TestClient(driver, "pupil", from: .ipv4(1)), other = TestClient(driver, "other", from: .ipv6(2))
        pupil.set("lesson", [("a", value), ("b", value)])
        #expect(held(driver) == ["0.0.0.1": 2 * 1_513])
        other.set("lesson", [("a", "x"), ("c", "")])
        #expect(held(driver) == ["0.0.0.1": 1_513, "0:0:0:2::/64": 514 + 513])
        #expect(fill([pupil], "pupil").count == 47)
        pupil.set("rest", [("key", String(value.dropLast(260)))])
        #expect(driver.hub.census().metadataBytes == 75_000)
        // Nothing grows by this: it takes nothing from others.
        #expect(code(pupil.set("lesson", [("a", "y")])) == nil && code(pupil.set("lesson", [("a", "yy")])) == .storageFull)
        other.remove("lesson", ["b"])
        #expect(held(driver) == ["0.0.0.1": 47 * 1_515 + 1_255 + 514, "0:0:0:2::/64": 513])
        for owner in ["lesson", "rest"] + (0..<47).map({ "pupil-\($0)" }) { other.remove(owner) }
        #expect(held(driver).isEmpty && driver.hub.census().metadataBytes == 0)
    }

    @Test("[MD4, SG2] what the disk does not take is charged to nobody, and what it replaced to those who had it")
    func chargesUndone() {
        let driver = metadataDriver(isJournaled: true)
        let pupil = TestClient(driver, "pupil", from: .ipv4(1)), other = TestClient(driver, "other", from: .ipv4(2))
        pupil.sendSet("lesson", [("a", value)])
        driver.persist()
        let before = held(driver)
        for text in ["1", "2"] { other.sendSet("lesson", [("a", text), (text, text)]) }
        #expect(held(driver) == ["0.0.0.2": 514 + 2 * 514])
        driver.failStorage()
        #expect(held(driver) == before && driver.hub.census().metadataBytes == 1_513)
    }

    @Test("[MD4, SG4] after a restart what was stored is nobody's, and of the rest an address leaves a quarter again")
    func chargesAfterRestart() {
        var driver = metadataDriver(isJournaled: true)
        #expect(fill([TestClient(driver, "pupil", from: .ipv4(1))], "before").count == 49)
        driver = driver.restarted(start: 2_000_000_000)
        #expect(held(driver).isEmpty && driver.hub.census().metadataBytes == 49 * 1_515)
        let (count, error) = fill([TestClient(driver, "pupil", from: .ipv4(1))], "after")
        // A quarter of the 25,765 bytes that were left.
        #expect(count == 12 && error?.limit == 6_441 && error?.actual == 13 * 1_515)
        let other = TestClient(driver, "other", from: .ipv4(2))
        let change = other.sendSet("before-0", [("key", "x")])
        driver.persist()
        #expect(code(other.outcome(change)) == nil)
        #expect(held(driver) == ["0.0.0.1": 12 * 1_515, "0.0.0.2": 516])
    }

    @Test("[FR2] of frames that have not come whole so many bytes are kept: those go that have kept most for longest")
    func unfinished() {
        let driver = HubDriver.patient { $0.unfinishedBytesMax = 100_000 }
        let clients = (0..<20).map { TestClient(driver, "user-\($0)") }
        let head = Frame.publish(number: 1, channel: "c", payload: [UInt8](repeating: 1, count: 30_000)).bytes
        for (index, client) in clients.enumerated() {
            driver.send(Array(head[..<(index == 0 ? 500 : 10_000)]), from: client.id)
            driver.advance(.milliseconds(10))
        }
        #expect(driver.hub.census().unfinishedBytes <= 100_000)
        #expect(clients.map { driver.isClosing($0.id) } == (0..<20).map { (1...10).contains($0) })
        driver.send(Array(head[10_000...]), from: clients[19].id)
        #expect(clients[19].frames(.accepted).count == 1)
        for client in clients { driver.cut(client.id) }
        #expect(driver.hub.census().unfinishedBytes == 0)
    }
}
