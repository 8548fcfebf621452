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
    /// Not in hosted RTM: its place in the channel's history, from which `RTMSubscribeOptions.since` goes on; `nil` of packets and 1:1
    /// messages.
    public let position: ChannelPosition?

    init(
        _ type: RTMChannelType, _ channel: String, topic: String = "", _ payload: Payload, from publisher: String,
        customType: String? = nil,
        at time: UInt64 = 0, position: ChannelPosition? = nil
    ) {
        (channelType, channelName, channelTopic, message) = (type, channel, topic, RTMMessage(payload))
        (self.publisher, self.customType, timestamp, self.position) = (publisher, customType, time, position)
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
        case .message(let name): (channelType, storageType, target) = (.message, .channel, name)
        case .stream(let name): (channelType, storageType, target) = (.stream, .channel, name)
        case .user(let user): (channelType, storageType, target) = (.user, .user, user)
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
        (lockName, owner) = (lock.lock, lock.owner ?? "")
        (ttl, fencing) = (Int32(clamping: lock.ttl.components.seconds), lock.fencing ?? 0)
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
        (channelType, channelName, lockDetailList) = (
            change.place.rtmType, change.channel, change.locks.map { RTMLockDetail($0) }
        )
        eventType =
            switch change.kind {
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
