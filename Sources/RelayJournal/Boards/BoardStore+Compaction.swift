import RelayPrimitives
import RelayStorage

// Compaction: a file that is mostly dead is copied to its next generation, without what is dead.
//
// What the index held at the beginning is copied so that reading it makes the same index: what can be undone, the clear,
// the rest in order of offsets, parts that wait. Changes that come meanwhile follow as they stand. A checkpoint changes
// over; until it is durable, the old file is the one that counts.

/// A file on its way to the next generation.
final class BoardCompaction {
    /// A record to copy.
    struct Item {
        var place: BoardPlace
        /// That it has now; an undo has changed it without writing it.
        var offset: UInt64?
    }

    let board: StoredBoard
    let generation: UInt32
    /// Of the old file, when it began: what stands behind it came later.
    let end: Int
    var items: [Item]
    var next = 0
    /// Of the old file, behind `end`, copied so far.
    var copiedEnd: Int
    /// Of the new file.
    var written: Int
    /// Where the copies of later changes begin.
    var laterStart = 0
    /// From the old to the new place, by where it begins.
    var moved: [Int: BoardPlace] = [:]
    /// When it was begun (`BoardStore.folderFailures`).
    var folderFailures = 0
    /// The journal was told to name it, and may do so whatever it said.
    var isTold = false

    init(board: StoredBoard, generation: UInt32, items: [Item]) {
        self.board = board
        self.generation = generation
        self.items = items
        end = board.written
        copiedEnd = board.written
        written = 0
    }

    var file: String { BoardFile.name(board.id, generation) }

    func place(_ old: BoardPlace) -> BoardPlace {
        if old.start >= end { return BoardPlace(start: old.start - end + laterStart, count: old.count) }
        guard let place = moved[old.start] else { preconditionFailure("board \(board.id): \(old) was not copied") }
        return place
    }
}

extension BoardStore {
    /// One that is worth it, and can be.
    private var nextCompaction: StoredBoard? {
        for id in active.inOrder() {
            guard let board = boards[id], board.trouble == nil, board.pending.isEmpty, board.applied == board.unsaved.count,
                !board.keepsDamage,
                wall >= board.compactionResumesAt, case .loaded(let index) = board.content, index.cleared?.hasLostMarkers != true
            else { continue }
            let dead = board.written - BoardFile.headerBytes - index.liveFileBytes
            if dead > settings.compactionBytes, dead > board.written / 2 { return board }
        }
        return nil
    }

    /// - Returns: whether there was anything to do.
    func compactionStep() throws(JournalError) -> Bool {
        if compaction == nil {
            guard let board = nextCompaction else { return false }
            compaction = begin(board)
        }
        guard let compaction else { return false }
        // Its name may be gone for good.
        guard compaction.written == 0 || compaction.folderFailures == folderFailures else {
            giveUpCompaction()
            return true
        }
        do throws(ReadFailure) {
            if compaction.written == 0 {
                try beginFile(compaction)
            } else if compaction.next < compaction.items.count {
                try copyItems(compaction)
            } else if try copyLater(compaction) {
                try finish(compaction)
            }
        } catch {
            giveUpCompaction()
            compaction.board.compactionResumesAt = wall + settings.compactionPauseMilliseconds
            switch error {
            case .storage(let error): lines.append("no compaction of \(compaction.board.file): \(error)")
            case .unsound(let start):
                if !reload(compaction.board) { lines.append("no compaction of \(compaction.board.file): it is damaged at \(start)") }
            }
        }
        // Of a checkpoint: it has failed, and not the compaction.
        if let failure { throw failure }
        return true
    }

    func begin(_ board: StoredBoard) -> BoardCompaction {
        guard case .loaded(let index) = board.content else { preconditionFailure("board \(board.id): not loaded") }
        var items: [BoardCompaction.Item] = []
        if let creation = index.creation { items.append(BoardCompaction.Item(place: creation)) }
        for entries in [index.cleared?.entries, index.entries].compactMap(\.self) {
            for entry in entries.all where entry.kind != .dead {
                for part in index.parts(of: entry) { items.append(BoardCompaction.Item(place: part.place)) }
                items.append(BoardCompaction.Item(place: entry.place, offset: entry.kind == .record ? entry.offset : nil))
            }
        }
        for upload in index.uploads.keys.inOrder() {
            let parts = index.uploads[upload]?.parts ?? [:]
            for number in parts.keys.inOrder() { items.append(BoardCompaction.Item(place: parts[number]!.place)) }
        }
        return BoardCompaction(board: board, generation: board.nextGeneration(), items: items)
    }

    private func beginFile(_ compaction: BoardCompaction) throws(ReadFailure) {
        let header = BoardFile.header(mark: mark, board: compaction.board.id)
        compaction.folderFailures = folderFailures
        do throws(StorageError) {
            try storage.create(compaction.file)
            try storage.write(header, to: compaction.file, at: 0)
        } catch {
            throw .storage(error)
        }
        compaction.written = header.count
        compaction.laterStart = header.count
    }

    private func copyItems(_ compaction: BoardCompaction) throws(ReadFailure) {
        var items: [BoardCompaction.Item] = []
        var count = 0
        while compaction.next + items.count < compaction.items.count {
            let item = compaction.items[compaction.next + items.count]
            guard items.isEmpty || count + item.place.count <= settings.stepBytes else { break }
            items.append(item)
            count += item.place.count
        }
        let runs = try runs(of: items.map(\.place), in: compaction.board)
        var pieces = Pieces()
        for item in items {
            var body = Array(try body(at: item.place, runs))
            let stored: UInt64 = body.withUnsafeBytes { $0.bigEndian(at: BoardForm.offsetPosition) }
            if let offset = item.offset, offset != stored {
                body.replace(at: BoardForm.offsetPosition, bigEndian: offset)
                body.replace(at: BoardForm.instancePosition, bigEndian: UInt64(0))
            }
            compaction.moved[item.place.start] = BoardPlace(start: compaction.written + pieces.count, count: item.place.count)
            BoardFileRecord.append(body, mark: mark, to: &pieces)
        }
        try write(pieces, compaction)
        compaction.next += items.count
        compaction.laterStart = compaction.written
    }

    /// - Returns: whether that was all.
    private func copyLater(_ compaction: BoardCompaction) throws(ReadFailure) -> Bool {
        let board = compaction.board
        let count = min(board.written - compaction.copiedEnd, settings.stepBytes)
        if count > 0 {
            let bytes: [UInt8]
            do throws(StorageError) {
                bytes = try storage.read(board.file, at: compaction.copiedEnd, count: count)
            } catch {
                throw .storage(error)
            }
            guard bytes.count == count else { throw .unsound(compaction.copiedEnd + bytes.count) }
            try write(Pieces(bytes), compaction)
            compaction.copiedEnd += count
        }
        return compaction.copiedEnd == board.written
    }

    private func write(_ pieces: Pieces, _ compaction: BoardCompaction) throws(ReadFailure) {
        do throws(StorageError) {
            try storage.write(pieces, to: compaction.file, at: compaction.written)
        } catch {
            throw .storage(error)
        }
        compaction.written += pieces.count
    }

    private func finish(_ compaction: BoardCompaction) throws(ReadFailure) {
        let board = compaction.board
        do throws(StorageError) {
            try storage.sync(compaction.file)
            counters.fsyncs += 1
        } catch {
            throw .storage(error)
        }
        compaction.isTold = true
        do throws(JournalError) {
            try checkpoint(replacing: compaction)
        } catch {
            return giveUpCompaction()
        }
        let old = board.file
        board.generation = compaction.generation
        board.written = compaction.written
        board.appliedEnd = compaction.written
        board.withIndex { $0.move(compaction.place) }
        self.compaction = nil
        counters.compactions += 1
        changedBoards.insert(board.id)
        removeFiles([old])
    }

    func giveUpCompaction() {
        guard let compaction else { return }
        self.compaction = nil
        if compaction.isTold {
            compaction.board.outdated.append(compaction.file)
        } else if compaction.written > 0 {
            removeFiles([compaction.file])
        }
    }
}
