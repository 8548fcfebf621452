@testable import RelayClientCore
import RelayPrimitives
import RelayWire
import Testing

/// Several devices of one user, as each of them sees it.
@Suite struct SeveralDevicesTests {
    private static let told = String(repeating: "ef", count: 16)

    private func comeBack(_ driver: MachineDriver, resumed: Bool = false) {
        driver.cut()
        driver.pass(.seconds(1))
        driver.open()
        driver.logIn(resumed: resumed)
    }

    private func offer(_ driver: MachineDriver) throws -> ClientToken {
        let token = driver.token()
        try driver.machine.offerDevice(token: token, at: driver.now)
        return token
    }

    private func asked(_ driver: MachineDriver) throws -> OfferDeviceRequest {
        MachineDriver.decode(OfferDeviceRequest.self, try #require(driver.sent(.offerDevice).first))
    }

    @Test("[SE8] each login says which device it is, and whether it is to be the only one", arguments: [false, true])
    func login(isOnly: Bool) {
        let driver = MachineDriver {
            $0.device = "00000000000000dd"
            $0.onlyDevice = isOnly
        }
        driver.logIn()
        for _ in 0..<2 {
            #expect(driver.lastLogin?.device == "00000000000000dd" && driver.lastLogin?.onlyDevice == (isOnly ? true : nil))
            comeBack(driver)
        }
    }

    @Test("[AC17] who comes with a code says nothing else, is told user and secret, and comes back with these; its numbers go on")
    func code() throws {
        let driver = MachineDriver {
            $0.identity = .code("3J7X Q0M9 TZ")
            $0.credential = .token("another user's")
        }
        driver.logIn(secret: Self.told)
        let first = try #require(driver.lastLogin)
        #expect(first.code == "3J7X Q0M9 TZ" && first.user == nil && first.secret == nil && first.token == nil && first.resume == nil)
        #expect(driver.machine.identity.user?.text == "alice" && driver.machine.identity.secret == Self.told)
        try driver.subscribe()
        try driver.send("one")
        _ = driver.sent()
        comeBack(driver)
        let second = try #require(driver.lastLogin)
        #expect(second.code == nil && second.user?.text == "alice" && second.secret == Self.told && second.token == "another user's")
        #expect(second.instance == first.instance && second.lastNumber == 1 && second.resume != nil)
    }

    @Test("[AC17] with a code goes a key; one that is wrong ends the client with its code")
    func wrongCode() throws {
        let driver = MachineDriver {
            $0.identity = .code("0000000000")
            $0.credential = .key("the key")
        }
        driver.connect()
        let login = MachineDriver.decode(LoginRequest.self, try #require(driver.sent(.login).first))
        #expect(login.key == "the key")
        driver.feed(.json(.error, ErrorBody(WireError(.codeWrong, "no"), id: login.id)))
        #expect(throws: RelayError(.codeWrong, "no")) { try driver.completed[1]?.get() }
        #expect(driver.machine.isClosed)
    }

    @Test("[AC17] an offer shows the secret of the login; without an answer it is asked again, for nobody was told the code")
    func offer() throws {
        let driver = MachineDriver()
        driver.logIn()
        let token = try offer(driver)
        #expect(try asked(driver).secret == String(repeating: "01", count: 16))
        comeBack(driver)
        let again = try asked(driver)
        driver.feed(.json(.answer, OfferDeviceAnswer(id: again.id, code: "3J7XQ0M9TZ", validMs: 120_000)))
        #expect(try driver.completed[token]?.get() == .code(OfferedCode(code: "3J7XQ0M9TZ", validFor: .seconds(120))))

        let refused = try offer(driver)
        driver.feed(.json(.error, ErrorBody(WireError(.notPermitted, "no"), id: try asked(driver).id)))
        #expect(throws: RelayError(.notPermitted, "no")) { try driver.completed[refused]?.get() }
    }

    @Test("[SE8, ST9] two devices of a user in one topic are two flows: both are heard, and the end of one leaves the other")
    func flows() throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.joinTopic()
        driver.feed(MachineDriver.flowOpened(60, device: "00000000000000b1"))
        driver.feed(MachineDriver.flowOpened(61, device: "00000000000000b2"))
        driver.feed(MachineDriver.packet(flow: 60, 1))
        driver.feed(MachineDriver.packet(flow: 61, 1))
        driver.feed(.json(.flowClosed, FlowClosed(flow: 60, last: 1)))
        driver.feed(MachineDriver.packet(flow: 60, 2))
        driver.feed(MachineDriver.packet(flow: 61, 2))
        let heard = driver.events().compactMap { event -> String? in
            guard case .packet(let packet) = event else { return nil }
            return "\(packet.publisher) \(packet.device.suffix(2)) \(packet.flow) \(packet.sequence)"
        }
        #expect(heard == ["bob b1 60 1", "bob b2 61 1", "bob b2 61 2"])
    }

    @Test("[ST13, SE9] packets of the user's other device are lost with a link as anybody's; one's own were never to come")
    func ownUser() throws {
        let driver = MachineDriver { $0.device = "00000000000000aa" }
        driver.logIn()
        try driver.joinTopic()
        driver.feed(MachineDriver.flowOpened(60, user: "alice", device: "00000000000000aa"))
        driver.feed(MachineDriver.flowOpened(61, user: "alice", device: "00000000000000ab"))
        _ = driver.events()
        comeBack(driver)
        let lost = driver.events().compactMap { event -> [PacketsLost.Entry]? in
            if case .packetsLost(let lost) = event { lost.entries } else { nil }
        }
        #expect(lost.flatMap { $0 }.map { "\($0.publisher) \($0.device.suffix(2)) \($0.flow)" } == ["alice ab 61"])
    }

    @Test("[SE8] who publishes, and who held a lock, is told with the device; a lock is revoked from one device, or from any")
    func told() throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.joinTopic()
        let bob = try Name("bob"), pen = try Name("pen"), device = "00000000000000b1"
        driver.feed(
            .json(
                .topics,
                TopicsEvent(
                    channel: 11, event: .publisherLeft,
                    publishers: [TopicPublisher(topic: try Name("points"), user: bob, device: device, meta: "")])))
        let released = LocksEvent(channel: 11, event: .released, locks: [LockDetail(lock: pen.text)], user: bob, device: device)
        driver.feed(.json(.locks, released))
        for event in driver.events() {
            if case .topics(let change) = event { #expect(change.kind == .left && change.publishers.map(\.device) == [device]) }
            if case .locks(let change) = event { #expect(change.formerOwner == "bob" && change.formerOwnerDevice == device) }
        }
        let lock = LockID(channel: ChannelID(kind: .stream, channel: try Name("lesson")), name: pen)
        for named in [device, nil] {
            try driver.ask(.revokeLock(lock, owner: bob, device: named))
            let request = MachineDriver.decode(LockRequest.self, try #require(driver.sent(.revokeLock).first))
            #expect(request.owner == bob && request.ownerDevice == named)
        }
    }
}
