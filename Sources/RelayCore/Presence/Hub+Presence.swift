import RelayWire

// Who is here: events, snapshots, intervals. [PR1–PR7]

extension Hub {
    // MARK: - Changes

    mutating func presenceJoined(_ session: Int32, _ channel: Int32) {
        let user = sessions[session].user!
        channels[channel].presence.insert(user, session)
        if !channels[channel].presence.isInterval, channels[channel].presence.members.count > configuration.presenceIntervalAbove {
            channels[channel].presence.isInterval = true
            setPresenceInterval(channel)
        }
        let states = sessions[session].memberships[channel]!.states
        if channels[channel].presence.isInterval {
            channels[channel].presence.pendJoin(user, states: states, at: now.instant, window: configuration.presenceFlapWindow)
        } else {
            var event = PresenceEvent(channel: channels[channel].handle, event: .join)
            event.user = user
            event.states = states.strings
            tellPresence(event, channel, except: session)
        }
    }

    mutating func presenceLeft(_ session: Int32, _ channel: Int32, _ end: PresenceEnd) {
        let user = sessions[session].user!
        channels[channel].presence.remove(user)
        if channels[channel].presence.isInterval {
            let states = sessions[session].memberships[channel]!.states
            channels[channel].presence.pendLeave(user, end, states: states, at: now.instant)
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

    /// Tells what was set and removed; the user itself hears it as well.
    mutating func statesChanged(_ session: Int32, _ channel: Int32, set: [Name: String], removed: [Name]) {
        let user = sessions[session].user!
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

    private mutating func tellPresence(_ event: PresenceEvent, _ channel: Int32, except: Int32 = -1) {
        counters.presenceEvents += 1
        enqueueJSON(room: channels[channel].room, .presence, event, to: channels[channel].presenceReceivers, except: except)
    }

    // MARK: - Snapshot and pages

    /// At most 100 members and at most what fits a frame. [PR3]
    mutating func sendPresenceSnapshot(_ channel: Int32, to connection: Int32) {
        var event = PresenceEvent(channel: channels[channel].handle, event: .snapshot)
        event.members = membersPage(channel, from: 0, limit: Limits.membersPerPageMax)
        event.total = channels[channel].presence.members.count
        enqueueJSON(connection, .presence, event)
        channels[channel].presence.snapshotTaken()
    }

    /// Members in order from a position, bounded in number and bytes; at least one if there is one.
    func membersPage(_ channel: Int32, from position: Int, limit: Int) -> [Member] {
        var page: [Member] = []
        var bytes = 0
        for entry in channels[channel].presence.members[position...].prefix(limit) {
            let member = member(entry, channel)
            bytes += member.pageBytes
            if bytes > Limits.jsonPageBytes, !page.isEmpty { break }
            page.append(member)
        }
        return page
    }

    private func member(_ entry: PresenceBook.Entry, _ channel: Int32) -> Member {
        Member(user: entry.user, states: sessions[entry.session].memberships[channel]!.states.strings)
    }

    // MARK: - Intervals

    private mutating func setPresenceInterval(_ channel: Int32) {
        deadlines.set(
            .presenceInterval(channel: channel, generation: channels[channel].generation), at: now.instant + configuration.presenceInterval)
    }

    mutating func presenceIntervalDeadline(_ channel: Int32) {
        guard channels[channel].presence.isInterval else { return }
        tellInterval(channel, isLast: false)
        setPresenceInterval(channel)
    }

    private mutating func tellInterval(_ channel: Int32, isLast: Bool) {
        var page = IntervalPage(channel: channels[channel].handle)
        for user in channels[channel].presence.pending.keys.sorted() {
            let telling = channels[channel].presence.takeTelling(
                user, at: now.instant, window: configuration.presenceFlapWindow, isLast: isLast)
            if telling == .later || telling == .nothing { continue }
            var here: Member?
            if let session = sessionsByUser[user], let membership = sessions[session].memberships[channel] {
                here = Member(user: user, states: membership.states.strings)
            }
            if page.bytes > 0, page.bytes + IntervalPage.bytes(user, here) > Limits.jsonPageBytes {
                tellPresence(page.event, channel)
                page = IntervalPage(channel: channels[channel].handle)
            }
            page.add(telling, user, here)
        }
        if page.bytes > 0 { tellPresence(page.event, channel) }
    }
}

/// One `interval` event while it is being filled, up to `Limits.jsonPageBytes`.
private struct IntervalPage {
    var event: PresenceEvent
    var bytes = 0

    init(channel: UInt32) { event = PresenceEvent(channel: channel, event: .interval) }

    mutating func add(_ telling: PendingChange.Telling, _ user: Name, _ member: Member?) {
        switch telling {
        case .nothing, .later:
            return
        case .joined:
            event.joined = (event.joined ?? []) + [member!]
        case .changed:
            event.changed = (event.changed ?? []) + [member!]
        case .ended(let end):
            addEnd(end, user)
        case .endedAndJoined(let end):
            addEnd(end, user)
            event.joined = (event.joined ?? []) + [member!]
        }
        bytes += Self.bytes(user, member)
    }

    /// What one user takes at most, before escaping: it may have left and come back.
    static func bytes(_ user: Name, _ member: Member?) -> Int { (member?.pageBytes ?? 0) + user.text.utf8.count + 4 }

    private mutating func addEnd(_ end: PresenceEnd, _ user: Name) {
        switch end {
        case .leave: event.left = (event.left ?? []) + [user]
        case .timeout: event.timedOut = (event.timedOut ?? []) + [user]
        }
    }
}

extension Member {
    /// What it takes in a page, before escaping.
    var pageBytes: Int {
        states.reduce(32 + user.text.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count + 8 }
    }
}

extension [Name: String] {
    var strings: [String: String] { isEmpty ? [:] : Dictionary<String, String>(uniqueKeysWithValues: map { ($0.key.text, $0.value) }) }
}
