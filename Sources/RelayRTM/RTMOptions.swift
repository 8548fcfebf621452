import RelayClient

/// What to receive from a message channel.
public final class RTMSubscribeOptions: RTMValue {
    /// Messages and presence unless set.
    public var features: RTMSubscribeChannelFeature = [.message, .presence]
    /// Not in hosted RTM: where to begin. `.board` brings all that the relay keeps of the channel before what is sent from now on.
    public var since: ChannelStart?

    var values: (features: Set<Feature>, isQuiet: Bool, since: Since?) {
        let bits: [(RTMSubscribeChannelFeature, Feature)] = [
            (.message, .messages), (.presence, .presence), (.metadata, .metadata), (.lock, .locks),
        ]
        return (Set(bits.filter { features.contains($0.0) }.map(\.1)), features.contains(.beQuiet), since?.since)
    }
}

/// How a message is published.
public final class RTMPublishOptions: RTMValue {
    /// `message` for a channel, `user` for one user. `stream` is refused: packets go to a topic.
    public var channelType = RTMChannelType.message
    /// The app's own word for what this is, at most 32 bytes; none when empty.
    public var customType = ""
    /// Whether the relay keeps it for users who come later.
    public var storeInHistory = true

    var values: (channelType: RTMChannelType, customType: String?, storeInHistory: Bool) {
        (channelType, customType.isEmpty ? nil : customType, storeInHistory)
    }
}

/// How a stream channel is joined.
public final class RTMJoinChannelOption: RTMValue {
    /// A token of its own, which adds rights in this channel; at a relay with signed tokens the login's is enough.
    public var token: String?
    /// Presence unless set. Topics come without being asked for.
    public var features: RTMJoinChannelFeature = [.presence]

    var values: (features: Set<Feature>, isQuiet: Bool, token: String?) {
        let bits: [(RTMJoinChannelFeature, Feature)] = [(.presence, .presence), (.metadata, .metadata), (.lock, .locks)]
        return (Set(bits.filter { features.contains($0.0) }.map(\.1)), features.contains(.beQuiet), token)
    }
}

/// How a topic is joined.
public final class RTMJoinTopicOption: RTMValue {
    /// Ordered unless set.
    public var qos = RTMMessageQos.ordered
    /// Normal unless set.
    public var priority = RTMMessagePriority.normal
    /// Told to subscribers, at most 256 bytes.
    public var meta: String?

    var values: (qos: TopicQoS, priority: TopicPriority, meta: String) {
        let rank: TopicPriority =
            switch priority {
            case .highest: .highest
            case .high: .high
            case .normal: .normal
            case .low: .low
            }
        return (qos == .ordered ? .ordered : .unordered, rank, meta ?? "")
    }
}

/// Whom to hear in a topic.
public final class RTMTopicOption: RTMValue {
    /// `nil`: everybody, now and later. Else at most 64, who need not be there yet.
    public var users: [String]?

    var values: StreamChannel.Users { users.map { .only($0) } ?? .all }
}

/// How a packet is published.
public final class RTMTopicMessageOptions: RTMValue {
    /// Packets carry none: anything but an empty text is refused.
    public var customType = ""
    /// Not in hosted RTM: "latest wins". A slow reader gets the newest packet of a slot only.
    public var slot: UInt32?

    var values: (customType: String, slot: UInt32?) { (customType, slot) }
}

/// Options of a question about the users in a channel.
public final class RTMGetOnlineUsersOptions: RTMValue {
    /// Whether users are wanted; without them and their states only the count comes.
    public var includeUserId = true
    /// Whether their states are wanted.
    public var includeState = false
    /// `nextPage` of the answer before; empty for the first.
    public var page = ""

    var values: (users: Bool, states: Bool, after: String?) {
        (includeUserId || includeState, includeState, page.isEmpty ? nil : page)
    }
}
