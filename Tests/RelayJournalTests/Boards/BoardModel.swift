import RelayJournal
import RelayStorage

/// What must be on boards: the definition of each change, as plainly as it can be put.
struct BoardsModel: Equatable {
    struct Record: Equatable {
        var offset: UInt64
        var author: [UInt8]
        var instance: UInt64
        var wall: UInt64
        var isText: Bool
        var customType: [UInt8]?
        var extensions: [UInt8]
        var parts: [[UInt8]]
        var bytes: Int

        var payload: [UInt8] { Array(parts.joined()) }
    }

    struct Model: Equatable {
        var head: UInt64 = 0
        var live: [[UInt8]: Record] = [:]
        var staged: [UInt64: [UInt16: [UInt8]]] = [:]
        var cleared: Cleared?
        var wall: UInt64 = 0
        var removed = 0

        var bytes: Int { live.values.reduce(0) { $0 + $1.bytes } }
        var inOrder: [(key: [UInt8], record: Record)] { live.map { ($0.key, $0.value) }.sorted { $0.1.offset < $1.1.offset } }
    }

    struct Cleared: Equatable {
        var offset: UInt64
        var wall: UInt64
        var records: [[UInt8]: Record]
        var changed: Set<[UInt8]> = []
    }

    private(set) var boards: [UInt64: Model] = [:]

    mutating func apply(_ record: JournalRecord) {
        for entry in record.entries {
            guard let value = entry.value, let change = StoredChange(key: entry.key, value: value) else { continue }
            apply(change)
        }
    }

    mutating func apply(_ change: StoredChange) {
        if case .drop = change.kind {
            boards[change.board] = nil
            return
        }
        var board = boards[change.board] ?? Model()
        if change.offset > 0 { board.head = change.offset }
        board.wall = change.wallMilliseconds
        switch change.kind {
        case .create, .drop: break
        case .put(let put):
            var parts = [put.payload]
            if let upload = put.upload { parts = (1...put.parts).map { board.staged[upload]?[$0] ?? [] } }
            let bytes = put.key.count + (put.customType?.count ?? 0) + put.extensions.count + parts.reduce(0) { $0 + $1.count } + 64
            board.live[put.key] = Record(
                offset: change.offset, author: change.author, instance: change.instance, wall: change.wallMilliseconds, isText: put.isText,
                customType: put.customType, extensions: put.extensions, parts: parts, bytes: bytes)
            board.cleared?.changed.insert(put.key)
        case .remove(let key):
            board.live[key] = nil
            board.cleared?.changed.insert(key)
            board.removed += 1
        case .part(let upload, let number, let payload): board.staged[upload, default: [:]][number] = payload
        case .clear:
            board.cleared = Cleared(offset: change.offset, wall: change.wallMilliseconds, records: board.live)
            board.live = [:]
        case .undo(_, let count):
            let records = (board.cleared?.records ?? [:]).sorted { $0.value.offset < $1.value.offset }
            for (number, old) in records.enumerated() where board.cleared?.changed.contains(old.key) == false {
                board.live[old.key] = old.value
                board.live[old.key]?.offset = change.offset - count + 1 + UInt64(number)
                board.live[old.key]?.instance = 0
            }
            board.cleared = nil
        }
        boards[change.board] = board
    }

    var userBytes: [[UInt8]: Int] {
        var sums: [[UInt8]: Int] = [:]
        for record in boards.values.flatMap(\.live.values) { sums[record.author, default: 0] += record.bytes }
        return sums
    }
}

/// A client's copy of a board, kept by what it reads.
struct BoardCopy {
    private(set) var above: UInt64 = 0
    private(set) var isFresh = true
    private(set) var records: [[UInt8]: (offset: UInt64, payload: [UInt8])] = [:]
    private var partial: (offset: UInt64, parts: [[UInt8]])?

    func next(_ board: UInt64, bytesMax: Int) -> BoardRead {
        BoardRead(
            token: 7, board: board, above: above, partsKnown: UInt16(partial?.parts.count ?? 0), bytesMax: bytesMax,
            isFresh: isFresh && above == 0)
    }

    mutating func begin() { self = BoardCopy() }

    mutating func take(_ block: BoardBlock) throws(Broken) {
        var last = above
        for item in block.items {
            guard item.offset > last || item.offset == partial?.offset else { throw Broken("offset \(item.offset) after \(last)") }
            if item.offset != partial?.offset { partial = nil }
            switch item.content {
            case .record(let put, let part, let parts):
                var all = partial?.parts ?? []
                guard Int(part) == all.count + 1 else { throw Broken("part \(part) of \(parts) after \(all.count) at \(item.offset)") }
                all.append(put.payload)
                partial = part == parts ? nil : (item.offset, all)
                if part == parts { records[put.key] = (item.offset, Array(all.joined())) }
            case .removal(let key): records[key] = nil
            case .clear: records = [:]
            }
            last = partial == nil ? item.offset : item.offset - 1
        }
        guard block.through >= last, partial == nil || block.through == last else { throw Broken("through \(block.through) after \(last)") }
        above = block.through
        isFresh = isFresh && above == 0
    }
}
