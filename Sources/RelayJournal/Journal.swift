import RelayStorage

/// Keys and values that survive: an append-only log in segments, compacted while it is used.
///
/// Everything appended in one call is durable, by one write and one sync, when the call returns; when it throws, nothing
/// of it counts. After a failure the journal takes nothing until `recoverFromFailure` has begun a segment whose header
/// gives up whatever the failure left: a sync that failed is never asked again.
///
/// Values stay on disk: memory holds, for each live key, where its entry stands. `SegmentHeader` and `RecordCodec` draw the format.
package final class Journal {
    let storage: any JournalStorage
    package let settings: JournalSettings
    /// Before every record; of the settings if the journal was made anew, else of the journal found.
    let mark: UInt32

    private enum State { case open, failed(JournalError), closed }
    private var state = State.open

    /// Oldest first. The last one, the head, is written to.
    var segments: [JournalSegment] = []
    var index: [[UInt8]: JournalPlace] = [:]
    /// The highest number that a segment was ever given, or was to be given.
    var highestNumber: UInt64 = 0
    /// Number of the newest start that is known; 0: none is.
    package internal(set) var start: UInt32 = 0
    /// The head is there, durably, and the anchor does not name it yet. Nothing stands in it.
    private var headIsUnanchored = false
    /// The next batch begins a segment, however short the head is.
    var headIsFull = false
    package internal(set) var lastSequence: UInt64 = 0
    package internal(set) var counters = JournalCounters()

    /// Where the compaction of the oldest segment has come to.
    var compactionOffset: Int?
    /// No compaction until so much was written: after a failure of one, so that a full disk is not asked again and again.
    var compactionResumesAt = 0
    /// The segment that cannot be compacted because it cannot be read. Everything else goes on.
    var unreadableSegment: UInt64?
    package internal(set) var erasure = JournalErasure.none
    /// Whether the folder may hold what no live entry has: not known of what was found at opening.
    var holdsSuperseded = true
    /// For a copy that is being made.
    var hold = FileHold()
    /// When that began.
    var deadBytesBefore = 0

    init(storage: any JournalStorage, settings: JournalSettings, mark: UInt32) {
        self.storage = storage
        self.settings = settings
        self.mark = mark
    }

    package var size: JournalSize {
        JournalSize(
            segments: segments.count, bytes: segments.reduce(0) { $0 + $1.byteCount },
            liveBytes: segments.reduce(0) { $0 + $1.liveBytes }, liveEntries: index.count)
    }

    /// Why it takes nothing, if so.
    package var failure: JournalError? {
        if case .failed(let error) = state { error } else { nil }
    }

    // MARK: - Appending

    /// Makes records durable, all of them together.
    ///
    /// - Parameter records: sequences rise, within the call and from call to call.
    /// - Throws: when they are not durable, and will not be: the journal has failed.
    package func append(_ records: [JournalRecord]) throws(JournalError) {
        try checkOpen()
        guard !records.isEmpty else { return }
        var batch = JournalBatch()
        var sequence = lastSequence
        for record in records {
            precondition(record.sequence > sequence || sequence == 0, "journal: sequence \(record.sequence) after \(sequence)")
            sequence = record.sequence
            batch.add(record.entries, .change, sequence: sequence, mark: mark)
        }
        try write(batch, lastSequence: sequence)
        counters.records += records.count
    }

    /// One write, one sync; only then is anything of it in the index.
    func write(_ batch: JournalBatch, lastSequence sequence: UInt64) throws(JournalError) {
        let head = segments[segments.count - 1]
        if headIsFull || (head.recordBytes > 0 && head.byteCount + batch.pieces.count > settings.segmentBytes) {
            try failing { () throws(StorageError) in try beginSegment() }
        }
        let last = segments.count - 1
        try failing { () throws(StorageError) in
            try storage.write(batch.pieces, to: segments[last].file, at: segments[last].byteCount)
            counters.writes += 1
            try storage.sync(segments[last].file)
            counters.fsyncs += 1
        }
        let start = segments[last].byteCount
        segments[last].byteCount += batch.pieces.count
        counters.bytesWritten += batch.pieces.count
        lastSequence = sequence
        for entry in batch.places {
            let place = JournalPlace(segment: segments[last].number, offset: start + entry.offset, byteCount: entry.byteCount)
            note(entry.key, at: entry.isRemoval ? nil : place)
        }
    }

    /// A key's newest entry is there, or the key is gone.
    func note(_ key: [UInt8], at place: JournalPlace?) {
        let old = place.map { index.updateValue($0, forKey: key) } ?? index.removeValue(forKey: key)
        if let old {
            segments[position(of: old.segment)].liveBytes -= old.byteCount
            holdsSuperseded = true
        }
        if let place { segments[position(of: place.segment)].liveBytes += place.byteCount }
    }

    private func position(of number: UInt64) -> Int {
        var low = 0
        var high = segments.count - 1
        while low < high {
            let middle = (low + high + 1) / 2
            if segments[middle].number <= number { low = middle } else { high = middle - 1 }
        }
        return low
    }

    // MARK: - Segments

    /// Makes a new head, durably, whose header says how far what was written before counts.
    func beginSegment() throws(StorageError) {
        if headIsUnanchored { return try anchorHead() }
        // A head in which nothing came to stand is given up instead of kept.
        let kept = segments.last?.recordBytes == 0 ? segments.dropLast() : segments
        highestNumber += 1
        let file = JournalFile.segment(highestNumber)
        let header = SegmentHeader(
            mark: mark, number: highestNumber, previous: kept.last?.number ?? 0,
            previousLength: UInt64(kept.last?.byteCount ?? 0), oldest: kept.first?.number ?? highestNumber, lastSequence: lastSequence)
        do throws(StorageError) {
            try storage.create(file)
            try storage.write(header.encoded(), to: file, at: 0)
            counters.writes += 1
            try storage.sync(file)
            counters.fsyncs += 1
            try storage.syncFolder()
        } catch {
            // Only tidiness: a segment that no header names is given up anyway.
            try? storage.remove(file)
            throw error
        }
        let empty = kept.count < segments.count ? segments.last : nil
        segments = kept + [JournalSegment(number: highestNumber, byteCount: SegmentHeader.byteCount)]
        headIsUnanchored = true
        try anchorHead()
        if let empty { try? storage.remove(empty.file) }
    }

    private func anchorHead() throws(StorageError) {
        try writeAnchor(oldest: segments[0].number)
        headIsUnanchored = false
        headIsFull = false
    }

    // MARK: - Failure

    func checkOpen() throws(JournalError) {
        switch state {
        case .open: return
        case .failed(let error): throw .failed("the journal has failed: \(error)")
        case .closed: throw .failed("the journal is closed")
        }
    }

    func storing<Result>(_ body: () throws(StorageError) -> Result) throws(JournalError) -> Result {
        do throws(StorageError) { return try body() } catch { throw .storage(error) }
    }

    /// Whatever does not work in here ends in the failed state.
    func failing(_ body: () throws(StorageError) -> Void) throws(JournalError) {
        do throws(StorageError) {
            try body()
        } catch {
            let failure = JournalError.storage(error)
            state = .failed(failure)
            counters.failures += 1
            counters.lastError = failure.description
            compactionOffset = nil
            erasure = .none
            holdsSuperseded = true
            throw failure
        }
    }

    /// Begins a segment behind all that is durable, and gives up the rest. Call it until it works.
    ///
    /// - Throws: when the storage still does not work, or files of the journal are gone.
    package func recoverFromFailure() throws(JournalError) {
        guard case .failed = state else { return }
        do throws(JournalError) {
            try checkPresence()
            // Frees space on a full disk, and leaves nothing that could come back; the new header does not depend on it.
            if let head = segments.last { try? storage.truncate(head.file, to: head.byteCount) }
            try storing { () throws(StorageError) in try beginSegment() }
        } catch {
            counters.lastError = error.description
            throw error
        }
        state = .open
        counters.recoveries += 1
    }

    /// A folder that was removed or replaced is no place to go on in: what was durable is not there.
    private func checkPresence() throws(JournalError) {
        let files = Set(try storing { () throws(StorageError) in try storage.list() })
        for segment in segments {
            guard files.contains(segment.file) else { throw .missing(file: segment.file) }
            let size = try storing { () throws(StorageError) in try storage.size(of: segment.file) }
            guard size >= segment.byteCount else { throw .missing(file: segment.file) }
        }
    }

    /// Proves the last batch, so that damage to it is never taken for a torn write, and closes the storage.
    package func close() {
        guard case .open = state else { return closeStorage() }
        if counters.bytesWritten > 0 {
            try? write(.proof(lastSequence, mark: mark), lastSequence: lastSequence)
            if case .open = state { try? writeAnchor(oldest: segments[0].number) }
        }
        closeStorage()
    }

    private func closeStorage() {
        if case .closed = state { return }
        state = .closed
        storage.close()
    }
}

// Not within the journal: what stands within a generic type is generic, and slow.

/// A segment that counts.
struct JournalSegment {
    var number: UInt64
    /// As far as it counts, and is durable.
    var byteCount: Int
    var liveBytes = 0
    /// What is known not to be sound.
    var damage: [Range<Int>] = []

    var file: String { JournalFile.segment(number) }
    var recordBytes: Int { max(byteCount - SegmentHeader.byteCount, 0) }
}

/// Where a live key's entry stands.
struct JournalPlace: Equatable {
    var segment: UInt64
    var offset: Int
    var byteCount: Int
}

/// Records for one write.
struct JournalBatch {
    var pieces = Pieces()
    var places: [RecordHead.EncodedEntry] = []

    mutating func add(_ entries: [JournalEntry], _ kind: RecordHead.Kind, sequence: UInt64, mark: UInt32) {
        RecordHead.append(entries, kind, sequence: sequence, isFirst: pieces.isEmpty, mark: mark, to: &pieces, places: &places)
    }

    /// A record that is written when everything before it is durable. It proves that to whoever opens the journal later.
    static func proof(_ sequence: UInt64, mark: UInt32) -> JournalBatch {
        var batch = JournalBatch()
        batch.add([], .copies, sequence: sequence, mark: mark)
        return batch
    }
}
