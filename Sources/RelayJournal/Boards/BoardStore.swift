import RelayPrimitives
import RelayStorage

/// Whiteboards' drawings: the newest record of each key, durable, a file for each board.
///
/// The journal makes changes durable (`StoredChange.entry`). What it holds is then given to `apply`, which writes it into the
/// boards' files without a sync. A *checkpoint* syncs the files, and says so in the journal in one batch: how far each file
/// counts, what the sums are, and that the changes up to there are not needed any more. So at each moment the state is the
/// files as far as the last checkpoint says, and the changes that are still in the journal, in their order.
///
/// A board's index is in memory only while somebody reads or writes it. What takes long, it does in steps (`step`).
/// Its one owner also owns the journal. Nothing here waits for anything but files.
///
/// When a call throws, the store has failed: nothing durable is lost, what is not in a file is in the journal, and `retry`
/// goes on where it was. What can be read is read meanwhile.
package final class BoardStore {
    let storage: any JournalStorage
    let journal: Journal
    package let settings: BoardSettings

    var boards: [UInt64: StoredBoard] = [:]
    /// Ended, but not by a checkpoint yet.
    var dropped: [StoredBoard] = []
    var userBytes: [[UInt8]: Int] = [:]
    /// Whose sums are not as the last checkpoint says.
    var touchedUsers: Set<[UInt8]> = []
    /// Why a board's file, or the checkpoint, did not work.
    package internal(set) var failure: JournalError?

    var ownFolderFailures = 0

    /// Those that are loaded or being loaded, for the steps.
    var active: Set<UInt64> = []
    /// Those that have changes which only the journal is known to hold.
    var unsavedBoards: Set<UInt64> = []
    /// In the order in which they were asked for.
    var loads: [UInt64] = []
    var compaction: BoardCompaction?
    /// The newest time that is known.
    var wall: UInt64 = 0
    /// When the last checkpoint was made, by `wall`.
    var lastCheckpoint: UInt64 = 0

    var blocks: [BoardBlock] = []
    var authors: [BoardAuthors] = []
    var records: [StoredRecords] = []
    var erasing: BoardErasing?
    var erased: [StoreErased] = []
    var changedBoards: Set<UInt64> = []
    var droppedIDs: [UInt64] = []
    var changedUsers: Set<[UInt8]> = []
    var lines: [String] = []
    package internal(set) var counters = BoardCounters()

    /// Call `recover` before anything else.
    package init(journal: Journal, storage: any JournalStorage, settings: BoardSettings = BoardSettings()) {
        self.journal = journal
        self.storage = storage
        self.settings = settings
    }

    var mark: UInt32 { journal.mark }

    // MARK: - What is known

    /// Boards whose index is in memory, or on its way there.
    package var loadedBoards: Int { active.count }

    /// Bytes of memory of these indexes, and of what remembers changes that only the journal has.
    package var memoryBytes: Int {
        indexBytes + unsavedBoards.reduce(0) { $0 + (boards[$1]?.unsaved.count ?? 0) } * StoredBoard.Unsaved.memoryBytes
    }

    /// Of all boards' files.
    package var fileBytes: Int { boards.values.reduce(0) { $0 + $1.written } }

    /// Bytes of memory of these indexes.
    package var indexBytes: Int {
        active.reduce(0) { sum, id in
            guard let board = boards[id], board.isInMemory else { return sum }
            return switch board.content {
            case .loaded(let index): sum + index.memoryBytes
            case .loading(let load): sum + max(load.index.memoryBytes, BoardIndex.memoryBytes(of: board.summary))
            case .unloaded: sum
            }
        }
    }

    /// Values of changes that only the journal is known to hold.
    package var unsavedBytes: Int {
        unsavedBoards.reduce(0) { $0 + (boards[$1]?.unsavedBytes ?? 0) } + dropped.reduce(0) { $0 + $1.unsavedBytes }
    }

    package func takeBlocks() -> [BoardBlock] {
        defer { blocks = [] }
        return blocks
    }

    /// Lines for the log.
    package func takeLines() -> [String] {
        defer { lines = [] }
        return lines
    }

    package func takeReport() -> BoardReport {
        var report = BoardReport()
        report.boards = changedBoards.inOrder().compactMap { boards[$0]?.told }
        report.dropped = droppedIDs
        for user in changedUsers { report.userBytes[user] = userBytes[user] ?? 0 }
        changedBoards = []
        droppedIDs = []
        changedUsers = []
        return report
    }

    // MARK: - Changes

    /// Takes over what the journal has just made durable: one write for each board, no sync.
    ///
    /// - Throws: when a file did not take it. Other boards' files still have theirs.
    package func apply(_ records: [JournalRecord]) throws(JournalError) {
        var order: [UInt64] = []
        var values: [UInt64: [[UInt8]]] = [:]
        for entry in records.lazy.flatMap(\.entries) {
            guard let id = StoredChange.board(entry.key), let value = entry.value else { continue }
            let board = self.board(id)
            let unsaved = StoredBoard.Unsaved(key: entry.key, byteCount: value.count + StoredBoard.Unsaved.memoryBytes)
            board.unsaved.append(unsaved)
            board.unsavedBytes += unsaved.byteCount
            unsavedBoards.insert(id)
            if values[id] == nil { order.append(id) }
            values[id, default: []].append(value)
        }
        for id in order {
            guard let board = boards[id], board.trouble == nil else { continue }
            do throws(StorageError) {
                try write(values[id] ?? [], to: board)
            } catch {
                fail(board, error)
            }
        }
        if let failure { throw failure }
    }

    private func board(_ id: UInt64) -> StoredBoard {
        if let board = boards[id] { return board }
        let board = StoredBoard(id: id, summary: BoardSummary(board: id, name: []), generation: 1)
        board.content = .loaded(BoardIndex())
        boards[id] = board
        active.insert(id)
        return board
    }

    /// Changes that are not in the file yet come to stand in it, and in the index as soon as there is one.
    func write(_ values: [[UInt8]], to board: StoredBoard) throws(StorageError) {
        var pieces = Pieces(board.written == 0 ? BoardFile.header(mark: mark, board: board.id) : [])
        var places: [BoardPlace] = []
        for value in values {
            let start = board.written + pieces.count
            BoardFileRecord.append(value, mark: mark, to: &pieces)
            places.append(BoardPlace(start: start, count: board.written + pieces.count - start))
        }
        // Thousands of small changes may come together: they are not held as such all at once.
        let placed = values.indices.lazy.map { index in
            let decoded = values[index].withUnsafeBytes { StoredChange.decode($0, board: board.id, keepsPayload: false) }
            guard let decoded else { preconditionFailure("board \(board.id): a change that was made here cannot be read") }
            return PlacedChange(change: decoded.change, payloadBytes: decoded.payloadBytes, place: places[index])
        }
        if board.written == 0 {
            board.newSince = folderFailures
            try storage.create(board.file)
        }
        try storage.write(pieces, to: board.file, at: board.written)
        counters.writes += 1
        board.written += pieces.count
        board.filed += values.count
        board.lastUsed = max(board.lastUsed, wall)
        if board.isLoaded {
            apply(placed, to: board)
        } else {
            board.pending += placed
            load(board)
        }
    }

    /// Needs the index.
    func applyPending(_ board: StoredBoard) {
        guard !board.pending.isEmpty else { return }
        let pending = board.pending
        board.pending = []
        apply(pending, to: board)
    }

    private func apply(_ changes: some Collection<PlacedChange>, to board: StoredBoard) {
        board.withIndex { index in
            for placed in changes {
                board.lastUsed = max(board.lastUsed, placed.change.wallMilliseconds)
                if board.loadedAt == 0 { board.loadedAt = board.lastUsed }
                board.appliedEnd = placed.place.end
                index.apply(placed, settings)
                board.summary.note(placed.change)
                switch placed.change.kind {
                case .clear:
                    board.summary.clear = BoardSummary.Clear(
                        offset: placed.change.offset, wallMilliseconds: placed.change.wallMilliseconds,
                        records: UInt64(index.cleared?.records ?? 0))
                case .undo(let clear, _): if clear == board.summary.clear?.offset { board.summary.clear = nil }
                case .drop: board.isDropped = true
                case .create, .put, .remove, .part: break
                }
            }
        }
        board.applied += changes.count
        noteSums(board)
        if board.isDropped { drop(board) }
    }

    /// The summary says what the index does.
    func noteSums(_ board: StoredBoard) {
        let changes = board.withIndex { index in
            board.summary.records = index.records
            board.summary.bytes = index.bytes
            board.summary.markerFloor = index.markerFloor
            if index.incompleteRecords > 0 {
                lines.append("\(board.file): \(index.incompleteRecords) large records are gone, parts of them are not there")
                index.incompleteRecords = 0
            }
            return index.takeChanges()
        }
        for change in changes { count(change.author, change.bytes) }
        changedBoards.insert(board.id)
    }

    func count(_ user: [UInt8], _ bytes: Int) {
        userBytes[user, default: 0] += bytes
        if userBytes[user, default: 0] <= 0 { userBytes[user] = nil }
        touchedUsers.insert(user)
        changedUsers.insert(user)
    }

    /// The file stays until the journal says that the board has ended.
    private func drop(_ board: StoredBoard) {
        board.withIndex { index in
            for (author, bytes) in zip(index.authors, index.authorBytes) where bytes != 0 { count(author, -bytes) }
        }
        if compaction?.board === board { giveUpCompaction() }
        board.content = .unloaded
        active.remove(board.id)
        loads.removeAll { $0 == board.id }
        turnAway(board, .gone, .gone, .gone)
        boards[board.id] = nil
        unsavedBoards.remove(board.id)
        dropped.append(board)
        changedBoards.remove(board.id)
        droppedIDs.append(board.id)
    }

    // MARK: - Failures

    /// Rises whenever a sync of the folder may have failed, the journal's included: a name that was not durable before may
    /// never be, whatever a later one says.
    var folderFailures: Int { journal.counters.failures + ownFolderFailures }

    /// Names that such a failure may have taken: their files are made anew.
    func doubtNames() {
        let doubtful = boards.values.filter { $0.isNew && $0.newSince != folderFailures }
        for board in doubtful.inOrder({ $0.id < $1.id }) {
            board.trouble = .suspect
            failure = failure ?? .failed("the name of \(board.file) may not be durable")
        }
    }

    func fail(_ board: StoredBoard, _ error: StorageError, isSync: Bool = false) {
        board.trouble = isSync || board.written == 0 || board.isSuspect ? .suspect : .behind
        note(.storage(error))
    }

    func note(_ error: JournalError) {
        failure = failure ?? error
        counters.failures += 1
        counters.lastError = error.description
    }
}
