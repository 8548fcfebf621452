import Foundation
import RelayClient

/// What a message carries: text or bytes, the other is `nil`.
public final class RTMMessage: Sendable {
    /// Bytes as they were sent.
    public let rawData: Data?
    /// Text as it was sent.
    public let stringData: String?

    init(_ payload: Payload) {
        switch payload {
        case .text(let text): (rawData, stringData) = (nil, text)
        case .bytes(let bytes): (rawData, stringData) = (Data(bytes), nil)
        }
    }
}

/// A message of a channel, a packet of a topic, or a message from one user.
public final class RTMMessageEvent: Sendable {
    /// `message`, `stream` or `user`.
    public let channelType: RTMChannelType
    /// The channel; of a 1:1 message the own user id.
    public let channelName: String
    /// The topic of a packet, else empty.
    public let channelTopic: String
    /// What was sent.
    public let message: RTMMessage
    /// Who sent it.
    public let publisher: String
    /// The sender's word for what it is.
    public let customType: String?
    /// The relay's clock when it was accepted, in milliseconds since 1970; 0 of packets, which carry none.
    public let timestamp: UInt64
    /// Not in hosted RTM: its place in the channel's history, from which `RTMSubscribeOptions.since` goes on; `nil` of packets and 1:1 messages.
    public let position: ChannelPosition?

    init(
        _ type: RTMChannelType, _ channel: String, topic: String = "", _ payload: Payload, from publisher: String, customType: String? = nil,
        at time: UInt64 = 0, position: ChannelPosition? = nil
    ) {
        (channelType, channelName, channelTopic, message) = (type, channel, topic, RTMMessage(payload))
        (self.publisher, self.customType, timestamp, self.position) = (publisher, customType, time, position)
    }
}

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
    /// Those who came or changed, with all their states.
    public let userStateList: [RTMUserState]

    init(joined: [String], left: [String], timedOut: [String], states: [RTMUserState]) {
        (joinUserList, leaveUserList, timeoutUserList, userStateList) = (joined, left, timedOut, states)
    }
}

/// A change in who is in a channel, or in their states.
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
        (self.type, channelType, channelName) = (type, channel.rtmType, channel.channel.text)
        (self.publisher, self.states, self.interval, self.snapshot) = (publisher, states, interval, snapshot)
    }
}

/// Somebody who publishes in a topic.
public final class RTMPublisherInfo: Sendable {
    /// Id of the user.
    public let publisherUserId: String
    /// What it said when it joined the topic.
    public let publisherMeta: String?

    init(_ publisher: TopicsChange.Publisher) { (publisherUserId, publisherMeta) = (publisher.user, publisher.meta) }
}

/// A topic and who publishes in it.
public final class RTMTopicInfo: Sendable {
    /// Name of the topic.
    public let topic: String
    /// Who publishes.
    public let publishers: [RTMPublisherInfo]

    init(_ topic: String, _ publishers: [RTMPublisherInfo]) { (self.topic, self.publishers) = (topic, publishers) }
}

/// A change in who publishes what in a stream channel.
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

/// A change of metadata; its author is told as well.
public final class RTMStorageEvent {
    /// Of a channel its kind, of a user `user`.
    public let channelType: RTMChannelType
    /// Channel or user.
    public let storageType: RTMStorageType
    /// What happened.
    public let eventType: RTMStorageEventType
    /// Name of the channel, or id of the user.
    public let target: String
    /// The whole set as it is after the change.
    public let data: RTMMetadata

    init(_ change: MetadataChange) {
        switch change.owner {
        case .channel(let id): (channelType, storageType, target) = (id.rtmType, .channel, id.channel.text)
        case .user(let user): (channelType, storageType, target) = (.user, .user, user.text)
        }
        eventType = change.isSnapshot ? .snapshot : change.removed.isEmpty ? .set : .remove
        data = RTMMetadata(change.items.values.sorted { $0.key < $1.key }, majorRevision: change.majorRevision)
    }
}

/// A lock as it is.
public final class RTMLockDetail: Sendable {
    /// Its name.
    public let lockName: String
    /// Who holds it; empty when it is free.
    public let owner: String
    /// Seconds for which it outlives its owner's last connection.
    public let ttl: Int32
    /// Not in hosted RTM: the number of this acquisition, greater than that of every earlier one; 0 when it is free.
    public let fencing: UInt64

    init(_ lock: LockDetail) {
        (lockName, owner) = (lock.lock.text, lock.owner?.text ?? "")
        (ttl, fencing) = (Int32(clamping: lock.ttlMs / 1_000), lock.fencing ?? 0)
    }
}

/// A change in the locks of a channel.
public final class RTMLockEvent: Sendable {
    /// Whose locks: the kind of the channel.
    public let channelType: RTMChannelType
    /// What happened.
    public let eventType: RTMLockEventType
    /// Name of the channel.
    public let channelName: String
    /// The lock as it is now; of a snapshot all.
    public let lockDetailList: [RTMLockDetail]

    init(_ change: LocksChange) {
        (channelType, channelName, lockDetailList) = (change.channel.rtmType, change.channel.channel.text, change.locks.map { RTMLockDetail($0) })
        eventType = switch change.kind {
        case .snapshot: .snapshot
        case .set: .lockSet
        case .acquired: .lockAcquired
        case .released, .revoked: .lockReleased
        case .expired: .lockExpired
        case .removed: .lockRemoved
        }
    }
}

/// A change in how the link stands.
public final class RTMLinkStateEvent: Sendable {
    /// Now.
    public let currentState: RTMLinkState
    /// Before.
    public let previousState: RTMLinkState
    /// What has led to it.
    public let operation: RTMLinkOperation
    /// In words, when a link ended.
    public let reason: String?
    /// Connected again, and others have not noticed the break.
    public let isResumed: Bool

    init(_ state: RTMLinkState, from previous: RTMLinkState, by operation: RTMLinkOperation, _ reason: String?, isResumed: Bool) {
        (currentState, previousState, self.operation, self.reason, self.isResumed) = (state, previous, operation, reason, isResumed)
    }
}

extension ChannelID {
    var rtmType: RTMChannelType { kind == .message ? .message : .stream }
}
