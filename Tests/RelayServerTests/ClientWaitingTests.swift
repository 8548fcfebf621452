import Dispatch
import Foundation
import RelayClient
import RelayCore
import RelayIO
import RelayServer
import RelaySystem
import Testing

/// A client that is told to wait for its relay: while iOS asks for the local network, each link fails.
@Suite struct ClientWaitingTests {
    private static func connecting(to port: UInt16) -> Task<WhiteboardClient, any Error> {
        var options = ClientOptions()
        options.secret = .inMemory
        options.device = .inMemory
        options.waitsForConnectivity = true
        return Task { [options] in
            try await WhiteboardClient.connect(to: RelayAddress(host: "127.0.0.1", port: port), as: "alice", options: options)
        }
    }

    /// A port whose links break at once, and the first of them.
    private static func breakingPort() throws -> (port: UInt16, first: AsyncStream<Void>, close: @Sendable () -> Void) {
        let queue = DispatchQueue(label: "test")
        let listener = try Listener(host: "127.0.0.1", port: 0, on: Readiness(queue: queue))
        let (first, told) = AsyncStream.makeStream(of: Void.self)
        let accepted: @Sendable (Int32, SocketAddress) -> Bool = { descriptor, _ in
            discardDescriptor(descriptor)
            told.yield()
            return true
        }
        try queue.sync { try listener.activate(accepted: accepted, exhausted: { _ in }, released: { told.finish() }) }
        return (listener.address.numeric.port, first, { queue.sync { listener.close() } })
    }

    @Test("a client that waits for its relay connects when it is there; the link that failed before ended nothing")
    func waits() async throws {
        let breaking = try Self.breakingPort()
        let connecting = Self.connecting(to: breaking.port)
        var links = breaking.first.makeAsyncIterator()
        await links.next()
        breaking.close()
        while await links.next() != nil {}
        let server = try await WhiteboardRelay.start(.init(port: breaking.port, hub: .unhurried()))
        let alice = try await connecting.value
        #expect(alice.link.isConnected)
        await alice.close()
        await server.stop()
    }

    @Test("a client that waits for its relay ends when its task is cancelled")
    func cancelled() async throws {
        let breaking = try Self.breakingPort()
        let connecting = Self.connecting(to: breaking.port)
        var links = breaking.first.makeAsyncIterator()
        await links.next()
        connecting.cancel()
        await #expect(throws: RelayError.self) { try await connecting.value }
        breaking.close()
    }
}
