import RelayPrimitives
import RelayWire

// Who is here: events, snapshots, intervals. [PR1–PR7] The presence timeout is a session's: `Hub.detach` in Sessions/. [SE7]

extension Hub {
    // MARK: - Changes

    mutating func presenceJoined(_ membership: Membership.Index) {
        let (session, channel) = (memberships[membership].session, memberships[membership].channel)
        let user = sessions[session].user!
        let before = states(ofUser: user, seenIn: channel)
        guard channels[channel].presence.insert(user, membership) else { return tellStates(of: user, channel, before: before) }
        if !channels[channel].presence.isInterval, channels[channel].presence.members.count > configuration.presenceIntervalAbove {
            channels[channel].presence.isInterval = true
            setPresenceInterval(channel, after: configuration.presenceInterval)
        }
        let states = memberships[membership].states.mapValues(\.text)
        if channels[channel].presence.isInterval {
            channels[channel].presence.pendJoin(user, states: states, at: now.instant, window: configuration.presenceFlapWindow)
        } else {
            var event = PresenceEvent(channel: channels[channel].handle, event: .join)
            event.user = user
            event.states = states.strings
            tellPresence(event, channel, except: session)
        }
    }

    mutating func presenceLeft(_ membership: Membership.Index, _ end: PresenceEnd) {
        let (session, channel) = (memberships[membership].session, memberships[membership].channel)
        let user = sessions[session].user!
        let before = states(ofUser: user, seenIn: channel)
        guard channels[channel].presence.remove(user, membership) else { return tellStates(of: user, channel, before: before) }
        if channels[channel].presence.isInterval {
            channels[channel].presence.pendLeave(user, end, states: before, at: now.instant)
            if channels[channel].presence.members.count < configuration.presenceIntervalBelow {
                tellInterval(channel, isLast: true)
                channels[channel].presence.isInterval = false
            }
        } else {
            var event = PresenceEvent(channel: channels[channel].handle, event: end == .leave ? .leave : .timeout)
            event.user = user
            tellPresence(event, channel, except: session)
        }
    }

    /// The states of a user that others see in a channel: if several devices have set a key, the newest value counts.
    func states(ofUser user: Name, seenIn channel: Channel.Index) -> [Name: String] {
        let devices = channels[channel].presence.memberships(of: user)
        var seen = devices.first.map { memberships[$0].states } ?? [:]
        for device in devices.dropFirst() { seen.merge(memberships[device].states) { $0.order > $1.order ? $0 : $1 } }
        return seen.mapValues(\.text)
    }

    /// Tells what was set and removed; the user itself hears it as well.
    ///
    /// - Parameter before: what was seen of the user.
    mutating func tellStates(of user: Name, _ channel: Channel.Index, before: [Name: String]) {
        let after = states(ofUser: user, seenIn: channel)
        let set = after.filter { !isSameText(before[$0.key], $0.value) }
        let removed = before.keys.filter { after[$0] == nil }.inOrder()
        guard !set.isEmpty || !removed.isEmpty else { return }
        if channels[channel].presence.isInterval {
            channels[channel].presence.pendStates(user)
        } else {
            var event = PresenceEvent(channel: channels[channel].handle, event: .stateChanged)
            event.user = user
            event.states = set.strings
            if !removed.isEmpty { event.removed = removed }
            tellPresence(event, channel)
        }
    }

    private mutating func tellPresence(_ event: PresenceEvent, _ channel: Channel.Index, except: Session.Index? = nil) {
        counters.presenceEvents += 1
        enqueueJSON(room: channels[channel].room, .presence, event, to: channels[channel].presenceReceivers, except: except)
    }

    // MARK: - Snapshot and pages

    /// At most 100 members and at most what fits a frame. [PR3]
    mutating func sendPresenceSnapshot(_ channel: Channel.Index, to connection: Connection.Index) {
        var event = PresenceEvent(channel: channels[channel].handle, event: .snapshot)
        event.members = membersPage(channel, from: 0, limit: Limits.membersPerPageMax)
        event.total = channels[channel].presence.members.count
        enqueueJSON(connection, .presence, event)
        channels[channel].presence.snapshotTaken()
    }

    /// Members in order from a position, bounded in number and bytes; at least one if there is one.
    func membersPage(_ channel: Channel.Index, from position: Int, limit: Int) -> [Member] {
        var page: [Member] = []
        var bytes = 0
        for entry in channels[channel].presence.members[position...].prefix(limit) {
            let member = Member(user: entry.user.text, states: states(ofUser: entry.user, seenIn: channel).strings)
            bytes += member.pageBytes
            if bytes > Limits.jsonPageBytes, !page.isEmpty { break }
            page.append(member)
        }
        return page
    }

    // MARK: - Intervals

    private mutating func setPresenceInterval(_ channel: Channel.Index, after delay: Duration) {
        guard !channels[channel].presence.intervalIsSet else { return }
        channels[channel].presence.intervalIsSet = true
        deadlines.set(.presenceInterval(channel: channel, generation: channels[channel].generation), at: now.instant + delay)
    }

    /// One frame at a time: what a crowd does is told to a crowd, and what all of it waits for stays within a chunk or two.
    mutating func presenceIntervalDeadline(_ channel: Channel.Index) {
        channels[channel].presence.intervalIsSet = false
        guard channels[channel].presence.isInterval else { return }
        let isAllTold = tellInterval(channel, isLast: false)
        let interval = configuration.presenceInterval
        setPresenceInterval(channel, after: isAllTold ? interval : min(interval, configuration.presenceFrameInterval))
    }

    /// - Parameter isLast: tell everything, in as many frames as it takes.
    /// - Returns: whether nothing is left but what may still cancel out.
    @discardableResult
    private mutating func tellInterval(_ channel: Channel.Index, isLast: Bool) -> Bool {
        var page = IntervalPage(channel: channels[channel].handle)
        var last: Name?
        for user in channels[channel].presence.pendingInTurn {
            var here: Member?
            if !channels[channel].presence.memberships(of: user).isEmpty {
                here = Member(user: user.text, states: states(ofUser: user, seenIn: channel).strings)
            }
            if page.bytes > 0, page.bytes + IntervalPage.bytes(user, here) > Limits.jsonPageBytes {
                tellPresence(page.event, channel)
                if !isLast {
                    channels[channel].presence.toldThrough = last
                    return false
                }
                page = IntervalPage(channel: channels[channel].handle)
            }
            let telling = channels[channel].presence.takeTelling(
                user, at: now.instant, window: configuration.presenceFlapWindow, isLast: isLast)
            page.add(telling, user, here)
            last = user
        }
        channels[channel].presence.toldThrough = nil
        if page.bytes > 0 { tellPresence(page.event, channel) }
        return true
    }
}

/// One `interval` event while it is being filled, up to `Limits.jsonPageBytes`.
private struct IntervalPage {
    private let channel: UInt32
    private(set) var bytes = 0
    private var joined: [Member] = []
    private var changed: [Member] = []
    private var left: [Name] = []
    private var timedOut: [Name] = []

    init(channel: UInt32) { self.channel = channel }

    var event: PresenceEvent {
        var event = PresenceEvent(channel: channel, event: .interval)
        event.joined = joined.isEmpty ? nil : joined
        event.changed = changed.isEmpty ? nil : changed
        event.left = left.isEmpty ? nil : left
        event.timedOut = timedOut.isEmpty ? nil : timedOut
        return event
    }

    mutating func add(_ telling: PendingChange.Telling, _ user: Name, _ member: Member?) {
        switch telling {
        case .nothing, .later:
            return
        case .joined:
            joined.append(member!)
        case .changed:
            changed.append(member!)
        case .ended(let end):
            addEnd(end, user)
        case .endedAndJoined(let end):
            addEnd(end, user)
            joined.append(member!)
        }
        bytes += Self.bytes(user, member)
    }

    /// What one user takes at most, before escaping: it may have left and come back.
    static func bytes(_ user: Name, _ member: Member?) -> Int { (member?.pageBytes ?? 0) + user.text.utf8.count + 4 }

    private mutating func addEnd(_ end: PresenceEnd, _ user: Name) {
        switch end {
        case .leave: left.append(user)
        case .timeout: timedOut.append(user)
        }
    }
}

extension Member {
    /// What it takes in a page, before escaping.
    var pageBytes: Int {
        states.reduce(32 + user.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count + 8 }
    }
}

extension [Name: String] {
    var strings: [String: String] { isEmpty ? [:] : Dictionary<String, String>(uniqueKeysWithValues: map { ($0.key.text, $0.value) }) }
}
