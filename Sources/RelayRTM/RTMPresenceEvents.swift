import RelayClient

/// A user in a channel, with states.
public final class RTMUserState: RTMValue {
    /// Id of the user.
    public var userId = ""
    /// What it says about itself.
    public var states: [String: String] = [:]

    /// `states` as a list, as in 2.1, in order of key; to set, the last item of a key counts.
    public var stateItems: [RTMStateItem] {
        get { states.items }
        set { states = newValue.byKey }
    }

    convenience init(_ user: String, _ states: [String: String]) {
        self.init()
        (userId, self.states) = (user, states)
    }
}

/// What happened in some seconds in a channel of many.
public final class RTMPresenceIntervalInfo: RTMValue {
    /// Who came.
    public var joinUserList: [String] = []
    /// Who left.
    public var leaveUserList: [String] = []
    /// Who timed out.
    public var timeoutUserList: [String] = []
    /// Users who came or changed, with all their states.
    public var userStateList: [RTMUserState] = []
}

/// A change of a channel's users, or of their states.
public final class RTMPresenceEvent: RTMValue {
    /// What happened.
    public var type = RTMPresenceEventType.none
    /// `message` or `stream`.
    public var channelType = RTMChannelType.none
    /// Where.
    public var channelName = ""
    /// Whom it is about; `nil` in a snapshot or interval.
    public var publisher: String?
    /// All states of that user as they are now, as far as it was in a snapshot or came later.
    public var states: [String: String] = [:]
    /// Of an interval event.
    public var interval: RTMPresenceIntervalInfo?
    /// Of a snapshot event: oneself included, at most 100; `getOnlineUser` has the rest.
    public var snapshot: [RTMUserState] = []

    /// `states` as a list, as in 2.1, in order of key; to set, the last item of a key counts.
    public var stateItems: [RTMStateItem] {
        get { states.items }
        set { states = newValue.byKey }
    }

    convenience init(
        _ type: RTMPresenceEventType, _ channel: ChannelID, _ publisher: String? = nil, _ states: [String: String] = [:],
        interval: RTMPresenceIntervalInfo? = nil, snapshot: [RTMUserState] = []
    ) {
        self.init()
        (self.type, channelType, channelName) = (type, channel.rtmType, channel.name)
        (self.publisher, self.states, self.interval, self.snapshot) = (publisher, states, interval, snapshot)
    }
}

/// Somebody who publishes in a topic.
public final class RTMPublisherInfo: RTMValue {
    /// Id of the user.
    public var publisherUserId = ""
    /// What it said when it joined the topic.
    public var publisherMeta: String?

    convenience init(_ publisher: PublishedTopic) {
        self.init()
        (publisherUserId, publisherMeta) = (publisher.user, publisher.meta)
    }
}

/// A topic and its publishers.
public final class RTMTopicInfo: RTMValue {
    /// Name of the topic.
    public var topic = ""
    /// Who publishes.
    public var publishers: [RTMPublisherInfo] = []
}

/// A change of the publishers in a stream channel's topics.
public final class RTMTopicEvent: RTMValue {
    /// What happened.
    public var type = RTMTopicEventType.none
    /// Name of the stream channel.
    public var channelName = ""
    /// Who joined or left a topic; empty in a snapshot.
    public var publisher = ""
    /// Which topics.
    public var topicInfos: [RTMTopicInfo] = []
}
