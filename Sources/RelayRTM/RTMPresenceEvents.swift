import RelayClient

/// A user in a channel, with states.
public final class RTMUserState {
    /// Id of the user.
    public var userId = ""
    /// What it says about itself.
    public var states: [String: String] = [:]
    /// An empty one.
    public init() {}

    convenience init(_ user: String, _ states: [String: String]) {
        self.init()
        (userId, self.states) = (user, states)
    }
}

/// What happened in some seconds in a channel of many.
public final class RTMPresenceIntervalInfo {
    /// Who came.
    public let joinUserList: [String]
    /// Who left.
    public let leaveUserList: [String]
    /// Who timed out.
    public let timeoutUserList: [String]
    /// Users who came or changed, with all their states.
    public let userStateList: [RTMUserState]

    init(joined: [String], left: [String], timedOut: [String], states: [RTMUserState]) {
        (joinUserList, leaveUserList, timeoutUserList, userStateList) = (joined, left, timedOut, states)
    }
}

/// A change of a channel's users, or of their states.
public final class RTMPresenceEvent {
    /// What happened.
    public let type: RTMPresenceEventType
    /// `message` or `stream`.
    public let channelType: RTMChannelType
    /// Where.
    public let channelName: String
    /// Whom it is about; `nil` in a snapshot or interval.
    public let publisher: String?
    /// All states of that user as they are now, as far as it was in a snapshot or came later.
    public let states: [String: String]
    /// Of an interval event.
    public let interval: RTMPresenceIntervalInfo?
    /// Of a snapshot event: oneself included, at most 100; `getOnlineUsers` has the rest.
    public let snapshot: [RTMUserState]

    init(
        _ type: RTMPresenceEventType, _ channel: ChannelID, _ publisher: String? = nil, _ states: [String: String] = [:],
        interval: RTMPresenceIntervalInfo? = nil, snapshot: [RTMUserState] = []
    ) {
        (self.type, channelType, channelName) = (type, channel.rtmType, channel.name)
        (self.publisher, self.states, self.interval, self.snapshot) = (publisher, states, interval, snapshot)
    }
}

/// Somebody who publishes in a topic.
public final class RTMPublisherInfo: Sendable {
    /// Id of the user.
    public let publisherUserId: String
    /// What it said when it joined the topic.
    public let publisherMeta: String?

    init(_ publisher: PublishedTopic) { (publisherUserId, publisherMeta) = (publisher.user, publisher.meta) }
}

/// A topic and its publishers.
public final class RTMTopicInfo: Sendable {
    /// Name of the topic.
    public let topic: String
    /// Who publishes.
    public let publishers: [RTMPublisherInfo]

    init(_ topic: String, _ publishers: [RTMPublisherInfo]) { (self.topic, self.publishers) = (topic, publishers) }
}

/// A change of the publishers in a stream channel's topics.
public final class RTMTopicEvent: Sendable {
    /// What happened.
    public let type: RTMTopicEventType
    /// Name of the stream channel.
    public let channelName: String
    /// Who joined or left a topic; empty in a snapshot.
    public let publisher: String
    /// Which topics.
    public let topicInfos: [RTMTopicInfo]

    init(_ type: RTMTopicEventType, _ channel: String, _ publisher: String, _ infos: [RTMTopicInfo]) {
        (self.type, channelName, self.publisher, topicInfos) = (type, channel, publisher, infos)
    }
}
