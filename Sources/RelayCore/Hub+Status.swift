internal import RelayJournal
import RelayPrimitives
import RelayWire

// What a moderator sees of the relay over the wire. A page of it is asked once a second, by perhaps several: it costs the
// readers that lag and the users of one page, whatever the number of sessions and channels. [AC16]

extension Hub {
    mutating func status(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(StatusRequest.self, body)
        try requireModerator(session)
        let limit = try request.page.count()
        var status = totals()
        if let user = request.user { status.known = knows(user) }
        let behind = people.roster.names.behind(request.after)
        var users: [[RelayStatus.User]] = []
        for user in behind.prefix(limit) {
            var devices: [RelayStatus.User] = []
            for session in liveSessions(of: user) { devices.append(userStatus(session)) }
            users.append(devices)
        }
        // A user's devices stand on one page.
        let page = ListPage(of: users) { $0.reduce(0) { $0 + Self.pageBytes($1) } }
        status.users = page.elements.flatMap { $0 }
        if behind.count > page.elements.count { status.next = status.users.last?.user }
        answer(connection, StatusAnswer(id: request.id, status: status, joinKey: request.joinKey == true ? joinKey(for: session) : nil))
    }

    /// Whoever came in by a key that counts no more may stay, but is not told the new one.
    private func joinKey(for session: Session.Index) -> String? {
        let digest = sessions[session].keyDigest
        return digest == nil || accessRules.keys.contains { $0.digest == digest } ? accessRules.joinKey : nil
    }

    private mutating func totals() -> RelayStatus {
        var status = RelayStatus()
        status.uptimeMs = UInt64(clamping: (now.instant - startedAt).milliseconds)
        status.connections = connections.count
        status.sessions = .init(present: people.roster.present, away: people.roster.away)
        status.channels = .init(message: channelCounts[.message] ?? 0, stream: channelCounts[.stream] ?? 0)
        status.boards = boards.count
        status.boardBytes = boards.bytes
        (status.queuedBytes, status.pinnedBytes) = outbox.backlog()
        status.counters = RelayStatus.Counters(allCounters)
        status.storageFailure = storage.failure
        return status
    }

    /// Whether it is here, or something is kept of it.
    private func knows(_ user: Name) -> Bool {
        if isHere(user) || claims[user] != nil || hasMetadata(user) { return true }
        return moderation.applied.roles[user] != nil || moderation.applied.bans[user] != nil
    }

    private func userStatus(_ session: Session.Index) -> RelayStatus.User {
        let connection = outbox.connection(of: session)
        var user = RelayStatus.User(
            user: sessions[session].user!, device: sessions[session].device.hex, client: sessions[session].client,
            peer: "", away: connection == nil,
            sessionMs: UInt64(clamping: (now.instant - sessions[session].since).milliseconds), queuedBytes: 0, queuedPacketBytes: 0,
            packetsLost: sessions[session].packetsLost, backlogMs: 0)
        guard let connection else { return user }
        user.peer = connections[connection].peer
        let load = outbox.load(of: connection)
        user.queuedBytes = load.reliable + load.packets
        user.queuedPacketBytes = load.packets
        if let since = outbox.busySince(connection) { user.backlogMs = UInt64(clamping: (now.instant - since).milliseconds) }
        return user
    }

    /// Its texts may grow sixfold by escaping; its names and numbers, 230 bytes at most, do not.
    private static func pageBytes(_ user: RelayStatus.User) -> Int {
        user.user.text.utf8.count + user.client.utf8.count + user.peer.utf8.count + 66
    }
}

extension RelayStatus.Counters {
    fileprivate init(_ counters: Counters) {
        self.init()
        messagesAccepted = counters.messagesAccepted
        messagesDelivered = counters.messagesDelivered
        messagesRecovered = counters.messagesRecovered
        packetsAccepted = counters.packetsAccepted
        packetsQueued = counters.packetsQueued
        packetsShedSlow = counters.packetsShedSlow
        packetsShedExpired = counters.packetsShedExpired
        packetsShedReader = counters.packetsShedReader
        packetsShedCatchingUp = counters.packetsShedCatchingUp
        packetsDiscarded = counters.packetsDiscarded
        packetsDroppedRate = counters.packetsDroppedRate
        directAccepted = counters.directAccepted
        refusals = counters.refusals.values.reduce(0, +)
    }
}
