import RelayClient
import RelayPrimitives
import RelayTesting
import Testing
import WhiteboardModel

/// A relay in memory, and apps before it, none of which waits for a real second.
@Suite struct TestRelayTests {
    @Test("what one sends another gets, stored, and a reader's loop has taken all of it when the world has settled")
    func together() async throws {
        let relay = TestRelay()
        let alice = try relay.client("alice"), ben = try relay.client("ben")
        let lesson = try alice.channel("lesson"), heard = Heard()
        let events = try ben.channel("lesson").events()
        let reading = Task { for try await event in events { if case .message(let message) = event { heard.add(message.payload.text) } } }
        try await ben.channel("lesson").open()
        let receipts = try (1...100).map { try lesson.send("\($0)") }
        for receipt in receipts { _ = try await receipt.accepted }
        try await relay.settled(within: .seconds(300))
        #expect(heard.texts == (1...100).map { "\($0)" })
        #expect(try await lesson.board.put("0,0 1,1", key: "s1").stored > 0)
        reading.cancel()
        _ = await reading.result
    }

    @Test("a call over a link that stalls ends after its 15 s, which pass at once; then the client is on the same session again")
    func timeout() async throws {
        let relay = TestRelay()
        let alice = try relay.client("alice")
        try await alice.connect()
        relay.setHeld(true, for: alice)
        let lesson = try alice.channel("lesson")
        let call = Task { try await lesson.open() }
        try await relay.until(within: .seconds(300)) { relay.unanswered(of: alice) == 1 }
        relay.advance(by: .milliseconds(14_999))
        #expect(relay.unanswered(of: alice) == 1)
        relay.advance(by: .milliseconds(1))
        let error = await #expect(throws: RelayError.self) { try await call.value }
        #expect(error?.code == .timedOut)
        relay.setHeld(false, for: alice)
        relay.advance(by: .seconds(60))
        try await lesson.open()
        #expect(alice.link.isConnected)
    }

    @Test("who is not reachable is away after the presence timeout and not before, and back with all that was missed")
    func presence() async throws {
        let relay = TestRelay()
        let alice = try relay.client("alice"), ben = try relay.client("ben")
        let (seen, kept) = (try alice.channel("lesson"), try ben.channel("lesson"))
        let heard = Heard()
        let messages = kept.messages()
        let reading = Task { for try await case .message(let message) in messages { heard.add(message.payload.text) } }
        try await seen.open()
        try await kept.open()
        #expect(try await seen.presence.users().members.map(\.user) == ["alice", "ben"])
        relay.setReachable(false, for: ben)
        relay.advance(by: .milliseconds(9_999))
        #expect(try await seen.presence.users().members.map(\.user) == ["alice", "ben"])
        relay.advance(by: .milliseconds(1))
        #expect(try await seen.presence.users().members.map(\.user) == ["alice"])
        _ = try await seen.send("missed").accepted
        relay.setReachable(true, for: ben)
        relay.advance(by: .seconds(15))
        try await relay.settled(within: .seconds(300))
        #expect(heard.texts == ["missed"] && ben.link.isConnected)
        #expect(try await seen.presence.users().members.map(\.user) == ["alice", "ben"])
        reading.cancel()
        _ = await reading.result
    }

    @Test("a link that is cut is made again, and what was sent meanwhile is accepted once")
    func cut() async throws {
        let relay = TestRelay()
        let alice = try relay.client("alice")
        let lesson = try alice.channel("lesson")
        _ = try await lesson.send("0").accepted
        relay.setHeld(true, for: alice)
        let receipt = try lesson.send("1")
        relay.cut(alice)
        relay.setHeld(false, for: alice)
        relay.advance(by: .seconds(1))
        #expect(try await receipt.accepted == 2)
        #expect(alice.link == .connected(resumed: true))
    }

    @Test("the relay starts again on its disk: what was stored is there, and what its disk never got is not")
    func restart() async throws {
        let relay = TestRelay()
        let alice = try relay.client("alice")
        let board = try alice.channel("lesson").board
        _ = try await board.put("stored", key: "a").stored
        relay.setDiskHeld(true)
        let receipt = try board.put("accepted", key: "b")
        _ = try await receipt.accepted
        relay.restart()
        relay.setDiskHeld(false)
        relay.advance(by: .seconds(5))
        let fresh = try relay.client("ben")
        let records = try await fresh.channel("lesson").board.records()
        #expect(records["a"]?.payload == "stored")
        #expect(records["b"]?.payload == "accepted", "the client has sent again what was not told stored")
        _ = try await receipt.stored
    }

    @Test("sleepers and clients have their turns in the order of their times")
    func order() async throws {
        let relay = TestRelay()
        let heard = Heard(), clock = relay.clock
        let sleeps = [3, 1, 2].map { seconds in
            Task {
                try await clock.sleep(until: clock.now.advanced(by: .seconds(seconds)))
                heard.add("\(seconds)")
            }
        }
        try await relay.until(within: .seconds(300)) { clock.sleepers == 3 }
        for left in [2, 1, 0] {
            relay.advance(by: .seconds(1))
            #expect(clock.sleepers == left)
            try await relay.until(within: .seconds(300)) { heard.texts.count == 3 - left }
        }
        #expect(heard.texts == ["1", "2", "3"])
        #expect(clock.now.offset == .seconds(3))
        for sleep in sleeps { try await sleep.value }
        let late = Task { try await clock.sleep(until: clock.now.advanced(by: .seconds(60))) }
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
    }

    @Test("a reader that nobody reads is named, when the world does not settle")
    func unsettled() async throws {
        let relay = TestRelay()
        let alice = try relay.client("alice")
        let messages = try alice.channel("lesson").messages()
        try await alice.channel("lesson").open()
        _ = try await alice.channel("lesson").send("unread", echo: true).accepted
        #expect(relay.busyReaders == ["alice: Events<MessageEvent>"])
        _ = messages
    }

    @Test("roles are those of a relay with keys: a reader's message is refused, a wrong key is no way in")
    func roles() async throws {
        let relay = TestRelay()
        let reader = try relay.client("reader", role: .reader)
        let refused = await #expect(throws: RelayError.self) { _ = try await reader.channel("lesson").send("x").accepted }
        #expect(refused?.code == .notPermitted)
        let stranger = try relay.client("stranger") { $0.credential = .key("a wrong one") }
        let call = Task { try await stranger.connect() }
        let wrong = await #expect(throws: RelayError.self) { try await call.value }
        #expect(wrong?.code == .keyWrong)
    }

    @Test("of calls that begin at one time none goes without the secret that another one reads")
    func begunTogether() async throws {
        let relay = TestRelay()
        for number in 1...100 {
            let user = try relay.client("user-\(number)")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...4 { group.addTask { _ = try await user.boards() } }
                try await group.waitForAll()
            }
            await user.close()
        }
    }

    @Test("the same calls in the same order give the same times, the pauses before coming back among them", arguments: [UInt64(7), 8])
    func repeatable(seed: UInt64) async throws {
        func times() async throws -> [Duration] {
            let relay = TestRelay(seed: seed)
            let alice = try relay.client("alice")
            try await alice.connect()
            relay.setReachable(false, for: alice)
            relay.advance(by: .seconds(30))
            relay.setReachable(true, for: alice)
            var times: [Duration] = []
            for _ in 0..<4 {
                while !alice.link.isConnected { relay.advance(by: .milliseconds(1)) }
                times.append(relay.clock.now.offset)
                relay.cut(alice)
            }
            return times
        }
        let first = try await times()
        #expect(try await times() == first)
    }

    @Test("with the last reference a client leaves, and others see that without any time passing")
    func letGo() async throws {
        let relay = TestRelay()
        let alice = try relay.client("alice")
        let lesson = try alice.channel("lesson")
        try await lesson.open()
        func visit() async throws {
            let ben = try relay.client("ben")
            try await ben.channel("lesson").open()
            #expect(try await lesson.presence.users().members.map(\.user) == ["alice", "ben"])
        }
        try await visit()
        try await relay.settled(within: .seconds(300))
        #expect(try await lesson.presence.users().members.map(\.user) == ["alice"])
        #expect(relay.connections == 1 && relay.clock.now.offset == .zero)
    }

    @Test("a board model before a relay in memory: others' records, people, own work that waits while there is no link")
    @MainActor func model() async throws {
        let relay = TestRelay()
        let alice = try relay.client("alice"), ben = try relay.client("ben")
        let board = try BoardModel(alice.channel("lesson"))
        try await board.open()
        _ = try await ben.channel("lesson").board.put("0,0 10,20", key: "s1").stored
        try await ben.channel("lesson").open()
        try await relay.settled(within: .seconds(300))
        #expect(board.records["s1"]?.payload == "0,0 10,20" && board.people.keys.sorted() == ["alice", "ben"])
        relay.setReachable(false, for: alice)
        try alice.channel("lesson").board.put("mine", key: "s2")
        relay.advance(by: .seconds(11))
        try await relay.settled(within: .seconds(300))
        #expect(board.records["s2"]?.isPending == true && !board.link.isConnected)
        relay.setReachable(false, for: ben)
        relay.setReachable(true, for: alice)
        relay.advance(by: .seconds(15))
        try await relay.settled(within: .seconds(300))
        #expect(board.records["s2"]?.isPending == false && board.link.isConnected && board.people.keys.sorted() == ["alice"])
    }
}

private final class Heard: Sendable {
    private let list = Mutex<[String]>([])
    var texts: [String] { list.withLock { $0 } }
    func add(_ text: String?) { list.withLock { $0.append(text ?? "") } }
}
