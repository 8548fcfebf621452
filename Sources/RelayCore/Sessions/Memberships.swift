/// The stays of one session, by channel index, in that order: one block of memory, and none while there is no stay.
///
/// Most sessions are in a channel or two; a dictionary of that size is mostly room for more.
struct Memberships {
    private struct Entry {
        var channel: Int32
        /// `nil` only while it is being changed.
        var membership: Membership?
    }

    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }
    var channels: [Int32] { entries.map(\.channel) }
    var all: some Sequence<Membership> { entries.lazy.map { $0.membership.unsafelyUnwrapped } }

    func count(where isMeant: (Int32, Membership) -> Bool) -> Int {
        entries.count { isMeant($0.channel, $0.membership.unsafelyUnwrapped) }
    }

    /// Changes are made in place: nothing of a membership is copied.
    subscript(channel: Int32) -> Membership? {
        get {
            let index = index(of: channel)
            return index < entries.count && entries[index].channel == channel ? entries[index].membership : nil
        }
        _modify {
            let index = index(of: channel)
            let isKnown = index < entries.count && entries[index].channel == channel
            var membership: Membership?
            if isKnown { swap(&membership, &entries[index].membership) }
            defer {
                if membership == nil {
                    if isKnown { entries.remove(at: index) }
                } else if isKnown {
                    swap(&membership, &entries[index].membership)
                } else {
                    entries.insert(Entry(channel: channel, membership: membership), at: index)
                }
            }
            yield &membership
        }
    }

    /// Where a channel stands or would stand.
    private func index(of channel: Int32) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].channel < channel { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
