internal import RelayRights
import RelayWire

// Coming into channels and going out of them. [CH1–CH9]

extension Hub {
    // MARK: - Requests

    mutating func subscribe(_ body: UnsafeRawBufferPointer, _ session: Int32, _ connection: Int32) throws(WireError) {
        let request = try decode(SubscribeRequest.self, body)
        let id = ChannelID(kind: .message, channel: request.channel)
        let features = request.features.map { Set($0.compactMap(Feature.init)) } ?? [.messages, .presence]
        try requireEntry(id, features, lent: nil, session)
        let channel = try enterChannel(id, session, features: features, quiet: request.quiet ?? false)
        var answer = subscribeAnswer(id: request.id, session, channel)
        let start = features.contains(.messages) ? request.since.map { recover(from: $0, channel, into: &answer) } : nil
        sessions[session].memberships[channel]!.epoch = channels[channel].epoch
        self.answer(connection, answer)
        channels[channel].named = []
        sendSnapshots(channel, sessions[session].memberships[channel]!, to: connection)
        if let start { beginCatchUp(session, channel, start, connection) }
    }

    /// Whether a channel may be come into, with what is wanted of it. [AC6]
    ///
    /// - Parameter lent: by a token of this request, in place of an earlier one's.
    private func requireEntry(_ id: ChannelID, _ features: Set<Feature>, lent: LentRights?, _ session: Int32) throws(WireError) {
        let wanted: Rights = features.contains(.presence) ? [.subscribe, .presence] : .subscribe
        let granted = lent.map { rights(of: session, on: id, lent: $0) } ?? rights(of: session, on: id)
        guard granted.isSuperset(of: wanted) else { throw Self.notPermitted(wanted) }
    }

    /// What a channel is at this moment, for each feature. [CH4]
    mutating func sendSnapshots(_ channel: Int32, _ membership: Membership, to connection: Int32) {
        if membership.receivesPresence { sendPresenceSnapshot(channel, to: connection) }
        if membership.receivesMetadata { sendMetadataSnapshot(.channel(channels[channel].id!), to: connection) }
        if membership.receivesLocks { sendLocksSnapshot(channel, to: connection) }
    }

    mutating func join(_ body: UnsafeRawBufferPointer, _ session: Int32, _ connection: Int32) throws(WireError) {
        let request = try decode(JoinRequest.self, body)
        let id = ChannelID(kind: .stream, channel: request.channel)
        let features = request.features.map { Set($0.compactMap(Feature.init)) } ?? [.presence]
        let lent = try lend(request.token, id, session)
        try requireEntry(id, features, lent: lent, session)
        let channel = try enterChannel(id, session, features: features.subtracting([.messages]), quiet: request.quiet ?? false)
        if var lent {
            lent.lookAt = sessions[session].memberships[channel]!.lent?.lookAt
            sessions[session].memberships[channel]!.lent = lent
            setLentDeadline(session, channel)
        }
        self.answer(connection, subscribeAnswer(id: request.id, session, channel))
        sendSnapshots(channel, sessions[session].memberships[channel]!, to: connection)
        sendTopicsSnapshot(channel, to: connection)
        // An earlier token may have given more. [AC7]
        if lent != nil { applyAccess(session) }
    }

    /// `unsubscribe` and `leave`.
    mutating func leaveChannel(
        _ kind: ChannelKind, _ body: UnsafeRawBufferPointer, _ session: Int32, _ connection: Int32
    ) throws(WireError) {
        let request = try decode(ChannelRequest.self, body)
        let channel = try inside(ChannelID(kind: kind, channel: request.channel), session)
        let wasLent = sessions[session].memberships[channel]!.lent != nil
        removeFromChannel(session, channel, .leave)
        answer(connection, EmptyAnswer(id: request.id))
        // What a token for the channel gave goes with the stay. [AC9]
        if wasLent { endLockWaits(session) }
    }

    /// The channel a session is in.
    ///
    /// - Throws: `notSubscribed` or `notJoined`.
    func inside(_ id: ChannelID, _ session: Int32) throws(WireError) -> Int32 {
        if let channel = channelsByID[id], let membership = sessions[session].memberships[channel], !membership.heldOver { return channel }
        throw id.kind == .message
            ? WireError(.notSubscribed, "message channel \(id.channel) is not subscribed")
            : WireError(.notJoined, "stream channel \(id.channel) is not joined")
    }

    // MARK: - In

    private mutating func enterChannel(
        _ id: ChannelID, _ session: Int32, features: Set<Feature>, quiet: Bool
    ) throws(WireError) -> Int32 {
        let known = channelsByID[id].flatMap { sessions[session].memberships[$0] }
        if known == nil || known!.heldOver { try checkCounts(id, session) }
        let channel = try channelFor(id)

        var membership = known ?? Membership()
        let wasSeen = known != nil && !membership.quiet
        if let before = sessions[session].statesBefore.removeValue(forKey: id) { membership.states = before }
        if quiet { membership.states = [:] }
        membership.heldOver = false
        membership.quiet = quiet
        membership.receivesMessages = features.contains(.messages)
        membership.receivesPresence = features.contains(.presence)
        membership.receivesMetadata = features.contains(.metadata)
        membership.receivesLocks = features.contains(.locks)
        if quiet { closeFlows(of: session, in: channel) }
        membership.publishing = quiet ? [:] : membership.publishing
        if wasSeen, quiet { presenceLeft(session, channel, .leave) }
        sessions[session].memberships[channel] = membership
        channels[channel].inside.insert(session)
        if !wasSeen, !quiet { presenceJoined(session, channel) }

        if !membership.receivesMessages { endCatchUp(session, channel) }
        if known != nil { removeReceiver(session, from: channel) }
        if membership.receivesMessages, membership.catchUp == nil { channels[channel].messageReceivers.append(session) }
        if membership.receivesPresence { channels[channel].presenceReceivers.append(session) }
        if membership.receivesMetadata { channels[channel].metadataReceivers.append(session) }
        if membership.receivesLocks { channels[channel].lockReceivers.append(session) }
        if id.kind == .stream { channels[channel].topicReceivers.append(session) }
        return channel
    }

    private func checkCounts(_ id: ChannelID, _ session: Int32) throws(WireError) {
        let count = sessions[session].memberships.count { channel, membership in
            !membership.heldOver && channels[channel].id!.kind == id.kind
        }
        let limit = id.kind == .message ? configuration.limits.subscribedChannelsMax : configuration.limits.joinedChannelsMax
        guard count < limit else {
            throw WireError(.limitReached, "at most \(limit) \(id.kind.rawValue) channels per session", limit: limit, actual: count + 1)
        }
        if id.kind == .stream, let channel = channelsByID[id], sessions[session].memberships[channel] == nil,
            channels[channel].inside.count >= configuration.streamChannelUsersMax
        {
            throw WireError(
                .channelFull, "a stream channel holds at most \(configuration.streamChannelUsersMax) users",
                limit: configuration.streamChannelUsersMax, actual: channels[channel].inside.count + 1)
        }
    }

    /// The channel of that id, made if there is none. [CH2, CH8]
    mutating func channelFor(_ id: ChannelID) throws(WireError) -> Int32 {
        if let channel = channelsByID[id] { return channel }
        let count = channelCounts[id.kind, default: 0]
        guard count < configuration.channelsMax else {
            throw WireError(
                .relayFull, "the relay holds at most \(configuration.channelsMax) \(id.kind.rawValue) channels",
                limit: configuration.channelsMax, actual: count + 1)
        }
        let room: Int32
        if let known = roomsByName[id.channel] {
            room = known
        } else {
            room = rooms.insert(Room(name: id.channel))
            roomsByName[id.channel] = room
        }
        var made = Channel(id: id, generation: makeGeneration(), handle: makeHandle(), room: room)
        made.epoch = Epoch(start: start, incarnation: makeIncarnation())
        made.lastUsed = now.instant
        let channel = channels.insert(made)
        channelsByID[id] = channel
        channelCounts[id.kind] = count + 1
        takeUpBoard(channel)
        switch id.kind {
        case .message: rooms[room].messageChannel = channel
        case .stream: rooms[room].streamChannel = channel
        }
        return channel
    }

    // MARK: - Out

    /// Takes a session out of a channel, seen by others as `end`.
    mutating func removeFromChannel(_ session: Int32, _ channel: Int32, _ end: PresenceEnd) {
        endCatchUp(session, channel)
        closeFlows(of: session, in: channel)
        removeSelections(of: session, in: channel)
        let handle = channels[channel].handle
        sessions[session].closedFlows.removeAll { $0.channel == handle }
        removeReceiver(session, from: channel)
        if sessions[session].memberships[channel]?.quiet == false { presenceLeft(session, channel, end) }
        removeMembership(session, channel)
    }

    mutating func removeReceiver(_ session: Int32, from channel: Int32) {
        channels[channel].messageReceivers.removeFirst(of: session)
        channels[channel].presenceReceivers.removeFirst(of: session)
        channels[channel].topicReceivers.removeFirst(of: session)
        channels[channel].metadataReceivers.removeFirst(of: session)
        channels[channel].lockReceivers.removeFirst(of: session)
    }

    mutating func removeMembership(_ session: Int32, _ channel: Int32) {
        sessions[session].memberships[channel] = nil
        channels[channel].inside.remove(session)
        if channels[channel].inside.isEmpty { channels[channel].lastUsed = now.instant }
        endChannelIfUnused(channel)
    }

    /// A channel ends when nobody is inside and it has neither metadata nor locks; a message channel some time later. [CH2]
    mutating func endChannelIfUnused(_ channel: Int32) {
        guard isUnused(channel) else { return }
        switch channels[channel].id!.kind {
        case .stream: removeChannel(channel)
        case .message: setChannelEnd(channel)
        }
    }

    private func isUnused(_ channel: Int32) -> Bool {
        channels[channel].inside.isEmpty && channels[channel].metadata < 0 && channels[channel].locks.isEmpty
    }

    /// A message channel keeps its numbering for a while. [CH2]
    mutating func setChannelEnd(_ channel: Int32) {
        guard !channels[channel].endIsSet else { return }
        channels[channel].endIsSet = true
        deadlines.set(
            .channelEnd(channel: channel, generation: channels[channel].generation),
            at: channels[channel].lastUsed + configuration.channelLinger)
    }

    mutating func channelEndDeadline(_ channel: Int32) {
        channels[channel].endIsSet = false
        guard isUnused(channel) else { return }
        if channels[channel].lastUsed + configuration.channelLinger <= now.instant {
            removeChannel(channel)
        } else {
            setChannelEnd(channel)
        }
    }

    private mutating func removeChannel(_ channel: Int32) {
        let id = channels[channel].id!
        let room = channels[channel].room
        forgetHistory(of: channel)
        if channels[channel].board >= 0 {
            forgetAuthors(of: channels[channel].board)
            boards[channels[channel].board].channel = -1
        }
        channelsByID[id] = nil
        channelCounts[id.kind]! -= 1
        channels.remove(channel)
        switch id.kind {
        case .message: rooms[room].messageChannel = -1
        case .stream: rooms[room].streamChannel = -1
        }
        removeRoomIfUnused(room)
    }

    // MARK: - Answers

    func subscribeAnswer(id request: UInt32?, _ session: Int32, _ channel: Int32) -> SubscribeAnswer {
        let id = channels[channel].id!
        let membership = sessions[session].memberships[channel]!
        let isMessage = id.kind == .message
        return SubscribeAnswer(
            id: request, kind: id.kind, channel: id.channel, handle: channels[channel].handle, features: membership.features,
            quiet: membership.quiet, epoch: isMessage ? channels[channel].epoch : nil, head: isMessage ? channels[channel].head : nil,
            frozen: isFrozen(id.channel) ? true : nil)
    }
}
