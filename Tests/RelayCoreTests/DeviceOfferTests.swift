import RelayCore
import RelayRights
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// One more device comes in with a code that another one was given.
@Suite struct DeviceOfferTests {
    private let driver = HubDriver(access: TestAccess.rules)

    private func laptop(
        _ driver: HubDriver? = nil, secret: String? = TestAccess.secret(of: "alice"), key: String? = TestAccess.editorKey
    ) -> TestClient {
        TestClient(
            driver ?? self.driver, "alice", device: "0000000000000001", presenceTimeoutMs: 300_000, secret: secret,
            key: driver == nil ? key : nil)
    }

    private func tablet(_ code: String?, _ driver: HubDriver? = nil, key: String? = TestAccess.readerKey) -> TestClient {
        TestClient(
            driver ?? self.driver, "", instance: "00000000000000bb", device: "0000000000000002", code: code, key: driver == nil ? key : nil)
    }

    private func offered(_ client: TestClient, secret: String? = TestAccess.secret(of: "alice")) -> OfferDeviceAnswer? {
        client.answer(OfferDeviceAnswer.self, client.request(.offerDevice) { OfferDeviceRequest(id: $0, secret: secret) })
    }

    private func code(_ outcome: TestClient.Outcome) -> ErrorCode? { TestClient.code(outcome) }

    /// What a login is refused with, late or at once.
    private func refusal(_ client: TestClient) -> [ErrorCode] {
        driver.advance(.seconds(1))
        return (client.others + client.frames()).filter { $0.type == FrameType.error.rawValue }
            .map { TestClient.decode(ErrorBody.self, $0.body).code }
    }

    @Test(
        "[AC17, SE8] a code brings another device in as the same user and tells it the secret; its key gives the access; then it is used up")
    func handedOver() throws {
        let laptop = laptop()
        let offer = try #require(offered(laptop))
        #expect(offer.validMs == 120_000 && offer.code.utf8.count == 10)
        #expect(offer.code.allSatisfy { "0123456789ABCDEFGHJKMNPQRSTVWXYZ".contains($0) })
        let tablet = tablet(offer.code)
        let welcome = try #require(tablet.welcome)
        #expect(welcome.user.text == "alice" && welcome.secret == TestAccess.secret(of: "alice") && !welcome.resumed)
        #expect(welcome.access.role == "reader" && laptop.closing() == nil)
        #expect(driver.hub.census().users == 1 && driver.hub.census().sessionsPresent == 2)
        #expect(refusal(self.tablet(offer.code)) == [.codeWrong])
        let again = TestClient(
            driver, "alice", device: "0000000000000002", secret: welcome.secret, key: TestAccess.readerKey)
        #expect(again.welcome != nil && again.welcome?.secret == nil, "the secret is told once")
    }

    @Test("[AC17] a code is read as a person types it")
    func typed() throws {
        let laptop = laptop()
        for change: (String) -> String in [
            { $0.lowercased() }, { $0.prefix(5) + "-" + $0.suffix(5) }, { " " + $0.replacing("0", with: "o").replacing("1", with: "l") },
            { $0.replacing("1", with: "I") },
        ] {
            // One that has what can be mistaken.
            let codes = (0..<200).lazy.compactMap { _ in offered(laptop)?.code }
            let code = try #require(codes.first { $0.contains("0") && $0.contains("1") })
            driver.advance(.seconds(1))
            #expect(tablet(change(code)).welcome != nil, "\(change(code)) for \(code)")
        }
    }

    @Test("[AC17, AC2] what is no open code is refused late, whatever is wrong with it; three of them end the connection")
    func wrong() throws {
        let code = try #require(offered(laptop())).code
        let other = String(code.dropLast()) + (code.last == "0" ? "1" : "0")
        for text in ["", String(code.dropLast()), code + "0", other, String(code.dropLast()) + "U", "ÄÄÄÄÄ"] {
            let client = tablet(text)
            #expect(client.welcome == nil && client.others.isEmpty, "\(text) is answered late")
            #expect(refusal(client) == [.codeWrong], "\(text)")
        }
        let guesser = tablet("0000000000")
        for _ in 0..<2 { guesser.login(instance: "00000000000000bb", code: "0000000000", key: TestAccess.readerKey) }
        driver.advance(.seconds(7))
        #expect(guesser.closing()?.code == .credentialsWrong)
        #expect(tablet(code).welcome != nil, "the code itself still holds")
    }

    @Test("[AC17] a code holds for two minutes; a newer one and the end of the session void it; a session that is away keeps it")
    func ends() throws {
        let laptop = laptop()
        let first = try #require(offered(laptop)).code, second = try #require(offered(laptop)).code
        #expect(first != second && refusal(tablet(first)) == [.codeWrong])
        driver.cut(laptop.id)
        #expect(tablet(second).welcome != nil)
        let again = self.laptop()
        let third = try #require(offered(again)).code
        driver.advance(.milliseconds(119_999))
        #expect(tablet(third, key: "KEYNONE").welcome == nil)
        #expect(tablet(third).welcome != nil, "a wrong key uses no code up")
        let late = self.laptop()
        let fourth = try #require(offered(late)).code
        driver.advance(.seconds(120))
        #expect(refusal(tablet(fourth)) == [.codeWrong])
        let last = self.laptop()
        let fifth = try #require(offered(last)).code
        last.request(.logout) { EmptyRequest(id: $0) }
        #expect(refusal(tablet(fifth)) == [.codeWrong])
    }

    @Test("[AC17] a code of the last moment counts; a moment later the relay has it and its secret no more")
    func lastMoment() throws {
        for (milliseconds, isRight) in [(119_999, true), (120_000, false)] {
            let laptop = laptop()
            let code = try #require(offered(laptop)).code
            driver.advance(.milliseconds(milliseconds))
            #expect(driver.hub.deviceCodesKept == (isRight ? 1 : 0))
            #expect((tablet(code).welcome != nil) == isRight)
        }
    }

    @Test("[AC17] the secret of an offer is that of the login; a user who has none has nothing to hand over, unless the relay is open")
    func secrets() throws {
        let laptop = laptop()
        for secret in [nil, TestAccess.secret(of: "bob"), "0123"] {
            #expect(code(laptop.request(.offerDevice) { OfferDeviceRequest(id: $0, secret: secret) }) == .badRequest)
        }
        let token = TestClient(driver, "bob", token: driver.token("bob", role: .editor))
        #expect(code(token.request(.offerDevice) { OfferDeviceRequest(id: $0, secret: nil) }) == .notPermitted)
        let open = HubDriver(access: .open)
        let host = self.laptop(open, secret: nil)
        let offer = try #require(offered(host, secret: nil))
        let other = tablet(offer.code, open)
        #expect(other.welcome?.user.text == "alice" && other.welcome?.secret == nil)
    }

    @Test("[AC17] a login with a code has no user, secret, token or resume; one without it needs a user")
    func fields() {
        func login(_ change: (inout LoginRequest) -> Void) -> [ErrorCode] {
            let id = driver.open()
            var request = LoginRequest(id: 1, user: nil, key: TestAccess.editorKey, instance: "00000000000000bb")
            change(&request)
            driver.send(.json(.login, request), from: id)
            return driver.received(id).map { TestClient.decode(ErrorBody.self, $0.body).code }
        }
        #expect(login { _ in } == [.badRequest])
        #expect(login { ($0.code, $0.user) = ("0000000000", try! Name("alice")) } == [.badRequest])
        #expect(login { ($0.code, $0.secret) = ("0000000000", TestAccess.secret(of: "alice")) } == [.badRequest])
        #expect(login { ($0.code, $0.key, $0.token) = ("0000000000", nil, driver.token("alice", role: .editor)) } == [.badRequest])
        #expect(login { ($0.code, $0.resume) = ("0000000000", ResumeRequest(token: TestAccess.secret(of: "alice"))) } == [.badRequest])
    }

    @Test("[AC13, AC17] a ban ends the session, and the code with it")
    func banned() throws {
        let code = try #require(offered(laptop())).code
        let host = TestClient(driver, "host", secret: TestAccess.secret(of: "host"), key: TestAccess.hostKey)
        host.request(.banUser) { BanUserRequest(id: $0, user: try! Name("alice")) }
        #expect(refusal(tablet(code)) == [.codeWrong])
    }
}
