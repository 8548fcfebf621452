import RelayCore
import RelayRights
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// Many changes of one board, all of them or none. [BL11]
@Suite struct ChangeSetTests {
    private func driver(_ change: (inout Configuration) -> Void = { _ in }, access: AccessRules? = nil) -> HubDriver {
        var configuration = Configuration()
        configuration.isJournaled = true
        configuration.limits.messagesPerSecond = 1_000_000
        change(&configuration)
        let driver = access.map { HubDriver(configuration: configuration, access: $0) } ?? HubDriver(configuration: configuration)
        driver.hub.restored(lastSequence: 0, at: driver.now)
        _ = driver.hub.takeEffects()
        return driver
    }

    private func client(_ driver: HubDriver, _ user: String, resume: String? = nil) -> TestClient {
        TestClient(driver, user, instance: user == "alice" ? "00000000000000aa" : "00000000000000bb", resume: resume)
    }

    /// `a=1` … for so many keys.
    private func many(_ keys: Range<Int>, _ payload: String = "x") -> [String] { keys.map { "k\($0)=\(payload)" } }

    private func readAll(_ driver: HubDriver, _ user: String = "reader") -> [String] {
        let reader = TestClient(driver, user, instance: "00000000000000ee")
        reader.subscribe("lesson", features: ["messages"], since: .beginning)
        return reader.board()
    }

    // MARK: - What it does

    @Test("[BL11, HI7] changes take consecutive offsets in their order; accepted and stored name the last; live readers catch up with them")
    func order() {
        let driver = driver(), alice = client(driver, "alice"), bob = client(driver, "bob")
        alice.subscribe("lesson", features: ["messages"])
        bob.subscribe("lesson", features: ["messages"])
        alice.retain("lesson", "old", Array("1".utf8))
        driver.persist()
        _ = (alice.board(), bob.board())
        alice.changes("lesson", ["a=1", "old", "b=2", "a=3"])
        #expect(alice.board() == ["accepted 2 at 5", "catchingUp 1"])
        #expect(bob.board() == ["catchingUp 1"])
        alice.publish("lesson", Array("behind".utf8))
        driver.persist()
        #expect(alice.board() == ["accepted 3 at 6", "stored 2 at 5", "caughtUp 6"])
        #expect(bob.board() == ["3 old gone", "4 b=2", "5 a=3", "6 behind", "caughtUp 6"])
        #expect(driver.hub.census().boardRecords == 2 && driver.hub.census().counters.messagesAccepted == 6)
    }

    @Test("[BL11] parts before the last are answered with offset 0 and shown to nobody; the last one makes all changes")
    func parts() {
        let driver = driver(), alice = client(driver, "alice"), bob = client(driver, "bob")
        bob.subscribe("lesson", features: ["messages"])
        alice.changes("lesson", ["a=1"], part: (1, 3))
        alice.retain("lesson", "c", Array("4".utf8))
        alice.changes("lesson", ["b=2"], part: (2, 3))
        driver.persist()
        #expect(alice.board() == ["accepted 1 at 0", "accepted 2 at 1", "accepted 3 at 0", "stored 2 at 1"])
        #expect(bob.board() == ["1 c=4"])
        alice.changes("lesson", ["c"], part: (3, 3))
        driver.persist()
        #expect(alice.board() == ["accepted 4 at 4", "stored 4 at 4"])
        #expect(bob.board() == ["catchingUp 1", "2 a=1", "3 b=2", "4 c gone", "caughtUp 4"])
        #expect(driver.hub.stagedBytes == 0)
    }

    @Test("[BL11, DL10] each change that is carried out counts as a frame, those of earlier parts when the last one comes")
    func work() {
        let driver = driver(), alice = client(driver, "alice")
        func frames(_ body: () -> Void) -> UInt64 {
            let before = driver.hub.framesHandled
            body()
            return driver.hub.framesHandled - before
        }
        #expect(frames { alice.changes("lesson", many(0..<64), part: (1, 2)) } == 1)
        #expect(frames { alice.changes("lesson", many(64..<100), part: (2, 2)) } == 1 + 100)
    }

    @Test("[DL12] sets that come together are carried out in turns, those of one connection in order; what others send passes them")
    func turns() {
        let driver = driver(), writers = (0..<4).map { client(driver, "writer-\($0)") }, witness = client(driver, "witness")
        driver.offers = false
        for writer in writers { for _ in 1...8 { writer.changes("lesson", many(0..<64)) } }
        var accepted = writers.map { _ in [String]() }
        func take() {
            for (index, writer) in writers.enumerated() { accepted[index] += writer.board().filter { $0.hasPrefix("accepted") } }
        }
        take()
        // A turn's 128 KiB are 8 sets, of one connection 4.
        #expect(accepted.map(\.count) == [4, 4, 0, 0])
        witness.publish("lesson", [1])
        #expect(witness.board() == ["accepted 1 at 513"])
        var turns = 0
        while accepted.contains(where: { $0.count < 8 }), turns < 10 {
            driver.nextTurn()
            turns += 1
            take()
        }
        #expect(turns <= 4 && driver.hub.bytesHeld == 0)
        for one in accepted { #expect(one.map { $0.prefix(10) } == (1...8).map { "accepted \($0)" }) }
    }

    @Test("[DL12] where too many bytes wait already a set is busy in place of waiting")
    func busy() {
        let driver = driver { $0.heldBytesMax = 1 }, alice = client(driver, "alice"), ben = client(driver, "ben")
        driver.offers = false
        for writer in [alice, ben] { for _ in 1...5 { writer.changes("lesson", many(0..<64)) } }
        #expect(alice.board().filter { $0.hasPrefix("accepted") }.count == 4, "the fifth waits")
        #expect(ben.board().contains("error 5 busy") && driver.hub.bytesHeld > 0)
    }

    @Test("[BL11, FR9] a record keeps the extensions, the custom type and the text flag of its change")
    func form() throws {
        let driver = driver(), alice = client(driver, "alice"), bob = client(driver, "bob")
        let block: [UInt8] = [0, 5, 0, 7, 0, 1, 9]
        let body: [UInt8] = [FrameFlags([.customType, .extensions]).rawValue] + block + [1, 0x74, 1, 0x61, 0xFF]
        alice.number += 1
        let changes = [0, 0, 0, UInt8(body.count)] + body
        driver.send(.publishChanges(number: 1, channel: "lesson", part: (1, 1), changes: changes), from: alice.id)
        driver.persist()
        bob.subscribe("lesson", features: ["messages"], since: .beginning)
        let frame = try #require(bob.takeOthers(.deliver).first)
        #expect(frame.flags == FrameFlags([.customType, .key, .retain, .extensions]).rawValue)
        #expect(frame.body.starts(with: block) && frame.body.suffix(5) == [1, 0x74, 1, 0x61, 0xFF])
    }

    @Test("[BL11, BL5] after a crash all of it is there or nothing is", arguments: [false, true])
    func crash(isDurable: Bool) {
        let first = driver(), alice = client(first, "alice")
        alice.retain("lesson", "a", Array("1".utf8))
        first.persist()
        alice.changes("lesson", many(0..<50), part: (1, 2))
        alice.changes("lesson", ["a"] + many(50..<100), part: (2, 2))
        if isDurable { first.persist() }
        let second = first.restarted(start: 1_800_000_100)
        let told = readAll(second)
        #expect(told.count == (isDurable ? 101 : 2) && told.first == (isDurable ? "2 k0=x" : "1 a=1"))
        // What was not told stored is sent again, alone: the relay says what has become of it.
        let back = client(second, "alice")
        back.number = 2
        back.changes("lesson", ["a"] + many(50..<100), part: (2, 2))
        #expect(back.board() == (isDurable ? ["accepted 3 at 102", "stored 3 at 102"] : ["error 3 partMissing"]))
    }

    @Test("[BL11, BL2] what cannot be stored is told by notStored, and readers begin anew without any of it")
    func notStored() {
        let driver = driver(), alice = client(driver, "alice"), bob = client(driver, "bob")
        bob.subscribe("lesson", features: ["messages"])
        alice.retain("lesson", "a", Array("1".utf8))
        driver.persist()
        _ = (alice.board(), bob.board())
        alice.changes("lesson", ["a", "b=2"])
        driver.failStorage()
        #expect(alice.board() == ["accepted 2 at 3", "notStored 2 storageFailed"])
        #expect(bob.board() == ["catchingUp 1", "reset 3", "1 a=1", "caughtUp 3"])
        #expect(driver.hub.census().boardRecords == 1)
    }

    // MARK: - What is refused

    @Test("[BL11, ER1] a refusal names the first change that is wrong, and nothing has changed")
    func refusals() {
        let driver = driver { $0.limits.messageBytesMax = 10; $0.limits.largeMessageBytesMax = 25; $0.boardBytesMax = 67 * 3 }
        let alice = client(driver, "alice")
        alice.changes("lesson", ["a=1", "b/c=2"])
        alice.changes("lesson", ["a=1", "b=12345678901"])
        alice.changes("lesson", ["a=123456", "b=12345"])
        alice.changes("a/b", ["a=1"])
        alice.changes("lesson", [])
        alice.changes("lesson", many(0..<65, ""))
        alice.changes("lesson", ["a=1", "b=2", "c=3", "d=4"])
        #expect(
            alice.board() == [
                "error 1 badName at 2", "error 2 tooLarge at 2", "error 3 tooLarge", "error 4 badName", "error 5 badRequest",
                "error 6 limitReached", "error 7 boardFull at 4",
            ])
        for part in 1...3 { alice.changes("lesson", ["a=123456789"], part: (UInt16(part), 3)) }
        #expect(alice.board() == ["accepted 8 at 0", "accepted 9 at 0", "error 10 tooLarge"])
        #expect(driver.hub.census().boards == 0)
        let few = self.driver { $0.boardRecordsMax = 2 }, bob = client(few, "bob")
        bob.changes("lesson", ["a=1", "b", "c=3", "d=4"])
        bob.changes("lesson", ["a=1", "b", "c=3"])
        #expect(bob.board() == ["error 1 boardFull at 4", "accepted 2 at 3"])
    }

    @Test("[BL11] 4,096 changes are taken and one more is not")
    func count() {
        let driver = driver(), alice = client(driver, "alice")
        for part in 1...64 { alice.changes("lesson", many((part * 64)..<(part * 64 + 64)), part: (UInt16(part), 65)) }
        _ = alice.board()
        alice.changes("lesson", ["one=more"], part: (65, 65))
        #expect(alice.board() == ["error 65 limitReached"])
        for part in 1...64 { alice.changes("lesson", many((part * 64)..<(part * 64 + 64)), part: (UInt16(part), 64)) }
        driver.persist()
        #expect(alice.board().suffix(2) == ["accepted 129 at 4096", "stored 129 at 4096"])
        #expect(driver.hub.census().boardRecords == 4_096)
    }

    @Test("[BL11, FR7] a part whose bytes end inside a field is badRequest with its number")
    func truncated() {
        let driver = driver(), alice = client(driver, "alice")
        var change: [UInt8] = []
        change.append(change: "key", customType: "type", isText: false, payload: [1, 2, 3])
        let whole = Frame.publishChanges(number: 1, channel: "lesson", part: (1, 1), changes: change)
        for length in 8..<whole.body.count where length != whole.body.count - change.count {
            driver.send(Frame(.publishChanges, body: Array(whole.body.prefix(length))), from: alice.id)
            #expect(alice.board() == ["error 1 badRequest" + (length > whole.body.count - change.count ? " at 1" : "")], "\(length)")
        }
        for (part, parts) in [(0, 1), (2, 1), (0, 0)] as [(UInt16, UInt16)] {
            driver.send(.publishChanges(number: 1, channel: "lesson", part: (part, parts), changes: change), from: alice.id)
            #expect(alice.board() == ["error 1 badRequest"])
        }
        driver.send(Frame(.publishChanges, flags: .text, body: whole.body), from: alice.id)
        #expect(alice.board() == ["error 1 badRequest"])
        driver.send(whole, from: alice.id)
        #expect(alice.board().first == "accepted 1 at 1")
    }

    @Test(
        "[BL11] a part that does not follow is partMissing; part 1 begins anew; 30 s after the one before, and in another session, none is"
    )
    func missing() {
        let driver = driver(), alice = client(driver, "alice")
        alice.changes("lesson", ["a=1"], part: (2, 2))
        alice.changes("lesson", ["a=1"], part: (1, 3))
        alice.changes("lesson", ["a=1"], part: (3, 3))
        alice.changes("lesson", ["a=1"], part: (2, 2))
        alice.changes("other", ["a=1"], part: (2, 3))
        #expect(
            alice.board() == ["error 1 partMissing", "accepted 2 at 0"] + (3...5).map { "error \($0) partMissing" })
        alice.changes("lesson", ["b=2"], part: (1, 2))
        #expect(driver.hub.census().counters.changeSetsEnded == 1)
        for _ in 0..<15 {
            driver.send(Frame(.ping), from: alice.id)
            driver.advance(.milliseconds(2_000))
        }
        alice.changes("lesson", ["c=3"], part: (2, 2))
        driver.persist()
        #expect(alice.board().suffix(2) == ["accepted 7 at 2", "stored 7 at 2"])
        alice.changes("lesson", ["b=2"], part: (1, 2))
        for _ in 0..<16 {
            driver.send(Frame(.ping), from: alice.id)
            driver.advance(.milliseconds(2_000))
        }
        #expect(driver.hub.stagedBytes == 0 && driver.hub.census().counters.changeSetsEnded == 2)
        alice.changes("lesson", ["b=2"], part: (1, 2))
        _ = alice.board()
        alice.request(.logout) { EmptyRequest(id: $0) }
        #expect(driver.hub.stagedBytes == 0 && driver.hub.census().counters.changeSetsEnded == 3)
        let again = client(driver, "alice")
        again.number = alice.number
        again.changes("lesson", ["c=3"], part: (2, 2))
        #expect(again.board() == ["error \(again.number) partMissing"])
    }

    @Test("[BL11, MS9] a part that is sent again on the next connection is answered as it was, and the set goes on")
    func resumed() throws {
        let driver = driver(), alice = client(driver, "alice")
        alice.changes("lesson", ["a=1"], part: (1, 2))
        let token = try #require(alice.welcome?.resumeToken)
        driver.cut(alice.id)
        let back = client(driver, "alice", resume: token)
        back.changes("lesson", ["a=1"], part: (1, 2))
        back.changes("lesson", ["b=2"], part: (2, 2))
        back.number -= 1
        back.changes("lesson", ["b=2"], part: (2, 2))
        driver.persist()
        #expect(back.board() == ["accepted 1 at 0", "accepted 2 at 2", "accepted 2 at 2", "stored 2 at 2"])
        #expect(readAll(driver) == ["1 a=1", "2 b=2", "caughtUp 2"])
    }

    // MARK: - Whose records

    /// A relay on whose board `a` is anna's, of which nothing is in memory.
    private func withAuthors(keysMax: Int) -> HubDriver {
        let first = driver({ $0.boardAuthorKeysMax = keysMax }, access: TestAccess.rules)
        editor(first, "anna", run: 0).changes("lesson", ["a=1", "b=1", "c=1"])
        first.persist()
        let driver = first.restarted(start: 1_800_000_100)
        driver.holdsFiles = true
        return driver
    }

    private func editor(_ driver: HubDriver, _ user: String, _ role: Role = .editor, run: Int = 1) -> TestClient {
        TestClient(
            driver, user, instance: "0000000000000\(run)" + user.prefix(1).utf8.map { String($0, radix: 16) }.joined(),
            secret: TestAccess.secret(of: user), key: TestAccess.key(role))
    }

    @Test(
        "[BL11, BL10] of a set that touches what another wrote nothing is made, and the refusal names the change; it waits for the file once, however many keys it has",
        arguments: [0, 20_000])
    func authors(keysMax: Int) {
        let driver = withAuthors(keysMax: keysMax), ben = editor(driver, "ben"), coeditor = editor(driver, "coeditor", .coeditor)
        ben.changes("lesson", many(0..<20) + ["b=ben's"] + many(20..<40))
        ben.changes("lesson", many(0..<40))
        ben.publish("lesson", [1])
        #expect(ben.frames().isEmpty && driver.isPaused(ben.id))
        driver.readFiles(now: true)
        driver.readFiles(now: true)
        #expect(ben.board() == ["error 1 notPermitted at 21", "accepted 2 at 43", "accepted 3 at 44"])
        #expect(driver.authorQuestions <= 2, "asked \(driver.authorQuestions) times")
        #expect(driver.hub.waitersJudged <= 3, "judged anew \(driver.hub.waitersJudged) times")
        driver.holdsFiles = false
        coeditor.changes("lesson", ["a", "b=2"])
        driver.persist()
        #expect(coeditor.board() == ["accepted 1 at 46", "stored 1 at 46"])
    }

    @Test("[BL11, AC7] what counts is what the session may at the last part, whose record it is by then")
    func authorsMeanwhile() {
        let driver = withAuthors(keysMax: 20_000), ben = editor(driver, "ben"), anna = editor(driver, "anna")
        driver.holdsFiles = false
        ben.changes("lesson", ["new=ben's"], part: (1, 2))
        anna.changes("lesson", ["new=anna's"])
        ben.changes("lesson", ["other=ben's"], part: (2, 2))
        driver.persist()
        driver.readFiles(now: true)
        driver.persist()
        #expect(ben.board() == ["accepted 1 at 0", "error 2 notPermitted at 1"])
        #expect(anna.board().contains("stored 1 at 4"))
    }

    // MARK: - What it costs

    @Test("[BL11, RT1, RT2] each part costs one message of the rate; one that is refused for it follows when it is sent again")
    func rate() {
        let driver = driver { $0.limits.messagesPerSecond = 2 }
        let alice = client(driver, "alice")
        for part in 1...3 { alice.changes("lesson", ["a=\(part)"], part: (UInt16(part), 3)) }
        #expect(alice.board() == ["accepted 1 at 0", "accepted 2 at 0", "error 3 rateLimited"])
        driver.advance(.milliseconds(500))
        alice.number -= 1
        alice.changes("lesson", ["a=3"], part: (3, 3))
        #expect(alice.board() == ["accepted 3 at 3"])
    }

    @Test("[BL11] what waits for last parts is bounded for all clients together: busy at one byte more, and the set can go on")
    func staged() {
        let driver = driver { $0.stagedBytesMax = 3 * 72 }
        let alice = client(driver, "alice"), bob = client(driver, "bob")
        // Each change has 4 bytes of length, flags, a length and a key of a byte each, and a payload of a byte; a part takes 64 besides.
        alice.changes("lesson", ["a=1"], part: (1, 3))
        bob.changes("lesson", ["b=1"], part: (1, 2))
        alice.changes("lesson", ["a=2"], part: (2, 3))
        #expect(driver.hub.stagedBytes == 3 * 72 && driver.hub.census().stagedBytes == 3 * 72)
        bob.changes("other", ["c=1", "d=1"], part: (1, 2))
        #expect(bob.board() == ["accepted 1 at 0", "error 2 busy"])
        bob.changes("lesson", ["b=2"], part: (2, 2))
        bob.changes("other", ["c=1"], part: (1, 2))
        #expect(bob.board() == ["accepted 3 at 2", "accepted 4 at 0"])
        alice.changes("lesson", ["a=3"], part: (3, 3))
        #expect(alice.board().last == "accepted 3 at 5" && driver.hub.stagedBytes == 72)

        let other = self.driver { $0.stagedBytesMax = 16 * 72 }
        let pupils = (0..<16).map { TestClient(other, "pupil-\($0)", from: .ipv4(1)) }
        for pupil in pupils { pupil.changes("lesson", ["a=1"], part: (1, 2)) }
        #expect(pupils.map { $0.board()[0] == "accepted 1 at 0" } == (0..<16).map { $0 < 12 }, "an address leaves a quarter")
        let guest = TestClient(other, "guest", from: .ipv4(2))
        guest.changes("lesson", ["a=1", "b=1", "c=1", "d=1"], part: (1, 2))
        #expect(guest.board() == ["accepted 1 at 0"])
    }
}
