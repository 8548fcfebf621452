import RelayWire

/// Whose metadata.
package enum MetadataReference: Hashable, Sendable, CustomStringConvertible {
    /// A message channel's.
    case message(String)
    /// A stream channel's.
    case stream(String)
    /// A user's.
    case user(String)

    package init(_ owner: MetadataOwner) {
        switch owner {
        case .channel(let id): self = id.kind == .message ? .message(id.channel.text) : .stream(id.channel.text)
        case .user(let user): self = .user(user.text)
        }
    }

    package var description: String {
        switch self {
        case .message(let name): "message:\(name)"
        case .stream(let name): "stream:\(name)"
        case .user(let user): "user:\(user)"
        }
    }
}

/// One item of a channel's or user's metadata.
public struct MetadataItem: Equatable, Sendable {
    /// Its name, 1…64 bytes of ASCII.
    public var key: String
    /// Text of any size that the set's 65,536 bytes allow.
    public var value: String
    /// The set's major revision of the change that wrote it last; the condition for changing just that.
    public var revision: UInt64
    /// Who wrote it, if that was to be recorded.
    public var author: String?
    /// The relay's wall clock when it was written, in milliseconds since 1970, if that was to be recorded.
    package var wallMilliseconds: UInt64?

    package init(key: String, value: String, revision: UInt64, author: String? = nil, wallMilliseconds: UInt64? = nil) {
        (self.key, self.value, self.revision, self.author) = (key, value, revision, author)
        self.wallMilliseconds = wallMilliseconds
    }
}

/// A change in subscribed metadata, and the set as it is now.
package struct MetadataChange: Equatable, Sendable {
    /// Whose.
    package var owner: MetadataReference
    /// The set after the change; 0 of one that was never written.
    package var majorRevision: UInt64
    /// The whole picture after subscribing, or after a break; not a change of one request.
    package var isSnapshot: Bool
    /// What was written, in order of key; of a snapshot everything.
    package var written: [MetadataItem]
    /// Keys that were removed.
    package var removed: [String]
    /// All items after the change, by key.
    package var items: [String: MetadataItem]

    package init(
        owner: MetadataReference, majorRevision: UInt64 = 0, isSnapshot: Bool = false, written: [MetadataItem] = [], removed: [String] = [],
        items: [String: MetadataItem] = [:]
    ) {
        (self.owner, self.majorRevision, self.isSnapshot, self.written) = (owner, majorRevision, isSnapshot, written)
        (self.removed, self.items) = (removed, items)
    }
}

extension MetadataChange {
    package init(
        channel: String, majorRevision: UInt64 = 0, isSnapshot: Bool = false, written: [MetadataItem] = [], removed: [String] = [],
        items: [String: MetadataItem] = [:]
    ) {
        self.init(
            owner: .message(channel), majorRevision: majorRevision, isSnapshot: isSnapshot, written: written, removed: removed,
            items: items)
    }

    /// The channel, if it is a channel's metadata.
    package var channel: String? { place?.channel.text }
    /// The user, if it is a user's metadata.
    package var user: String? { if case .user(let user) = owner { user } else { nil } }

    var place: ChannelID? {
        switch owner {
        case .message(let name): (try? Name(name)).map { ChannelID(kind: .message, channel: $0) }
        case .stream(let name): (try? Name(name)).map { ChannelID(kind: .stream, channel: $0) }
        case .user: nil
        }
    }
}

/// A change in the locks of a channel.
package struct LocksChange: Equatable, Sendable {
    /// What happened.
    package enum Kind: String, Hashable, Sendable {
        /// All locks, after subscribing or after a break.
        case snapshot
        /// Made, or given another ttl.
        case set
        /// Has an owner.
        case acquired
        /// Its owner gave it back.
        case released
        /// It was taken from its owner.
        case revoked
        /// Its owner was away for longer than its ttl.
        case expired
        /// The lock was removed.
        case removed
    }

    /// Whose locks.
    package var place: ChannelID
    /// What happened.
    package var kind: Kind
    /// The lock as it is now (`removed`: as it was); all of them in a snapshot.
    package var locks: [LockDetail]
    /// Who held it until now.
    package var formerOwner: String?
    /// On which of that user's devices: 16 hexadecimal digits.
    package var formerOwnerDevice: String?

    /// The channel's name.
    package var channel: String { place.channel.text }

    package init(channel: String, kind: Kind, locks: [LockDetail], formerOwner: String? = nil, formerOwnerDevice: String? = nil) {
        self.init(
            place: ChannelID(kind: .message, name: channel), kind: kind, locks: locks, formerOwner: formerOwner,
            formerOwnerDevice: formerOwnerDevice)
    }

    package init(place: ChannelID, kind: Kind, locks: [LockDetail], formerOwner: String? = nil, formerOwnerDevice: String? = nil) {
        (self.place, self.kind, self.locks, self.formerOwner) = (place, kind, locks, formerOwner)
        self.formerOwnerDevice = formerOwnerDevice
    }
}

/// A set as the relay has told it so far.
struct MetadataPicture: Sendable {
    var items: [String: MetadataItem] = [:]
    var majorRevision: UInt64 = 0
    /// Pages of an event that goes on.
    var pages: (written: [MetadataItem], removed: [String], isSnapshot: Bool)?
}

extension ClientMachine {
    func metadataItems(_ heads: [MetadataItemHead], _ texts: UnsafeRawBufferPointer) throws(WireError) -> [MetadataItem] {
        let values = try TextBody.cut(texts, heads.map(\.bytes))
        return zip(heads, values).map { head, value in
            MetadataItem(
                key: head.key.text, value: String(decoding: value, as: UTF8.self), revision: head.revision, author: head.author?.text,
                wallMilliseconds: head.time)
        }
    }

    /// The answer to `getMetadata`.
    mutating func metadataPage(_ frame: Frame) throws(WireError) {
        let (head, items) = try decoding(frame) { body throws(WireError) in
            let (json, texts) = try TextBody.read(body)
            let head = try JSONBody.decode(MetadataPageHead.self, from: json, bytesMax: Limits.frameBodyBytesMax)
            return (head, try metadataItems(head.items, texts))
        }
        guard let pending = requests.removeValue(forKey: head.id), let token = pending.token else { return }
        complete(token, .success(.metadata(majorRevision: head.majorRevision, items: items, next: head.next)))
    }

    mutating func metadata(_ frame: Frame) throws(WireError) {
        let (head, items) = try decoding(frame) { body throws(WireError) -> (MetadataEventHead?, [MetadataItem]) in
            let (json, texts) = try TextBody.read(body)
            // A newer relay may tell more. [FR6]
            let name = try JSONBody.decode(EventName.self, from: json, bytesMax: Limits.frameBodyBytesMax).event
            guard MetadataEventHead.Event(rawValue: name) != nil else { return (nil, []) }
            let head = try JSONBody.decode(MetadataEventHead.self, from: json, bytesMax: Limits.frameBodyBytesMax)
            return (head, try metadataItems(head.items, texts))
        }
        guard let head else { return }
        let owner: MetadataOwner
        if let user = head.user {
            guard known.metadata[.user(user)] != nil else { return }
            owner = .user(user)
        } else {
            guard let handle = head.channel, let channel = known.channels[handle] else { return }
            owner = .channel(channel)
        }
        var picture = known.metadata[owner] ?? MetadataPicture()
        if head.event == .snapshot, picture.pages?.isSnapshot != true { picture = MetadataPicture() }
        var pages = picture.pages ?? ([], [], head.event == .snapshot)
        pages.written += items
        pages.removed += head.removed?.map(\.text) ?? []
        guard pages.written.count + pages.removed.count <= 2 * Limits.metadataItemsMax else {
            throw WireError(.protocolError, "a set of more than \(Limits.metadataItemsMax) items")
        }
        picture.pages = head.more == true ? pages : nil
        if head.more != true {
            for key in pages.removed { picture.items[key] = nil }
            for item in pages.written { picture.items[item.key] = item }
            picture.majorRevision = head.majorRevision
            emit(
                .metadata(
                    MetadataChange(
                        owner: MetadataReference(owner), majorRevision: head.majorRevision, isSnapshot: pages.isSnapshot,
                        written: pages.written, removed: pages.removed, items: picture.items)))
        }
        known.metadata[owner] = picture
    }

    mutating func locks(_ event: LocksEvent) {
        guard let channel = known.channels[event.channel], let kind = LocksChange.Kind(rawValue: event.event.rawValue) else { return }
        if kind != .set {
            for lock in event.locks where lock.owner != identity.user?.text || lock.ownerDevice != settings.device {
                lost(LockID(channel: channel, name: lock.name))
            }
        }
        emit(
            .locks(
                LocksChange(
                    place: channel, kind: kind, locks: event.locks, formerOwner: event.user?.text, formerOwnerDevice: event.device)))
    }
}
