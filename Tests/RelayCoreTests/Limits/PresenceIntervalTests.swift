import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@Suite struct PresenceIntervalTests {
    /// Longer than any of these tests: nobody but those who are meant to ends.
    private static let longTimeout = 300_000

    @Test("[PR6] 51 members turn a channel to intervals of 5 s, and 39 back, after what is untold; 50 and 40 change nothing")
    func edges() {
        let driver = HubDriver.patient()
        let watcher = TestClient(driver, "watcher", presenceTimeoutMs: Self.longTimeout)
        watcher.subscribe("lesson", features: ["presence"])
        _ = watcher.presence()
        var members: [TestClient] = []
        func come() {
            members.append(TestClient(driver, "u\(100 + members.count)", presenceTimeoutMs: Self.longTimeout))
            members.last!.subscribe("lesson", features: [])
        }
        func go() { members.removeLast().leave("lesson") }
        for _ in 0..<49 { come() }
        #expect(watcher.presence().map(\.event) == [PresenceEvent.Kind](repeating: .join, count: 49), "50 members: each at once")
        go()
        come()
        #expect(watcher.presence().map(\.event) == [.leave, .join])
        come()
        #expect(watcher.presence().isEmpty, "the 51st waits for the interval")
        driver.advance(.milliseconds(4_999))
        #expect(watcher.presence().isEmpty)
        driver.advance(.milliseconds(1))
        var told = watcher.presence()
        #expect(told.map(\.event) == [.interval] && told[0].joined?.map(\.user) == ["u149"])
        watcher.ping()

        while members.count > 39 { go() }
        #expect(watcher.presence().isEmpty, "40 members: still in intervals")
        come()
        go()
        #expect(watcher.presence().isEmpty)
        go()
        told = watcher.presence()
        #expect(told.map(\.event) == [.interval], "39: all that is untold at once")
        #expect(told.first?.left?.map(\.text) == (138..<150).map { "u\($0)" } && told.first?.joined == nil)
        go()
        come()
        #expect(watcher.presence().map(\.event) == [.leave, .join])
        driver.advance(.seconds(6))
        #expect(watcher.presence().isEmpty, "nothing is told twice")
    }

    /// A channel in intervals from three members on, and one who is told of them.
    private func watched(below: Int = 1) -> (driver: HubDriver, watcher: TestClient) {
        let driver = HubDriver.patient {
            $0.presenceIntervalAbove = 2
            $0.presenceIntervalBelow = below
        }
        let watcher = TestClient(driver, "watcher", presenceTimeoutMs: Self.longTimeout)
        watcher.subscribe("lesson", features: ["presence"])
        return (driver, watcher)
    }

    /// With two and these; the first interval ends at 5 s, and it is 0 s now.
    private func lesson(_ users: [String]) -> (driver: HubDriver, watcher: TestClient, [String: TestClient]) {
        let (driver, watcher) = watched()
        var clients: [String: TestClient] = [:]
        for user in ["x", "y"] + users {
            clients[user] = TestClient(driver, user, presenceTimeoutMs: user == "sleeper" ? 5_000 : Self.longTimeout)
            clients[user]!.subscribe("lesson", features: [])
        }
        driver.advance(.seconds(5))
        for client in [watcher] + clients.values { client.ping() }
        _ = watcher.presence()
        return (driver, watcher, clients)
    }

    /// `left` and `joined` and so on of one event, as text.
    private func text(_ event: PresenceEvent) -> String {
        let parts = [
            ("left", (event.left ?? []).map(\.text)), ("timedOut", (event.timedOut ?? []).map(\.text)),
            ("joined", (event.joined ?? []).map { $0.states.isEmpty ? $0.user : "\($0.user) \($0.states)" }),
            ("changed", (event.changed ?? []).map { "\($0.user) \($0.states)" }),
        ]
        return parts.filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.joined(separator: ", "))" }.joined(separator: "; ")
    }

    @Test("[PR7] a leave and a return in less than 2 s are not told, with other states they are a change, in 2 s they are both told")
    func flapping() {
        let (driver, watcher, clients) = lesson(["same", "other", "late", "gone"])
        func comeBack(_ user: String, states: [String: String] = [:]) {
            if !states.isEmpty { clients[user]!.setStates(states) }
            clients[user]!.subscribe("lesson", features: [])
        }
        for client in clients.values where !["x", "y"].contains(client.user) { client.leave("lesson") }
        driver.advance(.milliseconds(1_999))
        comeBack("same")
        comeBack("other", states: ["tool": "pen"])
        driver.advance(.milliseconds(1))
        comeBack("late")
        #expect(watcher.presence().isEmpty)
        driver.advance(.milliseconds(3_000))
        #expect(watcher.presence().map(text) == [#"left: gone, late; joined: late; changed: other ["tool": "pen"]"#])
        watcher.ping()
        driver.advance(.seconds(5))
        #expect(watcher.presence().isEmpty)
    }

    @Test("[PR7] a leave less than 2 s before an interval's end waits for the next one: a return in time is not told")
    func acrossIntervals() {
        let (driver, watcher, clients) = lesson(["back", "gone"])
        driver.advance(.milliseconds(4_000))
        for user in ["back", "gone"] { clients[user]!.leave("lesson") }
        driver.advance(.milliseconds(1_000))
        #expect(watcher.presence().isEmpty, "either may still come back")
        watcher.ping()
        driver.advance(.milliseconds(500))
        clients["back"]!.subscribe("lesson", features: [])
        driver.advance(.milliseconds(4_500))
        #expect(watcher.presence().map(text) == ["left: gone"])
    }

    @Test("[PR6] who comes and goes within one interval is not told, who times out is told as such, states come with the interval")
    func whatIsTold() {
        let (driver, watcher, clients) = lesson(["sleeper", "writer"])
        driver.cut(clients["sleeper"]!.id)
        clients["writer"]!.setStates(["tool": "pen"])
        let brief = TestClient(driver, "brief")
        brief.subscribe("lesson", features: [])
        brief.leave("lesson")
        #expect(watcher.presence().isEmpty)
        driver.advance(.milliseconds(4_999))
        watcher.ping()
        driver.advance(.milliseconds(1))
        #expect(watcher.presence().map(text) == [#"changed: writer ["tool": "pen"]"#])
        driver.advance(.seconds(5))
        #expect(watcher.presence().map(text) == ["timedOut: sleeper"])
    }

    @Test("[PR6] however often a channel turns to intervals and back, it has one each 5 s")
    func oneDeadline() {
        let (driver, watcher) = watched(below: 3)
        let alice = TestClient(driver, "alice", presenceTimeoutMs: Self.longTimeout),
            bob = TestClient(driver, "bob", presenceTimeoutMs: Self.longTimeout)
        alice.subscribe("lesson", features: [])
        for _ in 0..<10 {
            bob.subscribe("lesson", features: [])
            driver.advance(.milliseconds(100))
            bob.leave("lesson")
        }
        bob.subscribe("lesson", features: [])
        _ = watcher.presence()
        var told = 0
        for step in 0..<100 {
            alice.setStates(["at": "\(step)"])
            for client in [watcher, bob] { client.ping() }
            driver.advance(.milliseconds(100))
            told += watcher.presence().count
        }
        #expect(told == 2, "in 10 s")
    }

    @Test("[PR6] those who change all the time leave others their place in an interval of many frames")
    func turns() {
        let (driver, watcher) = watched()
        // As much as one frame holds.
        let busy = (1...6).map { TestClient(driver, "a\($0)", presenceTimeoutMs: Self.longTimeout) }
        let text = String(repeating: "x", count: 2_040)
        func change(_ step: Int) { for client in busy { client.setStates(["k": text + "\(step)"]) } }
        for client in busy { client.subscribe("lesson", features: []) }
        change(100)
        driver.advance(.seconds(6))
        _ = watcher.presence()
        let zoe = TestClient(driver, "zoe", presenceTimeoutMs: Self.longTimeout)
        zoe.subscribe("lesson", features: [])
        var joined: [String] = []
        for step in 101..<140 {
            change(step)
            for client in [watcher, zoe] { client.ping() }
            driver.advance(.milliseconds(250))
            joined += watcher.presence().flatMap { $0.joined ?? [] }.map(\.user)
        }
        #expect(joined.contains("zoe"))
    }
}
