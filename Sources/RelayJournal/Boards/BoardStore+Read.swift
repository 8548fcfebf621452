import RelayStorage

// Reading: what is on a board above an offset, in blocks.

extension BoardStore {
    /// Asks for a block; `takeBlocks` has it, at once if the board is loaded.
    package func read(_ read: BoardRead) {
        guard let board = boards[read.board] else {
            return blocks.append(BoardBlock(token: read.token, outcome: .gone))
        }
        board.lastUsed = max(board.lastUsed, wall)
        board.readers.append(read)
        if board.isLoaded { answerReaders(board) } else { load(board) }
    }

    func answerReaders(_ board: StoredBoard) {
        while case .loaded(let index) = board.content, let read = board.readers.first {
            do throws(ReadFailure) {
                blocks.append(try answer(read, board, index))
            } catch {
                switch error {
                case .storage(let error): blocks.append(BoardBlock(token: read.token, outcome: .failed(error.description)))
                case .unsound(let start):
                    guard !reload(board) else { return }
                    blocks.append(BoardBlock(token: read.token, outcome: .failed("\(board.file) is damaged at \(start)")))
                }
            }
            board.readers.removeFirst()
        }
    }

    private func answer(_ read: BoardRead, _ board: StoredBoard, _ index: BoardIndex) throws(ReadFailure) -> BoardBlock {
        // Whoever is below a clear is told of it, and has nothing else that could have been removed.
        if max(read.above, read.freshThrough) < index.markerFloor, read.above >= index.clearOffset {
            return BoardBlock(token: read.token, outcome: .belowFloor)
        }
        let (picks, through) = pick(read, board, index)
        let runs = try self.runs(of: picks.flatMap { [$0.place] + ($0.part.map { [$0.place] } ?? []) }, in: board)
        var block = BoardBlock(token: read.token, outcome: .read, through: through)
        block.items.reserveCapacity(picks.count)
        for pick in picks { block.items.append(try item(pick, board, runs)) }
        return block
    }

    /// What an answer has, before it is read.
    private struct Pick {
        var offset: UInt64
        var place: BoardPlace
        var part: BoardIndex.Part?
        var number: UInt16 = 1
        var parts: UInt16 = 1
    }

    private func pick(_ read: BoardRead, _ board: StoredBoard, _ index: BoardIndex) -> ([Pick], through: UInt64) {
        var picks: [Pick] = []
        var left = read.bytesMax
        /// - Returns: whether there is room for it: always, if it is the first.
        func add(_ pick: Pick, _ bytes: Int) -> Bool {
            let bytes = bytes + BoardBlock.Item.overheadBytes
            guard picks.isEmpty || bytes <= left else { return false }
            picks.append(pick)
            left -= bytes
            return true
        }
        for position in index.entries.position(above: read.above)..<index.entries.count {
            let last = picks.last?.offset ?? read.above
            let entry = index.entries[position]
            switch entry.kind {
            case .dead: break
            case .marker, .clear:
                guard entry.offset > read.freshThrough else { break }
                guard add(Pick(offset: entry.offset, place: entry.place), entry.headBytes) else { return (picks, last) }
            case .record where !entry.hasParts:
                let bytes = entry.headBytes + entry.payloadBytes
                guard add(Pick(offset: entry.offset, place: entry.place), bytes) else { return (picks, last) }
            case .record:
                let parts = index.parts(of: entry)
                let known = entry.offset == read.above + 1 ? min(Int(read.partsKnown), parts.count) : 0
                for number in known..<parts.count {
                    let part = parts[number]
                    let pick = Pick(
                        offset: entry.offset, place: entry.place, part: part, number: UInt16(number + 1), parts: UInt16(parts.count))
                    guard add(pick, entry.headBytes + part.payloadBytes) else { return (picks, number == 0 ? last : entry.offset - 1) }
                }
            }
        }
        return (picks, max(board.summary.head, read.above))
    }

    private func item(_ pick: Pick, _ board: StoredBoard, _ runs: [Run]) throws(ReadFailure) -> BoardBlock.Item {
        let change = try self.change(at: pick.place, board, runs)
        let content: BoardBlock.Item.Content
        switch change.kind {
        case .put(let put):
            var item = put
            if let part = pick.part {
                guard case .part(_, _, let bytes) = try self.change(at: part.place, board, runs).kind else {
                    throw .unsound(part.place.start)
                }
                item.payload = bytes
                (item.upload, item.parts) = (nil, 1)
                if pick.number > 1 { item.extensions = [] }
            }
            content = .record(item, part: pick.number, parts: pick.parts)
        case .remove(let key): content = .removal(key: key)
        case .clear: content = .clear
        case .create, .part, .undo, .drop: throw .unsound(pick.place.start)
        }
        return BoardBlock.Item(
            offset: pick.offset, author: change.author, instance: pick.offset == change.offset ? change.instance : 0,
            wallMilliseconds: change.wallMilliseconds, content: content)
    }

    private func change(at place: BoardPlace, _ board: StoredBoard, _ runs: [Run]) throws(ReadFailure) -> StoredChange {
        let body = try body(at: place, runs)
        guard let decoded = body.withUnsafeBytes({ StoredChange.decode($0, board: board.id) }) else { throw .unsound(place.start) }
        return decoded.change
    }

    // MARK: - The file

    enum ReadFailure: Error {
        case storage(StorageError)
        case unsound(Int)
    }

    /// A part of a file that was read at once.
    struct Run {
        var start: Int
        var bytes: [UInt8]
    }

    /// What stands close together is read together.
    func runs(of places: [BoardPlace], in board: StoredBoard) throws(ReadFailure) -> [Run] {
        var ranges: [Range<Int>] = []
        for place in Set(places).sorted(by: { $0.start < $1.start }) {
            if let last = ranges.last, place.start <= last.upperBound + settings.gapBytes, place.end - last.lowerBound <= settings.stepBytes
            {
                ranges[ranges.count - 1] = last.lowerBound..<place.end
            } else {
                ranges.append(place.start..<place.end)
            }
        }
        var runs: [Run] = []
        for range in ranges {
            do throws(StorageError) {
                runs.append(Run(start: range.lowerBound, bytes: try storage.read(board.file, at: range.lowerBound, count: range.count)))
            } catch {
                throw .storage(error)
            }
        }
        return runs
    }

    /// A record's body, if it is as it was written.
    func body(at place: BoardPlace, _ runs: [Run]) throws(ReadFailure) -> ArraySlice<UInt8> {
        var low = 0
        var high = runs.count - 1
        while low < high {
            let middle = (low + high + 1) / 2
            if runs[middle].start <= place.start { low = middle } else { high = middle - 1 }
        }
        let run = runs[low]
        let offset = place.start - run.start
        guard case .body(let body) = run.bytes.withUnsafeBytes({ BoardFileRecord.read($0, at: offset, mark: mark) }),
            body.count + BoardFileRecord.headBytes == place.count
        else { throw .unsound(place.start) }
        return run.bytes[body]
    }
}
