import RelayClient
import RelayCore
import RelayIO
import RelayServer
import RelayWire
import Testing

/// Calls end, whatever the relay and the link do: with their task, and when their time is up.
@Suite struct ClientCallTests {
    typealias Call = (name: String, isEnding: Bool, make: @Sendable (WhiteboardClient) async throws -> Void)

    /// Of each kind: what asks, changes, waits, goes on with the session, and ends something.
    private static let calls: [Call] = [
        ("history", false, { _ = try await $0.history(of: "lesson") }),
        ("subscribe", false, { try await $0.subscribe("other") }),
        ("join", false, { _ = try await $0.join("lesson") }),
        ("barrier", false, { try await $0.barrier() }),
        ("acquire", false, { try await $0.locks(of: .message("lesson")).lock("pen").acquire(wait: .milliseconds(1)) }),
        ("clear", false, { _ = try await $0.board(of: "lesson").clear() }),
        ("metadata", false, { _ = try await $0.metadata(of: .message("lesson")).get() }),
        ("states", false, { try await $0.presence(of: .message("lesson")).set(["a": "b"]) }),
        ("bans", false, { _ = try await $0.moderation.bans() }),
        ("offerDevice", false, { _ = try await $0.handOver() }),
        ("setReaderLimits", false, { try await $0.setReaderLimits(ReaderLimits()) }),
        ("release", true, { try await $0.locks(of: .message("lesson")).lock("pen").release() }),
        ("unsubscribe", true, { try await $0.unsubscribe("lesson") }),
    ]

    private func error(_ body: () async throws -> Void) async -> RelayError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? RelayError
        }
    }

    /// Ends before its answer: by its task, or by its time.
    private func end(_ call: Call, _ client: WhiteboardClient, isCancelled: Bool) async -> RelayError? {
        guard isCancelled else { return await error { try await call.make(client) } }
        let task = Task { await error { try await call.make(client) } }
        task.cancel()
        return await task.value
    }

    /// A client whose calls have little time, and the proxy to its relay.
    private func scene(_ change: (inout ClientOptions) -> Void = { _ in }) async throws -> (WhiteboardRelay, CutProxy, WhiteboardClient) {
        let server = try await WhiteboardRelay.start(.init(port: 0, hub: .unhurried()))
        let proxy = try CutProxy(to: server.address)
        var options = ClientOptions()
        change(&options)
        let client = try await WhiteboardClient.connect(to: proxy.address, as: "alice", options: options)
        return (server, proxy, client)
    }

    @Test("a relay that says nothing holds no call", arguments: [true, false])
    func silent(isCancelled: Bool) async throws {
        let (server, proxy, client) = try await scene { $0.requestTimeout = isCancelled ? .seconds(300) : .milliseconds(20) }
        proxy.hold(true)
        for call in Self.calls {
            let found = await end(call, client, isCancelled: isCancelled)
            #expect(found?.code == (isCancelled ? .cancelled : .timedOut), "\(call.name)")
            // A task may be cancelled before it has begun: then nothing is sent, unless it ends something.
            if !isCancelled || call.isEnding { #expect(found?.outcome == .unknown, "\(call.name)") }
        }
        proxy.hold(false)
        proxy.stop()
        await client.close()
        await server.stop()
    }

    @Test("a link that is cut holds no call", arguments: [true, false])
    func cut(waits: Bool) async throws {
        let (server, proxy, client) = try await scene { options in
            options.requestTimeout = waits ? .milliseconds(20) : .seconds(300)
            options.offline = waits ? .wait : .fail
        }
        proxy.stop()
        for await event in client.told { if case .link(.waiting) = event { break } }
        for call in Self.calls {
            let found = await error { try await call.make(client) }
            #expect(found?.code == (waits ? .timedOut : .notConnected), "\(call.name)")
            #expect(found?.outcome == (waits && call.isEnding ? .unknown : .nothingHappened), "\(call.name)")
        }
        await client.close()
        await server.stop()
    }

    @Test("who stops waiting for a receipt takes nothing back")
    func receipts() async throws {
        let (server, proxy, client) = try await scene()
        let reader = try await WhiteboardClient.connect(to: server.address, as: "bob")
        try await reader.subscribe("lesson")
        proxy.hold(true)
        let receipt = try client.send(.text("one"), to: "lesson")
        let waiting = Task { await error { _ = try await receipt.accepted } }
        waiting.cancel()
        let found = await waiting.value
        #expect(found?.code == .cancelled && found?.outcome == .unknown)
        proxy.hold(false)
        _ = try await receipt.accepted
        for await event in reader.told {
            if case .message(let message) = event {
                #expect(message.payload == .text("one"))
                break
            }
        }
        await client.close()
        await reader.close()
        proxy.stop()
        await server.stop()
    }

    @Test("a task that is cancelled stops waiting for close, which goes on; one that is cancelled while it connects ends its client")
    func closing() async throws {
        let (server, proxy, client) = try await scene()
        proxy.hold(true)
        let closing = Task { await client.close() }
        closing.cancel()
        await closing.value
        proxy.hold(false)
        for await _ in client.told {}
        #expect(client.link == .closed(reason: .closedByApp))
        proxy.hold(true)
        let connecting = Task { await error { _ = try await WhiteboardClient.connect(to: proxy.address, as: "carol") } }
        connecting.cancel()
        #expect(await connecting.value?.code == .cancelled)
        proxy.stop()
        await server.stop()
    }
}
