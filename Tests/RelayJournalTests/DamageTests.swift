import RelayJournal
import RelayStorage
import RelayPrimitives
import RelayTestKit
import RelayTesting
import Testing

/// A small journal of three segments, of which the disk has damaged something.
@Suite struct DamageTests {
    /// The journal as it was written, and where each of its parts stands.
    struct Written {
        struct Part {
            var file: String
            var bytes: Range<Int>
            /// `nil`: a header, or the proof of an orderly end.
            var record: Int?
        }

        /// Three records to a segment.
        static let settings = JournalRun.settings(330)

        var disk: SimulatedDisk
        var parts: [Part] = []
        var records: [JournalRecord] = []
        var files: [String] { disk.list.filter { $0.hasPrefix("journal-") } }
        /// Something that was durable stands behind all records.
        var isClosed: Bool

        init(isClosed: Bool) throws {
            self.isClosed = isClosed
            let storage = SimulatedStorage()
            let journal = try Journal.open(storage, Written.settings).journal
            for number in 0..<7 {
                let entries = [
                    JournalEntry(
                        key: Array("key-\(number % 4)".utf8),
                        value: number == 4 ? nil : [UInt8](repeating: UInt8(number), count: 20 + number)),
                    JournalEntry(key: Array("shared".utf8), value: Array("value \(number)".utf8)),
                ]
                records.append(JournalRecord(sequence: UInt64(10 + number), entries: entries))
                try journal.append([records[number]])
            }
            if isClosed { journal.close() }
            disk = storage.disk
            var record = 0
            for call in storage.calls where call.operation == .write && call.name.hasPrefix("journal-") {
                guard let bytes = call.bytes else { continue }
                let isRecord = bytes.lowerBound > 0 && record < records.count
                parts.append(Part(file: call.name, bytes: bytes, record: isRecord ? record : nil))
                if isRecord { record += 1 }
            }
            try #require(files.count == 3 && record == records.count)
        }

        func values(without missing: (Int) -> Bool) -> JournalModel.Values {
            JournalModel.applying(records.indices.filter { !missing($0) }.map { records[$0] }, to: [:])
        }
    }

    static func values(_ entries: [JournalEntry]) -> JournalModel.Values {
        Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.value ?? []) })
    }

    @Test(
        "[SG4] of a journal with a damaged byte, all is there but the record that holds it, which is named and kept aside",
        arguments: [false, true])
    func eachByte(isClosed: Bool) throws {
        let written = try Written(isClosed: isClosed)
        for part in written.parts {
            let isLast = part.bytes.upperBound == written.disk.size(of: part.file) && part.file == written.files.last
            for offset in part.bytes where Moments.isTried(offset) {
                for flip: UInt8 in [1, 0x80, 0xFF] {
                    var disk = written.disk
                    let byte = try #require(disk.read(part.file, at: offset, count: 1))[0]
                    disk.write([byte ^ flip], to: part.file, at: offset)
                    let damaged = disk.read(part.file, at: part.bytes.lowerBound, count: part.bytes.count)
                    let storage = SimulatedStorage(disk.afterCrash(.takesNothing))
                    let opened = try Journal.open(storage, Written.settings)
                    let place: Comment = "\(part.file) at \(offset)"
                    #expect(Self.values(opened.entries) == written.values { $0 == part.record }, place)
                    if isLast {
                        // Nothing behind it proves that it was ever durable: it is an unfinished change.
                        #expect(opened.report.cutBytes == part.bytes.count && opened.report.damage.isEmpty, place)
                    } else {
                        let quarantine = quarantineName(part)
                        let damage = opened.report.damage.first
                        #expect(opened.report.damage.count == 1 && damage?.file == part.file && damage?.quarantine == quarantine, place)
                        #expect(damage?.offset == part.bytes.lowerBound && damage?.byteCount == part.bytes.count, place)
                        #expect(storage.disk.contents(quarantine) == damaged, place)
                        #expect(opened.report.cutBytes == 0, place)
                    }
                    #expect(!opened.report.lines.isEmpty, place)
                    guard flip == 1 && offset % 5 == 0 else { continue }
                    try goesOn(opened.journal, storage, place)
                    #expect(opened.journal.counters.compactions > 0, place)
                }
            }
        }
    }

    @Test("[SG4] of a journal with a file cut short, all is there but what was cut off, and that is told", arguments: [false, true])
    func eachLength(isClosed: Bool) throws {
        let written = try Written(isClosed: isClosed)
        for file in written.files {
            let parts = written.parts.filter { $0.file == file }
            for length in 0..<(try #require(written.disk.size(of: file))) where Moments.isTried(length) {
                var disk = written.disk
                disk.truncate(file, to: length)
                let place: Comment = "\(file) cut to \(length)"
                let lost = parts.filter { $0.bytes.upperBound > length }.compactMap(\.record)
                // What was durable for certain: headers, and, since the orderly end, the records of the last file.
                if length < 64 || (file == written.files.last && isClosed && !lost.isEmpty) {
                    let refusal = length < 64 ? JournalError.segmentMissing(file: file) : .endsEarly(at: UInt64(9 + lost[0]), durable: 16)
                    try Self.isRefused(disk, refusal, place)
                    #expect(try Self.values(saved(disk).entries) == written.values { lost.contains($0) }, place)
                    guard file == written.files.last else { continue }
                    disk.remove("journal.anchor")
                }
                let storage = SimulatedStorage(disk.afterCrash(.takesNothing))
                let opened = try Journal.open(storage, Written.settings)
                #expect(Self.values(opened.entries) == written.values { lost.contains($0) }, place)
                if file != written.files.last {
                    #expect(!opened.report.damage.isEmpty && opened.report.damage.allSatisfy { $0.file == file }, place)
                    #expect(opened.report.damage.reduce(0) { $0 + $1.byteCount } >= (written.disk.size(of: file) ?? 0) - length, place)
                } else if length < 64 {
                    #expect(opened.report.removed.contains(file), place)
                } else {
                    // Cut between two records it is a journal to which they were never written.
                    let end = parts.map(\.bytes.upperBound).last { $0 <= length } ?? 0
                    #expect(opened.report.cutBytes == length - end, place)
                }
                if length % 7 == 0 { try goesOn(opened.journal, storage, place) }
            }
        }
    }

    @Test("[SG4] a journal with a segment gone is not opened, and nothing is touched; the others are saved", arguments: 0..<3)
    func missingSegment(place: Int) throws {
        let written = try Written(isClosed: true), file = written.files[place]
        var disk = written.disk
        disk.remove(file)
        disk = disk.afterCrash(.takesNothing)
        try Self.isRefused(disk, .segmentMissing(file: file))
        let lost = written.parts.filter { $0.file == file }.compactMap(\.record)
        #expect(try Self.values(saved(disk).entries) == written.values { lost.contains($0) })
        // Without an anchor nobody knows of an end; what is missing in the middle the header behind it says.
        disk.remove("journal.anchor")
        if place == 1 { return try Self.isRefused(disk, .segmentMissing(file: file)) }
        #expect(Self.values(try Journal.open(SimulatedStorage(disk), Written.settings).entries) == written.values { lost.contains($0) })
    }

    /// The journal of that folder is not opened, and nothing in it is touched.
    static func isRefused(_ disk: SimulatedDisk, _ expected: JournalError, _ place: Comment? = nil) throws {
        let storage = SimulatedStorage(disk.afterCrash(.takesNothing))
        #expect(throws: expected, place) { try Journal.open(storage, Written.settings) }
        #expect(storage.calls.allSatisfy { [.list, .size, .read].contains($0.operation) }, place)
    }

    /// What is saved of a folder, as a journal is opened on it.
    private func saved(_ disk: SimulatedDisk) throws -> JournalRun.Opened {
        let old = SimulatedStorage(disk.afterCrash(.takesNothing)), new = SimulatedStorage()
        let salvage = try Salvage(old)
        #expect(salvage.refusal != nil)
        _ = try salvage.write(to: new, JournalRun.settings(4096), start: 0)
        #expect(old.calls.allSatisfy { [.list, .size, .read].contains($0.operation) }, "only read")
        return try Journal.open(new.crashed(.takesAll), JournalRun.settings(4096))
    }

    @Test("[SG4] a journal without its segments, or with older ones, is not opened beside its anchor; nor one whose anchor is damaged")
    func olderThanItsAnchor() throws {
        let written = try Written(isClosed: true)
        var empty = written.disk
        for file in written.files { empty.remove(file) }
        #expect(throws: JournalError.segmentMissing(file: written.files[0])) { try Journal.open(SimulatedStorage(empty), Written.settings) }

        // The next start says that the last record is durable.
        let storage = SimulatedStorage(written.disk)
        try Journal.open(storage, Written.settings).journal.close()
        var older = storage.disk
        let lastRecord = try #require(written.parts.last { $0.record != nil })
        older.truncate(lastRecord.file, to: lastRecord.bytes.lowerBound)
        #expect(throws: JournalError.endsEarly(at: 15, durable: 16)) { try Journal.open(SimulatedStorage(older), Written.settings) }

        for offset in 0..<56 {
            var disk = written.disk
            let byte = try #require(disk.read("journal.anchor", at: offset, count: 1))[0]
            disk.write([byte ^ 0x10], to: "journal.anchor", at: offset)
            #expect(throws: JournalError.anchorDamaged) { try Journal.open(SimulatedStorage(disk), Written.settings) }
        }
    }

    @Test(
        "[SG4] whatever is written over a journal, it opens and goes on, or is refused and saved, and has no value that was never stored",
        arguments: Seeds.fresh(count: 40, from: 5))
    func writtenOver(seed: UInt64) throws {
        var dice = SplitMix64(seed: seed)
        let run = try JournalRun(SimulatedStorage(), seed: seed, segmentBytes: 1024)
        for _ in 0..<30 {
            try run.append()
            try run.compact(steps: 2)
        }
        var disk = run.storage.disk
        for _ in 0..<Int.random(in: 1...4, using: &dice) {
            let file = try #require(disk.list.randomElement(using: &dice))
            let size = try #require(disk.size(of: file))
            let place = Int.random(in: 0..<size, using: &dice)
            let count = [1, 4, 30, 512].randomElement(using: &dice) ?? 1
            switch Int.random(in: 0..<5, using: &dice) {
            case 0: disk.write([UInt8](repeating: 0, count: count), to: file, at: place)
            case 1: disk.write((0..<count).map { _ in UInt8.random(in: 0...255, using: &dice) }, to: file, at: place)
            // Another part of the journal, where a record began or anywhere.
            case 2: disk.write(disk.read(disk.list[0], at: 64, count: count) ?? [], to: file, at: place)
            case 3: disk.truncate(file, to: place)
            default: disk.write(disk.read(file, at: place / 2, count: count) ?? [], to: file, at: place / 512 * 512)
            }
        }
        var storage = SimulatedStorage(disk.afterCrash(.takesNothing))
        do {
            _ = try Journal.open(storage, run.settings)
        } catch {
            switch error {
            case .segmentMissing, .endsEarly, .anchorDamaged:
                #expect(try saved(disk).entries.allSatisfy { run.written.contains($0) })
                return
            default: throw error
            }
        }
        storage = SimulatedStorage(disk.afterCrash(.takesNothing))
        let opened = try Journal.open(storage, run.settings)
        #expect(opened.entries.allSatisfy { run.written.contains($0) })
        #expect(opened.report.damage.allSatisfy { $0.quarantine.map { storage.disk.size(of: $0) != nil } ?? true })
        try goesOn(opened.journal, storage, "seed \(seed)")
    }

    private func quarantineName(_ part: Written.Part) -> String {
        "quarantine-\(part.file.dropFirst(8).dropLast(4))-\(part.bytes.lowerBound).bin"
    }

    /// The journal takes changes, survives a crash with them, is compacted, and says the same of the damage at each opening.
    private func goesOn(_ journal: Journal, _ storage: SimulatedStorage, _ place: Comment) throws {
        var expected = Self.values(try Journal.open(storage.crashed(.takesAll), Written.settings).entries)
        for number in 0..<6 {
            let entry = JournalEntry(key: Array("more".utf8), value: [UInt8](repeating: UInt8(number), count: 60))
            try journal.append([JournalRecord(sequence: journal.lastSequence + 1, entries: [entry])])
            expected[entry.key] = entry.value
        }
        #expect(Self.values(try Journal.open(storage.crashed(.takesAll), Written.settings).entries) == expected, place)
        while try journal.compactStep(bytesMax: 100) {}
        #expect(Self.values(try Journal.open(storage.crashed(.takesAll), Written.settings).entries) == expected, place)
    }
}
