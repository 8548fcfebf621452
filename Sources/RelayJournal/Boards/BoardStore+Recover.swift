// Opening: the checkpoints say how far each file counts, the changes in the journal bring back what came since.

/// What a store found.
package struct BoardRecovery: Hashable, Sendable {
    /// In order of their ids.
    package var boards: [BoardSummary] = []
    package var userBytes: [[UInt8]: Int] = [:]
    /// For the log: what an operator should know.
    package var lines: [String] = []

    package init() {}
}

extension BoardStore {
    /// Takes up what is there. Called once, before anything else.
    ///
    /// Only files of boards that have changes in the journal are read: the ones in use when the relay ended badly.
    ///
    /// - Parameters:
    ///   - entries: of the journal, all for which `BoardChange.isBoardEntry` holds, in the order of keys.
    ///   - isDamaged: the journal has lost records. Then files that it does not name are kept aside, and not removed.
    package func recover(entries: [JournalEntry], isDamaged: Bool = false) throws(JournalError) -> BoardRecovery {
        var changes: [UInt64: [JournalEntry]] = [:]
        for entry in entries { try take(entry, &changes) }
        try settleFiles(isDamaged: isDamaged)
        for id in changes.keys.sorted() { try applyAgain(id, changes[id] ?? []) }
        while let board = nextLoad { try loadStep(board) }
        try checkpoint()
        for id in active.sorted() { if let board = boards[id] { unload(board) } }
        var recovery = BoardRecovery()
        recovery.boards = boards.keys.sorted().compactMap { boards[$0]?.summary }
        recovery.userBytes = userBytes
        recovery.lines = takeLines()
        _ = takeReport()
        return recovery
    }

    private func take(_ entry: JournalEntry, _ changes: inout [UInt64: [JournalEntry]]) throws(JournalError) {
        guard let value = entry.value else { return }
        switch entry.key.first {
        case BoardForm.checkpoint:
            guard let checkpoint = BoardCheckpoint(key: entry.key, value: value) else { throw Self.unknown(entry) }
            let board = StoredBoard(id: checkpoint.summary.board, summary: checkpoint.summary, generation: checkpoint.generation)
            board.saved = (checkpoint.generation, checkpoint.length)
            boards[board.id] = board
        case BoardForm.user:
            guard let bytes = BoardForm.userBytes(value) else { throw Self.unknown(entry) }
            userBytes[Array(entry.key.dropFirst())] = bytes
        case BoardForm.change:
            guard let id = BoardChange.board(entry.key), BoardChange(key: entry.key, value: value) != nil else { throw Self.unknown(entry) }
            changes[id, default: []].append(entry)
        default: break
        }
    }

    private static func unknown(_ entry: JournalEntry) -> JournalError {
        .failed("the journal has a board entry that this program does not know: one of another version wrote it (key \(entry.key))")
    }

    // MARK: - Files

    private func settleFiles(isDamaged: Bool) throws(JournalError) {
        do throws(StorageError) {
            var hasChanged = false
            for file in try storage.list().sorted() {
                guard let (id, generation) = BoardFile.parse(file), boards[id]?.generation != generation else { continue }
                boards[id]?.newestGeneration = max(boards[id]?.newestGeneration ?? 0, generation)
                hasChanged = true
                if isDamaged {
                    let aside = BoardFile.quarantine(file, at: 0)
                    try storage.rename(file, to: aside)
                    lines.append("\(file) is of a board that the journal does not know, kept as \(aside)")
                } else {
                    try storage.remove(file)
                }
            }
            if hasChanged { try storage.syncFolder() }
        } catch {
            throw .storage(error)
        }
        let files: Set<String>
        do throws(StorageError) { files = Set(try storage.list()) } catch { throw .storage(error) }
        for id in boards.keys.sorted() { if let board = boards[id] { try settle(board, isThere: files.contains(board.file)) } }
    }

    /// What is behind the checkpoint comes back from the journal.
    private func settle(_ board: StoredBoard, isThere: Bool) throws(JournalError) {
        let length = board.saved?.length ?? 0
        var size = 0
        do throws(StorageError) {
            if isThere { size = try storage.size(of: board.file) }
            if size > length { try storage.truncate(board.file, to: length) }
        } catch {
            throw .storage(error)
        }
        board.written = min(size, length)
        if size < BoardFile.headerBytes {
            lines.append("\(board.file) of board \(String(decoding: board.summary.name, as: UTF8.self)) is missing: its records are lost")
            board.generation = board.nextGeneration()
            board.written = 0
            board.content = .loaded(BoardIndex())
            active.insert(board.id)
        } else if size < length {
            lines.append("\(board.file) ends at \(size), \(length - size) bytes before it should")
        }
        board.appliedEnd = board.written
        guard board.written < length else { return }
        board.saved?.length = board.written
        board.isTouched = true
        // What is lost is found by reading what is left.
        if board.written > 0 { load(board) } else { noteLoss(board) }
    }

    private func noteLoss(_ board: StoredBoard) {
        board.summary.clear = nil
        // A reader that comes back has what is not there: nothing says what of it was removed.
        board.summary.markerFloor = board.summary.head
        board.withIndex { $0.settle(board.summary) }
        noteSums(board)
        do throws(StorageError) {
            try storage.create(board.file)
            let header = BoardFile.header(mark: mark, board: board.id)
            try storage.write(header, to: board.file, at: 0)
            board.newSince = folderFailures
            board.written = header.count
            board.appliedEnd = header.count
        } catch {
            fail(board, error)
        }
    }

    private func applyAgain(_ id: UInt64, _ entries: [JournalEntry]) throws(JournalError) {
        guard boards[id] != nil || Self.isCreation(entries[0]) else {
            lines.append("board \(id) is not known, \(entries.count) changes of it stay in the journal")
            return
        }
        try apply([JournalRecord(sequence: 0, entries: entries)])
        while let board = boards[id], board.isLoading { try loadStep(board) }
        // One after the other: all of them together may not fit the memory.
        if let board = boards[id], board.isLoaded { unload(board) }
    }

    private static func isCreation(_ entry: JournalEntry) -> Bool {
        guard let value = entry.value, let change = BoardChange(key: entry.key, value: value), case .create = change.kind else {
            return false
        }
        return true
    }
}
