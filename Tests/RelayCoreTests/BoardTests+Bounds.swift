import RelayCore
import RelayStorage
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// Bounds of boards, and drawings in parts.
extension BoardTests {
    // MARK: - Bounds

    @Test(
        "[BL7] a board, all boards, and what one user has are bounded to the byte; removals are always taken; a board that exists keeps room to go on"
    )
    func bounds() {
        let one = driver { $0.boardBytesMax = 2 * 66 }
        let alice = client(one, "alice")
        for key in ["a", "b", "c"] { alice.retain("lesson", key, [1]) }
        alice.retain("lesson", "a", [])
        one.persist()
        alice.retain("lesson", "c", [1])
        #expect(
            alice.board() == [
                "accepted 1 at 1", "accepted 2 at 2", "error 3 boardFull", "accepted 4 at 3", "stored 1 at 1", "stored 2 at 2",
                "stored 4 at 3", "accepted 5 at 4",
            ])

        let few = driver { $0.boardRecordsMax = 2 }
        let dora = client(few, "dora")
        for key in ["a", "b", "c"] { dora.retain("lesson", key, [1]) }
        dora.retain("lesson", "a", [])
        few.persist()
        dora.retain("lesson", "c", [1])
        #expect(
            dora.board().filter { !$0.hasPrefix("stored") }
                == ["accepted 1 at 1", "accepted 2 at 2", "error 3 boardFull", "accepted 4 at 3", "accepted 5 at 4"])

        let quota = driver { $0.boardBytesTotalMax = 4 * 3 * 66 }
        let bob = client(quota, "bob"), carol = client(quota, "carol")
        for key in ["a", "b", "c", "d"] { bob.retain("lesson", key, [1]) }
        carol.retain("lesson", "e", [1])
        #expect(bob.board().last == "error 4 quotaReached" && carol.board() == ["accepted 1 at 4"])

        let full = driver { $0.boardBytesTotalMax = 16 * 66 }
        for (index, user) in ["u1", "u2", "u3", "u4"].enumerated() {
            let client = TestClient(full, user, instance: "000000000000000\(index)")
            for key in 0..<(index == 3 ? 3 : 4) { client.retain("lesson", String(UnicodeScalar(UInt8(65 + 4 * index + key))), [1]) }
            #expect(!client.board().contains { $0.hasPrefix("error") })
        }
        let late = TestClient(full, "u4", instance: "0000000000000003")
        late.number = 10
        late.retain("new", "k", [1])
        late.retain("lesson", "k", [1])
        let last = TestClient(full, "u5", instance: "0000000000000005")
        last.retain("lesson", "l", [1])
        #expect(late.board() == ["error 11 storageFull", "accepted 12 at 16"] && last.board() == ["error 1 storageFull"])
    }

    @Test("[BL7] one address leaves others the last quarter of all bytes, whatever its user ids; what users have counts where they write")
    func bytesOfAnAddress() {
        let driver = driver { $0.boardBytesTotalMax = 16 * 66 }
        func fill(_ user: String, _ keys: Range<UInt8>, from address: AddressKey) -> [String] {
            let client = TestClient(driver, user, instance: "00000000000000\(user)", from: address)
            client.number = UInt64(keys.lowerBound)
            for key in keys { client.retain("lesson", String(UnicodeScalar(65 + key)), [1]) }
            driver.persist()
            return client.board().filter { $0.hasPrefix("error") }
        }
        for (number, user) in ["01", "02", "03"].enumerated() {
            #expect(fill(user, UInt8(4 * number)..<UInt8(4 * number + 4), from: .ipv4(1)) == [])
        }
        #expect(fill("04", 12..<13, from: .ipv4(1)) == ["error 13 storageFull"], "three quarters are its")
        #expect(fill("05", 12..<15, from: .ipv4(2)) == [], "the last one is others'")
        #expect(fill("05", 15..<16, from: .ipv4(1)) == ["error 16 storageFull"], "with what it has it has moved there")
        #expect(fill("05", 15..<16, from: .ipv4(2)) == [], "but not by what was refused")
    }

    @Test("[BL7] one address leaves others places for boards")
    func boardsOfAnAddress() {
        let driver = driver { $0.boardsMax = 8 }
        let mallory = TestClient(driver, "mallory", from: .ipv4(1))
        for number in 0..<6 { mallory.retain("trash-\(number)", "k", [1]) }
        let refused = mallory.board().filter { $0.hasPrefix("error") }
        #expect(refused.count == 4 && refused.allSatisfy { $0.hasSuffix("relayFull") } && driver.hub.census().boards == 2)
        let alice = TestClient(driver, "alice", from: .ipv4(2))
        alice.retain("lesson", "k", [1])
        #expect(alice.board() == ["accepted 1 at 1"])
    }

    @Test(
        "[BL7] the first record of a board is bounded as any other, and a refused one begins no board",
        arguments: [(66, true), (67, false)])
    func first(bytes: Int, fits: Bool) {
        let driver = driver { $0.boardBytesMax = 66 }
        let alice = client(driver, "alice")
        alice.retain("lesson", "a", [UInt8](repeating: 1, count: bytes - 65))
        #expect(alice.board() == (fits ? ["accepted 1 at 1"] : ["error 1 boardFull"]))
        #expect(driver.hub.census().boards == (fits ? 1 : 0))
    }

    @Test("[BL7] a user begins 20 boards an hour")
    func newBoards() {
        let driver = driver(), alice = client(driver, "alice")
        for number in 0..<21 { alice.retain("lesson-\(number)", "k", [1]) }
        driver.persist()
        let errors = alice.others.isEmpty ? alice.errors() : alice.takeOthers(.error).map { TestClient.decode(ErrorBody.self, $0.body) }
        #expect(
            errors.count == 1 && errors.first?.code == .rateLimited && errors.first?.number == 21 && errors.first?.retryAfterMs == 3_600_000
        )
        #expect(driver.hub.census().boards == 20)
        let bob = client(driver, "bob")
        bob.retain("lesson-20", "k", [1])
        #expect(bob.board() == ["accepted 1 at 1"])
    }

    @Test(
        "boards that nobody has changed for as long as the operator says are removed, others stay; said at the start, or later",
        arguments: [false, true])
    func expiry(isSaidLater: Bool) {
        let driver = driver { $0.boardExpiry = isSaidLater ? nil : .seconds(7_200) }
        if isSaidLater {
            var configuration = driver.hub.settings
            configuration.boardExpiry = .seconds(7_200)
            driver.handle(.configurationChanged(configuration))
        }
        let alice = client(driver, "alice")
        alice.retain("old", "k", [1])
        driver.persist()
        driver.cut(alice.id)
        driver.advance(.seconds(3_700))
        let bob = client(driver, "bob")
        bob.retain("new", "k", [1])
        driver.persist()
        driver.cut(bob.id)
        driver.advance(.seconds(3_600))
        driver.persist()
        #expect(driver.hub.census().boards == 1)
        let carol = client(driver, "carol")
        #expect(carol.answer(BoardsAnswer.self, carol.request(.boards) { PageRequest(id: $0) })?.boards.map(\.channel) == ["new"])
    }

    // MARK: - Parts

    @Test(
        "[BL8] a drawing in parts is shown to nobody before its last part; then it is one record, told as parts with one offset, live and to who comes later"
    )
    func parts() {
        let driver = driver(), alice = client(driver, "alice"), bob = client(driver, "bob")
        bob.subscribe("lesson", features: ["messages"])
        alice.part("lesson", "big", 1, of: 3, bytes("one"))
        alice.part("lesson", "big", 2, of: 3, bytes("two"))
        driver.persist()
        alice.retain("lesson", "small", bytes("s"))
        #expect(bob.board() == ["1 small=s"] && alice.board() == ["accepted 1 at 0", "accepted 2 at 0", "accepted 3 at 1"])
        alice.part("lesson", "big", 3, of: 3, bytes("three"))
        #expect(alice.board() == ["accepted 4 at 2"] && bob.board() == ["catchingUp 1"])
        driver.persist()
        #expect(alice.board() == ["stored 3 at 1", "stored 4 at 2"])
        #expect(bob.board() == ["2 big=one 1/3", "2 big=two 2/3", "2 big=three 3/3", "caughtUp 2"])
        let carol = client(driver, "carol")
        _ = since(carol, .beginning)
        #expect(carol.board() == ["1 small=s", "2 big=one 1/3", "2 big=two 2/3", "2 big=three 3/3", "caughtUp 2"])
        alice.retain("lesson", "big", [])
        driver.persist()
        #expect(bob.board() == ["3 big gone"] && driver.hub.census().boardBytes == 70)
    }

    @Test("[BL3, BL8] a drawing that is replaced while its parts are read takes nothing along: those behind it come whole")
    func partsReplaced() {
        let driver = driver {
            $0.catchUpBlockBytes = 1
            $0.catchUpQueueBytes = 1
        }
        let alice = client(driver, "alice"), bob = client(driver, "bob")
        func draw(_ key: String, parts: UInt16) {
            for part in 1...parts { alice.part("lesson", key, part, of: parts, bytes("\(key)\(part)")) }
            driver.persist()
        }
        draw("a", parts: 5)
        driver.send(
            .json(
                .subscribe, SubscribeRequest(id: bob.nextRequest(), channel: try! Name("lesson"), features: ["messages"], since: .beginning)
            ), from: bob.id)
        while driver.hub.census().counters.messagesRecovered < 3 { driver.take(bob.id, bytes: 1) }
        draw("a", parts: 2)
        draw("b", parts: 4)
        let board = bob.board()
        #expect(board.prefix(3) == ["1 a=a1 1/5", "1 a=a2 2/5", "1 a=a3 3/5"])
        #expect(
            board.drop { $0.hasPrefix("1 ") } == [
                "2 a=a1 1/2", "2 a=a2 2/2", "3 b=b1 1/4", "3 b=b2 2/4", "3 b=b3 3/4", "3 b=b4 4/4", "caughtUp 3",
            ])
    }

    @Test(
        "[BL8] a part that does not follow is partMissing: out of order, changed, too late, after a failure; part 1 begins anew; too much is tooLarge"
    )
    func missingParts() {
        let driver = driver { $0.limits.largeMessageBytesMax = 5 }
        let alice = client(driver, "alice")
        alice.part("lesson", "k", 2, of: 3, [1])
        alice.part("lesson", "k", 1, of: 3, [1])
        alice.part("lesson", "k", 3, of: 3, [1])
        alice.part("lesson", "k", 2, of: 4, [1])
        alice.part("lesson", "k", 2, of: 3, [1], flags: [.retain, .text])
        alice.part("lesson", "k", 1, of: 2, [1])
        driver.advance(.milliseconds(30_000))
        _ = alice.board()
        let again = TestClient(driver, "alice", instance: "00000000000000aa", resume: alice.welcome?.resumeToken)
        again.number = alice.number
        again.part("lesson", "k", 2, of: 2, [1, 2, 3, 4, 5])
        again.part("lesson", "k", 2, of: 2, [1, 2, 3, 4])
        #expect(again.board() == ["error 7 tooLarge", "accepted 8 at 1"])
        again.part("lesson", "k", 1, of: 2, [1])
        driver.advance(.milliseconds(5_000))
        again.part("lesson", "k", 1, of: 2, [1])
        driver.failStorage()
        again.part("lesson", "k", 2, of: 2, [1])
        driver.handle(.storageRecovered)
        again.part("lesson", "k", 2, of: 2, [1])
        #expect(again.board().last?.hasSuffix("partMissing") == true)
        for number in 0..<5 { again.part("lesson", "d\(number)", 1, of: 2, [1]) }
        #expect(again.board().last?.hasSuffix("limitReached") == true)
    }

    @Test(
        "[BL8, BL9] parts that went with their board, or could not be stored, are no parts of what follows, whoever has a session meanwhile"
    )
    func partsGone() {
        let driver = driver(), alice = client(driver, "alice"), bob = client(driver, "bob")
        alice.retain("lesson", "k", [1])
        alice.part("lesson", "big", 1, of: 2, [1])
        driver.persist()
        bob.request(.removeBoard) { ChannelRequest(id: $0, channel: try! Name("lesson")) }
        driver.persist()
        _ = alice.board()
        alice.part("lesson", "big", 2, of: 2, [1])
        #expect(alice.board() == ["error 3 partMissing"] && driver.hub.census().boards == 0)

        alice.retain("lesson", "k", [1])
        alice.part("lesson", "big", 1, of: 2, [1])
        driver.persist()
        alice.part("lesson", "other", 1, of: 2, [1])
        // Her session ends before the disk fails: what is known of her client object waits for her.
        let number = alice.number
        alice.request(.logout) { EmptyRequest(id: $0) }
        driver.cut(alice.id)
        driver.advance(.seconds(5))
        driver.failStorage()
        driver.handle(.storageRecovered)
        let again = client(driver, "alice")
        again.number = number
        again.part("lesson", "other", 2, of: 2, [1])
        #expect(again.board().last == "error \(number + 1) partMissing")
    }

    @Test("[MS9] what a relay remembers from its last start is within the bound, too, and goes for who is there now")
    func rememberedFromBefore() {
        var driver = driver { $0.publishWindowBytesMax = 10 * (384 + 32) }
        func come(_ users: Range<Int>) {
            for number in users {
                let client = TestClient(driver, "user-\(number)", instance: "00000000000000\(number)")
                client.retain("lesson", "k", [1])
                driver.persist()
                driver.cut(client.id)
            }
        }
        come(10..<30)
        driver = driver.restarted(start: 1_800_000_100)
        let restored = driver.hub.census().publishMemoryBytes
        #expect(restored > 0 && restored <= 10 * (384 + 32))
        come(30..<50)
        driver.advance(.seconds(60))
        let now = driver.hub.census().publishMemoryBytes
        #expect(now > 0 && now <= 10 * (384 + 32))
    }

    @Test("[BL2] after many retained messages and two restarts each of the last 256 is known, and no more is forgotten than was remembered")
    func rememberedTwice() {
        var driver = driver()
        var alice = client(driver, "alice")
        for number in 0..<300 { alice.retain("lesson", "k\(number)", [1]) }
        driver.persist()
        driver = driver.restarted(start: 1_800_000_100)
        driver.persist()
        alice = client(driver, "alice")
        alice.number = 300
        for number in 0..<50 { alice.retain("lesson", "l\(number)", [1]) }
        driver.persist()
        _ = alice.board()
        driver = driver.restarted(start: 1_800_000_200)
        driver.persist()
        alice = client(driver, "alice")
        for number in UInt64(95)...350 {
            alice.number = number - 1
            alice.retain("lesson", "again", [1])
        }
        #expect(alice.board() == (95...350).flatMap { ["accepted \($0) at \($0)", "stored \($0) at \($0)"] })
        // Few places in use are few entries to forget.
        let few = self.driver()
        let bob = client(few, "bob")
        bob.retain("lesson", "k", [1])
        few.persist()
        let next = few.restarted(start: 1_800_000_100)
        next.persist()
        let before = next.hub.census().counters.changesAccepted
        next.advance(.seconds(600))
        #expect(next.hub.census().counters.changesAccepted == before + 1 && next.unpersisted.last?.entries.count == 1)
    }

    @Test(
        "[BL2, MS9] of a retained message older than the last 256 nothing is known after a restart, wherever the newest one stands",
        arguments: [257, 300, 511, 512, 513])
    func olderThanRemembered(count: Int) {
        let driver = driver(), alice = client(driver, "alice")
        for _ in 0..<count { alice.retain("lesson", "k", [1]) }
        driver.persist()
        let next = driver.restarted(start: 1_800_000_100)
        next.persist()
        let again = client(next, "alice")
        for number in [count - 256, count - 255] {
            again.number = UInt64(number) - 1
            again.retain("lesson", "k", [1])
        }
        #expect(
            again.board() == [
                "error \(count - 256) outcomeUnknown", "accepted \(count - 255) at \(count - 255)",
                "stored \(count - 255) at \(count - 255)",
            ])
    }

    @Test(
        "[BL2, MS9] after a restart a retained message that could not be stored is known not to be; what was not retained is not known of")
    func knownNotStored() {
        let driver = driver(), alice = client(driver, "alice")
        alice.retain("lesson", "a", [1])
        driver.persist()
        alice.retain("lesson", "b", [1])
        driver.failStorage()
        driver.handle(.storageRecovered)
        alice.retain("lesson", "c", [1])
        driver.persist()
        let next = driver.restarted(start: 1_800_000_100)
        next.persist()
        let again = client(next, "alice")
        again.number = 1
        again.retain("lesson", "b", [1])
        #expect(again.board() == ["error 2 notAccepted"])
        again.number = 1
        again.publish("lesson", [1])
        #expect(again.board() == ["error 2 outcomeUnknown"])
        again.number = 2
        again.retain("lesson", "c", [1])
        #expect(again.board() == ["accepted 3 at 3", "stored 3 at 3"])
    }
}
