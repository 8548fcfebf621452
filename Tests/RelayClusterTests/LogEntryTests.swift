@testable import RelayCluster
import RelayJournal
import RelayPrimitives
import RelayStorage
import Testing

@Suite struct LogEntryTests {
    private static let batch = [
        record(3),
        JournalRecord(sequence: 9, entries: [.init(key: [1], value: nil), .init(key: .init(repeating: 2, count: 512), value: [])]),
        JournalRecord(sequence: 10, entries: []),
    ]
    private static var entries: [LogEntry] {
        let bodies: [LogEntry.Body] = [.start(life: .max), .beat, .release, .piece([0])]
        return (bodies + LogEntry.bodies(of: batch, room: 100_000).map(\.body)).map { LogEntry(start: 5, previous: 0xFFFF_0001, body: $0) }
    }

    @Test("an entry is read as it was written, whatever it is") func roundTrips() throws {
        for entry in Self.entries { #expect(try LogEntry(entry.encoded()) == entry) }
        let start = LogEntry(start: 2, previous: 3, body: .start(life: 4)).encoded()
        #expect(start.map(hexadecimal).joined() == "c6149c4d010200000002000000030000000000000004")
    }

    @Test("no byte of an entry can change, and none be missing or added, unnoticed") func damage() {
        for entry in Self.entries {
            let bytes = entry.encoded()
            for place in bytes.indices {
                for bit in 0..<8 {
                    var damaged = bytes
                    damaged[place] ^= 1 << bit
                    #expect(throws: LogEntryError.self) { try LogEntry(damaged) }
                }
                #expect(throws: LogEntryError.self) { try LogEntry(Array(bytes[..<place])) }
            }
            #expect(throws: LogEntryError.damaged) { try LogEntry(bytes + [0]) }
        }
    }

    /// With the checksum that its bytes have.
    private static func sealed(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
        var bytes = LogEntry(start: 1, previous: 0, body: .beat).encoded()
        change(&bytes)
        let checksum = bytes.withUnsafeBytes { CRC32C.of(UnsafeRawBufferPointer(rebasing: $0[4...])) }
        bytes.replace(at: 0, bigEndian: checksum)
        return bytes
    }

    @Test("an entry that is sound and of no known form is refused by its reason")
    func strictness() throws {
        #expect(throws: LogEntryError.unknown(form: 2, kind: 3)) { try LogEntry(Self.sealed { $0[4] = 2 }) }
        for kind in [0, 6, 255] as [UInt8] {
            #expect(throws: LogEntryError.unknown(form: 1, kind: kind)) { try LogEntry(Self.sealed { $0[5] = kind }) }
        }
        // Each with one byte that it must not have, or without those that it must.
        for (kind, bytes) in [(1, 0), (2, 7), (2, 9), (3, 1), (4, 1), (5, 0)] as [(UInt8, Int)] {
            #expect(throws: LogEntryError.body(kind: kind, bytes: bytes)) {
                try LogEntry(
                    Self.sealed {
                        $0[5] = kind
                        $0 += [UInt8](repeating: 0, count: bytes)
                    })
            }
        }
        #expect(throws: LogEntryError.size(13)) { try LogEntry(.init(repeating: 0, count: 13)) }
        let most = LogEntry.bytesMax - LogEntry.headBytes
        _ = try LogEntry(LogEntry(start: 0, previous: 0, body: .piece(.init(repeating: 0, count: most))).encoded())
        #expect(throws: LogEntryError.size(LogEntry.bytesMax + 1)) {
            try LogEntry(LogEntry(start: 0, previous: 0, body: .piece(.init(repeating: 0, count: most + 1))).encoded())
        }
    }

    @Test("records that do not rise, or are not whole, are refused") func records() throws {
        guard case .records(let bytes) = LogEntry.bodies(of: Self.batch, room: 100_000)[0].body else { return #expect(Bool(false)) }
        #expect(try LogEntry.records(bytes, after: 2) == Self.batch)
        #expect(throws: LogEntryError.order(found: 3, after: 3)) { try LogEntry.records(bytes, after: 3) }
        #expect(throws: LogEntryError.order(found: 3, after: 10)) { try LogEntry.records(bytes + bytes, after: 2) }
        for count in bytes.indices.dropFirst() where (try? LogEntry.records(Array(bytes[..<count]), after: 2)) != nil {
            // Between two records it is whole.
            #expect(RecordForm.decode(Array(bytes[..<count]), mark: 0x726C_6F67)!.count < Self.batch.count)
        }
        for place in bytes.indices {
            var damaged = bytes
            damaged[place] ^= 16
            #expect(throws: LogEntryError.records) { try LogEntry.records(damaged, after: 2) }
        }
    }

    @Test("a batch is cut between records where it can be, and within one that is too large, at any length")
    func cutting() throws {
        let sizes = (1...260) + [1_000, 4_096]
        let batch = sizes.enumerated().map { record(UInt64($0.offset) + 1, bytes: $0.element) }
        for room in [100, 120, 1_000, 1_000_000] {
            var read: [JournalRecord] = [], pieces: [UInt8] = [], sequence: UInt64 = 0
            for (body, records) in LogEntry.bodies(of: batch, room: room) {
                switch body {
                case .piece(let piece):
                    #expect(piece.count == room && records.isEmpty)
                    pieces += piece
                case .records(let rest):
                    #expect((1...room).contains(rest.count) && (pieces.isEmpty || records.count == 1))
                    #expect(try LogEntry.records(pieces + rest, after: sequence) == records)
                    (pieces, sequence) = ([], records.last!.sequence)
                    read += records
                default: Issue.record("\(body)")
                }
            }
            #expect(read == batch && pieces.isEmpty)
        }
        #expect(LogEntry.bodies(of: batch, room: 1_000_000).count == 1)
        #expect(LogEntry.bodies(of: [], room: 100).isEmpty)
    }

    @Test("a place in the log is read from a disk as it was written, and from other bytes not at all") func places() throws {
        var place = LogPlace()
        (place.position, place.checksum, place.start, place.sequence) = (1 << 40, 0xDEAD_BEEF, 7, (1 << 53) - 1)
        #expect(place.encoded.count == LogPlace.byteCount && LogPlace(encoded: place.encoded) == place)
        place.sequence += 1
        #expect(LogPlace(encoded: place.encoded) == nil)
        (place.position, place.sequence) = (1 << 53, 0)
        #expect(LogPlace(encoded: place.encoded) == nil)
        #expect(LogPlace(encoded: place.encoded.dropLast()) == nil && LogPlace(encoded: place.encoded + [0]) == nil)
    }
}
