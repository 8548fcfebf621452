internal import RelayRights
import RelayWire

/// A value, and how often it has changed.
struct Newest<Value: Sendable>: Sendable {
    private(set) var value: Value
    private(set) var version = 0

    init(_ value: Value) { self.value = value }

    mutating func set(_ value: Value) {
        self.value = value
        version += 1
    }
}

/// What a client knows of one channel, for all handles of its name.
struct ChannelView: Sendable {
    /// What the app has asked to be in, of the two channels of the name, and not to leave since.
    struct Asked: Sendable {
        var message = false
        var stream = false
        /// Whether for messages.
        var receives = false
        /// The call of `open` that is under way.
        var opening: UInt64?
    }

    var asked = Asked()
    /// Reads of the board that are under way for a channel that is not open.
    var privateReads = 0
    /// Open readers that end when the channel is left; of packets with their topic.
    var readers: [ReaderFeed.ID: String?] = [:]
    /// Who follows a topic: readers, and 0 for the app itself.
    var followers: [String: Set<ReaderFeed.ID>] = [:]
    var board = BoardView()
    var members = Newest([String: Member]())
    /// Counts snapshots: pages of earlier ones are void.
    var snapshots = 0
    var contents = Newest(MetadataContents())
    var locks = Newest([String: LockDetail]())
    var published = Newest([PublishedTopic]())
    /// `nil` until somebody asks.
    var permissions: Newest<Permissions>?
    /// What moderators set of either channel of the name.
    var messageModes: Set<ChannelMode> = []
    var streamModes: Set<ChannelMode> = []
    /// Rises when the channel is left, which ends readers of what is newest.
    private(set) var stay = 0

    var isRead: Bool { asked.message || privateReads > 0 }
    /// The channel is read for the client itself only: nobody else is told.
    var isPrivate: Bool { privateReads > 0 && !asked.message }

    /// The client is out of the channel: what is known of it is void.
    mutating func end() {
        board = board.onlyOwn()
        members.set([:])
        contents.set(MetadataContents())
        locks.set([:])
        (messageModes, streamModes) = ([], [])
        snapshots += 1
        stay += 1
    }

    // MARK: - What the relay tells

    /// - Returns: the member behind whom the rest of a snapshot is to be read, a page at a time.
    mutating func take(_ change: PresenceChange.Kind) -> String? {
        var members = members.value
        var rest: String?
        switch change {
        case .snapshot(let found, let total):
            members = [:]
            for member in found { members[member.user] = member }
            snapshots += 1
            rest = total > found.count ? found.last?.user : nil
        case .joined(let member): members[member.user] = member
        case .left(let user), .timedOut(let user): members[user] = nil
        case .stateChanged(let user, let set, let removed):
            var member = members[user] ?? Member(user: user, states: [:])
            member.states.merge(set) { $1 }
            for name in removed { member.states[name] = nil }
            members[user] = member
        case .interval(let joined, let changed, let left, let timedOut):
            for user in left + timedOut { members[user] = nil }
            for member in joined + changed { members[member.user] = member }
        }
        self.members.set(members)
        return rest
    }

    /// A page behind a snapshot, unless there is a newer one.
    mutating func read(_ page: [Member], of snapshot: Int) {
        guard snapshot == snapshots else { return }
        members.set(members.value.merging(page.map { ($0.user, $0) }) { $1 })
    }

    /// A freeze is told of both channels: it begins with the first, and ends with the last.
    ///
    /// - Returns: whether it is news.
    mutating func take(_ change: ChannelModeChange) -> Bool {
        let isMessage = change.place.kind == .message
        let isKnown = (isMessage ? streamModes : messageModes).contains(change.mode)
        if change.isOn {
            if isMessage { messageModes.insert(change.mode) } else { streamModes.insert(change.mode) }
        } else {
            if isMessage { messageModes.remove(change.mode) } else { streamModes.remove(change.mode) }
        }
        return !isKnown
    }
}
