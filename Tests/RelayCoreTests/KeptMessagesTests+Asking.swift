import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// Pages of the history, and messages that are published twice.
extension KeptMessagesTests {
    // MARK: - Asking

    private func history(
        _ client: TestClient, from: UInt64? = nil, backwards: Bool? = nil, limit: Int? = nil, of channel: String = "lesson"
    ) -> (offsets: [UInt64], answer: HistoryAnswer?) {
        let outcome = client.request(.history) {
            HistoryRequest(id: $0, channel: try! Name(channel), from: from, backwards: backwards, limit: limit)
        }
        let items = client.others.filter { $0.type == FrameType.historyItem.rawValue }
        client.others = []
        return (
            items.map { frame in frame.body.withUnsafeBytes { try! HistoryItemFrame(flags: frame.flags, body: $0).offset } },
            client.answer(HistoryAnswer.self, outcome)
        )
    }

    @Test("[HI1] a relay is given other bounds while it runs: of a smaller history the newest stay, of none nothing; a larger one grows")
    func otherBounds() {
        let driver = driver()
        let alice = TestClient(driver, "alice"), bob = bob(driver)
        for number in 1...9 as ClosedRange<UInt8> { alice.publish("lesson", [number]) }
        func kept(most: Int) -> [UInt64] {
            var configuration = driver.hub.settings
            configuration.historyMessagesMax = most
            configuration.limits.messagesPerSecond = 1
            driver.handle(.configurationChanged(configuration))
            alice.publish("lesson", [0])
            return history(bob).offsets
        }
        #expect(kept(most: 3) == [8, 9, 10])
        #expect(kept(most: 0) == [])
        #expect(kept(most: 5) == [12])
        #expect(driver.hub.settings.limits.messagesPerSecond == 1_000_000, "clients were told it")
    }

    @Test("[HI6, BL8] history: each part of a drawing comes by itself, and says which it is")
    func parts() throws {
        let driver = driver()
        let alice = TestClient(driver, "alice"), bob = bob(driver)
        for part in 1...2 as ClosedRange<UInt16> {
            alice.part("lesson", "big", part, of: 2, [UInt8(part)], flags: [])
        }
        alice.publish("lesson", [3])
        _ = bob.request(.history) { HistoryRequest(id: $0, channel: try! Name("lesson"), from: nil, backwards: nil, limit: nil) }
        let items = bob.others.filter { $0.type == FrameType.historyItem.rawValue }.map { item in
            item.body.withUnsafeBytes { body in
                let frame = try! HistoryItemFrame(flags: item.flags, body: body)
                return "\(frame.flags.contains(.part)) \(frame.part)/\(frame.parts) \(Array(frame.payload))"
            }
        }
        #expect(items == ["true 1/2 [1]", "true 2/2 [2]", "false 1/1 [3]"])
    }

    @Test("[HI6, BL3] history has no records: what a board had, has cleared or removed comes from the board alone")
    func records() {
        let driver = driver()
        let alice = TestClient(driver, "alice"), bob = bob(driver)
        alice.retain("lesson", "a", [1])
        alice.publish("lesson", [2])
        alice.retain("lesson", "a", [3])
        alice.retain("lesson", "b", [4])
        alice.retain("lesson", "b", [])
        alice.publish("lesson", [6])
        let page = history(bob)
        #expect(page.offsets == [2, 6] && page.answer?.count == 2 && page.answer?.head == 6)
        let newest = history(bob, backwards: true, limit: 1)
        #expect(newest.offsets == [6] && newest.answer?.next == 2)
        #expect(history(bob, from: 3, limit: 1).offsets == [6])
    }

    @Test("[HI6] history: pages forwards and backwards, from an offset, as many as asked for and as fit, and where to go on")
    func pages() {
        let driver = driver {
            $0.historyMessagesMax = 8
            $0.historyPageBytesMax = 5 * 130
        }
        let alice = TestClient(driver, "alice"), bob = bob(driver)
        for _ in 1...10 { alice.publish("lesson", [UInt8](repeating: 1, count: 100)) }
        let first = history(bob)
        #expect(
            first.offsets == [3, 4, 5, 6, 7] && first.answer?.next == 8 && first.answer?.floor == 2 && first.answer?.head == 10
                && first.answer?.count == 5)
        let rest = history(bob, from: 8)
        #expect(rest.offsets == [8, 9, 10] && rest.answer?.next == nil)
        let newest = history(bob, backwards: true, limit: 2)
        #expect(newest.offsets == [10, 9] && newest.answer?.next == 8)
        #expect(history(bob, from: 8, backwards: true).offsets == [8, 7, 6, 5, 4])
        #expect(
            history(bob, from: 1, limit: 1).offsets == [3] && history(bob, from: 99).offsets == []
                && history(bob, from: 2, backwards: true).offsets == [])
        let none = history(bob, of: "nobody")
        #expect(none.offsets == [] && none.answer?.epoch == nil && none.answer?.head == 0)
        for limit in [0, 101] {
            let outcome = bob.request(.history) { HistoryRequest(id: $0, channel: try! Name("lesson"), limit: limit) }
            guard case .error(let error) = outcome else {
                Issue.record("limit \(limit) passed")
                continue
            }
            #expect(error.code == .badRequest && error.actual == UInt64(limit))
        }
    }

    // MARK: - Once

    private func outcome(_ client: TestClient, _ number: UInt64) -> String? {
        for frame in client.frames().reversed() {
            if frame.type == FrameType.accepted.rawValue {
                let values = frame.body.withUnsafeBytes { body in
                    var reader = ByteReader(body)
                    return [reader.integer(UInt64.self)!, reader.integer(UInt64.self)!]
                }
                if values[0] == number { return "accepted \(values[1])" }
            }
            if frame.type == FrameType.error.rawValue {
                let error = TestClient.decode(ErrorBody.self, frame.body)
                if error.number == number { return error.code.name }
            }
        }
        return nil
    }

    private func send(_ client: TestClient, _ number: UInt64, _ payload: [UInt8] = [1]) -> String? {
        client.driver.send(.publish(number: number, channel: "lesson", payload: payload), from: client.id)
        return outcome(client, number)
    }

    private func retain(_ client: TestClient, _ number: UInt64) -> String? {
        client.driver.send(.publish(number: number, channel: "lesson", key: "k", flags: [.retain], payload: [1]), from: client.id)
        return outcome(client, number)
    }

    private func direct(_ client: TestClient, _ number: UInt64) -> String? {
        client.driver.send(.direct(number: number, user: "bob", payload: [1]), from: client.id)
        return outcome(client, number)
    }

    @Test(
        "[MS9] a number that comes again has the same offset, is delivered once and costs nothing; one passed over and one too old are told apart"
    )
    func once() {
        let driver = driver { $0.limits.messagesPerSecond = 300 }
        let alice = TestClient(driver, "alice"), bob = bob(driver)
        bob.subscribe("lesson", features: ["messages"])
        #expect(send(alice, 5) == "accepted 1" && send(alice, 7) == "accepted 2")
        #expect(
            send(alice, 5) == "accepted 1" && send(alice, 7) == "accepted 2" && send(alice, 6) == "notAccepted"
                && send(alice, 4) == "notAccepted")
        #expect(told(bob) == ["1", "2"])
        for number in UInt64(8)...262 { _ = send(alice, number) }
        #expect(send(alice, 7) == "accepted 2", "256 are remembered")
        #expect(send(alice, 5) == "outcomeUnknown" && send(alice, 4) == "outcomeUnknown")
        // 257 of 300 at one instant were new: those that came again took nothing.
        for number in UInt64(300)..<343 { #expect(send(alice, number)?.hasPrefix("accepted") == true) }
        #expect(send(alice, 343) == "rateLimited")
    }

    @Test("[MS9, HI2, SE2] 16 zeros are an instance as any other")
    func zeros() {
        let driver = driver(), zeros = "0000000000000000"
        let first = TestClient(driver, "alice", instance: zeros)
        #expect(send(first, 1) == "accepted 1")
        #expect(answer(first, since: .beginning)?.recovered == true && told(first) == ["caughtUp 1"], "its own")
        driver.cut(first.id)
        driver.advance(.seconds(100))
        let again = TestClient(driver, "alice", instance: zeros)
        #expect(again.welcome?.resumed == false && send(again, 1) == "accepted 1")
    }

    @Test(
        "[MS9] it is remembered for ten minutes past the session, for four other client objects of a user, and nothing is left of it then")
    func remembered() {
        let driver = driver()
        let first = TestClient(driver, "alice", instance: "0000000000000001")
        // Keeps the channel, and so its numbering.
        _ = first.outcome(first.sendSet("lesson", [("title", "x")]))
        #expect(send(first, 1) == "accepted 1")
        driver.cut(first.id)
        driver.advance(.seconds(500))
        let again = TestClient(driver, "alice", instance: "0000000000000001")
        #expect(again.welcome?.resumed == false && send(again, 1) == "accepted 1")
        for instance in 2...5 {
            let other = TestClient(driver, "alice", instance: "000000000000000\(instance)")
            #expect(send(other, 1)?.hasPrefix("accepted") == true)
            driver.cut(other.id)
        }
        let kept = TestClient(driver, "alice", instance: "0000000000000001")
        #expect(send(kept, 1) == "accepted 1")
        driver.cut(kept.id)
        let sixth = TestClient(driver, "alice", instance: "0000000000000006")
        #expect(send(sixth, 1) == "accepted 6")
        driver.cut(sixth.id)
        driver.advance(.seconds(620))
        let late = TestClient(driver, "alice", instance: "0000000000000001")
        #expect(send(late, 1) == "accepted 7", "after ten minutes it is a new one")
        driver.cut(late.id)
        driver.advance(.seconds(2_000))
        #expect(driver.hub.census().deadlines == 0 && driver.hub.census().users == 0)
    }

    /// Logs in again as the client object `instance`, which has sent numbers up to `lastNumber`.
    private func back(_ driver: HubDriver, _ instance: String, lastNumber: UInt64) -> TestClient {
        TestClient(driver, "alice", instance: instance, lastNumber: lastNumber)
    }

    private func memory(_ client: TestClient) -> String {
        "\(client.welcome!.lastNumber)\(client.welcome!.forgotten == true ? " forgotten" : "")"
    }

    @Test("[MS9, SE6] a client that slept for eleven minutes is told that it is forgotten: nothing that it sends again is delivered twice")
    func asleep() {
        let driver = driver(), instance = "0000000000000001"
        let first = TestClient(driver, "alice", instance: instance)
        // Keeps the channel, and so its numbering.
        _ = first.outcome(first.sendSet("lesson", [("title", "x")]))
        #expect(memory(first) == "0" && send(first, 1) == "accepted 1" && send(first, 2) == "accepted 2")
        driver.cut(first.id)
        driver.advance(.seconds(300))
        let known = back(driver, instance, lastNumber: 4)
        #expect(memory(known) == "2" && send(known, 2) == "accepted 2" && send(known, 4) == "accepted 3", "sent, and never received")
        driver.cut(known.id)
        driver.advance(.seconds(660))
        for _ in 1...2 {
            let late = back(driver, instance, lastNumber: 5)
            #expect(memory(late) == "0 forgotten")
            #expect(send(late, 4) == "outcomeUnknown" && send(late, 5) == "outcomeUnknown" && direct(late, 5) == "outcomeUnknown")
            // Its welcome may have been lost: it is told again.
            driver.cut(late.id)
        }
        let late = back(driver, instance, lastNumber: 5)
        #expect(send(late, 6) == "accepted 4" && send(late, 5) == "outcomeUnknown" && send(late, 6) == "accepted 4")
        #expect(memory(back(driver, instance, lastNumber: 7)) == "6")
    }

    @Test("[MS9] five other client objects later it is forgotten; one that sent nothing makes room before one that did")
    func others() {
        let driver = driver()
        func visit(_ instance: Int, lastNumber: UInt64 = 0, sends number: UInt64?) -> TestClient {
            let client = back(driver, "000000000000000\(instance)", lastNumber: lastNumber)
            if let number { #expect(send(client, number)?.hasPrefix("accepted") == true) }
            driver.cut(client.id)
            return client
        }
        _ = visit(1, sends: 1)
        _ = visit(2, sends: nil)
        for instance in 3...6 { _ = visit(instance, sends: 1) }
        #expect(memory(visit(1, lastNumber: 3, sends: nil)) == "1", "the second made room")
        #expect(memory(visit(2, lastNumber: 3, sends: nil)) == "0 forgotten")
        for instance in 7...9 { _ = visit(instance, sends: 1) }
        let gone = back(driver, "0000000000000003", lastNumber: 1)
        #expect(memory(gone) == "0 forgotten" && send(gone, 1) == "outcomeUnknown" && send(gone, 2)?.hasPrefix("accepted") == true)
    }

    @Test("[MS9] what was sent and never received is new when the client comes back, also when nothing else came of it")
    func neverReceived() {
        let driver = driver()
        let first = TestClient(driver, "alice", instance: "0000000000000001")
        driver.cut(first.id)
        driver.advance(.seconds(60))
        let again = back(driver, "0000000000000001", lastNumber: 3)
        #expect(memory(again) == "0" && send(again, 2) == "accepted 1")
    }

    @Test("[MS9, BL2] to a relay that was started again what is not retained is unknown, and what is retained is new unless it was stored")
    func startedAgain() {
        let first = driver(), instance = "0000000000000001"
        #expect(send(TestClient(first, "alice", instance: instance), 1) == "accepted 1")
        let driver = driver()
        let again = back(driver, instance, lastNumber: 3)
        #expect(memory(again) == "0 forgotten" && send(again, 1) == "outcomeUnknown" && retain(again, 2)?.hasPrefix("accepted") == true)
        #expect(send(again, 3) == "outcomeUnknown" && send(again, 4)?.hasPrefix("accepted") == true)
        driver.advance(.seconds(601))
        let late = TestClient(driver, "bob", instance: "0000000000000002", lastNumber: 3)
        #expect(retain(late, 3) == "outcomeUnknown" && retain(late, 4)?.hasPrefix("accepted") == true)
    }

    @Test("[SE2, MS9] a number above 2⁵³−1 was never sent")
    func numberTooHigh() {
        let client = TestClient(driver(), "alice", lastNumber: Limits.integerMax + 1)
        #expect(client.welcome == nil && client.others.contains { TestClient.decode(ErrorBody.self, $0.body).code == .badRequest })
        #expect(TestClient(driver(), "alice", lastNumber: Limits.integerMax).welcome != nil)
    }

    @Test("[HI1] who fills channel after channel from one address ages out its own messages, and nobody else's, whoever writes last where")
    func totalOfAnAddress() {
        let driver = driver { $0.historyBytesTotalMax = 20 * 386 }
        let alice = TestClient(driver, "alice", from: .ipv4(1)), mallory = TestClient(driver, "mallory", from: .ipv4(2))
        let friend = TestClient(driver, "friend", from: .ipv4(3)), bytes = [UInt8](repeating: 1, count: 100)
        for _ in 0..<3 { alice.publish("lesson", bytes) }
        mallory.publish("lesson", bytes)
        for number in 0..<60 {
            driver.advance(.milliseconds(20))
            mallory.publish("trash-\(number % 3)", bytes)
            if number % 20 == 0 { (0..<3).forEach { friend.publish("trash-\($0)", bytes) } }
        }
        #expect(driver.hub.census().historyBytes <= 20 * 386 && driver.hub.census().historyMessages >= 18)
        let bob = bob(driver)
        bob.subscribe("lesson", since: .beginning)
        #expect(told(bob) == ["1", "2", "3", "4", "caughtUp 4"])
    }

    @Test("[MS9] of all users so many client objects are remembered: the oldest are forgotten first")
    func rememberedInAll() {
        let driver = driver { $0.publishWindowBytesMax = 32 * (384 + 32) }
        for number in 0..<50 {
            let client = TestClient(driver, "user-\(number)")
            #expect(send(client, 1) == "accepted \(number + 1)")
            driver.cut(client.id)
            // Ended and forgotten, all but its window.
            driver.advance(.seconds(13))
        }
        #expect(send(TestClient(driver, "user-49"), 1) == "accepted 50" && send(TestClient(driver, "user-25"), 1) == "accepted 26")
        #expect(send(TestClient(driver, "user-10"), 1) == "accepted 51", "it is a new one")
    }

    @Test("[MS9] users who come and go leave one deadline, however many they are")
    func comeAndGo() {
        let driver = driver { $0.publishWindowBytesMax = 40 * 384 }
        for round in 1...10 {
            let clients = (0..<20).map { TestClient(driver, "user-\(round)-\($0)") }
            for client in clients { driver.cut(client.id) }
            driver.advance(.seconds(13))
        }
        #expect(driver.hub.census().deadlines < 10)
        driver.advance(.seconds(580))
        #expect(memory(TestClient(driver, "user-10-19", lastNumber: 1)) == "0")
        driver.advance(.seconds(21))
        #expect(memory(TestClient(driver, "user-10-18", lastNumber: 1)) == "0 forgotten")
    }
}
