import RelayPrimitives
internal import RelayRights
import RelayWire

// Events of locks, users who wait, and the locks of absent owners. [LK4–LK9]

extension Hub {
    // MARK: - Durable, or not

    mutating func revealLock(_ lock: Lock.Index, _ transition: LockTransition) {
        locks[lock].unrevealed -= 1
        let isRemoved = transition.event == .removed
        locks[lock].revealed = isRemoved ? nil : transition.state
        let detail = locks[lock].detail(transition.state)
        if let channel = channels[named: locks[lock].channel!], !channels[channel].lockReceivers.isEmpty {
            enqueueJSON(
                room: channels[channel].room, .locks,
                LocksEvent(
                    channel: channels[channel].handle, event: transition.event, locks: [detail], user: transition.holder?.user,
                    device: transition.holder?.device.hex),
                to: channels[channel].lockReceivers)
        }
        end(transition.waiters, of: lock, WireError(.lockNotFound, "lock \(locks[lock].name!) was removed"))
        forgetLockIfUnused(lock)
    }

    mutating func undoLock(_ lock: Lock.Index, _ transition: LockTransition) {
        locks[lock].unrevealed = 0
        locks[lock].waiters = transition.waiters.filter { isWaiting($0) } + locks[lock].waiters
        apply(locks[lock].revealed, to: lock)
    }

    /// Nobody will free a lock without an owner: users who wait for it learn what went wrong instead. And a wait that ended
    /// while the lock was removed for the time being found nobody to tell: it is over now.
    mutating func settleUndoneLock(_ lock: Lock.Index) {
        guard locks[lock].name != nil else { return }
        if locks[lock].applied?.owner == nil {
            let waiters = locks[lock].waiters
            locks[lock].waiters = []
            end(waiters, of: lock, WireError(.storageFailed, "a change of the lock could not be stored: the relay's log says why"))
        }
        for waiter in locks[lock].waiters where waiter.until <= now.instant { lockWaitDeadline(lock, waiter.ticket) }
        endLockWaitsWithoutRight(lock)
        forgetLockIfUnused(lock)
    }

    private mutating func forgetLockIfUnused(_ lock: Lock.Index) {
        guard locks[lock].applied == nil, locks[lock].revealed == nil, locks[lock].unrevealed == 0, locks[lock].waiters.isEmpty else {
            return
        }
        let channel = channels[named: locks[lock].channel!]!
        channels[channel].locks[locks[lock].name!] = nil
        locks.remove(lock)
        endChannelIfUnused(channel)
    }

    // MARK: - Shown

    /// As everybody may see them. [LK8]
    func details(_ id: ChannelID) -> [LockDetail] {
        locksOf(id).compactMap { lock in locks[lock].revealed.map { locks[lock].detail($0) } }
    }

    mutating func sendLocksSnapshot(_ channel: Channel.Index, to connection: Connection.Index) {
        let (id, handle) = (channels[channel].id!, channels[channel].handle)
        enqueueJSON(connection, .locks, LocksEvent(channel: handle, event: .snapshot, locks: details(id)))
    }

    // MARK: - Waiting

    mutating func lockWaitDeadline(_ lock: Lock.Index, _ ticket: UInt32) {
        guard let index = locks[lock].waiters.firstIndex(where: { $0.ticket == ticket }) else { return }
        let waiter = locks[lock].waiters.remove(at: index)
        let owner = locks[lock].applied?.owner.map { "is held by \($0.user)" } ?? "was not free"
        end([waiter], of: lock, WireError(.lockHeld, "lock \(locks[lock].name!) \(owner) and did not become free in time"))
    }

    private func isWaiting(_ waiter: LockWaiter) -> Bool {
        connections.has(waiter.requester.connection) && connections[waiter.requester.connection.place].isOpen
    }

    private mutating func end(_ waiters: [LockWaiter], of lock: Lock.Index, _ error: WireError) {
        for waiter in waiters where isWaiting(waiter) {
            waitEnded(waiter, for: lock)
            refuse(waiter.requester.connection.place, error, id: waiter.requester.id)
        }
    }

    /// A user who has lost the right to a lock stops waiting for it. [AC7]
    mutating func endLockWaits(_ session: Session.Index) {
        guard let connection = outbox.connection(of: session) else { return }
        let id = connections[connection].id
        for lock in sessions[session].waitsForLocks.keys.inOrder() where locks[lock].name != nil {
            let channel = locks[lock].channel!
            guard !rights(of: session, on: channel).contains(.lock) else { continue }
            let ended = locks[lock].waiters.filter { $0.requester.connection == id }
            locks[lock].waiters.removeAll { $0.requester.connection == id }
            end(ended, of: lock, Self.notPermitted(.lock))
            if locks[lock].applied == nil { forgetLockIfUnused(lock) }
        }
    }

    /// After a failed removal its waiting users wait again. Some may have lost the right to the lock meanwhile. [AC7]
    private mutating func endLockWaitsWithoutRight(_ lock: Lock.Index) {
        let channel = locks[lock].channel!
        var ended: [LockWaiter] = []
        for waiter in locks[lock].waiters where isWaiting(waiter) {
            guard let session = connections[waiter.requester.connection.place].session else { continue }
            if !rights(of: session, on: channel).contains(.lock) { ended.append(waiter) }
        }
        guard !ended.isEmpty else { return }
        locks[lock].waiters.removeAll { waiter in ended.contains { $0.ticket == waiter.ticket } }
        end(ended, of: lock, Self.notPermitted(.lock))
    }

    /// Withdraws a request for a lock. [SE14]
    ///
    /// - Returns: whether it waited.
    mutating func stopLockWait(_ request: UInt32, _ session: Session.Index, _ connection: Connection.Index) -> Bool {
        let id = connections[connection].id
        work.look(at: sessions[session].waitsForLocks.count)
        for lock in sessions[session].waitsForLocks.keys.inOrder() where locks[lock].name != nil {
            let waiter = locks[lock].waiters.firstIndex { $0.requester.connection == id && $0.requester.id == request }
            guard let waiter else { continue }
            waitEnded(locks[lock].waiters.remove(at: waiter), for: lock)
            if locks[lock].applied == nil { forgetLockIfUnused(lock) }
            return true
        }
        return false
    }

    /// One wait of a connection is over. Its session forgets the lock, unless the connection waits for it a second time.
    mutating func waitEnded(_ waiter: LockWaiter, for lock: Lock.Index) {
        let connection = waiter.requester.connection
        guard connections.has(connection), let session = connections[connection.place].session,
            let count = sessions[session].waitsForLocks[lock]
        else { return }
        sessions[session].waitsForLocks[lock] = count > 1 ? count - 1 : nil
        sessions[session].lockWaits -= 1
        holdOwn(-Footprint.lockWait, session)
    }

    /// A user waits on one connection; with it the wait is over.
    mutating func stopWaiting(_ session: Session.Index, _ connection: ConnectionID) {
        for lock in sessions[session].waitsForLocks.keys.inOrder() where locks[lock].name != nil {
            locks[lock].waiters.removeAll { $0.requester.connection == connection }
            if locks[lock].applied == nil { forgetLockIfUnused(lock) }
        }
        sessions[session].waitsForLocks = [:]
        holdOwn(-sessions[session].lockWaits * Footprint.lockWait, session)
        sessions[session].lockWaits = 0
    }

    // MARK: - Absent owners

    /// Whether a device has a live connection: as long as it has one, its locks do not end. [LK5]
    func isConnected(_ owner: LockOwner) -> Bool {
        people.sessions(of: owner.user).contains { sessions[$0].device == owner.device && outbox.connection(of: $0) != nil }
    }

    mutating func setLockExpiry(_ lock: Lock.Index, after ttl: Duration) {
        deadlines.set(.lockExpiry(lock: lock, absence: locks[lock].absence), at: now.instant + ttl)
    }

    /// A device's connection is gone: the clocks of its locks run. [LK5]
    mutating func ownerLeft(_ owner: LockOwner) {
        for lock in locks[of: owner] {
            locks[lock].absence = ordinals.generation()
            setLockExpiry(lock, after: locks[lock].applied!.ttl)
        }
    }

    mutating func ownerCame(_ owner: LockOwner) {
        let held = locks[of: owner]
        work.look(at: held.count)
        for lock in held { locks[lock].absence = ordinals.generation() }
    }

    mutating func lockExpiryDeadline(_ lock: Lock.Index) {
        guard let owner = locks[lock].applied?.owner, !isConnected(owner) else { return }
        do throws(WireError) {
            try checkStorage()
        } catch {
            // What cannot be stored did not happen: later, then.
            return setLockExpiry(lock, after: configuration.expiryRetry)
        }
        free(lock, .expired, nil)
    }
}
