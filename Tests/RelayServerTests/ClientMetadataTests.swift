import RelayClient
import RelayClientCore
import RelayCore
import RelayServer
import RelayWire
import Testing

/// Metadata and locks through the client library, against a relay in this process.
@Suite struct ClientMetadataTests {
    private func relay() async throws -> WhiteboardRelay {
        try await WhiteboardRelay.start(.init(port: 0, hub: .unhurried()))
    }

    private func code(_ body: () async throws -> Void) async -> RelayError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? RelayError
        }
    }

    @Test(
        "[MD3, MD5, MD6, MD9] set, update, remove, removeAll and get; conditions are refused with the revision that was found",
        arguments: [
            MetadataReference.message("lesson"), .stream("lesson"), .user("alice"),
        ])
    func calls(reference: MetadataReference) async throws {
        let server = try await relay()
        let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
        let metadata = try alice.metadata(of: reference)
        let empty = try await metadata.get()
        #expect(empty.items.isEmpty && empty.majorRevision == 0)
        #expect(try await metadata.set(["title": "Herbst", "note": ""], revisions: ["title": 0], majorRevision: 0) == 1)
        #expect(try await metadata.update(["title": "é 🦆"], revisions: ["title": 1], recordsUser: true, recordsTime: true) == 2)
        let contents = try await metadata.get()
        #expect(contents.majorRevision == 2 && contents.items.mapValues(\.revision) == ["note": 1, "title": 2])
        #expect(
            contents.items["title"]?.value == "é 🦆" && contents.items["title"]?.author == "alice" && contents.items["title"]?.date != nil)
        let refused = await code { try await metadata.set(["title": "x"], revisions: ["title": 1]) }
        #expect(refused?.code == .revisionMismatch && refused?.limit == 1 && refused?.actual == 2)
        #expect(await code { try await metadata.update(["new": "x"]) }?.code == .itemNotFound)
        #expect(await code { try await metadata.set(["_x": "x"]) }?.code == .badName)
        let large = await code { try await metadata.set(["k": String(repeating: "x", count: 65_536)]) }
        #expect(large?.code == .tooLarge && large?.limit == 65_536 && large?.actual == 65_537, "refused without being sent")
        #expect(try await metadata.remove(["note"]) == 3)
        #expect(try await metadata.removeAll(majorRevision: 3) == 4)
        let emptied = try await metadata.get()
        #expect(emptied.items.isEmpty && emptied.majorRevision == 4)
        #expect(alice.link.isConnected)
        await alice.close()
        await server.stop()
    }

    @Test(
        "[MD7, MD8, MD4] changes come as events with what changed and the whole set, over several frames if need be; a user's metadata when subscribed"
    )
    func events() async throws {
        let server = try await relay()
        let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
        let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
        let lesson = try bob.metadata(of: .message("lesson"))
        for page in 0..<4 {
            try await lesson.set(
                Dictionary(uniqueKeysWithValues: (0..<100).map { ("key-\(page)-\($0)", String(repeating: "v", count: 140)) }))
        }
        try await alice.subscribe("lesson", features: [.metadata])
        try await alice.metadata(of: .user("bob")).follow()
        #expect(await code { try await alice.metadata(of: .message("lesson")).follow() }?.code == .badRequest)
        try await lesson.set(["title": "Herbst"])
        try await bob.metadata(of: .user("bob")).set(["name": "Bob"])
        try await lesson.removeAll()
        var changes: [MetadataChange] = []
        for await event in alice.told {
            if case .metadata(let change) = event { changes.append(change) }
            if changes.count == 5 { break }
        }
        #expect(changes.map(\.isSnapshot) == [true, true, false, false, false])
        #expect(changes[0].written.count == 400 && changes[0].items.count == 400 && changes[0].majorRevision == 4)
        #expect(changes[1].owner == .user("bob") && changes[1].majorRevision == 0)
        #expect(changes[2].written.map(\.key) == ["title"] && changes[2].items.count == 401 && changes[2].items["title"]?.value == "Herbst")
        #expect(changes[3].written.map(\.value) == ["Bob"])
        #expect(changes[4].removed.count == 401 && changes[4].items.isEmpty && changes[4].majorRevision == 6)
        await alice.close()
        await bob.close()
        await server.stop()
    }

    @Test(
        "[MD5] 8 clients that each raise a number 50 times, reading and writing only what they read, end at the number of their successes")
    func compareAndSet() async throws {
        let server = try await relay()
        let successes = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<8 {
                group.addTask {
                    let client = try await WhiteboardClient.connect(to: server.address, as: "user-\(index)")
                    let counter = try client.metadata(of: .message("lesson"))
                    var successes = 0
                    while successes < 50 {
                        let contents = try await counter.get()
                        let value = contents.items["n"].flatMap { Int($0.value) } ?? 0
                        do throws(RelayError) {
                            try await counter.set(["n": "\(value + 1)"], revisions: ["n": contents.items["n"]?.revision ?? 0])
                            successes += 1
                        } catch {
                            guard error.code == .revisionMismatch else { throw error }
                        }
                    }
                    await client.close()
                    return successes
                }
            }
            return try await group.reduce(0, +)
        }
        let reader = try await WhiteboardClient.connect(to: server.address, as: "reader")
        #expect(successes == 400)
        #expect(try await reader.metadata(of: .message("lesson")).get().items.mapValues(\.value) == ["n": "400"])
        await reader.close()
        await server.stop()
    }

    @Test("[SE14, HI8] a task that waits for a lock and is cancelled leaves the line; a barrier returns when everything before it has come")
    func waits() async throws {
        let server = try await relay()
        let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
        let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
        let alices = try alice.locks(of: .message("lesson")), bobs = try bob.locks(of: .message("lesson"))
        try await alices.lock("pen").make()
        try await alices.lock("pen").acquire()
        let waiting = Task { await code { try await bobs.lock("pen").acquire(wait: .seconds(60)) }?.code }
        let late = Task { await code { try await bob.barrier() } }
        waiting.cancel()
        #expect(await waiting.value == .cancelled)
        #expect(await late.value == nil)
        try await alices.lock("pen").release()
        #expect(try await alices.all().first?.owner == nil)
        for number in 1...20 { _ = try await alice.send(.text("\(number)"), to: "lesson").accepted }
        try await bob.subscribe("lesson", since: .beginning)
        try await bob.barrier(in: "lesson")
        await bob.close()
        var texts: [String] = []
        for await event in bob.told {
            if case .message(let message) = event, case .text(let text) = message.payload { texts.append(text) }
        }
        #expect(texts == (1...20).map(String.init))
        #expect(await code { try await alice.barrier(in: "elsewhere") }?.code == .notSubscribed)
        await alice.close()
        await server.stop()
    }

    @Test("[LK2, LK3, LK4, LK6, LK7, LK8, LK9] locks: set, acquired, waited for, released, revoked, removed; others are told")
    func locks() async throws {
        let server = try await relay()
        let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
        let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
        let alices = try alice.locks(of: .message("lesson")), bobs = try bob.locks(of: .message("lesson"))
        try await bob.subscribe("lesson", features: [.locks])
        #expect(await code { try await alices.lock("pen").acquire() }?.code == .lockNotFound)
        #expect(await code { try await alices.lock("pen").make(ttl: .milliseconds(999)) }?.code == .badRequest)
        try await alices.lock("pen").make(ttl: .seconds(2))
        let first = try await alices.lock("pen").acquire().fencing
        #expect(await code { try await bobs.lock("pen").acquire() }?.code == .lockHeld)
        #expect(await code { try await bobs.lock("pen").acquire(wait: .milliseconds(20)) }?.code == .lockHeld)
        async let waited = bobs.lock("pen").acquire(wait: .seconds(60)).fencing
        // Bob stands in line when the relay has answered what he asked after it.
        var inLine = false
        while !inLine {
            _ = try await bobs.all()
            try await alices.lock("pen").release()
            inLine = try await bobs.all().first?.owner == "bob"
            if !inLine { try await alices.lock("pen").acquire() }
        }
        #expect(try await waited > first)
        #expect(
            try await alices.all().map { [$0.lock, $0.owner, "\($0.ttl.wholeMilliseconds)", "\($0.fencing ?? 0)"] } == [
                ["pen", "bob", "2000", "\(try await waited)"]
            ])
        #expect(await code { try await alices.lock("pen").release() }?.code == .lockNotHeld)
        try await alices.lock("pen").revoke(from: "bob")
        try await alices.lock("pen").remove()
        var last: LocksChange?
        for await event in bob.told {
            if case .locks(let change) = event { last = change }
            if last?.kind == .removed { break }
        }
        #expect(last?.locks.map(\.lock) == ["pen"])
        await alice.close()
        await bob.close()
        await server.stop()
    }
}
