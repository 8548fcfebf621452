// Loading: a board's file is read in steps, up to where its changes were applied before. What is written meanwhile waits.

extension BoardStore {
    func load(_ board: StoredBoard) {
        guard case .unloaded = board.content else { return }
        board.content = .loading(BoardLoad(end: board.appliedEnd, records: board.summary.records))
        active.insert(board.id)
        loads.append(board.id)
        counters.loads += 1
    }

    /// Those that a reader waits for come first.
    var nextLoad: StoredBoard? {
        let waiting = loads.lazy.compactMap { self.boards[$0] }
        return waiting.first { $0.isAwaited } ?? waiting.first { !$0.pending.isEmpty && $0.trouble == nil }
            ?? waiting.first { $0.pending.isEmpty && $0.trouble == nil }
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
        guard load.offset >= load.end else {
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
        guard load.offset < load.end else { return }
        var bytes = try storage.read(board.file, at: load.offset, count: min(settings.stepBytes, load.end - load.offset))
        guard !bytes.isEmpty else {
            // Shorter than it was: what is not there is damaged.
            load.damage.append((load.damageStart ?? load.offset)..<load.end)
            load.offset = load.end
            load.damageStart = nil
            return
        }
        var position = 0
        if load.offset == 0 {
            let header = bytes.withUnsafeBytes { BoardFile.readHeader($0) }
            if header != .sound(mark: mark, board: board.id) { load.damageStart = 0 }
            position = min(BoardFile.headerBytes, bytes.count)
        }
        while position < bytes.count {
            switch bytes.withUnsafeBytes({ BoardFileRecord.read($0, at: position, mark: mark) }) {
            case .body(let body):
                let decoded = bytes.withUnsafeBytes {
                    BoardChange.decode(UnsafeRawBufferPointer(rebasing: $0[body]), board: board.id, keepsPayload: false)
                }
                guard let decoded else { fallthrough }
                if let start = load.damageStart {
                    load.damage.append(start..<(load.offset + position))
                    load.damageStart = nil
                }
                let place = BoardPlace(start: load.offset + position, count: body.upperBound - position)
                load.index.apply(PlacedChange(change: decoded.change, payloadBytes: decoded.payloadBytes, place: place), settings)
                position = body.upperBound
            case .damaged:
                // The next one is looked for byte by byte.
                load.damageStart = load.damageStart ?? load.offset + position
                position += 1
                if let next = bytes[position...].firstIndex(of: UInt8(mark >> 24)) { position = next } else { position = bytes.count }
            case .longer(let count) where load.offset + position + count <= load.end && load.offset + bytes.count < load.end:
                guard position == 0 else {
                    load.offset += position
                    return
                }
                let more = try storage.read(board.file, at: load.offset, count: count)
                guard more.count == count else { fallthrough }
                bytes = more
            case .longer:
                load.damageStart = load.damageStart ?? load.offset + position
                position += 1
            }
        }
        load.offset += position
        if load.offset >= load.end, let start = load.damageStart {
            load.damage.append(start..<load.end)
            load.damageStart = nil
        }
    }

    private func loaded(_ board: StoredBoard, _ load: BoardLoad) {
        loads.removeAll { $0 == board.id }
        for damage in load.damage { keepAside(board, damage) }
        var index = load.index
        index.settle(board.summary)
        board.content = .loaded(index)
        board.lastUsed = max(board.lastUsed, wall)
        board.isTouched = board.isTouched || !load.damage.isEmpty
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
    private func keepAside(_ board: StoredBoard, _ range: Range<Int>) {
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
            lines.append("\(board.file): \(range.count) bytes from \(range.lowerBound) on are damaged, kept in \(file)")
        } catch {
            board.keepsDamage = true
            lines.append("\(board.file): \(range.count) bytes from \(range.lowerBound) on are damaged, and stay there: \(error)")
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
