import RelayPrimitives
import RelayStorage

/// Records in the form of a segment, outside of one: a log carries them from one folder to another. `RecordHead` draws the layout.
package enum RecordForm {
    /// - Parameter mark: stands before each record, as in a segment.
    package static func encode(_ record: JournalRecord, mark: UInt32) -> [UInt8] {
        var pieces = Pieces(), places: [RecordHead.EncodedEntry] = []
        RecordHead.append(record.entries, .change, sequence: record.sequence, isFirst: false, mark: mark, to: &pieces, places: &places)
        return pieces.joined
    }

    /// - Returns: all records, or `nil` if anything between the first byte and the last is no sound change.
    package static func decode(_ bytes: [UInt8], mark: UInt32) -> [JournalRecord]? {
        bytes.withUnsafeBytes { bytes in
            var records: [JournalRecord] = [], offset = 0
            while offset < bytes.count {
                guard let head = RecordHead.read(bytes, at: offset, mark: mark), head.type == RecordHead.Kind.change.rawValue,
                    head.flags == 0
                else { return nil }
                var reader = RecordHead.EntryReader(bytes, head), entries: [JournalEntry] = []
                while let entry = reader.next() {
                    entries.append(JournalEntry(key: Array(bytes[entry.key]), value: entry.value.map { Array(bytes[$0]) }))
                }
                records.append(JournalRecord(sequence: head.sequence, entries: entries))
                offset = head.end
            }
            return records
        }
    }
}
