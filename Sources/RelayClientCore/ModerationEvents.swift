public import RelayRights
import RelayWire

/// A moderator has changed what this client may, at once and over reconnects. [AC10]
public struct AccessChange: Hashable, Sendable {
    /// What it may from here on.
    public var access: Access
    /// Id of the moderator.
    public var by: String
}

/// A channel was frozen, or is so no more: while it is, everybody but moderators may only look on. [AC11]
///
/// Topics in which this client published are left when it begins (`refused`); they are joined again by `joinTopic` when it is over.
public struct ChannelFreeze: Hashable, Sendable {
    /// Where this client is: the message or the stream channel of the name that is frozen.
    public var channel: ChannelID
    /// Whether it begins.
    public var isFrozen: Bool
    /// Id of the moderator; `nil` when that was before this client came, or came back.
    public var by: String?
}

extension ClientMachine {
    mutating func accessChanged(_ changed: AccessChanged) {
        access = Access(changed.access)
        emit(.accessChanged(AccessChange(access: access!, by: changed.by.text)))
    }

    mutating func channelFrozen(_ frozen: ChannelFrozen) {
        guard let channel = known.channels[frozen.channel] else { return }
        if frozen.frozen { known.frozen.insert(channel) } else { known.frozen.remove(channel) }
        emit(.channelFrozen(ChannelFreeze(channel: channel, isFrozen: frozen.frozen, by: frozen.by.text)))
    }

    /// How a channel is as one comes in, or comes back: told if that is news.
    mutating func stands(frozen isFrozen: Bool, _ channel: ChannelID) {
        guard known.frozen.contains(channel) != isFrozen else { return }
        if isFrozen { known.frozen.insert(channel) } else { known.frozen.remove(channel) }
        emit(.channelFrozen(ChannelFreeze(channel: channel, isFrozen: isFrozen, by: nil)))
    }
}
