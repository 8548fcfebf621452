import RelayMonitoring

/// What a moderator can do: set users' rights, decide which users may log in, and look at the relay.
///
/// Everything here wants the role moderator (`notPermitted`). What is decided holds at once, and is logged by the relay with this
/// client's user id. What is to hold over restarts is durable when it returns; on a relay that cannot store it is `storageFailed`.
public struct Moderation: Sendable {
    let client: WhiteboardClient

    /// Makes a user a reader, an editor or a coeditor, until that is set anew.
    ///
    /// - Parameters:
    ///   - role: `reader` takes away what readers may not; `editor` and `coeditor` give that role to a user with less; `nil`: what
    ///     the user's credential gives counts again.
    ///   - user: whether it is there or not.
    /// - Throws: `notPermitted` also for oneself and for a user who is a moderator by its credential; `badRequest` for the role
    ///   moderator, `limitReached`, `badName`, `storageFailed`, `outcomeUnknown`.
    public func setRole(_ role: Role?, of user: String, call: CallOptions = .init()) async throws(RelayError) {
        _ = try await client.core.ask(.setRole(try checkedName(user), role), call)
    }

    /// Lets everybody but moderators only look on, in the message and the stream channel of this name.
    ///
    /// - Throws: `notPermitted`, `limitReached`, `badName`, `storageFailed`, `outcomeUnknown`.
    public func freeze(_ channel: String, call: CallOptions = .init()) async throws(RelayError) {
        try await set(.frozen, true, channel, call)
    }

    /// Ends that.
    ///
    /// - Throws: `notPermitted`, `badName`, `storageFailed`, `outcomeUnknown`.
    public func unfreeze(_ channel: String, call: CallOptions = .init()) async throws(RelayError) {
        try await set(.frozen, false, channel, call)
    }

    /// Lets everybody who may publish also replace and remove others' records, in the message channel of this name.
    ///
    /// - Throws: `notPermitted`, `limitReached`, `badName`, `storageFailed`, `outcomeUnknown`.
    public func openEditing(_ channel: String, call: CallOptions = .init()) async throws(RelayError) {
        try await set(.openEditing, true, channel, call)
    }

    /// Ends that.
    ///
    /// - Throws: `notPermitted`, `badName`, `storageFailed`, `outcomeUnknown`.
    public func closeEditing(_ channel: String, call: CallOptions = .init()) async throws(RelayError) {
        try await set(.openEditing, false, channel, call)
    }

    private func set(_ mode: ChannelMode, _ isOn: Bool, _ channel: String, _ call: CallOptions) async throws(RelayError) {
        _ = try await client.core.ask(.setMode(try checkedName(channel), mode, isOn), call)
    }

    /// Ends the sessions of a user. The user may log in again; the client does not by itself.
    ///
    /// - Parameter reason: told the user, at most 256 bytes.
    /// - Throws: `userOffline` without a session, `tooLarge`, `notPermitted`, `badName`, `outcomeUnknown`.
    public func endSession(of user: String, reason: String? = nil, call: CallOptions = .init()) async throws(RelayError) {
        _ = try await client.core.ask(.endSession(try checkedName(user), reason: try checked(reason)), call)
    }

    /// Ends the message and the stream channel of this name: everybody is out of them, and their history, board, metadata and locks go for
    /// good. Whoever comes in again finds a new channel.
    ///
    /// It returns when the relay's files hold nothing of it any more.
    ///
    /// - Parameter reason: told everybody in them, with `channelEnded`; at most 256 bytes.
    /// - Throws: `tooLarge`, `busy`, `limitReached`, `notPermitted`, `badName`, `outcomeUnknown`; `storageFailed` also when all is gone for
    ///   everybody, and not yet from the disk.
    public func endChannel(_ channel: String, reason: String? = nil, call: CallOptions = .init()) async throws(RelayError) {
        _ = try await client.core.ask(.endChannel(try checkedName(channel), reason: try checked(reason)), call)
    }

    private func checked(_ reason: String?) throws(RelayError) -> String? {
        let bytes = reason?.utf8.count ?? 0
        guard bytes > Limits.endReasonBytesMax else { return reason }
        throw RelayError(
            .tooLarge, "a reason has at most \(Limits.endReasonBytesMax) bytes, not \(bytes)", limit: Limits.endReasonBytesMax,
            actual: bytes)
    }

    /// Makes a code with which newcomers come in as with the join key: six letters, for who has no camera. They log in with
    /// `Credential.joinCode`.
    ///
    /// It holds for 30 minutes, while this client keeps its session, which has one at most: for the same channel it is the same again.
    /// `joinCodes()` tells of another end. When the link has come back, ask again: an end may have been missed.
    ///
    /// - Parameter channel: where it leads.
    /// - Throws: `notSupported` by a relay without a join key; `notPermitted` also for a key that counts no more; `limitReached`,
    ///   `badName`.
    public func offerJoinCode(to channel: String, call: CallOptions = .init()) async throws(RelayError) -> OfferedCode {
        guard case .code(let offer) = try await ask(.offerJoinCode(try checkedName(channel)), call) else { throw .wrongAnswer }
        return offer
    }

    /// Ends that code.
    ///
    /// - Throws: why the relay was not reached.
    public func withdrawJoinCode(call: CallOptions = .init()) async throws(RelayError) { _ = try await ask(.withdrawJoinCode, call) }

    /// The code of this client that newcomers can use; `nil` while there is none. `problems()` tells why one has ended.
    public func joinCodes() -> Latest<OfferedCode?> {
        Latest(client, standing: \.joinCodeStanding) { readable, _ in readable.offeredJoinCode }
    }

    private func ask(_ request: ClientRequest, _ call: CallOptions) async throws(RelayError) -> ClientAnswer {
        try await client.core.call(call, isHandedOver: request.isHandedOver, more: request.waitAtRelay) {
            (readable, token, now) throws(RelayError) in
            try readable.requestJoinCode(request, token: token, at: now)
        }
    }

    /// Keeps a user out, and the client that used the id last, and ends its sessions.
    ///
    /// A user with a shared key may come back under another id: see `docs/security.md`.
    ///
    /// - Parameter time: 1 s to 365 days; `nil`: until `unban`.
    /// - Throws: `notPermitted` also for oneself and for a user who is a moderator by its credential; `badRequest` for another time,
    ///   `limitReached`, `badName`, `storageFailed`, `outcomeUnknown`.
    public func ban(_ user: String, for time: Duration? = nil, call: CallOptions = .init()) async throws(RelayError) {
        // Far outside of what is allowed is as wrong as just outside, and fits into JSON.
        let milliseconds = time.map { Int(min(max($0 / .milliseconds(1), -1), 1e15)) }
        _ = try await client.core.ask(.ban(try checkedName(user), forMilliseconds: milliseconds), call)
    }

    /// Takes a ban back.
    ///
    /// - Throws: `notBanned`, `notPermitted`, `badName`, `storageFailed`, `outcomeUnknown`.
    public func unban(_ user: String, call: CallOptions = .init()) async throws(RelayError) {
        _ = try await client.core.ask(.unban(try checkedName(user)), call)
    }

    /// Who is banned, in order of user ids.
    ///
    /// - Throws: `notPermitted`, `outcomeUnknown`, or why the relay was not reached.
    public func bans(call: CallOptions = .init()) async throws(RelayError) -> [BanInfo] {
        var found: [BanInfo] = []
        var next: Name?
        repeat {
            guard case .bans(let bans, let following) = try await client.core.ask(.bans(after: next), call) else { throw .wrongAnswer }
            found += bans
            // A relay that names a page again would be asked for ever.
            guard following.map({ new in next.map { $0 < new } ?? true }) ?? true else { throw .wrongAnswer }
            next = following
        } while next != nil
        return found
    }

    /// Removes what the relay keeps of a user: its metadata, its role, its name as the owner of boards, and, unless it is
    /// there, whose the id is. Not its ban.
    ///
    /// It returns when the relay's files hold nothing of it any more.
    ///
    /// - Parameter withRecords: what the user drew goes from all boards, too, and readers see that.
    /// - Throws: `notPermitted`, `badName`, `outcomeUnknown`; `storageFailed` also when it is gone for everybody, and not yet from the
    ///   disk.
    public func forget(user: String, withRecords: Bool = false, call: CallOptions = .init()) async throws(RelayError) {
        _ = try await forgetting(user: user, withRecords: withRecords, call: call)
    }

    /// The same.
    ///
    /// - Returns: what went, and what stays.
    package func forgetting(user: String, withRecords: Bool, call: CallOptions = .init()) async throws(RelayError) -> Forgotten {
        guard case .forgotten(let forgotten) = try await client.core.ask(.forget(try checkedName(user), withRecords: withRecords), call)
        else { throw .wrongAnswer }
        return forgotten
    }

    /// Removes all that a user drew on one board; readers see that, and no undone `clear` brings it back.
    ///
    /// It returns when the relay's files hold nothing of it any more.
    ///
    /// - Returns: records that went.
    /// - Throws: `boardNotFound`, `limitReached`, `notPermitted`, `badName`, `outcomeUnknown`; `storageFailed` also when some are gone for
    ///   everybody: ask again.
    @discardableResult
    public func removeRecords(of user: String, from channel: String, call: CallOptions = .init()) async throws(RelayError) -> Int {
        guard
            case .records(let count) = try await client.core.ask(
                .removeRecords(of: try checkedName(user), from: try checkedName(channel)), call)
        else { throw .wrongAnswer }
        return count
    }

    /// The relay's present state, and a page of its users in order of their ids, with what waits for each.
    ///
    /// It is cheap enough to be asked once a second. Rates are the differences of two answers' `counters` over that of their `uptime`.
    ///
    /// - Parameters:
    ///   - user: where the page before ended, its `next`; `nil`: from the beginning.
    ///   - limit: 1…100 users; fewer may come.
    ///   - asked: the answer's `known` tells whether the relay knows this user: it is here, or something is kept of it.
    /// - Throws: `notPermitted`, `badName`, `badRequest` for another limit, `outcomeUnknown`, or why the relay was not reached.
    public func status(
        after user: String? = nil, limit: Int? = nil, asking asked: String? = nil, call: CallOptions = .init()
    ) async throws(RelayError) -> RelayStatus {
        var after: Name?
        var known: Name?
        if let user { after = try checkedName(user) }
        if let asked { known = try checkedName(asked) }
        guard case .status(let status) = try await client.core.ask(.status(after: after, limit: limit, user: known), call) else {
            throw .wrongAnswer
        }
        return status
    }
}
