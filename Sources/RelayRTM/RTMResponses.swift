import RelayClient

/// Done.
public final class RTMCommonResponse: RTMValue {}

/// What became of a topic's subscription.
public final class RTMTopicSubscriptionResponse: RTMValue {
    /// Of listed users those who are heard from now on, present or not; else who publishes at this moment.
    public var succeedUsers: [String] = []
    /// Users who could not be added: bad names, and those beyond 64 over all calls.
    public var failedUsers: [String] = []

    convenience init(_ selection: StreamChannel.Selection) {
        self.init()
        (succeedUsers, failedUsers) = (selection.users, selection.failed.keys.sorted())
    }
}

/// Whom this client hears in a topic.
public final class RTMGetTopicSubscribedUsersResponse: RTMValue {
    /// Their ids.
    public var users: [String] = []
}

/// Metadata as it was at one moment.
public final class RTMGetMetadataResponse: RTMValue {
    /// The whole set; never `nil`.
    public var data: RTMMetadata?

    convenience init(_ contents: MetadataContents) {
        self.init()
        data = RTMMetadata(contents.inOrder, majorRevision: contents.majorRevision)
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
}

/// A channel by name and kind.
public final class RTMChannelInfo: RTMValue {
    /// Its name.
    public var channelName = ""
    /// `message` or `stream`.
    public var channelType = RTMChannelType.none
}

/// Where a user is.
public final class RTMGetUserChannelsResponse: RTMValue {
    /// How many channels there are.
    public var totalChannel: Int32 = 0
    /// Which.
    public var channels: [RTMChannelInfo] = []

    convenience init(_ ids: [ChannelID]) {
        self.init()
        totalChannel = Int32(clamping: ids.count)
        channels = ids.map { id in .with { ($0.channelName, $0.channelType) = (id.name, id.rtmType) } }
    }
}

/// A user's states in a channel.
public final class RTMPresenceGetStateResponse: RTMValue {
    /// The user and its states.
    public var state = RTMUserState()
}

/// The locks of a channel.
public final class RTMGetLocksResponse: RTMValue {
    /// In order of name.
    public var lockDetailList: [RTMLockDetail] = []
}
