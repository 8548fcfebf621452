import RelayPrimitives
internal import RelayRights
import RelayTokens
import RelayWire

// What a session may: asked before anything is looked up, changed while it is there. [AC4–AC11]

extension Hub {
    // MARK: - Asking

    func rights(of session: Session.Index, on channel: ChannelID) -> Rights {
        rights(of: session, on: channel, lent: membership(of: session, in: channel).flatMap { memberships[$0].lent })
    }

    /// - Parameter lent: by a token for that channel.
    func rights(of session: Session.Index, on channel: ChannelID, lent: LentRights?) -> Rights {
        let rights = thawedRights(of: session, on: channel, lent: lent)
        let isHeld = sessions[session].isHeldToReading || isFrozen(channel.channel) && !sessions[session].access.isModerator
        guard !isHeld else { return rights.intersection(Role.reader.rights) }
        return rights.contains(.publish) && isOn(.openEditing, channel.channel) ? rights.union(.revise) : rights
    }

    /// What they are, or would be while the channel is not frozen.
    private func thawedRights(of session: Session.Index, on channel: ChannelID, lent: LentRights?) -> Rights {
        sessions[session].access.rights(on: channel.channel).union(lent?.rights ?? [])
    }

    func isFrozen(_ channel: Name) -> Bool { isOn(.frozen, channel) }

    /// Whether moderators have set a mode of the channels of a name. [AC11]
    private func isOn(_ mode: ChannelMode, _ channel: Name) -> Bool {
        !moderation.revealed.modes.isEmpty && moderation.revealed.modes[channel]?.contains(mode) == true
    }

    /// - Throws: `notPermitted`, which does not reveal what exists. [AC5] Only a user with the right learns of a freeze.
    func require(_ right: Rights, on channel: ChannelID, _ session: Session.Index) throws(WireError) {
        let lent = membership(of: session, in: channel).flatMap { memberships[$0].lent }
        guard !rights(of: session, on: channel, lent: lent).isSuperset(of: right) else { return }
        guard isFrozen(channel.channel), thawedRights(of: session, on: channel, lent: lent).isSuperset(of: right) else {
            throw Self.notPermitted(right)
        }
        throw WireError(.notPermitted, "channel \(channel.channel) is frozen: only moderators may change it")
    }

    /// Of what is no channel's.
    func requireEverywhere(_ right: Rights, _ session: Session.Index) throws(WireError) {
        guard !sessions[session].access.everywhere.isSuperset(of: right) else { return }
        throw Self.notPermitted(right)
    }

    func requireModerator(_ session: Session.Index) throws(WireError) {
        guard sessions[session].access.isModerator else { throw WireError(.notPermitted, "the role moderator is missing") }
    }

    static func notPermitted(_ right: Rights) -> WireError {
        WireError(.notPermitted, "the right \(right.words.joined(separator: ", ")) is missing")
    }

    /// Of metadata: a channel's, or a user's.
    func requireMetadata(_ owner: MetadataOwner, isWrite: Bool, _ session: Session.Index) throws(WireError) {
        switch owner {
        case .channel(let channel): try require(isWrite ? .metadata : .subscribe, on: channel, session)
        case .user(let user) where user == sessions[session].user: if isWrite { try requireEverywhere(.metadata, session) }
        case .user:
            if isWrite {
                try requireModerator(session)
            } else {
                try requireEverywhere(.metadata, session)
            }
        }
    }

    // MARK: - Telling

    func accessBody(_ access: Access) -> AccessBody {
        let grants = access.grants.words
        return AccessBody(
            role: access.role?.rawValue, grants: grants.isEmpty ? nil : grants,
            untilMs: access.endMilliseconds.map { $0 > now.wallMilliseconds ? $0 - now.wallMilliseconds : 0 })
    }

    // MARK: - Changing

    /// Sets the rights of a credential, and ends what the session may no longer do. [AC7]
    mutating func setAccess(_ admission: Admission, _ session: Session.Index) {
        sessions[session].given = admission.access
        sessions[session].keyDigest = admission.keyDigest
        updateAccess(session)
        applyAccess(session)
        if let connection = outbox.connection(of: session) { setAccessDeadline(connection) }
    }

    /// What its credential gives, as far as moderators have not decided otherwise.
    mutating func updateAccess(_ session: Session.Index) {
        let (user, given) = (sessions[session].user!, sessions[session].given)
        let access = access(of: user, given: given)
        sessions[session].access = access
        sessions[session].isHeldToReading = moderation.revealed.roles[user] == .reader && !access.isModerator
        sessions[session].lastPublish = nil
    }

    /// Ends what there is no right for.
    mutating func applyAccess(_ session: Session.Index) {
        for membership in sortedMemberships(session) {
            let channel = memberships[membership].channel
            let id = channels[channel].id!
            let rights = rights(of: session, on: id)
            guard rights.contains(.subscribe) else {
                closeOwnFlows(membership)
                tellRemoved(membership)
                removeFromChannel(membership, .leave)
                continue
            }
            if !rights.contains(.stream) { closeOwnFlows(membership) }
            if !rights.contains(.presence), memberships[membership].receivesPresence {
                memberships[membership].receivesPresence = false
                channels[channel].presenceReceivers.removeFirst(of: session)
            }
        }
        endLockWaits(session)
        if !sessions[session].access.isModerator { endJoinCode(of: session, telling: .notPermitted) }
        if !sessions[session].access.everywhere.contains(.metadata) {
            for user in sessions[session].userMetadata.inOrder() where user != sessions[session].user { stopUserMetadata(user, session) }
        }
    }

    private mutating func tellRemoved(_ membership: Membership.Index) {
        guard let connection = outbox.connection(of: memberships[membership].session), !memberships[membership].heldOver else { return }
        let channel = memberships[membership].channel
        let error = Self.notPermitted(.subscribe)
        enqueueJSON(connection, .removed, RemovedNotice(channel: channels[channel].handle, code: error.code, text: error.text))
    }

    /// A publisher is told of the end that it did not ask for.
    mutating func closeOwnFlows(_ membership: Membership.Index) {
        let own = memberships[membership].publishing.values.map { [flows] in flows[$0].handle }.inOrder()
        closeFlows(of: membership)
        guard let connection = outbox.connection(of: memberships[membership].session) else { return }
        for flow in own { refuse(connection, Self.notPermitted(.stream), flow: flow) }
    }

    /// `renew`: a newer credential for the same user. [AC8]
    mutating func renew(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(RenewRequest.self, body)
        guard !hasGuessedEnough(connection) else { return }
        guard request.key == nil || request.token != nil || !isPutOff(request.key, connection, of: session) else { return }
        let (user, digest) = (sessions[session].user!, sessions[session].secretDigest)
        let admission: Admission
        do throws(WireError) {
            admission = try admit(user, key: request.key, token: request.token)
        } catch {
            guard Self.isWrongCredential(error.code) else { throw error }
            return refuseLate(connection, error, of: user, id: request.id)
        }
        tellHeldRefusals(connection)
        if let text = banText(on: user, digest: digest) { return endByModerator(session, .banned, text) }
        answer(connection, RenewAnswer(id: request.id, access: accessBody(access(of: user, given: admission.access))))
        setAccess(admission, session)
    }

    // MARK: - A token for one channel

    /// What `join.token` adds. [AC9]
    func lend(_ token: String?, _ id: ChannelID, _ session: Session.Index) throws(WireError) -> LentRights? {
        guard let token, !accessRules.isOpen else { return nil }
        let checked = try check(token, sessions[session].user!)
        return LentRights(rights: checked.access.rights(on: id.channel), expires: checked.expires)
    }

    mutating func lentRightsDeadline(_ session: Session.Index, _ channel: Channel.Index) {
        guard let membership = sessions[session].memberships[channel], let lent = memberships[membership].lent else { return }
        if let next = lent.lookAt, next <= now.instant { memberships[membership].lent?.lookAt = nil }
        guard lent.expires <= now.wallMilliseconds else { return setLentDeadline(membership) }
        memberships[membership].lent = nil
        applyAccess(session)
    }

    mutating func setLentDeadline(_ membership: Membership.Index) {
        guard let lent = memberships[membership].lent else { return }
        let at = instant(ofWall: lent.expires)
        if let next = lent.lookAt, next <= at { return }
        memberships[membership].lent?.lookAt = at
        let (session, channel) = (memberships[membership].session, memberships[membership].channel)
        deadlines.set(.lentRights(session: session, channel: channel, channelGeneration: channels[channel].generation), at: at)
    }

    // MARK: - The end of a token

    /// When the wall clock will show a time, if nobody moves it; looked at again once in a while, because somebody may.
    private func instant(ofWall milliseconds: UInt64) -> Instant {
        let left = milliseconds > now.wallMilliseconds ? milliseconds - now.wallMilliseconds : 0
        return now.instant + min(.milliseconds(Int64(clamping: left)), Self.wallLookedAtEvery)
    }

    private static let wallLookedAtEvery = Duration.seconds(600)

    /// The notice, then the end.
    mutating func setAccessDeadline(_ connection: Connection.Index) {
        guard let expires = sessions[connections[connection].session!].access.endMilliseconds else { return }
        let notice = expires > Limits.accessNoticeMilliseconds ? expires - Limits.accessNoticeMilliseconds : 0
        let isNoticeDue = notice <= now.wallMilliseconds
        let at = instant(ofWall: isNoticeDue ? expires : notice)
        // A look that is due before sets the next one: however often a client renews, one look waits.
        if let next = connections[connection].accessLookAt, next <= at { return }
        connections[connection].accessLookAt = at
        deadlines.set(.accessEnd(connection: connection, generation: connections[connection].id.generation), at: at)
    }

    mutating func accessDeadline(_ connection: Connection.Index) {
        if let next = connections[connection].accessLookAt, next <= now.instant { connections[connection].accessLookAt = nil }
        guard let session = connections[connection].session, let expires = sessions[session].access.endMilliseconds else { return }
        guard expires > now.wallMilliseconds else {
            return close(connection, .accessExpired, "the token of user \(sessions[session].user!) is over")
        }
        let left = expires - now.wallMilliseconds
        if left <= Limits.accessNoticeMilliseconds, connections[connection].noticeToldFor != expires {
            connections[connection].noticeToldFor = expires
            enqueueJSON(connection, .accessExpiring, AccessExpiring(inMs: left))
        }
        setAccessDeadline(connection)
    }

    // MARK: - The relay's rules

    /// Other keys, or secrets of tokens, hold from now on. A user who came in by an old key cannot come back with
    /// what it has, and is closed if `endsSessions`.
    mutating func accessChanged(_ rules: AccessRules, endsSessions: Bool) {
        let hasNewKey = !rules.keys.map(\.digest).elementsEqual(accessRules.keys.map(\.digest))
        accessRules = rules
        if hasNewKey { endJoinCodes() }
        guard !rules.isOpen else { return }
        for session in sessions.indices where sessions[session].user != nil && sessions[session].state != .lingering {
            guard let digest = sessions[session].keyDigest, !rules.keys.contains(where: { $0.digest == digest }) else { continue }
            // Its token is good for nothing now.
            sessions[session].resumeToken = nil
            if endsSessions, let connection = outbox.connection(of: session) {
                close(connection, .keyChanged, "the relay has another key now")
                endSession(session, telling: .leave)
            } else if endsSessions, sessions[session].state == .away {
                endSession(session, telling: .leave)
            }
        }
    }
}

/// Rights that a token gives in one channel. [AC9]
struct LentRights {
    var rights: Rights
    /// By the wall clock, in milliseconds since 1970.
    var expires: UInt64
    /// When its end is looked at next.
    var lookAt: Instant?
}
