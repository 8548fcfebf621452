/// What is on a board, without the payloads: where each live record stands in the board's file.
///
/// Made by applying the file's changes in their order, and kept by applying new ones. Everything that a reader may be told
/// stands in one list in order of offsets; what is superseded is marked dead in it, and swept out when half of it is.
struct BoardIndex {
    struct Part: Hashable {
        var place: BoardPlace
        var payloadBytes: Int
    }

    struct Record: Hashable {
        var key: [UInt8]
        var author: Int
        var place: BoardPlace
        /// Key and custom type.
        var headBytes: Int
        var payloadBytes: Int
        /// In order, if the payload stands in parts.
        var parts: [Part] = []

        /// As it counts. [BL7]
        var bytes: Int { headBytes + payloadBytes + BoardSummary.recordOverheadBytes }
        var fileBytes: Int { parts.reduce(place.count) { $0 + $1.place.count } }
    }

    enum Content: Hashable {
        case dead
        case record(Record)
        case marker(key: [UInt8], wallMilliseconds: UInt64, place: BoardPlace)
        case clear(BoardPlace)
    }

    struct Entry: Hashable {
        var offset: UInt64
        var content: Content
    }

    /// What the newest `clear` took away, as long as it can be undone.
    struct Cleared {
        var offset: UInt64
        var wallMilliseconds: UInt64
        /// In order of offsets.
        var records: [(offset: UInt64, record: Record)]
        /// Of those whose key was not changed since: its number among the records.
        var unchanged: [[UInt8]: Int]
        /// Markers that say which keys were changed are gone: nothing but the file's own changes tells it any more.
        var hasLostMarkers = false
    }

    /// Parts that wait for the `put` that names them.
    struct Upload {
        var parts: [UInt16: Part] = [:]
        /// Of the newest.
        var wallMilliseconds: UInt64 = 0
    }

    /// In order of offsets.
    private(set) var entries: [Entry] = []
    private var deadEntries = 0
    /// Of a key's live record or marker: its place in the list.
    private var byKey: [[UInt8]: Int] = [:]
    /// Offsets of markers, oldest first; of some the key has a record again.
    private var markerOffsets: [UInt64] = []
    private var firstMarker = 0
    private(set) var markers = 0
    private(set) var markerFloor: UInt64 = 0
    private(set) var clearOffset: UInt64 = 0
    private(set) var cleared: Cleared?
    private(set) var uploads: [UInt64: Upload] = [:]
    private(set) var creation: BoardPlace?

    private(set) var authors: [[UInt8]] = []
    private var authorNumbers: [[UInt8]: Int] = [:]
    private(set) var authorBytes: [Int] = []
    /// Authors whose sum has changed since somebody asked, and by how much.
    private(set) var changes: [Int: Int] = [:]

    private(set) var records = 0
    private(set) var bytes = 0
    /// Of the file, what a compaction would keep.
    private(set) var liveFileBytes = 0
    /// Changes of which parts were not there.
    var incompleteRecords = 0

    // MARK: - Applying

    mutating func apply(_ placed: PlacedChange, _ settings: BoardSettings) {
        let change = placed.change
        switch change.kind {
        case .create:
            liveFileBytes += placed.place.count - (creation?.count ?? 0)
            creation = placed.place
        case .put(let put): self.put(put, placed, settings)
        case .remove(let key): remove(key, placed, settings)
        case .part(let upload, let number, _):
            if number == 1 { discard(upload) }
            var staged = uploads[upload] ?? Upload()
            let old = staged.parts.updateValue(Part(place: placed.place, payloadBytes: placed.payloadBytes), forKey: number)
            liveFileBytes += placed.place.count - (old?.place.count ?? 0)
            staged.wallMilliseconds = change.wallMilliseconds
            uploads[upload] = staged
        case .clear: clear(placed)
        case .undo(let clear, let count): undo(clear, count, change, settings)
        case .drop: break
        }
        sweep()
    }

    private mutating func put(_ put: BoardPut, _ placed: PlacedChange, _ settings: BoardSettings) {
        var record = Record(
            key: put.key, author: number(of: placed.change.author), place: placed.place,
            headBytes: put.key.count + (put.customType?.count ?? 0), payloadBytes: placed.payloadBytes)
        if let upload = put.upload {
            let staged = uploads[upload]?.parts ?? [:]
            record.parts = put.parts == 0 ? [] : (1...put.parts).compactMap { staged[$0] }
            guard record.parts.count == put.parts else {
                // Only damage does that. The record before it was superseded all the same.
                incompleteRecords += 1
                discard(upload)
                return remove(put.key, placed, settings)
            }
            record.payloadBytes = record.parts.reduce(0) { $0 + $1.payloadBytes }
            liveFileBytes -= record.fileBytes - record.place.count
            for number in 1...put.parts { uploads[upload]?.parts[number] = nil }
            discard(upload)
        }
        leave(put.key)
        append(record, at: placed.change.offset)
        liveFileBytes += record.fileBytes
    }

    private mutating func append(_ record: Record, at offset: UInt64) {
        byKey[record.key] = entries.count
        entries.append(Entry(offset: offset, content: .record(record)))
        count(record, 1)
    }

    private mutating func remove(_ key: [UInt8], _ placed: PlacedChange, _ settings: BoardSettings) {
        leave(key)
        byKey[key] = entries.count
        entries.append(
            Entry(offset: placed.change.offset, content: .marker(key: key, wallMilliseconds: placed.change.wallMilliseconds, place: placed.place)))
        markerOffsets.append(placed.change.offset)
        markers += 1
        liveFileBytes += placed.place.count
        while markers > settings.markersMax { dropOldestMarker() }
    }

    /// What the key has is superseded.
    private mutating func leave(_ key: [UInt8]) {
        cleared?.unchanged[key] = nil
        guard let index = byKey.removeValue(forKey: key) else { return }
        kill(index)
    }

    private mutating func kill(_ index: Int) {
        switch entries[index].content {
        case .dead: return
        case .record(let record):
            count(record, -1)
            liveFileBytes -= record.fileBytes
        case .marker(_, _, let place):
            markers -= 1
            liveFileBytes -= place.count
        case .clear(let place): liveFileBytes -= place.count
        }
        entries[index].content = .dead
        deadEntries += 1
    }

    private mutating func clear(_ placed: PlacedChange) {
        expireCleared()
        var taken = Cleared(offset: placed.change.offset, wallMilliseconds: placed.change.wallMilliseconds, records: [], unchanged: [:])
        for entry in entries {
            switch entry.content {
            case .dead: break
            case .record(let record):
                // Their place in the file is still wanted.
                taken.unchanged[record.key] = taken.records.count
                taken.records.append((entry.offset, record))
                count(record, -1)
            case .marker(_, _, let place), .clear(let place): liveFileBytes -= place.count
            }
        }
        cleared = taken
        entries = [Entry(offset: placed.change.offset, content: .clear(placed.place))]
        liveFileBytes += placed.place.count
        clearOffset = placed.change.offset
        deadEntries = 0
        byKey = [:]
        markerOffsets = []
        firstMarker = 0
        markers = 0
        // Whoever is below is told of the clear.
        markerFloor = 0
    }

    private mutating func undo(_ clear: UInt64, _ count: UInt64, _ change: BoardChange, _ settings: BoardSettings) {
        guard let cleared, cleared.offset == clear, count <= change.offset, Int(clamping: count) >= cleared.records.count,
            change.wallMilliseconds <= cleared.wallMilliseconds + settings.undoMilliseconds + settings.undoGraceMilliseconds
        else { return }
        self.cleared = nil
        for (number, old) in cleared.records.enumerated() {
            if cleared.unchanged[old.record.key] == number {
                append(old.record, at: change.offset - count + 1 + UInt64(number))
            } else {
                liveFileBytes -= old.record.fileBytes
            }
        }
    }

    // MARK: - What ends by time, or by its number

    /// - Returns: whether anything was there that is too old at this time.
    mutating func expire(at wall: UInt64, _ settings: BoardSettings) -> Bool {
        var hasChanged = false
        while let oldest = oldestMarker, oldest.wall.addingReportingOverflow(settings.markerMilliseconds).partialValue < wall {
            dropOldestMarker()
            hasChanged = true
        }
        if let cleared, cleared.wallMilliseconds + settings.undoMilliseconds + settings.undoGraceMilliseconds < wall {
            expireCleared()
            hasChanged = true
        }
        for (upload, staged) in uploads where staged.wallMilliseconds + settings.partsMilliseconds < wall {
            discard(upload)
            hasChanged = true
        }
        sweep()
        return hasChanged
    }

    mutating func expireCleared() {
        guard let cleared else { return }
        liveFileBytes -= cleared.records.reduce(0) { $0 + $1.record.fileBytes }
        self.cleared = nil
    }

    /// The file was read; what the summary knows and the file does not tell is made good.
    mutating func settle(_ summary: BoardSummary) {
        if summary.clear?.offset != cleared?.offset { expireCleared() }
        while let oldest = oldestMarker, oldest.offset <= summary.markerFloor { dropOldestMarker() }
        markerFloor = max(markerFloor, summary.markerFloor)
        changes = [:]
    }

    private var oldestMarker: (offset: UInt64, wall: UInt64)? {
        mutating get {
            while firstMarker < markerOffsets.count {
                let offset = markerOffsets[firstMarker]
                let index = position(above: offset) - 1
                if index >= 0, entries[index].offset == offset, case .marker(_, let wall, _) = entries[index].content { return (offset, wall) }
                firstMarker += 1
            }
            return nil
        }
    }

    private mutating func dropOldestMarker() {
        guard let offset = oldestMarker?.offset else { return }
        let index = position(above: offset) - 1
        if case .marker(let key, _, _) = entries[index].content { byKey[key] = nil }
        kill(index)
        firstMarker += 1
        if firstMarker > 1024, firstMarker > markerOffsets.count / 2 {
            markerOffsets.removeFirst(firstMarker)
            firstMarker = 0
        }
        markerFloor = offset
        cleared?.hasLostMarkers = true
    }

    private mutating func discard(_ upload: UInt64) {
        guard let staged = uploads.removeValue(forKey: upload) else { return }
        liveFileBytes -= staged.parts.values.reduce(0) { $0 + $1.place.count }
    }

    // MARK: - Sums

    private mutating func number(of author: [UInt8]) -> Int {
        if let number = authorNumbers[author] { return number }
        authors.append(author)
        authorBytes.append(0)
        authorNumbers[author] = authors.count - 1
        return authors.count - 1
    }

    private mutating func count(_ record: Record, _ sign: Int) {
        records += sign
        bytes += sign * record.bytes
        authorBytes[record.author] += sign * record.bytes
        changes[record.author, default: 0] += sign * record.bytes
    }

    mutating func takeChanges() -> [(author: [UInt8], bytes: Int)] {
        defer { changes = [:] }
        return changes.filter { $0.value != 0 }.map { (authors[$0.key], $0.value) }
    }

    // MARK: - The list

    /// Of the first entry with a higher offset.
    func position(above offset: UInt64) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].offset <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private mutating func sweep() {
        guard deadEntries > 64, deadEntries * 2 > entries.count else { return }
        entries.removeAll { if case .dead = $0.content { true } else { false } }
        deadEntries = 0
        for (index, entry) in entries.enumerated() {
            switch entry.content {
            case .record(let record): byKey[record.key] = index
            case .marker(let key, _, _): byKey[key] = index
            case .clear, .dead: break
            }
        }
    }

    /// The file was compacted: everything stands elsewhere.
    mutating func move(_ place: (BoardPlace) -> BoardPlace) {
        func moved(_ record: Record) -> Record {
            var record = record
            record.place = place(record.place)
            for index in record.parts.indices { record.parts[index].place = place(record.parts[index].place) }
            return record
        }
        creation = creation.map(place)
        for index in entries.indices {
            switch entries[index].content {
            case .dead: break
            case .record(let record): entries[index].content = .record(moved(record))
            case .marker(let key, let wall, let old): entries[index].content = .marker(key: key, wallMilliseconds: wall, place: place(old))
            case .clear(let old): entries[index].content = .clear(place(old))
            }
        }
        if let old = cleared { cleared?.records = old.records.map { ($0.offset, moved($0.record)) } }
        for (upload, staged) in uploads {
            for (number, part) in staged.parts { uploads[upload]?.parts[number]?.place = place(part.place) }
        }
    }
}
