import RelayPrimitives
import RelayStorage

/// A record as it stands in a segment. Big-endian.
///
///     0        4          8           12      13       14           22
///     mark u32 length u32 CRC-32C u32 type u8 flags u8 sequence u64 body, `length` bytes
///
/// The CRC covers the length and everything from the type on. The body of types 1 and 2 is entries, to its end:
///
///     key length u16, value length u32 (2³²−1: the key is taken away), key, value
///
/// A record is whole or not there: it is what makes a change atomic.
struct RecordHead: Equatable {
    static let byteCount = 22
    static let entryHeadBytes = 6
    static let keyBytesMax = 512
    static let valueBytesMax = 1024 * 1024
    private static let noValue = UInt32.max

    enum Kind: UInt8 {
        case change = 1
        /// Entries of an older segment that compaction has moved. Without any it only proves what stands before it.
        case copies = 2
    }

    /// The first of what one sync made durable: it was written after everything before it *was* durable.
    static let isFirstFlag: UInt8 = 1

    var offset: Int
    var bodyBytes: Int
    var type: UInt8
    var flags: UInt8
    var sequence: UInt64

    var bodyOffset: Int { offset + Self.byteCount }
    var end: Int { bodyOffset + bodyBytes }
    var isFirst: Bool { flags & Self.isFirstFlag != 0 }
    var isProof: Bool { type == Kind.copies.rawValue && bodyBytes == 0 }
    var isKnown: Bool { Kind(rawValue: type) != nil && flags & ~Self.isFirstFlag == 0 }

    /// The record at an offset; `nil` if no record stands there, or a damaged one.
    static func read(_ bytes: UnsafeRawBufferPointer, at offset: Int, mark: UInt32) -> RecordHead? {
        guard bytes.count - offset >= byteCount, bytes.bigEndian(at: offset, as: UInt32.self) == mark else { return nil }
        let bodyBytes = Int(bytes.bigEndian(at: offset + 4, as: UInt32.self))
        guard bodyBytes <= bytes.count - offset - byteCount else { return nil }
        let head = RecordHead(
            offset: offset, bodyBytes: bodyBytes, type: bytes[offset + 12], flags: bytes[offset + 13],
            sequence: bytes.bigEndian(at: offset + 14))
        guard checksum(bytes, head) == bytes.bigEndian(at: offset + 8, as: UInt32.self) else { return nil }
        guard !head.isKnown || EntryReader(bytes, head).allSound() else { return nil }
        return head
    }

    /// How long the record that begins here says it is, sound or not.
    static func claimedBytes(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int? {
        guard bytes.count - offset >= byteCount else { return nil }
        return byteCount + Int(bytes.bigEndian(at: offset + 4, as: UInt32.self))
    }

    private static func checksum(_ bytes: UnsafeRawBufferPointer, _ head: RecordHead) -> UInt32 {
        var crc = CRC32C()
        crc.update(UnsafeRawBufferPointer(rebasing: bytes[(head.offset + 4)..<(head.offset + 8)]))
        crc.update(UnsafeRawBufferPointer(rebasing: bytes[(head.offset + 12)..<head.end]))
        return crc.value
    }

    /// Appends a record and the places of its entries, counted from the start of `pieces`.
    static func append(
        _ entries: [JournalEntry], _ kind: Kind, sequence: UInt64, isFirst: Bool, mark: UInt32, to pieces: inout Pieces,
        places: inout [EncodedEntry]
    ) {
        let heads = entries.map(head)
        let bodyBytes = zip(heads, entries).reduce(0) { $0 + $1.0.count + ($1.1.value?.count ?? 0) }
        var start: [UInt8] = [], crc = CRC32C()
        start.reserveCapacity(byteCount)
        start.append(bigEndian: mark)
        start.append(bigEndian: UInt32(bodyBytes))
        start.append(bigEndian: UInt32(0))
        start += [kind.rawValue, isFirst ? isFirstFlag : 0]
        start.append(bigEndian: sequence)
        start[4..<8].withUnsafeBytes { crc.update($0) }
        start[12...].withUnsafeBytes { crc.update($0) }
        for (head, entry) in zip(heads, entries) {
            head.withUnsafeBytes { crc.update($0) }
            entry.value?.withUnsafeBytes { crc.update($0) }
        }
        start.replace(at: 8, bigEndian: crc.value)
        pieces.append(start)
        for (head, entry) in zip(heads, entries) {
            let offset = pieces.count
            pieces.append(head)
            if let value = entry.value { pieces.append(value) }
            places.append(EncodedEntry(key: entry.key, isRemoval: entry.value == nil, offset: offset, byteCount: pieces.count - offset))
        }
    }

    /// What stands before an entry's value: lengths and key.
    private static func head(_ entry: JournalEntry) -> [UInt8] {
        precondition((1...keyBytesMax).contains(entry.key.count), "journal: a key of \(entry.key.count) bytes")
        precondition(entry.value.map(\.count) ?? 0 <= valueBytesMax, "journal: a value of \(entry.value?.count ?? 0) bytes")
        var head: [UInt8] = []
        head.reserveCapacity(entryHeadBytes + entry.key.count)
        head.append(bigEndian: UInt16(entry.key.count))
        head.append(bigEndian: entry.value.map { UInt32($0.count) } ?? noValue)
        head += entry.key
        return head
    }

    /// An entry where it stands.
    struct EncodedEntry {
        var key: [UInt8]
        var isRemoval: Bool
        var offset: Int
        var byteCount: Int
    }

    /// Entries of a body, one after the other.
    struct EntryReader {
        private let bytes: UnsafeRawBufferPointer
        private var offset: Int
        private let end: Int

        init(_ bytes: UnsafeRawBufferPointer, _ head: RecordHead) {
            self.bytes = bytes
            offset = head.bodyOffset
            end = head.end
        }

        /// - Returns: key, value and the whole entry as ranges; `nil` at the end, and for what is no entry.
        mutating func next() -> (key: Range<Int>, value: Range<Int>?, entry: Range<Int>)? {
            guard end - offset >= entryHeadBytes else { return nil }
            let keyBytes = Int(bytes.bigEndian(at: offset, as: UInt16.self))
            let valueField: UInt32 = bytes.bigEndian(at: offset + 2)
            let valueBytes = valueField == noValue ? 0 : Int(valueField)
            guard (1...keyBytesMax).contains(keyBytes), valueBytes <= valueBytesMax, keyBytes + valueBytes <= end - offset - entryHeadBytes
            else { return nil }
            let key = (offset + entryHeadBytes)..<(offset + entryHeadBytes + keyBytes)
            let value = key.upperBound..<(key.upperBound + valueBytes)
            defer { offset = value.upperBound }
            return (key, valueField == noValue ? nil : value, offset..<value.upperBound)
        }

        func allSound() -> Bool {
            var reader = self
            while reader.next() != nil {}
            return reader.offset == reader.end
        }
    }
}
