/// A named lease, free or owned by one device of a user while that has a live connection, and the ttl longer.
///
/// To be told of changes, open the channel with the part `locks`.
public struct Lock: Sendable {
    let client: WhiteboardClient
    let id: LockID

    /// Its name.
    public var name: String { id.name.text }

    /// One acquisition of a lock by this device. It does not hold the lock: `release` gives that back.
    public struct Hold: Sendable {
        let lock: Lock
        let losses: Int
        /// Greater than that of every earlier acquisition of any lock of this relay.
        public let fencing: UInt64

        /// Whether it is still had, as far as the client knows: told while the channel is open with the part `locks`.
        public var isHeld: Bool { lock.client.core.read { $0.machine.holds(lock.id, since: losses) } }
    }

    /// Makes the lock, or changes the ttl of one that is there.
    ///
    /// - Parameter ttl: how long it outlives its owner's last connection, 1…300 s.
    /// - Throws: `limitReached` over 32 locks, `badRequest` for another ttl, `notPermitted`, `relayFull`, `storageFailed`, or why the relay
    ///   was not reached.
    public func make(ttl: Duration = .seconds(10), call: CallOptions = .init()) async throws(RelayError) {
        _ = try await client.core.ask(.setLock(id, ttlMilliseconds: ttl.milliseconds), call)
    }

    /// Makes this device the owner. An owner gets it anew; another device of the user waits as anybody.
    ///
    /// A call that ends before its answer leaves the line. If the lock comes all the same, the client releases it, unless another of its
    /// tasks waits for it or has it.
    ///
    /// - Parameter wait: how long to stand in line for it, 1 ms…300 s; `nil` to be refused at once.
    /// - Throws: `lockHeld` (the text names the owner), `lockNotFound`, also when it is removed meanwhile, `limitReached` when 100 wait
    ///   already, `notPermitted`, `badRequest` for another wait, `storageFailed`, `relayFull`, `outcomeUnknown`, `cancelled`, or why the
    ///   relay was not reached. After a broken link this device may own the lock: `acquire` again, or `release`.
    @discardableResult
    public func acquire(wait: Duration? = nil, call: CallOptions = .init()) async throws(RelayError) -> Hold {
        guard case .fencing(let fencing) = try await client.core.ask(.acquireLock(id, waitMilliseconds: wait?.milliseconds), call) else {
            throw .wrongAnswer
        }
        return Hold(lock: self, losses: client.core.read { $0.machine.losses(of: id) }, fencing: fencing)
    }

    /// Has the lock while `body` runs, and gives it back, unless `acquire` has it here besides; one `with` of this client at a time: inside
    /// itself it is `timedOut`.
    ///
    /// - Parameter wait: for the turn in this client, and then as in `acquire`.
    /// - Throws: what `acquire` and `body` throw; `lockLost` when it was revoked or had expired before the body ended; what `release`
    ///   throws when the body has ended: its result is gone then.
    public func with<Result>(
        wait: Duration? = nil, call: CallOptions = .init(),
        _ body: (Hold) async throws -> Result
    ) async throws -> Result {
        let (core, id) = (client.core, id)
        var ticket: UInt64 = 0
        func leave() { core.act { readable, _ in readable.leaveLine(id, ticket) } }
        do throws(RelayError) {
            _ = try await core.call(call, isLocal: true, more: wait ?? .zero) { (readable, token, _) throws(RelayError) in
                ticket = readable.enterLine(id, token)
            }
        } catch {
            leave()
            throw error
        }
        defer { leave() }
        let hold = try await acquire(wait: wait, call: call)
        do {
            let result = try await body(hold)
            guard try await giveBack(hold) else { throw RelayError(.lockLost, "the lock \(name) was lost before the body ended") }
            return result
        } catch {
            _ = try? await giveBack(hold)
            throw error
        }
    }

    /// - Returns: whether it was still had.
    private func giveBack(_ hold: Hold) async throws(RelayError) -> Bool {
        guard hold.isHeld else { return false }
        if client.core.act({ readable, _ in readable.machine.letGo(id) }) { return true }
        do throws(RelayError) { try await release() } catch {
            if error.code == .lockNotHeld || error.code == .lockNotFound { return false }
            throw error
        }
        return true
    }

    /// Releases the lock, whoever has acquired it here; the user who has waited longest gets it.
    ///
    /// - Throws: `lockNotHeld`, `lockNotFound`, `storageFailed`, `outcomeUnknown` when the link broke before the answer, or why the relay
    ///   was not reached; the client releases it then as soon as it is.
    public func release(call: CallOptions = .init()) async throws(RelayError) { _ = try await client.core.ask(.releaseLock(id), call) }

    /// Takes the lock from a user.
    ///
    /// - Parameter device: takes it from this device alone, 16 hexadecimal digits; `nil`: from whichever of the user's has it.
    /// - Throws: `lockNotHeld` if that user, or device, is not its owner, `lockNotFound`, `notPermitted`, `badName`, `badRequest` for a
    ///   wrong device, `storageFailed`, or why the relay was not reached.
    public func revoke(from user: String, device: String? = nil, call: CallOptions = .init()) async throws(RelayError) {
        _ = try await client.core.ask(.revokeLock(id, owner: try checkedName(user), device: device), call)
    }

    /// Removes the lock, held or not; another user's takes a moderator. The relay refuses users who wait for it.
    ///
    /// - Throws: `lockNotFound`, `notPermitted`, `storageFailed`, or why the relay was not reached.
    public func remove(call: CallOptions = .init()) async throws(RelayError) { _ = try await client.core.ask(.removeLock(id), call) }
}

extension Duration {
    /// As good as for ever: 100 years.
    static let unbounded = Duration.seconds(3_155_760_000)

    /// Whole ones.
    var milliseconds: Int { Int(min(max(self / .milliseconds(1), -9e15), 9e15)) }
}
