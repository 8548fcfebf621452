import Foundation
import RelayClient
import RelayMonitoring
import Testing

@testable import RelayCore
@testable import RelayServer

@Suite struct ServerHourTests {
    @Test(
        "[AC16] of its last hour the relay measures its sockets, its memory, and its files, which a relay in memory lacks",
        arguments: [true, false])
    func measures(isOnDisk: Bool) async throws {
        let folder = "/tmp/boardrelay-hour-\(UInt32.random(in: 0...UInt32.max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let server = try await WhiteboardRelay.start(.init(port: 0, storage: isOnDisk ? .folder(folder) : .inMemory, access: .open))
        let client = try await WhiteboardClient.connect(to: server.address, as: "alice")
        for _ in 0..<LastHour.notesPerSample { await server.engine.measure() }
        // The journal's queue has told the engine, and the engine the hub.
        _ = await server.journalStatus()
        _ = server.engine.censusNow()
        let sample = try #require(await server.engine.samples().first)
        #expect(sample.sessions == 1 && sample.bytesIn > 100 && sample.bytesOut > 100 && sample.memoryBytes > 1_000_000)
        #expect(isOnDisk ? sample.diskBytes.map { $0 > 0 } == true : sample.diskBytes == nil)
        await client.close()
        await server.stop()
    }
}

@available(macOS 15, iOS 18, *)
extension Engine {
    fileprivate func samples() -> [StatusSample] { hub.hour.samples }
}
