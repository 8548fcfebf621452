import RelayClient
import RelayClientCore
import RelayCore
import RelayIO
import RelayServer
import RelayWire
import Testing

/// What apps do with data tracks, as docs/moving-from-twilio.md has it.
@Suite struct DataTrackTests {
    private func with(_ users: String..., body: (WhiteboardRelay, [WhiteboardClient]) async throws -> Void) async throws {
        let server = try await WhiteboardRelay.start(.init(port: 0, storage: .inMemory, access: .open))
        var clients: [WhiteboardClient] = []
        for user in users { clients.append(try await WhiteboardClient.connect(to: server.address, as: user)) }
        try await body(server, clients)
        for client in clients { await client.close() }
        await server.stop()
    }

    @Test("tracks of three options come and go, each is told; their strings and bytes come as what they were, in order, to others only")
    func tracks() async throws {
        try await with("alice", "bob") { _, clients in
            let alice = try await clients[0].join("lesson"), bob = try await clients[1].join("lesson")
            for topic in ["pen", "sound", "state"] {
                try await bob.subscribeTopic(topic)
                try await alice.subscribeTopic(topic)
            }
            try await alice.joinTopic("pen", meta: "red", lifetime: .milliseconds(300))
            try await alice.joinTopic("sound", qos: .unordered)
            try await alice.joinTopic("state")
            for index in 0..<20 {
                try alice.send(.text("é\(index)"), topic: "pen")
                try alice.send(.bytes([0xFF, UInt8(index)]), topic: "sound")
            }
            try alice.send(.text(""), topic: "state")
            try await alice.leaveTopic("sound")
            try clients[0].send(.text("end"), toUser: "alice")
            try clients[0].send(.text("end"), toUser: "bob")

            var published: [String] = [], packets: [String: [Payload]] = [:]
            for await event in clients[1].told {
                if case .topics(let change) = event {
                    published += change.publishers.map { "\(change.kind) \($0.topic) \($0.user) \($0.meta)" }
                }
                if case .packet(let packet) = event { packets[packet.topic, default: []].append(packet.payload) }
                if case .direct = event { break }
            }
            #expect(published == ["joined pen alice red", "joined sound alice ", "joined state alice ", "left sound alice "])
            #expect(
                packets == [
                    "pen": (0..<20).map { .text("é\($0)") }, "sound": (0..<20).map { .bytes([0xFF, $0]) }, "state": [.text("")],
                ])
            for await event in clients[0].told {
                if case .packet(let packet) = event { Issue.record("one's own: \(packet)") }
                if case .direct = event { break }
            }
        }
    }

    @Test("a reader that keeps up gets every packet of a slot, too: the newest wins only where there is no room")
    func slots() async throws {
        try await with("alice", "bob") { _, clients in
            let alice = try await clients[0].join("lesson"), bob = try await clients[1].join("lesson")
            try await bob.subscribeTopic("pen")
            try await alice.joinTopic("pen")
            for index in 0..<50 { try alice.send(.text("\(index)"), topic: "pen", slot: 1) }
            try clients[0].send(.text("end"), toUser: "bob")
            var places: [Payload] = []
            for await event in clients[1].told {
                if case .packet(let packet) = event { places.append(packet.payload) }
                if case .packetsLost(let lost) = event { Issue.record("\(lost)") }
                if case .direct = event { break }
            }
            #expect(places == (0..<50).map { .text("\($0)") })
        }
    }

    @Test(
        "participants are told with oneself among them, with their names, as they come and as they go; a list can be had without coming in")
    func participants() async throws {
        try await with("alice", "bob", "carol") { _, clients in
            let alice = clients[0], bob = clients[1]
            try await bob.presence(of: .message("lesson")).set(["name": "Bob"])
            try await alice.subscribe("lesson")
            try await bob.subscribe("lesson")
            let page = try await clients[2].presence(of: .message("lesson")).users()
            #expect(page.total == 2 && page.members.map(\.user) == ["alice", "bob"])
            try await bob.unsubscribe("lesson")
            try await bob.subscribe("lesson")
            await bob.close()
            var told: [String] = []
            for await event in alice.told {
                guard case .presence(let change) = event else { continue }
                switch change.kind {
                case .snapshot(let members, let total): told.append("\(members.map(\.user)) of \(total)")
                case .joined(let member): told.append("+ \(member.user) \(member.states["name"] ?? "")")
                case .left(let user): told.append("- \(user)")
                default: told.append("\(change.kind)")
                }
                if told.count == 5 { break }
            }
            #expect(told.first == "[\"alice\"] of 1")
            #expect(Array(told.dropFirst().prefix(2)) == ["+ bob Bob", "- bob"])
            #expect(told[3].hasPrefix("+ bob") && told[4] == "- bob")
        }
    }
}
