import RelayClient
import RelayServer

/// The relay that the code of a page is run against, in this process.
enum Relay {
    /// Its address as `serve` prints it, with the key for those who draw.
    // Safe: it is set once, before any code of the page is run.
    nonisolated(unsafe) static var printed = ""

    /// - Parameter body: has a moderator, and a channel that it has opened.
    static func run(
        isolation: isolated (any Actor)? = #isolation, _ body: (WhiteboardClient, Channel) async throws -> Void
    ) async throws {
        let server = try await WhiteboardRelay.start(.init(port: 0, access: .keys()))
        guard let keys = server.keys else { throw Wrong("a relay with keys has none") }
        printed = "http://127.0.0.1:\(server.address.port)/#key=\(keys.join)"
        try await WhiteboardClient.withClient(Invitation(server.address, credential: .key(keys.host)), user: "host") { client in
            let channel = try client.channel("fragments")
            try await channel.open()
            try await body(client, channel)
        }
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
