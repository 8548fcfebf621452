/// Kinds of channels. `user` names one user's 1:1 messages, not a channel.
public enum RTMChannelType: Int, Sendable { case none, message, stream, user }

/// What a subscription to a message channel brings.
public struct RTMSubscribeChannelFeature: OptionSet, Sendable {
    public let rawValue: UInt
    /// From the bits below.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Who is here, with states.
    public static let presence = Self(rawValue: 1)
    /// Changes of the channel's metadata: storage events.
    public static let metadata = Self(rawValue: 2)
    /// Messages.
    public static let message = Self(rawValue: 4)
    /// Changes of locks.
    public static let lock = Self(rawValue: 8)
    /// Not seen by others: in no snapshot, count or event.
    public static let beQuiet = Self(rawValue: 16)
}

/// What joining a stream channel brings besides its topics.
public struct RTMJoinChannelFeature: OptionSet, Sendable {
    public let rawValue: UInt
    /// From the bits below.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Who is here, with states.
    public static let presence = Self(rawValue: 1)
    /// Changes of the channel's metadata: storage events.
    public static let metadata = Self(rawValue: 2)
    /// Changes of locks.
    public static let lock = Self(rawValue: 4)
    /// Not seen by others; may not publish in topics.
    public static let beQuiet = Self(rawValue: 8)
}

/// What a topic's publisher asks of the order. TCP keeps it either way.
public enum RTMMessageQos: Int, Sendable { case unordered, ordered }

/// Which topics wait for which when a reader is slow: the lowest loses packets first.
public enum RTMMessagePriority: Int, Sendable { case highest = 0, high = 1, normal = 4, low = 8 }

/// What a presence event tells. `errorOutOfService` never comes.
public enum RTMPresenceEventType: Int, Sendable {
    case none, snapshot, interval, remoteJoinChannel, remoteLeaveChannel, remoteConnectionTimeout, remoteStateChanged, errorOutOfService
}

/// What a topic event tells.
public enum RTMTopicEventType: Int, Sendable { case none, snapshot, remoteJoinTopic, remoteLeaveTopic }

/// Whose metadata a storage event is about.
public enum RTMStorageType: Int, Sendable { case none, user, channel }

/// What a storage event tells. Every write is `set`: the relay does not say whether the writer called set or update.
public enum RTMStorageEventType: Int, Sendable { case none, snapshot, set, update, remove }

/// What a lock event tells. A lock that was revoked is `lockReleased`.
public enum RTMLockEventType: Int, Sendable { case none, snapshot, lockSet, lockRemoved, lockAcquired, lockReleased, lockExpired }

/// How the client stands with the relay.
public enum RTMClientConnectionState: Int, Sendable { case disconnected = 1, connecting, connected, reconnecting, failed }

/// Why that changed. Those behind "never" stand here for a `switch` that names them: the relay has no reason for them.
public enum RTMClientConnectionChangeReason: Int, Sendable {
    case changedConnecting = 0, changedInterrupted = 2, changedBannedByServer = 3, changedInvalidToken = 8, changedTokenExpired = 9
    case changedRejectedByServer = 10, changedKeepAliveTimeout = 14, changedRejoinSuccess = 15, changedSameUidLogin = 19
    case changedLoginSuccess = 10001, changedLogout = 10002
    // Never:
    case changedJoinSuccess = 1, changedJoinFailed = 4, changedLeaveChannel = 5, changedInvalidAppId = 6, changedInvalidChannelName = 7
    case changedSettingProxyServer = 11, changedRenewToken = 12, changedClientIpAddressChanged = 13, changedChangedLost = 16
    case changedEchoTest = 17, changedClientIpAddressChangedByUser = 18, changedTooManyBroadcasters = 20
    case changedLicenseValidationFailure = 21, changedCertificationVerifyFailure = 22, changedStreamChannelNotAvailable = 23
    case changedInconsistentAppId = 24, changedPresenceNotReady = 10003
}

/// How the link stands. `suspended`: the client has stopped because its events were not read.
public enum RTMLinkState: Int, Sendable { case idle, connecting, connected, disconnected, suspended, failed }

/// What has led to a link's state. `join`, `leave`, `serverTimeout` and `networkChange` never do.
public enum RTMLinkOperation: Int, Sendable {
    case login, logout, join, leave, serverReject, autoReconnect, reconnected, heartbeatTimeout, serverTimeout, networkChange
}
