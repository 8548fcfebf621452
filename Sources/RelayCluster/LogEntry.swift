import RelayJournal
import RelayPrimitives
import RelayStorage

/// An entry of a space's log. Big-endian.
///
///     0          4       5       6         10           14
///     CRC-32C u32 form u8 kind u8 start u32 previous u32 body
///
/// The CRC covers everything behind it. *Previous* is the CRC of the entry before; beats do not count, and the first entry has 0. A node
/// compares it with its own, and so notices that the log has another history. The bodies:
///
///     1 records  records, in a segment's form        3 beat     nothing
///     2 start    u64, drawn by the owner's process   4 release  nothing
///     5 piece    the first bytes of a record that is too large for an entry: `records` entries and pieces behind it have the rest
package struct LogEntry: Equatable, Sendable {
    package enum Body: Equatable, Sendable {
        case records([UInt8])
        /// Begins an ownership: all that follows is of this owner.
        case start(life: UInt64)
        /// The owner is there.
        case beat
        /// The owner has ended its ownership: another may follow at once.
        case release
        case piece([UInt8])
    }

    /// Number of the ownership that it belongs to.
    package var start: UInt32
    package var previous: UInt32
    package var body: Body

    package init(start: UInt32, previous: UInt32, body: Body) {
        self.start = start
        self.previous = previous
        self.body = body
    }

    /// Largest entry: with its headers it fits into the 1 MiB that an engine takes.
    package static let bytesMax = 1024 * 1024 - 4096
    static let headBytes = 14
    private static let form: UInt8 = 1
    /// "rlog"
    private static let mark: UInt32 = 0x726C_6F67

    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        let (kind, body): (UInt8, [UInt8])
        switch self.body {
        case .records(let records): (kind, body) = (1, records)
        case .start(let life):
            var number: [UInt8] = []
            number.append(bigEndian: life)
            (kind, body) = (2, number)
        case .beat: (kind, body) = (3, [])
        case .release: (kind, body) = (4, [])
        case .piece(let piece): (kind, body) = (5, piece)
        }
        bytes.reserveCapacity(Self.headBytes + body.count)
        bytes.append(bigEndian: UInt32(0))
        bytes += [Self.form, kind]
        bytes.append(bigEndian: start)
        bytes.append(bigEndian: previous)
        bytes += body
        bytes.replace(at: 0, bigEndian: bytes.withUnsafeBytes { CRC32C.of(UnsafeRawBufferPointer(rebasing: $0[4...])) })
        return bytes
    }

    /// - Parameter bytes: as the log has them, whoever wrote it.
    package init(_ bytes: [UInt8]) throws(LogEntryError) {
        guard bytes.count >= Self.headBytes, bytes.count <= Self.bytesMax else { throw .size(bytes.count) }
        let (checksum, start, previous) = bytes.withUnsafeBytes { bytes in
            (
                CRC32C.of(UnsafeRawBufferPointer(rebasing: bytes[4...])), bytes.bigEndian(at: 6, as: UInt32.self),
                bytes.bigEndian(at: 10, as: UInt32.self)
            )
        }
        guard checksum == Self.checksum(bytes) else { throw .damaged }
        guard bytes[4] == Self.form else { throw .unknown(form: bytes[4], kind: bytes[5]) }
        let body = Array(bytes[Self.headBytes...])
        switch (bytes[5], body.count) {
        case (1, 1...): self.init(start: start, previous: previous, body: .records(body))
        case (2, 8): self.init(start: start, previous: previous, body: .start(life: body.withUnsafeBytes { $0.bigEndian(at: 0) }))
        case (3, 0): self.init(start: start, previous: previous, body: .beat)
        case (4, 0): self.init(start: start, previous: previous, body: .release)
        case (5, 1...): self.init(start: start, previous: previous, body: .piece(body))
        case (1...5, _): throw .body(kind: bytes[5], bytes: body.count)
        default: throw .unknown(form: bytes[4], kind: bytes[5])
        }
    }

    /// The CRC that an encoded entry says: the `previous` of the next one.
    static func checksum(_ bytes: [UInt8]) -> UInt32 { bytes.withUnsafeBytes { $0.bigEndian(at: 0) } }

    // MARK: - Records

    /// Cuts a batch into bodies of at most `room` bytes. A record is whole in one, or has several for itself.
    ///
    /// - Returns: each body with the records that are there when it is.
    static func bodies(of batch: [JournalRecord], room: Int) -> [(body: Body, records: [JournalRecord])] {
        var bodies: [(body: Body, records: [JournalRecord])] = [], bytes: [UInt8] = [], records: [JournalRecord] = []
        func close() {
            if !records.isEmpty { bodies.append((.records(bytes), records)) }
            (bytes, records) = ([], [])
        }
        for record in batch {
            let encoded = RecordForm.encode(record, mark: mark)
            if bytes.count + encoded.count > room { close() }
            var offset = 0
            while encoded.count - offset > room {
                bodies.append((.piece(Array(encoded[offset..<(offset + room)])), []))
                offset += room
            }
            bytes += encoded[offset...]
            records.append(record)
            if offset > 0 { close() }
        }
        close()
        return bodies
    }

    /// Whether a folder takes it: a change of a board can be read, and nothing is written over what each folder keeps for itself.
    private static func isSound(_ entry: JournalEntry) -> Bool {
        guard entry.key != LogPlace.key else { return false }
        guard StoredChange.isBoardEntry(entry.key) else { return true }
        guard let board = StoredChange.board(entry.key) else { return false }
        return entry.value?.withUnsafeBytes { StoredChange.decode($0, board: board, keepsPayload: false) != nil } ?? true
    }

    /// What a body of records holds, with the pieces before it.
    ///
    /// - Parameter sequence: of the newest record before it; theirs are higher, and rise.
    static func records(_ bytes: [UInt8], after sequence: UInt64) throws(LogEntryError) -> [JournalRecord] {
        guard let records = RecordForm.decode(bytes, mark: mark) else { throw .records }
        var newest = sequence
        for record in records {
            let sequence = record.sequence
            guard sequence > newest, sequence < LogPlace.numberMax else { throw .order(found: sequence, after: newest) }
            newest = sequence
            guard record.entries.allSatisfy(isSound) else { throw .records }
        }
        return records
    }
}

/// Why bytes are no entry of a log, or not the next one.
package enum LogEntryError: Error, Equatable, Sendable, CustomStringConvertible {
    case size(Int)
    case damaged
    /// Written by a later version of this program.
    case unknown(form: UInt8, kind: UInt8)
    case body(kind: UInt8, bytes: Int)
    /// Its records are not sound.
    case records
    case recordSize(Int, max: Int)
    case order(found: UInt64, after: UInt64)
    case start(found: UInt32, current: UInt32)

    package var description: String {
        switch self {
        case .size(let bytes): "it has \(bytes) bytes, an entry \(LogEntry.headBytes) to \(LogEntry.bytesMax)"
        case .damaged: "its checksum is wrong"
        case .unknown(let form, let kind): "its form \(form), kind \(kind), is not known to this program: a newer one wrote it"
        case .body(let kind, let bytes): "kind \(kind) with a body of \(bytes) bytes"
        case .records: "its records are damaged"
        case .recordSize(let bytes, let max): "a record of more than \(bytes) bytes, at most \(max)"
        case .order(let found, let after): "change \(found) behind change \(after)"
        case .start(let found, let current): "start \(found) while \(current) is the newest"
        }
    }
}
