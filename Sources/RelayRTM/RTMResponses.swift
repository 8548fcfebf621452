import RelayClient

/// Done.
public final class RTMCommonResponse: RTMObject<RTMCommonResponseFields> {
    /// Done.
    public convenience init() { self.init(fields: .init()) }
}

/// What an `RTMCommonResponse` has: nothing.
public struct RTMCommonResponseFields: Hashable {}

/// What became of a topic's subscription.
public final class RTMTopicSubscriptionResponse: RTMObject<RTMTopicSubscriptionResponseFields> {
    /// An empty one.
    public convenience init() { self.init(fields: .init()) }

    convenience init(_ selection: StreamChannel.Selection) {
        self.init(fields: .init(succeedUsers: selection.users, failedUsers: selection.failed.keys.sorted()))
    }
}

/// What an `RTMTopicSubscriptionResponse` has.
public struct RTMTopicSubscriptionResponseFields: Hashable {
    /// Of listed users those who are heard from now on, present or not; else who publishes at this moment.
    public var succeedUsers: [String] = []
    /// Users who could not be added: bad names, and those beyond 64 over all calls.
    public var failedUsers: [String] = []
}

/// Whom this client hears in a topic.
public final class RTMGetTopicSubscribedUsersResponse: RTMObject<RTMGetTopicSubscribedUsersResponseFields> {
    /// An empty one.
    public convenience init() { self.init(fields: .init()) }

    convenience init(users: [String]) { self.init(fields: .init(users: users)) }
}

/// What an `RTMGetTopicSubscribedUsersResponse` has.
public struct RTMGetTopicSubscribedUsersResponseFields: Hashable {
    /// Their ids.
    public var users: [String] = []
}

/// Metadata as it was at one moment.
public final class RTMGetMetadataResponse: RTMObject<RTMGetMetadataResponseFields> {
    /// An empty one.
    public convenience init() { self.init(fields: .init()) }

    convenience init(_ contents: MetadataContents) {
        self.init(fields: .init(data: RTMMetadata(contents.inOrder, majorRevision: contents.majorRevision)))
    }
}

/// What an `RTMGetMetadataResponse` has.
public struct RTMGetMetadataResponseFields: Hashable {
    /// The whole set; never `nil`.
    public var data: RTMMetadata?
}

/// Who is in a channel.
public final class RTMGetOnlineUsersResponse: RTMObject<RTMGetOnlineUsersResponseFields> {
    /// An empty one.
    public convenience init() { self.init(fields: .init()) }

    convenience init(total: Int, users: [RTMUserState], next: String?) {
        self.init(fields: .init(totalOccupancy: Int32(clamping: total), userStateList: users, nextPage: next))
    }
}

/// What an `RTMGetOnlineUsersResponse` has.
public struct RTMGetOnlineUsersResponseFields: Hashable {
    /// How many there are in all.
    public var totalOccupancy: Int32 = 0
    /// This page of them.
    public var userStateList: [RTMUserState] = []
    /// `page` of the next question; `nil` at the end.
    public var nextPage: String?
}

/// A channel by name and kind.
public final class RTMChannelInfo: RTMObject<RTMChannelInfoFields> {
    /// An empty one.
    public convenience init() { self.init(fields: .init()) }

    convenience init(_ id: ChannelID) { self.init(fields: .init(channelName: id.name, channelType: id.rtmType)) }
}

/// What an `RTMChannelInfo` has.
public struct RTMChannelInfoFields: Hashable {
    /// Its name.
    public var channelName = ""
    /// `message` or `stream`.
    public var channelType = RTMChannelType.none
}

/// Where a user is.
public final class RTMGetUserChannelsResponse: RTMObject<RTMGetUserChannelsResponseFields> {
    /// An empty one.
    public convenience init() { self.init(fields: .init()) }

    convenience init(_ ids: [ChannelID]) {
        self.init(fields: .init(totalChannel: Int32(clamping: ids.count), channels: ids.map { RTMChannelInfo($0) }))
    }
}

/// What an `RTMGetUserChannelsResponse` has.
public struct RTMGetUserChannelsResponseFields: Hashable {
    /// How many channels there are.
    public var totalChannel: Int32 = 0
    /// Which.
    public var channels: [RTMChannelInfo] = []
}

/// A user's states in a channel.
public final class RTMPresenceGetStateResponse: RTMObject<RTMPresenceGetStateResponseFields> {
    /// An empty one.
    public convenience init() { self.init(fields: .init()) }

    convenience init(_ state: RTMUserState) { self.init(fields: .init(state: state)) }
}

/// What an `RTMPresenceGetStateResponse` has.
public struct RTMPresenceGetStateResponseFields: Hashable {
    /// The user and its states.
    public var state = RTMUserState()
}

/// The locks of a channel.
public final class RTMGetLocksResponse: RTMObject<RTMGetLocksResponseFields> {
    /// An empty one.
    public convenience init() { self.init(fields: .init()) }

    convenience init(_ locks: [LockDetail]) { self.init(fields: .init(lockDetailList: locks.map { RTMLockDetail($0) })) }
}

/// What an `RTMGetLocksResponse` has.
public struct RTMGetLocksResponseFields: Hashable {
    /// In order of name.
    public var lockDetailList: [RTMLockDetail] = []
}
