import RelayCore
import RelayRights
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// How fast channels and user ids come to be.
@Suite struct NewcomerRateTests {
    private let school = AddressKey.ipv4(0xC0A8_0109)
    private let home = AddressKey.ipv6(0x2001_0db8_0000_0007)

    private func driver(_ change: (inout Configuration) -> Void = { _ in }) -> HubDriver {
        var configuration = Configuration()
        (configuration.limits.requestsPerSecond, configuration.requestsBurst) = (100_000, 100_000)
        (configuration.limits.subscribedChannelsMax, configuration.limits.joinedChannelsMax) = (100_000, 100_000)
        change(&configuration)
        return HubDriver(configuration: configuration, access: TestAccess.rules)
    }

    private func come(_ driver: HubDriver, _ user: String, from address: AddressKey, _ role: Role = .editor) -> TestClient {
        TestClient(driver, user, secret: TestAccess.secret(of: user), key: TestAccess.key(role), from: address)
    }

    private func refused(_ outcome: TestClient.Outcome, _ rate: UInt64, afterMs: UInt64) -> Bool {
        guard case .error(let error) = outcome else { return false }
        return error.code == .rateLimited && error.limit == rate && error.retryAfterMs == afterMs && error.retry == "later"
    }

    @Test("[RT9] a user makes 300 channels at one instant, then 20 a second, by whatever; one that is there costs nothing")
    func channelsOfUser() {
        let driver = driver()
        let anna = come(driver, "anna", from: school), bob = come(driver, "bob", from: school), own = come(driver, "own", from: .local)
        for number in 0..<150 { #expect(passes(anna.subscribe("a-\(number)"))) }
        for number in 0..<150 { #expect(passes(anna.join("a-\(number)"))) }
        #expect(refused(anna.join("more"), 20, afterMs: 50))
        anna.publish("more", [1])
        #expect(anna.errors().map(\.code) == [.rateLimited])
        #expect(passes(anna.subscribe("a-7")) && passes(bob.join("b")))
        driver.advance(.milliseconds(50))
        #expect(passes(anna.join("more")) && refused(anna.join("last"), 20, afterMs: 50))
        for number in 0..<400 { #expect(passes(own.join("own-\(number)"))) }
    }

    @Test("[RT9] users from one address make a bounded number together; moderators, and other addresses, are not in it")
    func channelsOfAddress() {
        let driver = driver { ($0.newChannelsOfAddressPerSecond, $0.newChannelsOfAddressBurst) = (2, 10) }
        let pupils = (0..<4).map { come(driver, "pupil-\($0)", from: school) }
        for number in 0..<10 { #expect(passes(pupils[number % 4].join("room-\(number)"))) }
        #expect(refused(pupils[0].join("room-10"), 2, afterMs: 500))
        pupils[1].leave("room-1", .leave)
        #expect(refused(pupils[1].join("room-1"), 2, afterMs: 500), "coming and going is what it bounds")
        #expect(passes(come(driver, "anna", from: home).join("room-10")))
        #expect(passes(come(driver, "host", from: school, .moderator).join("room-11")))
        driver.advance(.milliseconds(500))
        #expect(passes(pupils[0].join("room-12")))
    }

    @Test("[RT9, AC3] 1,000 new ids come from one address at one instant, then 10 a second; who was here comes in all the same")
    func ids() throws {
        let driver = driver()
        for number in 0..<1_000 { #expect(come(driver, "user-\(number)", from: school).welcome != nil) }
        let late = come(driver, "late", from: school)
        let error = try #require(late.others.first.map { TestClient.decode(ErrorBody.self, $0.body) })
        #expect(error.code == .rateLimited && error.limit == 10 && error.retryAfterMs == 100)
        #expect(come(driver, "user-7", from: school).welcome != nil)
        #expect(TestClient(driver, "ticket", token: driver.token("ticket", role: .editor), from: school).welcome != nil)
        #expect(come(driver, "host", from: school, .moderator).welcome != nil)
        #expect(come(driver, "anna", from: home).welcome != nil && come(driver, "bob", from: .local).welcome != nil)
        driver.advance(.milliseconds(100))
        late.login(secret: TestAccess.secret(of: "late"), key: TestAccess.editorKey)
        #expect(late.welcome != nil, "on the same connection")
    }

    @Test("[RT9, DL12] who keeps to an address's rates is refused nothing behind 10 s in which nobody was served: its burst is as much")
    func stall() {
        let driver = driver(), settings = driver.hub.settings
        for number in 0..<settings.newIDsBurst { _ = come(driver, "user-\(number)", from: school) }
        driver.stall(.seconds(10))
        for number in 0..<10 * settings.newIDsPerSecond {
            #expect(come(driver, "late-\(number)", from: school).welcome != nil, "it had spent all before")
            #expect(come(driver, "first-\(number)", from: home).welcome != nil)
        }
        #expect(settings.newChannelsOfAddressBurst >= 10 * settings.newChannelsOfAddressPerSecond)
    }
}
