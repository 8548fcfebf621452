import RelayClient

/// Done.
public final class RTMCommonResponse: RTMValue {
}

/// What became of a topic's subscription.
public final class RTMTopicSubscriptionResponse: RTMValue {
    /// Of listed users those who are heard from now on, present or not; else who publishes at this moment.
    public var succeedUsers: [String] = []
    /// Users who could not be added: bad names, and those beyond 64 over all calls.
    public var failedUsers: [String] = []

    convenience init(_ selection: StreamChannel.Selection) {
        self.init()
        (self.succeedUsers, self.failedUsers) = (selection.users, selection.failed.keys.sorted())
    }
}

/// Whom this client hears in a topic.
public final class RTMGetTopicSubscribedUsersResponse: RTMValue {
    /// Their ids.
    public var users: [String] = []

    convenience init(users: [String]) {
        self.init()
        self.users = users
    }
}

/// Metadata as it was at one moment.
public final class RTMGetMetadataResponse: RTMValue {
    /// The whole set; never `nil`.
    public var data: RTMMetadata?

    convenience init(_ contents: MetadataContents) {
        self.init()
        self.data = RTMMetadata(contents.inOrder, majorRevision: contents.majorRevision)
    }
}

/// Who is in a channel.
public final class RTMGetOnlineUsersResponse: RTMValue {
    /// How many there are in all.
    public var totalOccupancy: Int32 = 0
    /// This page of them.
    public var userStateList: [RTMUserState] = []
    /// `page` of the next question; `nil` at the end.
    public var nextPage: String?

    convenience init(total: Int, users: [RTMUserState], next: String?) {
        self.init()
        (self.totalOccupancy, self.userStateList, self.nextPage) = (Int32(clamping: total), users, next)
    }
}

/// A channel by name and kind.
public final class RTMChannelInfo: RTMValue {
    /// Its name.
    public var channelName = ""
    /// `message` or `stream`.
    public var channelType = RTMChannelType.none

    convenience init(_ id: ChannelID) {
        self.init()
        (self.channelName, self.channelType) = (id.name, id.rtmType)
    }
}

/// Where a user is.
public final class RTMGetUserChannelsResponse: RTMValue {
    /// How many channels there are.
    public var totalChannel: Int32 = 0
    /// Which.
    public var channels: [RTMChannelInfo] = []

    convenience init(_ ids: [ChannelID]) {
        self.init()
        (self.totalChannel, self.channels) = (Int32(clamping: ids.count), ids.map { RTMChannelInfo($0) })
    }
}

/// A user's states in a channel.
public final class RTMPresenceGetStateResponse: RTMValue {
    /// The user and its states.
    public var state = RTMUserState()

    convenience init(_ state: RTMUserState) {
        self.init()
        self.state = state
    }
}

/// The locks of a channel.
public final class RTMGetLocksResponse: RTMValue {
    /// In order of name.
    public var lockDetailList: [RTMLockDetail] = []

    convenience init(_ locks: [LockDetail]) {
        self.init()
        self.lockDetailList = locks.map { RTMLockDetail($0) }
    }
}
