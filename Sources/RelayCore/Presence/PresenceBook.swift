import RelayPrimitives
import RelayWire

/// How a stay in a channel ended. [PR5]
enum PresenceEnd: Equatable { case leave, timeout }

/// A state that a device has set. [PR8]
struct PresenceState: Equatable {
    var text: String
    /// Rises with each that is set: of a key that several devices of a user have, the newest is seen.
    var order: UInt64
}

/// Who is seen in a channel, and in interval mode what its receivers have not been told yet. [PR1, PR6, PR7]
struct PresenceBook {
    struct Entry {
        var user: Name
        /// Of its devices, in the order in which they came in.
        var memberships: [Membership.Index]
    }

    /// Members in the order of their ids.
    private(set) var members: [Entry] = []
    var isInterval = false
    /// Whether the next interval has a deadline, which one of an earlier time in interval mode may be.
    var intervalIsSet = false
    /// The last name of an interval that did not fit into one frame: the next frame begins behind it, so that nobody waits for users who
    /// change all the time.
    var toldThrough: Name?
    private(set) var pending = [Name: PendingChange]()
    /// Snapshots that receivers have been given.
    private var snapshots: UInt64 = 0

    /// - Returns: whether it is the user's first device.
    mutating func insert(_ user: Name, _ membership: Membership.Index) -> Bool {
        let index = position(of: user)
        guard index < members.count, members[index].user == user else {
            members.insert(Entry(user: user, memberships: [membership]), at: index)
            return true
        }
        members[index].memberships.append(membership)
        return false
    }

    /// - Returns: whether it was the user's last device.
    mutating func remove(_ user: Name, _ membership: Membership.Index) -> Bool {
        let index = position(of: user)
        precondition(index < members.count && members[index].user == user, "\(user) leaves without being there")
        members[index].memberships.removeFirst(of: membership)
        guard members[index].memberships.isEmpty else { return false }
        members.remove(at: index)
        return true
    }

    /// The devices of a user that are in.
    func memberships(of user: Name) -> [Membership.Index] {
        let index = position(of: user)
        return index < members.count && members[index].user == user ? members[index].memberships : []
    }

    // MARK: - Pending changes

    mutating func pendJoin(_ user: Name, states: [Name: String], at now: Instant, window: Duration) {
        change(user, isKnown: false) { $0.join(states: states, at: now, window: window) }
    }

    mutating func pendLeave(_ user: Name, _ end: PresenceEnd, states: [Name: String], at now: Instant) {
        change(user, isKnown: true) { $0.leave(end, states: states, at: now) }
    }

    mutating func pendStates(_ user: Name) { change(user, isKnown: true) { $0.statesChanged() } }

    /// Of whom there is something to tell, those behind `toldThrough` first.
    var pendingInTurn: [Name] {
        let names = pending.keys.inOrder()
        guard let toldThrough, let next = names.firstIndex(where: { toldThrough < $0 }) else { return names }
        return Array(names[next...] + names[..<next])
    }

    /// A receiver has got the picture as it is at this moment. Each change takes that in when it is looked at next: a crowd that
    /// comes in together costs no look at all of them for each of them.
    mutating func snapshotTaken() { snapshots += 1 }

    /// What to tell of a user now; it is forgotten, unless something is left to be told later.
    mutating func takeTelling(_ user: Name, at now: Instant, window: Duration, isLast: Bool) -> PendingChange.Telling {
        pending[user]!.takeIn(snapshots)
        let telling = pending[user]!.telling(at: now, window: window, isLast: isLast)
        if telling != .later { pending[user] = nil }
        // What a crowd took is given back.
        if pending.isEmpty { pending = [:] }
        return telling
    }

    private mutating func change(_ user: Name, isKnown: Bool, _ change: (inout PendingChange) -> Void) {
        let snapshots = snapshots
        func apply(_ pending: inout PendingChange) {
            pending.takeIn(snapshots)
            change(&pending)
        }
        apply(&pending[user, default: PendingChange(isKnown: isKnown, snapshots: snapshots)])
    }

    /// The first member at or behind `user`.
    func position(of user: Name) -> Int {
        var low = 0
        var high = members.count
        while low < high {
            let middle = (low + high) / 2
            if members[middle].user < user { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// What receivers in interval mode will be told of one user. [PR6, PR7]
///
/// Receivers do not all know the same: one that came in since the last interval has a snapshot of its own, which may
/// hold a user that the others were never told of, or lack one that they still believe to be there.
struct PendingChange {
    /// Whether the picture of any receiver has the user, and whether that of any receiver lacks it.
    private var isKnownToSome: Bool
    private var isMissingForSome: Bool
    private var isHere: Bool
    private var end: (end: PresenceEnd, at: Instant, states: [Name: String])?
    private var isChanged = false
    /// Of the book's snapshots those that the above knows of. While there are more, `isHere` is as it was when they were taken.
    private var snapshots: UInt64

    enum Telling: Equatable { case nothing, later, joined, changed, ended(PresenceEnd), endedAndJoined(PresenceEnd) }

    /// Of a user whose picture is right so far: everybody knows it, or nobody.
    init(isKnown: Bool, snapshots: UInt64) {
        self.snapshots = snapshots
        isKnownToSome = isKnown
        isMissingForSome = !isKnown
        isHere = isKnown
    }

    mutating func join(states: [Name: String], at now: Instant, window: Duration) {
        isHere = true
        guard let end, now - end.at < window else { return }
        self.end = nil
        if !isSame(end.states, states) { isChanged = true }
    }

    mutating func leave(_ how: PresenceEnd, states: [Name: String], at now: Instant) {
        isHere = false
        if isKnownToSome, end == nil { end = (how, now, states) }
    }

    mutating func statesChanged() { isChanged = true }

    /// Receivers have got the picture since it was looked at last.
    mutating func takeIn(_ taken: UInt64) {
        guard taken > snapshots else { return }
        snapshots = taken
        if isHere { isKnownToSome = true } else { isMissingForSome = true }
    }

    /// What to tell now. A leave that a join may still cancel is told later, unless this is the last chance.
    func telling(at now: Instant, window: Duration, isLast: Bool) -> Telling {
        if let end {
            if isHere { return .endedAndJoined(end.end) }
            return !isLast && now - end.at < window ? .later : .ended(end.end)
        }
        guard isHere else { return .nothing }
        if isMissingForSome { return .joined }
        return isChanged ? .changed : .nothing
    }
}

private func isSame(_ left: [Name: String], _ right: [Name: String]) -> Bool {
    left.count == right.count && left.allSatisfy { isSameText(right[$0.key], $0.value) }
}
