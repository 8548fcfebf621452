import RelayCore
import RelayPrimitives
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// What one address, or two, could take from others by ways around its share.
@Suite struct OneAddressTests {
    private let school = AddressKey.ipv4(0xC0A8_0109)
    private let home = AddressKey.ipv6(0x2001_0db8_0000_0007)

    private func driver(_ change: (inout Configuration) -> Void = { _ in }) -> HubDriver {
        var configuration = Configuration()
        configuration.newIDsBurst = 100_000
        (configuration.limits.requestsPerSecond, configuration.requestsBurst) = (100_000, 100_000)
        (configuration.metadataCallsPerSecond, configuration.metadataCallsBurst) = (1_000, 1_000)
        change(&configuration)
        return HubDriver(configuration: configuration, access: TestAccess.rules)
    }

    private func come(
        _ driver: HubDriver, _ user: String, from address: AddressKey, device: Int? = nil, resume: String? = nil,
        key: String = TestAccess.editorKey
    ) -> TestClient {
        let digits = device.map { String(repeating: "0", count: 15) + String($0) }
        return TestClient(
            driver, user, instance: digits ?? "00000000000000aa", device: digits, resume: resume,
            secret: TestAccess.secret(of: user), key: key, from: address)
    }

    private func frame(_ bytes: Int) -> [UInt8] {
        Frame.publish(number: 1, channel: "c", payload: [UInt8](repeating: 1, count: bytes)).bytes
    }

    @Test("[FR2] frames that have not come whole of one address close none of another one that has less")
    func unfinished() {
        let driver = driver { $0.unfinishedBytesMax = 100_000 }
        let anna = come(driver, "anna", from: home), large = frame(30_000)
        driver.send(Array(large[..<25_000]), from: anna.id)
        var links: [TestClient] = []
        for number in 0..<6 {
            driver.advance(.milliseconds(10))
            links.append(come(driver, "mallory-\(number)", from: school))
            driver.send(Array(large[..<29_000]), from: links[number].id)
        }
        #expect(!driver.isClosing(anna.id) && links.count { driver.isClosing($0.id) } == 4)
        #expect(driver.hub.census().unfinishedBytes <= 100_000)
    }

    @Test("[FR2] hundreds of slivers that go make way at once: the large ones go first, and a close closes no further one by itself")
    func slivers() {
        let driver = driver {
            $0.unfinishedBytesMax = 100_000
            $0.addressPlacesMin = 2_000
        }
        let slivers = (0..<1_500).map { come(driver, "sliver-\($0)", from: school) }
        for sliver in slivers { driver.send([0], from: sliver.id) }
        driver.advance(.milliseconds(10))
        let large = (0..<5).map { come(driver, "large-\($0)", from: school) }
        for link in large { driver.send(Array(frame(30_000)[..<29_000]), from: link.id) }
        #expect(large.count { driver.isClosing($0.id) } == 2)
        #expect(slivers.count { driver.isClosing($0.id) } == 0, "\(driver.hub.census().counters.closes)")
    }

    @Test("[DL9] of queues that hold too much one goes of the address that holds most, however many small ones those are")
    func queues() {
        let driver = driver { $0.queueBytesTotalMax = 2 << 20 }
        come(driver, "teacher", from: home).set("lesson", [("k", String(repeating: "x", count: 50_000))])
        let lesson = ChannelID(kind: .message, channel: name("lesson"))
        func ask(_ client: TestClient, _ count: Int) {
            for _ in 0..<count {
                driver.send(.json(.getMetadata, GetMetadataRequest(id: client.nextRequest(), .channel(lesson))), from: client.id)
            }
        }
        let anna = come(driver, "anna", from: home)
        ask(anna, 3)
        let mallories = (0..<30).map { number in
            let mallory = come(driver, "mallory-\(number)", from: school)
            ask(mallory, 2)
            return mallory
        }
        #expect(!driver.isClosing(anna.id) && mallories.contains { driver.isClosing($0.id) })
    }

    @Test("[SE5] sessions that come again from another address keep the places of the first, where the other one has its share")
    func places() {
        let driver = driver { ($0.sessionsMax, $0.connectionsMax) = (1_600, 1_600) }
        var inside: [TestClient] = []
        for _ in 0..<10 {
            // Eight devices a user: no rate of new ids is passed.
            while true {
                let client = come(driver, "user-\(inside.count / 8)", from: school, device: inside.count % 8)
                guard client.welcome != nil else { break }
                inside.append(client)
            }
            for (index, client) in inside.enumerated() where driver.isOpen(client.id) && !driver.isClosing(client.id) {
                driver.cut(client.id)
                inside[index] = come(driver, "user-\(index / 8)", from: home, device: index % 8)
            }
        }
        #expect((375..<800).contains(inside.count), "of 1,500")
        #expect(come(driver, "anna", from: .ipv4(7)).welcome != nil)
    }

    @Test("[SE15] so it is with what they hold")
    func memory() {
        let driver = driver { $0.sessionMemoryMax = 1_000_000 }
        var number = 0
        for _ in 0..<20 {
            var some: [TestClient] = [], isFull = false
            while !isFull {
                let client = come(driver, "user-\(number)", from: school)
                guard client.welcome != nil else { break }
                some.append(client)
                number += 1
                for channel in 0..<20 where !isFull {
                    let states = Dictionary(uniqueKeysWithValues: (0..<32).map { ("state-\($0)", "x") })
                    isFull = !passes(
                        client.request(.setStates) {
                            SetStatesRequest(id: $0, kind: .message, channel: name("channel-\(channel)"), states: states)
                        })
                }
            }
            for client in some {
                driver.cut(client.id)
                _ = come(driver, client.user, from: home, resume: client.welcome?.resumeToken)
            }
        }
        let anna = come(driver, "anna", from: .ipv4(7))
        #expect(anna.welcome != nil && passes(anna.subscribe("lesson")))
        #expect(driver.hub.sessionMemory == driver.hub.recountedMemory())
    }

    @Test("[AC2] beside one who guesses as fast as connections come, a right key from the same address comes in")
    func guesses() {
        let driver = driver { ($0.greetingsMax, $0.addressPlacesMin) = (64, 4) }
        func guess(_ user: String) {
            _ = come(driver, user, from: school, key: "WRONG-KEY-OF-THIEF")
            driver.advance(.milliseconds(20))
        }
        for number in 0..<31 { guess("thief-\(number)") }
        for attempt in 0..<5 {
            let anna = come(driver, "anna", from: school)
            for number in 0..<120 { guess("late-\(attempt)-\(number)") }
            #expect(driver.isOpen(anna.id) && anna.welcome != nil || !anna.frames(.welcome).isEmpty, "attempt \(attempt)")
            driver.cut(anna.id)
        }
    }

    @Test("[DL12] of frames that have passed nothing is held, however long one of them waits")
    func passed() {
        let driver = driver { ($0.limits.requestsPerSecond, $0.requestsBurst) = (1_000, 1_000) }
        let mallory = come(driver, "mallory", from: school)
        driver.offers = false
        var text = Array("{\"id\":7,\"kind\":\"message\",\"channel\":\"none\",\"filler\":\"".utf8)
        text += [UInt8](repeating: 0x78, count: 15_900) + Array("\"}".utf8)
        let slow = Frame(.who, body: text).bytes
        let wrong = Frame.publish(number: 1, channel: "none", payload: [UInt8](repeating: 0, count: 70_000)).bytes
        var room = 0, held = 0
        for _ in 0..<200 {
            if !driver.isPaused(mallory.id) { driver.send(slow + wrong, from: mallory.id) }
            driver.nextTurn { id in _ = driver.flush(id) }
            driver.advance(.milliseconds(1))
            (room, held) = (max(room, driver.hub.heldRoom(of: mallory.id)), max(held, driver.hub.bytesHeld))
        }
        #expect(held > 0 && room <= 3 * held, "\(room) bytes for \(held)")
    }

    @Test("[RT6] a request that is busy in place of waiting costs its user what a request costs")
    func busy() {
        let driver = driver {
            ($0.limits.requestsPerSecond, $0.requestsBurst, $0.heldBytesMax) = (10, 50, 40)
            ($0.requestTurnBytes, $0.requestShareBytes) = (1_024, 1_024)
        }
        let bob = come(driver, "bob", from: home), mallory = come(driver, "mallory", from: school)
        driver.offers = false
        func ask(_ client: TestClient, _ count: Int) {
            for _ in 0..<count {
                driver.send(.json(.who, WhoRequest(id: client.nextRequest(), kind: .message, channel: name("c"))), from: client.id)
            }
        }
        ask(bob, 3)
        ask(mallory, 200)
        driver.offers = true
        let codes = mallory.errors().map(\.code)
        #expect(codes.count { $0 == .busy } <= 50 && codes.count { $0 == .rateLimited } >= 150, "\(codes.map(\.name))")
    }

    @Test("[SE15] waits for locks are counted as memory, however they end, and nothing is left of them")
    func waits() {
        let driver = driver { $0.isJournaled = true }
        let holder = come(driver, "holder", from: home), mallory = come(driver, "mallory", from: school)
        func settled(_ outcome: TestClient.Outcome) { driver.persist() }
        let before = driver.hub.sessionMemory
        for lock in 0..<4 {
            settled(holder.setLock("c", "l\(lock)"))
            settled(holder.acquire("c", "l\(lock)"))
            for _ in 0..<5 { _ = mallory.sendAcquire("c", "l\(lock)", waitMs: 1_000) }
        }
        #expect(driver.hub.sessionMemory - before == 20 * 256)
        _ = holder.lock(.removeLock, "c", "l0")
        driver.persist()
        #expect(driver.hub.sessionMemory - before == 15 * 256)
        // It is removed, and that is not stored: they wait again, and one that came to its end meanwhile has ended.
        _ = holder.lock(.removeLock, "c", "l1")
        driver.advance(.seconds(1))
        driver.failStorage()
        driver.handle(.storageRecovered)
        #expect(driver.hub.sessionMemory == before && driver.hub.sessionMemory == driver.hub.recountedMemory())
        #expect(mallory.errors().count == 20)
    }

    @Test("[AC17] a thousand codes for another device leave one deadline, and no secret when they are over")
    func codes() {
        let driver = driver()
        let users = (0..<100).map { come(driver, "user-\($0)", from: school) }
        for user in users { driver.send(Frame(.ping), from: user.id) }
        let before = driver.hub.census().deadlines
        for user in users {
            for _ in 0..<10 { user.request(.offerDevice) { OfferDeviceRequest(id: $0, secret: TestAccess.secret(of: user.user)) } }
        }
        #expect(driver.hub.census().deadlines == before + 1 && driver.hub.deviceCodesKept == 100)
        driver.advance(.seconds(121))
        #expect(driver.hub.deviceCodesKept == 0)
    }

    @Test("[DL12] items that are put in order for a page, and locks that were waited for, are looked at")
    func looked() {
        let driver = driver { $0.newChannelsBurst = 10_000 }
        come(driver, "teacher", from: home).set("lesson", (0..<300).map { ("item-\($0)", "x") })
        let mallory = come(driver, "mallory", from: school), holder = come(driver, "holder", from: school)
        let lesson = ChannelID(kind: .message, channel: name("lesson"))
        let before = driver.hub.workCharged
        mallory.request(.getMetadata) { GetMetadataRequest(id: $0, .channel(lesson), after: name("zz")) }
        #expect(driver.hub.workCharged - before > 300 * 64)
        for lock in 0..<64 {
            let (channel, lock) = ("c\(lock / 32)", "l\(lock % 32)")
            holder.setLock(channel, lock)
            holder.acquire(channel, lock)
            _ = mallory.sendAcquire(channel, lock, waitMs: lock == "l0" ? 60_000 : 1_000)
        }
        driver.send(Frame(.ping), from: mallory.id)
        func cancel() -> Int {
            let before = driver.hub.workCharged
            mallory.request(.cancel) { CancelRequest(id: $0, request: 9_999) }
            return driver.hub.workCharged - before
        }
        let many = cancel()
        driver.advance(.seconds(2))
        #expect(many > 64 * 64 && cancel() <= many - 60 * 64, "waits that are over are not looked at")
    }
}
