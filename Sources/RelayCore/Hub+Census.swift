import RelayMonitoring
import RelayPrimitives
internal import RelayStorage
import RelayWire

extension Hub {
    /// Why a relay is not there for everything; `nil` if it is.
    package var hindrance: String? {
        mutating get {
            if isShuttingDown { return "the relay is ending" }
            if case .door(let spaces, let elsewhere, let knowsAll) = configuration.part, spaces.isEmpty, !elsewhere.isEmpty || !knowsAll {
                return "standby"
            }
            if storage.isAlone { return "alone" }
            return storage.failure.map { _ in "nothing can be stored" }
        }
    }

    /// Counts everything, for operators and for tests that nothing is left behind. Costs a walk over all of it.
    ///
    /// - Parameter isDetailed: whether each session and channel is told, in order; numbers alone cost a fraction of it.
    package mutating func census(isDetailed: Bool = true) -> Census {
        var census = Census()
        census.start = start.number
        census.connections = connections.count
        census.connectionsMax = configuration.connectionsMax
        census.users = people.count
        census.userIDs = claims.count
        census.deadlines = deadlines.count
        census.queueMemoryBytes = outbox.liveBytes
        census.counters = allCounters
        census.sessionMemoryBytes = accounts.memory.used
        census.publishMemoryBytes = keptWindows.memory.used
        census.channelMemoryBytes = channels.count * Footprint.channel
        census.authorMemoryBytes = authors.bytes
        census.blockMemoryBytes = catchUps.memory.used
        census.unfinishedBytes = accounts.unfinished.used
        census.stagedBytes = accounts.staged.used
        census.heldBytes = accounts.heldFrames.used
        census.framesHeld = work.framesHeld
        census.metadataSets = metadata.count
        census.metadataBytes = accounts.metadata.used
        census.locks = locks.count
        census.setRoles = moderation.revealed.roles.count
        let modes = moderation.revealed.modes.inOrder()
        census.frozenChannels = modes.filter { $0.value.contains(.frozen) }.map(\.key.text)
        census.openChannels = modes.filter { $0.value.contains(.openEditing) }.map(\.key.text)
        census.bans = moderation.revealed.bans.count
        census.historyMessages = historyTotals.messages
        census.historyBytes = historyTotals.memory.used
        census.boards = boards.count
        census.boardBytes = boards.bytes
        for board in boards.indices { census.boardRecords += boards[board].summary.records }
        for room in rooms.indices { census.catchingUp += rooms[room].catchUps.count }
        census.changesUnrevealed = storage.unrevealed.count - storage.head
        census.changesUnjournaledBytes = accounts.unjournaled.used
        census.storageFailure = storage.failure
        census.messageChannels = accounts[channels: .message].taken
        census.streamChannels = accounts[channels: .stream].taken
        (census.queuedBytes, census.pinnedBytes, _) = outbox.backlog(at: now.instant)
        census.sessionsPresent = people.roster.present
        census.sessionsAway = people.roster.away
        guard isDetailed else { return census }
        census.addresses = heldByAddress()
        for user in people.roster.names.all { for session in liveSessions(of: user) { census.sessions.append(userStatus(session)) } }
        for id in channels.names.inOrder() {
            let channel = channels[channels[named: id]!]
            var counted = Census.Channel()
            (counted.kind, counted.name, counted.head) = (id.kind.rawValue, id.channel.text, channel.head)
            (counted.subscribers, counted.members) = (channel.inside.count, channel.presence.members.count)
            (counted.topics, counted.flows) = (channel.topics.count, channel.topics.values.reduce(0) { $0 + $1.count })
            census.channels.append(counted)
        }
        return census
    }

    /// What the outbox counts is among them.
    var allCounters: Counters {
        var all = counters
        let counts = outbox.counts
        all.packetsQueued = counts.packetsQueued
        all.packetsShedSlow = counts.packetsShedSlow
        all.packetsShedExpired = counts.packetsShedExpired
        all.packetsShedReader = counts.packetsShedReader
        all.packetsDiscarded = counts.packetsDiscarded
        return all
    }

    /// From a frame that finds a reader's queue empty until the socket has taken all that came behind it, too. Readers with limits
    /// do not count: they wait by their own choice. [DL11]
    package var delays: DelayCounts { mutating get { outbox.counts.delays } }
}

// What a moderator sees of the relay over the wire. A page of it is asked once a second, by perhaps several: it costs the
// readers that lag and the users of one page, whatever the number of sessions and channels. [AC16]

extension Hub {
    mutating func status(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(StatusRequest.self, body)
        try requireModerator(session)
        let limit = try request.page.count()
        var status = totals()
        if let user = request.user { status.known = knows(user) }
        let key = request.joinKey == true ? joinKey(for: session) : nil
        if request.hour == true {
            return answer(connection, StatusAnswer(id: request.id, status: status, joinKey: key, hour: hour.samples))
        }
        if request.after == nil { status.addresses = heldByAddress() }
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
        answer(connection, StatusAnswer(id: request.id, status: status, joinKey: key))
    }

    /// - Parameter measured: what the hub does not know itself; bytes so far.
    mutating func note(_ measured: Measure) {
        let counters = allCounters
        var sum = StatusSample()
        (sum.sessions, sum.lagging) = (people.roster.present, outbox.backlog(at: now.instant).lagging)
        sum.messagesIn = Int(clamping: counters.messagesAccepted + counters.directAccepted)
        sum.messagesOut = Int(clamping: counters.messagesDelivered + counters.directAccepted)
        (sum.packetsIn, sum.packetsOut) = (Int(clamping: counters.packetsAccepted), Int(clamping: counters.packetsQueued))
        sum.packetsLost = Int(
            clamping: counters.packetsShedSlow + counters.packetsShedExpired + counters.packetsShedReader + counters.packetsShedCatchingUp
                + counters.packetsDiscarded)
        (sum.bytesIn, sum.bytesOut) = (measured.bytesIn, measured.bytesOut)
        (sum.memoryBytes, sum.diskBytes) = (measured.memoryBytes, measured.diskBytes)
        hour.note(sum)
    }

    /// Whose memory it is, most first.
    private mutating func heldByAddress() -> [RelayStatus.Address] {
        let held = [keptWindows.memory, historyTotals.memory, catchUps.memory].reduce(into: accounts.heldByAddress) {
            $0.merge($1.byAddress, uniquingKeysWith: +)
        }
        work.look(at: held.count)
        return held.inOrder().inOrder { $0.value > $1.value }.prefix(Limits.addressesPerStatusMax).map { address, bytes in
            .init(address: address.description, sessions: accounts.sessions.held(from: address), memoryBytes: bytes)
        }
    }

    /// A user who logged in with a former key may stay, but does not learn the new key.
    func joinKey(for session: Session.Index) -> String? {
        let digest = sessions[session].keyDigest
        return digest == nil || accessRules.keys.contains { $0.digest == digest } ? accessRules.joinKey : nil
    }

    private mutating func totals() -> RelayStatus {
        var status = RelayStatus()
        status.uptime = .milliseconds((now.instant - start.instant).milliseconds)
        status.connections = connections.count
        status.sessions = .init(present: people.roster.present, away: people.roster.away)
        status.channels = .init(message: accounts[channels: .message].taken, stream: accounts[channels: .stream].taken)
        status.boards = boards.count
        status.boardBytes = boards.bytes
        (status.queuedBytes, status.pinnedBytes, _) = outbox.backlog(at: now.instant)
        status.counters = RelayStatus.Counters(allCounters)
        status.storageFailure = storage.failure
        return status
    }

    /// Whether it is here, or something is kept of it.
    private func knows(_ user: Name) -> Bool {
        if isHere(user) || claims[user] != nil || hasMetadata(user) { return true }
        return moderation.applied.roles[user] != nil || moderation.applied.bans[user] != nil
    }

    func userStatus(_ session: Session.Index) -> RelayStatus.User {
        let connection = outbox.connection(of: session)
        var user = RelayStatus.User()
        (user.user, user.device) = (sessions[session].user!.text, sessions[session].device.hex)
        (user.client, user.away) = (sessions[session].client, connection == nil)
        user.session = .milliseconds((now.instant - sessions[session].since).milliseconds)
        user.packetsLost = sessions[session].packetsLost
        user.memoryBytes = sessions[session].held
        guard let connection else { return user }
        user.peer = connections[connection].peer.text
        let load = outbox.load(of: connection)
        user.queuedBytes = load.reliable + load.packets
        user.queuedPacketBytes = load.packets
        if let since = outbox.busySince(connection) { user.backlog = .milliseconds((now.instant - since).milliseconds) }
        return user
    }

    /// Its texts may grow sixfold by escaping; its names and numbers, 260 bytes at most, do not.
    private static func pageBytes(_ user: RelayStatus.User) -> Int {
        user.user.utf8.count + user.client.utf8.count + user.peer.utf8.count + 66
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
        credentialsWrong = counters.credentialsWrong
    }
}
