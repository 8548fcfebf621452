/// Asks for what is on a board above an offset.
package struct BoardRead: Equatable, Sendable {
    /// Given back with the answer.
    package var token: UInt64
    package var board: UInt64
    /// Changes up to this offset are known.
    package var above: UInt64
    /// Parts of the first record above it that are known already.
    package var partsKnown: UInt16
    /// Of memory that the answer may take; one item at least.
    package var bytesMax: Int
    /// Removals and clears up to this offset say nothing to the reader: it was given nothing before they stood in the file.
    package var freshThrough: UInt64

    /// - Parameter isFresh: records alone are wanted.
    package init(token: UInt64, board: UInt64, above: UInt64, partsKnown: UInt16 = 0, bytesMax: Int, isFresh: Bool) {
        self.init(token: token, board: board, above: above, partsKnown: partsKnown, bytesMax: bytesMax, freshThrough: isFresh ? .max : 0)
    }

    package init(token: UInt64, board: UInt64, above: UInt64, partsKnown: UInt16 = 0, bytesMax: Int, freshThrough: UInt64) {
        self.token = token
        self.board = board
        self.above = above
        self.partsKnown = partsKnown
        self.bytesMax = bytesMax
        self.freshThrough = freshThrough
    }
}

/// What is on a board, in order of offsets.
package struct BoardBlock: Equatable, Sendable {
    package enum Outcome: Equatable, Sendable {
        case read
        /// The markers for a returning reader are gone, so it may hold removed records: it must begin again. Never for fresh readers.
        case belowFloor
        /// There is no such board.
        case gone
        /// It cannot be read; for the log.
        case failed(String)
    }

    package struct Item: Equatable, Sendable {
        package enum Content: Equatable, Sendable {
            /// A record, or a part of it: `part` of `parts`, from 1.
            case record(BoardPut, part: UInt16, parts: UInt16)
            case removal(key: [UInt8])
            case clear

            fileprivate var byteCount: Int {
                switch self {
                case .record(let put, _, _): put.key.count + (put.customType?.count ?? 0) + put.extensions.count + put.payload.count
                case .removal(let key): key.count
                case .clear: 0
                }
            }
        }

        /// What it takes in memory, besides the bytes of what it has.
        package static let overheadBytes = 320

        package var offset: UInt64
        package var author: [UInt8]
        package var instance: UInt64
        package var wallMilliseconds: UInt64
        package var content: Content

        package init(offset: UInt64, author: [UInt8], instance: UInt64, wallMilliseconds: UInt64, content: Content) {
            self.offset = offset
            self.author = author
            self.instance = instance
            self.wallMilliseconds = wallMilliseconds
            self.content = content
        }
    }

    package var token: UInt64
    package var outcome: Outcome
    package var items: [Item]
    /// Nothing is left out up to this offset: that of the last item if more follows (one less while parts of it do), or
    /// of the newest change in the file.
    package var through: UInt64

    /// That it takes.
    package var memoryBytes: Int { items.reduce(0) { $0 + Item.overheadBytes + $1.author.count + $1.content.byteCount } }

    package init(token: UInt64, outcome: Outcome, items: [Item] = [], through: UInt64 = 0) {
        self.token = token
        self.outcome = outcome
        self.items = items
        self.through = through
    }
}
