@testable import RelayClientCore
import RelayWire
import Testing

/// Change sets on their way to the relay, and as they come. [BL11]
@Suite struct ClientChangeSetTests {
    private func scene(_ change: (inout ServerLimits) -> Void = { _ in }) -> MachineDriver {
        let driver = MachineDriver()
        driver.logIn(change)
        _ = driver.sent()
        return driver
    }

    private func changes(_ count: Int, _ payload: String = "x") -> [RecordChange] {
        (0..<count).map { RecordChange(key: "k\($0)", payload: .text(payload)) }
    }

    /// `1:1/2 64` of each part: number, part and how many changes it has.
    private func parts(_ driver: MachineDriver) throws -> [String] {
        try driver.sent(.publishChanges).map { frame in
            try frame.body.withUnsafeBytes { body in
                let part = try PublishChangesFrame(flags: frame.flags, body: body)
                var (rest, count) = (part.changes, 0)
                while !rest.isEmpty {
                    _ = try EncodedChange.take(from: &rest)
                    count += 1
                }
                return "\(part.number):\(part.part)/\(part.parts) \(count)"
            }
        }
    }

    private func error(_ body: () throws -> Void) -> RelayError? {
        do {
            try body()
            return nil
        } catch {
            return error as? RelayError
        }
    }

    @Test("[BL11] a part has at most 64 changes, and the bytes of one message; the last part is what settles the receipt")
    func cut() throws {
        let driver = scene { $0.messageBytesMax = 10 }
        let many = try driver.change(changes(130))
        #expect(try parts(driver) == (1...13).map { "\($0):\($0)/13 10" })
        for number in 1...12 { driver.feed(MachineDriver.accepted(UInt64(number), offset: 0)) }
        #expect(driver.outcome(many.accepted) == nil)
        driver.feed(MachineDriver.accepted(13, offset: 130))
        #expect(driver.outcome(many.accepted) == "+130" && driver.outcome(many.stored) == nil)
        driver.feed(MachineDriver.stored(13, offset: 130))
        #expect(driver.outcome(many.stored) == "+130" && driver.machine.drawings.isEmpty)
        let wide = scene()
        try wide.change(changes(64) + [RecordChange(removing: "gone"), RecordChange(key: "k", payload: .bytes([1]), customType: "t")])
        #expect(try parts(wide) == ["1:1/2 64", "2:2/2 2"])
    }

    @Test("[BL11] what cannot be a change set is refused before anything is sent, with the change that is wrong")
    func refused() throws {
        let driver = scene { $0.messageBytesMax = 4; $0.largeMessageBytesMax = 8 }
        let cases: [([RecordChange], ErrorCode, Int?)] = [
            ([], .badRequest, nil), (changes(4_097), .limitReached, nil), (changes(9), .tooLarge, nil),
            (changes(1) + [RecordChange(key: "a/b", payload: .text("x"))], .badName, 1),
            (changes(2) + [RecordChange(key: "a", payload: .text(""))], .badRequest, 2),
            ([RecordChange(key: "a", payload: .text("12345"))], .tooLarge, 0),
            ([RecordChange(key: "a", payload: .text("1"), customType: "")], .tooLarge, 0),
        ]
        for (changes, code, index) in cases {
            let error = error { try driver.change(changes) }
            #expect(error?.code == code && error?.changeIndex == index, "\(changes.prefix(3))")
        }
        #expect(try parts(driver).isEmpty && driver.machine.drawings.isEmpty)
    }

    @Test("[BL11, ER1] a refusal of the relay tells which change it means")
    func relayRefuses() throws {
        let driver = scene()
        let set = try driver.change(changes(3))
        let refusal = WireError(WireError(.notPermitted, "no"), change: 2)
        driver.feed(.json(.error, ErrorBody(refusal, number: 1)))
        guard case .failure(let error)? = driver.completed[set.stored] else {
            Issue.record("nothing became of it")
            return
        }
        #expect(error.code == .notPermitted && error.changeIndex == 1)
    }

    @Test("[BL11] messages with one of its keys wait until it is accepted, others go before; two change sets leave one behind the other")
    func order() throws {
        let driver = scene { $0.messagesPerSecond = 4 }
        try driver.change(changes(200), to: "lesson")
        try driver.change(changes(1), to: "other")
        try driver.retain("later", key: "k7")
        try driver.retain("sooner", key: "other")
        #expect(try parts(driver) == ["1:1/4 64", "2:2/4 64", "3:3/4 64"])
        #expect(driver.published().isEmpty, "the one in front waits")
        for number in 1...3 { driver.feed(MachineDriver.accepted(UInt64(number), offset: 0)) }
        driver.pass(.seconds(2))
        #expect(try parts(driver) == ["4:4/4 8", "5:1/1 1"])
        driver.feed(MachineDriver.accepted(4, offset: 200))
        #expect(driver.published().map(\.text) == ["later", "sooner"])
    }

    @Test("[BL11, MS9] after a break parts that were sent are asked again, and the set goes on; a relay started anew gets it from part 1")
    func broken() throws {
        let driver = scene()
        let set = try driver.change(changes(200))
        #expect(try parts(driver).count == 4)
        driver.feed(MachineDriver.accepted(1, offset: 0))
        driver.comeBack(resumed: true)
        #expect(try parts(driver) == ["2:2/4 64", "3:3/4 64", "4:4/4 8"])
        driver.comeBack(resumed: false, start: 2_000, forgotten: true)
        #expect(try parts(driver) == ["4:4/4 8"], "the relay knows the last part if it is durable")
        driver.feed(MachineDriver.refused(4, .partMissing))
        #expect(try parts(driver) == ["5:1/4 64", "6:2/4 64", "7:3/4 64", "8:4/4 8"])
        driver.feed(MachineDriver.accepted(8, offset: 200))
        driver.feed(MachineDriver.stored(8, offset: 200))
        #expect(driver.outcome(set.stored) == "+200")
    }

    // MARK: - As it comes

    private func live() throws -> MachineDriver {
        let driver = scene()
        try driver.subscribe(head: 5)
        driver.feed(MachineDriver.userNamed(2, "bob"))
        _ = driver.events()
        return driver
    }

    @Test("[HI7, BL11] records that a live reader catches up with are told together when all have come, whatever comes meanwhile")
    func together() throws {
        let driver = try live()
        driver.feed([MachineDriver.catchingUp(after: 5), MachineDriver.record(6, key: "a", "1")])
        driver.feed(MachineDriver.record(7, key: "b", "2"))
        #expect(driver.events().isEmpty)
        driver.feed(MachineDriver.caughtUp(7))
        guard case .board(let batch)? = driver.events().first else {
            Issue.record("no board event")
            return
        }
        #expect(batch.messages.map(\.offset) == [6, 7] && batch.progress == 1 && driver.position == 7)
        driver.feed([
            MachineDriver.catchingUp(after: 7), MachineDriver.record(8, key: "a", "3"), MachineDriver.record(9, key: "b", "4"),
            MachineDriver.record(10, "plain", retain: false), MachineDriver.cleared(11), MachineDriver.caughtUp(11),
        ])
        #expect(driver.events().words == ["[8r 9r]", "10", "cleared 11 bob"])
    }

    @Test("[HI7, SE9] what was not told when the link ended was not seen: it comes again")
    func brokenReader() throws {
        let driver = try live()
        driver.feed([MachineDriver.catchingUp(after: 5), MachineDriver.record(8, key: "a", "1"), MachineDriver.record(9, key: "b", "2")])
        driver.cut()
        #expect(driver.position == 7)
    }
}
