// Finds the records of users on a board, so that they can be removed when such a user is forgotten. [AC14]

/// Asks for the records of some users on a board.
package struct BoardRecordsRead: Hashable, Sendable {
    /// Given back with the answer.
    package var token: UInt64
    package var board: UInt64
    package var users: Set<[UInt8]>
    /// Records with a higher offset are not meant.
    package var through: UInt64
    /// Keys that the answer may have.
    package var keysMax: Int

    package init(token: UInt64, board: UInt64, users: Set<[UInt8]>, through: UInt64, keysMax: Int) {
        self.token = token
        self.board = board
        self.users = users
        self.through = through
        self.keysMax = keysMax
    }
}

package struct BoardRecords: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        /// Keys of their records, and of those that an undone `clear` would bring back; and whether the file may hold anything that
        /// they wrote, superseded or not.
        case found(keys: [[UInt8]], isInFile: Bool)
        /// There is no such board.
        case gone
        /// It cannot be read; for the log.
        case failed(String)
    }

    package var token: UInt64
    package var outcome: Outcome
    /// Changes up to this offset are in it, and none above.
    package var head: UInt64

    package init(token: UInt64, outcome: Outcome, head: UInt64 = 0) {
        self.token = token
        self.outcome = outcome
        self.head = head
    }
}

extension BoardStore {
    /// Asks whose records a board has; `takeRecords` has it, at once if the board is loaded.
    package func findRecords(_ read: BoardRecordsRead) {
        guard let board = boards[read.board] else { return records.append(BoardRecords(token: read.token, outcome: .gone)) }
        board.searchers.append(read)
        if board.isLoaded { answerSearchers(board) } else { load(board) }
    }

    func answerSearchers(_ board: Board) {
        guard !board.searchers.isEmpty, case .loaded(let index) = board.content else { return }
        for read in board.searchers {
            let found = index.keys(of: read.users, through: read.through, max: read.keysMax)
            let isInFile = read.users.contains { index.authorNumbers[$0] != nil }
            records.append(BoardRecords(token: read.token, outcome: .found(keys: found, isInFile: isInFile), head: board.summary.head))
        }
        board.searchers = []
    }

    package func takeRecords() -> [BoardRecords] {
        defer { records = [] }
        return records
    }
}

extension BoardIndex {
    /// In order of offsets.
    func keys(of users: Set<[UInt8]>, through: UInt64, max: Int) -> [[UInt8]] {
        let numbers = Set(users.compactMap { authorNumbers[$0] })
        guard !numbers.isEmpty else { return [] }
        var keys: [[UInt8]] = []
        if let cleared {
            for (number, (offset, record)) in cleared.records.enumerated() where offset <= through && numbers.contains(record.author) {
                guard cleared.unchanged[record.key] == number else { continue }
                keys.append(record.key)
                if keys.count >= max { return keys }
            }
        }
        for entry in entries {
            guard entry.offset <= through, keys.count < max else { break }
            if case .record(let record) = entry.content, numbers.contains(record.author) { keys.append(record.key) }
        }
        return keys
    }

    /// Takes away what is nobody's record and would be copied all the same: what a `clear` took away, and parts that wait.
    ///
    /// - Parameter upload: the newest that is meant.
    /// - Returns: whether the newest `clear` cannot be undone any more.
    mutating func purge(_ users: Set<[UInt8]>, uploadsThrough upload: UInt64) -> Bool {
        let numbers = Set(users.compactMap { authorNumbers[$0] })
        for (number, staged) in uploads where number <= upload && staged.author.map(numbers.contains) == true { discard(number) }
        guard let cleared else { return false }
        guard cleared.hasLostMarkers || cleared.records.contains(where: { numbers.contains($0.record.author) }) else { return false }
        expireCleared()
        return true
    }
}
