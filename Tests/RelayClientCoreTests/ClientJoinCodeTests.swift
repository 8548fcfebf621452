import RelayPrimitives
import RelayWire
import Testing
@testable import RelayClientCore

/// A code for newcomers, as who shows it and who types it sees it.
@Suite struct ClientJoinCodeTests {
    private func ends(_ driver: MachineDriver) -> [JoinCodeEnd] {
        driver.events().compactMap { if case .joinCodeEnded(let reason) = $0 { reason } else { nil } }
    }

    @Test("[AC20] who comes with a join code is told key and channel, and comes back with the key")
    func comesBack() throws {
        let driver = MachineDriver { $0.credential = .joinCode("QPF-DKW") }
        driver.connect()
        driver.cut()
        driver.pass(.seconds(1))
        driver.open()
        // Nobody knows whether it was judged.
        driver.logIn(joinKey: "the key")
        let first = try #require(driver.lastLogin)
        #expect(first.joinCode == "QPF-DKW" && first.key == nil && first.token == nil && first.user?.text == "alice")
        #expect(driver.machine.invitation == JoinInvitation(key: "the key", channel: try Name("lesson")))
        driver.cut()
        driver.pass(.seconds(1))
        driver.open()
        driver.logIn()
        let second = try #require(driver.lastLogin)
        #expect(second.joinCode == nil && second.key == "the key" && driver.machine.invitation != nil)
    }

    @Test("[AC20] a wrong join code ends the client; one that is not judged now is tried again in its time")
    func refused() throws {
        func refuse(_ error: WireError) throws -> MachineDriver {
            let driver = MachineDriver { $0.credential = .joinCode("BBBBBB") }
            driver.connect()
            let login = MachineDriver.decode(LoginRequest.self, try #require(driver.sent(.login).first))
            driver.feed(.json(.error, ErrorBody(error, id: login.id)))
            return driver
        }
        let wrong = try refuse(WireError(.codeWrong, "no", limit: 5, actual: 2))
        #expect(throws: RelayError(.codeWrong, "no", limit: 5, actual: 2)) { try wrong.completed[1]?.get() }
        #expect(wrong.machine.isClosed && wrong.machine.nextDeadline == nil)

        let early = try refuse(WireError(.rateLimited, "not now", limit: 5, actual: 6, retryAfterMilliseconds: 55_000))
        #expect(throws: RelayError.self) { try early.completed[1]?.get() }
        early.pass(.milliseconds(54_999))
        #expect(!early.machine.isClosed && early.linksAsked.count == 1)
        early.pass(.milliseconds(1))
        #expect(early.linksAsked.count == 2)
        early.open()
        early.logIn(joinKey: "the key")
        #expect(early.lastLogin?.joinCode == "BBBBBB" && early.lastLogin?.key == nil)
        #expect(early.machine.linkState.isConnected)
    }

    @Test("[AC20] a join code is no credential of a renewal, and goes with no code of another device")
    func notRenewed() throws {
        let driver = MachineDriver()
        driver.logIn()
        #expect(throws: RelayError(.badRequest, "a join code is for the first login")) {
            try driver.machine.renew(.joinCode("QPFDKW"), token: driver.token(), at: driver.now)
        }
        let device = MachineDriver {
            $0.identity = .code("0000000000")
            $0.credential = .joinCode("QPFDKW")
        }
        device.logIn(secret: String(repeating: "ef", count: 16))
        #expect(device.lastLogin?.joinCode == nil && device.lastLogin?.code == "0000000000")
    }

    @Test("[AC20, SE11] an offer is a code; an answer that is lost with its link is asked for again, for it is the same code")
    func offer() throws {
        let driver = MachineDriver()
        driver.logIn()
        let token = driver.token()
        try driver.machine.request(.offerJoinCode(try Name("lesson")), token: token, at: driver.now)
        #expect(MachineDriver.decode(ChannelRequest.self, try #require(driver.sent(.offerJoinCode).first)).channel.text == "lesson")
        driver.cut()
        driver.pass(.seconds(1))
        driver.open()
        driver.logIn()
        let again = MachineDriver.decode(ChannelRequest.self, try #require(driver.sent(.offerJoinCode).first))
        driver.feed(.json(.answer, OfferJoinCodeAnswer(id: again.id, code: "QPFDKW", validMs: 1_800_000)))
        #expect(try driver.completed[token]?.get() == .code(OfferedCode(code: "QPFDKW", validFor: .seconds(1_800))))
        try driver.ask(.withdrawJoinCode) { EmptyAnswer(id: $0) }
    }

    @Test("[AC20, FR6] the end of a code is an event with its reason, also one of a newer relay")
    func ended() {
        let driver = MachineDriver()
        driver.logIn()
        for reason in JoinCodeEnded.Reason.allCases { driver.feed(.json(.joinCodeEnded, JoinCodeEnded(reason))) }
        driver.feed(Frame(.joinCodeEnded, body: Array(#"{"reason":"bored"}"#.utf8)))
        #expect(ends(driver) == [.expired, .wrongTries, .keyChanged, .notPermitted, .other])
    }

    @Test("[AC20] a code is not shown by what is printed of it")
    func secrets() {
        let credential = Credential.joinCode("QPFDKW")
        var text = ""
        dump(credential, to: &text)
        #expect(!"\(credential) \(text)".contains("QPFDKW"))
    }
}
