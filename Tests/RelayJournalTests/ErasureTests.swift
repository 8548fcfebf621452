import RelayJournal
import RelayStorage
import RelayTestKit
import RelayTesting
import Testing

/// What no key holds any more is in no file when an erasure has ended.
@Suite struct ErasureTests {
    private static let secret = Array("what anna wrote".utf8)

    private static func value(_ number: Int) -> [UInt8] { Array("kept \(number)".utf8) + [UInt8](repeating: 7, count: number) }

    /// Three segments or more, in each of which a live entry stands between secrets that were replaced or taken away.
    private static func journal(_ storage: SimulatedStorage) throws -> Journal {
        let journal = try Journal.open(storage, JournalRun.settings(600)).journal
        for number in 1...20 {
            let key = [UInt8(number)], sequence = UInt64(number) * 3
            let secrets = [JournalEntry(key: key + [0], value: secret), JournalEntry(key: key, value: secret)]
            let changes = [JournalEntry(key: key, value: value(number)), JournalEntry(key: key + [0], value: nil)]
            try journal.append([JournalRecord(sequence: sequence, entries: secrets)])
            try journal.append([JournalRecord(sequence: sequence + 1, entries: changes)])
        }
        return journal
    }

    private static func erase(_ journal: Journal, bytesMax: Int = 100) throws {
        try journal.beginErasure()
        while case .underWay = journal.erasure {
            guard try journal.compactStep(bytesMax: bytesMax) else { throw Broken("the erasure stands still") }
        }
    }

    private static func holders(of secret: [UInt8] = secret, on disk: SimulatedDisk) -> [String] {
        disk.list.filter { String(decoding: disk.contents($0)!, as: UTF8.self).contains(String(decoding: secret, as: UTF8.self)) }
    }

    private static func check(_ storage: SimulatedStorage) throws {
        let (_, entries, report) = try Journal.open(storage, JournalRun.settings(600))
        #expect(entries == (1...20).map { JournalEntry(key: [UInt8($0)], value: value($0)) } && report.lines.isEmpty)
    }

    @Test("[AC14] what was replaced or taken away is in no file when the erasure has ended, nor after a crash; the rest is there")
    func erases() throws {
        let storage = SimulatedStorage()
        let journal = try Self.journal(storage)
        #expect(journal.size.segments >= 3 && Self.holders(on: storage.disk).count == journal.size.segments)
        try Self.erase(journal)
        #expect(journal.erasure == .none && Self.holders(on: storage.disk).isEmpty)
        for crash in [SimulatedDisk.Crash.takesAll, .takesNothing] {
            #expect(Self.holders(on: storage.disk.afterCrash(crash)).isEmpty)
            try Self.check(storage.crashed(crash))
        }
    }

    @Test(
        "[AC14, SG4] wherever a crash falls in an erasure, everything alive is there, and it can be begun again",
        arguments: [1, 2] as [UInt64])
    func crashes(seed: UInt64) throws {
        let storage = SimulatedStorage()
        let journal = try Self.journal(storage)
        var disks: [SimulatedDisk] = []
        storage.afterChange = { disks.append($0.disk) }
        try Self.erase(journal)
        storage.afterChange = nil
        #expect(disks.count > 20)
        for disk in disks {
            for crash in [SimulatedDisk.Crash.takesAll, .takesNothing, .init(seed: seed)] {
                let left = SimulatedStorage(disk.afterCrash(crash))
                let again = try Journal.open(left, JournalRun.settings(600)).journal
                try Self.erase(again)
                #expect(Self.holders(on: left.disk.afterCrash(.takesAll)).isEmpty)
                try Self.check(left.crashed(.takesAll))
            }
        }
    }

    @Test("[AC14] what is written meanwhile counts, and an erasure of what nothing was replaced in costs nothing")
    func meanwhile() throws {
        let storage = SimulatedStorage()
        let journal = try Self.journal(storage)
        try journal.beginErasure()
        var sequence: UInt64 = 100
        while case .underWay = journal.erasure {
            _ = try journal.compactStep(bytesMax: 50)
            sequence += 1
            let entry = JournalEntry(key: [99], value: [UInt8(truncatingIfNeeded: sequence)])
            try journal.append([JournalRecord(sequence: sequence, entries: [entry])])
        }
        #expect(Self.holders(on: storage.disk).isEmpty && journal.size.liveEntries == 21)
        try Self.erase(journal)
        let calls = storage.calls.count
        try Self.erase(journal)
        #expect(storage.calls.count == calls)
        let entries = try Journal.open(storage.crashed(.takesAll), JournalRun.settings(600)).entries
        #expect(entries.last == JournalEntry(key: [99], value: [UInt8(truncatingIfNeeded: sequence)]))
    }

    @Test(
        "[AC14] a segment that cannot be read or removed is told, and the next attempt erases it",
        arguments: [StorageError.Operation.read, .remove])
    func fails(operation: StorageError.Operation) throws {
        let storage = SimulatedStorage()
        let journal = try Self.journal(storage)
        storage.faults = [.init(1...(storage.calls.count { $0.operation == operation } + 1), of: operation)]
        try Self.erase(journal)
        guard case .failed(let text) = journal.erasure else { throw Broken("\(journal.erasure)") }
        #expect(text.contains("Input/output error") && !Self.holders(on: storage.disk).isEmpty)
        storage.faults = []
        try Self.erase(journal)
        #expect(journal.erasure == .none && Self.holders(on: storage.disk).isEmpty)
        try Self.check(storage.crashed(.takesAll))
    }

    @Test(
        "[AC14, SG2] a sync that fails ends it; when the journal works again it can be begun anew, and leaves nothing",
        arguments: [StorageError.Operation.sync, .syncFolder, .write, .create])
    func disturbed(operation: StorageError.Operation) throws {
        let storage = SimulatedStorage()
        let journal = try Self.journal(storage)
        let done = storage.calls.count { $0.operation == operation }
        storage.faults = [.init((done + 1)...(done + 2), of: operation)]
        #expect(throws: JournalError.self) { try Self.erase(journal) }
        storage.faults = []
        try journal.recoverFromFailure()
        #expect(journal.erasure == .none)
        try Self.erase(journal)
        #expect(Self.holders(on: storage.disk.afterCrash(.takesAll)).isEmpty)
        try Self.check(storage.crashed(.takesAll))
    }
}
