internal import RelayRights
import RelayPrimitives
import RelayWire

/// Moderators have set a mode of a channel, or have taken it back.
///
/// When a channel is frozen, this client no longer publishes in its topics (`refused`); when that is over, `startPublishing` begins again.
package struct ChannelModeChange: Equatable, Sendable {
    /// Where this client is: the message or the stream channel of the name.
    package var place: ChannelID
    /// What it is about.
    package var mode: ChannelMode
    /// Whether it begins.
    package var isOn: Bool
    /// Id of the moderator; `nil` when that was before this client came, or came back.
    package var by: String?

    /// The channel's name.
    package var channel: String { place.channel.text }

    package init(channel: String, mode: ChannelMode, isOn: Bool, by: String? = nil) {
        self.init(place: ChannelID(kind: .message, name: channel), mode: mode, isOn: isOn, by: by)
    }

    package init(place: ChannelID, mode: ChannelMode, isOn: Bool, by: String? = nil) {
        (self.place, self.mode, self.isOn, self.by) = (place, mode, isOn, by)
    }
}

extension ClientMachine {
    mutating func accessChanged(_ changed: AccessChanged) {
        access = Access(changed.access)
        emit(.accessChanged(access!, by: changed.by.text))
    }

    /// One that a later version has says nothing.
    mutating func modeChanged(_ changed: ModeChanged) {
        guard let channel = known.channels[changed.channel], let mode = ChannelMode(rawValue: changed.mode) else { return }
        set(mode, changed.on, channel, by: changed.by.text)
    }

    /// How a channel is as one comes in, or comes back: told if that is news.
    mutating func stands(modes: [String]?, _ channel: ChannelID) {
        let modes = Set((modes ?? []).compactMap(ChannelMode.init))
        for mode in ChannelMode.allCases where modes.contains(mode) != known.modes[channel, default: []].contains(mode) {
            set(mode, modes.contains(mode), channel, by: nil)
        }
    }

    private mutating func set(_ mode: ChannelMode, _ isOn: Bool, _ channel: ChannelID, by moderator: String?) {
        if isOn { known.modes[channel, default: []].insert(mode) } else { known.modes[channel]?.remove(mode) }
        emit(.channelMode(ChannelModeChange(place: channel, mode: mode, isOn: isOn, by: moderator)))
    }
}
