internal import RelayCore
import RelayPrimitives
internal import RelayTesting
internal import RelayWire

// Users who come and go, and time.

extension StorageSimulation {
    /// Comes in, resuming or anew; a connection that is still there is taken over.
    func logIn(_ user: StorageUser) {
        let before = user.client
        let token = random.chance(2, in: 3) ? user.token : nil
        let client = TestClient(
            driver, user.user, instance: user.device ?? "00000000000000aa", device: user.device, resume: token,
            presenceTimeoutMs: user.presenceTimeoutMs)
        if let before {
            dropWaits(of: before)
            driver.cut(before.id)
        }
        user.client = client
        user.token = client.welcome?.resumeToken
        (user.expected, user.owners) = ([], [:])
        for name in Self.locks where applied.locks[name]?.owner == user.name { lines[name]?.expiry = nil }
        if client.welcome?.resumed == true {
            done.resumptions += 1
        } else {
            client.subscribe("lesson", features: ["metadata", "locks"])
            client.request(.join) { JoinRequest(id: $0, channel: try! Name("lesson"), features: ["metadata", "locks"]) }
            client.request(.subscribeUserMetadata) { UserRequest(id: $0, user: try! Name("user-0")) }
        }
        for channel in Self.channels {
            expectSnapshot(user, channel)
            user.expected.append(.locks(channel, .snapshot, durable.locks(of: channel)))
        }
        expectSnapshot(user, "user:user-0")
    }

    private func expectSnapshot(_ user: StorageUser, _ set: String) {
        let model = durable.sets[set] ?? MetadataModel()
        user.expected.append(.metadata(set, isSnapshot: true, majorRevision: model.majorRevision, items: model.items))
    }

    func cut(_ user: StorageUser) {
        guard let client = user.client else { return }
        driver.cut(client.id)
        left(user, client)
    }

    func logOut(_ user: StorageUser) throws {
        guard let client = user.client else { return }
        let id = client.nextRequest()
        driver.send(.json(.logout, EmptyRequest(id: id)), from: client.id)
        user.expected.append(.answer(id, .empty))
        try read(user)
        driver.cut(client.id)
        user.token = nil
        left(user, client)
    }

    /// The ttl of its locks runs; it waits for none any more.
    private func left(_ user: StorageUser, _ client: TestClient) {
        user.client = nil
        dropWaits(of: client)
        for name in Self.locks where applied.locks[name]?.owner == user.name { startClock(name) }
    }

    private func dropWaits(of client: TestClient) {
        for name in Self.locks { lines[name]?.waiters.removeAll { $0.asker.client === client } }
    }

    func isConnected(_ name: String) -> Bool { users.contains { $0.name == name && $0.client != nil } }

    // MARK: - Time

    func makeTimer(_ duration: Duration) -> Timer {
        lastTimer += 1
        return Timer(at: driver.now.instant + duration, order: lastTimer)
    }

    /// Time passes; every connected user is heard from. Whatever is due is looked at in its own moment.
    func pass(_ duration: Duration) throws {
        let end = driver.now.instant + duration
        while driver.now.instant < end {
            for user in users { if let client = user.client { driver.send(Frame(.ping), from: client.id) } }
            let stop = min(end, driver.now.instant + .seconds(1))
            while let due = lines.values.flatMap({ $0.waiters.map(\.timer.at) + ($0.expiry.map { [$0.at] } ?? []) }).min(), due <= stop {
                driver.advance(due - driver.now.instant)
                while fireNext() {}
                try check()
            }
            driver.advance(stop - driver.now.instant)
        }
    }

    /// - Returns: whether anything was due by now.
    private func fireNext() -> Bool {
        var next: (timer: Timer, lock: String, waiter: Int?)?
        func consider(_ timer: Timer, _ lock: String, _ waiter: Int?) {
            guard timer.at <= driver.now.instant, next.map({ (timer.at, timer.order) < ($0.timer.at, $0.timer.order) }) ?? true else {
                return
            }
            next = (timer, lock, waiter)
        }
        for (name, line) in lines {
            if let expiry = line.expiry { consider(expiry, name, nil) }
            for (index, waiter) in line.waiters.enumerated() { consider(waiter.timer, name, index) }
        }
        guard let next else { return false }
        if let index = next.waiter {
            let waiter = lines[next.lock]!.waiters.remove(at: index)
            done.waitsOver += 1
            waiter.asker.user.expected.append(.refused(waiter.asker.id, [.lockHeld]))
        } else {
            expire(next.lock)
        }
        return true
    }
}
