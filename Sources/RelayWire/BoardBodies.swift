// Bodies about boards: what a message channel keeps for good. [BL1–BL9]

/// Answer to `clear` and `undoClear`. [BL6]
package struct ClearAnswer: JSONObject, Equatable {
    package internal(set) var id: UInt32 = 0
    /// Of the change.
    package internal(set) var offset: UInt64 = 0
    /// Records that the `clear` took away, however many come back.
    package internal(set) var records: UInt64 = 0

    package init() {}

    package init(id: UInt32, offset: UInt64, records: UInt64) { (self.id, self.offset, self.records) = (id, offset, records) }

    package mutating func fields(_ json: inout JSONFields) {
        json("id", &id)
        json("offset", &offset)
        json("records", &records)
    }
}

/// Body of `cleared`: the board is empty from this offset on. [BL6]
package struct Cleared: JSONObject, Equatable {
    /// Handle.
    package internal(set) var channel: UInt32 = 0
    package internal(set) var offset: UInt64 = 0
    /// Id of the user who cleared it.
    package internal(set) var user = Name.unread
    /// Wall clock of the relay, in milliseconds since 1970.
    package internal(set) var time: UInt64 = 0

    package init() {}

    package init(channel: UInt32, offset: UInt64, user: Name, time: UInt64) {
        (self.channel, self.offset, self.user, self.time) = (channel, offset, user, time)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("offset", &offset)
        json("time", &time)
        json("user", &user)
    }
}

/// Body of `reset`: what the reader holds of the channel is void. [BL4]
package struct ChannelReset: JSONObject {
    /// Handle.
    package internal(set) var channel: UInt32 = 0
    package internal(set) var epoch = Epoch()
    package internal(set) var head: UInt64 = 0

    package init() {}

    package init(channel: UInt32, epoch: Epoch, head: UInt64) { (self.channel, self.epoch, self.head) = (channel, epoch, head) }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("epoch", &epoch)
        json("head", &head)
    }
}

/// Body of `notStored`: a publish that was accepted is not kept, and will not be. [BL2]
package struct NotStored: JSONObject {
    package internal(set) var number: UInt64 = 0
    package internal(set) var code: ErrorCode = .badRequest
    package internal(set) var name = ""
    package internal(set) var retry: String?
    package internal(set) var text = ""

    package init() {}

    package init(number: UInt64, _ error: WireError) {
        self.number = number
        code = error.code
        retry = error.code.retry.rawValue
        name = error.code.name
        text = error.text
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("code", &code)
        json("name", &name)
        json("number", &number)
        json("retry", &retry)
        json("text", &text)
    }
}

/// `getBans`: a page of what is listed in order of names. [AC13]
package struct PageRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var after: Name?
    /// 1…100.
    package internal(set) var limit: Int?

    package init() {}

    package init(id: UInt32, after: Name? = nil, limit: Int? = nil) { (self.id, self.after, self.limit) = (id, after, limit) }

    /// How many to list.
    ///
    /// - Throws: `badRequest`, with the limit that was passed.
    package func count() throws(WireError) -> Int { try Self.count(limit) }

    fileprivate static func count(_ limit: Int?) throws(WireError) -> Int {
        let limit = limit ?? 100
        guard (1...100).contains(limit) else {
            throw WireError(.badRequest, "field limit is within 1…100, not \(limit)", limit: limit < 1 ? 1 : 100, actual: max(0, limit))
        }
        return limit
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("after", &after)
        json("id", &id)
        json("limit", &limit)
    }
}

/// `boards`. [BL9, BL12]
package struct BoardsRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var after: Name?
    /// 1…100.
    package internal(set) var limit: Int?
    /// Only boards that nobody has used for so long.
    package internal(set) var unusedMs: UInt64?

    package init() {}

    package init(id: UInt32, after: Name? = nil, limit: Int? = nil, unusedMs: UInt64? = nil) {
        (self.id, self.after, self.limit, self.unusedMs) = (id, after, limit, unusedMs)
    }

    /// As of a `PageRequest`.
    package func count() throws(WireError) -> Int { try PageRequest.count(limit) }

    package mutating func fields(_ json: inout JSONFields) {
        json("after", &after)
        json("id", &id)
        json("limit", &limit)
        json("unusedMs", &unusedMs)
    }
}

/// `removeBoard`. [BL9, BL12]
package struct RemoveBoardRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var channel = Name.unread
    /// Only if nobody has used it for so long.
    package internal(set) var unusedMs: UInt64?

    package init() {}

    package init(id: UInt32, channel: Name, unusedMs: UInt64? = nil) {
        (self.id, self.channel, self.unusedMs) = (id, channel, unusedMs)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
        json("unusedMs", &unusedMs)
    }
}

/// One board of the relay.
public struct BoardInfo: JSONObject, Equatable, Sendable {
    /// Name of its message channel.
    public var channel = ""
    /// Drawings and other records on it.
    public var records = 0
    /// Keys, custom types and payloads of its records, and 64 for each.
    public var bytes = 0
    /// Of its file, with what was superseded and is not cleared away yet.
    package var fileBytes = 0
    /// Id of the user who began it; `nil`: the relay does not know, or has forgotten the user.
    public var owner: String?
    /// When it was begun, was last changed and was last used: wall clock of the relay, in milliseconds since 1970.
    package var createdMilliseconds: UInt64?
    package var changedMilliseconds: UInt64 = 0
    package var usedMilliseconds: UInt64 = 0

    package init() {}

    package init(
        channel: String, records: Int, bytes: Int, fileBytes: Int = 0, owner: String? = nil, createdMilliseconds: UInt64? = nil,
        changedMilliseconds: UInt64, usedMilliseconds: UInt64 = 0
    ) {
        (self.channel, self.records, self.bytes, self.fileBytes, self.owner) = (channel, records, bytes, fileBytes, owner)
        (self.createdMilliseconds, self.changedMilliseconds) = (createdMilliseconds, changedMilliseconds)
        self.usedMilliseconds = usedMilliseconds
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("bytes", &bytes)
        json("changed", &changedMilliseconds)
        json.name("channel", &channel)
        json("created", &createdMilliseconds)
        json("fileBytes", &fileBytes)
        json("owner", &owner)
        json("records", &records)
        json("used", &usedMilliseconds)
    }
}

package struct BoardsAnswer: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var boards: [BoardInfo] = []
    /// Give it as `after`; absent at the end.
    package internal(set) var next: Name?
    /// Of all boards, and what they may have.
    package internal(set) var bytes = 0
    package internal(set) var bytesMax = 0

    package init() {}

    package init(id: UInt32, boards: [BoardInfo], next: Name?, bytes: Int, bytesMax: Int) {
        (self.id, self.boards, self.next, self.bytes, self.bytesMax) = (id, boards, next, bytes, bytesMax)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("boards", &boards)
        json("bytes", &bytes)
        json("bytesMax", &bytesMax)
        json("id", &id)
        json("next", &next)
    }
}
