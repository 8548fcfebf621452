import RelayClient
import RelayClientCore
import RelayCore
import RelayIO
import RelayPrimitives
import RelayServer
import Testing

/// What belongs to a channel beside messages and boards: topics, presence and locks; tokens and direct messages.
@Suite struct ClientPartTests: HandleScene {
    @Test("packets follow their topic while the reader is open; the publisher says when it was ended")
    func topics() async throws {
        try await withRelay { relay in
            let alice = try client(relay, "alice")
            let bob = try client(relay, "bob")
            let points = try alice.channel("lesson").topic("points")
            let heard = try bob.channel("lesson").topic("points")
            let packets = heard.packets()
            let pen = try await points.startPublishing(lifetime: .milliseconds(300))
            #expect(pen.isOpen)
            try await eventually("bob follows") { (try? await heard.followed().all) ?? false }
            for number in 1...3 { try pen.send("\(number)", slot: UInt32(number)) }
            var texts: [String] = []
            for try await case .packet(let packet) in packets {
                texts.append("\(packet.publisher) \(packet.payload.text ?? "")")
                if texts.count == 3 { break }
            }
            #expect(texts == ["alice 1", "alice 2", "alice 3"])
            try await eventually("bob has let go") { (try? await heard.followed()) == Topic.Selection(all: false) }
            try await pen.stop()
            #expect(!pen.isOpen)
            #expect(throws: RelayError.self) { try pen.send("late") }
            await alice.close()
            await bob.close()
        }
    }

    @Test("members are complete, however many they are, and are told as they come, change and go")
    func members() async throws {
        try await withRelay {
            $0.presenceInterval = .milliseconds(20)
        } _: { relay in
            let bob = try client(relay, "bob")
            let lesson = try bob.channel("lesson")
            var others: [WhiteboardClient] = []
            for number in 1...120 {
                others.append(try client(relay, "user-\(number)"))
                try await others.last!.channel("lesson").open([.messages])
            }
            var members = lesson.presence.members().makeAsyncIterator()
            try await lesson.open()
            var now = await members.next()
            while now?.count != 121 {
                print("COUNT", now?.count ?? -1)
                print("COUNT", now?.count ?? -1)
                now = await members.next()
            }
            try await others[0].channel("lesson").presence.set(["name": "Ann"])
            while now?["user-1"]?.states != ["name": "Ann"] { now = await members.next() }
            await others[0].close()
            while now?.count != 120 { now = await members.next() }
            for other in others { await other.close() }
            await bob.close()
        }
    }

    @Test("with lets one task in at a time, gives the lock back however the body ends, and says when it was lost")
    func locks() async throws {
        try await withRelay { relay in
            let alice = try client(relay, "alice")
            let bob = try client(relay, "bob")
            let lesson = try alice.channel("lesson")
            try await lesson.open([.messages, .locks])
            let pen = try lesson.lock("pen")
            try await pen.make()
            let inside = Counter()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...5 {
                    group.addTask {
                        try await pen.with(wait: .seconds(60)) { hold in
                            #expect(inside.add(1) == 1 && hold.isHeld)
                            await Task.yield()
                            _ = inside.add(-1)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await lesson.locks().map(\.owner) == [nil])
            struct Stop: Error {}
            await #expect(throws: Stop.self) { try await pen.with { _ in throw Stop() } }
            #expect(try await lesson.locks().map(\.owner) == [nil])
            let lost = await error {
                try await pen.with { hold in
                    try await bob.channel("lesson").lock("pen").revoke(from: "alice")
                    try await eventually("alice is told") { !hold.isHeld }
                }
            }
            #expect(lost?.code == .lockLost)
            await alice.close()
            await bob.close()
        }
    }

    @Test("a token of the app's own is asked for at each login; while the app has none the client goes on trying")
    func tokens() async throws {
        struct Nothing: Error {}
        let relay = try await WhiteboardRelay.start(.init(port: 0, hub: .unhurried()))
        let asked = Counter()
        let alice = try client(relay, "alice") { options in
            options.token = {
                guard asked.add(1) > 1 else { throw Nothing() }
                return "token"
            }
            options.connectTimeout = .seconds(300)
        }
        let refused = await error { try await alice.connect() }
        #expect(refused?.code == .connectFailed && refused?.text.hasPrefix("no token: ") == true)
        // A relay that lets everybody in passes a token over.
        try await alice.connect()
        #expect(alice.link.isConnected && asked.add(0) == 2)
        var states = alice.linkStates().makeAsyncIterator()
        await relay.stop()
        while await states.next()?.isConnected == true {}
        let again = try await WhiteboardRelay.start(.init(port: relay.address.port, hub: .unhurried()))
        try await alice.connect()
        #expect(asked.add(0) >= 3)
        await alice.close()
        await again.stop()
    }

    @Test("[DM2] reading acknowledges no direct message; its receipt is acknowledged when the app says so")
    func directs() async throws {
        try await withRelay { relay in
            let alice = try client(relay, "alice")
            let bob = try client(relay, "bob")
            let events = bob.events()
            try await bob.connect()
            let receipt = try alice.person("bob").send("hello")
            for try await case .direct(let message) in events {
                #expect(message.payload.text == "hello" && message.sender == "alice")
                message.acknowledge()
                break
            }
            try await receipt.acknowledged()
            await alice.close()
            await bob.close()
        }
    }
}

private final class Counter: Sendable {
    private let value = Mutex(0)
    func add(_ step: Int) -> Int {
        value.withLock { value in
            value += step
            return value
        }
    }
}
