import RelayClient

/// The board of one channel, as far as this client knows it.
struct BoardRecords {
    struct Record {
        var offset: UInt64
        var payload: Payload?
    }

    private var records: [String: Record] = [:]
    private var held: [(key: String, record: Record)] = []
    private var isReading = true
    private var readThrough: UInt64 = 0
    private var clearedAt: UInt64 = 0

    var lines: [Line.Record] {
        records.compactMap { key, record in
            guard let payload = record.payload, record.offset > clearedAt else { return nil }
            return Line.Record(key: key, offset: record.offset, sha256: digest(payload))
        }
    }

    mutating func put(_ key: String, _ record: Record) {
        if record.offset > records[key]?.offset ?? 0 { records[key] = record }
    }

    /// One's own, stored. A board that was read holds own records, too. [BL3]
    mutating func putOwn(_ key: String, _ record: Record) {
        if isReading {
            held.append((key, record))
        } else if record.offset > readThrough {
            put(key, record)
        }
    }

    mutating func clear(below offset: UInt64) { clearedAt = offset }

    mutating func reset() { self = BoardRecords() }

    mutating func caughtUp(at head: UInt64) {
        guard isReading else { return }
        (isReading, readThrough) = (false, head)
        for (key, record) in held { putOwn(key, record) }
        held = []
    }
}
