import RelayPrimitives
internal import RelayRights
import RelayWire

// What a moderator's decision does once it is durable, and whom it is told. [AC10–AC15]

extension Hub {
    /// It holds from here on; the request has been answered.
    mutating func revealModeration(_ moderation: Decision) {
        var hadRole = false
        if case .forget(let user, _) = moderation.change { hadRole = self.moderation.revealed.roles[user] != nil }
        self.moderation.revealed.apply(moderation.change)
        switch moderation.change {
        case .role(let user, _): roleWasSet(user, by: moderation.by!.user)
        case .mode(let channel, let mode, let isOn): modeWasSet(channel, mode, isOn, by: moderation.by!.user)
        case .ban(let user, let ban?):
            wasBanned(user, ban)
            setBanSweep()
        case .ban(_, nil), .removeRecords: break
        case .endChannel(let channel, let reason): emptyChannels(channel, reason)
        case .forget(let user, _):
            wasForgotten(user)
            if hadRole { roleWasSet(user, by: moderation.by!.user) }
        }
        guard let by = moderation.by else { return }
        counters.moderations += 1
        audit(by: by.name, moderation.change.words)
    }

    mutating func undoModeration() {
        moderation.applied = moderation.revealed
    }

    // MARK: - Roles

    /// Whether only its credential decides what it may do. On an open relay there is no credential.
    func isModeratorByCredential(_ session: Session.Index) -> Bool { !accessRules.isOpen && sessions[session].given.isModerator }

    /// What a credential is good for in the hands of a user: what moderators have decided included. [AC10]
    func access(of user: Name, given: Access) -> Access {
        guard let role = moderation.revealed.roles[user], accessRules.isOpen || !given.isModerator else { return given }
        switch role {
        case .reader: return given.limited(to: .reader)
        case .editor, .coeditor: return given.raised(to: role)
        case .moderator: preconditionFailure("user \(user): the role moderator is not set")
        }
    }

    private mutating func roleWasSet(_ user: Name, by moderator: Name) {
        for session in liveSessions(of: user) {
            updateAccess(session)
            if let connection = outbox.connection(of: session) {
                let access = sessions[session].access
                enqueueJSON(connection, .accessChanged, AccessChanged(accessBody(access), by: moderator))
            }
            applyAccess(session)
        }
    }

    // MARK: - Modes of channels

    private mutating func modeWasSet(_ name: Name, _ mode: ChannelMode, _ isOn: Bool, by moderator: Name) {
        var kinds: [Channel.Index] = []
        for kind in ChannelKind.allCases {
            if let channel = channels[named: ChannelID(kind: kind, channel: name)] { kinds.append(channel) }
        }
        for channel in kinds {
            var inside: [Session.Index] = []
            for session in channels[channel].inside.inOrder() where outbox.connection(of: session) != nil {
                if !memberships[membership(of: session, inside: channel)].heldOver { inside.append(session) }
            }
            enqueueJSON(
                room: channels[channel].room, .modeChanged,
                ModeChanged(channel: channels[channel].handle, mode: mode, on: isOn, by: moderator),
                to: inside)
        }
        guard mode == .frozen, isOn else { return }
        // A publish finds its channel without asking for the right again.
        for session in sessions.indices {
            if sessions[session].lastPublish?.name == name { sessions[session].lastPublish = nil }
            if !sessions[session].waitsForLocks.isEmpty { endLockWaits(session) }
        }
        for channel in kinds {
            let id = channels[channel].id!
            guard id.kind == .stream else { continue }
            for session in channels[channel].inside.inOrder() where !rights(of: session, on: id).contains(.stream) {
                closeOwnFlows(membership(of: session, inside: channel))
            }
        }
    }

    // MARK: - Ends

    /// Takes a session out of everything, with a last word to its connection. [AC12]
    mutating func endByModerator(_ session: Session.Index, _ code: ErrorCode, _ text: String) {
        // What it would resume with is good for nothing now.
        sessions[session].resumeToken = nil
        if let connection = outbox.connection(of: session) { close(connection, code, text) }
        endSession(session, telling: .leave)
    }

    /// Sessions under the id, or with the secret. [AC13]
    private mutating func wasBanned(_ user: Name, _ ban: Ban) {
        for session in sessions.indices {
            guard let other = sessions[session].user, sessions[session].state != .lingering, other != ban.by,
                !isModeratorByCredential(session),
                other == user || ban.digest != nil && ban.digest == sessions[session].secretDigest
            else { continue }
            endByModerator(session, .banned, banText(user, ban, as: other))
        }
    }

    /// Why a client may not come in, if it may not. To be asked when its credential was found right.
    func banText(on user: Name, digest: Entropy?) -> String? {
        moderation.revealed.ban(on: user, digest: digest, at: now.wallMilliseconds).map { banText($0.user, $0.ban, as: user) }
    }

    private func banText(_ banned: Name, _ ban: Ban, as user: Name) -> String {
        let who = banned == user ? "user \(user) is banned" : "this client is banned"
        guard let until = ban.until else { return who }
        return "\(who) for another \((max(until, now.wallMilliseconds) - now.wallMilliseconds + 999) / 1000) s"
    }

    // MARK: - Forgetting

    private mutating func wasForgotten(_ user: Name) {
        disownBoards(of: user)
        guard claims[user] != nil else { return }
        if !isHere(user) {
            // It may have been here when that was asked: then the disk knows nothing of it yet.
            forgetClaim(user)
        } else {
            // It has come back meanwhile: the id is its own again, and the disk is told so.
            claims[user]!.stored = nil
            storeIfDue([user])
        }
    }

    // MARK: - The log

    /// One line for each effective decision, and for what destroys a board: moderator, action, user; the line has the time. [AC15]
    mutating func audit(by name: String, _ words: String) {
        effects.append(.log(LogLine(audit: "\(name) \(words)", wallMilliseconds: now.wallMilliseconds)))
    }
}

extension ModerationChange {
    /// For the log: ids are ASCII and no secrets.
    fileprivate var words: String {
        switch self {
        case .role(let user, let role?): "made user \(user) \(role == .editor ? "an editor" : "a \(role.rawValue)")"
        case .role(let user, nil): "gave user \(user) back what its credential gives"
        case .mode(let channel, .frozen, let isOn): "\(isOn ? "froze" : "unfroze") channel \(channel)"
        case .mode(let channel, .openEditing, let isOn): "\(isOn ? "opened" : "closed") channel \(channel) for editing"
        case .ban(let user, let ban?):
            "banned user \(user)" + (ban.until.map { " for \((max($0, ban.time) - ban.time) / 1000) s" } ?? "")
        case .ban(let user, nil): "unbanned user \(user)"
        case .forget(let user, let withRecords): "had user \(user) forgotten" + (withRecords ? ", with its records" : "")
        case .removeRecords(let user, let channel): "removed the records of user \(user) from the board of channel \(channel)"
        case .endChannel(let channel, _): "ended channel \(channel)"
        }
    }
}
