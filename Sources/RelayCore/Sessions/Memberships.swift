import RelayWire

/// The memberships of one session by channel, in the order of the channels: one block of memory, and none while there is no membership.
///
/// Most sessions are in a channel or two; a dictionary of that size is mostly room for more.
struct Memberships {
    private struct Entry {
        var channel: Channel.Index
        var membership: Membership.Index
    }

    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }
    var all: [Membership.Index] { entries.map(\.membership) }

    subscript(channel: Channel.Index) -> Membership.Index? {
        let index = index(of: channel)
        return index < entries.count && entries[index].channel == channel ? entries[index].membership : nil
    }

    mutating func insert(_ membership: Membership.Index, in channel: Channel.Index) {
        entries.insert(Entry(channel: channel, membership: membership), at: index(of: channel))
    }

    mutating func remove(_ channel: Channel.Index) { entries.remove(at: index(of: channel)) }

    /// Where a channel stands or would stand.
    private func index(of channel: Channel.Index) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].channel < channel { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension Hub {
    /// The membership of a session in a channel, if it has one; it may be held over.
    func membership(of session: Session.Index, in id: ChannelID) -> Membership.Index? {
        channels[named: id].flatMap { sessions[session].memberships[$0] }
    }

    /// The membership of a session that is inside a channel.
    func membership(of session: Session.Index, inside channel: Channel.Index) -> Membership.Index {
        guard let membership = sessions[session].memberships[channel] else {
            preconditionFailure("channel \(channels[channel].handle) has session \(sessions[session].handle) inside, which has no membership there")
        }
        return membership
    }
}
