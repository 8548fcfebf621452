import Foundation
import RelayClient
import RelayCore
import RelayIO
import RelayJournal
import RelayStorage
@testable import RelayServer
import Testing

/// A relay with a folder, and a backup of it that stands still where a test wants it to.
@Suite(.timeLimit(.minutes(10))) struct BackupTests {
    private static func restored(_ pieces: [[UInt8]], to path: String) throws {
        let restore = try FolderRestore(into: path)
        do {
            for piece in pieces { try restore.read(piece) }
            _ = try restore.finish()
        } catch {
            restore.abandon()
            throw error
        }
    }

    private static func withSocket(_ path: String, _ body: (WhiteboardRelay, _ socket: String) async throws -> Void) async throws {
        let socket = path + ".sock"
        let server = try await WhiteboardRelay.start(
            .init(port: 0, storage: .folder(path), access: .open, hub: .unhurried(), controlSocket: socket))
        do {
            try await body(server, socket)
            await server.stop()
        } catch {
            await server.stop()
            throw error
        }
    }

    @Test("[SG4] a backup of a relay that runs has all that was answered before: a relay starts on it with boards, metadata and locks")
    func whole() async throws {
        try await withTemporaryPath { path in
            try await withTemporaryPath { target in
                try await Self.withSocket(path) { server, socket in
                    let anna = try await WhiteboardClient.connect(to: server.address, as: "anna")
                    for key in 0..<20 { _ = try await anna.send(.text("line \(key)"), to: "lesson", retainedAs: "\(key)").stored }
                    try await anna.metadata(of: .user("anna")).set(["color": "red"])
                    var pieces: [[UInt8]] = []
                    let report = try WhiteboardRelay.backup(controlSocket: socket) { pieces.append($0) }
                    #expect(report.bytes == pieces.reduce(0) { $0 + $1.count } && report.files >= 2)
                    _ = try await anna.send(.text("later"), to: "lesson", retainedAs: "later").stored
                    try Self.restored(pieces, to: target)
                    await anna.close()
                }
                try await withRelay(.folder(target)) { server in
                    let anna = try await WhiteboardClient.connect(to: server.address, as: "ben")
                    #expect(try await anna.boards().map(\.records) == [20])
                    #expect(try await anna.metadata(of: .user("anna")).get().items.map(\.key) == ["color"])
                    await anna.close()
                }
            }
        }
    }

    /// The first piece stops the reader until `body` is done.
    private static func whileCopied(_ socket: String, _ body: () async throws -> Void) async throws -> Result<BackupReport, any Error> {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self), gate = DispatchSemaphore(value: 0)
        let done = Task.detached {
            await withCheckedContinuation { continuation in
                SystemThread.detach {
                    var isFirst = true
                    continuation.resume(
                        returning: Result {
                            try WhiteboardRelay.backup(controlSocket: socket) { _ in
                                guard isFirst else { return }
                                isFirst = false
                                begin.yield()
                                _ = gate.wait(timeout: .now() + .seconds(300))
                            }
                        })
                }
            }
        }
        _ = await begun.first { _ in true }
        try await body()
        gate.signal()
        return await done.value
    }

    /// More than a socket takes, so that a reader that stands still stops the relay's side.
    private static func fill(_ client: WhiteboardClient) async throws {
        let ink = String(repeating: "ink ", count: 7_000)
        for key in 0..<100 { _ = try await client.send(.text(ink), to: "large", retainedAs: "\(key)").stored }
    }

    @Test("[AC14, AC18] what is forgotten during a backup is answered only when the disk has nothing of it; a second backup is refused")
    func forget() async throws {
        try await withTemporaryPath { path in
            try await Self.withSocket(path) { server, socket in
                let host = try await WhiteboardClient.connect(to: server.address, as: "host")
                let anna = try await WhiteboardClient.connect(to: server.address, as: "anna")
                try await Self.fill(host)
                _ = try await anna.send(.text("was Anna schrieb"), to: "lesson", retainedAs: "a").stored
                let isForgotten = Mutex(false)
                var forgetting: Task<Void, any Error>?
                let report = try await Self.whileCopied(socket) {
                    #expect(throws: RelayServerError(text: "another backup is under way")) {
                        try WhiteboardRelay.backup(controlSocket: socket) { _ in }
                    }
                    forgetting = Task {
                        try await host.moderation.forget(user: "anna", withRecords: true)
                        isForgotten.withLock { $0 = true }
                    }
                    try await eventually("the record has gone from the board") {
                        await (try? host.boards())?.first { $0.channel == "lesson" }?.records == 0
                    }
                    // Others are served meanwhile, and their changes stored.
                    for key in 0..<5 { _ = try await host.send(.text("beside"), to: "beside", retainedAs: "\(key)").stored }
                    #expect(!isForgotten.withLock { $0 })
                }
                #expect(try report.get().files >= 2)
                try await forgetting?.value
                let left = try FileManager.default.contentsOfDirectory(atPath: path).filter {
                    FileManager.default.contents(atPath: "\(path)/\($0)")?.range(of: Data("was Anna schrieb".utf8)) != nil
                }
                #expect(left == [])
                await anna.close()
                await host.close()
            }
        }
    }

    @Test("a reader that goes away ends the backup; the next one is whole, and a relay that ends during one says so")
    func gone() async throws {
        struct Enough: Error {}
        try await withTemporaryPath { path in
            let socket = path + ".sock"
            var result: Result<BackupReport, any Error>?
            try await Self.withSocket(path) { server, _ in
                let host = try await WhiteboardClient.connect(to: server.address, as: "host")
                try await Self.fill(host)
                #expect(throws: Enough.self) { try WhiteboardRelay.backup(controlSocket: socket) { _ in throw Enough() } }
                try await eventually("the next backup is made") {
                    (try? WhiteboardRelay.backup(controlSocket: socket) { _ in }) != nil
                }
                await host.close()
                result = try await Self.whileCopied(socket) { await server.stop() }
            }
            let error = #expect(throws: RelayServerError.self) { try result?.get() }
            #expect(error?.text.contains("the relay has ended") == true)
        }
    }

    @Test("a relay in memory has nothing to save")
    func memory() async throws {
        try await withTemporaryPath { path in
            let server = try await WhiteboardRelay.start(.init(port: 0, controlSocket: path))
            #expect(throws: RelayServerError(text: "this relay keeps nothing on a disk")) {
                try WhiteboardRelay.backup(controlSocket: path) { _ in }
            }
            await server.stop()
        }
    }

    @Test("beyond the bound of what waits for it a backup fails with both numbers, and the removals go on")
    func bound() async throws {
        try await withTemporaryPath { path in
            let journal = JournalWriter(path: path, copyHeldBytesMax: 10_000)
            _ = try await journal.open { $0.segmentBytes = 2_000 }
            func write(_ sequences: ClosedRange<UInt64>) async {
                for sequence in sequences {
                    let entry = JournalEntry(key: Array("key".utf8), value: [UInt8](repeating: 5, count: 500))
                    journal.submit([JournalRecord(sequence: sequence, entries: [entry])])
                    _ = await journal.flush()
                }
            }
            await write(1...3)
            let copy = try journal.beginCopy()
            #expect(throws: RelayServerError(text: "another backup is under way")) { try journal.beginCopy() }
            await write(4...16)
            #expect(await journal.status()?.segments == 6, "nothing has gone")
            await write(17...60)
            try await eventually("compaction goes on") { await (journal.status()?.segments ?? .max) <= 3 }
            let error = #expect(throws: RelayServerError.self) { try journal.readCopy(of: copy.files[0], at: 0) }
            #expect(error?.text.hasPrefix("the backup was too slow: 10") == true && error?.text.hasSuffix("at most 10000 may") == true)
            journal.endCopy()
            _ = try journal.beginCopy()
            await journal.close()
        }
    }

    @Test("a folder is restored whole or not at all: nothing is left of what was cut or changed, and nothing is overwritten")
    func refused() async throws {
        try await withTemporaryPath { path in
            var pieces: [[UInt8]] = []
            try await Self.withSocket(path) { _, socket in
                _ = try WhiteboardRelay.backup(controlSocket: socket) { pieces.append($0) }
            }
            func refusal(_ pieces: [[UInt8]], _ target: String) -> String {
                do {
                    try Self.restored(pieces, to: target)
                    return ""
                } catch { return "\(error)" }
            }
            let target = path + "/new"
            for count in 0..<pieces.count { #expect(refusal(Array(pieces.prefix(count)), target).contains("ends early")) }
            var other = pieces
            other[1][70] ^= 1
            #expect(refusal(other, target).contains("is not what was saved"))
            #expect(!FileManager.default.fileExists(atPath: target) && !FileManager.default.fileExists(atPath: target + ".draft"))
            #expect(refusal(pieces, path).contains("\(path) is not empty"))
            #expect(refusal(pieces, path + "/lock").contains("is no folder"))
            try FileManager.default.createDirectory(atPath: target + ".draft", withIntermediateDirectories: false)
            try Data().write(to: URL(filePath: target + ".draft/half"))
            #expect(refusal(pieces, target).contains("new.draft is what a restore has left that did not come to its end: remove it"))
            try FileManager.default.removeItem(atPath: target + ".draft")
            try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
            #expect(refusal(pieces, target + "/") == "")
            let mode = try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int
            #expect(mode == 0o700)
            for file in try FileManager.default.contentsOfDirectory(atPath: target) {
                #expect(try FileManager.default.attributesOfItem(atPath: target + "/" + file)[.posixPermissions] as? Int == 0o600)
            }
        }
    }
}
