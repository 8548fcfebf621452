import RelayPrimitives
internal import RelayRights
import RelayWire

// Requests about locks. [LK1–LK9]

extension Hub {
    // MARK: - Requests

    mutating func setLock(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(SetLockRequest.self, body)
        try require(.lock, on: ChannelID(kind: request.kind, channel: request.channel), session)
        let milliseconds = request.ttlMs ?? Limits.lockTTLMillisecondsDefault
        let allowed = Limits.lockTTLMilliseconds
        guard allowed.contains(milliseconds) else { throw .outside("ttlMs", allowed, milliseconds) }
        let id = ChannelID(kind: request.kind, channel: request.channel)
        let requester = requester(connection, request.id, .empty)
        let known = lock(request.lock, of: id)
        if let known, locks[known].applied?.ttl == .milliseconds(milliseconds) { return answerInOrder(requester) }
        let all = locksOf(id), count = all.count { [locks] in locks[$0].applied != nil }
        work.look(at: all.count)
        if known.flatMap({ locks[$0].applied }) == nil {
            guard count < configuration.locksPerChannelMax else {
                throw WireError(
                    .limitReached, "a channel has at most \(configuration.locksPerChannelMax) locks",
                    limit: configuration.locksPerChannelMax,
                    actual: count + 1)
            }
            try checkPlace(locks.places, of: session, max: configuration.locksTotalMax, "locks")
        }
        try checkStorage()
        let lock = try lockFor(request.lock, id, by: session)
        var state = locks[lock].applied ?? LockState(ttl: .zero)
        state.ttl = .milliseconds(milliseconds)
        change(lock, LockTransition(event: .set, state: state), requester)
    }

    mutating func acquireLock(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(AcquireLockRequest.self, body)
        try require(.lock, on: ChannelID(kind: request.kind, channel: request.channel), session)
        if let wait = request.waitMs, !Limits.lockWaitMilliseconds.contains(wait) {
            throw .outside("waitMs", Limits.lockWaitMilliseconds, wait)
        }
        let lock = try existingLock(request.lock, ChannelID(kind: request.kind, channel: request.channel))
        let owner = lockOwner(session)
        switch locks[lock].acquire(by: owner, waits: request.waitMs != nil) {
        case .grant:
            try checkStorage()
            grant(lock, to: owner, requester(connection, request.id, .empty))
        case .refuse(let other):
            throw WireError(
                .lockHeld, "lock \(request.lock) is held by \(other.user == owner.user ? "another device of " : "")\(other.user)")
        case .enqueue:
            let count = locks[lock].waiters.count
            guard count < configuration.lockWaitersMax else {
                throw WireError(
                    .limitReached, "at most \(configuration.lockWaitersMax) wait for a lock", limit: configuration.lockWaitersMax,
                    actual: count + 1)
            }
            try checkMemory(Footprint.lockWait, of: session)
            let ticket = ordinals.generation()
            let until = now.instant + .milliseconds(request.waitMs!)
            locks[lock].waiters.append(
                LockWaiter(owner: owner, requester: requester(connection, request.id, .empty), ticket: ticket, until: until))
            sessions[session].waitsForLocks[lock, default: 0] += 1
            sessions[session].lockWaits += 1
            holdOwn(Footprint.lockWait, session)
            deadlines.set(.lockWait(lock: lock, ticket: ticket), at: until)
        }
    }

    mutating func releaseLock(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(LockRequest.self, body)
        let id = ChannelID(kind: request.kind, channel: request.channel)
        // What one has may be given back with whatever rights.
        let isOwn = lock(request.lock, of: id).map { locks[$0].applied?.owner == lockOwner(session) } ?? false
        if !isOwn { try require(.lock, on: id, session) }
        let own = lockOwner(session)
        let lock = try heldLock(request.lock, id, by: own.user, device: own.device)
        try checkStorage()
        free(lock, .released, requester(connection, request.id, .empty))
    }

    mutating func revokeLock(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(LockRequest.self, body)
        try requireModerator(session)
        guard let owner = request.owner else { throw WireError(.badRequest, "field owner is missing: whose lock is it?") }
        var device: UInt64?
        if let digits = request.ownerDevice {
            guard let named = UInt64(hex: digits), digits.utf8.count == 16 else {
                throw WireError(.badRequest, "field ownerDevice has 16 hexadecimal digits")
            }
            device = named
        }
        let lock = try heldLock(request.lock, ChannelID(kind: request.kind, channel: request.channel), by: owner, device: device)
        try checkStorage()
        free(lock, .revoked, requester(connection, request.id, .empty))
    }

    mutating func removeLock(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(LockRequest.self, body)
        try require(.lock, on: ChannelID(kind: request.kind, channel: request.channel), session)
        let lock = try existingLock(request.lock, ChannelID(kind: request.kind, channel: request.channel))
        if let owner = locks[lock].applied?.owner?.user, owner != sessions[session].user { try requireModerator(session) }
        try checkStorage()
        let transition = removing(lock)
        let entry = StoredForm.entry(locks[lock].channel!, request.lock, nil)
        store([entry], .lock(lock, transition), requester(connection, request.id, .empty))
    }

    /// Removes a lock, as the next change to store: then the users who wait for it are told.
    mutating func removing(_ lock: Lock.Index) -> LockTransition {
        let state = locks[lock].applied!
        let waiters = locks[lock].waiters
        locks[lock].waiters = []
        apply(nil, to: lock)
        return LockTransition(event: .removed, state: state, holder: state.owner, waiters: waiters)
    }

    mutating func getLocks(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(GetLocksRequest.self, body)
        try require(.subscribe, on: ChannelID(kind: request.kind, channel: request.channel), session)
        let details = details(ChannelID(kind: request.kind, channel: request.channel))
        work.look(at: details.count)
        answer(connection, LocksAnswer(id: request.id, locks: details))
    }

    // MARK: - Finding

    func lockOwner(_ session: Session.Index) -> LockOwner { LockOwner(user: sessions[session].user!, device: sessions[session].device) }

    /// In order of their names.
    func locksOf(_ id: ChannelID) -> [Lock.Index] {
        guard let channel = channels[named: id] else { return [] }
        return channels[channel].locks.inOrder().map(\.value)
    }

    func lock(_ name: Name, of id: ChannelID) -> Lock.Index? { channels[named: id].flatMap { channels[$0].locks[name] } }

    /// - Throws: `lockNotFound`.
    private func existingLock(_ name: Name, _ id: ChannelID) throws(WireError) -> Lock.Index {
        guard let lock = lock(name, of: id), locks[lock].applied != nil else {
            throw WireError(.lockNotFound, "there is no lock \(name) in \(id)")
        }
        return lock
    }

    /// - Throws: `lockNotFound` or `lockNotHeld`.
    private func heldLock(_ name: Name, _ id: ChannelID, by user: Name, device: UInt64?) throws(WireError)
        -> Lock.Index
    {
        let lock = try existingLock(name, id)
        guard let owner = locks[lock].applied!.owner else { throw WireError(.lockNotHeld, "lock \(name) is held by nobody") }
        guard owner.user == user else { throw WireError(.lockNotHeld, "lock \(name) is held by \(owner.user), not by \(user)") }
        guard device == nil || owner.device == device else {
            throw WireError(.lockNotHeld, "lock \(name) is held by another device of \(user)")
        }
        return lock
    }

    /// - Throws: `relayFull`.
    mutating func lockFor(_ name: Name, _ id: ChannelID, by session: Session.Index?) throws(WireError) -> Lock.Index {
        if let lock = lock(name, of: id) { return lock }
        let channel = try channelFor(id, by: session)
        let address = session.map { sessions[$0].address }
        let lock = locks.insert(Lock(name: name, channel: id, address: address, generation: ordinals.generation()))
        channels[channel].locks[name] = lock
        return lock
    }

    // MARK: - Changes

    private mutating func grant(_ lock: Lock.Index, to owner: LockOwner, _ requester: Requester) {
        var state = locks[lock].applied!
        state.owner = owner
        state.fencing = nextSequence
        var requester = requester
        requester.answer = .fencing(state.fencing)
        change(lock, LockTransition(event: .acquired, state: state), requester)
    }

    /// Takes the lock from its owner and gives it to the device that waits longest.
    mutating func free(_ lock: Lock.Index, _ event: LocksEvent.Event, _ requester: Requester?) {
        var state = locks[lock].applied!
        let owner = state.owner
        state.owner = nil
        change(lock, LockTransition(event: event, state: state, holder: owner), requester)
        guard !locks[lock].waiters.isEmpty else { return }
        let next = locks[lock].waiters.removeFirst()
        waitEnded(next, for: lock)
        grant(lock, to: next.owner, next.requester)
    }

    private mutating func change(_ lock: Lock.Index, _ transition: LockTransition, _ requester: Requester?) {
        apply(transition.state, to: lock)
        store([StoredForm.entry(locks[lock].channel!, locks[lock].name!, transition.state)], .lock(lock, transition), requester)
    }

    /// Adopts a state, and sets the deadline of an absent owner. [LK5]
    mutating func apply(_ state: LockState?, to lock: Lock.Index) {
        hold(state, lock)
        if let state, let owner = state.owner, !isConnected(owner) { setLockExpiry(lock, after: state.ttl) }
    }

    /// Adopts a state, and updates the list of owners and their locks.
    mutating func hold(_ state: LockState?, _ lock: Lock.Index) {
        locks.hold(state, lock)
        locks[lock].absence = ordinals.generation()
    }
}
