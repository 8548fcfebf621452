import RelayCore
import RelayRights
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// Newcomers come in with six letters that a moderator shows.
@Suite struct JoinCodeTests {
    private let driver = HubDriver(access: TestAccess.inviting)

    private func host(_ user: String = "host", _ driver: HubDriver? = nil, device: String? = nil) -> TestClient {
        TestClient(
            driver ?? self.driver, user, instance: device ?? "00000000000000aa", device: device, presenceTimeoutMs: 300_000,
            secret: TestAccess.secret(of: user),
            key: TestAccess.hostKey)
    }

    private func guest(_ code: String, _ user: String = "guest", from address: AddressKey = .local) -> TestClient {
        TestClient(driver, user, secret: TestAccess.secret(of: user), joinCode: code, from: address)
    }

    private func offer(_ client: TestClient, to channel: String = "lesson") -> TestClient.Outcome {
        client.request(.offerJoinCode) { ChannelRequest(id: $0, channel: try! Name(channel)) }
    }

    private func offered(_ client: TestClient, to channel: String = "lesson") -> OfferJoinCodeAnswer? {
        client.answer(OfferJoinCodeAnswer.self, offer(client, to: channel))
    }

    /// Time passes, and links stay alive.
    private func pass(_ duration: Duration, _ clients: TestClient...) {
        var left = duration
        while left > .zero {
            let step = min(left, .seconds(5))
            driver.advance(step)
            left -= step
            for client in clients { driver.send(Frame(.ping), from: client.id) }
        }
    }

    /// What a client was told of the end of its code.
    private func ends(_ client: TestClient) -> [String] {
        client.takeOthers(.joinCodeEnded).map { TestClient.decode(JoinCodeEnded.self, $0.body).reason }
    }

    /// What a login was refused with, late or at once.
    private func refusal(_ client: TestClient) -> ErrorBody? {
        driver.advance(.seconds(1))
        let frames = client.others + client.frames()
        return frames.first { $0.type == FrameType.error.rawValue }.map { TestClient.decode(ErrorBody.self, $0.body) }
    }

    private func isWrong(_ code: String) -> Bool { refusal(guest(code))?.code == .codeWrong }

    /// An address for each wrong code, so that none is passed over for its address.
    private func guess(_ count: Int, from first: UInt32 = 0) {
        for ordinal in 0..<UInt32(count) { _ = guest("BBBBBB", from: .ipv4(first + ordinal)) }
    }

    @Test("[AC20] a code lets any number of newcomers in as the join key does, and tells each the key to come back with, and where to go")
    func comesIn() throws {
        let host = host()
        let offer = try #require(offered(host))
        #expect(offer.validMs == 1_800_000 && offer.code.utf8.count == 6)
        #expect(offer.code.allSatisfy { "BCDFGHJKMNPQRSTVWXYZ".contains($0) })
        for user in ["ann", "ben"] {
            let welcome = try #require(guest(offer.code, user).welcome)
            #expect(welcome.user.text == user && welcome.access.role == "editor")
            #expect(welcome.joinKey == TestAccess.editorKey && welcome.channel?.text == "lesson" && welcome.secret == nil)
        }
        let again = TestClient(driver, "ann", secret: TestAccess.secret(of: "ann"), key: TestAccess.editorKey)
        #expect(again.welcome != nil && again.welcome?.joinKey == nil && again.welcome?.channel == nil, "who has the key is not told it")
        #expect(ends(host) == [])
    }

    @Test("[AC20] who came in by a code goes with the join key, as who came by the key")
    func keyChanges() throws {
        let guest = guest(try #require(offered(host())).code)
        driver.changeAccess(TestAccess.rules(withoutEditors: ()), endsSessions: true)
        #expect(guest.closing()?.code == .keyChanged)
    }

    @Test("[AC20] a code is read as a person types it")
    func typed() throws {
        let code = try #require(offered(host())).code
        for text in [code.lowercased(), code.prefix(3) + "-" + code.suffix(3), " " + code.lowercased().map { "\($0) " }.joined()] {
            #expect(guest(text).welcome != nil, "\(text) for \(code)")
        }
    }

    @Test("[AC20, AC2] what is no open code is refused late, whatever is wrong with it; three of them end the connection")
    func wrong() throws {
        let code = try #require(offered(host())).code
        let other = String(code.dropLast()) + (code.last == "B" ? "C" : "B")
        for text in ["", String(code.dropLast()), code + "B", other, String(code.dropLast()) + "L", "ÄÄÄ", TestAccess.editorKey] {
            let client = guest(text)
            #expect(client.welcome == nil && client.others.isEmpty, "\(text) is answered late")
            #expect(refusal(client)?.code == .codeWrong, "\(text)")
        }
        let guesser = guest(other)
        for _ in 0..<2 { guesser.login(secret: TestAccess.secret(of: "guest"), joinCode: other) }
        driver.advance(.seconds(7))
        #expect(guesser.closing()?.code == .credentialsWrong)
        #expect(guest(code).welcome != nil, "the code itself still holds")
    }

    @Test("[AC20] a code holds for 30 minutes, and a moment less is enough; its host is told the end, and the relay has it no more")
    func expires() throws {
        let host = host()
        let code = try #require(offered(host)).code
        pass(.milliseconds(1_799_999), host)
        #expect(guest(code).welcome != nil && ends(host) == [] && driver.hub.joinCodesKept == 1)
        driver.advance(.milliseconds(1))
        #expect(ends(host) == ["expired"] && driver.hub.joinCodesKept == 0)
        #expect(isWrong(code))
    }

    @Test("[AC20] each code ends at its own time")
    func expireInTurn() throws {
        let (one, two) = (host("one"), host("two"))
        _ = try #require(offered(one))
        pass(.seconds(600), one, two)
        _ = try #require(offered(two))
        pass(.seconds(1_200), one, two)
        #expect((ends(one), ends(two)) == (["expired"], []))
        pass(.milliseconds(599_999), one, two)
        #expect(ends(two) == [])
        driver.advance(.milliseconds(1))
        #expect(ends(two) == ["expired"])
    }

    @Test("[AC20] asked for again a code is the same; another channel, withdrawing, logging out and a takeover void it, and tell nothing")
    func ends() throws {
        let (host, bystander) = (host(), host("bystander"))
        let stays = try #require(offered(bystander)).code
        let first = try #require(offered(host))
        for left in [1_740_000, 1_680_000] {
            pass(.seconds(60), host, bystander)
            let again = try #require(offered(host))
            #expect(again.code == first.code && again.validMs == left)
        }
        let other = try #require(offered(host, to: "other"))
        #expect(other.code != first.code && other.validMs == 1_800_000 && isWrong(first.code))
        #expect(guest(other.code).welcome?.channel?.text == "other")
        host.request(.withdrawJoinCode) { EmptyRequest(id: $0) }
        #expect(isWrong(other.code))
        for _ in 0..<2 { #expect(host.request(.withdrawJoinCode) { EmptyRequest(id: $0) } != .nothing) }
        let third = try #require(offered(host))
        #expect(third.code != other.code && third.code != first.code)
        let successor = self.host()
        #expect(isWrong(third.code))
        let fourth = try #require(offered(successor))
        successor.request(.logout) { EmptyRequest(id: $0) }
        #expect(isWrong(fourth.code) && driver.hub.joinCodesKept == 1)
        #expect(ends(host) == [] && ends(successor) == [] && ends(bystander) == [])
        #expect(guest(stays).welcome != nil, "another host's code holds")
    }

    @Test("[AC20] a host that is away keeps its code until its session ends; one that resumes asks, and has the same")
    func away() throws {
        let host = host()
        let code = try #require(offered(host)).code
        driver.cut(host.id)
        #expect(guest(code).welcome != nil)
        let back = TestClient(
            driver, "host", resume: host.welcome?.resumeToken, presenceTimeoutMs: 300_000, secret: TestAccess.secret(of: "host"),
            key: TestAccess.hostKey)
        #expect(back.welcome?.resumed == true && offered(back)?.code == code)
        driver.cut(back.id)
        driver.advance(.seconds(300))
        #expect(isWrong(code))
    }

    @Test("[AC20] devices of a user have a code each; a relay has 32, and one less makes room")
    func places() throws {
        let hosts = (0..<16).flatMap { user in (1...2).map { host("host-\(user)", device: "000000000000000\($0)") } }
        let codes = try hosts.map { try #require(offered($0)).code }
        #expect(Set(codes).count == 32)
        let last = host("last")
        guard case .error(let error) = offer(last) else { return #expect(Bool(false), "a 33rd code") }
        #expect(error.code == .limitReached && error.limit == 32 && error.actual == 33)
        #expect(offered(hosts[0], to: "other") != nil, "in place of its own")
        hosts[1].request(.withdrawJoinCode) { EmptyRequest(id: $0) }
        #expect(offered(last) != nil)
    }

    // MARK: - Who may offer one

    @Test("[AC20, AC6] only who may be told the join key gets a code")
    func permitted() throws {
        let token = TestClient(driver, "teacher", token: driver.token("teacher", role: .moderator))
        #expect(offered(token) != nil)
        for role in [Role.reader, .editor, .coeditor] {
            let client = TestClient(driver, "\(role)", secret: TestAccess.secret(of: "\(role)"), key: TestAccess.key(role))
            #expect(TestClient.code(offer(client)) == .notPermitted)
        }
        let host = host()
        driver.changeAccess(TestAccess.rules(withoutHost: ()), endsSessions: false)
        #expect(TestClient.code(offer(host)) == .notPermitted, "its own key counts no more")
        for rules in [AccessRules.open, TestAccess.rules] {
            let other = HubDriver(access: rules)
            #expect(TestClient.code(offer(self.host("host", other))) == .notSupported)
        }
    }

    @Test("[AC20, AC7] any new key voids all codes, and so does a credential that makes its host less; the host is told why")
    func voided() throws {
        let (one, two) = (host("one"), host("two"))
        let codes = try [one, two].map { try #require(offered($0)).code }
        one.request(.renew) { RenewRequest(id: $0, key: TestAccess.editorKey) }
        #expect(ends(one) == ["notPermitted"] && isWrong(codes[0]))
        #expect(guest(codes[1]).welcome != nil)
        driver.changeAccess(TestAccess.inviting, endsSessions: false)
        #expect(ends(two) == [] && guest(codes[1]).welcome != nil, "the keys are the same")
        driver.changeAccess(TestAccess.rules(withoutHost: ()), endsSessions: false)
        #expect((ends(one), ends(two)) == ([], ["keyChanged"]))
        #expect(isWrong(codes[1]))
    }

    @Test("[AC20, AC1] a join code goes without key, token and code of a device; an open relay passes it over")
    func fields() {
        func refusal(_ driver: HubDriver, _ change: (inout LoginRequest) -> Void) -> [ErrorCode] {
            let id = driver.open()
            var request = LoginRequest(
                id: 1, user: try! Name("ann"), secret: TestAccess.secret(of: "ann"), joinCode: "BBBBBB", instance: "00000000000000bb")
            change(&request)
            driver.send(.json(.login, request), from: id)
            return driver.received(id).filter { $0.type == FrameType.error.rawValue }
                .map { TestClient.decode(ErrorBody.self, $0.body).code }
        }
        #expect(refusal(driver) { $0.key = TestAccess.editorKey } == [.badRequest])
        #expect(refusal(driver) { $0.token = driver.token("ann", role: .editor) } == [.badRequest])
        #expect(refusal(driver) { ($0.code, $0.user, $0.secret) = ("0000000000", nil, nil) } == [.badRequest])
        let open = TestClient(HubDriver(access: .open), "ann", joinCode: "BBBBBB")
        #expect(open.welcome?.access.role == "moderator" && open.welcome?.joinKey == nil)
        #expect(refusal(HubDriver(access: .open)) { $0.key = TestAccess.editorKey }.isEmpty, "an open relay asks for none of them")
    }

    // MARK: - Who guesses

    @Test("[AC20] of an address five wrong ones are judged in a minute; a refusal says how many are left, or when one is judged again")
    func guessesOfAddress() throws {
        let code = try #require(offered(host())).code
        let (here, there) = (AddressKey.ipv4(1), AddressKey.ipv4(2))
        for count in 1...5 {
            let error = try #require(refusal(guest("BBBBBB", from: here)))
            #expect(error.code == .codeWrong && error.limit == 5 && error.actual == UInt64(count))
            #expect(error.text.contains("\(5 - count) more wrong ones are judged"))
        }
        // A second passes with each of them.
        for text in ["BBBBBB", code] {
            let client = guest(text, from: here)
            let error = try #require(client.errors().first ?? client.others.first.map { TestClient.decode(ErrorBody.self, $0.body) })
            #expect(error.code == .rateLimited && error.limit == 5 && error.actual == 6 && error.retryAfterMs == 55_000)
        }
        #expect(guest(code, from: there).welcome != nil && guest(code, from: .local).welcome != nil)
        driver.advance(.milliseconds(54_999))
        #expect(guest(code, from: here).welcome == nil)
        driver.advance(.milliseconds(1))
        #expect(guest(code, from: here).welcome != nil, "one that is right is no wrong one")
        #expect(guest(code, from: here).welcome != nil)
        #expect(refusal(guest("BBBBBB", from: here))?.actual == 5)
        #expect(refusal(guest("BBBBBB", from: here))?.code == .codeWrong, "the second one's minute is over by now")
        #expect(refusal(guest("BBBBBB", from: here))?.code == .codeWrong)
    }

    @Test("[AC20] of all addresses sixty are judged in a minute, this machine's among them; it remembers no more of them")
    func guessesOfAll() throws {
        let code = try #require(offered(host())).code
        for _ in 0..<3 { _ = guest("BBBBBB", from: .local) }
        guess(56)
        #expect(refusal(guest("BBBBBB", from: .local))?.limit == 60)
        for address in [AddressKey.local, .ipv4(1_000)] {
            let client = guest(code, from: address)
            let error = try #require(client.others.first.map { TestClient.decode(ErrorBody.self, $0.body) })
            #expect(error.code == .rateLimited && error.limit == 60 && error.actual == 61 && error.retryAfterMs == 59_000)
        }
        #expect(driver.hub.wrongJoinCodesKept == 60)
        driver.advance(.seconds(59))
        #expect(guest(code, from: .ipv4(1_000)).welcome != nil)
    }

    @Test("[AC20] what is told as left is of the bound that is nearer")
    func nearer() throws {
        guess(57)
        let error = try #require(refusal(guest("BBBBBB", from: .ipv4(1_000))))
        #expect(error.limit == 60 && error.actual == 58)
    }

    @Test("[AC20] the 300th wrong one voids all codes that were there for all of them; host and log are told, the log without the code")
    func voidByGuesses() throws {
        let (early, late) = (host("early"), host("late"))
        let code = try #require(offered(early)).code
        for minute in 0..<5 {
            if minute == 1 { _ = try #require(offered(late, to: "other")) }
            guess(minute == 4 ? 59 : 60)
            pass(minute == 4 ? .zero : .seconds(60), early, late)
        }
        #expect(guest(code, from: .ipv4(2_000)).welcome != nil && ends(early) == [])
        guess(1, from: 3_000)
        #expect((ends(early), ends(late)) == (["wrongTries"], []))
        #expect(driver.hub.joinCodesKept == 1)
        pass(.seconds(60), early, late)
        #expect(isWrong(code))
        let fresh = try #require(offered(early))
        #expect(fresh.code != code && guest(fresh.code).welcome != nil)
        let lines = driver.log.map(\.text)
        #expect(lines.contains { $0.contains("the join code of user early to lesson is void: 300 wrong ones came") })
        for word in [code, fresh.code, "BBBBBB"] { #expect(!lines.contains { $0.uppercased().contains(word) }) }
    }

    @Test("[AC20, AC2] with an address that guesses keys its codes are judged late, too")
    func putOff() throws {
        let code = try #require(offered(host())).code
        let address = AddressKey.ipv4(7)
        for ordinal in 0..<11 {
            _ = TestClient(driver, "g\(ordinal)", secret: TestAccess.secret(of: "g"), key: "KEYNONE", from: address)
        }
        let client = guest(code, from: address)
        #expect(client.welcome == nil && client.others.isEmpty)
        driver.advance(.seconds(2))
        #expect(client.frames(.welcome).count == 1)
    }
}

extension TestAccess {
    fileprivate static func rules(withoutEditors: Void) -> AccessRules {
        AccessRules(keys: [.init(hostKey, .moderator), .init("KEYNEW-0005", .editor)], tokens: nil, joinKey: "KEYNEW-0005")
    }

    fileprivate static func rules(withoutHost: Void) -> AccessRules {
        AccessRules(keys: [.init("KEYNEW-0006", .moderator), .init(editorKey, .editor)], tokens: nil, joinKey: editorKey)
    }
}
