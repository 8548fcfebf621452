import Foundation
import RelayIO
import RelayServer
import Testing

@testable import boardrelay

/// A relay that the system allows few descriptors.
@Suite("descriptors")
struct DescriptorTests {
    private static let descriptors = 200

    @Test("[SE5] more connections than descriptors leave those to the relay that it must have: it stores, answers and lets in")
    func flood() async throws {
        let folder = ServeTests.folder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let serve = try Running(
            ["serve", "--host", "127.0.0.1", "--port", "0", "--auth", "open", "--data-dir", folder + "/data"],
            through: ["/bin/sh", "-c", "ulimit -n \(Self.descriptors); exec \"$0\" \"$@\""])
        let line = try #require(await serve.line(containing: "relay://127.0.0.1:"))
        let address = try #require(WhiteboardRelay.Address(line))

        var held: [Int32] = []
        defer { for descriptor in held { close(descriptor) } }
        for round in 1...3 {
            for _ in 0..<Self.descriptors { held.append(try Connector.connect(to: address, timeoutMilliseconds: 300_000)) }
            let stored = try await Tool.run("pub", "lesson", "-m", "\(round)", "--retain", "--record", "a\(round)", url: line)
            #expect(stored.code == 0, "\(stored.errors)")
        }
        let status = try await Tool.run("status", "--data-dir", folder + "/data", "--json")
        let census = try #require(try status.object()["census"] as? [String: Any])
        #expect(census["connectionsMax"] as? Int == 72 && (census["connections"] as? Int).map { $0 <= 72 } == true)
        #expect(try await Tool.run("status", "--data-dir", folder + "/data").output.contains(" (at most 72), "))
        serve.signal(SIGINT)
        let end = await serve.end()
        #expect(end.errors.contains("at most 72 connections, not 12000"), "\(Self.descriptors) descriptors, 128 kept")
        #expect(end.code == 0 && !end.errors.contains("cannot accept") && !end.errors.contains("cannot be stored"), "\(end.errors)")
    }
}
