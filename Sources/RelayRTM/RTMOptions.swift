import RelayClient

/// What to receive from a message channel.
public final class RTMSubscribeOptions: RTMObject<RTMSubscribeOptionsFields> {
    /// The defaults.
    public convenience init() { self.init(fields: .init()) }

    var values: (features: Set<Feature>, isQuiet: Bool, since: Since?) {
        let bits: [(RTMSubscribeChannelFeature, Feature)] = [
            (.message, .messages), (.presence, .presence), (.metadata, .metadata), (.lock, .locks),
        ]
        return (Set(bits.filter { fields.features.contains($0.0) }.map(\.1)), fields.features.contains(.beQuiet), fields.since?.since)
    }
}

/// What an `RTMSubscribeOptions` has.
public struct RTMSubscribeOptionsFields: Hashable {
    /// Messages and presence unless set.
    public var features: RTMSubscribeChannelFeature = [.message, .presence]
    /// Not in hosted RTM: where to begin. `.board` brings all that the relay keeps of the channel before what is sent from now on.
    public var since: ChannelStart?
}

/// How a message is published.
public final class RTMPublishOptions: RTMObject<RTMPublishOptionsFields> {
    /// The defaults.
    public convenience init() { self.init(fields: .init()) }

    var values: (channelType: RTMChannelType, customType: String?, storeInHistory: Bool) {
        (fields.channelType, fields.customType.isEmpty ? nil : fields.customType, fields.storeInHistory)
    }
}

/// What an `RTMPublishOptions` has.
public struct RTMPublishOptionsFields: Hashable {
    /// `message` for a channel, `user` for one user. `stream` is refused: packets go to a topic.
    public var channelType = RTMChannelType.message
    /// The app's own word for what this is, at most 32 bytes; none when empty.
    public var customType = ""
    /// Whether the relay keeps it for users who come later.
    public var storeInHistory = true
}

/// How a stream channel is joined.
public final class RTMJoinChannelOption: RTMObject<RTMJoinChannelOptionFields> {
    /// The defaults.
    public convenience init() { self.init(fields: .init()) }

    var values: (features: Set<Feature>, isQuiet: Bool, token: String?) {
        let bits: [(RTMJoinChannelFeature, Feature)] = [(.presence, .presence), (.metadata, .metadata), (.lock, .locks)]
        return (Set(bits.filter { fields.features.contains($0.0) }.map(\.1)), fields.features.contains(.beQuiet), fields.token)
    }
}

/// What an `RTMJoinChannelOption` has.
public struct RTMJoinChannelOptionFields: Hashable {
    /// A token of its own, which adds rights in this channel; at a relay with signed tokens the login's is enough.
    public var token: String?
    /// Presence unless set. Topics come without being asked for.
    public var features: RTMJoinChannelFeature = [.presence]
}

/// How a topic is joined.
public final class RTMJoinTopicOption: RTMObject<RTMJoinTopicOptionFields> {
    /// The defaults.
    public convenience init() { self.init(fields: .init()) }

    var values: (qos: TopicQoS, priority: TopicPriority, meta: String) {
        let rank: TopicPriority =
            switch fields.priority {
            case .highest: .highest
            case .high: .high
            case .normal: .normal
            case .low: .low
            }
        return (fields.qos == .ordered ? .ordered : .unordered, rank, fields.meta ?? "")
    }
}

/// What an `RTMJoinTopicOption` has.
public struct RTMJoinTopicOptionFields: Hashable {
    /// Ordered unless set.
    public var qos = RTMMessageQos.ordered
    /// Normal unless set.
    public var priority = RTMMessagePriority.normal
    /// Told to subscribers, at most 256 bytes.
    public var meta: String?
}

/// Whom to hear in a topic.
public final class RTMTopicOption: RTMObject<RTMTopicOptionFields> {
    /// Everybody.
    public convenience init() { self.init(fields: .init()) }

    var values: StreamChannel.Users { fields.users.map { .only($0) } ?? .all }
}

/// What an `RTMTopicOption` has.
public struct RTMTopicOptionFields: Hashable {
    /// `nil`: everybody, now and later. Else at most 64, who need not be there yet.
    public var users: [String]?
}

/// How a packet is published.
public final class RTMTopicMessageOptions: RTMObject<RTMTopicMessageOptionsFields> {
    /// The defaults.
    public convenience init() { self.init(fields: .init()) }

    var values: (customType: String, slot: UInt32?) { (fields.customType, fields.slot) }
}

/// What an `RTMTopicMessageOptions` has.
public struct RTMTopicMessageOptionsFields: Hashable {
    /// Packets carry none: anything but an empty text is refused.
    public var customType = ""
    /// Not in hosted RTM: "latest wins". A slow reader gets the newest packet of a slot only.
    public var slot: UInt32?
}

/// Options of a question about the users in a channel.
public final class RTMGetOnlineUsersOptions: RTMObject<RTMGetOnlineUsersOptionsFields> {
    /// The defaults.
    public convenience init() { self.init(fields: .init()) }

    var values: (users: Bool, states: Bool, after: String?) {
        (fields.includeUserId || fields.includeState, fields.includeState, fields.page.isEmpty ? nil : fields.page)
    }
}

/// What an `RTMGetOnlineUsersOptions` has.
public struct RTMGetOnlineUsersOptionsFields: Hashable {
    /// Whether users are wanted; without them and their states only the count comes.
    public var includeUserId = true
    /// Whether their states are wanted.
    public var includeState = false
    /// `nextPage` of the answer before; empty for the first.
    public var page = ""
}
