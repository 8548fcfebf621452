internal import RelayJournal
import RelayPrimitives
import RelayWire

extension Hub {
    /// Why a relay is not there for everything; `nil` if it is.
    package var hindrance: String? {
        mutating get { isShuttingDown ? "the relay is ending" : storage.failure.map { _ in "nothing can be stored" } }
    }

    /// Counts everything, for operators and for tests that nothing is left behind. Costs a walk over all of it.
    ///
    /// - Parameter isDetailed: whether each session and channel is told, in order; numbers alone cost a fraction of it.
    package mutating func census(isDetailed: Bool = true) -> Census {
        var census = Census()
        census.start = start
        census.connections = connections.count
        census.users = people.count
        census.deadlines = deadlines.count
        census.queueMemoryBytes = outbox.liveBytes
        census.counters = allCounters
        census.metadataSets = metadata.count
        census.metadataBytes = storage.metadataBytes
        census.locks = locks.count
        census.setRoles = moderation.revealed.roles.count
        let modes = moderation.revealed.modes.inOrder()
        census.frozenChannels = modes.filter { $0.value.contains(.frozen) }.map(\.key.text)
        census.openChannels = modes.filter { $0.value.contains(.openEditing) }.map(\.key.text)
        census.bans = moderation.revealed.bans.count
        census.historyMessages = historyTotals.messages
        census.historyBytes = historyTotals.bytes
        census.boards = boards.count
        census.boardBytes = boards.bytes
        for board in boards.indices { census.boardRecords += boards[board].summary.records }
        for room in rooms.indices { census.catchingUp += rooms[room].catchingUp }
        census.changesUnrevealed = storage.unrevealed.count - storage.head
        census.changesUnjournaledBytes = storage.unjournaledBytes
        census.storageFailure = storage.failure
        census.messageChannels = channelCounts[.message] ?? 0
        census.streamChannels = channelCounts[.stream] ?? 0
        (census.queuedBytes, census.pinnedBytes) = outbox.backlog()
        census.sessionsPresent = people.roster.present
        census.sessionsAway = people.roster.away
        guard isDetailed else { return census }
        for user in people.roster.names.all { for session in liveSessions(of: user) { census.sessions.append(sessionCensus(session)) } }
        for id in channels.names.inOrder() {
            let channel = channels[channels[named: id]!]
            census.channels.append(
                Census.Channel(
                    kind: id.kind.rawValue, name: id.channel.text, subscribers: channel.inside.count,
                    members: channel.presence.members.count, topics: channel.topics.count,
                    flows: channel.topics.values.reduce(0) { $0 + $1.count }, head: channel.head))
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
        all.delivery = counts.delays
        return all
    }

    private mutating func sessionCensus(_ session: Session.Index) -> Census.Session {
        let connection = outbox.connection(of: session)
        var load = (reliable: 0, packets: 0), pinned = 0
        if let connection {
            load = outbox.load(of: connection)
            pinned = outbox.pinnedBytes(of: connection)
        }
        let kinds = sessions[session].memberships.all.map { [channels, memberships] in channels[memberships[$0].channel].id!.kind }
        return Census.Session(
            user: sessions[session].user!.text, device: sessions[session].device.hex,
            peer: connection.map { connections[$0].peer } ?? "", client: sessions[session].client, away: connection == nil,
            messageChannels: kinds.count { $0 == .message }, streamChannels: kinds.count { $0 == .stream },
            queuedBytes: load.reliable + load.packets, queuedPacketBytes: load.packets,
            pinnedBytes: pinned, packetsLost: sessions[session].packetsLost)
    }
}
