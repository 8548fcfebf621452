import RelayRights
import RelayWire
import Testing
@testable import RelayClientCore

/// Keys and tokens, as the client's machine brings, renews and loses them.
@Suite struct AccessTests {
    private static func driver(_ credential: Credential?) -> MachineDriver { MachineDriver { $0.credential = credential } }

    private static func login(_ driver: MachineDriver) throws -> LoginRequest {
        MachineDriver.decode(LoginRequest.self, try #require(driver.sent(.login).last))
    }

    /// The link breaks, and the next one is made.
    private func comeBack(_ driver: MachineDriver) {
        driver.cut()
        driver.pass(.seconds(1))
        driver.open()
    }

    private func refuse(_ driver: MachineDriver, _ code: ErrorCode, id: UInt32) {
        driver.feed(.json(.error, ErrorBody(WireError(code, "no"), id: id)))
    }

    private func refusals(_ driver: MachineDriver) -> [Problem] {
        driver.events().compactMap { if case .refused(let refusal) = $0 { refusal } else { nil } }
    }

    private func failure(_ result: Result<ClientAnswer, RelayError>?) -> ErrorCode? {
        if case .failure(let error)? = result { error.code } else { nil }
    }

    @Test("[AC1] a login carries the key, the token or neither", arguments: [Credential.key("the key"), .token("a.b.c"), nil])
    func login(credential: Credential?) throws {
        let driver = Self.driver(credential)
        driver.connect()
        let login = try Self.login(driver)
        #expect(login.key == (credential == .key("the key") ? "the key" : nil))
        #expect(login.token == (credential == .token("a.b.c") ? "a.b.c" : nil))
        #expect(login.secret != nil)
    }

    @Test("[AC4] what welcome says of rights is what the client may; words that it does not know are left out")
    func access() throws {
        let driver = MachineDriver()
        #expect(driver.machine.access == nil)
        driver.connect()
        let id = try Self.login(driver).id
        var limits = ServerLimits()
        limits.messagesPerSecond = 60
        let body = AccessBody(
            role: "reader", grants: ["board-*": ["publish", "levitate"], "x": ["levitate"], "a*b": ["publish"]], untilMs: 5)
        driver.feed(
            .json(
                .welcome,
                Welcome(
                    id: id, relay: String(repeating: "0", count: 32), user: try Name("alice"), handle: 1,
                    resumeToken: String(repeating: "f", count: 32), resumed: false,
                    lastEnd: nil,
                    start: 1, heartbeatMs: 5000, presenceTimeoutMs: 10_000, access: body, limits: limits)))
        let access = try #require(driver.machine.access)
        #expect(access.role == .reader && access.grants.words == ["board-*": ["publish"]])
        #expect(access.rights(on: try Name("board-7")) == [.subscribe, .presence, .publish])
        #expect(access.rights(on: try Name("x")) == [.subscribe, .presence])
        #expect(
            access.rights(on: "board-7" as String) == [.subscribe, .presence, .publish] && access.rights(on: "no/channel" as String).isEmpty
        )
    }

    @Test("[AC8] on a live link renew asks the relay; the answer's rights hold, and the next login brings the new token")
    func renewLive() throws {
        let driver = Self.driver(.token("old"))
        driver.logIn()
        _ = driver.sent()
        let token = driver.token()
        try driver.machine.renew(.token("new"), token: token, at: driver.now)
        let request = MachineDriver.decode(RenewRequest.self, try #require(driver.sent(.renew).first))
        #expect(request.token == "new" && request.key == nil && driver.completed[token] == nil)
        driver.feed(.json(.answer, RenewAnswer(id: request.id, access: AccessBody(role: "reader"))))
        driver.carryOut()
        #expect(driver.completed[token] == .success(.done) && driver.machine.access?.role == .reader)
        comeBack(driver)
        #expect(try Self.login(driver).token == "new")
    }

    @Test("[AC8] a token that the relay does not take changes nothing: the old one is brought again")
    func renewRefused() throws {
        let driver = Self.driver(.token("old"))
        driver.logIn()
        _ = driver.sent()
        let token = driver.token()
        try driver.machine.renew(.key("wrong"), token: token, at: driver.now)
        let request = MachineDriver.decode(RenewRequest.self, try #require(driver.sent(.renew).first))
        #expect(request.key == "wrong" && request.token == nil)
        refuse(driver, .keyWrong, id: request.id)
        #expect(failure(driver.completed[token]) == .keyWrong && driver.machine.access?.role == .moderator)
        #expect(driver.machine.linkState.isConnected && refusals(driver).isEmpty)
        comeBack(driver)
        let login = try Self.login(driver)
        #expect(login.token == "old" && login.key == nil)
    }

    @Test("[AC8] a renewal whose answer went with the link is not known to have happened: the old token is brought again")
    func renewLost() throws {
        let driver = Self.driver(.token("old"))
        driver.logIn()
        let token = driver.token()
        try driver.machine.renew(.token("new"), token: token, at: driver.now)
        _ = driver.sent()
        comeBack(driver)
        #expect(failure(driver.completed[token]) == .outcomeUnknown)
        #expect(try Self.login(driver).token == "old")
    }

    @Test("[AC8] without a link renew is done at once, and so is the next login, with the new token")
    func renewOffline() throws {
        let driver = Self.driver(.token("old"))
        driver.logIn()
        driver.cut()
        let links = driver.linksAsked.count
        let token = driver.token()
        try driver.machine.renew(.token("new"), token: token, at: driver.now)
        driver.carryOut()
        #expect(driver.completed[token] == .success(.done) && driver.linksAsked.count == links + 1)
        driver.open()
        #expect(try Self.login(driver).token == "new")
    }

    @Test("a client that is closed renews nothing")
    func renewClosed() {
        let driver = Self.driver(.token("old"))
        driver.logIn()
        driver.machine.finish()
        let error = #expect(throws: RelayError.self) { try driver.machine.renew(.token("new"), token: driver.token(), at: driver.now) }
        #expect(error?.code == RelayError.clientClosed.code)
    }

    @Test("[AC8] a token that is over when the client comes back does not end it: it tries again, and comes in with another one")
    func expired() throws {
        let driver = Self.driver(.token("old"))
        driver.logIn()
        driver.cut()
        for _ in 0..<3 {
            let links = driver.linksAsked.count
            for _ in 0..<10_000 where driver.linksAsked.count == links { driver.pass(.milliseconds(10)) }
            driver.open()
            refuse(driver, .tokenExpired, id: try Self.login(driver).id)
            guard case .waiting(_, let error) = driver.machine.linkState else {
                Issue.record("\(driver.machine.linkState)")
                return
            }
            #expect(error.code == .tokenExpired)
        }
        let token = driver.token()
        try driver.machine.renew(.token("new"), token: token, at: driver.now)
        driver.carryOut()
        driver.open()
        driver.logIn()
        #expect(driver.lastLogin?.token == "new" && driver.machine.linkState.isConnected)
    }

    @Test(
        "[AC1] what no waiting helps against ends the client: any refusal of the first login, and of a later one all but tokenExpired",
        arguments: [
            (ErrorCode.tokenExpired, false), (.keyWrong, false), (.keyWrong, true), (.tokenInvalid, true), (.credentialRequired, true),
            (.userIDTaken, true),
        ])
    func ends(code: ErrorCode, wasIn: Bool) throws {
        let driver = Self.driver(.token("old"))
        if wasIn {
            driver.logIn()
            comeBack(driver)
        } else {
            driver.connect(token: 1)
        }
        refuse(driver, code, id: try Self.login(driver).id)
        guard case .closed(let error) = driver.machine.linkState else {
            Issue.record("\(driver.machine.linkState)")
            return
        }
        #expect(error.code == code)
        if !wasIn { #expect(failure(driver.completed[1]) == code) }
    }

    @Test("[ER5] a login that is refused for a time is tried again after it, not before, however often")
    func refusedForATime() throws {
        let driver = Self.driver(.key("the key"))
        driver.logIn()
        comeBack(driver)
        for _ in 0..<3 {
            let error = WireError(.relayFull, "no place", retryAfterMilliseconds: 60_000)
            driver.feed(.json(.error, ErrorBody(error, id: try Self.login(driver).id)))
            guard case .waiting(let pause, let told) = driver.machine.linkState else {
                Issue.record("\(driver.machine.linkState)")
                return
            }
            #expect(told.code == .relayFull && pause >= .seconds(60) && pause < .seconds(91))
            let links = driver.linksAsked.count
            driver.pass(.milliseconds(59_999))
            #expect(driver.linksAsked.count == links)
            for _ in 0..<4_000 where driver.linksAsked.count == links { driver.pass(.milliseconds(10)) }
            driver.open()
        }
        driver.logIn()
        #expect(driver.machine.linkState.isConnected)
    }

    @Test("[AC8] a session that ends with its token is taken up again; one whose key was changed is not")
    func closings() throws {
        let driver = Self.driver(.token("old"))
        driver.logIn()
        driver.feed(.json(.closing, CloseNotice(code: .accessExpired, text: "over")))
        guard case .waiting(_, let reason) = driver.machine.linkState, reason.code == .accessExpired else {
            Issue.record("\(driver.machine.linkState)")
            return
        }
        driver.pass(.seconds(1))
        driver.open()
        driver.logIn(resumed: true)
        #expect(driver.lastLogin?.resume?.token == String(repeating: "f", count: 32))
        driver.feed(.json(.closing, CloseNotice(code: .keyChanged, text: "changed")))
        guard case .closed(let end) = driver.machine.linkState, end.code == .keyChanged else {
            Issue.record("\(driver.machine.linkState)")
            return
        }
    }

    @Test("[AC7] a channel that the relay took the client out of is left: the app is told, and a new session does not ask for it")
    func removed() throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.subscribe(handle: 10)
        try driver.joinTopic(flow: 50, handle: 11)
        _ = driver.events()
        driver.feed(.json(.removed, RemovedNotice(channel: 11, code: .notPermitted, text: "the right subscribe is missing")))
        let told = refusals(driver), drawing = ChannelID(kind: .stream, channel: try Name("lesson"))
        #expect(told.map(\.subject) == [.channel] && told.map(\.place) == [drawing])
        #expect(told.first?.error.code == .notPermitted && driver.machine.linkState.isConnected)
        // Of a channel that it is not in, as after its own `leave` on the way.
        driver.feed(.json(.removed, RemovedNotice(channel: 11, code: .notPermitted, text: "again")))
        #expect(refusals(driver).isEmpty && driver.machine.linkState.isConnected)
        let error = #expect(throws: RelayError.self) { try driver.packet("x") }
        #expect(error?.code == .topicNotJoined)

        comeBack(driver)
        driver.logIn()
        #expect(driver.sentNames() == ["subscribe"])
    }

    @Test("[AC7] a flow that may not be published in any more is closed: the topic is left, and a new session does not join it")
    func flowNotPermitted() throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.joinTopic(flow: 50)
        _ = driver.events()
        driver.feed(.json(.error, ErrorBody(WireError(.notPermitted, "the right stream is missing"), flow: 50)))
        let told = refusals(driver)
        #expect(told.map(\.subject) == [.packet] && told.map(\.topic) == ["points"] && told.map(\.error.code) == [.notPermitted])
        let error = #expect(throws: RelayError.self) { try driver.packet("x") }
        #expect(error?.code == .topicNotJoined)
        comeBack(driver)
        driver.logIn()
        #expect(driver.sentNames() == ["join"])
    }

    @Test("[AC8] that the token ends soon is an event")
    func expiring() {
        let driver = MachineDriver()
        driver.logIn()
        _ = driver.events()
        driver.feed(.json(.accessExpiring, AccessExpiring(inMs: 30_000)))
        #expect(driver.events() == [.accessExpiring(in: .seconds(30))])
    }

    /// As many message channels as a login tells positions of, seen at offsets of many digits.
    private func inManyChannels(_ credential: Credential?) throws -> MachineDriver {
        let driver = Self.driver(credential)
        driver.logIn()
        for number in 0..<MachineDriver.largePlacesMax {
            let name = MachineDriver.largeName(number)
            try driver.ask(.subscribe(name, features: [.messages], quiet: false)) { id in
                SubscribeAnswer(
                    id: id, kind: .message, channel: name, handle: UInt32(1_000_000 + number), features: [.messages], quiet: false,
                    epoch: Epoch(start: .max, incarnation: .max), head: Limits.integerMax)
            }
        }
        _ = driver.sent()
        comeBack(driver)
        return driver
    }

    @Test("[SE4, SE9] the largest token and as many positions as a login tells fit into it together")
    func largeLogin() throws {
        let large = try inManyChannels(.token(String(repeating: "t", count: Limits.tokenBytesMax)))
        let frame = try #require(large.sent(.login).last)
        #expect(frame.bytes.count <= Limits.bytesBeforeLoginMax)
        let login = MachineDriver.decode(LoginRequest.self, frame)
        #expect(login.token?.utf8.count == Limits.tokenBytesMax && login.resume?.seen?.count == MachineDriver.largePlacesMax)
    }

    @Test("[SE4, AC1] the largest token, user id and description fit into a login together")
    func largestLogin() throws {
        let driver = MachineDriver {
            $0.identity = .user(try! Name(String(repeating: "u", count: Limits.nameBytesMax)), secret: String(repeating: "f", count: 32))
            $0.onlyDevice = true
            $0.instance = .max
            $0.credential = .token(String(repeating: "t", count: Limits.tokenBytesMax))
            $0.presenceTimeout = .seconds(300)
            $0.description = String(repeating: "\\", count: Limits.clientDescriptionBytesMax)
        }
        driver.connect()
        let frame = try #require(driver.sent(.login).last)
        #expect((Limits.tokenBytesMax..<Limits.bytesBeforeLoginMax).contains(frame.bytes.count), "\(frame.bytes.count)")
    }

    @Test("neither a description nor a dump of a credential has its text")
    func silent() {
        for credential in [Credential.key("SECRETISH"), .token("SECRETISH")] {
            var dumped = ""
            dump(credential, to: &dumped)
            for text in ["\(credential)", String(reflecting: credential), dumped, String(describing: [credential])] {
                #expect(!text.contains("SECRETISH"), "\(text)")
            }
        }
    }
}
