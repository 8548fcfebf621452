import RelayClient
import RelayClientCore
import RelayCore
import RelayIO
import RelayServer
import RelayWire
import Testing

/// Boards from call to event: client library, sockets, relay and its storage in memory.
@Suite(.serialized) struct ClientBoardTests {
    private func relay() async throws -> WhiteboardRelay {
        let hub = Configuration.unhurried { $0.limits.messagesPerSecond = 5_000 }
        return try await WhiteboardRelay.start(.init(port: 0, storage: .inMemory, access: .open, hub: hub))
    }

    /// What a client was told of a channel, records of batches among the messages.
    private struct Told: Sendable {
        var messages: [Message] = []
        var batches = 0
        var other: [String] = []

        static func read(_ client: WhiteboardClient, until isDone: @Sendable (Told) -> Bool) async -> Told {
            var told = Told()
            for await event in client.told {
                switch event {
                case .message(let message): told.messages.append(message)
                case .board(let batch):
                    told.messages += batch.messages
                    told.batches += 1
                case .cleared: told.other.append("cleared")
                case .caughtUp: told.other.append("caughtUp")
                case .messagesMissed(let missed): told.other.append("missed \(missed.extent)")
                default: break
                }
                if isDone(told) { break }
            }
            return told
        }
    }

    private static func image(_ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

    @Test("[BL1, BL2, BL3] records are stored; who comes later gets the newest of each key in batches, and no removed one")
    func records() async throws {
        let server = try await relay()
        let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
        var receipts: [StoredReceipt] = []
        for index in 0..<300 { receipts.append(try alice.send(.text("old"), to: "lesson", retainedAs: "k\(index)")) }
        for index in 0..<200 {
            receipts.append(try alice.send(.text("new \(index)"), to: "lesson", customType: "stroke", retainedAs: "k\(index)"))
        }
        for index in 200..<250 { receipts.append(try alice.send(removing: "k\(index)", from: "lesson")) }
        for (index, receipt) in receipts.enumerated() {
            #expect(try await receipt.accepted == UInt64(index + 1))
            #expect(try await receipt.stored == UInt64(index + 1))
        }
        #expect(alice.unsent.unstored == 0 && alice.unsent.bytes == 0)
        let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
        let bobs = Task { await Told.read(bob) { $0.other.contains("caughtUp") } }
        try await bob.subscribe("lesson", features: [.messages], since: .beginning)
        let told = await bobs.value
        #expect(told.messages.map(\.key) == (250..<300).map { "k\($0)" } + (0..<200).map { "k\($0)" })
        #expect(told.messages.allSatisfy { $0.isRetained && !$0.isRemoval } && told.batches < 20 && told.other == ["caughtUp"])
        #expect(told.messages.last?.payload == .text("new 199") && told.messages.last?.customType == "stroke")
        let boards = try await alice.boards()
        #expect(boards.map(\.channel) == ["lesson"] && boards.first?.records == 250)
        for client in [alice, bob] { await client.close() }
        await server.stop()
    }

    @Test(
        "[BL8] drawings of 1 MiB, retained and not, come whole to who is there, in order with what was sent, and the retained one to who comes later"
    )
    func large() async throws {
        let server = try await relay()
        let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
        let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
        let bobs = Task { await Told.read(bob) { $0.messages.last?.payload == .text("end") } }
        try await bob.subscribe("lesson", features: [.messages])
        let image = Self.image(1 << 20)
        let kept = try alice.sendLarge(.bytes(image), to: "lesson", customType: "image", key: "photo", retain: true)
        #expect(try await kept.stored == kept.accepted)
        let passing = try alice.sendLarge(.text(String(repeating: "é", count: 1 << 19)), to: "lesson")
        _ = try await passing.stored
        _ = try await alice.sendLarge(.text("small"), to: "lesson").stored
        _ = try await alice.send(.text("end"), to: "lesson").accepted
        let told = await bobs.value
        #expect(told.messages.map(\.payload.byteCount) == [1 << 20, 1 << 20, 5, 3] && told.other.isEmpty, "\(told.other)")
        #expect(
            told.messages.first?.payload == .bytes(image) && told.messages.first?.key == "photo"
                && told.messages.first?.customType == "image")
        #expect(told.messages[1].payload == .text(String(repeating: "é", count: 1 << 19)))
        let cleo = try await WhiteboardClient.connect(to: server.address, as: "cleo")
        let cleos = Task { await Told.read(cleo) { $0.other.contains("caughtUp") } }
        try await cleo.subscribe("lesson", features: [.messages], since: .beginning)
        let later = await cleos.value
        #expect(later.messages.first?.payload == .bytes(image) && later.other == ["caughtUp"], "\(later.other)")
        for client in [alice, bob, cleo] { await client.close() }
        await server.stop()
    }

    @Test("[BL6, BL9] a board is cleared, brought back and removed: each is told to who is there")
    func clear() async throws {
        let server = try await relay()
        let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
        let alices = Task { await Told.read(alice) { $0.other.last == "caughtUp" } }
        try await alice.subscribe("lesson", features: [.messages])
        let board = try alice.board(of: "lesson")
        await #expect { try await board.clear() } throws: { ($0 as? RelayError)?.code == .boardNotFound }
        for key in ["a", "b"] { _ = try await alice.send(.text(key), to: "lesson", retainedAs: key).stored }
        #expect(try await board.clear().records == 2)
        _ = try await alice.send(.text("newer"), to: "lesson", retainedAs: "a").stored
        // At most two: how many keys were written since is known when they are read.
        #expect(try await board.undoClear().records >= 1)
        await #expect { try await board.undoClear() } throws: { ($0 as? RelayError)?.code == .nothingToUndo }
        // Live again before the end, so that what came back has come.
        try await eventually("alice has caught up") { await server.census().catchingUp == 0 }
        try await alice.removeBoard("lesson")
        #expect(try await alice.boards().isEmpty)
        let told = await alices.value
        #expect(told.messages.map { "\($0.key ?? "") \($0.sender)" } == ["b alice"])
        #expect(
            told.other.first == "cleared" && told.other.last == "caughtUp" && told.other.contains { $0.contains("reset") }, "\(told.other)")
        await alice.close()
        await server.stop()
    }
}
