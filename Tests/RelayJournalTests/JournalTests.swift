import RelayJournal
import RelayStorage
import RelayPrimitives
import RelayTestKit
import RelayTesting
import Testing

@Suite struct JournalTests {
    private func entryBytes(_ values: JournalModel.Values) -> Int { values.reduce(0) { $0 + 6 + $1.key.count + $1.value.count } }

    @Test(
        "[SG4] used and opened again and again, a journal holds what a dictionary would",
        arguments: [(1, 300), (2, 4096), (3, 20_000)])
    func model(seed: UInt64, segmentBytes: Int) throws {
        let storage = SimulatedStorage()
        let run = try JournalRun(storage, seed: seed, segmentBytes: segmentBytes)
        run.keyCount = 60
        var reopenings = 0
        for _ in 0..<250 {
            try run.append()
            try run.compact(steps: Int.random(in: 0...3, using: &run.generator))
            #expect(run.journal.size.liveBytes == entryBytes(run.model.durable) && run.journal.size.liveEntries == run.model.durable.count)
            guard run.generator.chance(1, in: 12) else { continue }
            reopenings += 1
            let isOrderly = run.generator.chance(1, in: 2)
            if isOrderly { run.journal.close() }
            let sizeBefore = run.journal.size
            try run.reopen(isOrderly ? run.storage.restarted() : run.storage.crashed(.takesAll))
            #expect(run.journal.size.liveBytes == sizeBefore.liveBytes && run.journal.size.liveEntries == sizeBefore.liveEntries)
        }
        #expect(reopenings > 10)
    }

    @Test(
        "compaction bounds what is stored by twice what is alive and two segments, in steps as short as asked for",
        arguments: [(4, 2048), (5, 8192)])
    func compactionBounds(seed: UInt64, segmentBytes: Int) throws {
        let storage = SimulatedStorage()
        let run = try JournalRun(storage, seed: seed, segmentBytes: segmentBytes)
        var longestStep = 0
        for _ in 0..<600 {
            try run.append()
            while run.journal.wantsCompaction {
                let calls = storage.calls.count
                _ = try run.journal.compactStep(bytesMax: 400)
                let written = storage.calls[calls...].compactMap(\.bytes).filter { $0.lowerBound > 0 }
                #expect(written.count <= 1)
                longestStep = max(longestStep, written.first?.count ?? 0)
            }
            let size = run.journal.size
            #expect(size.bytes <= 2 * size.liveBytes + 64 * size.segments + 2 * segmentBytes)
            #expect(storage.disk.byteCount == size.bytes + 56 && storage.disk.list.count == size.segments + 1)
        }
        #expect(run.journal.counters.compactions > 20)
        // A record of four entries may be longer than the step, copies of several records may not.
        #expect(longestStep > 0 && longestStep <= max(400, 22 + 4 * (6 + 6 + run.valueBytesMax)))
        try run.reopen(storage.crashed(.takesAll))
    }

    @Test("records appended together are one write and one sync")
    func groupCommit() throws {
        let storage = SimulatedStorage()
        let journal = try Journal.open(storage, JournalRun.settings(1 << 20)).journal
        let before = journal.counters
        let calls = storage.calls.count
        try journal.append((1...64).map { JournalRecord(sequence: $0, entries: [JournalEntry(key: [UInt8($0)], value: [1])]) })
        #expect(storage.calls[calls...].map(\.operation) == [.write, .sync])
        #expect(
            journal.counters.writes == before.writes + 1 && journal.counters.fsyncs == before.fsyncs + 1 && journal.counters.records == 64)
    }

    @Test("the longest key and value are stored, in a segment as long as it takes")
    func longest() throws {
        let storage = SimulatedStorage()
        let journal = try Journal.open(storage, JournalRun.settings(4096)).journal
        let entry = JournalEntry(key: [UInt8](repeating: 7, count: 512), value: [UInt8](repeating: 9, count: 1 << 20))
        for sequence: UInt64 in 1...3 { try journal.append([JournalRecord(sequence: sequence, entries: [entry])]) }
        while try journal.compactStep(bytesMax: 1024) {}
        #expect(journal.size.segments == 1 && journal.counters.compactions == 2)
        let opened = try Journal.open(storage.crashed(.takesAll), JournalRun.settings(4096))
        #expect(opened.entries == [entry] && opened.report.lines.isEmpty)
    }

    @Test("a key taken away does not come back when its segment is compacted, nor does the last sequence go back")
    func everythingRemoved() throws {
        let storage = SimulatedStorage()
        let journal = try Journal.open(storage, JournalRun.settings(200)).journal
        var sequence: UInt64 = 0
        for value in [[UInt8](repeating: 1, count: 50), nil] as [[UInt8]?] {
            for key: UInt8 in 1...10 {
                sequence += 1
                try journal.append([JournalRecord(sequence: sequence, entries: [JournalEntry(key: [key], value: value)])])
            }
        }
        while try journal.compactStep(bytesMax: 100) {}
        #expect(journal.size.liveEntries == 0 && journal.size.segments == 1)
        let opened = try Journal.open(storage.crashed(.takesAll), JournalRun.settings(200))
        #expect(opened.entries.isEmpty && opened.report.lastSequence == 20)
    }

    @Test("[SG4] a journal of which files are gone while it is used does not recover into nothing")
    func removedWhileRunning() throws {
        let storage = SimulatedStorage()
        let run = try JournalRun(storage, seed: 1, segmentBytes: 1024)
        for _ in 0..<5 { try run.append() }
        storage.faults = [.init((storage.calls.count + 1)...(storage.calls.count + 1))]
        #expect(throws: JournalError.self) { try run.append() }
        let first = try #require(storage.disk.list.first)
        try storage.remove(first)
        #expect(throws: JournalError.missing(file: first)) { try run.journal.recoverFromFailure() }
        #expect(run.journal.failure != nil)
    }

    @Test("[SG4] while only the anchor cannot be replaced, every try to recover makes do with the segment that the first has begun")
    func recoversWithOneSegment() throws {
        let storage = SimulatedStorage()
        let run = try JournalRun(storage, seed: 1, segmentBytes: 1024)
        try run.append()
        let syncs = storage.calls.count { $0.operation == .sync }, renames = storage.calls.count { $0.operation == .rename }
        storage.faults = [.init((syncs + 1)...(syncs + 1), of: .sync), .init((renames + 1)...(renames + 3), of: .rename)]
        #expect(throws: JournalError.self) { try run.append() }
        for _ in 0..<3 { #expect(throws: JournalError.self) { try run.journal.recoverFromFailure() } }
        try run.recover()
        #expect(storage.failedCalls.count == 4 && storage.disk.list.count { $0.hasPrefix("journal-") } == 2)
        try run.append()
        try run.reopen(storage.crashed(.takesNothing))
    }

    @Test("[SG4] a sync of the folder that failed before a segment went is counted, and the segment stays")
    func anchorOfCompactionFails() throws {
        let storage = SimulatedStorage()
        let journal = try Journal.open(storage, JournalRun.settings(200)).journal
        for number in 1...6 {
            try journal.append([
                JournalRecord(
                    sequence: UInt64(number), entries: [JournalEntry(key: [1], value: [UInt8](repeating: UInt8(number), count: 100))])
            ])
        }
        let syncs = storage.calls.count { $0.operation == .syncFolder }, files = storage.disk.list
        storage.faults = [.init((syncs + 1)...(syncs + 1), of: .syncFolder)]
        for _ in 0..<2 { _ = try journal.compactStep(bytesMax: 1_000) }
        #expect(storage.failedCalls.map(\.operation) == [.syncFolder] && storage.disk.list == files)
        #expect(journal.counters.failures == 1 && journal.failure == nil && journal.counters.compactions == 0)
    }

    @Test("a closed journal takes nothing")
    func closed() throws {
        let storage = SimulatedStorage()
        let journal = try Journal.open(storage, JournalRun.settings(1024)).journal
        journal.close()
        journal.close()
        #expect(storage.isClosed)
        #expect(throws: JournalError.self) { try journal.append([JournalRecord(sequence: 1, entries: [])]) }
    }
}
