import RelayClient
import RelayClientCore
import RelayCore
import RelayIO
import RelayPrimitives
import RelayServer
import Testing

/// A relay in this process, and clients as apps make them.
protocol HandleScene {}

extension HandleScene {
    func withRelay(
        _ change: (inout Configuration) -> Void = { _ in }, _ body: (WhiteboardRelay) async throws -> Void
    ) async throws {
        var hub = Configuration.unhurried()
        change(&hub)
        let relay = try await WhiteboardRelay.start(.init(port: 0, hub: hub))
        do { try await body(relay) } catch {
            await relay.stop()
            throw error
        }
        await relay.stop()
    }

    func client(_ relay: WhiteboardRelay, _ user: String, _ change: (inout ClientOptions) -> Void = { _ in }) throws
        -> WhiteboardClient
    {
        var options = ClientOptions()
        options.secret = .inMemory
        // What does not come would fail either way; on a machine where threads wait for seconds, what comes is late.
        options.connectTimeout = .seconds(300)
        options.requestTimeout = .seconds(300)
        options.readerPatience = .seconds(300)
        change(&options)
        return try WhiteboardClient(Invitation(relay.address), user: user, options: options)
    }

    func error(_ body: () async throws -> Void) async -> RelayError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? RelayError
        }
    }
}
