import RelayCore
import RelayRights
import RelayTestKit
import RelayTesting
import RelayTokens
import RelayWire
import Testing

@Suite struct CredentialTests {
    private let driver = HubDriver(access: TestAccess.rules)

    private func secret(_ user: String) -> String { TestAccess.secret(of: user) }

    /// Codes of the refusals that have come, and of `closing` if it has.
    private func codes(_ client: TestClient) -> [ErrorCode] {
        defer { client.others = [] }
        return (client.others + client.frames()).compactMap { frame in
            switch FrameType(rawValue: frame.type) {
            case .error?: TestClient.decode(ErrorBody.self, frame.body).code
            case .closing?: TestClient.decode(CloseNotice.self, frame.body).code
            default: nil
            }
        }
    }

    @Test("[AC1, AC4] a key gives its role, a token its role and grants until its end, told in welcome")
    func admitted() throws {
        for role in Role.allCases {
            let client = TestClient(driver, role.rawValue, secret: secret(role.rawValue), key: TestAccess.key(role))
            #expect(client.welcome?.access == AccessBody(role: role.rawValue))
        }
        let grants = ["board-*": ["subscribe", "presence"], "*": ["direct"]]
        let anna = TestClient(driver, "anna", token: driver.token("anna", role: .reader, grants: grants, seconds: 90))
        #expect(anna.welcome?.access == AccessBody(role: "reader", grants: grants, untilMs: 90_000))
        let bob = TestClient(driver, "bob", token: driver.token("bob", grants: ["a": ["lock"]], seconds: 1))
        #expect(bob.welcome?.access == AccessBody(grants: ["a": ["lock"]], untilMs: 1_000))
    }

    @Test("[AC1] each wrong credential has its code; none of them is told to anybody else or begins a session")
    func refused() throws {
        let host = TestClient(driver, "host", secret: secret("host"), key: TestAccess.hostKey)
        host.subscribe("lesson")
        _ = host.frames()
        let foreign = try TokenSecret(bytes: Array(repeating: 7, count: 32))
        let over = driver.token("anna", role: .editor, seconds: 1)
        let late = driver.token("anna", role: .editor, seconds: 0)
        let attempts: [(key: String?, token: String?, code: ErrorCode)] = [
            (nil, nil, .credentialRequired), ("KEYEDITOR-000", nil, .keyWrong), ("KEYEDITOR-00022", nil, .keyWrong),
            (nil, driver.token("anna", role: .editor, secret: foreign), .tokenInvalid),
            (nil, driver.token("bob", role: .editor), .tokenInvalid),
            (nil, "a.b.c", .tokenInvalid), (nil, "", .tokenInvalid), (nil, late, .tokenExpired),
            (nil, String(over.dropLast()) + "*", .tokenInvalid),
        ]
        for (key, token, code) in attempts {
            let anna = TestClient(driver, "anna", secret: secret("anna"), key: key, token: token)
            #expect(codes(anna).isEmpty, "answered late")
            driver.advance(.seconds(1))
            #expect(codes(anna) == [code], "\(key ?? "no key"), \(token ?? "no token")")
            #expect(anna.welcome == nil)
            driver.cut(anna.id)
        }
        #expect(driver.hub.census().counters.credentialsWrong == UInt64(attempts.count))
        #expect(driver.hub.census().users == 1 && host.frames().filter { $0.type != FrameType.ping.rawValue }.isEmpty)
    }

    @Test("[AC1] key and token together, a key of 0 or 129 bytes and a missing secret are badRequest at once and count as no guess")
    func malformed() {
        let anna = TestClient(driver, "anna")
        anna.others = []
        let logins: [(key: String?, token: String?, secret: String?)] = [
            (TestAccess.hostKey, driver.token("anna", role: .reader), secret("anna")), ("", nil, secret("anna")),
            (String(repeating: "k", count: 129), nil, secret("anna")), (TestAccess.hostKey, nil, nil),
        ]
        for (key, token, secret) in logins {
            anna.login(secret: secret, key: key, token: token)
            #expect(codes(anna) == [.badRequest])
        }
        #expect(driver.hub.census().counters.credentialsWrong == 1, "the one without any")
        anna.login(secret: secret("anna"), key: String(repeating: "k", count: 128))
        #expect(codes(anna).isEmpty && driver.hub.census().counters.credentialsWrong == 2, "128 bytes are a key, and a wrong one")
    }

    @Test("[AC1] an open relay looks at nothing and gives everybody the role moderator")
    func open() {
        let driver = HubDriver()
        let logins: [(key: String?, token: String?)] = [
            (nil, nil), ("wrong", nil), (nil, "none"), ("", nil), (String(repeating: "k", count: 200), nil), ("wrong", "none"),
        ]
        for (index, login) in logins.enumerated() {
            let client = TestClient(driver, "user-\(index)", key: login.key, token: login.token)
            #expect(client.welcome?.access == AccessBody(role: "moderator"))
            #expect(TestClient.code(client.join("lesson", token: "none")) == nil)
        }
        // User ids belong to nobody: another secret takes over.
        let first = TestClient(driver, "anna", secret: secret("anna"))
        #expect(TestClient(driver, "anna", secret: secret("other")).welcome != nil)
        #expect(first.closing()?.code == .replaced)
    }

    @Test("[AC2] three wrong logins sent at once are answered after 1, 3 and 7 s, then the connection is closed")
    func pauses() {
        let anna = TestClient(driver, "anna", secret: secret("anna"), key: "wrong-1")
        anna.login(secret: secret("anna"), token: "wrong-2")
        anna.login(secret: secret("anna"))
        for (wait, expected) in [
            (999, []), (1, [.keyWrong]), (1_999, []), (1, [.tokenInvalid]), (3_999, []), (1, [.credentialRequired, .credentialsWrong]),
        ] as [(Int, [ErrorCode])] {
            driver.advance(.milliseconds(wait))
            #expect(codes(anna) == expected)
            #expect(driver.isClosing(anna.id) == expected.contains(.credentialsWrong))
        }
    }

    @Test("[AC2] a wrong login that comes after the answer to the one before waits its own time from then")
    func oneByOne() {
        let anna = TestClient(driver, "anna", key: "wrong")
        driver.advance(.milliseconds(2_500))
        #expect(codes(anna) == [.keyWrong])
        anna.login(key: "wrong")
        driver.advance(.milliseconds(1_999))
        #expect(codes(anna).isEmpty)
        driver.advance(.milliseconds(1))
        #expect(codes(anna) == [.keyWrong])
        anna.login(key: "wrong")
        driver.advance(.milliseconds(3_999))
        #expect(codes(anna).isEmpty)
        driver.advance(.milliseconds(1))
        #expect(codes(anna) == [.keyWrong, .credentialsWrong])
    }

    @Test("[AC2] the pause has an upper bound")
    func longestPause() {
        var configuration = Configuration()
        configuration.credentialPause = .seconds(20)
        configuration.loginTimeout = .seconds(3600)
        let driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        let anna = TestClient(driver, "anna", key: "wrong")
        for wait in [20, 30, 30] {
            driver.advance(.seconds(wait) - .milliseconds(1))
            #expect(codes(anna).isEmpty)
            driver.advance(.milliseconds(1))
            #expect(codes(anna).first == .keyWrong)
            anna.login(key: "wrong")
        }
    }

    @Test("[AC2] a right login is answered at once, the answers that were held back before it in their order, and none comes again")
    func rightAmongWrong() throws {
        let anna = TestClient(driver, "anna", secret: secret("anna"), key: "wrong")
        anna.login(secret: secret("anna"), token: "wrong")
        #expect(anna.others.isEmpty)
        driver.send(
            .json(
                .login,
                LoginRequest(id: 9, user: try Name("anna"), secret: secret("anna"), key: TestAccess.editorKey, instance: "00000000000000aa")
            ),
            from: anna.id)
        let frames = anna.frames()
        #expect(frames.map(\.type) == [FrameType.error, .error, .welcome].map(\.rawValue))
        #expect(frames.filter { $0.type == FrameType.error.rawValue }.map { TestClient.decode(ErrorBody.self, $0.body).id } == [1, 2])
        driver.advance(.milliseconds(4_900))
        #expect(anna.frames().isEmpty && !driver.isClosing(anna.id))
    }

    @Test("[AC2] three guesses are all that a connection has: a fourth is judged no more, be it right")
    func fourthGuess() {
        let anna = TestClient(driver, "anna", secret: secret("anna"), key: "wrong-1")
        for key in ["wrong-2", "wrong-3", TestAccess.hostKey] { anna.login(secret: secret("anna"), key: key) }
        #expect(anna.welcome == nil && driver.hub.census().users == 0)
        driver.advance(.seconds(7))
        #expect(codes(anna) == [.keyWrong, .keyWrong, .keyWrong, .credentialsWrong])
    }

    @Test("[AC2, SE4] who is told late may send no more than others before login, and has no more time")
    func boundsBeforeLogin() {
        let anna = TestClient(driver, "anna", key: "wrong")
        driver.send([UInt8](Frame(.ping, body: Array(repeating: 0, count: 8)).bytes), from: anna.id)
        for _ in 0..<1_200 where driver.isOpen(anna.id) && !driver.isClosing(anna.id) {
            driver.send(Frame(.ping, body: Array(repeating: 0, count: 8)), from: anna.id)
        }
        #expect(codes(anna) == [.frameTooLarge])
        let bob = TestClient(driver, "bob", key: "wrong")
        driver.advance(.seconds(8))
        bob.login(key: "wrong")
        #expect(codes(bob) == [.keyWrong])
        driver.advance(.milliseconds(1_999))
        #expect(!driver.isClosing(bob.id))
        driver.advance(.milliseconds(1))
        #expect(codes(bob).last == .loginTimeout)
    }
}
