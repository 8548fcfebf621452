import Foundation
import RelayClient
import RelayClientCore
import RelayCore
import RelayIO
import RelayServer
import RelayWire
import Testing

/// The client library against a relay in this process.
@Suite struct ClientTests {
    private func relay(_ change: (inout Configuration) -> Void = { _ in }) async throws -> WhiteboardRelay {
        try await WhiteboardRelay.start(.init(port: 0, storage: .inMemory, access: .open, hub: .unhurried(change)))
    }

    @Test("[PR4] a client asks on until it has every channel of a user")
    func pages() async throws {
        let server = try await relay { $0.limits.joinedChannelsMax = 1_000 }
        let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
        let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
        // 126 of these fit into one answer.
        let names = (0..<260).map { "\(1_000 + $0)" + String(repeating: "x", count: 60) }
        for name in names { _ = try await alice.join(name) }
        #expect(try await bob.channels(of: "alice").map(\.name) == names)
        await alice.close()
        await bob.close()
        await server.stop()
    }

    @Test("two clients exchange messages, packets and direct messages, and see each other")
    func exchange() async throws {
        let server = try await relay()
        let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
        let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
        try await bob.subscribe("lesson")
        let bobs = try await bob.join("lesson")
        try await bobs.subscribeTopic("points")
        let stream = try await alice.join("lesson")
        try await stream.joinTopic("points", meta: "pen")
        #expect(try await alice.presence(of: .message("lesson")).users().members.map(\.user) == ["bob"])
        try await alice.presence(of: .stream("lesson")).set(["name": "Alice"])
        #expect(try await bob.presence(of: .stream("lesson")).states(of: "alice") == ["name": "Alice"])
        #expect(try await bob.channels(of: "alice").map(\.description) == ["stream:lesson"])

        let receipt = try alice.send(.text("hello"), to: "lesson", customType: "greeting")
        try stream.send(.bytes([1, 2]), topic: "points", slot: 7, senderTime: 9)
        let direct = try alice.send(.text("psst"), toUser: "bob")
        #expect(try await receipt.accepted == 1)

        var message: Message?, packet: Packet?, told: DirectMessage?
        for await event in bob.told {
            if case .message(let value) = event { message = value }
            if case .packet(let value) = event { packet = value }
            if case .direct(let value) = event {
                value.acknowledge()
                told = value
            }
            if told != nil { break }
        }
        #expect(message?.payload == .text("hello") && message?.customType == "greeting" && message?.sender == "alice")
        #expect(
            packet?.payload == .bytes([1, 2]) && packet?.slot == 7 && packet?.senderTime == 9 && packet?.publisher == "alice"
                && packet?.sequence == 1)
        #expect(told?.payload == .text("psst"))
        _ = try await direct.acknowledged()
        await #expect(throws: RelayError.self) { try await alice.send(.text("?"), toUser: "nobody").acknowledged() }
        await alice.close()
        await bob.close()
        await server.stop()
    }

    @MainActor private final class Pen {
        let client: WhiteboardClient, stream: StreamChannel
        var calls: [UInt32] = []

        init(_ client: WhiteboardClient, _ stream: StreamChannel) {
            self.client = client
            self.stream = stream
        }

        /// As a gesture callback does: async, and begun in a task of its own.
        func draw(_ index: UInt32) async throws {
            calls.append(index)
            let payload = Payload.text("\(index)")
            if index % 2 == 0 { try client.send(payload, to: "lesson") } else { try stream.send(payload, topic: "points") }
        }
    }

    @Test("2,000 alternating messages and packets from tasks of a main-actor class arrive in the order of the calls")
    func order() async throws {
        let server = try await relay {
            $0.limits.messagesPerSecond = 100_000
            $0.limits.packetsPerSecond = 100_000
            // However long a busy machine lets the reader wait.
            $0.packetLifetime = .seconds(600)
        }
        let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
        let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
        try await bob.subscribe("lesson")
        try await bob.join("lesson").subscribeTopic("points")
        let stream = try await alice.join("lesson")
        try await stream.joinTopic("points")
        let pen = await Pen(alice, stream)
        await withTaskGroup(of: Void.self) { group in
            for index in UInt32(0)..<2000 { group.addTask { try? await pen.draw(index) } }
        }
        var arrived: [UInt32] = []
        events: for await event in bob.told {
            switch event {
            case .message(let message): if case .text(let text) = message.payload { arrived.append(UInt32(text)!) }
            case .packet(let packet): if case .text(let text) = packet.payload { arrived.append(UInt32(text)!) }
            case .packetsLost, .messagesMissed:
                // What is lost would be waited for in vain.
                Issue.record("\(event)")
                break events
            default: break
            }
            if arrived.count == 2000 { break }
        }
        #expect(arrived == (await pen.calls))
        await alice.close()
        await bob.close()
        await server.stop()
    }

    @Test("what is too large, badly named or not joined is refused at once with limit and size; nothing is queued")
    func refusals() async throws {
        let server = try await relay()
        let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
        let stream = try await alice.join("lesson")
        func error(_ body: () throws(RelayError) -> Void) -> RelayError? {
            do throws(RelayError) { try body() } catch { return error }
            return nil
        }
        let large = error { () throws(RelayError) in try alice.send(.bytes([UInt8](repeating: 0, count: 32_769)), to: "lesson") }
        #expect(large?.code == .tooLarge && large?.limit == 32_768 && large?.actual == 32_769)
        #expect(error { () throws(RelayError) in try alice.send(.text(""), to: "a/b") }?.code == .badName)
        #expect(error { () throws(RelayError) in try stream.send(.text(""), topic: "points") }?.code == .topicNotJoined)
        #expect(alice.unsent.messages == 0 && alice.unsent.packets == 0 && alice.unsent.bytes == 0)
        await alice.close()
        #expect(error { () throws(RelayError) in try alice.send(.text(""), to: "lesson") }?.code == .clientClosed)
        await server.stop()
    }

    @Test("a relay that is not there is an error that names it; a login as the only device ends the older client for good")
    func ends() async throws {
        let server = try await relay()
        let first = try await WhiteboardClient.connect(to: server.address, as: "alice")
        var only = ClientOptions()
        only.onlyDevice = true
        let second = try await WhiteboardClient.connect(to: server.address, as: "alice", options: only)
        var last: ClientEvent?
        for await event in first.told { last = event }
        guard case .link(.closed(let reason)) = last else {
            Issue.record("\(String(describing: last))")
            return
        }
        #expect(reason.code == .replaced)
        await second.close()
        await server.stop()
        // The system gives no relay of another test a port below 1024.
        let nowhere = RelayAddress(host: "127.0.0.1", port: 1)
        let error = await #expect(throws: RelayError.self) { try await WhiteboardClient.connect(to: nowhere, as: "alice") }
        #expect(error?.code == .connectFailed && error?.text.contains("127.0.0.1:1:") == true)
        #expect(error?.localizedDescription == error?.text, "what apps show")
    }

    @Test("[SE10, CH6] a relay that was stopped and started again: subscriptions come back, what was sent meanwhile waits, a reset is told")
    func restart() async throws {
        let server = try await relay()
        let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
        let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
        for client in [alice, bob] { try await client.subscribe("lesson", features: [.messages]) }
        let stream = try await alice.join("lesson", features: [])
        try await stream.joinTopic("points")
        try await bob.join("lesson", features: []).subscribeTopic("points")
        _ = try await alice.send(.text("before"), to: "lesson").accepted
        await server.stop()
        let waiting = try alice.send(.text("while away"), to: "lesson")
        let again = try await WhiteboardRelay.start(.init(port: server.address.port))
        alice.wakeUp()
        bob.wakeUp()
        _ = try? await waiting.accepted
        // Both are back, each in its own time: alice draws until bob sees both lanes.
        var isReset = false, texts: Set<String> = [], packets = 0
        let drawing = Task {
            while !Task.isCancelled {
                _ = try? alice.send(.text("after"), to: "lesson")
                try? stream.send(.text("p"), topic: "points")
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
        for await event in bob.told {
            switch event {
            case .message(let message): if case .text(let text) = message.payload { texts.insert(text) }
            case .packet: packets += 1
            case .messagesMissed(let missed): if missed.extent == .reset { isReset = true }
            default: break
            }
            if texts.contains("after"), packets > 0 { break }
        }
        drawing.cancel()
        #expect(texts.contains("before"))
        #expect(isReset, "another start is another epoch")
        await alice.close()
        await bob.close()
        await again.stop()
    }
}
