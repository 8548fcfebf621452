import RelayStorage

// Finds the records of users on a board, so that they can be removed when such a user is forgotten. [AC14]

extension BoardStore {
    /// Asks whose records a board has; `takeRecords` has it, at once if the board is loaded.
    package func findRecords(_ read: StoredRecordsRead) {
        guard let board = boards[read.board] else { return records.append(StoredRecords(token: read.token, outcome: .gone)) }
        board.searchers.append(read)
        if board.isLoaded { answerSearchers(board) } else { load(board) }
    }

    func answerSearchers(_ board: StoredBoard) {
        guard !board.searchers.isEmpty, case .loaded(let index) = board.content else { return }
        for read in board.searchers {
            let found = index.records(of: read.users, max: read.recordsMax)
            let users = Set(read.users.keys.filter { index.authorNumbers[$0] != nil })
            records.append(StoredRecords(token: read.token, outcome: .found(found, users: users), head: board.summary.head))
        }
        board.searchers = []
    }

    package func takeRecords() -> [StoredRecords] {
        defer { records = [] }
        return records
    }
}

extension BoardIndex {
    /// What a `clear` took away first, then in order of offsets.
    func records(of users: [[UInt8]: UInt64], max: Int) -> [StoredRecords.Found] {
        var newest: [Int: UInt64] = [:]
        for (user, sequence) in users { if let number = authorNumbers[user] { newest[number] = sequence } }
        var found: [StoredRecords.Found] = []
        guard !newest.isEmpty else { return found }
        func note(_ record: BoardEntries.Entry, _ entries: BoardEntries) {
            guard let newest = newest[record.author], record.sequence <= newest else { return }
            found.append(StoredRecords.Found(key: entries.key(of: record), user: authors[record.author]))
        }
        for entries in [cleared?.entries, entries].compactMap(\.self) {
            for record in entries.records where !record.isChanged {
                guard found.count < max else { return found }
                note(record, entries)
            }
        }
        return found
    }

    /// Takes away what is no record and would be copied all the same: parts of these users that wait, and what no undone `clear`
    /// brings back any more. Records that an undo brings back stay: whoever forgets a user has removed that user's before.
    ///
    /// - Parameter users: each with the newest upload that is meant.
    mutating func purge(_ users: [[UInt8]: UInt64]) {
        for (upload, staged) in uploads {
            if let author = staged.author, let newest = users[authors[author]], upload <= newest { discard(upload) }
        }
        guard cleared != nil else { return }
        // Nothing depends on these markers now.
        cleared!.hasLostMarkers = false
        for index in cleared!.entries.indices where cleared!.entries[index].isChanged && cleared!.entries[index].kind == .record {
            letGo(cleared!.entries[index])
            cleared!.entries.kill(index)
            cleared!.records -= 1
        }
    }
}
