import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@Suite struct LockTests {
    private let driver = HubDriver()

    private func code(_ outcome: TestClient.Outcome) -> ErrorCode? {
        if case .error(let body) = outcome { body.code } else { nil }
    }

    private func fencing(_ client: TestClient, _ outcome: TestClient.Outcome) -> UInt64? {
        client.answer(FencingAnswer.self, outcome)?.fencing
    }

    private func client(_ user: String, presenceTimeoutMs: Int? = nil, resume: String? = nil) -> TestClient {
        TestClient(driver, user, instance: "00000000000000aa", resume: resume, presenceTimeoutMs: presenceTimeoutMs)
    }

    /// Time passes; those who are awake are heard from.
    private func pass(_ duration: Duration, awake: [TestClient]) {
        var rest = duration
        while rest > .zero {
            for client in awake { driver.send(Frame(.ping), from: client.id) }
            let step = min(rest, .seconds(2))
            driver.advance(step)
            rest -= step
        }
    }

    @Test("[LK1, LK2] 32 locks per channel, one more is refused; ttl 1,000…300,000; a lock that is not there is lockNotFound")
    func set() throws {
        let alice = client("alice")
        #expect(code(alice.acquire("lesson", "pen")) == .lockNotFound)
        #expect(code(alice.lock(.removeLock, "lesson", "pen")) == .lockNotFound)
        for (ttl, passes) in [(999, false), (1_000, true), (300_000, true), (300_001, false)] {
            let outcome = alice.setLock("lesson", "ttl", ttlMs: ttl)
            #expect((code(outcome) == nil) == passes, "\(ttl)")
        }
        for index in 1..<32 { #expect(code(alice.setLock("lesson", "lock-\(index)")) == nil) }
        guard case .error(let error) = alice.setLock("lesson", "one more") else { throw Unexpected() }
        #expect(error.code == .limitReached && error.limit == 32 && error.actual == 33)
        #expect(code(alice.setLock("lesson", "lock-1", ttlMs: 5_000)) == nil, "one that is there is no further one")
        #expect(code(alice.setLock("stream:lesson", "another channel")) == nil)
        #expect(alice.locks("lesson").count == 32 && alice.locks("lesson").first { $0.lock == "lock-1" }?.ttl == .seconds(5))
    }

    @Test(
        "[LK3, LK4, LK6] a free lock is acquired, a held one refused; only its owner releases it; each acquisition has a greater fencing number"
    )
    func acquire() throws {
        let alice = client("alice"), bob = client("bob")
        alice.setLock("lesson", "pen")
        let first = try #require(fencing(alice, alice.acquire("lesson", "pen")))
        let again = try #require(fencing(alice, alice.acquire("lesson", "pen")))
        guard case .error(let error) = bob.acquire("lesson", "pen") else { throw Unexpected() }
        #expect(error.code == .lockHeld && error.text.contains("alice"))
        #expect(code(bob.lock(.releaseLock, "lesson", "pen")) == .lockNotHeld)
        #expect(code(alice.lock(.releaseLock, "lesson", "pen")) == nil)
        #expect(code(alice.lock(.releaseLock, "lesson", "pen")) == .lockNotHeld)
        let bobs = try #require(fencing(bob, bob.acquire("lesson", "pen")))
        bob.lock(.removeLock, "lesson", "pen")
        alice.setLock("lesson", "pen")
        let anew = try #require(fencing(alice, alice.acquire("lesson", "pen")))
        #expect(first < again && again < bobs && bobs < anew)
    }

    @Test(
        "[LK4] who waits gets the lock in the order of the requests, is refused when its time is over, and leaves the line with its connection"
    )
    func waiting() {
        let alice = client("alice"), users = ["bob", "cleo", "dora", "emil"].map { client($0) }
        alice.setLock("lesson", "pen")
        alice.acquire("lesson", "pen")
        #expect(code(users[0].acquire("lesson", "pen", waitMs: 0)) == .badRequest)
        #expect(code(users[0].acquire("lesson", "pen", waitMs: 300_001)) == .badRequest)
        let requests = zip(users, [60_000, 3_000, 60_000, 60_000]).map { user, wait in user.sendAcquire("lesson", "pen", waitMs: wait) }
        driver.advance(.milliseconds(2_999))
        #expect(users[1].outcome(requests[1]) == .nothing)
        driver.advance(.milliseconds(1))
        #expect(code(users[1].outcome(requests[1])) == .lockHeld)
        driver.cut(users[2].id)
        alice.lock(.releaseLock, "lesson", "pen")
        #expect(fencing(users[0], users[0].outcome(requests[0])) != nil)
        #expect(users[3].outcome(requests[3]) == .nothing)
        users[0].lock(.releaseLock, "lesson", "pen")
        #expect(fencing(users[3], users[3].outcome(requests[3])) != nil)
        #expect(alice.locks("lesson").first?.owner == "emil")
        // The one that was in line once does not get it later.
        let dora = client("dora", resume: users[2].welcome!.resumeToken)
        users[3].lock(.releaseLock, "lesson", "pen")
        #expect(dora.locks("lesson").first?.owner == nil)
    }

    @Test("[LK4] at most 100 wait for one lock")
    func waiters() throws {
        var configuration = Configuration()
        configuration.lockWaitersMax = 2
        let driver = HubDriver(configuration: configuration)
        let users = ["a", "b", "c", "d"].map { TestClient(driver, $0) }
        users[0].setLock("lesson", "pen")
        users[0].acquire("lesson", "pen")
        users[1].sendAcquire("lesson", "pen", waitMs: 1000)
        users[2].sendAcquire("lesson", "pen", waitMs: 1000)
        guard case .error(let error) = users[3].acquire("lesson", "pen", waitMs: 1000) else { throw Unexpected() }
        #expect(error.code == .limitReached && error.limit == 2 && error.actual == 3)
        #expect(Configuration().lockWaitersMax == 100)
    }

    @Test(
        "[LK5] the ttl runs only while the owner has no live connection: 10 s away and back it is still its own, 10 s more and it is free")
    func ttl() {
        let alice = client("alice"), bob = client("bob")
        bob.subscribe("lesson", features: ["locks"])
        alice.setLock("lesson", "pen", ttlMs: 10_000)
        alice.acquire("lesson", "pen")
        pass(.seconds(20), awake: [alice, bob])
        _ = bob.locksEvents()
        driver.cut(alice.id)
        pass(.milliseconds(9_999), awake: [bob])
        let back = client("alice", resume: alice.welcome!.resumeToken)
        #expect(back.welcome?.resumed == true)
        pass(.seconds(20), awake: [back, bob])
        #expect(bob.locksEvents().isEmpty)
        back.request(.logout) { EmptyRequest(id: $0) }
        pass(.milliseconds(9_999), awake: [bob])
        #expect(bob.locks("lesson").first?.owner == "alice", "the end of a session does not free it")
        driver.advance(.milliseconds(1))
        #expect(bob.locksEvents().map(\.event) == [.expired])
        #expect(bob.locks("lesson").first?.owner == nil)
    }

    @Test("[LK5, SE15] who comes and goes with many locks leaves few deadlines behind, and what others wait for comes in its time")
    func comesAndGoes() throws {
        let alice = client("alice")
        alice.setLock("lesson", "pen", ttlMs: 300_000)
        alice.acquire("lesson", "pen")
        driver.cut(alice.id)
        var bob = client("bob", presenceTimeoutMs: 300_000)
        for index in 0..<32 {
            bob.setLock("other", "lock-\(index)", ttlMs: 300_000)
            bob.acquire("other", "lock-\(index)")
        }
        for _ in 0..<200 {
            driver.advance(.milliseconds(100))
            let token = try #require(bob.welcome?.resumeToken)
            driver.cut(bob.id)
            bob = client("bob", presenceTimeoutMs: 300_000, resume: token)
            #expect(bob.welcome?.resumed == true)
        }
        #expect(driver.hub.census().deadlines < 2_048, "of 200 absences, with 32 locks each")
        pass(.milliseconds(279_999), awake: [bob])
        #expect(code(bob.acquire("lesson", "pen")) == .lockHeld)
        pass(.milliseconds(1), awake: [bob])
        #expect(code(bob.acquire("lesson", "pen")) == nil)
    }

    @Test("[LK5] a newer login of the owner keeps its locks; leaving the channel does too")
    func kept() {
        let alice = client("alice")
        alice.subscribe("lesson")
        alice.setLock("lesson", "pen", ttlMs: 1_000)
        alice.acquire("lesson", "pen")
        alice.request(.unsubscribe) { ChannelRequest(id: $0, channel: try! Name("lesson")) }
        let other = TestClient(driver, "alice", instance: "00000000000000ff")
        driver.advance(.seconds(4))
        #expect(other.locks("lesson").first?.owner == "alice")
    }

    @Test("[LK7] revoke takes it from the owner named, and from nobody else")
    func revoke() {
        let alice = client("alice"), bob = client("bob")
        alice.setLock("lesson", "pen")
        alice.acquire("lesson", "pen")
        #expect(code(bob.lock(.revokeLock, "lesson", "pen")) == .badRequest)
        #expect(code(bob.lock(.revokeLock, "lesson", "pen", owner: "bob")) == .lockNotHeld)
        #expect(code(bob.lock(.revokeLock, "lesson", "pen", owner: "alice")) == nil)
        #expect(code(bob.lock(.revokeLock, "lesson", "pen", owner: "alice")) == .lockNotHeld)
        #expect(fencing(bob, bob.acquire("lesson", "pen")) != nil)
    }

    @Test(
        "[LK2, LK8, LK9] every change is told with the lock as it is then and who held it; who comes in gets all; who waits for a removed one is refused"
    )
    func events() {
        let alice = client("alice"), bob = client("bob")
        alice.subscribe("lesson", features: ["locks"])
        let snapshot = alice.locksEvents()
        #expect(snapshot.map(\.event) == [.snapshot] && snapshot[0].locks.isEmpty)
        alice.setLock("lesson", "pen", ttlMs: 2_000)
        alice.acquire("lesson", "pen")
        let bobs = bob.sendAcquire("lesson", "pen", waitMs: 1000)
        alice.lock(.releaseLock, "lesson", "pen")
        bob.lock(.revokeLock, "lesson", "pen", owner: "bob")
        alice.acquire("lesson", "pen")
        let waiting = bob.sendAcquire("lesson", "pen", waitMs: 1000)
        alice.lock(.removeLock, "lesson", "pen")
        let events = alice.locksEvents()
        #expect(events.map(\.event) == [.set, .acquired, .released, .acquired, .revoked, .acquired, .removed])
        #expect(events.map { $0.locks.map { $0.owner ?? "-" }.joined() } == ["-", "alice", "-", "bob", "-", "alice", "alice"])
        #expect(events.map { $0.user?.text ?? "-" } == ["-", "-", "alice", "-", "bob", "-", "alice"])
        #expect(fencing(bob, bob.outcome(bobs)) == events[3].locks[0].fencing)
        #expect(code(bob.outcome(waiting)) == .lockNotFound)
        alice.setLock("lesson", "b")
        alice.setLock("lesson", "a")
        bob.subscribe("lesson", features: ["locks"])
        #expect(bob.locksEvents().map { $0.locks.map(\.lock) } == [["a", "b"]])
        #expect(bob.locks("lesson").map(\.lock) == ["a", "b"])
    }

    @Test("[CH2] a channel with a lock stays; without it, and with nobody inside, nothing is left")
    func channelEnds() {
        let alice = client("alice")
        alice.setLock("stream:lesson", "pen")
        #expect(driver.hub.census().channels.count == 1 && driver.hub.census().locks == 1)
        alice.lock(.removeLock, "stream:lesson", "pen")
        #expect(driver.hub.census().channels.isEmpty && driver.hub.census().locks == 0)
    }

    private struct Unexpected: Error {}
}
