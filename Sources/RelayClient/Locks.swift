import RelayPrimitives

/// The locks of a channel: named leases, each free or owned by one device of a user.
///
/// A lock stays its owner's as long as that device has a live connection, and its ttl longer. To be told of
/// changes, subscribe the channel with the feature `locks`. A lock is this client's own if `owner` is its `user` and `ownerDevice` its
/// `device`.
public struct Locks: Sendable {
    let core: ClientCore
    let channel: ChannelID

    private func id(_ lock: String) throws(RelayError) -> LockID { LockID(channel: channel, name: try checkedName(lock)) }

    /// Makes a lock, or changes the ttl of one that is there.
    ///
    /// - Parameter ttl: how long it outlives its owner's last connection, 1…300 s.
    /// - Throws: `limitReached` over 32 locks, `badRequest` for another ttl, `storageFailed`.
    public func set(_ lock: String, ttl: Duration = .seconds(10)) async throws(RelayError) {
        _ = try await core.ask(.setLock(try id(lock), ttlMilliseconds: ttl.milliseconds))
    }

    /// Makes this client the owner. An owner gets it anew; another device of the user waits as anybody.
    ///
    /// - Parameter wait: how long to stand in line for it, 1 ms…300 s; `nil` to be refused at once.
    /// - Returns: the fencing number: greater than that of every earlier acquisition of any lock of this relay.
    /// - Throws: `lockHeld` (the text names the owner), `lockNotFound`, `limitReached` when 100 wait already, `cancelled` when the
    ///   task was cancelled while it waited. If the lock comes all the same, the client releases it, unless another of its tasks waits for
    ///   it or has it.
    @discardableResult
    public func acquire(_ lock: String, wait: Duration? = nil) async throws(RelayError) -> UInt64 {
        guard case .fencing(let fencing) = try await core.ask(.acquireLock(try id(lock), waitMilliseconds: wait?.milliseconds)) else {
            throw .wrongAnswer
        }
        return fencing
    }

    /// Releases the lock; the user who has waited longest gets it.
    ///
    /// - Throws: `lockNotHeld`, `lockNotFound`.
    public func release(_ lock: String) async throws(RelayError) { _ = try await core.ask(.releaseLock(try id(lock))) }

    /// Takes the lock from a user.
    ///
    /// - Parameter device: takes it from this device alone, 16 hexadecimal digits; `nil`: from whichever of the user's has it.
    /// - Throws: `lockNotHeld` if that user, or device, is not its owner, `lockNotFound`.
    public func revoke(_ lock: String, from user: String, device: String? = nil) async throws(RelayError) {
        _ = try await core.ask(.revokeLock(try id(lock), owner: try checkedName(user), device: device))
    }

    /// Removes the lock, held or not. The relay refuses users who wait for it.
    ///
    /// - Throws: `lockNotFound`.
    public func remove(_ lock: String) async throws(RelayError) { _ = try await core.ask(.removeLock(try id(lock))) }

    /// All locks of the channel, in order of name.
    ///
    /// - Throws: `notPermitted`, or why the relay was not reached.
    public func all() async throws(RelayError) -> [LockDetail] {
        guard case .locks(let locks) = try await core.ask(.getLocks(channel)) else { throw .wrongAnswer }
        return locks
    }
}

extension Duration {
    fileprivate var milliseconds: Int { Int(clamping: components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000) }
}
