import RelayCore
import RelayRights
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// Wrong credentials make further keys and codes of their address wait.
@Suite struct GuessTests {
    private let driver = HubDriver(access: TestAccess.rules)
    private let school = AddressKey.ipv4(0xC0A8_0109)
    private let elsewhere = AddressKey.ipv6(0x2001_0db8_0000_0007)

    private func client(
        _ user: String, _ key: String?, from address: AddressKey, resume: String? = nil, token: String? = nil
    ) -> TestClient {
        TestClient(driver, user, resume: resume, secret: TestAccess.secret(of: user), key: key, token: token, from: address)
    }

    private func isIn(_ client: TestClient) -> Bool {
        client.welcome != nil || client.takeOthers(.welcome).first != nil
    }

    /// - Parameter count: 10 is what an address may guess at one instant.
    private func guess(_ count: Int = 10, from address: AddressKey? = nil) {
        for number in 0..<count { driver.cut(client("thief-\(number)", "WRONG-KEY-\(number)", from: address ?? school).id) }
    }

    private var counters: Counters { driver.hub.census().counters }

    @Test("[AC2] behind ten wrong keys from an address a right one is judged 2 s late; from another one, and from this machine, at once")
    func delayed() {
        guess(9)
        #expect(isIn(client("anna", TestAccess.editorKey, from: school)), "nine are a class that mistypes")
        guess(1)
        let bob = client("bob", TestAccess.editorKey, from: school)
        #expect(isIn(client("carol", TestAccess.editorKey, from: elsewhere)))
        guess(40, from: .local)
        #expect(isIn(client("dora", TestAccess.hostKey, from: .local)))
        driver.advance(.milliseconds(1_999))
        #expect(!isIn(bob))
        driver.advance(.milliseconds(1))
        #expect(isIn(bob))
        #expect(counters.credentialsDelayed == 1 && counters.credentialsWrong == 50)
    }

    @Test("[AC2] a wrong key that is judged late is refused a second behind that; one a second is forgiven")
    func refusedLater() {
        guess()
        let thief = client("thief", "WRONG-KEY", from: school)
        driver.advance(.milliseconds(2_999))
        #expect(thief.errors().isEmpty)
        driver.advance(.milliseconds(1))
        #expect(thief.errors().map(\.code) == [.keyWrong])
        driver.advance(.seconds(1))
        #expect(isIn(client("anna", TestAccess.editorKey, from: school)))
    }

    @Test("[AC2] tokens do not wait, nor does a resumption with the key of its session; with another key it does")
    func notDelayed() throws {
        let anna = client("anna", TestAccess.editorKey, from: school)
        let token = try #require(anna.welcome?.resumeToken)
        driver.cut(anna.id)
        guess()
        #expect(isIn(client("bob", nil, from: school, token: driver.token("bob", role: .editor))))
        let thief = client("anna", TestAccess.hostKey, from: school, resume: token)
        #expect(!isIn(thief))
        driver.cut(thief.id)
        let again = client("anna", TestAccess.editorKey, from: school, resume: token)
        #expect(again.welcome?.resumed == true)
        again.renew(key: TestAccess.editorKey)
        #expect(!again.takeOthers(.answer).isEmpty || again.others.isEmpty)
        #expect(counters.credentialsDelayed == 1)
    }

    @Test("[AC2] a renewal waits like a login, and what its connection sends behind it waits, in order")
    func renewal() {
        let anna = client("anna", TestAccess.editorKey, from: school)
        guess()
        let renewal = anna.nextRequest()
        driver.send(.json(.renew, RenewRequest(id: renewal, key: TestAccess.hostKey)), from: anna.id)
        anna.publish("lesson", [1])
        #expect(anna.frames().isEmpty)
        driver.advance(.seconds(2))
        #expect(anna.frames().map(\.type) == [FrameType.answer, .accepted].map(\.rawValue))
        #expect(driver.hub.bytesHeld == 0)
        anna.publish("lesson", [2])
        #expect(anna.frames().map(\.type) == [FrameType.accepted.rawValue])
    }

    @Test("[AC2, SE4] tries sent at once wait in turn, but for one a second; behind a login that waits no more may come than before any")
    func pipelined() throws {
        guess()
        let thief = driver.open(from: school)
        for number in 1...3 {
            let login = LoginRequest(
                id: UInt32(number), user: try Name("thief"), secret: TestAccess.secret(of: "thief"),
                key: number < 3 ? "WRONG" : TestAccess.editorKey, instance: "00000000000000aa")
            driver.send(.json(.login, login), from: thief)
        }
        // The second one is forgiven by then.
        driver.advance(.milliseconds(3_999))
        #expect(!driver.received(thief).contains { $0.type == FrameType.welcome.rawValue })
        driver.advance(.milliseconds(1))
        #expect(driver.received(thief).contains { $0.type == FrameType.welcome.rawValue })

        guess()
        let flood = driver.open(from: school)
        let login = LoginRequest(
            id: 1, user: try Name("flood"), secret: TestAccess.secret(of: "flood"), key: "WRONG", instance: "00000000000000aa")
        let more = Frame.publish(number: 1, channel: "a", payload: [UInt8](repeating: 0, count: 20_000))
        driver.send(Frame.json(.login, login).bytes + more.bytes, from: flood)
        #expect(driver.received(flood).map { TestClient.decode(CloseNotice.self, $0.body).code } == [.frameTooLarge])
        #expect(driver.hub.bytesHeld == 0)
    }

    @Test("[AC2] who waits and goes leaves nothing; who waits is judged by the keys of then")
    func ends() {
        guess()
        let anna = client("anna", TestAccess.editorKey, from: school)
        driver.cut(anna.id)
        let bob = client("bob", TestAccess.editorKey, from: school)
        var rules = TestAccess.rules
        rules.keys.removeAll { $0.role == .editor }
        driver.changeAccess(rules, endsSessions: true)
        driver.advance(.seconds(3))
        #expect(bob.errors().map(\.code) == [.keyWrong] && driver.hub.census().users == 0 && driver.hub.bytesHeld == 0)
    }

    @Test("[AC2] however many are guessed, all are counted, and the log has two lines of an address a minute")
    func flood() {
        for _ in 0..<60 {
            guess(100)
            driver.advance(.seconds(1))
        }
        driver.advance(.seconds(60))
        // Those that were cut before their time were not judged.
        #expect(counters.credentialsWrong == 10 + 59)
        #expect(counters.credentialsWrong + counters.credentialsDelayed == 6_000)
        #expect(driver.log.filter { $0.level == .warning }.count == 2)
    }

    @Test("[AC2] addresses beyond the bound share what they may guess; those that guess no more are forgotten")
    func manyAddresses() {
        for number in 0..<10_000 { guess(1, from: .ipv6(UInt64(number))) }
        guess(10, from: .ipv6(10_000))
        #expect(!isIn(client("anna", TestAccess.editorKey, from: .ipv6(10_001))), "it shares with the one before")
        driver.advance(.seconds(60))
        guess(1, from: .ipv6(10_000))
        #expect(isIn(client("bob", TestAccess.editorKey, from: .ipv6(10_001))))
    }
}
