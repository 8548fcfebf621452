import RelayStorage

// Loading: a board's file is read in steps, up to where its changes were applied before. What is written meanwhile waits.

extension BoardStore {
    func load(_ board: StoredBoard) {
        guard case .unloaded = board.content else { return }
        board.content = .loading(BoardLoad(board, mark: mark))
        active.insert(board.id)
        loads.append(board.id)
        counters.loads += 1
    }

    /// Those that a reader waits for come first, of those that the memory has room for.
    var nextLoad: StoredBoard? {
        let used = indexBytes
        let waiting = loads.lazy.compactMap { self.boards[$0] }.filter { self.hasRoom(for: $0, beside: used) }
        return waiting.first { $0.isAwaited } ?? waiting.first { !$0.pending.isEmpty && $0.trouble == nil }
            ?? waiting.first { $0.pending.isEmpty && $0.trouble == nil }
    }

    /// Whether its index may be made, or made on. One board may be larger than all may be.
    ///
    /// - Parameter used: memory of all indexes.
    private func hasRoom(for board: StoredBoard, beside used: Int) -> Bool {
        board.isInMemory || used == 0 || used + BoardIndex.memoryBytes(of: board.summary) <= settings.indexBytesMax
    }

    /// The board that was used longest ago leaves the memory, if others want it.
    ///
    /// - Returns: whether one did.
    func makeRoom() -> Bool {
        let used = indexBytes
        guard used > settings.indexBytesMax || loads.contains(where: { boards[$0].map { !hasRoom(for: $0, beside: used) } ?? false }),
            active.count > 1, let board = leastUsed
        else { return false }
        unload(board)
        return true
    }

    /// Of those that may leave the memory for others.
    private var leastUsed: StoredBoard? {
        active.lazy.compactMap { self.boards[$0] }
            .filter {
                $0.isLoaded && $0.trouble == nil && $0.id != self.erasing?.boards.last
                    && $0.loadedAt + self.settings.stayMilliseconds <= self.wall
            }
            .min { ($0.lastUsed, $0.id) < ($1.lastUsed, $1.id) }
    }

    /// Reads one piece of a file.
    ///
    /// - Throws: when changes wait and the file cannot be read: until it can they are not in the sums.
    func loadStep(_ board: StoredBoard) throws(JournalError) {
        guard case .loading(var load) = board.content else { return }
        board.content = .unloaded  // so that there is one index only
        do throws(StorageError) {
            try readStep(board, &load)
        } catch {
            stopLoading(board)
            turnAway(board, .failed(error.description), .failed(error.description), .failed(error.description))
            guard !board.pending.isEmpty else { return }
            board.trouble = board.trouble ?? .behind
            note(.storage(error))
            throw .storage(error)
        }
        guard load.reader.isAtEnd else {
            board.content = .loading(load)
            return
        }
        loaded(board, load)
    }

    private func stopLoading(_ board: StoredBoard) {
        board.content = .unloaded
        active.remove(board.id)
        loads.removeAll { $0 == board.id }
    }

    private func readStep(_ board: StoredBoard, _ load: inout BoardLoad) throws(StorageError) {
        // The file holds at most as many records as fit into it, whatever the summary says.
        if !load.hasBegun { load.index = BoardIndex(records: min(board.summary.records, load.reader.end / BoardFileRecord.headBytes)) }
        for placed in try load.reader.step(storage, bytesMax: settings.stepBytes).changes { load.index.apply(placed, settings) }
    }

    private func loaded(_ board: StoredBoard, _ load: BoardLoad) {
        loads.removeAll { $0 == board.id }
        for damage in load.reader.damage { keepAside(board, damage) }
        var index = load.index
        index.settle(board.summary)
        board.content = .loaded(index)
        board.lastUsed = max(board.lastUsed, wall)
        board.loadedAt = wall
        board.isTouched = board.isTouched || !load.reader.damage.isEmpty
        if index.records != board.summary.records || index.bytes != board.summary.bytes {
            lines.append(
                "\(board.file): \(index.records) records of \(index.bytes) bytes are there, \(board.summary.records) of \(board.summary.bytes) were"
            )
            board.isTouched = true
        }
        if let former = board.formerSums {
            let sums = Dictionary(uniqueKeysWithValues: zip(index.authors, index.authorBytes))
            for (author, bytes) in former { count(author, (sums[author] ?? 0) - bytes) }
            board.formerSums = nil
        }
        noteSums(board)
        applyPending(board)
        answerAskers(board)
        answerSearchers(board)
        answerReaders(board)
    }

    /// A record that was sound is not: the file is read once more, and what is damaged is found.
    ///
    /// - Returns: `false` when that was done and did not help.
    func reload(_ board: StoredBoard) -> Bool {
        guard case .loaded(let index) = board.content, board.reloads < 2 else { return false }
        if compaction?.board === board { giveUpCompaction() }
        board.reloads += 1
        board.formerSums = Dictionary(uniqueKeysWithValues: zip(index.authors, index.authorBytes))
        board.content = .unloaded
        load(board)
        return true
    }

    /// Under its name is all of it, or nothing.
    func keepAside(_ board: StoredBoard, _ range: Range<Int>, because reason: String = "are damaged") {
        let file = BoardFile.quarantine(board.file, at: range.lowerBound)
        do throws(StorageError) {
            if !(try storage.list().contains(file)) {
                let bytes = try storage.read(board.file, at: range.lowerBound, count: range.count)
                let draft = JournalFile.draft(file)
                try? storage.remove(draft)
                try storage.create(draft)
                try storage.write(bytes, to: draft, at: 0)
                try storage.sync(draft)
                try storage.rename(draft, to: file)
                do throws(StorageError) {
                    try storage.syncFolder()
                } catch {
                    ownFolderFailures += 1
                    throw error
                }
            }
            lines.append("\(board.file): \(range.count) bytes from \(range.lowerBound) on \(reason), kept in \(file)")
        } catch {
            board.keepsDamage = true
            lines.append("\(board.file): \(range.count) bytes from \(range.lowerBound) on \(reason), and stay there: \(error)")
        }
    }

    /// Nobody has used it for a while.
    func unload(_ board: StoredBoard) {
        if compaction?.board === board { giveUpCompaction() }
        board.content = .unloaded
        board.reloads = 0
        active.remove(board.id)
        loads.removeAll { $0 == board.id }
        counters.unloads += 1
    }
}
