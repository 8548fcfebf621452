import Foundation
import RelayCluster
import RelayCore
import RelayIO
import RelayJournal
import RelayStorage
import Testing

@testable import RelayServer

@Suite("The folder of a space with a log", .timeLimit(.minutes(5))) struct LoggedFolderTests {
    private func writer(_ path: String) throws -> JournalWriter {
        let options = SpaceLogOptions(space: "main", servers: try LogServers("nats://127.0.0.1:1"))
        return JournalWriter(path: path, log: SpaceNode(options, log: { _ in }))
    }

    private func record(_ sequence: UInt64) -> JournalRecord {
        JournalRecord(sequence: sequence, entries: [JournalEntry(key: Array("Z\(sequence)".utf8), value: [1])])
    }

    private func place(_ position: UInt64, start: UInt32, sequence: UInt64) -> LogPlace {
        var place = LogPlace()
        (place.position, place.start, place.sequence, place.checksum) = (position, start, sequence, 7)
        return place
    }

    private func serve(_ writer: JournalWriter, start: UInt32) async throws -> JournalWriter.Opened {
        try await withCheckedContinuation { continuation in
            writer.beginServing(start: start) { continuation.resume(returning: $0) }
        }.get()
    }

    @Test("has the place in the log with each batch, through each change of roles, and over a restart")
    func places() async throws {
        try await withTemporaryPath { path in
            let first = try writer(path)
            #expect(try JournalWriter.place(in: try await first.open()) == LogPlace())
            first.store([], place(1, start: 5, sequence: 0))
            first.store([record(1), record(2)], place(2, start: 5, sequence: 2))
            let opened = try await serve(first, start: 6)
            #expect(opened.report.lastSequence == 2)
            #expect(opened.entries.map { String(decoding: $0.key, as: UTF8.self) } == ["Z1", "Z2"], "no hub sees the place")
            first.store([record(3)], place(4, start: 6, sequence: 3))
            first.beginFollowing()
            first.store([record(4)], place(9, start: 7, sequence: 4))
            await first.close()
            let second = try writer(path)
            let again = try await second.open()
            #expect(try JournalWriter.place(in: again) == place(9, start: 7, sequence: 4))
            #expect(again.start == 6, "the number of the newest start on this folder")
            await second.close()
        }
    }

    @Test("that a crash has left in the middle of a batch says so, and goes on from there")
    func torn() async throws {
        try await withTemporaryPath { living in
            let first = try writer(living), path = living + ".crashed"
            defer { try? FileManager.default.removeItem(atPath: path) }
            _ = try await first.open()
            first.store([], place(1, start: 5, sequence: 0))
            first.store((1...3).map { record($0) }, place(2, start: 5, sequence: 3))
            #expect(await first.flush() == nil)
            try FileManager.default.copyItem(atPath: living, toPath: path)
            await first.close()
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("journal-") }.max())
            let file = try #require(FileHandle(forUpdatingAtPath: "\(path)/\(name)"))
            // Behind the batch there may be room that was taken before.
            var second: JournalWriter, found: LogPlace, end = try #require(try file.readToEnd()?.lastIndex { $0 != 0 })
            repeat {
                end -= 8
                try file.truncate(atOffset: UInt64(end))
                second = try writer(path)
                found = try JournalWriter.place(in: try await second.open())
                if found.sequence == 3 { await second.close() }
            } while found.sequence == 3
            var partial = place(1, start: 5, sequence: 2)
            partial.isPartial = true
            #expect(found == partial)
            second.store([record(3)], place(2, start: 5, sequence: 3))
            await second.close()
            let third = try writer(path)
            let whole = try await third.open()
            #expect(try JournalWriter.place(in: whole) == place(2, start: 5, sequence: 3) && whole.report.lastSequence == 3)
            await third.close()
        }
    }

    @Test("that has served without the log is refused; one that never had one begins where it is")
    func without() async throws {
        try await withTemporaryPath { path in
            let alone = JournalWriter(path: path)
            _ = try await alone.open()
            try await alone.note(start: 40)
            alone.submit([record(1)])
            await alone.close()
            let first = try writer(path)
            let opened = try await first.open()
            #expect(try JournalWriter.place(in: opened) == LogPlace(start: 40, sequence: 1))
            first.store([], place(1, start: 41, sequence: 1))
            first.store([record(2)], place(2, start: 41, sequence: 2))
            await first.close()
            let strayed = JournalWriter(path: path)
            _ = try await strayed.open()
            strayed.submit([record(3)])
            await strayed.close()
            let second = try writer(path)
            let found = try await second.open()
            #expect(throws: RelayServerError.self) { try JournalWriter.place(in: found) }
            await second.close()
        }
    }

    @Test("is served without its log by whoever says that it leaves it, and for good; its keys are those of the log")
    func left() async throws {
        try await withTemporaryPath { path in
            let keys = LoggedKeys(secret: [UInt8](repeating: 7, count: 32), space: "main")
            let ring = try KeyRing(folder: path)
            let first = try writer(path)
            _ = try await first.open()
            first.store([], place(1, start: 5, sequence: 0))
            let entries = [keys.entry(of: ring.keys), LoggedAddress.entry(of: RelayAddress(host: "192.0.2.7"))]
            first.store([JournalRecord(sequence: 1, entries: entries)], place(2, start: 5, sequence: 1))
            await first.close()
            var other = ring
            try other.rotate(.join)
            var options = WhiteboardRelay.Options(port: 0, storage: .folder(path), access: .keys())
            let refusal = await #expect(throws: RelayServerError.self) { try await WhiteboardRelay.start(options) }
            #expect(refusal?.text.contains("a space with a log") == true)
            options.leavesLog = LeftLog(space: "main", secret: [UInt8](repeating: 8, count: 32))
            await #expect(throws: RelayServerError.self) { try await WhiteboardRelay.start(options) }
            options.leavesLog = LeftLog(space: "main", secret: keys.secret)
            let lines = Mutex<[String]>([])
            options.log = { line in if line.level == .warning { lines.withLock { $0.append(line.text) } } }
            let relay = try await WhiteboardRelay.start(options)
            #expect(relay.keys == ring.keys && lines.withLock { $0 } == [])
            await relay.stop()
            options.leavesLog = nil
            await (try WhiteboardRelay.start(options)).stop()
        }
    }

    @Test("says where the owner is reached, unless that is this node, or no address")
    func whereabouts() {
        let own = RelayAddress(host: "192.0.2.1")
        func found(_ texts: String?..., key: [UInt8] = LoggedAddress.key) -> Whereabouts? {
            LoggedAddress.whereabouts(in: texts.map { JournalEntry(key: key, value: $0.map { Array($0.utf8) }) }, own: own)
        }
        #expect(found() == nil && found("relay://a", key: Array("Z".utf8)) == nil)
        #expect(found("relay://a:1", "relays://b:2") == .at("relays://b:2") && found("relay://a:1", nil) == .unknown)
        #expect(found("relay://192.0.2.1:7420") == .unknown && found("no address") == .unknown)
        #expect(found("relay://\(String(repeating: "a", count: 300))") == .unknown)
    }

    @Test("keeps other relays out while its roles change")
    func lock() async throws {
        try await withTemporaryPath { path in
            let first = try writer(path), second = try writer(path)
            _ = try await first.open()
            _ = try await serve(first, start: 1)
            await #expect(throws: RelayServerError.self) { try await second.open() }
            await first.close()
            _ = try await second.open()
            await second.close()
        }
    }

    @Test("has the keys that the log has, which another secret does not open")
    func keys() async throws {
        try await withTemporaryPath { path in
            let keys = LoggedKeys(secret: [UInt8](repeating: 7, count: 32), space: "main")
            let first = try writer(path)
            _ = try await first.open()
            let ring = try KeyRing(folder: path)
            let sealed = try #require(keys.entry(of: ring.keys).value)
            #expect(try keys.keys(in: sealed) == ring.keys)
            #expect(try !keys.take(nil, into: path))
            var other = ring
            try other.rotate(.join)
            #expect(try keys.take(sealed, into: path))
            #expect(try KeyRing(folder: path).keys == ring.keys, "those of the log are there again")
            let others = [LoggedKeys(secret: [UInt8](repeating: 8, count: 32), space: "main"), LoggedKeys(secret: keys.secret, space: "b")]
            for other in others { #expect(throws: RelayServerError.self) { try other.keys(in: sealed) } }
            await first.close()
        }
    }
}
