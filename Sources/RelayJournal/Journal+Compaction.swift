import RelayStorage

// Compaction: the oldest segment's live entries are copied to the head, then the segment goes.
//
// Only ever the oldest, so the order of writes to a key is the order of its entries in the log, copies included; and a
// removed key's entry needs no copy: all writes that it takes back stand before it, in the same segment or in ones that
// are gone, durably so, before this one goes.

extension Journal {
    /// Whether more than half of what is stored is dead, and a whole segment can go.
    package var wantsCompaction: Bool {
        guard failure == nil, segments.count >= 2, !isHeld, unreadableSegment != segments[0].number else { return false }
        if case .underWay = erasure { return true }
        guard !headIsFull, counters.bytesWritten >= compactionResumesAt else { return false }
        if compactionOffset != nil { return true }
        let stored = segments.reduce(0) { $0 + $1.recordBytes }
        let live = segments.reduce(0) { $0 + $1.liveBytes }
        return stored - live > stored / 2
    }

    /// Copies some entries, or removes a segment without live entries; call it between batches.
    ///
    /// - Parameter bytesMax: read and written at most, or one record if that is longer.
    /// - Returns: whether there was anything to do.
    /// - Throws: when writing failed; the journal has failed then. What cannot be read or removed stays, and is told by
    ///   the counters: it hinders nothing but compaction.
    package func compactStep(bytesMax: Int) throws(JournalError) -> Bool {
        try checkOpen()
        guard wantsCompaction else { return false }
        let offset = compactionOffset ?? SegmentHeader.byteCount
        compactionOffset = offset
        do throws(JournalError) {
            if offset >= segments[0].byteCount {
                try removeOldest()
            } else {
                try moveEntries(from: offset, bytesMax: bytesMax)
            }
        } catch {
            compactionResumesAt = counters.bytesWritten + settings.segmentBytes / 8
            throw error
        }
        return true
    }

    private func moveEntries(from start: Int, bytesMax: Int) throws(JournalError) {
        let segment = segments[0]
        if let damage = segment.damage.first(where: { $0.lowerBound == start }) {
            compactionOffset = damage.upperBound
            return
        }
        // Up to the next damage: behind it records begin anew.
        let end = segment.damage.first { $0.lowerBound > start }?.lowerBound ?? segment.byteCount
        guard let bytes = readRecords(segment.file, from: start, to: end, bytesMax: bytesMax) else { return }
        var entries: [JournalEntry] = []
        let read = bytes.withUnsafeBytes { bytes -> Int in
            var offset = 0
            while let record = RecordHead.read(bytes, at: offset, mark: mark) {
                var reader = RecordHead.EntryReader(bytes, record)
                while let entry = reader.next() {
                    guard let value = entry.value else { continue }
                    let key = Array(bytes[entry.key])
                    guard index[key] == JournalPlace(
                        segment: segment.number, offset: start + entry.entry.lowerBound, byteCount: entry.entry.count)
                    else { continue }
                    entries.append(JournalEntry(key: key, value: Array(bytes[value])))
                }
                offset = record.end
            }
            return offset
        }
        guard read > 0 else { return giveUp("\(segment.file) cannot be read at \(start): it was sound when the journal was opened") }
        if !entries.isEmpty {
            var batch = JournalBatch()
            batch.add(entries, .copies, sequence: lastSequence, mark: mark)
            // What was copied goes with its segment.
            let held = holdsSuperseded
            try write(batch, lastSequence: lastSequence)
            holdsSuperseded = held
        }
        compactionOffset = start + read
    }

    /// At least the first record, whole.
    private func readRecords(_ file: String, from start: Int, to end: Int, bytesMax: Int) -> [UInt8]? {
        do throws(StorageError) {
            let bytes = try storage.read(file, at: start, count: min(max(bytesMax, RecordHead.byteCount), end - start))
            let claimed = bytes.withUnsafeBytes { RecordHead.claimedBytes($0, at: 0) } ?? 0
            guard claimed > bytes.count else { return bytes }
            return try storage.read(file, at: start, count: min(claimed, end - start))
        } catch {
            giveUp(error.description)
            return nil
        }
    }

    private func removeOldest() throws(JournalError) {
        guard segments[0].liveBytes == 0 else {
            return giveUp("\(segments[0].file) still holds \(segments[0].liveBytes) live bytes that were not found in it")
        }
        do throws(StorageError) {
            try writeAnchor(oldest: segments[1].number)
            try storage.remove(segments[0].file)
        } catch {
            counters.lastError = error.description
            // Whoever has made a file in the folder meanwhile must know that its name is in doubt.
            if error.operation == .syncFolder { counters.failures += 1 }
            compactionResumesAt = counters.bytesWritten + settings.segmentBytes / 8
            return failErasure(error.description)
        }
        segments.removeFirst()
        compactionOffset = nil
        counters.compactions += 1
        // Before the next one goes: should this one come back without it, keys removed in the next would live again.
        try failing { () throws(StorageError) in try storage.syncFolder() }
        try endErasure()
    }

    private func giveUp(_ text: String) {
        unreadableSegment = segments[0].number
        compactionOffset = nil
        counters.lastError = "no compaction: \(text)"
        failErasure(text)
    }
}
