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
        /// Of the change that wrote it.
        var sequence: UInt64
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
        var author: Int?
        /// Of the newest.
        var wallMilliseconds: UInt64 = 0
    }

    /// In order of offsets.
    var entries: [Entry] = []
    var deadEntries = 0
    /// Of a key's live record or marker: its place in the list.
    var byKey: [[UInt8]: Int] = [:]
    /// Offsets of markers, oldest first; of some the key has a record again.
    var markerOffsets: [UInt64] = []
    var firstMarker = 0
    var markers = 0
    var markerFloor: UInt64 = 0
    var clearOffset: UInt64 = 0
    var cleared: Cleared?
    var uploads: [UInt64: Upload] = [:]
    var creation: BoardPlace?

    var authors: [[UInt8]] = []
    var authorNumbers: [[UInt8]: Int] = [:]
    var authorBytes: [Int] = []
    /// Authors whose sum has changed since somebody asked, and by how much.
    var changes: [Int: Int] = [:]

    var records = 0
    var bytes = 0
    /// Of the file, what a compaction would keep.
    var liveFileBytes = 0
    /// Changes of which parts were not there.
    var incompleteRecords = 0

    init() {}

    /// - Parameter records: expected. A table that grows by doubling makes a commit wait while it does.
    init(records: Int) {
        entries.reserveCapacity(records)
        byKey.reserveCapacity(records)
    }

    // MARK: - Sums

    mutating func number(of author: [UInt8]) -> Int {
        if let number = authorNumbers[author] { return number }
        authors.append(author)
        authorBytes.append(0)
        authorNumbers[author] = authors.count - 1
        return authors.count - 1
    }

    mutating func count(_ record: Record, _ sign: Int) {
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

    mutating func sweep() {
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
