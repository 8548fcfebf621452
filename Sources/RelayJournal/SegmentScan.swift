/// What stands in one segment: its records, and what is damaged between them.
///
/// Where a record is not sound, the next one is looked for by the journal's mark, byte by byte, from there on: a
/// damaged length leads nobody astray, and what a value holds is never taken for a record, since nobody who stores
/// values knows the mark.
///
/// What a crash tears and what the disk damages later are told apart by the flag *first*: a record with it was written
/// when everything before it was durable. So damage with such a record behind it is a disk's, and only the damaged bytes
/// are lost. Damage without one may be a torn write: then everything from there on is an unfinished change, also what
/// looks sound behind it, which must not be there without what came before.
struct SegmentScan {
    private(set) var records: [RecordHead] = []
    private(set) var damage: [Range<Int>] = []
    /// Up to here it counts.
    private(set) var end: Int
    /// Where the last group begins: not known to be durable by anything behind it.
    private(set) var lastGroup: Int

    /// - Parameters:
    ///   - bytes: the segment from its first byte on.
    ///   - isWhole: all of it was durable once (the next segment's header says so): nothing can be torn.
    init(_ bytes: UnsafeRawBufferPointer, mark: UInt32, isWhole: Bool) {
        var offset = min(SegmentHeader.byteCount, bytes.count)
        lastGroup = offset
        end = bytes.count
        // What is lost if nothing behind the first damage proves that it was durable.
        var torn: (offset: Int, records: Int, damage: Int)?
        while offset < bytes.count {
            if let record = RecordHead.read(bytes, at: offset, mark: mark) {
                records.append(record)
                if record.isFirst {
                    lastGroup = offset
                    torn = nil
                }
                offset = record.end
                continue
            }
            torn = torn ?? (offset, records.count, damage.count)
            let next = Self.nextRecord(bytes, from: offset + 1, mark: mark)
            damage.append(offset..<next)
            offset = next
        }
        guard let torn, !isWhole else { return }
        end = torn.offset
        records.removeSubrange(torn.records...)
        damage.removeSubrange(torn.damage...)
    }

    private static func nextRecord(_ bytes: UnsafeRawBufferPointer, from start: Int, mark: UInt32) -> Int {
        let first = UInt8(mark >> 24)
        var offset = start
        while offset + RecordHead.byteCount <= bytes.count {
            if bytes[offset] == first, RecordHead.read(bytes, at: offset, mark: mark) != nil { return offset }
            offset += 1
        }
        return bytes.count
    }
}
