/// One change of a board: what the journal makes durable, and what stands in the board's file.
package struct StoredChange: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// The board comes to be. Always its first change; it has no offset.
        case create(name: [UInt8])
        /// The newest record of its key.
        case put(BoardPut)
        /// The record was removed; a marker tells readers that come back.
        case remove(key: [UInt8])
        /// A part of a drawing that is too large for one message: it counts from the `put` that names its upload on, and
        /// is nothing if none does. It has no offset.
        case part(upload: UInt64, number: UInt16, payload: [UInt8])
        /// All records go, and markers with them: this change says as much.
        case clear
        /// The records that `clear` (its offset) took away come back, but for those whose key was changed since. There were
        /// `count` of them: the nth, from 0 in order of their offsets, has the offset `offset - count + 1 + n` now, and is
        /// spared no client object any more.
        case undo(clear: UInt64, count: UInt64)
        /// The board ends, with its file. It has no offset.
        case drop
    }

    /// Names the board for good: ids are never used again.
    package var board: UInt64
    /// Of the journal's record that made it durable (`entry` sets it). It stays when an undo gives the record another offset.
    package var sequence: UInt64 = 0
    /// Rises from change to change of a board, gaps allowed; 0 for a change that has none.
    package var offset: UInt64
    /// The numbering that `offset` belongs to.
    package var epoch: BoardEpoch.ID
    /// Of the newest message of the channel that is not retained, before this change.
    package var lastUnretained: UInt64
    /// Id of the user.
    package var author: [UInt8]
    /// The client object that published it, and its number for it; 0 if nobody may be spared it.
    package var instance: UInt64
    package var number: UInt64
    /// Wall clock of the relay when it was accepted, in milliseconds since 1970.
    package var wallMilliseconds: UInt64
    package var kind: Kind

    package init(
        board: UInt64, offset: UInt64 = 0, epoch: BoardEpoch.ID, lastUnretained: UInt64 = 0, author: [UInt8], instance: UInt64 = 0,
        number: UInt64 = 0, wallMilliseconds: UInt64, kind: Kind
    ) {
        self.board = board
        self.offset = offset
        self.epoch = epoch
        self.lastUnretained = lastUnretained
        self.author = author
        self.instance = instance
        self.number = number
        self.wallMilliseconds = wallMilliseconds
        self.kind = kind
    }
}

/// What a `put` keeps.
package struct BoardPut: Equatable, Sendable {
    /// 1…64 bytes.
    package var key: [UInt8]
    /// The payload is text.
    package var isText: Bool
    package var customType: [UInt8]?
    /// What stood in front of the frame that brought it, in the same form; empty if nothing did.
    package var extensions: [UInt8]
    /// Empty when it stands in parts.
    package var payload: [UInt8]
    /// The parts 1…`parts` of this upload, in order, are its payload.
    package var upload: UInt64?
    package var parts: UInt16

    package init(key: [UInt8], isText: Bool, customType: [UInt8]?, extensions: [UInt8] = [], payload: [UInt8], upload: UInt64? = nil,
        parts: UInt16 = 1
    ) {
        self.key = key
        self.isText = isText
        self.customType = customType
        self.extensions = extensions
        self.payload = payload
        self.upload = upload
        self.parts = parts
    }
}

/// A numbering that a board's offsets were given in, and how far it is durable.
package struct BoardEpoch: Equatable, Sendable {
    package struct ID: Equatable, Sendable {
        package var start: UInt32
        package var incarnation: UInt32

        package init(start: UInt32, incarnation: UInt32) {
            self.start = start
            self.incarnation = incarnation
        }
    }

    package var id: ID
    /// Offset of the newest change in it.
    package var last: UInt64

    package init(id: ID, last: UInt64) {
        self.id = id
        self.last = last
    }
}
