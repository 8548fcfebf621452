import RelayPrimitives
internal import RelayRights
import RelayTokens
import RelayWire

// Credentials: judged, and answered late when they are wrong. [AC1, AC2]

extension Hub {
    /// What a login's credential is good for.
    ///
    /// - Throws: `credentialRequired`, `keyWrong`, `tokenInvalid`, `tokenExpired`: to be answered late; `badRequest`.
    func admit(_ user: Name?, key: String?, token: String?) throws(WireError) -> Admission {
        guard !accessRules.isOpen else { return Admission(access: Access(role: .moderator)) }
        guard key == nil || token == nil else { throw WireError(.badRequest, "fields key and token do not go together") }
        if let key, !(1...Limits.keyBytesMax).contains(key.utf8.count) {
            throw WireError(
                .badRequest, "field key has 1…\(Limits.keyBytesMax) bytes, not \(key.utf8.count)", limit: Limits.keyBytesMax,
                actual: key.utf8.count)
        }
        if let key {
            guard let known = accessRules.key(key) else { throw WireError(.keyWrong, "this relay has no such key") }
            return Admission(access: Access(role: known.role), keyDigest: known.digest)
        }
        guard let token else {
            let wanted = accessRules.keys.isEmpty ? "a token" : accessRules.tokens == nil ? "a key" : "a key or a token"
            throw WireError(.credentialRequired, "this relay wants \(wanted)")
        }
        return Admission(access: try check(token, user).access, isToken: true)
    }

    /// A token for one user id.
    func check(_ token: String, _ user: Name?) throws(WireError) -> CheckedToken {
        guard let rules = accessRules.tokens else { throw WireError(.tokenInvalid, "this relay takes a key and no tokens") }
        let checked = try rules.check(token, wallMilliseconds: now.wallMilliseconds)
        guard checked.subject == user else { throw WireError(.tokenInvalid, "the token is for another user id") }
        return checked
    }

    /// Whether a refusal tells a guesser something.
    static func isWrongCredential(_ code: ErrorCode) -> Bool {
        switch code {
        case .credentialRequired, .keyWrong, .tokenInvalid, .tokenExpired, .codeWrong: true
        default: false
        }
    }

    /// Whether a connection has used up its guesses: the hub judges nothing more from it, and its end is on the way. [AC2]
    func hasGuessedEnough(_ connection: Connection.Index) -> Bool { connections[connection].wrongCredentials >= Limits.wrongCredentialsMax }

    /// Refuses a login or renewal after a time that doubles. [AC2]
    ///
    /// - Parameter user: the user id that the client claims; `nil` for a client with a code.
    mutating func refuseLate(_ connection: Connection.Index, _ error: WireError, of user: Name?, id: UInt32?) {
        let whose = user.map { "for user \($0) " } ?? ""
        noteWrongCredential(error.code, from: connections[connection].peer, "\(whose)(\(error.code.name))")
        let count = connections[connection].wrongCredentials
        connections[connection].wrongCredentials = count + 1
        let pause = min(configuration.credentialPauseMax, configuration.credentialPause * (1 << count))
        let at = max(now.instant, connections[connection].refusals.last?.at ?? now.instant) + pause
        connections[connection].refusals.append(HeldRefusal(at: at, error: error, id: id))
        deadlines.set(.credentialAnswer(connection: connection, generation: connections[connection].id.generation), at: at)
    }

    mutating func credentialDeadline(_ connection: Connection.Index) {
        while let first = connections[connection].refusals.first, first.at <= now.instant {
            connections[connection].refusals.removeFirst()
            refuse(connection, first.error, id: first.id)
        }
        if hasGuessedEnough(connection), connections[connection].refusals.isEmpty {
            close(connection, .credentialsWrong, "\(Limits.wrongCredentialsMax) wrong credentials came")
        }
    }

    /// A right login is answered at once, and what waits before it. [AC2]
    mutating func tellHeldRefusals(_ connection: Connection.Index) {
        let held = connections[connection].refusals
        connections[connection].refusals = []
        for refusal in held { refuse(connection, refusal.error, id: refusal.id) }
    }
}

// Keys and codes from an address that guesses wait before they are judged: what comes behind them waits, too. [AC2]

extension Hub {
    /// Whether a key or code is not judged yet: its connection waits, and its frame is handled anew.
    ///
    /// - Parameter session: the connection's session, or the one that it resumes: repeating that session's own key is no guess.
    mutating func isPutOff(_ key: String?, _ connection: Connection.Index, of session: Session.Index?) -> Bool {
        guard !connections[connection].hasWaited else {
            connections[connection].hasWaited = false
            return false
        }
        guard !accessRules.isOpen, accounts.guesses.isEmpty(connections[connection].peer.address, at: now.instant) else { return false }
        if let key, let session, let own = sessions[session].keyDigest, AccessRules.digest(key, is: own) { return false }
        // Beyond so many waiting tries the relay would turn away the newest before judging it, even one with the right key.
        guard greetings.held(from: connections[connection].peer.address) <= greetingsOfAddressMax / 2 else { return false }
        counters.credentialsDelayed += 1
        connections[connection].input = .held(for: .guesses)
        deadlines.set(
            .credentialJudged(connection: connection, generation: connections[connection].id.generation),
            at: now.instant + configuration.guessDelay)
        return true
    }

    mutating func judgeLate(_ connection: Connection.Index) {
        guard connections[connection].input == .held(for: .guesses) else { return }
        connections[connection].hasWaited = true
        goOn(connection)
        // A renewal over its rate was not judged.
        if !connections[connection].isHeld { connections[connection].hasWaited = false }
    }
}

/// A refusal that is told later, so that guessing takes long. [AC2]
struct HeldRefusal {
    var at: Instant
    var error: WireError
    var id: UInt32?
}
