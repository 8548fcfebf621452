import Foundation
import RelayCore
import RelayRights
import RelayIO
import RelaySystem
import RelayTokens
import RelayWire
import Testing

@testable import RelayServer

/// `Tests/Interop` is a client in Python that was written from `docs/` alone; it runs every frame type and every error
/// code of the document's tables against six relays in this process.
@Suite struct ServerInteropTests {
    /// Bounds of boards that are soon reached: `BOARDS` in bounds.py.
    private static var tight: Configuration {
        var tight = Configuration()
        tight.limits.largeMessageBytesMax = 7_000
        tight.historyMessagesMax = 20
        tight.boardBytesMax = 10_000
        tight.boardBytesTotalMax = 32_000
        tight.boardsMax = 8
        tight.newBoardsPerHour = 3
        return tight
    }

    @Test("[FR2, JS5, ER1, ER4] a client written from the documents alone meets every frame type and every code")
    func interop() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0, hub: .init()))
        var small = Configuration()
        (small.connectionsMax, small.channelsMax) = (8, 4)
        small.streamChannelUsersMax = 3
        small.publisherBytesPerChannelMax = 900
        small.metadataBytesTotalMax = 1_512
        let smallRelay = try await WhiteboardRelay.start(.init(port: 0, hub: small))

        // One whose folder is removed while it runs, and one whose folder may be a single byte behind.
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("boardrelay-\(UInt32.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: folder) }
        let brokenFolder = folder.appendingPathComponent("broken")
        let broken = try await WhiteboardRelay.start(.init(port: 0, storage: .folder(brokenFolder.path)))
        try FileManager.default.removeItem(at: brokenFolder)
        var narrow = Configuration()
        narrow.unjournaledBytesMax = 1
        narrow.boardBytesTotalMax = 0
        narrow.sessionsMax = 16
        let narrowRelay = try await WhiteboardRelay.start(
            .init(port: 0, storage: .folder(folder.appendingPathComponent("narrow").path), hub: narrow))

        // One that is started again.
        let tight = Self.tight
        let boardsFolder = WhiteboardRelay.Storage.folder(folder.appendingPathComponent("boards").path)
        var boards = try await WhiteboardRelay.start(.init(port: 0, storage: boardsFolder, hub: tight))

        // One that stands by.
        let standby = try await WhiteboardRelay.start(
            .init(port: 0), permit: { _ in }, as: .door(to: [], elsewhere: ["main": .at("relay://192.0.2.7:7420")]))

        // One that is not open.
        let secret = (0..<32).map { _ in UInt8.random(in: 0...255) }
        let access = try await WhiteboardRelay.start(
            .init(port: 0, access: .keys(tokens: TokenRules(secrets: [TokenSecret(bytes: secret)]))))
        let keys = try #require(access.keys)

        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let output = Pipe()
        let process = try ChildProcess(
            "/usr/bin/env",
            [
                "python3", "-B", root.appendingPathComponent("Tests/Interop/interop.py").path,
                "--url", "\(relay.address)", "--small-url", "\(smallRelay.address)",
                "--broken-url", "\(broken.address)", "--narrow-url", "\(narrowRelay.address)", "--standby-url", "\(standby.address)",
                "--boards-url", "\(boards.address)", "--access-url", "\(access.address)", "--keys", "\(keys.join),\(keys.host)",
                "--token-secret", secret.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined(), "--docs",
                root.appendingPathComponent("docs").path,
            ], output: .descriptor(output.fileHandleForWriting.fileDescriptor), errors: .descriptor(FileHandle.standardError.fileDescriptor)
        )
        try output.fileHandleForWriting.close()
        let lines = LineCollector(output.fileHandleForReading)
        for await line in lines.stream {
            if line == "READY-FOR-SHUTDOWN" { await smallRelay.stop() }
            if line == "READY-FOR-ROTATION" { try await access.rotateKeys([.join], endsSessions: true) }
            if line == "READY-FOR-RESTART" {
                let port = boards.address.port
                await boards.stop()
                boards = try await WhiteboardRelay.start(.init(port: port, storage: boardsFolder, hub: tight))
            }
            await lines.keep(line)
        }
        let end = await process.waitUntilEnd()
        let report = await lines.kept.filter { !$0.hasPrefix("ok") }.joined(separator: "\n")
        #expect(end == .exited(0), "\(report)")
        #expect(await lines.kept.last?.hasSuffix("0 failed") == true, "\(report)")
        for relay in [broken, narrowRelay, smallRelay, standby, boards, access, relay] { await relay.stop() }
    }
}

/// Lines of a pipe, as they come, and those worth keeping.
actor LineCollector {
    nonisolated let stream: AsyncStream<String>
    private(set) var kept: [String] = []

    init(_ handle: FileHandle) {
        stream = AsyncStream { continuation in
            Thread.detachNewThread {
                var rest = Data()
                while true {
                    let data = handle.availableData
                    if data.isEmpty { break }
                    rest.append(data)
                    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                        continuation.yield(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                        rest = Data(rest[rest.index(after: end)...])
                    }
                }
                continuation.finish()
            }
        }
    }

    func keep(_ line: String) { kept.append(line) }
}
