// docs/swift.md links to this file. A test without sockets and seconds: the relay and its time are in memory. `expectEqual` is the test's.
import RelayClient
import RelayTesting

func awayAfterTenSeconds() async throws {
    let relay = TestRelay()
    let ann = try relay.client("ann"), ben = try relay.client("ben")
    let here = try ann.channel("lesson"), there = try ben.channel("lesson")
    try await here.open()
    try await there.open()
    relay.setReachable(false, for: ben)
    _ = try await here.board.put("0,0 10,20", key: "s1").stored
    relay.advance(by: .seconds(10))
    expectEqual(try await here.presence.users().members.map(\.user), ["ann"])
    relay.setReachable(true, for: ben)
    relay.advance(by: .seconds(15))
    expectEqual(try await there.board.records()["s1"]?.author, "ann")
}
