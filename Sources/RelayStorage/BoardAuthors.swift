/// Asks for the authors of the newest records of keys. [BL10]
package struct BoardAuthorsRead: Equatable, Sendable {
    /// Most keys in one question, and in all questions between two batches: a change waits for at most so many reads.
    package static let keysAtOnceMax = 256

    /// Given back with the answer.
    package var token: UInt64
    package var board: UInt64
    package var keys: [[UInt8]]
    /// A board with so many records or fewer tells of all its keys at once.
    package var keysMax: Int

    package init(token: UInt64, board: UInt64, keys: [[UInt8]], keysMax: Int) {
        self.token = token
        self.board = board
        self.keys = keys
        self.keysMax = keysMax
    }
}

/// Who wrote what is on a board.
package struct BoardAuthors: Equatable, Sendable {
    package enum Outcome: Equatable, Sendable {
        /// Of every key that has a record.
        case all(BoardAuthorTable)
        /// Of the keys that were asked about, in their order; `nil`: it has no record.
        case each([[UInt8]?])
        /// There is no such board.
        case gone
        /// It cannot be read; for the log.
        case failed(String)
    }

    package var token: UInt64
    package var outcome: Outcome
    /// Changes up to this offset are in it, and none above.
    package var through: UInt64

    package init(token: UInt64, outcome: Outcome, through: UInt64 = 0) {
        self.token = token
        self.outcome = outcome
        self.through = through
    }
}

/// The author of each key of a board that has a record: made where the board is, and handed over whole.
package struct BoardAuthorTable: Equatable, Sendable {
    private var authors: [[UInt8]]
    private var numbers: [[UInt8]: Int32]
    /// That it takes. [BL10]
    package private(set) var memoryBytes: Int

    /// Of a key, besides its bytes, and of an author.
    private static let entryBytes = 96

    /// - Parameter records: so many keys will be noted.
    package init(authors: [[UInt8]], records: Int) {
        self.authors = authors
        numbers = [:]
        numbers.reserveCapacity(records)
        memoryBytes = authors.reduce(0) { $0 + $1.count + Self.entryBytes }
    }

    /// - Parameter author: its place among the authors. A key is noted once.
    package mutating func note(_ key: [UInt8], author: Int) {
        numbers[key] = Int32(author)
        memoryBytes += key.count + Self.entryBytes
    }

    package var count: Int { numbers.count }

    /// - Returns: `nil`: the key has no record.
    package subscript(key: [UInt8]) -> [UInt8]? { numbers[key].map { authors[Int($0)] } }
}
