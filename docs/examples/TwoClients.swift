// docs/client-interface.md links to this file. A test: the relay runs in its process. `expectEqual` is the test's.
import RelayClient
import RelayServer

func twoClients() async throws {
    let relay = try await WhiteboardRelay.start(.init(port: 0, access: .open)), place = Invitation(relay.address)
    try await WhiteboardClient.withClient(place, user: "ann") { ann in
        try await WhiteboardClient.withClient(place, user: "ben") { ben in
            let here = try ann.channel("lesson"), there = try ben.channel("lesson")
            let changes = there.board.changes()
            try await there.open(from: .now)
            _ = try await here.board.put("0,0 10,20", key: "s1").stored
            for try await case .records(let records, _, _) in changes {
                expectEqual(records.map { [$0.key, $0.author] }, [["s1", "ann"]])
                break
            }
        }
    }
    await relay.stop()
}
