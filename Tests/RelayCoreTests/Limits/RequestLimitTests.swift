import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@Suite struct RequestLimitTests {
    @Test(
        "[RT6] 200 requests a second pass for a minute without one refusal, behind a burst of 400 as well; one more than that does not"
    )
    func sustained() {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice")
        var request: UInt32 = 1
        func ask() {
            request += 1
            driver.send(.json(.leave, ChannelRequest(id: request, channel: name("x"))), from: alice.id)
        }
        func refusals() -> [String: Int] {
            _ = alice.frames()
            return driver.hub.census().counters.refusals.mapValues { Int($0) }
        }
        for _ in 0..<400 { ask() }
        #expect(refusals() == ["notJoined": 400])
        ask()
        #expect(refusals() == ["notJoined": 400, "rateLimited": 1])
        for _ in 0..<60 {
            for _ in 0..<200 {
                driver.advance(.milliseconds(5))
                ask()
            }
            _ = alice.frames()
        }
        #expect(refusals() == ["notJoined": 400 + 60 * 200, "rateLimited": 1])
        ask()
        #expect(refusals()["rateLimited"] == 2)
    }

    @Test("[DM5] 128 direct messages of a sender wait for confirmation; one more is refused and not sent, a confirmation makes place")
    func directs() throws {
        let driver = HubDriver.patient { $0.limits.directMessagesPerSecond = 1_000 }
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob"), carol = TestClient(driver, "carol")
        func send(_ number: UInt64, to user: String, from client: TestClient) {
            driver.send(.direct(number: number, user: user, payload: [1]), from: client.id)
        }
        for number in 1...UInt64(129) { send(number, to: number % 2 == 0 ? "bob" : "carol", from: alice) }
        let errors = alice.errors()
        refused(errors.first, .limitReached, limit: 128, actual: 129)
        #expect(errors.map(\.number) == [129])
        let delivered = bob.frames(.directDeliver)
        #expect(delivered.count == 64 && carol.frames(.directDeliver).count == 64)
        send(1, to: "carol", from: bob)
        #expect(bob.errors().isEmpty, "the count is a sender's own")

        let delivery = try delivered[0].body.withUnsafeBytes { try DirectDeliverFrame(flags: delivered[0].flags, body: $0).delivery }
        driver.send(.directReceived(delivery: delivery), from: bob.id)
        driver.send(.directReceived(delivery: delivery), from: bob.id)
        for number in [129, 130] as [UInt64] { send(number, to: "bob", from: alice) }
        #expect(alice.errors().map(\.number) == [130], "one place, whoever confirms twice")
    }

    @Test("[DM4, DM5] after 10 s without confirmation each is unconfirmed and its place is free")
    func unconfirmed() {
        let driver = HubDriver.patient {
            $0.limits.directMessagesPerSecond = 1_000
            $0.heartbeatMax = .seconds(60)
        }
        let alice = TestClient(driver, "alice", presenceTimeoutMs: 300_000)
        _ = TestClient(driver, "bob", presenceTimeoutMs: 300_000)
        for number in 1...UInt64(128) { driver.send(.direct(number: number, user: "bob", payload: []), from: alice.id) }
        driver.advance(.milliseconds(9_999))
        #expect(alice.errors().isEmpty)
        driver.advance(.milliseconds(1))
        let errors = alice.errors()
        #expect(errors.map(\.code) == [ErrorCode](repeating: .unconfirmed, count: 128) && errors.map(\.number) == (1...128).map { $0 })
        for number in 129...UInt64(257) { driver.send(.direct(number: number, user: "bob", payload: []), from: alice.id) }
        #expect(alice.errors().map(\.number) == [257])
    }
}
