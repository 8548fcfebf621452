import RelayJournal
import RelayStorage
import RelayTestKit
import RelayTesting
import Testing

/// Changes of boards as entries of the journal.
@Suite struct BoardFormTests {
    static let kinds: [StoredChange.Kind] = [
        .create(name: Array("lesson".utf8)),
        .put(BoardPut(key: [97], isText: true, customType: nil, payload: [])),
        .put(
            BoardPut(
                key: [UInt8](repeating: 98, count: 64), isText: false, customType: [UInt8](repeating: 99, count: 32), payload: [1, 2, 3])),
        .put(BoardPut(key: [97], isText: true, customType: [100], payload: [], upload: 7, parts: .max)),
        .put(BoardPut(key: [97], isText: false, customType: nil, extensions: [0, 4, 0, 1, 0, 0], payload: [5], upload: 7, parts: 2)),
        .remove(key: [97]), .part(upload: .max, number: 3, payload: [UInt8](repeating: 4, count: 32 * 1024)), .clear,
        .undo(clear: 3, count: 9), .drop,
    ]

    private func change(_ kind: StoredChange.Kind) -> StoredChange {
        StoredChange(
            board: 0x1122_3344_5566_7788, offset: 5, epoch: BoardEpoch.ID(start: .max, incarnation: 2), lastUnretained: 4,
            author: [UInt8](repeating: 101, count: 64), instance: .max, number: 6, wallMilliseconds: 1_700_000_000_000, kind: kind)
    }

    @Test("a change is the same when it is read again, and a value that is cut or of another version is none", arguments: kinds)
    func roundTrip(kind: StoredChange.Kind) throws {
        let entry = change(kind).entry(sequence: 9, index: 255)
        let value = try #require(entry.value)
        var read = change(kind)
        read.sequence = 9
        #expect(StoredChange(key: entry.key, value: value) == read && StoredChange.isBoardEntry(entry.key) && entry.key.count <= 512)
        for count in 0..<(58 + 1 + 64) { #expect(StoredChange(key: entry.key, value: Array(value.prefix(count))) == nil) }
        #expect(StoredChange(key: entry.key, value: [1] + value.dropFirst()) == nil)
        #expect(StoredChange(key: Array(entry.key.dropLast()), value: value) == nil)
    }

    @Test("[SG4] a number from 2⁵³ on, of which sums would overflow, is in no change; nor is a record of no parts, a key of 256 bytes")
    func numbers() throws {
        let entry = change(.undo(clear: 3, count: 9)).entry(sequence: 9, index: 0)
        for place in [2, 18, 34, 42, 50, 123, 131] {
            var value = try #require(entry.value)
            value[place + 1] = 0x1F
            #expect(StoredChange(key: entry.key, value: value) != nil, "at \(place)")
            value[place + 1] = 0x20
            #expect(StoredChange(key: entry.key, value: value) == nil, "at \(place)")
        }
        for parts in 0...1 as ClosedRange<UInt16> {
            let put = BoardPut(key: [97], isText: true, customType: nil, payload: [], upload: 7, parts: parts)
            let entry = change(.put(put)).entry(sequence: 9, index: 0)
            #expect((StoredChange(key: entry.key, value: entry.value ?? []) != nil) == (parts == 1))
        }
        for count in 255...256 {
            let entry = change(.remove(key: [UInt8](repeating: 97, count: count))).entry(sequence: 9, index: 0)
            #expect((StoredChange(key: entry.key, value: entry.value ?? []) != nil) == (count == 255))
        }
    }

    @Test("[SG4] a checkpoint that tells of more records than its file can hold is read; of numbers that nothing follows, it is refused")
    func checkpoint() throws {
        let bench = try BoardBench()
        try bench.create(1)
        try bench.apply([(1, BoardBench.put("a", [1]))])
        try bench.store.checkpoint()
        let key = [UInt8(ascii: "B"), 0, 0, 0, 0, 0, 0, 0, 1]
        let written = try #require(try bench.journal.value(of: key))
        func reopened(_ place: Int, _ byte: UInt8) throws -> BoardBench {
            var value = written
            value[place] = byte
            try bench.journal.amend([JournalEntry(key: key, value: value)])
            return try bench.reopened()
        }
        #expect(try reopened(38, 0x1F).read().items.count == 1)
        // The file's generation, and the numbers behind it.
        for place in [1, 6, 14, 22, 30, 38, 46, 54] {
            #expect(throws: JournalError.self, "at \(place)") { try reopened(place, place == 1 ? 0x80 : 0x20) }
        }
    }

    @Test("keys of changes stand in the order of boards, then of sequences, then of places in a record")
    func order() {
        let keys = [(1, 255, 0), (1, 256, 0), (1, 256, 1), (256, 1, 0)].map { board, sequence, index in
            var change = change(.clear)
            change.board = UInt64(board)
            return change.entry(sequence: UInt64(sequence), index: index).key
        }
        for (first, second) in zip(keys, keys.dropFirst()) { #expect(first.lexicographicallyPrecedes(second)) }
        for prefix in "MILS".utf8 { #expect(!StoredChange.isBoardEntry([prefix, 1])) }
    }

    @Test("[SG4] what a newer program has written is not touched: the boards do not open")
    func newer() throws {
        for prefix in "RBQ".utf8 {
            let storage = SimulatedStorage()
            let journal = try Journal.open(storage, JournalSettings(mark: 5)).journal
            let key = [prefix] + [UInt8](repeating: 0, count: prefix == UInt8(ascii: "R") ? 17 : 8)
            try journal.append([JournalRecord(sequence: 1, entries: [JournalEntry(key: key, value: [9])])])
            try storage.create("board-0000000000000000-00000007.log")
            let opened = try Journal.open(storage.restarted(), JournalSettings(mark: 5))
            let store = BoardStore(journal: opened.journal, storage: storage)
            #expect(throws: JournalError.self) { try store.recover(entries: opened.entries) }
            #expect(storage.disk.list.contains("board-0000000000000000-00000007.log"))
        }
    }

    @Test("[SG4] files that a damaged journal does not name are kept aside, those that a sound one does not name go")
    func strays() throws {
        for isWhole in [true, false] {
            let storage = SimulatedStorage()
            let journal = try Journal.open(storage, JournalSettings(mark: 5)).journal
            try storage.create("board-0000000000000001-00000007.log")
            try storage.create("board-1-7.log")
            let recovery = try BoardStore(journal: journal, storage: storage).recover(entries: [], isWhole: isWhole)
            let files = storage.disk.list.filter { !$0.hasPrefix("journal") }
            #expect(files == ["board-1-7.log"] + (!isWhole ? ["quarantine-board-0000000000000001-00000007.log-0.bin"] : []))
            #expect(recovery.lines.count == (isWhole ? 0 : 1))
        }
    }

    @Test("what the journal amends is there after it was opened again and after its segments were compacted, and removals hold")
    func amended() throws {
        let storage = SimulatedStorage()
        var settings = JournalSettings(mark: 5)
        settings.segmentBytes = 300
        let journal = try Journal.open(storage, settings).journal
        for number in 1...20 as ClosedRange<UInt8> {
            let entries = [JournalEntry(key: [number], value: [UInt8](repeating: number, count: 20))]
            try journal.append([JournalRecord(sequence: UInt64(number), entries: entries)])
            try journal.amend([JournalEntry(key: [200], value: [number]), JournalEntry(key: [number - 1], value: nil)])
            while try journal.compactStep(bytesMax: 100) {}
            #expect(try journal.value(of: [200]) == [number] && journal.value(of: [number - 1]) == nil)
        }
        #expect(journal.counters.compactions > 2)
        let opened = try Journal.open(storage.crashed(.takesAll), settings)
        #expect(
            opened.entries == [JournalEntry(key: [20], value: [UInt8](repeating: 20, count: 20)), JournalEntry(key: [200], value: [20])])
        #expect(opened.report.lastSequence == 20)
    }
}
