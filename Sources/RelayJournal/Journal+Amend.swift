import RelayStorage

// For a store that keeps files of its own beside the journal, and checkpoints them in it.

extension Journal {
    /// Changes entries without a record of its own: durable, all of them together, when the call returns.
    ///
    /// For what follows from records that were appended before. A key taken away here is handled as one that a record
    /// takes away: the writes it takes back stand before it, so it needs no copy when segments go.
    package func amend(_ entries: [JournalEntry]) throws(JournalError) {
        try checkOpen()
        guard !entries.isEmpty else { return }
        var batch = JournalBatch()
        batch.add(entries, .copies, sequence: lastSequence, mark: mark)
        try write(batch, lastSequence: lastSequence)
    }

    /// Reads a live key's value from its segment.
    package func value(of key: [UInt8]) throws(JournalError) -> [UInt8]? {
        guard let place = index[key] else { return nil }
        let file = JournalFile.segment(place.segment)
        let entry = try storing { () throws(StorageError) in try storage.read(file, at: place.offset, count: place.byteCount) }
        let value = RecordHead.entryHeadBytes + key.count
        guard entry.count == place.byteCount, value <= entry.count, entry[RecordHead.entryHeadBytes..<value].elementsEqual(key) else {
            throw .failed("\(file) has not the entry at \(place.offset) that was written there")
        }
        return Array(entry[value...])
    }
}
