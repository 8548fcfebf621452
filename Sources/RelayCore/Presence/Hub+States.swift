import RelayPrimitives
internal import RelayRights
import RelayWire

// States, and questions about presence. [PR4, PR8]

extension Hub {
    mutating func setStates(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(SetStatesRequest.self, body)
        try require(.presence, on: ChannelID(kind: request.kind, channel: request.channel), session)
        var changes = [Name: PresenceState]()
        let order = ordinals.state()
        for (key, value) in request.states.inOrder() {
            changes[try Name(key)] = PresenceState(text: value, order: order)
        }
        let id = ChannelID(kind: request.kind, channel: request.channel)
        let old = try states(of: session, in: id)
        let new = old.merging(changes) { $1 }
        try check(new.merging(statesOfOthers(session, in: id)) { own, _ in own })
        work.look(at: old.count + new.count)
        try checkMemory(new.footprint - old.footprint, of: session)
        if !changes.isEmpty { try change(to: new, of: session, in: id) }
        answer(connection, EmptyAnswer(id: request.id))
    }

    mutating func removeStates(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(RemoveStatesRequest.self, body)
        try require(.presence, on: ChannelID(kind: request.kind, channel: request.channel), session)
        let id = ChannelID(kind: request.kind, channel: request.channel)
        var states = try states(of: session, in: id)
        let removed = Set(request.keys ?? Array(states.keys)).filter { states[$0] != nil }
        if !removed.isEmpty {
            for key in removed { states[key] = nil }
            try change(to: states, of: session, in: id)
        }
        answer(connection, EmptyAnswer(id: request.id))
    }

    mutating func getStates(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(GetStatesRequest.self, body)
        try require(.presence, on: ChannelID(kind: request.kind, channel: request.channel), session)
        let id = ChannelID(kind: request.kind, channel: request.channel)
        var found = [Name: String]()
        if let channel = channels[named: id] { found = states(ofUser: request.user, seenIn: channel) }
        if request.user == sessions[session].user { found.merge((sessions[session].statesBefore[id] ?? [:]).mapValues(\.text)) { $1 } }
        work.look(at: found.count)
        answer(connection, StatesAnswer(id: request.id, states: found.strings))
    }

    /// The states a session has in a channel, a stay that was handed over to it included, or has set before coming in.
    private func states(of session: Session.Index, in id: ChannelID) throws(WireError) -> [Name: PresenceState] {
        guard let membership = membership(of: session, in: id) else { return sessions[session].statesBefore[id] ?? [:] }
        guard !memberships[membership].quiet else { throw WireError(.notPresent, "a quiet member has no states") }
        return memberships[membership].states
    }

    /// What the user's other devices have there: all of a user's states together are bounded. [PR8]
    private func statesOfOthers(_ session: Session.Index, in id: ChannelID) -> [Name: PresenceState] {
        var states = [Name: PresenceState]()
        for other in people[sessions[session].person].sessions where other != session {
            let own = membership(of: other, in: id).map { memberships[$0].states } ?? sessions[other].statesBefore[id]
            states.merge(own ?? [:]) { $0.text.utf8.count > $1.text.utf8.count ? $0 : $1 }
        }
        return states
    }

    private func check(_ states: [Name: PresenceState]) throws(WireError) {
        guard states.count <= configuration.statesPerUserMax else {
            throw WireError(
                .limitReached, "at most \(configuration.statesPerUserMax) states per user and channel, not \(states.count)",
                limit: configuration.statesPerUserMax, actual: states.count)
        }
        let bytes = states.reduce(0) { $0 + $1.key.text.utf8.count + $1.value.text.utf8.count }
        guard bytes <= Limits.statesBytesMax else {
            throw WireError(
                .tooLarge, "states of a user in a channel have at most \(Limits.statesBytesMax) bytes, not \(bytes)",
                limit: Limits.statesBytesMax, actual: bytes)
        }
    }

    private mutating func store(_ states: [Name: PresenceState], of session: Session.Index, in id: ChannelID) throws(WireError) {
        let membership = membership(of: session, in: id)
        let had = membership.map { memberships[$0].states } ?? sessions[session].statesBefore[id] ?? [:]
        if had.isEmpty, !states.isEmpty {
            let limit = configuration.channelsWithStatesMax
            let count = sessions[session].statesBefore.count + sessions[session].memberships.all.count { !memberships[$0].states.isEmpty }
            guard count < limit else {
                throw WireError(.limitReached, "at most \(limit) channels of a session hold states", limit: limit, actual: count + 1)
            }
        }
        if let membership {
            memberships[membership].states = states
            recount(membership)
        } else {
            keepBefore(states, of: session, in: id)
        }
    }

    /// States of a session that is not in the channel.
    mutating func keepBefore(_ states: [Name: PresenceState], of session: Session.Index, in id: ChannelID) {
        func bytes(_ states: [Name: PresenceState]?) -> Int { states.map { Footprint.statesBefore + $0.footprint } ?? 0 }
        let old = sessions[session].statesBefore[id], new = states.isEmpty ? nil : states
        sessions[session].statesBefore[id] = new
        sessions[session].statesBeforeBytes += bytes(new) - bytes(old)
        holdOwn(bytes(new) - bytes(old), session)
    }

    private mutating func change(to states: [Name: PresenceState], of session: Session.Index, in id: ChannelID) throws(WireError) {
        guard let membership = membership(of: session, in: id) else { return try store(states, of: session, in: id) }
        let (user, channel) = (sessions[session].user!, memberships[membership].channel)
        let before = self.states(ofUser: user, seenIn: channel)
        try store(states, of: session, in: id)
        tellStates(of: user, channel, before: before)
    }

    /// The states of a device that has gone go with it. [SE8]
    mutating func dropStates(of membership: Membership.Index) {
        let user = sessions[memberships[membership].session].user!, channel = memberships[membership].channel
        let before = states(ofUser: user, seenIn: channel)
        memberships[membership].states = [:]
        recount(membership)
        tellStates(of: user, channel, before: before)
    }

    // MARK: - Questions

    mutating func who(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(WhoRequest.self, body)
        try require(.presence, on: ChannelID(kind: request.kind, channel: request.channel), session)
        let limit = request.limit ?? Limits.membersPerPageMax
        guard (1...Limits.membersPerPageMax).contains(limit) else {
            throw WireError(
                .badRequest, "field limit is within 1…\(Limits.membersPerPageMax), not \(limit)", limit: Limits.membersPerPageMax,
                actual: max(0, limit))
        }
        guard let channel = channels[named: ChannelID(kind: request.kind, channel: request.channel)] else {
            return answer(connection, WhoAnswer(id: request.id, total: 0, members: [], next: nil))
        }
        let members = channels[channel].presence.members
        var position = request.after.map { channels[channel].presence.position(of: $0) } ?? 0
        if position < members.count, members[position].user == request.after { position += 1 }
        let page = membersPage(channel, from: position, limit: limit)
        let end = position + page.count
        let next = !page.isEmpty && end < members.count ? members[end - 1].user : nil
        answer(connection, WhoAnswer(id: request.id, total: members.count, members: page, next: next))
    }

    mutating func whereIs(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(WhereRequest.self, body)
        var found: [ChannelID] = []
        for member in people.sessions(of: request.user) {
            work.look(at: sessions[member].memberships.all.count)
            for membership in sessions[member].memberships.all where !memberships[membership].quiet {
                let id = channels[memberships[membership].channel].id!
                if rights(of: session, on: id).contains(.presence) { found.append(id) }
            }
        }
        let behind = Set(found).filter { id in request.after.map { $0 < id } ?? true }
        let page = ListPage(of: behind.inOrder()) { $0.channel.text.utf8.count + 33 }
        answer(connection, WhereAnswer(id: request.id, channels: page.elements, next: page.goesOn ? page.elements.last : nil))
    }
}

/// By bytes: `String ==` takes é and e+´ for one.
func isSameText(_ left: String?, _ right: String) -> Bool { left.map { $0.utf8.elementsEqual(right.utf8) } ?? false }
