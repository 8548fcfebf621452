// docs/swift.md links to this file. Tests without sockets and seconds: the relay and its time are in memory. `expectEqual` is the test's.
import RelayClient
import RelayTesting

func awayAfterTenSeconds() async throws {
    // Its clients are editors; `relay.client("ann", role: .coeditor)` may change what others put.
    let relay = TestRelay()
    let ann = try relay.client("ann"), ben = try relay.client("ben")
    let here = try ann.channel("lesson"), there = try ben.channel("lesson")
    try await here.open()
    try await there.open()
    // His link breaks, and he makes no other.
    relay.setReachable(false, for: ben)
    _ = try await here.board.put("0,0 10,20", key: "s1").stored
    relay.advance(by: .seconds(10))
    expectEqual(try await here.presence.users().members.map(\.user), ["ann"])
    relay.setReachable(true, for: ben)
    relay.advance(by: .seconds(15))
    expectEqual(try await there.board.records()["s1"]?.author, "ann")
}

func stalledLink() async throws {
    // Rates are so high that no test reaches them, unless it says otherwise.
    let relay = TestRelay { limits in limits.messagesPerSecond = 60 }
    let ann = try relay.client("ann") { options in options.requestTimeout = .seconds(5) }
    let lesson = try ann.channel("lesson")
    try await lesson.open()
    // As on bad Wi-Fi: requests leave, and no answer comes.
    relay.setHeld(true, for: ann)
    let call = Task { () async -> RelayError? in
        do throws(RelayError) { _ = try await lesson.history() } catch { return error }
        return nil
    }
    // A task begins when it has its turn: its time counts from then.
    try await relay.until { relay.unanswered(of: ann) == 1 }
    relay.advance(by: .seconds(5))
    let error = await call.value
    expectEqual(error?.code, .timedOut)
    expectEqual(error?.outcome, .unknown)
}
