import Foundation
import RelayCore
import RelayIO
import RelayJournal
import RelayStorage
@testable import RelayServer
import Testing

@Suite(.timeLimit(.minutes(10))) struct JournalWriterTests {
    @Test("[SG1] 64 records submitted in a row are covered by two fsyncs: what comes during one goes with the next")
    func groupCommit() async throws {
        try await withTemporaryPath { path in
            let faults = FolderFaults()
            let writer = Writer(path, faults)
            try await writer.open()
            let before = try await writer.status()
            faults.hold(.sync)
            for sequence in UInt64(1)...64 { writer.journal.submit([record(sequence)]) }
            try await eventually("a sync has begun") { faults.isHolding }
            faults.letGo()
            var covered: UInt64 = 0
            while covered < 64 { covered = try #require(await writer.nextPersisted()) }
            let after = try await writer.status()
            #expect(after.fsyncs - before.fsyncs <= 2 && after.writes - before.writes <= 2)
            #expect(after.records - before.records == 64 && after.lastSequence == 64)
            await writer.journal.close()
        }
    }

    @Test("[SG1] outcomes come in the order of the records, each after its sync, and all of them are found again")
    func order() async throws {
        try await withTemporaryPath { path in
            let faults = FolderFaults()
            let writer = Writer(path, faults)
            try await writer.open()
            for first in stride(from: UInt64(1), through: 999, by: 3) {
                writer.journal.submit([record(first)])
                writer.journal.submit([record(first + 1), record(first + 2)])
            }
            var outcomes: [UInt64] = []
            while outcomes.last != 999 {
                outcomes.append(try #require(await writer.nextPersisted()))
                #expect(faults.calls(of: .sync) >= outcomes.count)
            }
            #expect(outcomes == Set(outcomes).sorted())
            await writer.journal.close()
            let found = try await Writer(path).open()
            #expect(found.report.lastSequence == 999 && found.report.lines.isEmpty)
            #expect(Set(found.entries) == Set((UInt64(1)...999).flatMap { record($0).entries }))
        }
    }

    @Test(
        "[SG2] a failure is told once; what was submitted before it is acknowledged is dropped; then it works again",
        arguments: [
            StorageError.Operation.write, .sync, .create, .syncFolder,
        ])
    func passingFailure(operation: StorageError.Operation) async throws {
        try await withTemporaryPath { path in
            let faults = FolderFaults()
            let writer = Writer(path, faults)
            // Each record begins a segment.
            try await writer.open { $0.segmentBytes = 100 }
            writer.journal.submit([record(1)])
            #expect(await writer.next() == .persisted(through: 1))
            // The first attempt to recover fails as well, if it makes that call.
            faults.fail(operation, times: 2)
            writer.journal.submit([record(2)])
            guard case .failed(let text)? = await writer.next() else { return #expect(Bool(false), "no failure was told") }
            #expect(text.contains("made to fail") && text.contains(operation.rawValue))
            writer.journal.submit([record(3)])
            let failed = try await writer.status()
            #expect(failed.failure == text && failed.failures == 1 && failed.recordsWaiting == 0 && failed.bytesWaiting == 0)
            #expect(await writer.journal.flush() == text)
            writer.journal.submit([record(4)])
            writer.journal.acknowledgeFailure()
            #expect(await writer.next() == .recovered)
            writer.journal.submit([record(5)])
            #expect(await writer.next() == .persisted(through: 5))
            let healthy = try await writer.status()
            #expect(healthy.failure == nil && healthy.recoveries == 1 && healthy.lastError?.contains("made to fail") == true)
            await writer.journal.close()
            let found = try await Writer(path).open()
            #expect(Set(found.entries) == Set(record(1).entries + record(5).entries) && found.report.damage.isEmpty)
        }
    }

    @Test("[SG2] a folder that is removed fails once and for all, while a new one at its place is left alone")
    func removedFolder() async throws {
        try await withTemporaryPath { path in
            let writer = Writer(path, retryMilliseconds: 1)
            try await writer.open()
            writer.journal.submit([record(1)])
            #expect(await writer.next() == .persisted(through: 1))
            try FileManager.default.removeItem(atPath: path)
            writer.journal.submit([record(2)])
            guard case .failed(let text)? = await writer.next() else { return #expect(Bool(false), "no failure was told") }
            #expect(text.contains(path))
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            writer.journal.acknowledgeFailure()
            try await eventually("recovery was tried") { await writer.journal.status()?.lastError != text }
            #expect(try await writer.status().failure == text)
            #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
            await writer.journal.close()
            let second = Writer(path)
            #expect(try await second.open().entries.isEmpty)
            await second.journal.close()
        }
    }

    @Test("a writer that has failed rests until it is to try again")
    func restsInFailure() async throws {
        try await withTemporaryPath { path in
            let faults = FolderFaults()
            let writer = Writer(path, faults)
            try await writer.open()
            faults.fail(.write)
            writer.journal.submit([record(1)])
            guard case .failed? = await writer.next() else { return #expect(Bool(false), "no failure was told") }
            // Each `status` takes its turn on the queue, behind whatever is on it.
            _ = try await writer.status()
            let turns = await writer.journal.turns
            for _ in 0..<20 { _ = try await writer.status() }
            #expect(await writer.journal.turns <= turns + 1)
            await writer.journal.close()
        }
    }

    @Test(
        "[BL3, BL10] while each batch is followed by the next one, a board that is not in memory is read, its authors are told, and checkpoints are made"
    )
    func steadyWrites() async throws {
        try await withTemporaryPath { path in
            func change(_ sequence: UInt64, _ kind: StoredChange.Kind) -> JournalRecord {
                var change = StoredChange(
                    board: 1, epoch: .init(start: 1, incarnation: 1), author: Array("ann".utf8), wallMilliseconds: 1_800_000_000_000,
                    kind: kind)
                if case .put = kind { change.offset = sequence - 1 }
                return JournalRecord(sequence: sequence, entries: [change.entry(sequence: sequence, index: 0)])
            }
            func put(_ key: String) -> StoredChange.Kind {
                .put(BoardPut(key: Array(key.utf8), isText: false, customType: nil, payload: [UInt8](repeating: 7, count: 1_000)))
            }
            let first = Writer(path)
            try await first.open()
            first.journal.submit([change(1, .create(name: Array("lesson".utf8)))] + (2...9).map { change($0, put("\($0)")) })
            #expect(await first.journal.flush() == nil)
            await first.journal.close()

            let writer = JournalWriter(path: path)
            _ = try await writer.open()
            let (answers, tell) = AsyncStream.makeStream(of: String.self)
            let goesOn = Mutex(true)
            await writer.report { outcome in
                switch outcome {
                // Never without something to write, until it was read.
                case .persisted(let sequence): if goesOn.withLock({ $0 }) { writer.submit([record(sequence + 1, key: "metadata")]) }
                case .boardRead: tell.yield("board")
                case .authorsRead: tell.yield("authors")
                default: break
                }
            }
            writer.submit([record(10, key: "metadata")])
            writer.read(
                [BoardRead(token: 1, board: 1, above: 0, bytesMax: 100, isFresh: true)],
                authors: [BoardAuthorsRead(token: 2, board: 1, keys: [[50]], keysMax: 10)])
            var told: Set<String> = []
            for await answer in answers where told.insert(answer).inserted && told.count == 2 { break }
            #expect(told == ["board", "authors"])
            goesOn.withLock { $0 = false }
            await writer.close()
        }
    }

    @Test("close makes durable what was submitted, tells so, takes nothing more and gives the folder free")
    func closing() async throws {
        try await withTemporaryPath { path in
            let writer = Writer(path)
            try await writer.open()
            for sequence in UInt64(1)...100 { writer.journal.submit([record(sequence)]) }
            await writer.journal.close()
            var covered: UInt64 = 0
            while covered < 100 { covered = try #require(await writer.nextPersisted()) }
            writer.journal.submit([record(101)])
            #expect(await writer.journal.status() == nil)
            #expect(await writer.journal.flush() == nil)
            await writer.journal.close()
            let second = Writer(path)
            #expect(try await second.open().report.lastSequence == 100)
            await second.journal.close()
        }
    }

    @Test("[SG1] flush waits for everything submitted before it, also while the journal is compacted")
    func flushing() async throws {
        try await withTemporaryPath { path in
            let writer = JournalWriter(path: path)
            _ = try await writer.open { $0.segmentBytes = 2_000 }
            let durable = Mutex(UInt64(0))
            await writer.report { outcome in
                if case .persisted(let sequence) = outcome { durable.withLock { $0 = sequence } }
            }
            for sequence in UInt64(1)...150 {
                writer.submit([record(sequence, key: "key", bytes: 500)])
                #expect(await writer.flush() == nil)
                #expect(durable.withLock { $0 } == sequence)
            }
            await writer.close()
        }
    }

    @Test("[HI2, SG1] reads of boards and commits take turns: behind 100 reads a commit waits for 4 of them")
    func turns() async throws {
        try await withTemporaryPath { path in
            let faults = FolderFaults()
            let writer = Writer(path, faults)
            try await writer.open()
            faults.hold(.sync)
            writer.journal.submit([record(1)])
            try await eventually("a sync has begun") { faults.isHolding }
            writer.journal.read(
                (1...100).map { BoardRead(token: $0, board: 1, above: 0, partsKnown: 0, bytesMax: 1, freshThrough: 0) })
            writer.journal.submit([record(2)])
            faults.letGo()
            #expect(await writer.nextPersisted() == 1)
            var read = 0
            while case .boardRead? = await writer.next() { read += 1 }
            #expect(read == 4, "the next one was the commit")
            while read < 100, case .boardRead? = await writer.next() { read += 1 }
            #expect(read == 100)
            await writer.journal.close()
        }
    }

    @Test("status says how large the journal is and what was done")
    func status() async throws {
        try await withTemporaryPath { path in
            let writer = Writer(path)
            try await writer.open()
            let empty = try await writer.status()
            #expect(empty.folder == path && empty.segments == 1 && empty.entries == 0 && empty.liveBytes == 0 && empty.records == 0)
            writer.journal.submit([record(1, key: "a", bytes: 1_000), record(2, key: "b", bytes: 1_000), record(7, key: "a", bytes: 10)])
            #expect(await writer.journal.flush() == nil)
            let status = try await writer.status()
            #expect(status.entries == 2 && status.records == 3 && status.lastSequence == 7)
            #expect(status.writes - empty.writes == 1 && status.fsyncs - empty.fsyncs == 1)
            #expect(status.bytes - empty.bytes == status.bytesWritten - empty.bytesWritten && status.bytes - empty.bytes >= 2_010)
            #expect((1_010..<1_100).contains(status.liveBytes))
            #expect(status.recordsWaiting == 0 && status.bytesWaiting == 0 && status.failure == nil && status.lastError == nil)
            let files = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("journal-") }
            #expect(files.count == status.segments)
            let sizes = try files.map { try FileManager.default.attributesOfItem(atPath: path + "/" + $0)[.size] as? Int ?? 0 }
            #expect(sizes.reduce(0, +) == status.bytes)
            await writer.journal.close()
        }
    }

    @Test("compaction goes on between batches, bounds the folder, and loses nothing")
    func compaction() async throws {
        try await withTemporaryPath { path in
            let writer = Writer(path)
            try await writer.open { $0.segmentBytes = 4_096 }
            for sequence in UInt64(1)...400 { writer.journal.submit([record(sequence, key: "key-\(sequence % 10)", bytes: 200)]) }
            for sequence in UInt64(401)...500 {
                writer.journal.submit([record(sequence, key: "key-\(sequence % 10)", bytes: 200)])
                #expect(await writer.journal.flush() == nil)
            }
            try await eventually("half of what is stored is live, but for a segment") {
                guard let status = await writer.journal.status() else { return false }
                return status.compactions > 0 && status.bytes <= 2 * status.liveBytes + 2 * 4_096
            }
            let status = try await writer.status()
            #expect(status.entries == 10 && status.failure == nil && status.lastError == nil)
            await writer.journal.close()
            let found = try await Writer(path).open()
            #expect(Set(found.entries) == Set((UInt64(491)...500).flatMap { record($0, key: "key-\($0 % 10)", bytes: 200).entries }))
        }
    }

    @Test("a folder in use and a path through a file are told with their names; a refusal leaves the folder free")
    func refusals() async throws {
        try await withTemporaryPath { path in
            let first = Writer(path)
            try await first.open()
            await #expect { try await Writer(path).open() } throws: {
                "\($0)".contains(path) && "\($0)".contains("in use by pid \(getpid())")
            }
            await first.journal.close()
            let segment = try #require(FileManager.default.contentsOfDirectory(atPath: path).first { $0 != "lock" })
            await #expect { try await Writer(path + "/" + segment + "/x").open() } throws: { "\($0)".contains(path + "/" + segment) }
            let second = Writer(path)
            try await second.open()
            await second.journal.close()
        }
    }
}

/// A writer and what it tells.
private final class Writer {
    let journal: JournalWriter
    private let tell: AsyncStream<JournalWriter.Outcome>.Continuation
    private let told: AsyncStream<JournalWriter.Outcome>

    init(_ path: String, _ faults: FolderFaults = FolderFaults(), retryMilliseconds: Int = 10) {
        journal = JournalWriter(path: path, retryMilliseconds: retryMilliseconds, permit: faults.permit)
        (told, tell) = AsyncStream.makeStream(of: JournalWriter.Outcome.self)
    }

    @discardableResult
    func open(_ change: @Sendable (inout JournalSettings) -> Void = { _ in }) async throws -> JournalWriter.Opened {
        let opened = try await journal.open(change)
        let tell = tell
        await journal.report { tell.yield($0) }
        return opened
    }

    func next() async -> JournalWriter.Outcome? { await told.first { _ in true } }

    /// - Returns: `nil` when something else came.
    func nextPersisted() async -> UInt64? {
        guard case .persisted(let sequence)? = await next() else { return nil }
        return sequence
    }

    func status() async throws -> JournalStatus { try #require(await journal.status()) }
}

private func record(_ sequence: UInt64, key: String? = nil, bytes: Int = 20) -> JournalRecord {
    let value = (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &+ Int(sequence)) }
    return JournalRecord(sequence: sequence, entries: [JournalEntry(key: Array((key ?? "key-\(sequence)").utf8), value: value)])
}
