import RelayClient

/// Done.
public final class RTMCommonResponse: Sendable {}

/// What became of a topic's subscription.
public final class RTMTopicSubscriptionResponse: Sendable {
    /// Users who are heard from now on, present or not; empty for everybody.
    public let succeedUsers: [String]
    /// Users who could not be added: bad names, and names beyond 64.
    public let failedUsers: [String]

    init(_ selection: StreamChannel.Selection) { (succeedUsers, failedUsers) = (selection.users, selection.failed.keys.sorted()) }
}

/// Whom this client hears in a topic.
public final class RTMGetTopicSubscribedUsersResponse: Sendable {
    /// Their ids.
    public let users: [String]
    init(users: [String]) { self.users = users }
}

/// Metadata as it was at one moment.
public final class RTMGetMetadataResponse {
    /// The whole set; never `nil`.
    public let data: RTMMetadata?
    init(_ contents: MetadataContents) { data = RTMMetadata(contents.inOrder, majorRevision: contents.majorRevision) }
}

/// Who is in a channel.
public final class RTMGetOnlineUsersResponse {
    /// How many there are in all.
    public let totalOccupancy: Int32
    /// This page of them.
    public let userStateList: [RTMUserState]
    /// `page` of the next question; `nil` at the end.
    public let nextPage: String?

    init(total: Int, users: [RTMUserState], next: String?) {
        (totalOccupancy, userStateList, nextPage) = (Int32(clamping: total), users, next)
    }
}

/// A channel by name and kind.
public final class RTMChannelInfo: Sendable {
    /// Its name.
    public let channelName: String
    /// `message` or `stream`.
    public let channelType: RTMChannelType
    init(_ id: ChannelID) { (channelName, channelType) = (id.name, id.rtmType) }
}

/// Where a user is.
public final class RTMGetUserChannelsResponse: Sendable {
    /// How many channels there are.
    public let totalChannel: Int32
    /// Which.
    public let channels: [RTMChannelInfo]
    init(_ ids: [ChannelID]) { (totalChannel, channels) = (Int32(clamping: ids.count), ids.map { RTMChannelInfo($0) }) }
}

/// A user's states in a channel.
public final class RTMPresenceGetStateResponse {
    /// The user and its states.
    public let state: RTMUserState
    init(_ state: RTMUserState) { self.state = state }
}

/// The locks of a channel.
public final class RTMGetLocksResponse: Sendable {
    /// In order of name.
    public let lockDetailList: [RTMLockDetail]
    init(_ locks: [LockDetail]) { lockDetailList = locks.map { RTMLockDetail($0) } }
}
