import RelayCore
import RelayPrimitives
import RelayRights
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// Who gets a place, when one address wants many.
@Suite struct PlaceTests {
    private let school = AddressKey.ipv4(0xC0A8_0109)
    private let home = AddressKey.ipv6(0x2001_0db8_0000_0007)
    private let street = AddressKey.ipv6(0x2001_0db8_0000_0008)

    private func driver(_ change: (inout Configuration) -> Void = { _ in }) -> HubDriver {
        var configuration = Configuration()
        configuration.limits.requestsPerSecond = 100_000
        configuration.requestsBurst = 100_000
        (configuration.limits.subscribedChannelsMax, configuration.limits.joinedChannelsMax) = (100_000, 100_000)
        configuration.newChannelsBurst = 100_000
        change(&configuration)
        return HubDriver(configuration: configuration, access: TestAccess.rules)
    }

    private func come(_ driver: HubDriver, _ user: String, from address: AddressKey, _ role: Role = .editor) -> TestClient {
        TestClient(driver, user, secret: TestAccess.secret(of: user), key: TestAccess.key(role), from: address)
    }

    private func end(_ driver: HubDriver, _ id: ConnectionID) -> ErrorCode? {
        driver.received(id).first { $0.type == FrameType.closing.rawValue }.map { TestClient.decode(CloseNotice.self, $0.body).code }
    }

    /// Lets users come until one is refused.
    ///
    /// - Returns: how many came in.
    private func fill(_ driver: HubDriver, from address: AddressKey) -> Int {
        for number in 0..<100_000 {
            let client = come(driver, "user \(number) of \(address.description.replacing("/", with: "."))", from: address)
            guard client.welcome != nil else { return number }
        }
        return 100_000
    }

    // MARK: - What stays

    @Test("[SE5] of users with metadata an address has a quarter at most, however many ids it uses, and another finds some")
    func usersWithMetadata() {
        let driver = driver { ($0.userMetadataMax, $0.addressPlacesMin) = (48, 1) }
        func fill(_ user: String, _ address: AddressKey) -> Int {
            let client = come(driver, user, from: address)
            return (0..<48).count { number in
                passes(client.request(.subscribeUserMetadata) { UserRequest(id: $0, user: name("\(user)-\(number)")) })
            }
        }
        #expect(fill("pupil", school) == 12, "a quarter of what is not kept for moderators")
        #expect(fill("guest", home) == 9 && fill("passer-by", street) == 6)
        come(driver, "pupil", from: school).request(.logout) { EmptyRequest(id: $0) }
        #expect(fill("late", school) == 8)
    }

    @Test("[SE5] so it is with locks")
    func locks() {
        let driver = driver { ($0.locksTotalMax, $0.locksPerChannelMax, $0.addressPlacesMin) = (48, 48, 1) }
        func fill(_ user: String, _ address: AddressKey) -> Int {
            let client = come(driver, user, from: address)
            return (0..<48).count { passes(client.setLock("lesson", "\(user)-\($0)")) }
        }
        #expect(fill("pupil", school) == 12 && fill("guest", home) == 9 && fill("passer-by", street) == 6)
        let pupil = come(driver, "pupil", from: school)
        for number in 0..<12 {
            pupil.request(.removeLock) { LockRequest(id: $0, kind: .message, channel: name("lesson"), lock: name("pupil-\(number)")) }
        }
        #expect(fill("late", school) == 8 && driver.hub.census().locks == 23)
    }

    @Test("[ST2] so it is with the places of a stream channel, wherever who is inside has come from since, and moderators have the last")
    func streamChannel() {
        let driver = driver { ($0.streamChannelUsersMax, $0.addressPlacesMin) = (48, 1) }
        func fill(_ prefix: String, _ address: AddressKey) -> [TestClient] {
            (0..<48).map { come(driver, "\(prefix)-\($0)", from: address) }.filter { passes($0.join("lesson")) }
        }
        let pupils = fill("pupil", school)
        #expect(pupils.count == 12 && fill("guest", home).count == 9)
        refused(come(driver, "late", from: school).join("lesson"), .channelFull, limit: 8, actual: 13)
        #expect(passes(pupils[0].join("lesson")), "who is inside stays inside")
        for pupil in pupils.prefix(6) { pupil.leave("lesson", .leave) }
        #expect(fill("later", school).count == 3, "9 of its own, and 18 in all")
        driver.cut(pupils[11].id)
        let moved = TestClient(
            driver, "pupil-11", resume: pupils[11].welcome?.resumeToken, secret: TestAccess.secret(of: "pupil-11"),
            key: TestAccess.editorKey, from: street)
        #expect(moved.welcome?.resumed == true && fill("latest", school).count == 1, "one place is another address's now")
        #expect(passes(come(driver, "host", from: school, .moderator).join("lesson")))
    }

    @Test("[SE5] sessions that come back take a quarter of the connections at most for their address, and that in any case")
    func comeBack() {
        let driver = driver { ($0.connectionsMax, $0.sessionsMax, $0.addressPlacesMin) = (48, 400, 1) }
        var away: [TestClient] = []
        for number in 0..<40 {
            away.append(come(driver, "pupil-\(number)", from: school))
            driver.cut(away[number].id)
        }
        func back(_ client: TestClient) -> Bool {
            let again = TestClient(
                driver, client.user, resume: client.welcome?.resumeToken, secret: TestAccess.secret(of: client.user),
                key: TestAccess.editorKey, from: school)
            if again.welcome == nil { driver.cut(again.id) }
            return again.welcome != nil
        }
        #expect(away.count { back($0) } == 12)
        for number in 0..<20 { _ = come(driver, "guest-\(number)", from: .ipv4(UInt32(number))) }
        #expect(come(driver, "anna", from: home).welcome != nil)
        for client in away.prefix(10) { #expect(back(client), "its own connection makes room for it") }
    }

    // MARK: - Without a login

    @Test("[SE5] of connections without a login those of the address go that has most, the longest waiting first; the others stay")
    func greetings() {
        let driver = driver { $0.greetingsMax = 6 }
        let anna = driver.open(from: home)
        let flood = (0..<5).map { _ in driver.open(from: school) }
        let bob = driver.open(from: street), carol = driver.open(from: home)
        #expect(flood.map { end(driver, $0) } == [.tooManyConnections, .tooManyConnections, nil, nil, nil])
        for _ in 0..<1_000 { _ = driver.open(from: school) }
        #expect([anna, bob, carol].allSatisfy { end(driver, $0) == nil })
    }

    @Test("[SE5] an address has a quarter of the connections without a login, however many are left; this machine has no share")
    func quarterOfGreetings() {
        let driver = driver()
        let flood = (0..<501).map { _ in driver.open(from: school) }
        #expect(flood.map { end(driver, $0) } == [.tooManyConnections] + Array(repeating: nil, count: 500))
        let own = (0..<1_500).map { _ in driver.open() }
        #expect(own.allSatisfy { end(driver, $0) == nil })
    }

    @Test("[SE5, AC2] of an address that guesses what has said nothing goes before what waits to be judged, and of that the newest")
    func putOff() {
        let driver = driver { $0.greetingsMax = 4 }
        for number in 0..<10 { driver.cut(TestClient(driver, "thief", key: "WRONG-\(number)", from: school).id) }
        let anna = come(driver, "anna", from: school)
        let silent = driver.open(from: school)
        let bob = come(driver, "bob", from: school), carol = come(driver, "carol", from: school)
        let dora = come(driver, "dora", from: school)
        #expect(end(driver, silent) == .tooManyConnections)
        let eve = driver.open(from: school)
        #expect([anna, bob, carol].allSatisfy { !driver.isClosing($0.id) } && end(driver, dora.id) == .tooManyConnections)
        #expect(end(driver, eve) == nil)
        driver.advance(.seconds(2))
        #expect([anna, bob, carol].allSatisfy { !$0.frames(.welcome).isEmpty })
    }

    @Test("[SE5] a connection that turns out to be another address's counts there from then on; nothing is left of any")
    func moves() {
        let driver = driver { $0.greetingsMax = 100_000 }
        var generator = SplitMix64(seed: 7)
        var open: [ConnectionID] = []
        for _ in 0..<3_000 {
            if generator.below(3) == 0, let id = open.randomElement(using: &generator) {
                driver.cut(id)
                open.removeAll { $0 == id }
            } else {
                let id = driver.open(asWebSocket: false, from: .ipv4(UInt32(generator.below(5))))
                driver.speakHTTP(id)
                if generator.below(2) == 0 { driver.upgrade(id, from: .ipv4(UInt32(generator.below(5)))) }
                open.append(id)
            }
        }
        for id in open { driver.cut(id) }
        #expect(driver.hub.placesHeld.isEmpty)
    }

    // MARK: - Logged in

    @Test("[SE5] an address comes in until it holds a third of what it leaves, a quarter; the next one finds room; moderators always do")
    func connections() {
        let driver = driver { $0.connectionsMax = 1_600 }
        #expect(fill(driver, from: school) == 375, "a quarter of the 1,500 that are not kept")
        #expect(fill(driver, from: home) == 282 && fill(driver, from: street) == 211)
        #expect(driver.hub.census().counters.closes["tooManyConnections"] == 3)
        #expect(come(driver, "host", from: school, .moderator).welcome != nil)
        #expect(fill(driver, from: .local) == 1_500 - 869, "this machine has no share")
        #expect(come(driver, "host 2", from: home, .moderator).welcome != nil)
    }

    @Test("[SE5] so do sessions, of those who are away, too; who has one takes it up, and from another address it is that one's")
    func sessions() throws {
        let driver = driver { $0.sessionsMax = 1_600 }
        let anna = come(driver, "anna", from: school)
        let token = try #require(anna.welcome?.resumeToken)
        #expect(fill(driver, from: school) == 374)
        #expect(driver.hub.census().counters.closes["tooManySessions"] == 1)
        driver.cut(anna.id)
        #expect(come(driver, "late", from: school).welcome == nil)
        let again = TestClient(
            driver, "anna", resume: token, secret: TestAccess.secret(of: "anna"), key: TestAccess.editorKey, from: home)
        #expect(again.welcome?.resumed == true)
        #expect(come(driver, "late", from: school).welcome != nil, "her place is free there")
        #expect(come(driver, "later", from: school).welcome == nil)
    }

    @Test("[SE5] a relay full of others has a place for whoever is in already, and takes over, and for moderators")
    func full() throws {
        let driver = driver { ($0.connectionsMax, $0.sessionsMax) = (32, 32) }
        let users = (0..<30).map { come(driver, "user-\($0)", from: .ipv4(UInt32($0))) }
        let late = come(driver, "late", from: home)
        #expect(users.allSatisfy { $0.welcome != nil } && late.welcome == nil)
        driver.cut(late.id)
        #expect(come(driver, "user-3", from: .ipv4(3)).welcome != nil)
        driver.cut(users[3].id)
        #expect(come(driver, "host", from: home, .moderator).welcome != nil)
        let health = driver.open()
        driver.speakHTTP(health)
        #expect(!driver.isClosing(health), "it is asked by HTTP, and answers")
    }

    @Test("[SE5] 100 pupils behind one address come in at once, and each enters 50 channels, with the limits that a relay has")
    func aClass() {
        var configuration = Configuration()
        configuration.isJournaled = true
        let driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        for number in 0..<100 {
            let pupil = come(driver, "pupil-\(number)", from: school)
            #expect(pupil.welcome != nil)
            for channel in 0..<50 {
                #expect(passes(pupil.subscribe(number < 20 ? "own-\(number)-\(channel)" : "room-\(channel)", features: [])))
            }
        }
        #expect(driver.hub.census().counters.refusals.isEmpty)
    }

    @Test("[SE5] an open relay has no moderators to keep sessions and channels for, but some connections for who has yet to speak")
    func open() {
        var configuration = Configuration()
        (configuration.sessionsMax, configuration.channelsMax) = (16, 16)
        let driver = HubDriver(configuration: configuration)
        let clients = (0..<16).map { TestClient(driver, "user-\($0)", from: .ipv4(UInt32($0))) }
        #expect(clients.allSatisfy { $0.welcome != nil && passes($0.subscribe($0.user)) })
        #expect(TestClient.code(clients[0].subscribe("more")) == .relayFull && TestClient(driver, "late", from: home).welcome == nil)
        configuration.connectionsMax = 16
        let other = HubDriver(configuration: configuration)
        let comers = (0..<16).map { TestClient(other, "user-\($0)", from: .ipv4(UInt32($0))) }
        #expect(comers.map { $0.welcome != nil } == Array(repeating: true, count: 15) + [false])
    }

    // MARK: - Channels

    @Test("[CH8] an address makes channels until it holds a third of what it leaves; an ended one is given back; moderators make the last")
    func channels() {
        let driver = driver { $0.channelsMax = 1_600 }
        let anna = come(driver, "anna", from: school), bob = come(driver, "bob", from: school), carol = come(driver, "carol", from: home)
        for number in 0..<375 { #expect(passes((number < 200 ? anna : bob).join("a-\(number)"))) }
        refused(anna.join("more"), .relayFull, limit: 375, actual: 376)
        refused(bob.join("more"), .relayFull, limit: 375, actual: 376)
        #expect(passes(bob.subscribe("more")), "the other kind has its own count")
        #expect(passes(carol.join("more")) && passes(anna.join("more")), "one that is there is no more")
        anna.leave("a-0", .leave)
        #expect(passes(bob.join("b")))
        let own = come(driver, "own", from: .local), host = come(driver, "host", from: school, .moderator)
        for number in 376..<1_500 { #expect(passes(own.join("c-\(number)"))) }
        refused(own.join("last"), .relayFull, limit: 1_500, actual: 1_501)
        refused(carol.join("last"), .relayFull, limit: 1_500, actual: 1_501)
        #expect(passes(host.join("last")))
    }

    @Test("[CH8] by whatever a channel comes to be, it is counted; what was stored is nobody's")
    func byWhatever() throws {
        var configuration = Configuration()
        (configuration.isJournaled, configuration.channelsMax, configuration.addressPlacesMin) = (true, 16, 3)
        let driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        let anna = come(driver, "anna", from: school)
        anna.publish("a", [1])
        anna.request(.setLock) { SetLockRequest(id: $0, kind: .message, channel: name("b"), lock: name("l")) }
        driver.persist()
        #expect(passes(anna.subscribe("c")) && TestClient.code(anna.subscribe("d")) == nil)
        #expect(TestClient.code(anna.subscribe("e")) == .relayFull)
        anna.publish("e", [1])
        #expect(anna.errors().map(\.code) == [.relayFull])
        let next = driver.restarted(start: 1_800_000_001)
        let again = come(next, "anna", from: school)
        for channel in ["e", "f", "g"] { #expect(passes(again.subscribe(channel))) }
    }

    @Test("[SE5, CH8] when all have gone, no address holds anything")
    func nothingLeft() {
        let driver = driver()
        var generator = SplitMix64(seed: 11)
        var clients: [TestClient] = []
        for step in 0..<600 {
            let address: AddressKey = generator.below(6) == 0 ? .local : .ipv4(UInt32(generator.below(4)))
            let client = come(driver, "user-\(generator.below(40))", from: address, generator.below(9) == 0 ? .moderator : .editor)
            client.subscribe("m-\(generator.below(30))")
            client.join("s-\(generator.below(30))")
            clients.append(client)
            if generator.below(2) == 0 { driver.cut(clients.remove(at: Int(generator.below(UInt64(clients.count)))).id) }
            if step % 10 == 0 { driver.advance(.milliseconds(Int64(generator.below(2_000)))) }
        }
        for client in clients where driver.isOpen(client.id) { driver.cut(client.id) }
        driver.advance(.seconds(3_600))
        #expect(driver.hub.placesHeld.isEmpty, "\(driver.hub.placesHeld)")
        let census = driver.hub.census()
        #expect(census.users == 0 && census.messageChannels == 0 && census.streamChannels == 0)
    }
}
