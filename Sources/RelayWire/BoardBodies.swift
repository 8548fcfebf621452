// Bodies about boards: what a message channel keeps for good. [BL1–BL9]

/// Answer to `clear` and `undoClear`. [BL6]
package struct ClearAnswer: Codable, Equatable {
    package var id: UInt32
    /// Of the change.
    package var offset: UInt64
    /// Records that the `clear` took away, however many come back.
    package var records: UInt64

    package init(id: UInt32, offset: UInt64, records: UInt64) {
        self.id = id
        self.offset = offset
        self.records = records
    }
}

/// Body of `cleared`: the board is empty from this offset on. [BL6]
package struct Cleared: Codable, Equatable {
    /// Handle.
    package var channel: UInt32
    package var offset: UInt64
    /// Id of the user who cleared it.
    package var user: Name
    /// Wall clock of the relay, in milliseconds since 1970.
    package var time: UInt64

    package init(channel: UInt32, offset: UInt64, user: Name, time: UInt64) {
        self.channel = channel
        self.offset = offset
        self.user = user
        self.time = time
    }
}

/// Body of `reset`: what the reader holds of the channel is void. [BL4]
package struct ChannelReset: Codable, Equatable {
    /// Handle.
    package var channel: UInt32
    package var epoch: Epoch
    package var head: UInt64

    package init(channel: UInt32, epoch: Epoch, head: UInt64) {
        self.channel = channel
        self.epoch = epoch
        self.head = head
    }
}

/// Body of `notStored`: a publish that was accepted is not kept, and will not be. [BL2]
package struct NotStored: Codable, Equatable {
    package var number: UInt64
    package var code: ErrorCode
    package var name: String
    package var text: String

    package init(number: UInt64, _ error: WireError) {
        self.number = number
        code = error.code
        name = error.code.name
        text = error.text
    }
}

/// `boards` and `getBans`: a page of what is listed in order of names. [AC13, BL9]
package struct PageRequest: Codable, Equatable {
    package var id: UInt32
    package var after: Name?
    /// 1…100.
    package var limit: Int?

    package init(id: UInt32, after: Name? = nil, limit: Int? = nil) {
        self.id = id
        self.after = after
        self.limit = limit
    }

    /// How many to list.
    ///
    /// - Throws: `badRequest`, with the limit that was passed.
    package func count() throws(WireError) -> Int {
        let limit = limit ?? 100
        guard (1...100).contains(limit) else {
            throw WireError(.badRequest, "field limit is within 1…100, not \(limit)", limit: limit < 1 ? 1 : 100, actual: max(0, limit))
        }
        return limit
    }
}

/// One board of the relay.
public struct BoardInfo: Codable, Hashable, Sendable {
    /// Name of its message channel.
    public var channel: Name
    /// Drawings and other records on it.
    public var records: Int
    /// Keys, custom types and payloads of its records, and 64 for each.
    public var bytes: Int
    /// When it was last changed: wall clock of the relay, in milliseconds since 1970.
    public var changed: UInt64

    package init(channel: Name, records: Int, bytes: Int, changed: UInt64) {
        self.channel = channel
        self.records = records
        self.bytes = bytes
        self.changed = changed
    }
}

package struct BoardsAnswer: Codable, Equatable {
    package var id: UInt32
    package var boards: [BoardInfo]
    /// Give it as `after`; absent at the end.
    package var next: Name?
    /// Of all boards, and what they may have.
    package var bytes: Int
    package var bytesMax: Int

    package init(id: UInt32, boards: [BoardInfo], next: Name?, bytes: Int, bytesMax: Int) {
        self.id = id
        self.boards = boards
        self.next = next
        self.bytes = bytes
        self.bytesMax = bytesMax
    }
}
