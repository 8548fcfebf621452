/// Asks for what was removed by now to leave the folder.
package struct StoreErasure: Equatable, Sendable {
    /// An entry of the journal that says that it is wanted: it goes with what is erased.
    package struct Mark: Equatable, Sendable {
        package var key: [UInt8]
        /// Whose records are meant, too: it stays while the file of a board that has some of them is as it was.
        package var user: [UInt8]?
        /// Only those on this board are meant.
        package var board: UInt64?

        package init(key: [UInt8], user: [UInt8]? = nil, board: UInt64? = nil) {
            self.key = key
            self.user = user
            self.board = board
        }
    }

    /// Given back with the answer.
    package var token: UInt64
    /// Boards whose files may hold drawings that have been removed, and whose. Drawings in parts that these users have begun there up to
    /// this change will not be finished.
    package var boards: [UInt64: [[UInt8]: UInt64]] = [:]
    package var marks: [Mark] = []

    package init(token: UInt64, boards: [UInt64: [[UInt8]: UInt64]] = [:], marks: [Mark] = []) {
        self.token = token
        self.boards = boards
        self.marks = marks
    }
}

package struct StoreErased: Equatable, Sendable {
    package var token: UInt64
    /// Keys of the marks that are done, and gone.
    package var marks: [[UInt8]] = []
    /// Boards whose files are as they were, and why.
    package var boards: [UInt64: String] = [:]
    /// Why nothing is done, if so; for the log.
    package var failure: String?

    package init(token: UInt64, marks: [[UInt8]] = [], boards: [UInt64: String] = [:], failure: String? = nil) {
        self.token = token
        self.marks = marks
        self.boards = boards
        self.failure = failure
    }
}
