import RelayPrimitives
import RelayStorage

// Opening: the checkpoints say how far each file counts, the changes in the journal bring back what came since.

/// What a store found.
package struct BoardRecovery: Equatable, Sendable {
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
    ///   - entries: of the journal, all for which `StoredChange.isBoardEntry` holds, in the order of keys.
    ///   - isWhole: the journal has lost nothing. Else what it does not name, or replace, is kept aside, and not removed.
    package func recover(entries: [JournalEntry], isWhole: Bool = true) throws(JournalError) -> BoardRecovery {
        var changes: [UInt64: [JournalEntry]] = [:]
        for entry in entries { try take(entry, &changes) }
        try settleFiles(isWhole: isWhole)
        for id in changes.keys.inOrder() { try applyAgain(id, changes[id] ?? []) }
        while let board = loads.first.flatMap({ boards[$0] }) { try loadWhole(board) }
        try checkpoint()
        for id in active.inOrder() { if let board = boards[id] { unload(board) } }
        var recovery = BoardRecovery()
        recovery.boards = boards.keys.inOrder().compactMap { boards[$0]?.told }
        recovery.userBytes = userBytes
        recovery.lines = takeLines()
        _ = takeReport()
        return recovery
    }

    private func take(_ entry: JournalEntry, _ changes: inout [UInt64: [JournalEntry]]) throws(JournalError) {
        guard let value = entry.value else { return }
        switch entry.key.first {
        case BoardForm.checkpoint:
            guard let checkpoint = BoardCheckpoint(key: entry.key, value: value) else { throw .unknown(entry) }
            let board = StoredBoard(id: checkpoint.summary.board, summary: checkpoint.summary, generation: checkpoint.generation)
            board.saved = (checkpoint.generation, checkpoint.length)
            boards[board.id] = board
        case BoardForm.user:
            guard let bytes = BoardForm.userBytes(value) else { throw .unknown(entry) }
            userBytes[Array(entry.key.dropFirst())] = bytes
        case BoardForm.change:
            guard let id = StoredChange.board(entry.key), StoredChange(key: entry.key, value: value) != nil else { throw .unknown(entry) }
            changes[id, default: []].append(entry)
        default: break
        }
    }

    // MARK: - Files

    private func settleFiles(isWhole: Bool) throws(JournalError) {
        do throws(StorageError) {
            var sizes: [String: Int] = [:]
            for file in try storage.list() where BoardFile.parse(file) != nil { sizes[file] = try storage.size(of: file) }
            var hasChanged = false
            for file in sizes.keys.inOrder() {
                guard let (id, generation) = BoardFile.parse(file), boards[id]?.generation != generation else { continue }
                boards[id]?.newestGeneration = max(boards[id]?.newestGeneration ?? 0, generation)
                hasChanged = true
                let isReplaced = boards[id].map { sizes[$0.file] ?? 0 >= $0.saved?.length ?? 0 } ?? true
                if isWhole, isReplaced, try isOurs(file) {
                    try storage.remove(file)
                } else {
                    let aside = BoardFile.quarantine(file, at: 0)
                    try storage.rename(file, to: aside)
                    lines.append("\(file) is of a board that the journal does not know, kept as \(aside)")
                }
            }
            if hasChanged { try storage.syncFolder() }
            for id in boards.keys.inOrder() {
                guard let board = boards[id] else { continue }
                settle(board, size: try cut(board, size: sizes[board.file] ?? 0, isWhole: isWhole))
            }
        } catch {
            throw .storage(error)
        }
    }

    /// Whether a file was made under this journal, or never came to say under which.
    private func isOurs(_ file: String) throws(StorageError) -> Bool {
        let bytes = try storage.read(file, at: 0, count: BoardFile.headerBytes)
        guard case .sound(let found, _) = bytes.withUnsafeBytes({ BoardFile.readHeader($0) }) else { return true }
        return found == mark
    }

    /// What is behind the checkpoint comes back from the journal, if that has lost nothing.
    private func cut(_ board: StoredBoard, size: Int, isWhole: Bool) throws(StorageError) -> Int {
        let length = board.saved?.length ?? 0
        guard size > length else { return size }
        if !isWhole { keepAside(board, length..<size, because: "may be missing in the journal") }
        try storage.truncate(board.file, to: length)
        return size
    }

    private func settle(_ board: StoredBoard, size: Int) {
        let length = board.saved?.length ?? 0
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
        if let board = boards[id] { try loadWhole(board) }
    }

    /// One after the other: all of them together may not fit the memory.
    private func loadWhole(_ board: StoredBoard) throws(JournalError) {
        while board.isLoading { try loadStep(board) }
        if board.isLoaded { unload(board) }
    }

    private static func isCreation(_ entry: JournalEntry) -> Bool {
        guard let value = entry.value, let change = StoredChange(key: entry.key, value: value), case .create = change.kind else {
            return false
        }
        return true
    }
}

extension JournalError {
    static func unknown(_ entry: JournalEntry) -> JournalError {
        .failed("the journal has a board entry that this program does not know: one of another version wrote it (key \(entry.key))")
    }
}
