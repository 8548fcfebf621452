import RelayPrimitives

// Bodies about metadata. Values do not stand in JSON: they follow its head as raw bytes (`TextBody`). [MD3]

/// Whose metadata: a channel's or a user's. On the wire `kind` and `channel`, or `user`.
package enum MetadataOwner: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// A channel of either kind.
    case channel(ChannelID)
    /// A user, there or not.
    case user(Name)

    package var description: String {
        switch self {
        case .channel(let id): "\(id)"
        case .user(let user): "user:\(user)"
        }
    }

    package static func < (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.channel(let left), .channel(let right)): left < right
        case (.user(let left), .user(let right)): left < right
        case (.channel, .user): true
        case (.user, .channel): false
        }
    }
}

/// How `MetadataOwner` stands in a request or event.
package struct MetadataOwnerFields: Equatable {
    package var kind: ChannelKind?
    package var channel: Name?
    package var user: Name?

    package init(_ owner: MetadataOwner) {
        switch owner {
        case .channel(let id): (kind, channel) = (id.kind, id.channel)
        case .user(let user): self.user = user
        }
    }

    package init(_ kind: ChannelKind?, _ channel: Name?, _ user: Name?) { (self.kind, self.channel, self.user) = (kind, channel, user) }

    /// - Throws: `badRequest` unless there are `kind` and `channel`, or `user` alone.
    package func owner() throws(WireError) -> MetadataOwner {
        switch (kind, channel, user) {
        case (let kind?, let channel?, nil): .channel(ChannelID(kind: kind, channel: channel))
        case (nil, nil, let user?): .user(user)
        default: throw WireError(.badRequest, "metadata is of fields kind and channel, or of field user")
        }
    }
}

/// `setMetadata` and `updateMetadata`: the head; each item's value follows, `bytes` long, in this order.
package struct WriteMetadataRequest: JSONObject {
    package struct Item: JSONObject {
        package internal(set) var key = Name.unread
        package internal(set) var bytes = 0
        /// Condition: the item's revision; 0: the item does not exist.
        package internal(set) var revision: UInt64?

        package init() {}

        package init(key: Name, bytes: Int, revision: UInt64? = nil) { (self.key, self.bytes, self.revision) = (key, bytes, revision) }

        package mutating func fields(_ json: inout JSONFields) {
            json("bytes", &bytes)
            json("key", &key)
            json("revision", &revision)
        }
    }

    package internal(set) var id: UInt32 = 0
    package internal(set) var kind: ChannelKind?
    package internal(set) var channel: Name?
    package internal(set) var user: Name?
    package internal(set) var items: [Item] = []
    /// Condition: the major revision the set has, 0 for "never written".
    package internal(set) var majorRevision: UInt64?
    /// Condition: a lock of the channel that the writer holds.
    package internal(set) var lock: Name?
    package internal(set) var recordUser: Bool?
    package internal(set) var recordTime: Bool?

    package init() {}

    package init(
        id: UInt32, _ owner: MetadataOwner, items: [Item], majorRevision: UInt64? = nil, lock: Name? = nil, recordUser: Bool? = nil,
        recordTime: Bool? = nil
    ) {
        let fields = MetadataOwnerFields(owner)
        self.id = id
        kind = fields.kind
        channel = fields.channel
        user = fields.user
        self.items = items
        self.majorRevision = majorRevision
        self.lock = lock
        self.recordUser = recordUser
        self.recordTime = recordTime
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
        json("items", &items)
        json("kind", &kind)
        json("lock", &lock)
        json("majorRevision", &majorRevision)
        json("recordTime", &recordTime)
        json("recordUser", &recordUser)
        json("user", &user)
    }
}

/// `removeMetadata`; without `items` everything goes.
package struct RemoveMetadataRequest: JSONObject {
    package struct Item: JSONObject, Equatable, Sendable {
        package internal(set) var key = Name.unread
        package internal(set) var revision: UInt64?

        package init() {}

        package init(key: Name, revision: UInt64? = nil) { (self.key, self.revision) = (key, revision) }

        package mutating func fields(_ json: inout JSONFields) {
            json("key", &key)
            json("revision", &revision)
        }
    }

    package internal(set) var id: UInt32 = 0
    package internal(set) var kind: ChannelKind?
    package internal(set) var channel: Name?
    package internal(set) var user: Name?
    package internal(set) var items: [Item]?
    package internal(set) var majorRevision: UInt64?
    package internal(set) var lock: Name?

    package init() {}

    package init(id: UInt32, _ owner: MetadataOwner, items: [Item]? = nil, majorRevision: UInt64? = nil, lock: Name? = nil) {
        let fields = MetadataOwnerFields(owner)
        self.id = id
        kind = fields.kind
        channel = fields.channel
        user = fields.user
        self.items = items
        self.majorRevision = majorRevision
        self.lock = lock
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
        json("items", &items)
        json("kind", &kind)
        json("lock", &lock)
        json("majorRevision", &majorRevision)
        json("user", &user)
    }
}

/// `getMetadata`: the items in order of key, behind `after`.
package struct GetMetadataRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var kind: ChannelKind?
    package internal(set) var channel: Name?
    package internal(set) var user: Name?
    package internal(set) var after: Name?

    package init() {}

    package init(id: UInt32, _ owner: MetadataOwner, after: Name? = nil) {
        let fields = MetadataOwnerFields(owner)
        self.id = id
        kind = fields.kind
        channel = fields.channel
        user = fields.user
        self.after = after
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("after", &after)
        json("channel", &channel)
        json("id", &id)
        json("kind", &kind)
        json("user", &user)
    }
}

/// `subscribeUserMetadata` and `unsubscribeUserMetadata`.
package struct UserRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var user = Name.unread

    package init() {}

    package init(id: UInt32, user: Name) { (self.id, self.user) = (id, user) }

    package mutating func fields(_ json: inout JSONFields) {
        json("id", &id)
        json("user", &user)
    }
}

/// Answer to a change.
package struct MetadataAnswer: JSONObject, Equatable {
    package internal(set) var id: UInt32 = 0
    /// Of the set, and of each item that was written. [MD2]
    package internal(set) var majorRevision: UInt64 = 0

    package init() {}

    package init(id: UInt32, majorRevision: UInt64) { (self.id, self.majorRevision) = (id, majorRevision) }

    package mutating func fields(_ json: inout JSONFields) {
        json("id", &id)
        json("majorRevision", &majorRevision)
    }
}

/// An item in the head of `metadataPage` and `metadata`; its value follows, `bytes` long.
package struct MetadataItemHead: JSONObject {
    package internal(set) var key = Name.unread
    package internal(set) var bytes = 0
    package internal(set) var revision: UInt64 = 0
    package internal(set) var author: Name?
    /// Milliseconds since 1970.
    package internal(set) var time: UInt64?

    package init() {}

    package init(key: Name, bytes: Int, revision: UInt64, author: Name? = nil, time: UInt64? = nil) {
        (self.key, self.bytes, self.revision, self.author, self.time) = (key, bytes, revision, author, time)
    }

    /// The most it takes in a head: in a name every byte may be one that JSON escapes.
    package var pageBytes: Int { 90 + 2 * key.text.utf8.count + 2 * (author?.text.utf8.count ?? 0) }

    package mutating func fields(_ json: inout JSONFields) {
        json("author", &author)
        json("bytes", &bytes)
        json("key", &key)
        json("revision", &revision)
        json("time", &time)
    }
}

/// `metadataPage`, the answer to `getMetadata`: the head.
package struct MetadataPageHead: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var majorRevision: UInt64 = 0
    package internal(set) var items: [MetadataItemHead] = []
    /// Give it as `after`; absent at the end.
    package internal(set) var next: Name?

    package init() {}

    package init(id: UInt32, majorRevision: UInt64, items: [MetadataItemHead], next: Name?) {
        (self.id, self.majorRevision, self.items, self.next) = (id, majorRevision, items, next)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("id", &id)
        json("items", &items)
        json("majorRevision", &majorRevision)
        json("next", &next)
    }
}

/// `metadata`: the head.
package struct MetadataEventHead: JSONObject {
    package enum Event: String, JSONElement {
        case snapshot, changed
    }

    /// Handle of the channel, or …
    package var channel: UInt32?
    /// … the user.
    package var user: Name?
    package var event: Event = .snapshot
    package var majorRevision: UInt64 = 0
    package var items: [MetadataItemHead] = []
    package var removed: [Name]?
    /// It goes on in the next frame.
    package var more: Bool?

    package init() {}

    package init(channel: UInt32?, user: Name?, event: Event, majorRevision: UInt64) {
        self.channel = channel
        self.user = user
        self.event = event
        self.majorRevision = majorRevision
        items = []
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("event", &event)
        json("items", &items)
        json("majorRevision", &majorRevision)
        json("more", &more)
        json("removed", &removed)
        json("user", &user)
    }
}

/// Body of a frame with texts that are too large for JSON: `n u16 · n bytes of JSON · the texts`. [JS6]
package enum TextBody {
    package static func encode(head: some JSONObject, texts: some Sequence<[UInt8]>) -> [UInt8] {
        let json = JSONBody.encode(head)
        precondition(json.count <= Int(UInt16.max), "a head of \(json.count) bytes")
        var body: [UInt8] = []
        body.append(bigEndian: UInt16(json.count))
        body.append(contentsOf: json)
        for text in texts { body.append(contentsOf: text) }
        return body
    }

    /// - Throws: `badRequest` when the body ends inside its head.
    package static func read(
        _ body: UnsafeRawBufferPointer
    ) throws(WireError) -> (head: UnsafeRawBufferPointer, texts: UnsafeRawBufferPointer) {
        var reader = ByteReader(body)
        guard let count = reader.integer(UInt16.self), let head = reader.bytes(Int(count)) else {
            throw WireError(.badRequest, "the body ends inside its head")
        }
        return (head, reader.rest)
    }

    /// Cuts the texts as the head announces them.
    ///
    /// - Throws: `badRequest` when there are more or fewer bytes than that; `badText` for one that is not UTF-8.
    package static func cut(_ texts: UnsafeRawBufferPointer, _ counts: some Sequence<Int>) throws(WireError) -> [[UInt8]] {
        var reader = ByteReader(texts)
        var found: [[UInt8]] = []
        for count in counts {
            guard count >= 0, let text = reader.bytes(count) else {
                throw WireError(.badRequest, "the values are shorter than their head says")
            }
            guard isValidUTF8(text) else { throw WireError(.badText, "value \(found.count) is not well-formed UTF-8") }
            found.append(Array(text))
        }
        guard reader.rest.isEmpty else { throw WireError(.badRequest, "\(reader.rest.count) bytes behind the last value") }
        return found
    }
}
