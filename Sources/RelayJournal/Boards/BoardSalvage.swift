import RelayPrimitives
import RelayStorage

// Boards that are saved: of each the file that proves most, and what the journal has besides.

/// What there is of a board.
struct SavedBoard {
    let id: UInt64
    var checkpoint: BoardCheckpoint?
    /// The file that counts; `nil` if the board has none.
    var file: SavedBoardFile?
    /// Changes that no checkpoint covers, in the order of keys.
    var entries: [JournalEntry] = []
    /// It has ended, as one of its files says.
    var isDropped = false

    /// Of the newest change.
    var newest: UInt64 { max(file?.newest ?? 0, entries.last.map { StoredChange.sequence($0.key) } ?? 0) }

    /// How far the file is taken as it stands. What stands behind is merged with the journal's changes.
    ///
    /// A compaction puts changes in the order of offsets: such a file has no end that can be merged.
    var baseEnd: Int {
        guard let file else { return 0 }
        if file.isNamed { return min(checkpoint?.length ?? 0, file.size) }
        return file.generation == 1 && !entries.isEmpty ? 0 : file.size
    }

    var isMerged: Bool { file.map { $0.isNamed || baseEnd == 0 } ?? true }
}

struct SavedBoardFile {
    var name: String
    var generation: UInt32
    var size: Int
    /// The checkpoint is of it.
    var isNamed = false
    var changes = 0
    /// Sequence of the newest change.
    var newest: UInt64 = 0
    /// The board's name, if its creation is whole.
    var channel: [UInt8]?
    var isDropped = false
    /// As far as a checkpoint counts on it.
    var damage: [Range<Int>] = []
}

extension StoredChange {
    /// Of the record that a change's key names.
    static func sequence(_ key: [UInt8]) -> UInt64 { key.withUnsafeBytes { $0.bigEndian(at: 9) } }
}

extension Salvage {
    mutating func findBoards(_ files: [String]) throws(JournalError) {
        var found: [UInt64: SavedBoard] = [:]
        for entry in opening.entries {
            switch entry.key.first {
            case BoardForm.checkpoint:
                guard let value = entry.value, let checkpoint = BoardCheckpoint(key: entry.key, value: value) else { throw .unknown(entry) }
                found[checkpoint.summary.board, default: SavedBoard(id: checkpoint.summary.board)].checkpoint = checkpoint
            case BoardForm.change:
                guard let value = entry.value, let change = StoredChange(key: entry.key, value: value) else { throw .unknown(entry) }
                found[change.board, default: SavedBoard(id: change.board)].entries.append(entry)
            default: break
            }
        }
        var candidates: [UInt64: [SavedBoardFile]] = [:]
        for file in files {
            guard let (id, generation) = BoardFile.parse(file) else { continue }
            candidates[id, default: []].append(try look(into: file, generation, of: id, found[id]?.checkpoint))
        }
        for id in Set(found.keys).union(candidates.keys).inOrder() {
            choose(&found[id, default: SavedBoard(id: id)], of: candidates[id] ?? [])
        }
        boards = found.values.filter { !$0.isDropped && ($0.checkpoint != nil || $0.file != nil || !$0.entries.isEmpty) }
        boards.sort { $0.id < $1.id }
    }

    private func look(into file: String, _ generation: UInt32, of id: UInt64, _ checkpoint: BoardCheckpoint?) throws(JournalError)
        -> SavedBoardFile
    {
        var found = SavedBoardFile(name: file, generation: generation, size: try size(of: file))
        found.isNamed = checkpoint?.generation == generation
        let covered = found.isNamed ? checkpoint?.length ?? 0 : found.size
        for range in [0..<min(covered, found.size), min(covered, found.size)..<found.size] {
            var reader = BoardFileReader(
                file: file, board: id, mark: found.isNamed ? opening.mark : nil, from: range.lowerBound, to: range.upperBound)
            while !reader.isAtEnd {
                for placed in try step(&reader).changes {
                    found.changes += 1
                    found.newest = max(found.newest, placed.change.sequence)
                    switch placed.change.kind {
                    case .create(let name): found.channel = name
                    case .drop: found.isDropped = true
                    case .put, .remove, .part, .clear, .undo: break
                    }
                }
            }
            // Behind the checkpoint nothing was synced, and the journal has it.
            if range.lowerBound < covered { found.damage = reader.damage }
        }
        if found.size < covered { found.damage.append(found.size..<covered) }
        return found
    }

    private func step(_ reader: inout BoardFileReader) throws(JournalError) -> BoardFileReader.Piece {
        do throws(StorageError) {
            return try reader.step(storage, bytesMax: BoardSettings().stepBytes)
        } catch {
            throw .storage(error)
        }
    }

    /// The file that proves most, or the one that the journal names.
    private mutating func choose(_ board: inout SavedBoard, of files: [SavedBoardFile]) {
        func rank(_ file: SavedBoardFile) -> (UInt64, Int, Int) { (file.newest, file.isNamed ? 1 : 0, file.changes) }
        let named = files.first(where: \.isNamed)
        // A whole journal names what counts, and has the rest itself.
        let isKnown = isJournalWhole && (named?.damage.isEmpty ?? (board.checkpoint == nil))
        board.file = isKnown ? named : files.filter { $0.changes > 0 }.max { rank($0) < rank($1) }
        let isDroppedInJournal = board.entries.contains { entry in
            if case .drop? = StoredChange(key: entry.key, value: entry.value ?? [])?.kind { true } else { false }
        }
        board.isDropped = isDroppedInJournal || files.contains(where: \.isDropped)
        for file in files {
            var finding = FolderFinding(.board, file.name, .unused, bytes: file.size)
            if file.isNamed {
                finding.state = file.damage.isEmpty ? .whole : .damaged
            } else if file.name == board.file?.name, !board.isDropped {
                finding.state = .unnamed
            }
            finding.changes = file.changes
            finding.damage = file.damage
            finding.channel = (board.checkpoint?.summary.name ?? file.channel).map { String(decoding: $0, as: UTF8.self) }
            add(finding)
        }
        guard let checkpoint = board.checkpoint, named == nil else { return }
        var finding = FolderFinding(.board, BoardFile.name(board.id, checkpoint.generation), .missing)
        finding.channel = String(decoding: checkpoint.summary.name, as: UTF8.self)
        add(finding)
    }

    // MARK: - Writing

    /// - Parameter lines: what was left out.
    func write(boardsTo store: BoardStore, lines: inout [String]) throws(JournalError) -> [BoardSummary] {
        var names: Set<[UInt8]> = []
        // Those that the journal names, then the newest of a name first: ids rise.
        let order = boards.filter { $0.checkpoint != nil } + boards.filter { $0.checkpoint == nil }.reversed()
        for board in order {
            let name = name(of: board)
            guard names.insert(name).inserted else {
                lines.append("board \(board.id) is left out: another one has its name, \(String(decoding: name, as: UTF8.self))")
                continue
            }
            try store.restore(board, name: name, isWhole: isJournalWhole, from: storage, mark: opening.mark)
        }
        lines += store.takeLines()
        return store.boards.keys.inOrder().compactMap { store.boards[$0]?.summary }
    }

    private func name(of board: SavedBoard) -> [UInt8] {
        if let name = board.checkpoint?.summary.name ?? board.file?.channel { return name }
        for entry in board.entries {
            if let change = StoredChange(key: entry.key, value: entry.value ?? []), case .create(let name) = change.kind { return name }
        }
        return Array("saved-\(board.id)".utf8)
    }
}

extension BoardStore {
    /// Makes a board of what was saved of it; a checkpoint keeps it.
    ///
    /// - Parameter isWhole: nothing of the journal was lost.
    func restore(_ saved: SavedBoard, name: [UInt8], isWhole: Bool, from source: some JournalStorage, mark: UInt32?) throws(JournalError) {
        let board = StoredBoard(id: saved.id, summary: BoardSummary(board: saved.id, name: name), generation: 1)
        board.content = .loaded(BoardIndex())
        boards[saved.id] = board
        active.insert(saved.id)
        do throws(StorageError) {
            let creation = StoredChange(
                board: saved.id, epoch: BoardEpoch.ID(start: 0, incarnation: 0), author: [], wallMilliseconds: 0, kind: .create(name: name))
            try write([creation.encoded()], to: board)
            var reader = saved.file.map {
                BoardFileReader(file: $0.name, board: saved.id, mark: $0.isNamed ? mark : nil, to: saved.baseEnd)
            }
            while reader?.isAtEnd == false {
                guard let piece = try reader?.step(source, bytesMax: settings.stepBytes), !piece.changes.isEmpty else { continue }
                try write(piece.changes.map(piece.body), to: board)
            }
            if let checkpoint = saved.checkpoint, saved.file?.isNamed != false {
                board.summary = checkpoint.summary
                board.withIndex { index in
                    if index.cleared == nil { board.summary.clear = nil }
                    index.settle(board.summary)
                }
            }
            let rest = try merged(saved, from: source, mark: mark)
            if !rest.isEmpty { try write(rest, to: board) }
        } catch {
            throw .storage(error)
        }
        // All of it is for the checkpoint, and nothing in the journal.
        (board.filed, board.applied) = (0, 0)
        guard !board.isDropped else { return }
        if !isWhole || saved.file.map({ !$0.isNamed || !$0.damage.isEmpty }) ?? (saved.checkpoint != nil) {
            // A reader that comes back may have what is not there: it begins anew.
            board.summary.markerFloor = board.summary.head
            board.withIndex { $0.settle(board.summary) }
        }
        noteSums(board)
        unload(board)
    }

    /// What stands behind the base, and in the journal: of each sequence where there is more of it.
    private func merged(_ saved: SavedBoard, from source: some JournalStorage, mark: UInt32?) throws(StorageError) -> [[UInt8]] {
        guard saved.isMerged else {
            return saved.entries.filter { StoredChange.sequence($0.key) > saved.file?.newest ?? 0 }.compactMap(\.value)
        }
        var bySequence: [UInt64: [[UInt8]]] = [:]
        for entry in saved.entries { bySequence[StoredChange.sequence(entry.key), default: []].append(entry.value ?? []) }
        if let file = saved.file {
            var inFile: [UInt64: [[UInt8]]] = [:]
            var reader = BoardFileReader(
                file: file.name, board: saved.id, mark: file.isNamed ? mark : nil, from: saved.baseEnd, to: file.size)
            while !reader.isAtEnd {
                let piece = try reader.step(source, bytesMax: settings.stepBytes)
                for placed in piece.changes { inFile[placed.change.sequence, default: []].append(piece.body(of: placed)) }
            }
            bySequence.merge(inFile) { $0.count >= $1.count ? $0 : $1 }
        }
        return bySequence.keys.inOrder().flatMap { bySequence[$0] ?? [] }
    }
}
