/// One atomic change: after a crash all of its entries are there, or none.
package struct JournalRecord: Equatable, Sendable {
    /// Rises from record to record, gaps allowed.
    package var sequence: UInt64
    package var entries: [JournalEntry]

    package init(sequence: UInt64, entries: [JournalEntry]) {
        self.sequence = sequence
        self.entries = entries
    }

    /// Bytes of keys and values.
    package var byteCount: Int { entries.reduce(0) { $0 + $1.key.count + ($1.value?.count ?? 0) } }
}

/// Sets a key, or takes it away. The last write of a key wins. Both are opaque to the journal.
package struct JournalEntry: Hashable, Sendable {
    /// 1…512 bytes.
    package var key: [UInt8]
    /// At most 1 MiB; `nil` takes the key away.
    package var value: [UInt8]?

    package init(key: [UInt8], value: [UInt8]?) {
        self.key = key
        self.value = value
    }
}
