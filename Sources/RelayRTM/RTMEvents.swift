public import Foundation
import RelayClient

/// What a message carries: text or bytes, the other is `nil`.
public final class RTMMessage: RTMValue, NSCopying {
    /// Bytes as they were sent.
    public var rawData: Data?
    /// Text as it was sent.
    public var stringData: String?

    public func copy(with zone: NSZone? = nil) -> Any { Self.with { ($0.rawData, $0.stringData) = (rawData, stringData) } }

    convenience init(_ payload: Payload) {
        self.init()
        switch payload {
        case .text(let text): stringData = text
        case .bytes(let bytes): rawData = Data(bytes)
        }
    }
}

/// A message of a channel, a packet of a topic, or a message from one user.
public final class RTMMessageEvent: RTMValue {
    /// `message`, `stream` or `user`.
    public var channelType = RTMChannelType.none
    /// The channel; of a 1:1 message the own user id.
    public var channelName = ""
    /// The topic of a packet, else empty.
    public var channelTopic = ""
    /// What was sent.
    public var message = RTMMessage()
    /// Who sent it.
    public var publisher = ""
    /// The sender's word for what it is.
    public var customType: String?
    /// The relay's clock when it was accepted, in milliseconds since 1970; 0 of packets, which carry none.
    public var timestamp: UInt64 = 0
    /// Not in hosted RTM: its place in the channel's history, from which `RTMSubscribeOptions.since` goes on; `nil` of packets and 1:1
    /// messages.
    public var position: ChannelPosition?

    convenience init(
        _ type: RTMChannelType, _ channel: String, topic: String = "", _ payload: Payload, from publisher: String,
        customType: String? = nil, at time: UInt64 = 0, position: ChannelPosition? = nil
    ) {
        self.init()
        (channelType, channelName, channelTopic, message) = (type, channel, topic, RTMMessage(payload))
        (self.publisher, self.customType, timestamp, self.position) = (publisher, customType, time, position)
    }
}

/// A change of metadata; its author is told as well.
public final class RTMStorageEvent: RTMValue {
    /// Of a channel its kind, of a user `user`.
    public var channelType = RTMChannelType.none
    /// Channel or user.
    public var storageType = RTMStorageType.none
    /// What happened.
    public var eventType = RTMStorageEventType.none
    /// Name of the channel, or id of the user.
    public var target = ""
    /// The whole set as it is after the change.
    public var data = RTMMetadata([], majorRevision: 0)

    convenience init(_ change: MetadataChange) {
        self.init()
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
public final class RTMLockDetail: RTMValue {
    /// Its name.
    public var lockName = ""
    /// Who holds it; empty when it is free.
    public var owner = ""
    /// Seconds for which it outlives its owner's last connection.
    public var ttl: Int32 = 0
    /// Not in hosted RTM: the number of this acquisition, greater than that of every earlier one; 0 when it is free.
    public var fencing: UInt64 = 0

    convenience init(_ lock: LockDetail) {
        let ttl = Int32(clamping: lock.ttl.components.seconds)
        self.init()
        (lockName, owner, self.ttl, fencing) = (lock.lock, lock.owner ?? "", ttl, lock.fencing ?? 0)
    }
}

/// A change in the locks of a channel.
public final class RTMLockEvent: RTMValue {
    /// Whose locks: the kind of the channel.
    public var channelType = RTMChannelType.none
    /// What happened.
    public var eventType = RTMLockEventType.none
    /// Name of the channel.
    public var channelName = ""
    /// The lock as it is now; of a snapshot all.
    public var lockDetailList: [RTMLockDetail] = []

    convenience init(_ change: LocksChange) {
        let eventType: RTMLockEventType =
            switch change.kind {
            case .snapshot: .snapshot
            case .set: .lockSet
            case .acquired: .lockAcquired
            case .released, .revoked: .lockReleased
            case .expired: .lockExpired
            case .removed: .lockRemoved
            }
        let locks = change.locks.map { RTMLockDetail($0) }
        self.init()
        (channelType, self.eventType, channelName, lockDetailList) = (change.place.rtmType, eventType, change.channel, locks)
    }
}

/// A change in how the link stands.
public final class RTMLinkStateEvent: RTMValue {
    /// Now.
    public var currentState = RTMLinkState.idle
    /// Before.
    public var previousState = RTMLinkState.idle
    /// What has led to it.
    public var operation = RTMLinkOperation.login
    /// In words, when a link ended.
    public var reason: String?
    /// Connected again, and others have not noticed the break.
    public var isResumed = false
}

extension ChannelID {
    var rtmType: RTMChannelType { kind == .message ? .message : .stream }
}
