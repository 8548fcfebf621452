import Foundation
import RelayIO
@testable import RelayServer
import Testing

/// A relay that sends back what its WebSockets get, for `Tests/Autobahn/check.py`, which starts this test and looks at it with
/// other people's client. By itself it is skipped.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["BOARDRELAY_ECHO"] != nil, "Tests/Autobahn/check.py starts it"))
struct EchoTests {
    @Test("an echo for somebody else's client")
    func echo() async throws {
        let path = try #require(ProcessInfo.processInfo.environment["BOARDRELAY_ECHO"])
        let server = try await WhiteboardRelay.start(.init(port: 0), permit: { _ in }, echoBytesMax: 16 * 1024 * 1024)
        try "\(server.address.port)\n".write(toFile: path, atomically: true, encoding: .utf8)
        // Until who has started it takes the file away.
        while FileManager.default.fileExists(atPath: path) { try await Task.sleep(for: .milliseconds(100)) }
        await server.stop()
    }
}
