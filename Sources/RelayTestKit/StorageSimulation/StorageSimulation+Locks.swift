internal import RelayCore
import RelayPrimitives
internal import RelayTesting
internal import RelayWire

// Requests about locks, who waits, and owners who are not there.

extension StorageSimulation {
    func changeLock(_ action: Action, _ user: StorageUser, _ client: TestClient) {
        let name = Self.locks.randomElement(using: &random)!
        let id = client.nextRequest()
        let asker = Asker(user: user, client: client, id: id)
        let channel = TestClient.channel(LockName(name).channel), lock = try! Name(LockName(name).lock)
        let state = applied.locks[name]
        switch action {
        case .setLock:
            // Differs by lock, so that no two of one owner ever end in the same moment.
            let ttl = (random.chance(1, in: 3) ? 20_000 : 1_000 * Int.random(in: 1...30, using: &random)) + Self.locks.firstIndex(of: name)!
            driver.send(
                .json(.setLock, SetLockRequest(id: id, kind: channel.kind, channel: channel.channel, lock: lock, ttlMs: ttl)),
                from: client.id)
            guard state?.ttlMs != ttl else { return answerInOrder(asker) }
            guard !isRefused(user, id, []) else { return }
            var next = state ?? LockModel(ttlMs: ttl)
            next.ttlMs = ttl
            change(name, .set, next, asker)
        case .acquire:
            let wait = random.chance(2, in: 3) ? Int.random(in: 1...15_000, using: &random) : nil
            driver.send(
                .json(.acquireLock, AcquireLockRequest(id: id, kind: channel.kind, channel: channel.channel, lock: lock, waitMs: wait)),
                from: client.id)
            guard let state else { return refuse(asker, .lockNotFound) }
            if state.owner == nil || state.owner == user.name {
                guard !isRefused(user, id, []) else { return }
                grant(name, asker)
            } else if let wait {
                done.waits += 1
                lines[name, default: LockLine()].waiters.append(Waiter(asker: asker, timer: makeTimer(.milliseconds(wait))))
            } else {
                refuse(asker, .lockHeld)
            }
        case .release, .revoke:
            let owner = action == .release ? nil : users.randomElement(using: &random)!
            let request = LockRequest(
                id: id, kind: channel.kind, channel: channel.channel, lock: lock, owner: owner.map { try! Name($0.user) },
                ownerDevice: owner?.device)
            driver.send(.json(action == .release ? .releaseLock : .revokeLock, request), from: client.id)
            guard let state else { return refuse(asker, .lockNotFound) }
            let isOwner = state.owner.map { name in users.contains { $0.name == name && isMeant($0, by: owner, from: user) } } ?? false
            guard !isRefused(user, id, isOwner ? [] : [.lockNotHeld]) else { return }
            free(name, action == .release ? .released : .revoked, asker)
        default:
            driver.send(.json(.removeLock, LockRequest(id: id, kind: channel.kind, channel: channel.channel, lock: lock)), from: client.id)
            guard let state else { return refuse(asker, .lockNotFound) }
            guard !isRefused(user, id, []) else { return }
            let waiters = lines[name]?.waiters ?? []
            lines[name] = nil
            accept(asker, told(name, .removed, state, user: state.owner), lock: name, waiters: waiters) { $0.locks[name] = nil }
        }
    }

    /// Whose lock a request is about: without a device any of the user's.
    private func isMeant(_ owner: StorageUser, by named: StorageUser?, from asking: StorageUser) -> Bool {
        guard let named else { return owner === asking }
        return owner.user == named.user && (named.device == nil || owner === named)
    }

    private func refuse(_ asker: Asker, _ code: ErrorCode) {
        refuse(asker, .refused(asker.id, isReadOnly ? [code, .storageFailed] : [code]))
    }

    private func told(_ name: String, _ event: LocksEvent.Event, _ state: LockModel, user: String? = nil) -> Told {
        .locks(LockName(name).channel, event, [LockName(name).lock: state], user: user)
    }

    private func change(_ name: String, _ event: LocksEvent.Event, _ next: LockModel, _ asker: Asker?, user: String? = nil) {
        accept(asker, told(name, event, next, user: user), lock: name) { $0.locks[name] = next }
        startClock(name)
    }

    private func grant(_ name: String, _ asker: Asker) {
        var next = applied.locks[name]!
        next.owner = asker.user.name
        next.grant = place + 1
        var asker = asker
        asker.answer = .fencing(next.grant)
        done.acquisitions += 1
        change(name, .acquired, next, asker)
    }

    /// It goes to the user who waits longest.
    private func free(_ name: String, _ event: LocksEvent.Event, _ asker: Asker?) {
        var next = applied.locks[name]!
        let owner = next.owner
        next.owner = nil
        change(name, event, next, asker, user: owner)
        guard lines[name]?.waiters.isEmpty == false else { return }
        done.waitsGranted += 1
        grant(name, lines[name]!.waiters.removeFirst().asker)
    }

    // MARK: - Owners who are not there

    /// The ttl of an owner without a connection begins to run; that of one with a connection does not run.
    func startClock(_ name: String) {
        var line = lines[name] ?? LockLine()
        line.expiry = nil
        if let lock = applied.locks[name], let owner = lock.owner, !isConnected(owner) {
            line.expiry = makeTimer(.milliseconds(lock.ttlMs))
        }
        lines[name] = line
    }

    func expire(_ name: String) {
        // What cannot be stored did not happen: later, then.
        guard !isReadOnly else { return lines[name]!.expiry = makeTimer(driver.hub.settings.expiryRetry) }
        done.expiries += 1
        free(name, .expired, nil)
    }

    // MARK: - Not durable

    /// Who waited for a lock whose removal was undone waits on, before those who came later.
    func undoLocks(_ undone: [AcceptedChange]) {
        for name in Self.locks where undone.contains(where: { $0.lock == name }) {
            let restored = undone.filter { $0.lock == name }.flatMap(\.waiters).filter(\.asker.isThere)
            lines[name, default: LockLine()].waiters.insert(contentsOf: restored, at: 0)
            startClock(name)
        }
        // Told in the order in which the changes were accepted.
        var settled: Set<String> = []
        for name in undone.compactMap(\.lock) where settled.insert(name).inserted {
            let isHeld = applied.locks[name]?.owner != nil
            for waiter in lines[name]!.waiters where !isHeld || waiter.timer.at <= driver.now.instant {
                waiter.asker.user.expected.append(.refused(waiter.asker.id, [isHeld ? .lockHeld : .storageFailed]))
            }
            lines[name]!.waiters.removeAll { !isHeld || $0.timer.at <= driver.now.instant }
        }
    }
}
