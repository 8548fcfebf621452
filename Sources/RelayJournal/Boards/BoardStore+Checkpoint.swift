import RelayPrimitives
import RelayStorage

// Checkpoints: the files are synced, and one batch of the journal says so.

extension BoardStore {
    /// Bytes of changes that a checkpoint would free the journal of.
    var checkpointableBytes: Int {
        let waiting = unsavedBoards.lazy.compactMap { self.boards[$0] }.filter { $0.applied == $0.unsaved.count }
        return waiting.reduce(0) { $0 + $1.unsavedBytes } + dropped.reduce(0) { $0 + $1.unsavedBytes }
    }

    /// Whether a start would read too many records again of boards in no use. Not soon behind another checkpoint: it syncs all files.
    var wouldReadMuchAgain: Bool {
        guard wall >= lastCheckpoint + settings.checkpointPauseMilliseconds else { return false }
        // What waits to be applied is in no file yet.
        let idle = unsavedBoards.lazy.compactMap { self.boards[$0] }.filter { !$0.isInMemory && $0.applied > 0 }
        return idle.reduce(0) { $0 + $1.summary.records } > settings.checkpointRecords
    }

    /// Syncs the files, then frees the journal of what is in them.
    ///
    /// All or nothing: sums of users span boards. So while a board is in trouble, no checkpoint is made.
    ///
    /// - Throws: when a file or the journal fails; everything is as before, then, in the journal.
    package func checkpoint() throws(JournalError) { try checkpoint(replacing: nil) }

    /// - Parameter replacing: a board whose file was compacted; it changes over to the new one when all is durable.
    func checkpoint(replacing compacted: BoardCompaction?) throws(JournalError) {
        doubtNames()
        if let failure { throw failure }
        let dirty = boards.values.filter { $0.isUnsynced || $0.isTouched || $0 === compacted?.board }.inOrder { $0.id < $1.id }
        guard !dirty.isEmpty || !dropped.isEmpty || !touchedUsers.isEmpty else { return }
        for board in dirty where board !== compacted?.board && board.isUnsynced {
            do throws(StorageError) {
                try storage.sync(board.file)
                counters.fsyncs += 1
            } catch {
                fail(board, error, isSync: true)
                throw .storage(error)
            }
        }
        if compacted != nil || dirty.contains(where: \.isNew) {
            do throws(StorageError) {
                try storage.syncFolder()
            } catch {
                ownFolderFailures += 1
                note(.storage(error))
                doubtNames()
                throw .storage(error)
            }
        }
        let checkpoints = dirty.map { board in
            if let compacted, compacted.board === board {
                return BoardCheckpoint(summary: board.summary, generation: compacted.generation, length: compacted.written)
            }
            return BoardCheckpoint(summary: board.summary, generation: board.generation, length: board.appliedEnd)
        }
        do throws(JournalError) {
            try journal.amend(entries(of: checkpoints, dirty))
        } catch {
            note(error)
            throw error
        }
        counters.checkpoints += 1
        lastCheckpoint = wall
        for (board, checkpoint) in zip(dirty, checkpoints) { saved(board, checkpoint) }
        touchedUsers = []
        for board in dropped { removeFiles(board.outdated + [board.file]) }
        dropped = []
    }

    private func entries(of checkpoints: [BoardCheckpoint], _ dirty: [StoredBoard]) -> [JournalEntry] {
        var entries: [JournalEntry] = []
        for (board, checkpoint) in zip(dirty, checkpoints) {
            entries.append(JournalEntry(key: BoardForm.checkpointKey(board.id), value: checkpoint.encoded()))
            entries += board.unsaved.prefix(board.applied).map { JournalEntry(key: $0.key, value: nil) }
        }
        for board in dropped {
            if board.saved != nil { entries.append(JournalEntry(key: BoardForm.checkpointKey(board.id), value: nil)) }
            entries += board.unsaved.map { JournalEntry(key: $0.key, value: nil) }
        }
        for user in touchedUsers.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            entries.append(JournalEntry(key: BoardForm.userKey(user), value: userBytes[user].map(BoardForm.userValue)))
        }
        return entries
    }

    private func saved(_ board: StoredBoard, _ checkpoint: BoardCheckpoint) {
        board.saved = (checkpoint.generation, checkpoint.length)
        board.unsavedBytes -= board.unsaved.prefix(board.applied).reduce(0) { $0 + $1.byteCount }
        board.unsaved.removeFirst(board.applied)
        if board.unsaved.isEmpty {
            unsavedBoards.remove(board.id)
            board.unsaved = []
        }
        board.filed -= board.applied
        board.applied = 0
        board.newSince = nil
        board.isTouched = false
        removeFiles(board.outdated)
        board.outdated = []
    }

    /// Only tidiness: what the journal does not name goes at the next start.
    func removeFiles(_ files: [String]) {
        for file in files {
            guard journal.hold.keeps(file) else {
                try? storage.remove(file)
                continue
            }
            journal.hold.giveUp(file, byteCount: (try? storage.size(of: file)) ?? 0)
        }
    }

    /// Before the journal is closed: at the next start no file has to be read.
    package func close() {
        giveUpCompaction()
        guard failure == nil, journal.failure == nil else { return }
        try? checkpoint()
    }
}
