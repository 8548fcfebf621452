/// Asks for the records of some users on a board.
package struct StoredRecordsRead: Equatable, Sendable {
    /// Given back with the answer.
    package var token: UInt64
    package var board: UInt64
    /// Each with the sequence of the newest change that is meant.
    package var users: [[UInt8]: UInt64]
    /// Records that the answer may have.
    package var recordsMax: Int

    package init(token: UInt64, board: UInt64, users: [[UInt8]: UInt64], recordsMax: Int) {
        self.token = token
        self.board = board
        self.users = users
        self.recordsMax = recordsMax
    }
}

package struct StoredRecords: Equatable, Sendable {
    package enum Outcome: Equatable, Sendable {
        /// Their records, with those that undoing a `clear` would bring back. `users` are those whose bytes may still stand in the
        /// file, also as superseded ones.
        case found([Found], users: Set<[UInt8]>)
        /// There is no such board.
        case gone
        /// It cannot be read; for the log.
        case failed(String)
    }

    package struct Found: Equatable, Sendable {
        package var key: [UInt8]
        package var user: [UInt8]

        package init(key: [UInt8], user: [UInt8]) {
            self.key = key
            self.user = user
        }
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
