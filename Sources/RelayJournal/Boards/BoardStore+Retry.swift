import RelayPrimitives

// After a failure: what is not in the files comes there from the journal.

extension BoardStore {
    /// Goes on. Call it until it works, when the journal has recovered, and also if only the journal had failed.
    ///
    /// A file that a write has failed on is written on where it was sound. One that a *sync* has failed on is given up: as
    /// far as the last checkpoint says it is copied to a new generation, and what came since is written from the journal.
    ///
    /// - Throws: when it still does not work.
    package func retry() throws(JournalError) {
        if let failure = journal.failure { throw failure }
        doubtNames()
        erasing = nil
        guard failure != nil else { return }
        giveUpCompaction()
        for board in boards.values.filter({ $0.trouble != nil }).inOrder({ $0.id < $1.id }) {
            do throws(JournalError) {
                try mend(board)
            } catch {
                counters.lastError = error.description
                failure = error
                throw error
            }
        }
        failure = nil
        try checkpoint()
    }

    private func mend(_ board: StoredBoard) throws(JournalError) {
        if board.isSuspect {
            try rebuild(board)
        } else {
            // Frees space on a full disk.
            try? storage.truncate(board.file, to: board.written)
        }
        // A piece at a time, as many changes may wait as fit a checkpoint.
        while board.filed < board.unsaved.count {
            let values = try values(of: board, from: board.filed)
            do throws(StorageError) {
                try write(values, to: board)
            } catch {
                if board.written == 0 { board.trouble = .suspect }
                throw .storage(error)
            }
        }
        board.trouble = nil
        if !board.isLoaded, !board.pending.isEmpty || board.isAwaited { load(board) }
    }

    private func values(of board: StoredBoard, from first: Int) throws(JournalError) -> [[UInt8]] {
        var values: [[UInt8]] = []
        var bytes = 0
        for change in board.unsaved[first...] {
            let value = try value(of: change, board)
            values.append(value)
            bytes += value.count
            if bytes >= settings.stepBytes { break }
        }
        return values
    }

    /// The same bytes at the same places, so the index holds.
    private func rebuild(_ board: StoredBoard) throws(JournalError) {
        // The one that the journal names stays until it names another, and so does one that it was told to name and failed.
        board.outdated.append(board.file)
        board.generation = board.nextGeneration()
        board.newSince = folderFailures
        if board.written > 0 {
            do throws(StorageError) { try storage.create(board.file) } catch { throw .storage(error) }
            let kept = min(board.saved?.length ?? 0, board.written)
            try copySaved(board, kept)
            var rest = Pieces(kept == 0 ? BoardFile.header(mark: mark, board: board.id) : [])
            for change in board.unsaved.prefix(board.filed) { BoardFileRecord.append(try value(of: change, board), mark: mark, to: &rest) }
            precondition(kept + rest.count == board.written, "board \(board.id): \(kept + rest.count) bytes, not \(board.written)")
            do throws(StorageError) { try storage.write(rest, to: board.file, at: kept) } catch { throw .storage(error) }
        }
        board.trouble = .behind
    }

    private func copySaved(_ board: StoredBoard, _ count: Int) throws(JournalError) {
        let name = BoardFile.name(board.id, board.saved?.generation ?? 0)
        var position = 0
        while position < count {
            do throws(StorageError) {
                let bytes = try storage.read(name, at: position, count: min(settings.stepBytes, count - position))
                guard !bytes.isEmpty else { throw StorageError(.read, path: name, code: 0, text: "ends at \(position)") }
                try storage.write(bytes, to: board.file, at: position)
                position += bytes.count
            } catch {
                throw .storage(error)
            }
        }
    }

    private func value(of change: StoredBoard.Unsaved, _ board: StoredBoard) throws(JournalError) -> [UInt8] {
        guard let value = try journal.value(of: change.key) else {
            throw .failed("the journal has not the change of board \(board.id) that was written to it")
        }
        return value
    }
}
