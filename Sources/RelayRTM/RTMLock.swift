import RelayClient

/// Locks of channels.
public final class RTMLock: Sendable {
    let kit: RTMClientKit
    init(kit: RTMClientKit) { self.kit = kit }

    /// Makes a lock, or changes the ttl of one that is there.
    ///
    /// - Parameter ttl: seconds for which it outlives its owner's last connection, 1…300.
    @discardableResult
    public func setLock(channelName: String, channelType: RTMChannelType, lockName: String, ttl: Int32) async -> RTMAnswer<
        RTMCommonResponse
    > {
        await on("setLock", channelName, channelType) { locks in try await locks.lock(lockName).make(ttl: .seconds(Int64(ttl))) }
    }

    /// Takes a lock away, held or not.
    @discardableResult
    public func removeLock(channelName: String, channelType: RTMChannelType, lockName: String) async -> RTMAnswer<RTMCommonResponse> {
        await on("removeLock", channelName, channelType) { locks in try await locks.lock(lockName).remove() }
    }

    /// Makes this user the owner. A kit whose app has let go of it lives, logged in, until this is answered.
    ///
    /// - Parameter retry: whether to stand in line for it, for at most 300 s; else `lockAcquireFailed` at once if another holds it.
    @discardableResult
    public func acquireLock(channelName: String, channelType: RTMChannelType, lockName: String, retry: Bool) async -> RTMAnswer<
        RTMCommonResponse
    > {
        await on("acquireLock", channelName, channelType) { locks in
            try await locks.lock(lockName).acquire(wait: retry ? .seconds(300) : nil)
        }
    }

    /// Gives a lock back.
    @discardableResult
    public func releaseLock(channelName: String, channelType: RTMChannelType, lockName: String) async -> RTMAnswer<RTMCommonResponse> {
        await on("releaseLock", channelName, channelType) { locks in try await locks.lock(lockName).release() }
    }

    /// Takes a lock from a user.
    @discardableResult
    public func revokeLock(channelName: String, channelType: RTMChannelType, lockName: String, userId: String) async -> RTMAnswer<
        RTMCommonResponse
    > {
        await on("revokeLock", channelName, channelType) { locks in try await locks.lock(lockName).revoke(from: userId) }
    }

    /// All locks of a channel, in order of name.
    @discardableResult
    public func getLocks(channelName: String, channelType: RTMChannelType) async -> RTMAnswer<RTMGetLocksResponse> {
        await kit.ask("getLocks", .lock) { client in
            let locks = try await client.locks(of: channelType.channel(channelName)).all()
            return RTMGetLocksResponse.with { $0.lockDetailList = locks.map { RTMLockDetail($0) } }
        }
    }

    private func on(
        _ operation: String, _ name: String, _ type: RTMChannelType, _ body: (Locks) async throws -> Void
    ) async -> RTMAnswer<RTMCommonResponse> {
        await kit.call(operation, .lock) { client in try await body(client.locks(of: type.channel(name))) }
    }
}
