import RelayPrimitives
internal import RelayRights
import RelayWire

// Coming into channels and going out of them. [CH1–CH9]

extension Hub {
    // MARK: - Requests

    mutating func subscribe(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(SubscribeRequest.self, body)
        let id = ChannelID(kind: .message, channel: request.channel)
        let features = request.features.map { Set($0.compactMap(Feature.init)) } ?? [.messages, .presence]
        try requireEntry(id, features, lent: nil, session)
        let membership = try enterChannel(id, session, features: features, quiet: request.quiet ?? false)
        let channel = memberships[membership].channel
        var answer = subscribeAnswer(id: request.id, membership)
        let start = features.contains(.messages) ? request.since.map { recover(from: $0, channel, into: &answer) } : nil
        memberships[membership].epoch = channels[channel].epoch
        self.answer(connection, answer)
        channels[channel].named = []
        sendSnapshots(membership, to: connection)
        if let start { beginCatchUp(membership, start, connection) }
    }

    /// Whether the session may enter a channel with the features that it wants. [AC6]
    ///
    /// - Parameter lent: by a token of this request, in place of an earlier one's.
    private func requireEntry(_ id: ChannelID, _ features: Set<Feature>, lent: LentRights?, _ session: Session.Index) throws(WireError) {
        let wanted: Rights = features.contains(.presence) ? [.subscribe, .presence] : .subscribe
        let granted = lent.map { rights(of: session, on: id, lent: $0) } ?? rights(of: session, on: id)
        guard granted.isSuperset(of: wanted) else { throw Self.notPermitted(wanted) }
    }

    /// What a channel is at this moment, for each feature. [CH4]
    mutating func sendSnapshots(_ membership: Membership.Index, to connection: Connection.Index) {
        let channel = memberships[membership].channel
        if memberships[membership].receivesPresence { sendPresenceSnapshot(channel, to: connection) }
        if memberships[membership].receivesMetadata { sendMetadataSnapshot(.channel(channels[channel].id!), to: connection) }
        if memberships[membership].receivesLocks { sendLocksSnapshot(channel, to: connection) }
    }

    mutating func join(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(JoinRequest.self, body)
        let id = ChannelID(kind: .stream, channel: request.channel)
        let features = request.features.map { Set($0.compactMap(Feature.init)) } ?? [.presence]
        let lent = try lend(request.token, id, session)
        try requireEntry(id, features, lent: lent, session)
        let membership = try enterChannel(id, session, features: features.subtracting([.messages]), quiet: request.quiet ?? false)
        if var lent {
            lent.lookAt = memberships[membership].lent?.lookAt
            memberships[membership].lent = lent
            setLentDeadline(membership)
        }
        self.answer(connection, subscribeAnswer(id: request.id, membership))
        sendSnapshots(membership, to: connection)
        sendTopicsSnapshot(memberships[membership].channel, to: connection)
        // An earlier token may have given more. [AC7]
        if lent != nil { applyAccess(session) }
    }

    /// `unsubscribe` and `leave`.
    mutating func leaveChannel(
        _ kind: ChannelKind, _ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index
    ) throws(WireError) {
        let request = try decode(ChannelRequest.self, body)
        let membership = try inside(ChannelID(kind: kind, channel: request.channel), session)
        let wasLent = memberships[membership].lent != nil
        removeFromChannel(membership, .leave)
        answer(connection, EmptyAnswer(id: request.id))
        // What a token for the channel gave goes with the stay. [AC9]
        if wasLent { endLockWaits(session) }
    }

    /// The membership of a session that is in a channel.
    ///
    /// - Throws: `notSubscribed` or `notJoined`.
    func inside(_ id: ChannelID, _ session: Session.Index) throws(WireError) -> Membership.Index {
        if let membership = membership(of: session, in: id), !memberships[membership].heldOver { return membership }
        throw id.kind == .message
            ? WireError(.notSubscribed, "message channel \(id.channel) is not subscribed")
            : WireError(.notJoined, "stream channel \(id.channel) is not joined")
    }

    // MARK: - In

    private mutating func enterChannel(
        _ id: ChannelID, _ session: Session.Index, features: Set<Feature>, quiet: Bool
    ) throws(WireError) -> Membership.Index {
        let known = membership(of: session, in: id)
        let wasSeen = known.map { !memberships[$0].quiet } ?? false
        if known.map({ memberships[$0].heldOver }) ?? true { try checkCounts(id, session) }
        if known == nil { try checkMemory(Footprint.membership, of: session) }
        let channel = try channelFor(id, by: session)
        if let known, quiet {
            closeFlows(of: known)
            if wasSeen { presenceLeft(known, .leave) }
        }
        let membership = known ?? addMembership(session, channel)
        if let before = sessions[session].statesBefore[id] {
            memberships[membership].states = before
            keepBefore([:], of: session, in: id)
        }
        if quiet { memberships[membership].states = [:] }
        recount(membership)
        memberships[membership].heldOver = false
        memberships[membership].quiet = quiet
        memberships[membership].receive(features)
        if !wasSeen, !quiet {
            presenceJoined(membership)
            noteUse(of: channel)
        }

        if !features.contains(.messages) {
            endCatchUp(membership)
            passBarriers(of: membership)
        }
        if known != nil { removeReceiver(session, from: channel) }
        if features.contains(.messages), memberships[membership].catchUp == nil { channels[channel].messageReceivers.append(session) }
        if features.contains(.presence) { channels[channel].presenceReceivers.append(session) }
        if features.contains(.metadata) { channels[channel].metadataReceivers.append(session) }
        if features.contains(.locks) { channels[channel].lockReceivers.append(session) }
        if id.kind == .stream { channels[channel].topicReceivers.append(session) }
        return membership
    }

    private mutating func addMembership(_ session: Session.Index, _ channel: Channel.Index) -> Membership.Index {
        let membership = memberships.insert(Membership(session: Placed(session), channel: Placed(channel)))
        sessions[session].memberships.insert(membership, in: channel)
        channels[channel].inside.insert(session)
        return membership
    }

    private func checkCounts(_ id: ChannelID, _ session: Session.Index) throws(WireError) {
        var count = 0
        for membership in sessions[session].memberships.all
        where !memberships[membership].heldOver && channels[memberships[membership].channel].id!.kind == id.kind { count += 1 }
        let limit = id.kind == .message ? configuration.limits.subscribedChannelsMax : configuration.limits.joinedChannelsMax
        guard count < limit else {
            throw WireError(.limitReached, "at most \(limit) \(id.kind.rawValue) channels per session", limit: limit, actual: count + 1)
        }
        if let channel = channels[named: id], let places = channels[channel].places, sessions[session].memberships[channel] == nil,
            let refusal = refusal(places, of: session, max: configuration.streamChannelUsersMax)
        {
            let whose = refusal.isOfAddress ? " of an address while so few places are left" : ""
            throw WireError(
                .channelFull, "a stream channel holds at most \(refusal.limit) devices of users\(whose)", limit: refusal.limit,
                actual: refusal.actual)
        }
    }

    /// The channel of an id. An id without one gets one. [CH2, CH8]
    ///
    /// - Parameter session: the session that asks for it; `nil`: the relay itself.
    mutating func channelFor(_ id: ChannelID, by session: Session.Index?) throws(WireError) -> Channel.Index {
        if let channel = channels[named: id] { return channel }
        try admitChannel(id.kind, of: session)
        let room = roomFor(id.channel)
        var made = Channel(id: id, generation: ordinals.generation(), handle: newHandle(), room: Placed(room))
        made.epoch = Epoch(start: start.number, incarnation: ordinals.incarnation())
        made.lastUsed = now.instant
        if let session { made.address = sessions[session].address }
        if id.kind == .stream { (made.publisherBytes, made.places) = (MemoryAccount(max: configuration.publisherBytesInUse), Places()) }
        let channel = channels.insert(made, named: id)
        accounts[channels: id.kind].take(made.address)
        takeUpBoard(channel)
        switch id.kind {
        case .message: rooms[room].messageChannel = channel
        case .stream: rooms[room].streamChannel = channel
        }
        return channel
    }

    // MARK: - Out

    /// Takes a session out of a channel, seen by others as `end`.
    mutating func removeFromChannel(_ membership: Membership.Index, _ end: PresenceEnd) {
        let (session, channel) = (memberships[membership].session, memberships[membership].channel)
        endCatchUp(membership)
        passBarriers(of: membership)
        closeFlows(of: membership)
        removeSelections(of: membership)
        let handle = channels[channel].handle
        sessions[session].closedFlows.removeAll { $0.content.opened.channel == handle }
        recount(session)
        removeReceiver(session, from: channel)
        if !memberships[membership].quiet { presenceLeft(membership, end) }
        removeMembership(membership)
    }

    mutating func removeReceiver(_ session: Session.Index, from channel: Channel.Index) {
        channels[channel].messageReceivers.removeFirst(of: session)
        channels[channel].presenceReceivers.removeFirst(of: session)
        channels[channel].topicReceivers.removeFirst(of: session)
        channels[channel].metadataReceivers.removeFirst(of: session)
        channels[channel].lockReceivers.removeFirst(of: session)
    }

    mutating func removeMembership(_ membership: Membership.Index) {
        let (session, channel) = (memberships[membership].session, memberships[membership].channel)
        sessions[session].memberships.remove(channel)
        uncount(membership)
        memberships.remove(membership)
        channels[channel].inside.remove(session)
        if channels[channel].inside.isEmpty { channels[channel].lastUsed = now.instant }
        endChannelIfUnused(channel)
    }

    /// A channel ends when nobody is inside and it has neither metadata nor locks; a message channel some time later, if it `lingers`.
    /// [CH2]
    mutating func endChannelIfUnused(_ channel: Channel.Index, lingers: Bool = true) {
        guard isUnused(channel) else { return }
        if lingers, channels[channel].id!.kind == .message { setChannelEnd(channel) } else { removeChannel(channel) }
    }

    private func isUnused(_ channel: Channel.Index) -> Bool {
        channels[channel].inside.isEmpty && channels[channel].metadata == nil && channels[channel].locks.isEmpty
    }

    /// A message channel keeps its numbering for a while. [CH2]
    mutating func setChannelEnd(_ channel: Channel.Index) {
        guard !channels[channel].endIsSet else { return }
        channels[channel].endIsSet = true
        deadlines.set(
            .channelEnd(channel: channel, generation: channels[channel].generation),
            at: channels[channel].lastUsed + configuration.channelLinger)
    }

    mutating func channelEndDeadline(_ channel: Channel.Index) {
        channels[channel].endIsSet = false
        guard isUnused(channel) else { return }
        if channels[channel].lastUsed + configuration.channelLinger <= now.instant {
            removeChannel(channel)
        } else {
            setChannelEnd(channel)
        }
    }

    private mutating func removeChannel(_ channel: Channel.Index) {
        let id = channels[channel].id!
        let room = channels[channel].room
        forgetHistory(of: channel)
        if let board = channels[channel].board {
            forgetAuthors(of: board)
            boards[board].channel = nil
        }
        accounts[channels: id.kind].giveBack(channels[channel].address)
        channels.remove(channel, named: id)
        switch id.kind {
        case .message: rooms[room].messageChannel = nil
        case .stream: rooms[room].streamChannel = nil
        }
        removeRoomIfUnused(room)
    }

    // MARK: - Answers

    func subscribeAnswer(id request: UInt32?, _ membership: Membership.Index) -> SubscribeAnswer {
        let membership = memberships[membership]
        let channel = membership.channel
        let id = channels[channel].id!
        let isMessage = id.kind == .message
        return SubscribeAnswer(
            id: request, kind: id.kind, channel: id.channel, handle: channels[channel].handle, features: membership.features,
            quiet: membership.quiet, epoch: isMessage ? channels[channel].epoch : nil, head: isMessage ? channels[channel].head : nil,
            modes: moderation.revealed.modes[id.channel]?.map(\.rawValue).inOrder())
    }
}
