import RelayClient
import RelayCore
import RelayIO
import RelayServer
import RelayWire
import Testing

/// Who stops waiting for a receipt, or for `close`. That each call ends is shown in RelayTestingTests.
@Suite struct ClientCallTests {
    private func error(_ body: () async throws -> Void) async -> RelayError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? RelayError
        }
    }

    /// A client, and the proxy to its relay.
    private func scene() async throws -> (WhiteboardRelay, CutProxy, WhiteboardClient) {
        let server = try await WhiteboardRelay.start(.init(port: 0, hub: .unhurried()))
        let proxy = try CutProxy(to: server.address)
        let client = try await WhiteboardClient.connect(to: proxy.address, as: "alice")
        return (server, proxy, client)
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
        #expect(client.link == .closed(reason: .clientClosed))
        proxy.hold(true)
        let connecting = Task { await error { _ = try await WhiteboardClient.connect(to: proxy.address, as: "carol") } }
        connecting.cancel()
        #expect(await connecting.value?.code == .cancelled)
        proxy.stop()
        await server.stop()
    }
}
