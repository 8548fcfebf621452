import RelayPrimitives
import RelayStorage

// Opening: read everything, judge, and only then change anything.
//
// The chain of segments is followed from the newest backwards, as each header names the one before it. What is not on
// it was given up after a failure or removed by compaction, and goes. What should be on it and is not, is a refusal.

extension Journal {
    /// Opens the journal of a folder, or makes one.
    ///
    /// - Returns: the journal, what is in it in the order of keys, and what was found.
    /// - Throws: when the folder cannot be read or written, a newer program wrote it, or some of the journal is missing.
    package static func open(
        _ storage: any JournalStorage, _ settings: JournalSettings
    ) throws(JournalError) -> (journal: Journal, entries: [JournalEntry], report: JournalReport) {
        do throws(JournalError) {
            var (journal, opening) = try read(storage, settings)
            if let loss = try opening.loss(lastSequence: journal.lastSequence) { throw loss }
            try journal.settle(&opening)
            opening.report.segments = journal.segments.count
            return (journal, opening.entries, opening.report)
        } catch {
            storage.close()
            throw error
        }
    }

    /// Reads all of it, and changes nothing.
    static func read(_ storage: any JournalStorage, _ settings: JournalSettings) throws(JournalError) -> (Journal, Opening) {
        var opening = Opening(storage: storage)
        try opening.readHeaders()
        opening.followChain()
        let journal = Journal(storage: storage, settings: settings, mark: opening.mark ?? settings.mark)
        for link in opening.chain { try journal.replay(link, &opening) }
        journal.lastSequence = max(journal.lastSequence, opening.lastSequence)
        journal.highestNumber = opening.found.last?.number ?? 0
        journal.start = opening.anchor?.start ?? 0
        opening.report.lastSequence = journal.lastSequence
        opening.report.start = journal.start
        opening.report.isAnchored = opening.anchor != nil
        return (journal, opening)
    }

    /// Takes over what stands in one segment.
    private func replay(_ link: CountedSegment, _ opening: inout Opening) throws(JournalError) {
        let found = opening.found[link.found]
        let isLast = link.found == opening.chain.last?.found
        let expected = link.byteCount.map { Int(clamping: $0) }
        let bytes = try storing { () throws(StorageError) in
            try storage.read(found.file, at: 0, count: min(found.size, expected ?? found.size))
        }
        let scan = bytes.withUnsafeBytes { SegmentScan($0, mark: found.header?.mark ?? mark, isWhole: expected != nil) }
        if let unknown = scan.records.first(where: { !$0.isKnown }) {
            throw .unknownRecord(file: found.file, offset: unknown.offset, type: unknown.type, flags: unknown.flags)
        }
        var segment = JournalSegment(number: found.number, byteCount: scan.end)
        segment.damage = scan.damage
        segments.append(segment)
        if found.header == nil { opening.quarantine(found.number, 0..<min(SegmentHeader.byteCount, bytes.count), of: bytes) }
        for range in scan.damage { opening.quarantine(found.number, range, of: bytes) }
        if let expected, expected > bytes.count { opening.lost(found.number, bytes.count..<expected) }
        opening.report.records += scan.records.count
        opening.found[link.found].records = scan.records.count
        for record in scan.records {
            lastSequence = max(lastSequence, record.sequence)
            bytes.withUnsafeBytes { bytes in
                var reader = RecordHead.EntryReader(bytes, record)
                while let entry = reader.next() {
                    let key = Array(bytes[entry.key])
                    note(
                        key,
                        at: entry.value == nil
                            ? nil : JournalPlace(segment: found.number, offset: entry.entry.lowerBound, byteCount: entry.entry.count))
                    opening.values[key] = entry.value.map { Array(bytes[$0]) }
                }
            }
        }
        guard isLast else { return }
        opening.report.cutBytes = found.size - scan.end
        opening.lastGroup = scan.lastGroup == SegmentHeader.byteCount ? 0 : scan.lastGroup
        opening.unproven = Array(bytes[opening.lastGroup..<scan.end])
        headIsFull = found.header == nil
    }

    /// The first changes to the folder: what is damaged is copied aside, what is torn is cut, what is given up goes.
    private func settle(_ opening: inout Opening) throws(JournalError) {
        for quarantine in opening.quarantines { try keepAside(quarantine.file, quarantine.bytes) }
        guard let head = segments.last else {
            try storing { () throws(StorageError) in
                try beginSegment()
                try removeStrays(&opening)
            }
            return
        }
        try storing { () throws(StorageError) in
            if opening.report.cutBytes > 0 {
                try storage.truncate(head.file, to: head.byteCount)
                try storage.sync(head.file)
            }
            // The last batch may be there for us and not on the disk: if its sync failed and the program ended, the
            // system shows what it could not write. Written once more and synced, it is there for everybody.
            try storage.write(opening.unproven, to: head.file, at: opening.lastGroup)
            try storage.sync(head.file)
            // If the anchor could not be replaced, what the old one may name stays.
            let isAnchored = writeAnew(head, oldest: opening.oldestTold)
            try removeStrays(&opening, keeping: isAnchored ? nil : opening.anchor)
        }
    }

    /// The same holds for the file's length, and for the name of a file that nothing came to stand in. An orderly end is
    /// no exception: whether the sync of its proof has worked cannot be seen. If this does not work, no batch is written
    /// where nobody knows what the disk holds.
    ///
    /// And for segments that were removed: one whose removal was not synced may be there again after a crash, and with it
    /// what later ones have taken back. A new header says what the oldest one is, before any other goes.
    ///
    /// - Returns: whether all of it has worked, the anchor included. If not, the next batch begins a segment, and tries again.
    private func writeAnew(_ head: JournalSegment, oldest: UInt64) -> Bool {
        do throws(StorageError) {
            if head.recordBytes > 0 {
                let proof = JournalBatch.proof(lastSequence, mark: mark).pieces
                try storage.write(proof, to: head.file, at: head.byteCount)
                try storage.sync(head.file)
                segments[segments.count - 1].byteCount += proof.count
            }
            if head.recordBytes == 0 || oldest < segments[0].number {
                try beginSegment()
            } else {
                try writeAnchor(oldest: segments[0].number)
            }
            return true
        } catch {
            headIsFull = true
            counters.lastError = error.description
            return false
        }
    }

    private func removeStrays(_ opening: inout Opening, keeping anchor: JournalAnchor? = nil) throws(StorageError) {
        let kept = anchor.map { [JournalFile.segment($0.oldest), JournalFile.segment($0.newest)] } ?? []
        for file in opening.strays where !kept.contains(file) {
            try storage.remove(file)
            opening.report.removed.append(file)
        }
        try storage.syncFolder()
    }

    private func keepAside(_ file: String, _ bytes: [UInt8]) throws(JournalError) {
        try storing { () throws(StorageError) in
            if !(try storage.list().contains(file)) { try replace(file, with: bytes) }
        }
    }
}

/// What a folder holds, before anything in it is touched.
struct Opening {

    let storage: any JournalStorage
    var report = JournalReport()
    /// By number.
    var found: [FoundSegment] = []
    /// Oldest first.
    var chain: [CountedSegment] = []
    var strays: [String] = []
    /// Segments that headers or the anchor count on, and that are not there or hold nothing.
    var missing: [String] = []
    var mark: UInt32?
    var anchor: JournalAnchor?
    var isAnchorDamaged = false
    /// What the newest header says.
    var oldestTold: UInt64 = 0
    var lastSequence: UInt64 = 0
    var quarantines: [(file: String, bytes: [UInt8])] = []
    var lastGroup = 0
    var unproven: [UInt8] = []
    var values: [[UInt8]: [UInt8]] = [:]

    init(storage: any JournalStorage) { self.storage = storage }

    /// In the order of keys.
    var entries: [JournalEntry] {
        values.keys.sorted { $0.lexicographicallyPrecedes($1) }.map { JournalEntry(key: $0, value: values[$0]) }
    }

    mutating func readHeaders() throws(JournalError) {
        let names = try storing { () throws(StorageError) in try storage.list() }
        strays = names.filter(JournalFile.isDraft).inOrder()
        if names.contains(JournalAnchor.file) {
            anchor = try JournalAnchor.read(
                try storing { () throws(StorageError) in try storage.read(JournalAnchor.file, at: 0, count: JournalAnchor.byteCount + 1) })
            isAnchorDamaged = anchor == nil
        }
        for number in names.compactMap(JournalFile.number).inOrder() {
            let file = JournalFile.segment(number)
            let (size, head) = try storing { () throws(StorageError) in
                (try storage.size(of: file), try storage.read(file, at: 0, count: SegmentHeader.byteCount))
            }
            var segment = FoundSegment(number: number, size: size)
            switch SegmentHeader.read(head) {
            case .header(let header):
                guard header.number == number else { throw .misnamed(file: file, number: header.number) }
                segment.header = header
                mark = header.mark
                oldestTold = max(oldestTold, header.oldest)
                lastSequence = max(lastSequence, header.lastSequence)
            case .newer(let version):
                throw .newerFormat(file: file, found: version, writer: nil, supported: SegmentHeader.versionSupported)
            case .damaged: break
            }
            found.append(segment)
        }
        for index in found.indices where found[index].header == nil { try look(into: index) }
    }

    /// A segment without a sound header is what a crash leaves of one that was just begun, unless it holds records.
    private mutating func look(into index: Int) throws(JournalError) {
        let segment = found[index]
        let bytes = try storing { () throws(StorageError) in try storage.read(segment.file, at: 0, count: segment.size) }
        let scan = bytes.withUnsafeBytes { bytes -> SegmentScan? in
            guard bytes.count > SegmentHeader.byteCount + 4 else { return nil }
            // With every header gone, the first record still tells the mark.
            return SegmentScan(bytes, mark: mark ?? bytes.bigEndian(at: SegmentHeader.byteCount), isWhole: true)
        }
        guard let scan, !scan.records.isEmpty else {
            found[index].isEmpty = true
            // Less than a header is what a write that failed has left of one.
            if bytes.count >= SegmentHeader.byteCount, bytes.contains(where: { $0 != 0 }) {
                quarantine(segment.number, 0..<bytes.count, of: bytes)
            }
            return
        }
        mark = mark ?? bytes.withUnsafeBytes { $0.bigEndian(at: SegmentHeader.byteCount) }
    }

    mutating func followChain() {
        let oldest = found.compactMap { $0.header?.oldest }.max() ?? 0
        var byteCount: UInt64?
        var next = found.lastIndex { !$0.isEmpty }
        while let index = next {
            chain.insert(CountedSegment(found: index, byteCount: byteCount), at: 0)
            byteCount = nil
            guard let header = found[index].header else {
                next = found[..<index].lastIndex { !$0.isEmpty && $0.number >= oldest }
                continue
            }
            guard header.previous != 0, header.previous >= oldest else { break }
            // What holds nothing was begun and given up, unless it is the very one.
            next = found[..<index].lastIndex { segment in
                if segment.number == header.previous { return true }
                let holdsRecords = !segment.isEmpty && segment.size > SegmentHeader.byteCount
                return holdsRecords && segment.number < header.previous && segment.number >= oldest
            }
            guard let previous = next else { break }
            if found[previous].number == header.previous, found[previous].size >= SegmentHeader.byteCount {
                byteCount = header.previousLength
            } else {
                // Not removed by compaction, which goes from the oldest on.
                missing.append(JournalFile.segment(header.previous))
            }
        }
        noteAnchored()
        let counted = Set(chain.map(\.found))
        strays += found.indices.filter { !counted.contains($0) }.map { found[$0].file }
    }

    mutating func quarantine(_ number: UInt64, _ range: Range<Int>, of bytes: [UInt8]) {
        guard !range.isEmpty else { return }
        let file = JournalFile.quarantine(number, at: range.lowerBound)
        guard !quarantines.contains(where: { $0.file == file }) else { return }
        quarantines.append((file, Array(bytes[range])))
        report.damage.append(.init(file: JournalFile.segment(number), offset: range.lowerBound, byteCount: range.count, quarantine: file))
    }

    mutating func lost(_ number: UInt64, _ range: Range<Int>) {
        report.damage.append(.init(file: JournalFile.segment(number), offset: range.lowerBound, byteCount: range.count, quarantine: nil))
    }

    func storing<Result>(_ body: () throws(StorageError) -> Result) throws(JournalError) -> Result {
        do throws(StorageError) { return try body() } catch { throw .storage(error) }
    }
}

/// A segment that is there.
struct FoundSegment {
    var number: UInt64
    var size: Int
    /// `nil`: damaged.
    var header: SegmentHeader?
    /// Holds nothing that could be a record.
    var isEmpty = false
    /// Whole ones, if it counts.
    var records = 0
    var file: String { JournalFile.segment(number) }
}

/// A segment that counts, and how far, if the next one says so.
struct CountedSegment {
    var found: Int
    var byteCount: UInt64?
}
