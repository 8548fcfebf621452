import RelayCore
import RelayJournal
import RelayStorage
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// What a message channel keeps for good: the newest of each key.
@Suite struct BoardTests {
    func driver(_ change: (inout Configuration) -> Void = { _ in }) -> HubDriver {
        var configuration = Configuration()
        configuration.isJournaled = true
        configuration.limits.messagesPerSecond = 1_000_000
        configuration.requestsBurst = 1_000_000
        change(&configuration)
        let driver = HubDriver(configuration: configuration)
        driver.hub.restored(lastSequence: 0, at: driver.now)
        _ = driver.hub.takeEffects()
        return driver
    }

    func client(_ driver: HubDriver, _ user: String) -> TestClient {
        TestClient(driver, user, instance: "0000000000000000".dropLast(2) + (user == "alice" ? "aa" : user == "bob" ? "bb" : "cc"))
    }

    func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    func since(_ client: TestClient, _ since: Since) -> SubscribeAnswer? {
        client.answer(SubscribeAnswer.self, client.subscribe("lesson", features: ["messages"], since: since))
    }

    func position(_ offset: UInt64, start: UInt32 = 1_800_000_000, incarnation: UInt32 = 1) -> Since {
        .position(ChannelPosition(epoch: Epoch(start: start, incarnation: incarnation), offset: offset))
    }

    func code(_ outcome: TestClient.Outcome) -> ErrorCode? {
        if case .error(let body) = outcome { body.code } else { nil }
    }

    // MARK: - Publishing

    @Test(
        "[BL1, BL2, MS7] a retained message is accepted and delivered at once with its key; stored comes when it is durable, on whatever connection there is then"
    )
    func stored() throws {
        let driver = driver(), alice = client(driver, "alice"), bob = client(driver, "bob")
        bob.subscribe("lesson")
        alice.retain("lesson", "a", bytes("hi"), customType: "stroke", flags: .text)
        alice.retain("lesson", "a", [])
        #expect(alice.board() == ["accepted 1 at 1", "accepted 2 at 2"])
        let delivered = try #require(bob.takeOthers(.deliver).first)
        #expect(FrameFlags(rawValue: delivered.flags) == [.text, .customType, .key, .retain])
        driver.persist(1)
        #expect(alice.board() == ["stored 1 at 1"])
        // The second one becomes durable while there is no connection, and is told to who asks again.
        let token = try #require(alice.welcome?.resumeToken)
        driver.cut(alice.id)
        driver.persist()
        let again = TestClient(driver, "alice", instance: "00000000000000aa", resume: token)
        again.number = 1
        again.retain("lesson", "a", [])
        #expect(again.board() == ["accepted 2 at 2", "stored 2 at 2"])
        let census = driver.hub.census()
        #expect(census.boards == 1 && census.boardRecords == 0 && census.boardBytes == 0 && census.changesUnjournaledBytes == 0)
    }

    @Test("[MS7] flags that do not go together are refused, and nothing has changed")
    func flags() {
        let driver = driver(), alice = client(driver, "alice")
        func publish(_ key: String?, _ flags: FrameFlags, part: (number: UInt16, of: UInt16)? = nil, _ payload: [UInt8] = [1]) -> String? {
            alice.number += 1
            driver.send(
                .publish(number: alice.number, channel: "lesson", key: key, part: part, flags: flags, payload: payload), from: alice.id)
            return alice.board().first?.split(separator: " ").last.map(String.init)
        }
        #expect(
            publish("a", []) == "badRequest" && publish(nil, .retain) == "badRequest"
                && publish("a", [.retain, .noHistory]) == "badRequest")
        #expect(publish(nil, [], part: (1, 2)) == "badRequest" && publish("a", [], part: (0, 2)) == "badRequest")
        #expect(
            publish("a", [], part: (3, 2)) == "badRequest" && publish("a", [], part: (1, 1)) == "badRequest"
                && publish("a", .retain, part: (1, 2), []) == "badRequest")
        #expect(publish("a/b", .retain) == "badName" && publish("", .retain) == "badName" && publish("_a", .retain) == "badName")
        let none = self.driver { $0.boardBytesTotalMax = 0 }
        let carol = client(none, "carol")
        carol.retain("lesson", "a", [1])
        #expect(carol.board() == ["error 1 notSupported"])
        #expect(driver.hub.census().boards == 0 && driver.hub.census().counters.messagesAccepted == 0)
    }

    // MARK: - Reading

    @Test(
        "[BL3, HI2] who comes later gets the newest of each key and what else is kept, by offset, then what is sent: from the file, on the way to it, and not durable",
        arguments: [0, 1, 2])
    func beginning(stage: Int) {
        let driver = driver(), alice = client(driver, "alice"), bob = client(driver, "bob")
        driver.holdsFiles = stage == 1
        alice.retain("lesson", "a", bytes("1"))
        alice.retain("lesson", "b", bytes("2"))
        alice.publish("lesson", bytes("plain"))
        alice.retain("lesson", "c", bytes("4"))
        alice.retain("lesson", "a", bytes("5"))
        alice.retain("lesson", "b", [])
        if stage < 2 { driver.persist() }
        let answer = since(bob, .beginning)
        #expect(answer?.recovered == true && answer?.after == 0 && answer?.missed == nil && answer?.head == 6)
        driver.holdsFiles = false
        let got = bob.board()
        if stage == 0 {
            #expect(got == ["3 plain", "4 c=4", "5 a=5", "caughtUp 6"])
        } else {
            // What is so new that it is not in the file comes as it was sent.
            #expect(got == ["1 a=1", "2 b=2", "3 plain", "4 c=4", "5 a=5", "6 b gone", "caughtUp 6"])
        }
        alice.retain("lesson", "d", bytes("7"))
        #expect(bob.board() == ["7 d=7"])
    }

    @Test(
        "[BL3] a board that is read in small blocks while others go on drawing: nothing is missing, nothing comes twice, the order is that of the offsets"
    )
    func seam() {
        let driver = driver {
            $0.catchUpBlockBytes = 300
            $0.catchUpQueueBytes = 300
            $0.historyMessagesMax = 7
        }
        let alice = client(driver, "alice"), bob = client(driver, "bob")
        var model: [String: String] = [:]
        for number in 1...200 {
            alice.retain("lesson", "k\(number % 50)", bytes("v\(number)"))
            model["k\(number % 50)"] = "v\(number)"
        }
        driver.persist()
        driver.send(
            .json(
                .subscribe, SubscribeRequest(id: bob.nextRequest(), channel: try! Name("lesson"), features: ["messages"], since: .beginning)
            ), from: bob.id)
        var next = 201
        var got: [String] = []
        for step in 0..<4_000 {
            driver.take(bob.id, bytes: 40)
            if step % 10 == 0, next <= 300 {
                let isRemoval = next % 3 == 0
                alice.retain("lesson", "k\(next % 50)", isRemoval ? [] : bytes("v\(next)"))
                model["k\(next % 50)"] = isRemoval ? nil : "v\(next)"
                next += 1
            }
            if step % 37 == 0 { driver.persist() }
        }
        driver.persist()
        got += bob.board()
        #expect(got.filter { $0.hasPrefix("caughtUp") }.count == 1 && !got.contains { $0.hasPrefix("gap") })
        let offsets = got.filter { !$0.hasPrefix("caughtUp") }.map { Int($0.split(separator: " ")[0])! }
        #expect(offsets == offsets.sorted() && Set(offsets).count == offsets.count && offsets.last == 300)
        var picture: [String: String] = [:]
        for word in got.compactMap({ $0.split(separator: " ").dropFirst().joined(separator: " ") }) {
            if let equals = word.firstIndex(of: "=") { picture[String(word[..<equals])] = String(word[word.index(after: equals)...]) }
            if word.hasSuffix(" gone") { picture[String(word.dropLast(5))] = nil }
        }
        #expect(picture == model)
    }

    @Test(
        "[BL3, HI4] who comes back gets what was removed and cleared in its place; what is gone and was not retained is told by gap before what is there"
    )
    func comingBack() {
        let driver = driver { $0.historyMessagesMax = 2 }
        let alice = client(driver, "alice"), bob = client(driver, "bob")
        alice.retain("lesson", "a", bytes("1"))
        alice.publish("lesson", bytes("plain 2"))
        alice.retain("lesson", "b", bytes("3"))
        alice.retain("lesson", "a", [])
        alice.publish("lesson", bytes("plain 5"))
        alice.retain("lesson", "c", bytes("6"))
        driver.persist()
        #expect(since(bob, position(1))?.recovered == false)
        #expect(bob.board() == ["gap 2…2", "3 b=3", "4 a gone", "5 plain 5", "6 c=6", "caughtUp 6"])
        alice.request(.clear) { ChannelRequest(id: $0, channel: try! Name("lesson")) }
        alice.retain("lesson", "d", bytes("8"))
        driver.persist()
        #expect(bob.board() == ["7 cleared", "8 d=8"])
        let carol = client(driver, "carol")
        #expect(since(carol, position(4))?.recovered == false)
        #expect(carol.board() == ["gap 5…5", "7 cleared", "8 d=8", "caughtUp 8"])
        #expect(since(carol, .beginning)?.recovered == false)
        #expect(carol.board() == ["gap 1…5", "8 d=8", "caughtUp 8"])
    }

    @Test(
        "[BL3] 4,000 strokes reach a late joiner in 1.05 times the bytes of their deliveries at most, whatever was drawn over and removed before"
    )
    func joinerBytes() {
        let driver = driver(), alice = client(driver, "alice"), bob = client(driver, "bob")
        let stroke = [UInt8](repeating: 7, count: 250)
        for number in 0..<5_000 {
            alice.retain("lesson", "k\(number % 4_000)", stroke, customType: "stroke")
            if number % 1_000 == 0 { driver.persist() }
        }
        for number in 4_000..<4_400 { alice.retain("lesson", "k\(number)", []) }
        driver.persist()
        _ = alice.frames()
        driver.send(
            .json(
                .subscribe, SubscribeRequest(id: bob.nextRequest(), channel: try! Name("lesson"), features: ["messages"], since: .beginning)
            ), from: bob.id)
        var bytes = 0
        while true {
            let flushed = driver.flush(bob.id)
            guard flushed > 0 || driver.readFiles() else { break }
            bytes += flushed
        }
        let frames = bob.frames().filter { $0.type == FrameType.deliver.rawValue }
        let deliveries = frames.reduce(0) { $0 + $1.bytes.count }
        #expect(frames.count == 4_000 && bob.others.isEmpty)
        #expect(Double(bytes) <= 1.05 * Double(deliveries), "\(bytes) bytes for \(deliveries)")
    }

    @Test("[BL4] who was away longer than removals are remembered begins anew: reset, and the whole board")
    func forgottenRemovals() {
        let driver = driver(), alice = client(driver, "alice"), bob = client(driver, "bob")
        alice.retain("lesson", "kept", bytes("1"))
        for number in 0..<5_001 { alice.retain("lesson", "k\(number)", []) }
        driver.persist()
        #expect(since(bob, position(2))?.reset == nil)
        _ = bob.board()
        let answer = since(bob, position(1))
        #expect(answer?.reset == true && answer?.after == 0)
        #expect(bob.board() == ["1 kept=1", "caughtUp 5002"])
    }

    @Test("[BL1] of a board that nobody has used for a minute nothing is in memory but a line; it is read again when somebody comes")
    func idle() {
        let driver = driver(), alice = client(driver, "alice")
        for number in 0..<100 { alice.retain("lesson", "k\(number)", bytes("v")) }
        driver.persist()
        #expect(driver.files.loadedBoards == 1 && driver.files.indexBytes > 0)
        driver.cut(alice.id)
        driver.advance(.seconds(61))
        driver.readFiles(now: true)
        while try! driver.files.step(wall: driver.now.wallMilliseconds) {}
        #expect(driver.files.loadedBoards == 0 && driver.files.indexBytes == 0)
        let bob = client(driver, "bob")
        _ = since(bob, .beginning)
        #expect(bob.board().count == 101 && driver.files.loadedBoards == 1)
    }

    // MARK: - What is not durable, and restarts

    @Test("[SG5] a relay that is alone refuses what is in no log, answers nothing of what may be in it, and passes on what is not retained")
    func alone() throws {
        let driver = driver(), alice = client(driver, "alice"), bob = client(driver, "bob")
        #expect(since(bob, .beginning)?.head == 0)
        alice.retain("lesson", "a", bytes("1"))
        driver.persist()
        alice.retain("lesson", "b", bytes("2"))
        let open = alice.sendSet("user:alice", [("color", "red")]), undecided = try #require(driver.unpersisted.last).sequence
        alice.retain("lesson", "c", bytes("3"))
        let refused = alice.sendSet("user:alice", [("color", "blue")])
        _ = (alice.board(), bob.board())
        driver.handle(.storageAlone(undecidedThrough: undecided))
        #expect(driver.hub.hindrance == "alone")
        #expect(TestClient.code(alice.outcome(refused)) == .storageFailed)
        guard case .nothing = alice.outcome(open) else { return #expect(Bool(false), "it is answered") }
        #expect(alice.board() == ["notStored 3 storageFailed"] && bob.board() == ["reset 3", "1 a=1", "caughtUp 3"])
        alice.number = 1
        alice.retain("lesson", "b", bytes("2"))
        #expect(alice.board() == ["accepted 2 at 2"], "as before, and nothing of whether it is stored")
        alice.number = 3
        alice.retain("lesson", "d", bytes("4"))
        alice.publish("lesson", bytes("plain"))
        #expect(alice.board() == ["error 4 storageFailed", "accepted 5 at 4"] && bob.board() == ["4 plain"])
    }

    @Test(
        "[BL2, BL4] what could not be stored is told its publisher, and every subscriber begins anew without it; its number counts as passed over"
    )
    func failure() throws {
        let driver = driver(), alice = client(driver, "alice"), bob = client(driver, "bob")
        #expect(since(bob, .beginning)?.head == 0)
        alice.retain("lesson", "a", bytes("1"))
        driver.persist()
        alice.retain("lesson", "b", bytes("2"))
        alice.publish("lesson", bytes("plain"))
        #expect(bob.board() == ["caughtUp 0", "1 a=1", "2 b=2", "3 plain"])
        _ = alice.board()
        driver.failStorage()
        #expect(alice.board() == ["notStored 2 storageFailed"])
        #expect(bob.board() == ["reset 3", "1 a=1", "3 plain", "caughtUp 3"])
        alice.number = 1
        alice.retain("lesson", "b", bytes("2"))
        alice.number = 3
        alice.retain("lesson", "c", bytes("4"))
        #expect(alice.board() == ["error 2 notAccepted", "error 4 storageFailed"])
        driver.handle(.storageRecovered)
        alice.retain("lesson", "c", bytes("5"))
        driver.persist()
        #expect(alice.board() == ["accepted 5 at 4", "stored 5 at 4"] && bob.board() == ["4 c=5"])
        let census = driver.hub.census()
        #expect(census.boardRecords == 2 && census.boardBytes == 2 * 66 && census.changesUnjournaledBytes == 0)
    }

    @Test("[BL4, SE9] who was away when a delivered message turned out not to be durable is told when it resumes")
    func failureWhileAway() throws {
        let driver = driver(), alice = client(driver, "alice"), bob = client(driver, "bob")
        _ = since(bob, .beginning)
        alice.retain("lesson", "a", bytes("1"))
        driver.persist()
        alice.retain("lesson", "b", bytes("2"))
        #expect(bob.board().last == "2 b=2")
        let token = try #require(bob.welcome?.resumeToken)
        driver.cut(bob.id)
        driver.failStorage()
        let again = TestClient(driver, "bob", instance: "00000000000000bb", resume: token)
        let restored = try #require(again.others.first { $0.type == FrameType.restored.rawValue })
        #expect(TestClient.decode(SubscribeAnswer.self, restored.body).reset == true)
        #expect(again.board() == ["1 a=1", "caughtUp 2"])
    }

    @Test("[BL2] a board that never became durable is none: its first record could not be stored")
    func neverDurable() {
        let driver = driver(), alice = client(driver, "alice")
        alice.retain("lesson", "a", bytes("1"))
        driver.failStorage()
        #expect(driver.hub.census().boards == 0 && driver.hub.census().boardBytes == 0)
        driver.handle(.storageRecovered)
        alice.retain("lesson", "a", bytes("2"))
        driver.persist()
        #expect(driver.hub.census().boards == 1 && driver.hub.census().boardRecords == 1)
    }

    @Test(
        "[BL5, BL2] after a restart offsets go on, positions up to the last durable one are good for the rest, others begin anew, and a publish that is sent again is the same"
    )
    func restart() {
        let driver = driver(), alice = client(driver, "alice")
        alice.retain("lesson", "a", bytes("1"))
        alice.retain("lesson", "b", bytes("2"))
        driver.persist()
        alice.retain("lesson", "c", bytes("3"))
        #expect(alice.board() == ["accepted 1 at 1", "accepted 2 at 2", "stored 1 at 1", "stored 2 at 2", "accepted 3 at 3"])

        let next = driver.restarted(start: 1_800_000_100)
        next.persist()
        let again = client(next, "alice"), bob = client(next, "bob")
        for number in UInt64(1)...3 {
            again.number = number - 1
            again.retain("lesson", ["a", "b", "c"][Int(number) - 1], bytes("\(number)"))
        }
        next.persist()
        #expect(
            again.board() == ["accepted 1 at 1", "stored 1 at 1", "accepted 2 at 2", "stored 2 at 2", "accepted 3 at 3", "stored 3 at 3"])
        let atEnd = since(bob, position(2))
        #expect(atEnd?.recovered == false && atEnd?.reset == nil && atEnd?.after == 2 && atEnd?.epoch.map { $0.start } == 1_800_000_100)
        #expect(bob.board() == ["3 c=3", "caughtUp 3"])
        #expect(since(bob, position(1))?.reset == nil && bob.board() == ["2 b=2", "3 c=3", "caughtUp 3"])
        #expect(since(bob, position(3))?.reset == true && bob.board() == ["1 a=1", "2 b=2", "3 c=3", "caughtUp 3"])
        #expect(since(bob, position(0, start: 1_700_000_000))?.reset == true)
        #expect(since(bob, .beginning)?.recovered == true)
    }

    @Test("[BL5] a channel that ended and comes to be again goes on above its board; unretained messages of before are told missing")
    func channelEnded() {
        let driver = driver(), alice = client(driver, "alice")
        alice.publish("lesson", bytes("plain"))
        alice.retain("lesson", "a", bytes("2"))
        driver.persist()
        driver.cut(alice.id)
        driver.advance(.seconds(1_300))
        #expect(driver.hub.census().channels.isEmpty && driver.hub.census().boards == 1)
        let bob = client(driver, "bob"), answer = since(bob, .beginning)
        #expect(answer?.head == 2 && answer?.recovered == false)
        #expect(bob.board() == ["gap 1…1", "2 a=2", "caughtUp 2"])
    }

    // MARK: - Clearing, listing, removing

    @Test(
        "[BL6] clear takes all as one event and is answered when it is durable; undone within 10 minutes what was not written since comes back, author and time as they were"
    )
    func clearing() throws {
        let driver = driver(), alice = client(driver, "alice"), bob = client(driver, "bob")
        for key in ["a", "b", "c"] { alice.retain("lesson", key, bytes(key)) }
        driver.persist()
        bob.subscribe("lesson", features: ["messages"])
        alice.subscribe("lesson", features: ["messages"])
        _ = alice.board()
        let request = alice.nextRequest()
        driver.send(.json(.clear, ChannelRequest(id: request, channel: try Name("lesson"))), from: alice.id)
        #expect(alice.outcome(request) == .nothing && bob.board() == ["4 cleared"])
        driver.persist()
        #expect(alice.answer(ClearAnswer.self, alice.outcome(request)) == ClearAnswer(id: request, offset: 4, records: 3))
        #expect(alice.board() == ["4 cleared"] && driver.hub.census().boardRecords == 0)
        alice.retain("lesson", "b", bytes("new"))
        driver.persist()
        #expect(bob.board() == ["5 b=new"])
        _ = alice.board()
        let undo = bob.nextRequest()
        driver.send(.json(.undoClear, ChannelRequest(id: undo, channel: try Name("lesson"))), from: bob.id)
        driver.persist()
        #expect(bob.answer(ClearAnswer.self, bob.outcome(undo))?.records == 3)
        #expect(bob.board() == ["catchingUp 5", "6 a=a", "8 c=c", "caughtUp 8"])
        // Her own ones come back to her as well: nobody has them.
        #expect(alice.board() == ["catchingUp 5", "6 a=a", "8 c=c", "caughtUp 8"])
        #expect(code(bob.request(.undoClear) { ChannelRequest(id: $0, channel: try! Name("lesson")) }) == .nothingToUndo)
        bob.request(.clear) { ChannelRequest(id: $0, channel: try! Name("lesson")) }
        driver.persist()
        driver.advance(.seconds(600))
        let late = client(driver, "carol")
        #expect(code(late.request(.undoClear) { ChannelRequest(id: $0, channel: try! Name("lesson")) }) == .nothingToUndo)
        #expect(code(late.request(.clear) { ChannelRequest(id: $0, channel: try! Name("nowhere")) }) == .boardNotFound)
    }

    @Test("[BL9] boards are listed in pages by name; a removed one is gone for good, its subscribers begin anew")
    func removing() throws {
        let driver = driver(), alice = client(driver, "alice"), bob = client(driver, "bob")
        for name in ["c", "a", "b"] { alice.retain(name, "k", bytes(name)) }
        driver.persist()
        func page(_ after: String?, _ limit: Int) -> BoardsAnswer? {
            alice.answer(
                BoardsAnswer.self, alice.request(.boards) { PageRequest(id: $0, after: after.map { try! Name($0) }, limit: limit) })
        }
        #expect(page(nil, 2)?.boards.map(\.channel) == ["a", "b"] && page(nil, 2)?.next?.text == "b")
        #expect(page("b", 2)?.boards.map(\.channel) == ["c"] && page("b", 2)?.next == nil && page(nil, 1)?.bytes == 3 * 66)
        #expect(code(alice.request(.boards) { PageRequest(id: $0, limit: 101) }) == .badRequest)
        bob.subscribe("b", features: ["messages"], since: .beginning)
        #expect(bob.board() == ["1 k=b", "caughtUp 1"])
        let request = alice.nextRequest()
        driver.send(.json(.removeBoard, ChannelRequest(id: request, channel: try Name("b"))), from: alice.id)
        alice.retain("b", "k", bytes("x"))
        #expect(alice.outcome(request) == .nothing && alice.board().last?.hasSuffix("busy") == true && bob.board().isEmpty)
        driver.persist()
        #expect(alice.answer(EmptyAnswer.self, alice.outcome(request)) != nil && bob.board() == ["reset 1", "caughtUp 1"])
        #expect(driver.hub.census().boards == 2 && driver.hub.census().boardBytes == 2 * 66)
        alice.retain("b", "k", bytes("new"))
        driver.persist()
        #expect(bob.board() == ["2 k=new"])
        #expect(driver.restarted(start: 1_800_000_200).hub.census().boards == 3)
    }
}
