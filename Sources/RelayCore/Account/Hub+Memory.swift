import RelayPrimitives
import RelayWire

// What a session makes the relay hold is charged to it, and to the address that it came from. [SE15]

extension Hub {
    /// - Throws: `relayFull`.
    func checkMemory(_ bytes: Int, of session: Session.Index) throws(WireError) {
        try checkMemory(bytes, of: sessions[session].address)
    }

    /// - Throws: `relayFull`.
    func checkMemory(_ bytes: Int, of address: AddressKey) throws(WireError) {
        try accounts.memory.check(bytes, of: address, .relayFull, "memory of sessions")
    }

    private mutating func hold(_ bytes: Int, _ session: Session.Index) {
        guard bytes != 0 else { return }
        sessions[session].held += bytes
        accounts.memory.hold(bytes, sessions[session].address)
    }

    /// Something about a membership has changed, or it begins.
    mutating func recount(_ membership: Membership.Index) {
        let bytes = memberships[membership].footprint
        if memberships[membership].held == 0 { countInside(membership, 1) }
        hold(bytes - memberships[membership].held, memberships[membership].session)
        memberships[membership].held = bytes
    }

    /// It ends, or is handed to another session.
    mutating func uncount(_ membership: Membership.Index) {
        countInside(membership, -1)
        hold(-memberships[membership].held, memberships[membership].session)
        memberships[membership].held = 0
    }

    /// Of a stream channel's places the address of the session has one more or less. [ST2]
    private mutating func countInside(_ membership: Membership.Index, _ change: Int) {
        let channel = memberships[membership].channel, address = sessions[memberships[membership].session].address
        guard channels[channel].places != nil else { return }
        if change > 0 { channels[channel].places!.take(address) } else { channels[channel].places!.giveBack(address) }
    }

    /// A flow has one receiver more or less in a channel.
    mutating func countReceiving(_ change: Int32, _ membership: Membership.Index) {
        memberships[membership].receiving += change
        let bytes = Int(change) * Footprint.receiver
        memberships[membership].held += bytes
        hold(bytes, memberships[membership].session)
    }

    /// Something that hangs on the session itself has changed, or it begins.
    mutating func recount(_ session: Session.Index) {
        let bytes = sessions[session].footprint
        hold(bytes - sessions[session].heldOwn, session)
        sessions[session].heldOwn = bytes
    }

    /// The same, where the change is known.
    mutating func holdOwn(_ bytes: Int, _ session: Session.Index) {
        sessions[session].heldOwn += bytes
        hold(bytes, session)
    }

    /// It has come from another address.
    mutating func moveMemory(of session: Session.Index, to address: AddressKey) {
        for membership in sessions[session].memberships.all { countInside(membership, -1) }
        accounts.memory.hold(-sessions[session].held, sessions[session].address)
        sessions[session].address = address
        accounts.memory.hold(sessions[session].held, address)
        for membership in sessions[session].memberships.all { countInside(membership, 1) }
    }

    /// It ends.
    mutating func uncount(_ session: Session.Index) {
        hold(-sessions[session].heldOwn, session)
        sessions[session].heldOwn = 0
        precondition(sessions[session].held == 0, "a session that has ended holds \(sessions[session].held) bytes")
    }

    // MARK: - Frames that have not come whole

    mutating func keepPartial(_ bytes: [UInt8], since: Instant, of connection: Connection.Index) {
        let address = connections[connection].partialPayer ?? connections[connection].peer.address
        let more = bytes.count - connections[connection].partial.count
        if more != 0 { accounts.unfinished.hold(more, address) }
        connections[connection].keepPartial(bytes, since: since, payer: address)
    }

    /// At the end of each call: a connection that is closed lets go what it keeps, and others may be closed for it then. [FR2]
    mutating func boundPartials() {
        while accounts.unfinished.used > accounts.unfinished.max, let worst = worstPartial() {
            close(
                worst, .tooManyConnections,
                "\(accounts.unfinished.used) bytes of frames have not come whole, at most \(accounts.unfinished.max) may be kept: "
                    + "of the address that has most this one has kept most for longest")
        }
    }

    /// Of the address that holds most: whose bytes, times the milliseconds for which they have been there, are most.
    private func worstPartial() -> Connection.Index? {
        guard let address = accounts.unfinished.largest else { return nil }
        var worst: (connection: Connection.Index, weight: Int64)?
        for connection in connections.indices where connections[connection].isOpen && connections[connection].partialPayer == address {
            let age = (now.instant - connections[connection].partialSince).milliseconds + 1
            let weight = Int64(connections[connection].partial.count) * age
            if weight > worst?.weight ?? 0 { worst = (connection, weight) }
        }
        return worst?.connection
    }

    package var sessionMemory: Int { accounts.memory.used }

    /// For tests.
    package var metadataCharges: [AddressKey: Int] { accounts.metadata.byAddress }

    /// What all sessions hold, counted anew; for tests.
    package func recountedMemory() -> Int {
        var bytes = 0
        for session in sessions.indices where sessions[session].user != nil {
            bytes += sessions[session].footprint
            for membership in sessions[session].memberships.all { bytes += memberships[membership].footprint }
        }
        return bytes
    }
}
