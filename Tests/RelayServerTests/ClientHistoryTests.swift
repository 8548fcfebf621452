import RelayClient
import RelayClientCore
import RelayCore
import RelayIO
import RelayServer
import RelayWire
import Testing

/// Nothing is lost and nothing comes twice: client library, sockets and relay together.
@Suite(.serialized) struct ClientHistoryTests {
    private func relay(_ change: (inout Configuration) -> Void = { _ in }) async throws -> WhiteboardRelay {
        var hub = Configuration.unhurried()
        hub.limits.messagesPerSecond = 5_000
        change(&hub)
        return try await WhiteboardRelay.start(.init(port: 0, storage: .inMemory, access: .open, hub: hub))
    }

    @Test(
        "[HI2, MS4, CH6] 8 who join from the beginning while 1,000 messages are sent: each gets every offset once, in order, then it is live"
    )
    func lateJoiners() async throws {
        let server = try await relay()
        let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
        var joiners: [WhiteboardClient] = []
        for joiner in 0..<8 { joiners.append(try await WhiteboardClient.connect(to: server.address, as: "joiner-\(joiner)")) }
        // More than a connection takes at once, so that catching up goes on while others come and messages are sent.
        func payload(_ index: Int) -> Payload { .bytes([UInt8](repeating: UInt8(index % 251), count: 4_000)) }
        func send(_ range: Range<Int>) throws -> [Receipt] { try range.map { try alice.send(payload($0), to: "lesson") } }
        var tasks: [Task<Reader, Never>] = []
        func subscribe(_ client: WhiteboardClient) async throws {
            tasks.append(Task { await Reader.read(client) { $0.messages.last?.payload == .text("live") } })
            try await client.subscribe("lesson", features: [.messages], since: .beginning)
        }
        // Four come while the first half is sent, and see the second half live; four come while that is sent.
        for index in 0..<4 {
            _ = try send(index * 125..<(index + 1) * 125)
            try await subscribe(joiners[index])
        }
        try await eventually("the first four are live") {
            let census = await server.census()
            return census.channels.first?.head == 500 && census.catchingUp == 0
        }
        let receipts = try send(500..<1_000)
        for index in 4..<8 {
            _ = try await receipts[(index - 4) * 100].accepted
            try await subscribe(joiners[index])
        }
        _ = try await receipts[499].accepted
        try await eventually("everybody has caught up") {
            let census = await server.census()
            return census.channels.first?.subscribers == 8 && census.catchingUp == 0
        }
        try alice.send(.text("live"), to: "lesson")
        var heads: [UInt64] = []
        for task in tasks {
            let reader = await task.value
            heads.append(reader.caughtUp.first ?? 0)
            #expect(reader.messages.map(\.offset) == Array(1...1_001))
            #expect(reader.messages.dropLast().map(\.payload) == (0..<1_000).map(payload))
            #expect(reader.caughtUp.count == 1 && reader.missed.isEmpty, "\(reader.caughtUp), \(reader.missed)")
        }
        #expect(heads[..<4].allSatisfy { $0 <= 500 } && heads[4...].allSatisfy { $0 > 500 }, "\(heads)")
        for client in joiners + [alice] { await client.close() }
        await server.stop()
    }

    @Test("[HI6] pages of history, forwards and backwards, are what was sent")
    func pages() async throws {
        let server = try await relay()
        let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
        var sent: [Payload] = []
        for index in 0..<250 {
            sent.append(index % 2 == 0 ? .text("\(index) ü") : .bytes([UInt8](repeating: UInt8(index), count: index * 40)))
            try alice.send(sent[index], to: "lesson", customType: index % 3 == 0 ? "third" : nil)
        }
        _ = try await alice.send(.text("not kept"), to: "lesson", storeInHistory: false).accepted
        let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
        for (backwards, limit) in [(false, nil), (false, 37), (true, nil), (true, 1)] as [(Bool, Int?)] {
            var found: [Message] = []
            var from: UInt64?
            repeat {
                let page = try await bob.history(of: "lesson", from: from, backwards: backwards, limit: limit)
                #expect(page.head == 251 && page.floor == 0 && page.messages.count <= limit ?? 100 && page.epoch != nil)
                found += page.messages
                from = page.next
            } while from != nil
            if backwards { found.reverse() }
            #expect(found.map(\.payload) == sent)
            #expect(found.map(\.offset) == Array(1...250))
            #expect(
                found.allSatisfy { $0.sender == "alice" && $0.channel == "lesson" && $0.customType == ($0.offset % 3 == 1 ? "third" : nil) }
            )
        }
        let nothing = try await bob.history(of: "unheard of")
        #expect(nothing.messages.isEmpty && nothing.epoch == nil && nothing.next == nil)
        await alice.close()
        await bob.close()
        await server.stop()
    }

    @Test(
        "[DL8, HI2] who does not read is closed as a slow consumer, comes back by itself, ends with every message, and is not closed again")
    func slowReader() async throws {
        let server = try await relay {
            $0.reliableBacklogBytesHard = 64 * 1024
            $0.reliableBacklogBytesSoft = 32 * 1024
            $0.historyBytesMax = 64 * 1024 * 1024
        }
        let proxy = try CutProxy(to: server.address, receiveBuffer: 64 * 1024)
        let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
        let bob = try await WhiteboardClient.connect(to: proxy.address, as: "bob")
        try await bob.subscribe("lesson", features: [.messages])
        // More than the sockets between them take.
        let count = 600
        let reader = Task { await Reader.read(bob) { $0.messages.count >= count } }
        proxy.hold(true)
        var last: Receipt?
        for index in 0..<count {
            let large = try alice.send(.bytes([UInt8](repeating: UInt8(index % 256), count: 24_000)), to: "lesson")
            if index % 100 == 99 { _ = try await large.accepted }
            last = large
        }
        _ = try await last?.accepted
        try await eventually("the reader is closed") { await server.census().counters.closes["slowConsumer"] == 1 }
        proxy.hold(false)
        let read = await reader.value
        #expect(read.messages.map(\.offset) == Array(1...UInt64(count)))
        #expect(read.messages.enumerated().allSatisfy { $1.payload.bytes.first == UInt8($0 % 256) })
        #expect(read.missed.isEmpty, "\(read.missed)")
        #expect(await server.census().counters.closes["slowConsumer"] == 1)
        // And it is live again.
        let live = Task { await Reader.read(bob) { $0.messages.count == 1 } }
        _ = try await alice.send(.text("live"), to: "lesson").accepted
        #expect(await live.value.messages.map(\.payload) == [.text("live")])
        #expect(await server.census().counters.closes["slowConsumer"] == 1)
        await alice.close()
        await bob.close()
        proxy.stop()
        await server.stop()
    }

    @Test(
        "[MS9, SE9, SE11] links cut at random bytes: each of 500 messages is accepted once, and each subscriber gets it once",
        arguments: [UInt64.random(in: 0 ... .max)])
    func cutLinks(seed: UInt64) async throws {
        print("links are cut by seed \(seed)")
        let server = try await relay()
        let proxy = try CutProxy(to: server.address, seed: seed)
        let alice = try await WhiteboardClient.connect(to: proxy.address, as: "alice")
        let alices = Task { await Reader.read(alice) { _ in false } }
        var readers: [(WhiteboardClient, Task<Reader, Never>)] = []
        for index in 0..<3 {
            let client = try await WhiteboardClient.connect(to: proxy.address, as: "reader-\(index)")
            try await client.subscribe("lesson", features: [.messages])
            readers.append((client, Task { await Reader.read(client) { $0.messages.last?.payload == .text("end") } }))
        }
        proxy.cut(60)
        // A few at a time, so that there is always something under way and a cut hits it.
        var offsets: [UInt64] = []
        for start in stride(from: 0, to: 500, by: 20) {
            let receipts = try (start..<start + 20).map { try alice.send(.text("\($0)"), to: "lesson") }
            for receipt in receipts { offsets.append(try await receipt.accepted) }
        }
        #expect(offsets == Array(1...500), "each is accepted once, in the order of the calls")
        #expect(proxy.cuts > 10, "only \(proxy.cuts) cuts")
        _ = try await alice.send(.text("end"), to: "lesson").accepted
        for (client, task) in readers {
            let reader = await task.value
            let offsets = reader.messages.map(\.offset)
            let isWhole = offsets == Array(1...501) && reader.messages.dropLast().map(\.payload) == (0..<500).map { .text("\($0)") }
            #expect(isWhole, "seed \(seed): \(offsets.count) came, not \(Set(1...501).subtracting(offsets).sorted()); \(reader.log)")
            #expect(reader.missed.isEmpty, "seed \(seed): \(reader.missed)")
            await client.close()
        }
        proxy.cut(0)
        let kept = try await alice.history(of: "lesson", backwards: true, limit: 1)
        #expect(kept.head == 501)
        await alice.close()
        _ = await alices.value
        proxy.stop()
        await server.stop()
    }

    @Test("[MS9, CH6] a relay started again in memory: what was under way has an unknown outcome, the reset is told, new messages arrive")
    func startedAgain() async throws {
        let server = try await relay()
        let proxy = try CutProxy(to: server.address)
        let alice = try await WhiteboardClient.connect(to: proxy.address, as: "alice")
        let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
        try await bob.subscribe("lesson", features: [.messages])
        let bobs = Task { await Reader.read(bob) { $0.messages.last?.payload == .text("new") } }
        let alices = Task { await Reader.read(alice) { _ in false } }
        _ = try await alice.send(.text("before"), to: "lesson").accepted
        // Accepted and delivered, but its receipt never arrives.
        proxy.hold(true)
        let underWay = try alice.send(.text("under way"), to: "lesson")
        try await eventually("the relay has it") { await server.census().channels.first?.head == 2 }
        await server.stop()
        proxy.cutAll()
        proxy.hold(false)
        let again = try await WhiteboardRelay.start(.init(port: server.address.port))
        await #expect { try await underWay.accepted } throws: { ($0 as? RelayError)?.code == .outcomeUnknown }
        try await eventually("bob is back") { await again.census().channels.first?.subscribers == 1 }
        #expect(try await alice.send(.text("new"), to: "lesson").accepted == 1, "what was under way was not sent again")
        let read = await bobs.value
        #expect(read.messages.map(\.payload) == [.text("before"), .text("under way"), .text("new")])
        #expect(read.missed.map(\.extent) == [.reset], "\(read.missed)")
        await alice.close()
        _ = await alices.value
        await bob.close()
        proxy.stop()
        await again.stop()
    }
}

/// What a client was told, up to a moment that the test names; tries at once when the link is gone.
private struct Reader: Sendable {
    var messages: [Message] = []
    /// Their heads.
    var caughtUp: [UInt64] = []
    var missed: [MessagesMissed] = []
    /// What became of its links, and after how many messages.
    var log: [String] = []

    static func read(_ client: WhiteboardClient, until isDone: @Sendable (Reader) -> Bool) async -> Reader {
        var reader = Reader()
        for await event in client.told {
            switch event {
            case .message(let message): reader.messages.append(message)
            case .caughtUp(channel: _, let head):
                reader.log.append("\(reader.messages.count): caught up at \(head)")
                reader.caughtUp.append(head)
            case .messagesMissed(let missed): reader.missed.append(missed)
            case .link(.connected(let resumed)): reader.log.append("\(reader.messages.count): connected \(resumed)")
            case .link(.waiting(_, let reason)):
                reader.log.append("\(reader.messages.count): \(reason.text)")
                client.wakeUp()
            default: break
            }
            if isDone(reader) { break }
        }
        return reader
    }
}
