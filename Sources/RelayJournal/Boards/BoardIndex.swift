import RelayStorage

/// What is on a board, without the payloads: where each live record stands in the board's file.
///
/// Made by applying the file's changes in their order, and kept by applying new ones. Everything that a reader may be told
/// stands in one list in order of offsets; what is superseded is marked dead in it, and swept out when half of it is.
struct BoardIndex {
    struct Part: Equatable {
        var place: BoardPlace
        var payloadBytes: Int
    }

    /// What the newest `clear` took away, as long as it can be undone.
    struct Cleared {
        var offset: UInt64
        var wallMilliseconds: UInt64
        /// Nothing but records, and what is dead.
        var entries: BoardEntries
        var records: Int
        /// The markers of changed keys are gone: only the file's own changes tell which keys changed.
        var hasLostMarkers = false
    }

    /// Parts that wait for the `put` that names them.
    struct Upload {
        var parts: [UInt16: Part] = [:]
        var author: Int?
        /// Of the newest.
        var wallMilliseconds: UInt64 = 0
    }

    var entries = BoardEntries()
    /// In order, of records whose payload stands in parts, by where such a record stands.
    var parts: [Int: [Part]] = [:]
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
    /// Changes with missing parts.
    var incompleteRecords = 0

    init() {}

    /// - Parameter records: expected.
    init(records: Int) { entries = BoardEntries(keys: records) }

    /// That it takes, but for parts, uploads and authors. [BL7]
    var memoryBytes: Int { entries.memoryBytes + (cleared?.entries.memoryBytes ?? 0) }

    /// About what that of a board will be.
    static func memoryBytes(of summary: BoardSummary) -> Int { (summary.records + Int(clamping: summary.clear?.records ?? 0)) * 80 }

    // MARK: - Sums

    mutating func number(of author: [UInt8]) -> Int {
        if let number = authorNumbers[author] { return number }
        authors.append(author)
        authorBytes.append(0)
        authorNumbers[author] = authors.count - 1
        return authors.count - 1
    }

    mutating func count(_ record: BoardEntries.Entry, _ sign: Int) {
        records += sign
        bytes += sign * record.bytes
        authorBytes[record.author] += sign * record.bytes
        changes[record.author, default: 0] += sign * record.bytes
    }

    mutating func takeChanges() -> [(author: [UInt8], bytes: Int)] {
        defer { changes = [:] }
        return changes.filter { $0.value != 0 }.map { (authors[$0.key], $0.value) }
    }

    /// Nobody will read a record's bytes in the file again.
    mutating func letGo(_ record: BoardEntries.Entry) {
        liveFileBytes -= fileBytes(of: record)
        if record.hasParts { parts[record.place.start] = nil }
    }

    func fileBytes(of record: BoardEntries.Entry) -> Int {
        record.hasParts ? parts(of: record).reduce(record.place.count) { $0 + $1.place.count } : record.place.count
    }

    /// None: its payload stands with it.
    func parts(of record: BoardEntries.Entry) -> [Part] { record.hasParts ? parts[record.place.start] ?? [] : [] }

    /// The file was compacted: everything stands elsewhere.
    mutating func move(_ place: (BoardPlace) -> BoardPlace) {
        func moved(_ old: [Part]) -> [Part] { old.map { Part(place: place($0.place), payloadBytes: $0.payloadBytes) } }
        let oldParts = parts
        parts = [:]
        func move(_ entries: inout BoardEntries, _ parts: inout [Int: [Part]]) {
            for index in entries.indices where entries[index].kind != .dead {
                let old = entries[index].place.start
                entries[index].place = place(entries[index].place)
                if entries[index].hasParts { parts[entries[index].place.start] = moved(oldParts[old] ?? []) }
            }
        }
        creation = creation.map(place)
        move(&entries, &parts)
        if cleared != nil { move(&cleared!.entries, &parts) }
        for (upload, staged) in uploads {
            for (number, part) in staged.parts { uploads[upload]?.parts[number]?.place = place(part.place) }
        }
    }
}
