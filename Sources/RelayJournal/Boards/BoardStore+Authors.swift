import RelayStorage

// Who wrote what: answered from the index alone, which names the author of each record.

extension BoardStore {
    /// Asks for the authors of keys; `takeAuthors` has the answer, at once if the board is loaded.
    package func readAuthors(_ read: BoardAuthorsRead) {
        guard let board = boards[read.board] else {
            return authors.append(BoardAuthors(token: read.token, outcome: .gone))
        }
        board.lastUsed = max(board.lastUsed, wall)
        board.askers.append(read)
        if board.isLoaded { answerAskers(board) } else { load(board) }
    }

    func answerAskers(_ board: StoredBoard) {
        guard !board.askers.isEmpty, case .loaded(let index) = board.content else { return }
        for read in board.askers {
            let outcome: BoardAuthors.Outcome =
                index.records <= read.keysMax ? .all(index.authorTable) : .each(read.keys.map { index.author(of: $0) })
            authors.append(BoardAuthors(token: read.token, outcome: outcome, through: board.summary.head))
        }
        board.askers = []
    }

    /// Whoever waits for this board to be loaded is told why it never will be.
    func turnAway(_ board: StoredBoard, _ block: BoardBlock.Outcome, _ author: BoardAuthors.Outcome, _ search: StoredRecords.Outcome) {
        for reader in board.readers { blocks.append(BoardBlock(token: reader.token, outcome: block)) }
        for asker in board.askers { authors.append(BoardAuthors(token: asker.token, outcome: author)) }
        for searcher in board.searchers { records.append(StoredRecords(token: searcher.token, outcome: search)) }
        board.readers = []
        board.askers = []
        board.searchers = []
    }

    package func takeAuthors() -> [BoardAuthors] {
        defer { authors = [] }
        return authors
    }
}

extension BoardIndex {
    var authorTable: BoardAuthorTable {
        var table = BoardAuthorTable(authors: authors, records: records)
        for record in entries.records { table.note(entries.key(of: record), author: record.author) }
        return table
    }

    /// - Returns: `nil`: the key has no record.
    func author(of key: [UInt8]) -> [UInt8]? {
        guard let index = entries[key], entries[index].kind == .record else { return nil }
        return authors[entries[index].author]
    }
}
