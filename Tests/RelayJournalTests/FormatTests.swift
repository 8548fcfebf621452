import RelayJournal
import RelayStorage
import RelayTestKit
import RelayTesting
import Testing

@Suite struct FormatTests {
    static let file = "journal-0000000000000001.log"

    /// Worked out by another program, field by field.
    static let header = bytes(
        "62726a6f75726e6c 00000001 a1b2c3d4 0000000000000001 0000000000000000 0000000000000000 0000000000000001"
            + "0000000000000000 00000000 3727634b")
    static let first = bytes("a1b2c3d4 00000017 47428b57 01 01 0000000000000007 0005 00000003 626f617264 696e6b 0003 ffffffff 6f6c64")
    static let second = bytes("a1b2c3d4 0000000b 3eade569 01 00 0000000000000009 0005 00000000 656d707479")

    static let records = [
        JournalRecord(
            sequence: 7,
            entries: [JournalEntry(key: Array("board".utf8), value: Array("ink".utf8)), JournalEntry(key: Array("old".utf8), value: nil)]),
        JournalRecord(sequence: 9, entries: [JournalEntry(key: Array("empty".utf8), value: [])]),
    ]

    static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.utf8.filter { $0 != UInt8(ascii: " ") }.map { $0 < 58 ? $0 - 48 : $0 - 87 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    static func disk(_ contents: [UInt8], _ name: String = file) -> SimulatedDisk {
        var disk = SimulatedDisk()
        disk.create(name)
        disk.write(contents, to: name, at: 0)
        return disk.afterCrash(.takesNothing)
    }

    @Test("a segment with two records is these bytes, written")
    func writes() throws {
        let storage = SimulatedStorage()
        let journal = try Journal.open(storage, JournalRun.settings(4096)).journal
        try journal.append(Self.records)
        #expect(storage.disk.list == [Self.file, "journal.anchor"])
        #expect(storage.disk.contents(Self.file) == Self.header + Self.first + Self.second)
    }

    @Test("its anchor is these bytes: oldest and newest segment, and what was durable when the relay started")
    func anchors() throws {
        let storage = SimulatedStorage(Self.disk(Self.header + Self.first + Self.second))
        _ = try Journal.open(storage, JournalSettings(mark: 5))
        let anchor: [UInt8] =
            Array("branchor".utf8) + [0, 0, 0, 1, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 1] + [0, 0, 0, 0, 0, 0, 0, 1]
            + [0, 0, 0, 0, 0, 0, 0, 9] + [UInt8](repeating: 0, count: 12)
        #expect(storage.disk.contents("journal.anchor") == summed(anchor + [0, 0, 0, 0], crcAt: 52, over: [0..<52]))
    }

    @Test("it keeps the number of the newest start, through changes of segments")
    func start() throws {
        let storage = SimulatedStorage()
        let journal = try Journal.open(storage, JournalRun.settings(100)).journal
        try journal.anchor(start: 0xF000_0001)
        #expect(storage.disk.contents("journal.anchor")?[40..<48] == [0xF0, 0, 0, 1, 0, 0, 0, 0])
        for number in 1...9 as ClosedRange<UInt64> {
            let entry = JournalEntry(key: [1], value: [UInt8](repeating: 1, count: 50))
            try journal.append([JournalRecord(sequence: number, entries: [entry])])
        }
        #expect(try Journal.open(storage.crashed(.takesAll), JournalRun.settings(100)).report.start == 0xF000_0001)
    }

    @Test("an anchor of a later version is refused, and left alone")
    func newerAnchor() throws {
        let storage = SimulatedStorage()
        try Journal.open(storage, JournalSettings(mark: 5)).journal.close()
        var disk = storage.disk, bytes = try #require(disk.contents("journal.anchor"))
        bytes[11] = 2
        bytes[44..<52] = [0, 0, 0, 0, 0, 2, 0, 0]
        disk.write(summed(bytes, crcAt: 52, over: [0..<52]) + [0, 0, 0, 0], to: "journal.anchor", at: 0)
        #expect(throws: JournalError.newerFormat(file: "journal.anchor", found: 2, writer: ProgramVersion("0.2.0"), supported: 1)) {
            try Journal.open(SimulatedStorage(disk), JournalSettings(mark: 5))
        }
    }

    @Test("and read, whatever the mark in the settings is")
    func reads() throws {
        let storage = SimulatedStorage(Self.disk(Self.header + Self.first + Self.second))
        let opened = try Journal.open(storage, JournalSettings(mark: 5))
        #expect(opened.entries == [.init(key: Array("board".utf8), value: Array("ink".utf8)), .init(key: Array("empty".utf8), value: [])])
        #expect(opened.report.lastSequence == 9 && opened.report.records == 2 && opened.report.lines.isEmpty)
    }

    // MARK: - What is refused

    /// `bytes` with a CRC that is right.
    private func summed(_ bytes: [UInt8], crcAt place: Int, over ranges: [Range<Int>]) -> [UInt8] {
        var crc = CRC32C()
        for range in ranges { bytes[range].withUnsafeBytes { crc.update($0) } }
        var bytes = bytes
        for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: crc.value >> UInt32(24 - 8 * index)) }
        return bytes
    }

    private func isRefused(_ disk: SimulatedDisk, _ expected: JournalError) {
        let storage = SimulatedStorage(disk.afterCrash(.takesNothing))
        #expect(throws: expected) { try Journal.open(storage, JournalRun.settings(4096)) }
        #expect(storage.calls.allSatisfy { [.list, .size, .read].contains($0.operation) }, "nothing is touched")
        #expect(storage.isClosed)
    }

    @Test("a newer format is refused with both versions, and nothing is touched")
    func newerFormat() {
        var header = Self.header
        header[11] = 2
        header = summed(header, crcAt: 60, over: [0..<60])
        isRefused(Self.disk(header + Self.first), .newerFormat(file: Self.file, found: 2, writer: nil, supported: 1))
    }

    @Test(
        "a record of a kind that only a newer program knows is refused, and nothing is touched",
        arguments: [(12, UInt8(9)), (13, UInt8(3))])
    func unknownRecord(place: Int, value: UInt8) {
        var record = Self.second
        record[place] = value
        record = summed(record, crcAt: 8, over: [4..<8, 12..<record.count])
        // The torn tail behind it would be cut, if it were opened.
        isRefused(
            Self.disk(Self.header + Self.first + record + Self.second.dropLast()),
            .unknownRecord(file: Self.file, offset: Self.header.count + Self.first.count, type: record[12], flags: record[13]))
    }

    @Test("a segment under another's name is refused, and nothing is touched")
    func misnamed() {
        let name = "journal-0000000000000005.log"
        isRefused(Self.disk(Self.header + Self.first, name), .misnamed(file: name, number: 1))
    }

    @Test("other files are left alone")
    func otherFiles() throws {
        let names = ["lock", "journal-1.log", "journal-000000000000000G.log", "JOURNAL-0000000000000001.log", "notes.draft"]
        var disk = Self.disk(Self.header + Self.first)
        for name in names {
            disk.create(name)
            disk.write(Array(name.utf8), to: name, at: 0)
        }
        let storage = SimulatedStorage(disk.afterCrash(.takesNothing))
        _ = try Journal.open(storage, JournalRun.settings(4096))
        for name in names { #expect(storage.disk.contents(name) == Array(name.utf8)) }
    }

    @Test("a value that holds a record of another journal is never read as one")
    func recordInValue() throws {
        let storage = SimulatedStorage()
        var settings = JournalRun.settings(4096)
        settings.mark = 0x0102_0304
        let journal = try Journal.open(storage, settings).journal
        try journal.append([JournalRecord(sequence: 1, entries: [JournalEntry(key: [1], value: Self.first + Self.second)])])
        try journal.append([JournalRecord(sequence: 2, entries: [JournalEntry(key: [2], value: [2])])])
        // The length of the record that holds it is damaged: what is behind it has to be looked for.
        var disk = storage.disk
        disk.write([0xFF], to: Self.file, at: 64 + 4)
        let opened = try Journal.open(SimulatedStorage(disk.afterCrash(.takesNothing)), settings)
        #expect(opened.entries == [JournalEntry(key: [2], value: [2])])
        #expect(opened.report.damage.map(\.offset) == [64])
    }
}
