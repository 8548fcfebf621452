import RelayJournal
import RelayStorage
import RelayPrimitives
import RelayTestKit
import RelayTesting

/// A journal that is used at random, and a model of what it holds.
final class JournalRun {
    typealias Opened = (journal: Journal, entries: [JournalEntry], report: JournalReport)

    static let mark: UInt32 = 0xA1B2_C3D4

    let settings: JournalSettings
    var generator: SplitMix64
    var keyCount = 24
    var valueBytesMax = 160
    private(set) var storage: SimulatedStorage
    private(set) var journal: Journal
    private(set) var model = JournalModel()
    /// All entries that there ever were.
    private(set) var written: Set<JournalEntry> = []

    init(_ storage: SimulatedStorage, seed: UInt64, segmentBytes: Int) throws {
        settings = Self.settings(segmentBytes)
        generator = SplitMix64(seed: seed)
        self.storage = storage
        journal = try Journal.open(storage, settings).journal
    }

    static func settings(_ segmentBytes: Int) -> JournalSettings {
        var settings = JournalSettings(mark: mark)
        settings.segmentBytes = segmentBytes
        return settings
    }

    /// Some records of a few entries each: keys set, set again and taken away, values empty and as long as allowed here.
    func batch(after sequence: UInt64) -> [JournalRecord] {
        var sequence = sequence
        return (0..<Int.random(in: 1...4, using: &generator)).map { _ in
            sequence += UInt64.random(in: 1...3, using: &generator)
            let entries = (0..<(generator.chance(1, in: 30) ? 0 : Int.random(in: 1...4, using: &generator))).map { _ in entry() }
            return JournalRecord(sequence: sequence, entries: entries)
        }
    }

    private func entry() -> JournalEntry {
        let key = Array("key-\(Int.random(in: 0..<keyCount, using: &generator))".utf8)
        guard !generator.chance(1, in: 4) else { return JournalEntry(key: key, value: nil) }
        let count = Int.random(in: 0...valueBytesMax, using: &generator)
        // Different from every other with overwhelming probability, and long runs of it quick to make.
        let stamp = generator.next()
        return JournalEntry(key: key, value: (0..<count).map { UInt8(truncatingIfNeeded: stamp >> UInt64($0 & 7 * 8)) })
    }

    func append() throws {
        let records = batch(after: journal.lastSequence)
        model.submitted(records)
        for record in records { written.formUnion(record.entries) }
        try journal.append(records)
        model.accepted()
    }

    /// What the writer does between batches.
    func compact(steps: Int, bytesMax: Int = 700) throws {
        for _ in 0..<steps { guard try journal.compactStep(bytesMax: bytesMax) else { return } }
    }

    func recover() throws {
        try journal.recoverFromFailure()
        model.gaveUp()
    }

    /// Looks at what a crash at this moment would leave, and goes on as if there were none.
    func verify(_ crash: SimulatedDisk.Crash) throws {
        _ = try recovered(try Journal.open(storage.crashed(crash), settings))
    }

    /// Goes on in a new process, after a crash or without one.
    func reopen(_ storage: SimulatedStorage) throws {
        self.storage = storage
        let opened = try Journal.open(storage, settings)
        model.settle(try recovered(opened))
        journal = opened.journal
    }

    private func recovered(_ opened: Opened) throws -> Int {
        // Nothing that happens here damages what was durable, or takes it away.
        guard opened.report.damage.isEmpty else { throw Broken("taken for damage: \(opened.report.lines)") }
        return try model.recovered(opened.entries, lastSequence: opened.report.lastSequence)
    }
}
