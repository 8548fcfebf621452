import RelayClient
import RelayServer

/// The relay that the code of a page is run against, in this process.
enum Relay {
    /// Its address as `serve` prints it, with the key for those who draw.
    // Safe: it is set once, before any code of the page is run.
    nonisolated(unsafe) static var printed = ""

    /// - Parameter body: has a moderator, a stream channel that it has joined, and the relay's address.
    static func run(
        isolation: isolated (any Actor)? = #isolation, _ body: (WhiteboardClient, StreamChannel, RelayAddress) async throws -> Void
    ) async throws {
        let server = try await WhiteboardRelay.start(.init(port: 0, access: .keys()))
        guard let keys = server.keys else { throw Wrong("a relay with keys has none") }
        printed = "http://127.0.0.1:\(server.address.port)/#key=\(keys.join)"
        var options = ClientOptions()
        options.credential = .key(keys.host)
        options.secret = .inMemory
        let client = try await WhiteboardClient.connect(to: server.address, as: "host", options: options)
        try await body(client, try await client.join("fragments"), server.address)
        await client.close()
        await server.stop()
    }

    static func expect(_ condition: Bool, _ what: String) throws {
        if !condition { throw Wrong(what) }
    }

    struct Wrong: Error, CustomStringConvertible {
        let description: String
        init(_ what: String) { description = what }
    }
}
