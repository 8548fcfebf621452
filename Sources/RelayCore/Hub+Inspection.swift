internal import RelayRights
import RelayWire

// What the simulation compares its own books with. Nothing else uses it.

extension Hub {
    /// Offset of the newest message, `nil` when there is no such channel.
    package func head(of channel: Name) -> UInt64? {
        channels[named: ChannelID(kind: .message, channel: channel)].map { channels[$0].head }
    }

    /// Offset of the newest record of a board, whether its channel is there or not.
    package func boardHead(of channel: Name) -> UInt64? { boards[named: channel].map { boards[$0].head } }

    /// Sequence of the last accepted packet of an open flow.
    package func sequence(ofFlow handle: UInt32) -> UInt32? { flows[named: handle].map { flows[$0].sequence } }

    /// Who is seen in a channel, in order.
    package func members(of id: ChannelID) -> [Member] {
        guard let channel = channels[named: id] else { return [] }
        return channels[channel].presence.members.map {
            Member(user: $0.user.text, states: states(ofUser: $0.user, seenIn: channel).strings)
        }
    }

    /// Bytes that wait for a connection, and the memory its queue keeps alive in shared chunks.
    package mutating func load(of id: ConnectionID) -> (reliable: Int, packets: Int, shared: Int)? {
        guard connections.has(id) else { return nil }
        let load = outbox.load(of: id.place)
        return (load.reliable, load.packets, outbox.pinnedBytes(of: id.place))
    }

    /// Ranges of packets that a session was not given while it catches up, as they are remembered. [HI5]
    package func lostMeanwhile(of id: ConnectionID) -> Int {
        guard connections.has(id), let session = connections[id.place].session else { return 0 }
        return sessions[session].memberships.all.reduce(0) { $0 + (memberships[$1].catchUp.map { catchUps[$0].lost.ranges.count } ?? 0) }
    }

    /// Decisions of moderators that hold: roles, modes of channels, and bans with their moderators.
    package var decisions: (roles: [(Name, String)], modes: [(Name, ChannelMode)], bans: [(Name, Name)]) {
        let book = moderation.revealed
        let modes = book.modes.flatMap { channel, modes in modes.map { (channel, $0) } }
        return (book.roles.map { ($0.key, $0.value.rawValue) }, modes, book.bans.map { ($0.key, $0.value.by) })
    }

    /// How often a publish that waited was judged anew. [BL10]
    package var waitersJudged: Int { authors.judgedAgain }

    /// Bytes of frames that wait. [BL10, DL12]
    package var bytesHeld: Int { accounts.heldFrames.used }

    /// Codes for another device, each with a secret. [AC17]
    package var deviceCodesKept: Int { claims.offers.count }

    /// [AC20]
    package var joinCodesKept: Int { claims.joinCodes.count }
    /// Wrong ones that are remembered. [AC20]
    package var wrongJoinCodesKept: Int { claims.joinCodes.triesKept }

    /// Drawings in parts that the hub remembers for a user with a session. [BL8]
    package func draftsKnown(of user: Name) -> Int { people.sessions(of: user).reduce(0) { $0 + sessions[$1].window.drafts.count } }

    /// Bytes of change sets whose last part has not come. [BL11]
    package var stagedBytes: Int { accounts.staged.used }

    /// Places that addresses hold, by kind and address. [SE5, CH8]
    package var placesHeld: [String: Int] {
        var held = [String: Int]()
        let kinds = [
            ("greeting", greetings.held), ("live", accounts.live.held), ("session", accounts.sessions.held),
            ("message", accounts[channels: .message].held), ("stream", accounts[channels: .stream].held),
        ]
        for (kind, places) in kinds { for (address, count) in places { held["\(kind) \(address)"] = count } }
        return held
    }

    package var queueMemoryBytes: Int { outbox.liveBytes }
    /// The most that it ever was, within a call too.
    package var queueMemoryBytesMost: Int { outbox.liveBytesMost }
    package var settings: Configuration { mutating get { configuration } }
}

extension Hub {
    package func epoch(of channel: Name) -> Epoch? {
        channels[named: ChannelID(kind: .message, channel: channel)].map { channels[$0].epoch }
    }

    /// Users whose sessions get the messages of a channel, once for each session. Users who are away are included.
    package func receivers(ofMessages channel: Name) -> [Name] {
        guard let channel = channels[named: ChannelID(kind: .message, channel: channel)] else { return [] }
        var receivers = channels[channel].messageReceivers
        for session in channels[channel].inside where memberships[membership(of: session, inside: channel)].catchUp != nil {
            receivers.append(session)
        }
        return receivers.map { sessions[$0].user! }
    }

    package func handle(of id: ChannelID) -> UInt32? { channels[named: id].map { channels[$0].handle } }

    package func topic(ofFlow handle: UInt32) -> (channel: Name, topic: Name)? {
        flows[named: handle].map { (channels[flows[$0].channel].id!.channel, flows[$0].topic!) }
    }

    /// Handles of the sessions whose selections contain a flow.
    package func receiverHandles(ofFlow handle: UInt32) -> [UInt32] {
        guard let flow = flows[named: handle] else { return [] }
        return flows[flow].receivers.map { sessions[$0].handle }
    }

    /// Users whose selections contain a flow, once for each session.
    package func receivers(ofFlow handle: UInt32) -> [Name] {
        guard let flow = flows[named: handle] else { return [] }
        return flows[flow].receivers.map { sessions[$0].user! }
    }
}

// What a simulation of greed compares with what it sees.

/// What one kind of things takes of the memory, in bytes: at most, in all, and of one address.
package struct MemoryHeld {
    package var what: String
    package var max: Int
    package var used: Int
    package var ofAddress: Int
}

extension Hub {
    /// What all requests have cost so far, and the dearest of them and of the change sets. [DL12]
    package var workCharged: Int { work.charged }
    package var workDearest: Int { work.dearest }

    /// Memory of a connection's waiting frames, in bytes, including the part that is handled already.
    package func heldRoom(of id: ConnectionID) -> Int { connections.has(id) ? connections[id.place].held.bytes.count : 0 }

    /// What a connection has had above its share. [DL12]
    package func workOverdrawn(by id: ConnectionID) -> Int { connections.has(id) ? work.overdrawn(connections[id.place].share) : 0 }

    /// Whether frames of a connection wait. [DL12]
    package func isHeld(_ id: ConnectionID) -> Bool { connections.has(id) && connections[id.place].isHeld }

    /// Bytes that wait for a connection, packets not counted.
    package func reliableBytes(of id: ConnectionID) -> Int { connections.has(id) ? outbox.load(of: id.place).reliable : 0 }

    /// [SE15, DL12, BL11, SG3]
    package func memoryHeld(by address: AddressKey) -> [MemoryHeld] {
        let kinds = [
            ("sessions", accounts.memory), ("frames that wait", accounts.heldFrames), ("parts of change sets", accounts.staged),
            ("changes that wait for the disk", accounts.unjournaled), ("blocks of boards", catchUps.memory),
        ]
        return kinds.map { MemoryHeld(what: $0, max: $1.max, used: $1.used, ofAddress: $1.held(by: address)) }
    }

    /// All memory that the hub counts, in bytes: the shares of `--memory`, and channels.
    package var countedMemory: Int {
        outbox.liveBytes + outbox.spareBytes + accounts.metadata.used + historyTotals.memory.used + keptWindows.memory.used
            + accounts.memory.used + accounts.staged.used + accounts.heldFrames.used + accounts.unfinished.used
            + accounts.unjournaled.used + channels.count * Footprint.channel + authors.bytes + catchUps.memory.used
    }
}
