import RelayCore
import RelayJournal
import RelayRights
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// Whose record it is: who may not take away what others wrote changes only what is its own.
@Suite struct BoardAuthorTests {
    private func driver(_ change: (inout Configuration) -> Void = { _ in }, access: AccessRules = TestAccess.rules) -> HubDriver {
        var configuration = Configuration()
        configuration.isJournaled = true
        configuration.limits.messagesPerSecond = 1_000_000
        change(&configuration)
        let driver = HubDriver(configuration: configuration, access: access)
        driver.hub.restored(lastSequence: 0, at: driver.now)
        _ = driver.hub.takeEffects()
        return driver
    }

    private func client(_ driver: HubDriver, _ user: String, _ role: Role = .editor, run: Int = 1, resume: String? = nil) -> TestClient {
        TestClient(
            driver, user, instance: "0000000000000\(run)" + user.prefix(2).utf8.map { String($0 % 10) }.joined(), resume: resume,
            secret: TestAccess.secret(of: user), key: TestAccess.key(role))
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func request(_ client: TestClient, _ type: FrameType) {
        client.request(type) { ChannelRequest(id: $0, channel: try! Name("lesson")) }
    }

    /// A relay on whose board `a` is anna's and `b` is ben's, of which nothing is in memory, and whose disk gives no answer.
    private func idle(_ change: (inout Configuration) -> Void = { _ in }) -> HubDriver {
        let first = driver(change)
        client(first, "anna", run: 0).retain("lesson", "a", bytes("1"))
        client(first, "ben", run: 0).retain("lesson", "b", bytes("2"))
        first.persist()
        let driver = first.restarted(start: 1_800_000_100)
        driver.holdsFiles = true
        return driver
    }

    // MARK: - The rule

    @Test(
        "[BL10, AC6] another one's record is neither replaced nor removed nor drawn over in parts, wherever it stands: in the file, on the way to it, not durable",
        arguments: [0, 1, 2])
    func refused(stage: Int) {
        let driver = driver(), anna = client(driver, "anna"), ben = client(driver, "ben"), host = client(driver, "host", .moderator)
        let watcher = client(driver, "watcher", .reader)
        watcher.subscribe("lesson", features: ["messages"])
        driver.holdsFiles = stage == 1
        anna.retain("lesson", "a", bytes("1"))
        if stage < 2 { driver.persist() }
        ben.retain("lesson", "a", bytes("2"))
        ben.retain("lesson", "a", [])
        ben.part("lesson", "a", 1, of: 2, bytes("3"))
        #expect(ben.board() == ["error 1 notPermitted", "error 2 notPermitted", "error 3 notPermitted"])
        anna.retain("lesson", "a", bytes("4"))
        #expect(anna.board().contains("accepted 2 at 2"), "one's own")
        host.retain("lesson", "a", bytes("5"))
        #expect(host.board() == ["accepted 1 at 3"], "a moderator")
        anna.retain("lesson", "a", bytes("6"))
        #expect(anna.board().last == "error 3 notPermitted", "a moderator's now")
        let clearing = TestClient(driver, "clearing", token: driver.token("clearing", grants: ["lesson": ["publish", "clear"]]))
        clearing.retain("lesson", "a", [])
        #expect(clearing.board() == ["error 1 notPermitted"], "who may clear may take all, and not one")
        let revising = TestClient(driver, "revising", token: driver.token("revising", grants: ["lesson": ["publish", "revise"]]))
        revising.retain("lesson", "a", [])
        #expect(revising.board() == ["accepted 1 at 4"], "who may revise may remove")
        anna.retain("lesson", "a", bytes("7"))
        #expect(anna.board() == ["accepted 4 at 5"], "nobody's")
        let coeditor = client(driver, "coeditor", .coeditor)
        coeditor.retain("lesson", "a", bytes("8"))
        #expect(coeditor.board() == ["accepted 1 at 6"])
        let clear = coeditor.request(.clear) { ChannelRequest(id: $0, channel: try! Name("lesson")) }
        #expect(TestClient.code(clear) == .notPermitted)
        #expect(watcher.board() == ["1 a=1", "2 a=4", "3 a=5", "4 a gone", "5 a=7", "6 a=8"], "what was refused was seen by nobody")
    }

    @Test("[BL10, BL6] a cleared key is anybody's; an undone clear brings it back as whose it was, but for what was written since")
    func clearing() {
        let driver = driver(), anna = client(driver, "anna"), ben = client(driver, "ben"), host = client(driver, "host", .moderator)
        for key in ["a", "b", "c"] { anna.retain("lesson", key, bytes(key)) }
        driver.persist()
        ben.retain("lesson", "a", bytes("no"))
        request(host, .clear)
        ben.retain("lesson", "a", bytes("ben's"))
        driver.persist()
        #expect(ben.board() == ["error 1 notPermitted", "accepted 2 at 5", "stored 2 at 5"])
        request(host, .undoClear)
        // The file alone knows whose they are, when it has it.
        ben.retain("lesson", "b", bytes("no"))
        ben.retain("lesson", "d", bytes("new"))
        #expect(ben.board() == [] && driver.isPaused(ben.id))
        driver.persist()
        #expect(ben.board() == ["error 3 notPermitted", "accepted 4 at 9"] && !driver.isPaused(ben.id))
        _ = anna.board()
        anna.retain("lesson", "a", bytes("no"))
        anna.retain("lesson", "b", bytes("yes"))
        #expect(anna.board() == ["error 4 notPermitted", "accepted 5 at 10"])
    }

    @Test(
        "[BL10, BL8] a drawing in parts on which another one's record has come meanwhile is refused with the part that follows, and that record stays"
    )
    func parts() {
        let driver = driver(), anna = client(driver, "anna"), ben = client(driver, "ben"), reader = client(driver, "reader", .reader)
        ben.part("lesson", "a", 1, of: 2, bytes("x"))
        anna.retain("lesson", "a", bytes("mine"))
        ben.part("lesson", "a", 2, of: 2, bytes("y"))
        driver.persist()
        #expect(ben.board() == ["accepted 1 at 0", "error 2 notPermitted"])
        reader.subscribe("lesson", features: ["messages"], since: .beginning)
        #expect(reader.board() == ["1 a=mine", "caughtUp 1"])
    }

    @Test("[BL10, MS9] a number that was accepted is answered as it was, whoever has the record since")
    func again() {
        let driver = driver(), ben = client(driver, "ben"), host = client(driver, "host", .moderator)
        ben.retain("lesson", "a", bytes("1"))
        host.retain("lesson", "a", bytes("2"))
        driver.persist()
        _ = ben.board()
        ben.number = 0
        ben.retain("lesson", "a", bytes("1"))
        #expect(ben.board() == ["accepted 1 at 1", "stored 1 at 1"])
        ben.retain("lesson", "a", bytes("3"))
        #expect(ben.board() == ["error 2 notPermitted"])
    }

    @Test("[BL10, AC5] who may not publish is refused in the same words, whosever the key is")
    func silent() {
        let driver = driver(), anna = client(driver, "anna"), reader = client(driver, "reader", .reader)
        anna.retain("lesson", "a", bytes("1"))
        driver.persist()
        var frames: [[Frame]] = []
        for (channel, key) in [("lesson", "a"), ("lesson", "b"), ("nowhere", "a")] {
            reader.number = 0
            reader.retain(channel, key, bytes("x"))
            frames.append(reader.frames())
        }
        #expect(frames[0].count == 1 && frames[1] == frames[0] && frames[2] == frames[0] && driver.authorQuestions == 0)
    }

    // MARK: - Waiting

    @Test(
        "[BL10, DL1, MS3] what comes behind a publish that waits for the file waits with it, wherever it is cut, and keeps its order; others go on"
    )
    func waits() {
        let driver = idle(), anna = client(driver, "anna"), ben = client(driver, "ben"), host = client(driver, "host", .moderator)
        host.subscribe("lesson", features: ["messages"])
        let sent: [Frame] = [
            .publish(number: 1, channel: "lesson", key: "a", flags: .retain, payload: bytes("no")),
            .publish(number: 2, channel: "lesson", payload: bytes("plain")),
            .publish(number: 3, channel: "lesson", key: "c", flags: .retain, payload: bytes("new")),
            Frame(.ping, body: [7]),
            .publish(number: 4, channel: "lesson", key: "b", flags: .retain, payload: []),
        ]
        let stream = sent.flatMap(\.bytes)
        // The first piece ends in the second frame; the others come while nothing is read.
        driver.send(Array(stream[..<50]), from: ben.id)
        #expect(driver.isPaused(ben.id))
        driver.send(Array(stream[50..<53]), from: ben.id)
        driver.send(Array(stream[53...]), from: ben.id)
        host.retain("lesson", "h", bytes("host's"))
        #expect(ben.frames().isEmpty && host.board() == ["accepted 1 at 3"])
        anna.retain("lesson", "z", bytes("too"))
        driver.readFiles(now: true)
        let frames = ben.frames()
        #expect(frames.map(\.type) == [FrameType.error, .accepted, .accepted, .pong, .accepted].map(\.rawValue))
        #expect(!driver.isPaused(ben.id) && driver.authorQuestions == 1, "one question for all who wait")
        // What had come goes on with the answer, what waited in the socket then.
        #expect(anna.board() == ["accepted 1 at 4"])
        #expect(host.board() == ["4 z=too", "5 plain", "6 c=new", "7 b gone"])
    }

    @Test(
        "[BL10] judged is what was accepted before: two who want the same key, one of whom had it, while both wait",
        arguments: ["new", "b"])
    func race(key: String) {
        let driver = idle(), anna = client(driver, "anna"), ben = client(driver, "ben")
        if key == "new" {
            anna.retain("lesson", key, bytes("anna's"))
            ben.retain("lesson", key, bytes("ben's"))
            driver.readFiles(now: true)
            #expect(anna.board() == ["accepted 1 at 3"] && ben.board() == ["error 1 notPermitted"])
        } else {
            let host = client(driver, "host", .moderator)
            ben.retain("lesson", key, bytes("ben's"))
            host.retain("lesson", key, bytes("host's"))
            anna.retain("lesson", "a", bytes("anna's"))
            request(host, .clear)
            host.retain("lesson", key, bytes("host's again"))
            driver.readFiles(now: true)
            #expect(ben.board() == ["error 1 notPermitted"] && anna.board() == ["accepted 1 at 6"])
        }
    }

    @Test("[BL10, BL6] an answer from before a clear was undone says nothing of whose the key is now")
    func staleAnswer() {
        let first = driver()
        client(first, "anna", run: 0).retain("lesson", "a", bytes("1"))
        request(client(first, "host", .moderator, run: 0), .clear)
        first.persist()
        let driver = first.restarted(start: 1_800_000_100), ben = client(driver, "ben"), host = client(driver, "host", .moderator)
        driver.holdsFiles = true
        ben.retain("lesson", "a", bytes("ben's"))
        #expect(ben.board() == [] && driver.authorQuestions == 1, "the file will say that it is nobody's")
        request(host, .undoClear)
        driver.readFiles(now: true)
        #expect(ben.board() == [] && driver.isPaused(ben.id) && driver.authorQuestions == 1)
        driver.persist()
        driver.writeFiles()
        driver.readFiles(now: true)
        #expect(ben.board() == ["error 1 notPermitted"] && driver.authorQuestions == 2)
    }

    @Test(
        "[BL10, AC7, SE9] who is taken over, cut off or closed while it waits has published nothing; a login with more rights may what it may then"
    )
    func endedWhileWaiting() throws {
        let driver = idle(), ben = client(driver, "ben"), anna = client(driver, "anna"), cid = client(driver, "cid")
        for waiting in [ben, anna, cid] { waiting.retain("lesson", waiting === anna ? "b" : "a", bytes("x")) }
        let token = try #require(ben.welcome?.resumeToken)
        let moderator = client(driver, "ben", .moderator, resume: token)
        driver.cut(anna.id)
        driver.advance(.milliseconds(1))
        moderator.retain("lesson", "a", bytes("y"))
        #expect(moderator.welcome?.resumed == true && moderator.board() == ["accepted 1 at 3"])
        driver.handle(.shutdown)
        driver.readFiles(now: true)
        #expect(cid.closing()?.code == .shuttingDown && driver.hub.census().counters.messagesAccepted == 1)
    }

    @Test("[BL10, BL9] a board that is removed while somebody waits for it leaves its keys to anybody")
    func removed() {
        let driver = idle(), ben = client(driver, "ben"), host = client(driver, "host", .moderator)
        ben.retain("lesson", "a", bytes("ben's"))
        driver.send(.json(.removeBoard, ChannelRequest(id: host.nextRequest(), channel: try! Name("lesson"))), from: host.id)
        #expect(ben.board() == [])
        driver.persist()
        // The channel is there since he asked, and goes on counting.
        #expect(ben.board() == ["accepted 1 at 3"] && !driver.isPaused(ben.id))
        driver.holdsFiles = false
        driver.persist()
        driver.writeFiles()
        driver.readFiles(now: true)
        #expect(ben.board() == ["stored 1 at 3"])
    }

    @Test("[BL10, HB2] who waits is not taken for dead, is pinged, and after 10 s is told busy; the relay asks no more than once")
    func slow() {
        let driver = idle { $0.boardAuthorTimeout = .seconds(33) }, ben = client(driver, "ben")
        ben.retain("lesson", "a", bytes("x"))
        driver.advance(.milliseconds(32_999))
        #expect(driver.isOpen(ben.id) && !driver.isClosing(ben.id))
        #expect(ben.frames().allSatisfy { $0.type == FrameType.ping.rawValue } && driver.isPaused(ben.id))
        driver.advance(.milliseconds(1))
        ben.retain("lesson", "a", bytes("x"))
        #expect(ben.board() == ["error 1 busy", "error 2 busy"] && driver.authorQuestions == 1 && !driver.isPaused(ben.id))
        driver.readFiles(now: true)
        ben.retain("lesson", "a", bytes("x"))
        ben.retain("lesson", "b", bytes("x"))
        #expect(ben.board() == ["error 3 notPermitted", "accepted 4 at 3"])
        #expect(Configuration().boardAuthorTimeout == .seconds(10))
    }

    @Test("[BL10] where too many bytes wait already the next one is refused instead")
    func bounded() {
        // A frame of 130 bytes waits, and a question counts 128 and its key.
        let driver = idle { $0.heldBytesMax = 250 }, anna = client(driver, "anna"), ben = client(driver, "ben")
        anna.retain("lesson", "a", [UInt8](repeating: 7, count: 100))
        ben.retain("lesson", "a", bytes("x"))
        #expect(anna.board() == [] && ben.board() == ["error 1 busy"])
        driver.cut(anna.id)
        ben.retain("lesson", "b", bytes("x"))
        #expect(ben.board() == [] && driver.isPaused(ben.id))
    }

    // MARK: - Failures

    @Test("[BL10, BL2] what could not be stored says nothing of whose a key is: neither a record nor a removal")
    func notDurable() {
        let driver = driver(), anna = client(driver, "anna"), ben = client(driver, "ben")
        anna.retain("lesson", "a", bytes("1"))
        driver.persist()
        ben.retain("lesson", "a", bytes("no"))
        #expect(ben.board() == ["error 1 notPermitted"])
        anna.retain("lesson", "a", [])
        ben.retain("lesson", "a", bytes("2"))
        anna.retain("lesson", "new", bytes("3"))
        ben.retain("lesson", "new", bytes("no"))
        #expect(ben.board() == ["accepted 2 at 3", "error 3 notPermitted"])
        driver.failStorage()
        driver.handle(.storageRecovered)
        _ = (ben.board(), anna.board())
        ben.retain("lesson", "a", bytes("no"))
        ben.retain("lesson", "new", bytes("4"))
        #expect(ben.board() == ["error 4 notPermitted", "accepted 5 at 5"])
        anna.retain("lesson", "a", bytes("5"))
        #expect(anna.board() == ["accepted 4 at 6"])
    }

    @Test("[BL10, SG2] a disk that fails while somebody waits, or cannot be read, is storageFailed, and the question is asked anew")
    func diskFails() {
        let driver = idle(), ben = client(driver, "ben")
        ben.retain("lesson", "a", bytes("x"))
        driver.failStorage()
        #expect(ben.board() == ["error 1 storageFailed"] && !driver.isPaused(ben.id))
        driver.handle(.storageRecovered)
        driver.storage.faults = [.init(1...Int.max, of: .read)]
        ben.retain("lesson", "a", bytes("x"))
        ben.publish("lesson", bytes("plain"))
        #expect(ben.board() == [])
        driver.readFiles(now: true)
        #expect(ben.board() == ["error 2 storageFailed", "accepted 3 at 3"])
        driver.storage.faults = []
        ben.retain("lesson", "a", bytes("x"))
        ben.retain("lesson", "b", bytes("x"))
        driver.readFiles(now: true)
        #expect(ben.board() == ["error 4 notPermitted", "accepted 5 at 4"])
    }

    // MARK: - What it costs

    @Test(
        "[BL10] nobody is asked for a moderator or on an open relay; for editors once a board, however many new keys they write, and not at all for a board that is new",
        arguments: [false, true])
    func questions(isOpen: Bool) {
        let driver = driver(access: isOpen ? .open : TestAccess.rules)
        let anna = client(driver, "anna", .editor), host = client(driver, "host", .moderator)
        func draw(_ name: String, _ client: TestClient) { for number in 0..<300 { client.retain("lesson", "\(name)\(number)", [1]) } }
        draw("first", anna)
        #expect(driver.authorQuestions == 0, "all of it is on its way")
        driver.persist()
        draw("second", anna)
        driver.persist()
        draw("third", host)
        driver.cut(anna.id)
        driver.cut(host.id)
        driver.persist()
        let next = driver.restarted(start: 1_800_000_100)
        next.persist()
        let again = client(next, "host", .moderator, run: 2)
        draw("first", again)
        draw("fourth", again)
        next.persist()
        #expect(again.frames(.accepted).count == 600 && next.authorQuestions == 0)
        let ben = client(next, "ben", isOpen ? .moderator : .editor)
        for _ in 0..<3 { draw("own", ben) }
        #expect(ben.frames(.accepted).count == 900 && next.authorQuestions == (isOpen ? 0 : 1))
    }

    @Test("[BL10] of a board with too many keys each is asked for once at most, and what is kept is bounded")
    func large() {
        let driver = driver {
            $0.boardAuthorKeysMax = 40
            $0.authorMemoryMax = 30 * 170
        }
        let host = client(driver, "host", .moderator), ben = client(driver, "ben")
        for board in ["lesson", "other"] { for number in 0..<50 { host.retain(board, "h\(number)", [1]) } }
        driver.persist()
        ben.retain("lesson", "first", [1])
        _ = ben.frames()
        driver.persist()
        let before = driver.authorQuestions
        for _ in 0..<4 {
            for number in 0..<10 {
                ben.retain("lesson", "b\(number)", [2])
                ben.retain("lesson", "h\(number)", [2])
                _ = ben.frames()
            }
        }
        #expect(driver.authorQuestions - before == 20, "\(driver.authorQuestions - before)")
        var most = 0
        for number in 0..<1_000 {
            ben.retain(number % 2 == 0 || number > 800 ? "lesson" : "other", "n\(number)", [3])
            most = max(most, driver.hub.census().authorMemoryBytes)
            if number % 50 == 0 { driver.persist() }
            _ = ben.frames()
        }
        driver.persist()
        ben.retain("other", "h1", [2])
        ben.retain("other", "n1", [2])
        #expect(ben.board().suffix(2).first?.hasSuffix("notPermitted") == true)
        #expect(most <= (30 + 50) * 170, "\(most)")
    }

    @Test("[BL10] of a large board each answer wakes those who asked for it, and nobody else")
    func woken() {
        let driver = idle { $0.boardAuthorKeysMax = 1 }
        let writers = (0..<100).map { client(driver, "w\($0)") }
        for (number, writer) in writers.enumerated() { writer.retain("lesson", "new\(number)", [1]) }
        driver.readFiles(now: true)
        driver.holdsFiles = false
        driver.persist()
        #expect(writers.allSatisfy { $0.frames(.accepted).count == 1 && !driver.isPaused($0.id) })
        #expect(driver.authorQuestions == 100, "the first tells that the board is large")
        #expect(driver.hub.waitersJudged <= 2 * writers.count, "\(driver.hub.waitersJudged)")
    }

    @Test("[BL10, DL12, RT1] sets that one answer wakes are carried out in turns, and their rate counts once")
    func wokenInTurns() {
        let driver = idle { $0.limits.messagesPerSecond = 1 }
        let writers = (0..<20).map { client(driver, "w\($0)") }
        for writer in writers { writer.changes("lesson", (0..<64).map { "k\($0) \(writer.user)=x" }) }
        driver.offers = false
        driver.readFiles(now: true)
        func accepted() -> Int { writers.count { !$0.frames(.accepted).isEmpty } }
        var sum = accepted()
        #expect(sum == 8 && driver.hub.bytesHeld > 0, "a turn's 128 KiB")
        for _ in 1...2 {
            driver.nextTurn()
            sum += accepted()
        }
        #expect(sum == 20 && driver.hub.bytesHeld == 0 && writers.allSatisfy { !driver.isPaused($0.id) })
    }

    @Test("[BL10, RT1] what is refused costs of the rate, so that nobody asks the disk faster; what waits costs once")
    func rate() {
        let driver = idle { $0.limits.messagesPerSecond = 3 }, ben = client(driver, "ben")
        for key in ["new", "b", "a", "b"] { ben.retain("lesson", key, [1]) }
        driver.readFiles(now: true)
        #expect(ben.board() == ["accepted 1 at 3", "accepted 2 at 4", "error 3 notPermitted", "error 4 rateLimited"])
        for _ in 0..<5 { ben.retain("lesson", "a", [1]) }
        #expect(ben.board() == (5...9).map { "error \($0) rateLimited" } && driver.authorQuestions == 1)
    }

    @Test("[BL10] a minute after the last one whose rights are limited has written, nothing is kept up for it any more")
    func forgotten() {
        let driver = driver(), ben = client(driver, "ben"), host = client(driver, "host", .moderator)
        ben.retain("lesson", "b", [1])
        driver.persist()
        ben.retain("lesson", "c", [1])
        #expect(ben.board().last == "accepted 2 at 2" && driver.hub.census().authorMemoryBytes > 2 * 160)
        for _ in 0..<15 {
            driver.advance(.seconds(4))
            for client in [ben, host] { driver.send(Frame(.pong), from: client.id) }
        }
        host.retain("lesson", "h", [1])
        #expect(driver.hub.census().authorMemoryBytes == 0)
        ben.retain("lesson", "h", [1])
        ben.retain("lesson", "b", [1])
        #expect(ben.board().contains("error 3 notPermitted") && ben.number == 4)
    }
}
