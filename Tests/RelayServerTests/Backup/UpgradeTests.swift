import Foundation
import RelayClient
import RelayIO
import RelayRights
@testable import RelayServer
import Testing

/// Data folders of released versions, which `Tests/Fixtures/make.py` has made: each opens, and what was stored is there.
@Suite(.timeLimit(.minutes(10))) struct UpgradeTests {
    static let fixtures: [String] = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let files = (try? FileManager.default.contentsOfDirectory(atPath: root.path + "/Fixtures")) ?? []
        return files.filter { $0.hasSuffix(".tar") }.sorted().map { root.path + "/Fixtures/" + $0 }
    }()

    private static func restored(_ fixture: String, to path: String) throws {
        let restore = try FolderRestore(into: path)
        try restore.read([UInt8](Data(contentsOf: URL(filePath: fixture))))
        _ = try restore.finish()
    }

    @Test("there is one for each version, from the first release on")
    func all() { #expect(Self.fixtures.map { URL(filePath: $0).lastPathComponent } == ["0.1.0.tar"]) }

    @Test("[SG4] this version opens a folder of a released one, with its keys, boards, metadata, roles and bans", arguments: fixtures)
    func opens(fixture: String) async throws {
        try await withTemporaryPath { path in
            try Self.restored(fixture, to: path)
            let lines = Mutex<[String]>([])
            let options = WhiteboardRelay.Options(
                port: 0, storage: .folder(path), access: .keys(), hub: .unhurried(),
                log: { line in if line.level > .info { lines.withLock { $0.append(line.text) } } })
            let stored = try String(contentsOfFile: path + "/host.key", encoding: .utf8).filter { $0 != "\n" }
            let server = try await WhiteboardRelay.start(options), keys = try #require(server.keys)
            #expect(keys.host == stored)
            func client(_ user: String, _ key: String) async throws -> WhiteboardClient {
                var options = ClientOptions()
                options.credential = .key(key)
                return try await WhiteboardClient.connect(to: server.address, as: user, options: options)
            }
            let host = try await client("teacher", keys.host), carl = try await client("carl", keys.join)
            #expect(carl.access?.role == .reader)
            let boards = try await host.boards()
            #expect(boards.map(\.channel).sorted() == ["cleared", "lesson"] && boards.map(\.records).sorted() == [0, 3])
            let title = try await host.metadata(of: .message("lesson")).get()
            #expect(title.items.map { "\($0.key) \($0.value.value)" } == ["title Fixture"] && title.majorRevision == 1)
            #expect(try await host.metadata(of: .user("anna")).get().items.map(\.key) == ["color"])
            #expect(try await host.moderation.bans().map(\.user) == ["ben"])
            for client in [host, carl] { await client.close() }
            await server.stop()
            #expect(lines.withLock { $0 } == [])
        }
    }

    @Test("a data folder of a newer version is refused with both versions and what helps, and nothing in it changes")
    func downgrade() async throws {
        try await withTemporaryPath { path in
            try Self.restored(try #require(Self.fixtures.last), to: path)
            let anchor = URL(filePath: path + "/journal.anchor")
            var bytes = try [UInt8](Data(contentsOf: anchor))
            bytes[11] += 1
            bytes[44..<52] = [0, 0, 0, 7, 0, 1, 0, 2]
            try Data(bytes[..<52] + Self.crc32c(bytes[..<52])).write(to: anchor)
            func contents() throws -> [String: Data?] {
                let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0 != "lock" }
                return Dictionary(uniqueKeysWithValues: names.map { ($0, FileManager.default.contents(atPath: path + "/" + $0)) })
            }
            let before = try contents()
            let error = await #expect(throws: RelayServerError.self) {
                try await WhiteboardRelay.start(.init(port: 0, storage: .folder(path), access: .keys()))
            }
            #expect(
                error?.text == "journal.anchor has format version 2, of boardrelay 7.1.2, this program knows versions up to 1: "
                    + "boardrelay 0.1.0 cannot use \(path): install the version that wrote it or a newer one, or restore a backup that 0.1.0 made")
            #expect(try contents() == before)
        }
    }

    /// Bit by bit, to be independent of the one that is checked with.
    private static func crc32c(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var crc = UInt32.max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 1 ? 0x82F6_3B78 : 0) }
        }
        return (0..<4).map { UInt8(truncatingIfNeeded: ~crc >> UInt32(24 - 8 * $0)) }
    }
}
