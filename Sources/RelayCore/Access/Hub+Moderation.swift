import RelayPrimitives
internal import RelayRights
internal import RelayStorage
import RelayWire

// What moderators ask for. What it does when it is durable: `Hub+ModerationEffects.swift`. [AC10–AC15]

extension Hub {
    // MARK: - Requests

    mutating func setRole(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(SetRoleRequest.self, body)
        try requireModerator(session)
        var role: Role?
        if let word = request.role {
            role = Role(word: word)
            guard let role, role < .moderator else {
                throw WireError(.badRequest, "field role is reader, editor or coeditor: the role moderator comes of a credential")
            }
        }
        try requireNoModerator(request.user, session)
        let requester = requester(connection, request.id, .empty)
        let known = moderation.applied.roles[request.user]
        guard known != role else { return answerInOrder(requester) }
        if known == nil { try checkCount(moderation.applied.roles.count, configuration.setRolesMax, "users have a role that was set") }
        try checkStorage()
        decide(.role(request.user, role), [StoredForm.role(request.user, role)], session, connection, requester)
    }

    mutating func setMode(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(SetModeRequest.self, body)
        try requireModerator(session)
        guard let mode = ChannelMode(rawValue: request.mode) else {
            let known = ChannelMode.allCases.map(\.rawValue).joined(separator: " or ")
            throw WireError(.badRequest, "field mode is \(known)")
        }
        let requester = requester(connection, request.id, .empty)
        let before = moderation.applied.modes[request.channel, default: []]
        guard before.contains(mode) != request.on else { return answerInOrder(requester) }
        if before.isEmpty { try checkCount(moderation.applied.modes.count, configuration.channelModesMax, "channels have a mode") }
        try checkStorage()
        let entry = StoredForm.mode(request.channel, mode, request.on)
        decide(.mode(request.channel, mode, request.on), [entry], session, connection, requester)
    }

    mutating func endSession(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(EndSessionRequest.self, body)
        try requireModerator(session)
        let reason = request.reason ?? ""
        try checkReason(reason)
        let ended = liveSessions(of: request.user)
        guard !ended.isEmpty else { throw WireError(.userOffline, "user \(request.user) has no session") }
        answer(connection, EmptyAnswer(id: request.id))
        counters.moderations += 1
        audit(by: sessionName(connection), "ended the session of user \(request.user)")
        for session in ended { endByModerator(session, .endedByModerator, reason.isEmpty ? "no reason was given" : reason) }
    }

    mutating func banUser(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(BanUserRequest.self, body)
        try requireModerator(session)
        let allowed = Limits.banMilliseconds
        if let time = request.forMs, !allowed.contains(time) { throw .outside("forMs", allowed, time) }
        let user = request.user
        try requireNoModerator(user, session)
        let known = moderation.applied.bans[user]
        if known == nil {
            if moderation.applied.bans.count >= configuration.bansMax, storage.failure == nil { dropBansThatAreOver() }
            try checkCount(moderation.applied.bans.count, configuration.bansMax, "bans hold at once")
        }
        try checkStorage()
        let ban = Ban(
            digest: secretDigest(of: user) ?? claims[user]?.digest ?? known?.digest,
            until: request.forMs.map { now.wallMilliseconds + UInt64($0) }, by: sessions[session].user!, time: now.wallMilliseconds)
        decide(.ban(user, ban), [StoredForm.ban(user, ban)], session, connection, requester(connection, request.id, .empty))
    }

    mutating func unbanUser(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(UserRequest.self, body)
        try requireModerator(session)
        guard let ban = moderation.applied.bans[request.user], ban.holds(at: now.wallMilliseconds) else {
            throw WireError(.notBanned, "user \(request.user) is not banned")
        }
        try checkStorage()
        decide(
            .ban(request.user, nil), [StoredForm.ban(request.user, nil)], session, connection, requester(connection, request.id, .empty))
    }

    mutating func getBans(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(PageRequest.self, body)
        try requireModerator(session)
        let limit = try request.count()
        // One more than fits tells whether there is a next page.
        var names: [Name] = []
        for user in moderation.revealed.bannedNames.behind(request.after) {
            guard moderation.revealed.bans[user]!.holds(at: now.wallMilliseconds) else { continue }
            names.append(user)
            if names.count > limit { break }
        }
        let listed = names.prefix(limit).map { user in
            let ban = moderation.revealed.bans[user]!
            return BanInfo(user: user.text, by: ban.by.text, wallMilliseconds: ban.time, endMilliseconds: ban.until)
        }
        answer(connection, BansAnswer(id: request.id, bans: listed, next: names.count > limit ? names[limit - 1] : nil))
    }

    /// `forgetUser`: metadata, role and claim in one record, so that a crash leaves all of it or nothing. It is answered when the disk
    /// has nothing of it any more, and so is a request that changes nothing: it waits for what an earlier one has left. [AC14]
    mutating func forgetUser(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(ForgetUserRequest.self, body)
        try requireModerator(session)
        let user = request.user, withRecords = request.withRecords == true
        var forgotten = Forgotten()
        try checkStorage()
        try checkErasures()
        var entries: [JournalEntry] = []
        var metadata: (book: MetadataBook.Index, change: MetadataSetChange)?
        if let book = self.metadata[of: .user(user)], let change = try self.metadata[book].applied.removing(nil, .init()) {
            metadata = (book, change)
            forgotten.metadata = change.removed.count
            entries += StoredForm.entries(.user(user), change)
        }
        forgotten.hadRole = moderation.applied.roles[user] != nil
        if forgotten.hadRole { entries.append(StoredForm.role(user, nil)) }
        forgotten.wasIDFreed = claims[user] != nil && !isHere(user)
        if forgotten.wasIDFreed { entries.append(StoredForm.claim(user, nil)) }
        let owned = boards(of: user)
        work.look(at: boards.count)
        forgotten.boards = owned.count
        entries += disowningEntries(owned)
        let requester = requester(connection, request.id, .whenErased(ForgottenUser(user: user, forgotten: forgotten)))
        guard !entries.isEmpty || withRecords else { return answerInOrder(requester) }
        if let metadata { applyMetadata(metadata.book, metadata.change) }
        if withRecords { dropDrafts(of: user) }
        decide(
            .forget(user, withRecords: withRecords), entries, metadata: metadata.map { .metadata($0.book, $0.change) }, session, connection,
            requester, erasing: ErasureMark(user: withRecords ? user : nil, by: sessions[session].user))
    }

    /// `removeRecords`: what a user has on one board goes as `forgetUser` has it go from all of them. [AC18]
    mutating func removeRecords(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError)
    {
        let request = try decode(RemoveRecordsRequest.self, body)
        try requireModerator(session)
        let board = try board(request.channel)
        try checkErasures()
        dropDrafts(of: request.user, on: board)
        decide(
            .removeRecords(of: request.user, from: request.channel), [], session, connection,
            requester(connection, request.id, .whenErased(nil)),
            erasing: ErasureMark(user: request.user, board: boards[board].id, by: sessions[session].user))
    }

    // MARK: - Checks

    /// A moderator is one by credential: no other takes that away, and nobody shuts himself out. [AC10, AC13]
    private func requireNoModerator(_ user: Name, _ session: Session.Index) throws(WireError) {
        if user == sessions[session].user { throw WireError(.notPermitted, "this is for other users") }
        if liveSessions(of: user).contains(where: { isModeratorByCredential($0) }) {
            throw WireError(.notPermitted, "user \(user) is a moderator by its credential")
        }
    }

    /// Of the secret that its newest session with one has come with.
    private func secretDigest(of user: Name) -> Entropy? {
        liveSessions(of: user).last { sessions[$0].secretDigest != nil }.flatMap { sessions[$0].secretDigest }
    }

    func checkReason(_ reason: String?) throws(WireError) {
        let bytes = reason?.utf8.count ?? 0
        guard bytes > Limits.endReasonBytesMax else { return }
        throw WireError(
            .tooLarge, "field reason has at most \(Limits.endReasonBytesMax) bytes, not \(bytes)", limit: Limits.endReasonBytesMax,
            actual: bytes)
    }

    private func checkCount(_ count: Int, _ limit: Int, _ what: String) throws(WireError) {
        guard count < limit else { throw WireError(.limitReached, "at most \(limit) \(what)", limit: limit, actual: count + 1) }
    }

    // MARK: - Deciding

    private mutating func decide(
        _ change: ModerationChange, _ entries: [JournalEntry], metadata: UnrevealedChange.Subject? = nil, _ session: Session.Index,
        _ connection: Connection.Index, _ requester: Requester, erasing: ErasureMark? = nil
    ) {
        moderation.applied.apply(change)
        let by = (user: sessions[session].user!, name: sessionName(connection))
        let subject = UnrevealedChange.Subject.moderation(Decision(change: change, by: by))
        store(entries, metadata.map { .together([$0, subject]) } ?? subject, requester, erasing: erasing)
    }

    /// Takes the bans that are over off the disk. Nobody did it: it is not logged.
    mutating func dropBansThatAreOver() {
        for user in moderation.applied.bannedNames.all where !moderation.applied.bans[user]!.holds(at: now.wallMilliseconds) {
            moderation.applied.apply(.ban(user, nil))
            store([StoredForm.ban(user, nil)], .moderation(Decision(change: .ban(user, nil))), nil)
        }
    }

    /// Once an hour while there is a ban that ends.
    mutating func setBanSweep() {
        guard !moderation.sweepIsSet, moderation.revealed.bans.values.contains(where: { $0.until != nil }) else { return }
        moderation.sweepIsSet = true
        deadlines.set(.banSweep, at: now.instant + .seconds(3600))
    }

    mutating func sweepBans() {
        moderation.sweepIsSet = false
        if storage.failure == nil { dropBansThatAreOver() }
        setBanSweep()
    }
}
