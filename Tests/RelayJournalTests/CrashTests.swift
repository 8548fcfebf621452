import Foundation
import RelayJournal
import RelayStorage
import RelayPrimitives
import RelayTestKit
import RelayTesting
import Testing

@Suite struct CrashTests {
    /// `BOARDRELAY_SEEDS` sets how many runs there are, `BOARDRELAY_JOURNAL_SEED` replays one.
    static var seeds: [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["BOARDRELAY_JOURNAL_SEED"].flatMap(UInt64.init) { return [seed] }
        let base = environment["BOARDRELAY_SEED_BASE"].flatMap(UInt64.init) ?? UInt64.random(in: 0 ... .max)
        let count = environment["BOARDRELAY_SEEDS"].flatMap(Int.init).map { max($0 / 100, 1) } ?? 1
        return Seeds.fresh(count: count, from: base)
    }

    @Test("[SG4] wherever a crash falls, what was durable is there, nothing is in part, and the journal goes on", arguments: seeds)
    func crashes(seed: UInt64) throws {
        let storage = SimulatedStorage()
        let run = try JournalRun(storage, seed: seed, segmentBytes: 4096)
        var crashes = Crashes(seed: seed)
        var broken: Broken?
        storage.afterChange = { storage in
            guard broken == nil, Moments.isTried(storage.calls.count) else { return }
            do { try crashes.check(storage, run) } catch { broken = error as? Broken ?? Broken("\(error)") }
        }
        for batch in 0..<250 {
            try run.append()
            try run.compact(steps: Int.random(in: 0...2, using: &run.generator))
            if let broken { throw Broken("seed \(seed), batch \(batch): \(broken). BOARDRELAY_JOURNAL_SEED=\(seed) replays it") }
        }
        let done = crashes.done
        print(
            "journal crashes: seed \(seed), \(storage.calls.count) calls, \(run.journal.counters.compactions) segments compacted, \(done)")
        #expect(run.journal.counters.compactions > 10)
        #expect(done.torn > 20 && done.withPending > 20 && done.withoutPending > 20 && done.whileOpening > 20, "\(done)")
    }

    @Test("[SG4] what a torn batch has left is not taken for the rest of the next one")
    func tornTail() throws {
        let file = FormatTests.file
        let storage = SimulatedStorage()
        let journal = try Journal.open(storage, JournalRun.settings(4096)).journal
        func record(_ sequence: UInt64, _ key: UInt8, bytes: Int) -> JournalRecord {
            JournalRecord(sequence: sequence, entries: [JournalEntry(key: [key], value: [UInt8](repeating: key, count: bytes))])
        }
        // Of three records, 29 bytes and the value each, the crash has torn the second.
        try journal.append([record(1, 1, bytes: 10), record(2, 2, bytes: 60), record(3, 3, bytes: 10)])
        let end = try #require(storage.disk.size(of: file))
        var disk = storage.disk
        disk.write([0], to: file, at: 64 + 39 + 50)
        let next = SimulatedStorage(disk.afterCrash(.takesNothing))
        let opened = try Journal.open(next, JournalRun.settings(4096))
        #expect(opened.entries.map(\.key) == [[1]] && opened.report.cutBytes == 89 + 39)
        // Behind the proof of 22 bytes, one that ends exactly where the third began.
        try opened.journal.append([record(2, 4, bytes: 89 - 22 - 29)])
        #expect(next.disk.size(of: file) == end - 39)
        #expect(try Journal.open(next.crashed(.takesAll), JournalRun.settings(4096)).entries.map(\.key) == [[1], [4]])
    }
}

/// Crashes a journal at one moment in several ways, opens what is left, uses it and crashes it again.
struct Crashes {
    struct Tally {
        var opened = 0
        /// Left a torn tail.
        var torn = 0
        /// A change was under way and is there, wholly.
        var withPending = 0
        var withoutPending = 0
        /// The second crash fell into the opening.
        var whileOpening = 0
    }

    private(set) var done = Tally()
    private var generator: SplitMix64
    private let variants: Int

    init(seed: UInt64, variants: Int = 4) {
        generator = SplitMix64(seed: seed ^ 0xC4A5_4E5C)
        self.variants = variants
    }

    mutating func check(_ storage: SimulatedStorage, _ run: JournalRun) throws {
        let all: [SimulatedDisk.Crash] =
            [.takesAll, .takesNothing] + (2..<variants).map { _ in SimulatedDisk.Crash(seed: generator.next()) }
        for crash in storage.disk.isSettled ? [.takesAll] : all {
            do { try open(storage.crashed(crash), run) } catch { throw Broken("\(error), crash \(crash) after \(storage.calls.suffix(3))") }
        }
    }

    private mutating func open(_ storage: SimulatedStorage, _ run: JournalRun) throws {
        var model = run.model
        // The second crash: at some change while the journal is opened, used for one batch more, or just after.
        let moment = Int.random(in: 1...6, using: &generator)
        var second: (disk: SimulatedDisk, model: JournalModel)?
        var changes = 0
        storage.afterChange = { storage in
            changes += 1
            if changes == moment { second = (storage.disk, model) }
        }
        let opened = try open(storage, run, model)
        if second != nil { done.whileOpening += 1 }
        let there = try model.recovered(opened.entries, lastSequence: opened.report.lastSequence)
        if !model.pending.isEmpty { if there > 0 { done.withPending += 1 } else { done.withoutPending += 1 } }
        if opened.report.cutBytes > 0 { done.torn += 1 }
        model.settle(there)
        let records = [
            JournalRecord(
                sequence: model.durableSequence + 1,
                entries: [JournalEntry(key: Array("after".utf8), value: [1, 2, 3]), JournalEntry(key: Array("key-1".utf8), value: nil)])
        ]
        model.submitted(records)
        try opened.journal.append(records)
        model.accepted()
        storage.afterChange = nil
        let last = second ?? (storage.disk, model)
        for crash in last.disk.isSettled ? [.takesAll] : [SimulatedDisk.Crash.takesAll, .init(seed: generator.next())] {
            let again = try open(SimulatedStorage(last.disk.afterCrash(crash)), run, last.model)
            _ = try last.model.recovered(again.entries, lastSequence: again.report.lastSequence)
        }
    }

    private mutating func open(_ storage: SimulatedStorage, _ run: JournalRun, _ model: JournalModel) throws -> JournalRun.Opened {
        done.opened += 1
        let opened = try Journal.open(storage, run.settings)
        guard opened.report.damage.isEmpty else {
            throw Broken("a crash was taken for damage: \(opened.report.lines)")
        }
        return opened
    }
}
