import RelayPrimitives
import RelayWire

// Calls that end before their answer: their caller has stopped waiting, or their time is up.

extension ClientMachine {
    /// A call that was made just now ends by itself after a time.
    package mutating func endCall(_ token: ClientToken, after timeout: Duration, at now: Instant) {
        callEnds.append((now + timeout, token))
    }

    /// - Throws: `notConnected`, for a call that does not wait for a link.
    package func checkLink() throws(RelayError) {
        guard state == .live || state == .closed else {
            throw RelayError(.notConnected, "there is no connection to the relay", outcome: .nothingHappened)
        }
    }

    /// The caller of a request has stopped waiting for it: it is not sent, or not again. The relay withdraws one that waits there; it
    /// answers, and what it has done meanwhile counts. [SE14] What ends something goes on without its caller.
    ///
    /// The call is completed with the error, which says whether something may have happened.
    package mutating func withdraw(_ token: ClientToken, _ error: RelayError) {
        guard !abandoned.contains(token) else { return }
        var error = error
        error.outcome = .unknown
        var staysAsked = true
        let isMeant = { (item: Outgoing) in if case .request(token, _) = item { true } else { false } }
        if let item = queue.elements.first(where: isMeant), case .request(_, let request) = item {
            staysAsked = request.isHandedOver
            if !staysAsked {
                count(item, -1)
                queue.removeAll(where: isMeant)
                error.outcome = .nothingHappened
            }
        } else if let index = askedAgain.firstIndex(where: { $0.token == token }) {
            // A login that is under way has asked for the channel from its place. [SE2]
            staysAsked = askedAgain[index].request.isHandedOver || isComingBack && askedAgain[index].request.entered != nil
            if !staysAsked { askedAgain.remove(at: index) }
        } else if let (id, pending) = requests.first(where: { $0.value.token == token }) {
            if pending.request.waits { ask(.cancel(id), token: nil) }
        } else if let index = connectTokens.firstIndex(of: token) {
            connectTokens.remove(at: index)
            staysAsked = false
            error.outcome = .nothingHappened
        } else {
            return
        }
        if staysAsked {
            effects.append(.completed(token, .failure(error)))
            abandoned.insert(token)
        } else {
            complete(token, .failure(error))
        }
        giveBackOrphans()
    }

    /// A login is under way, or what it has restored is being told.
    private var isComingBack: Bool { if case .connecting = state { true } else { awaitsRestoration } }

    /// Ends calls whose time is up.
    mutating func endCalls(at now: Instant) {
        while let next = callEnds.first, next.at <= now {
            withdraw(next.token, RelayError(.timedOut, "the relay has not answered in time"))
            callEnds.forget([next.token])
        }
    }

    // MARK: - Locks that came too late

    /// Of an acquisition that nobody waits for any more the lock goes back, unless somebody else here wants it or has it.
    mutating func acquired(_ lock: LockID, _ token: ClientToken?) {
        guard let token else { return }
        if !abandoned.contains(token) {
            lockHolds[lock, default: 0] += 1
            locksOrphaned.remove(lock)
        } else if lockHolds[lock] == nil {
            locksOrphaned.insert(lock)
        }
    }

    /// Whether a lock that was had is had without a break.
    package func holds(_ lock: LockID, since losses: Int) -> Bool { lockHolds[lock] != nil && lockLosses[lock, default: 0] == losses }
    /// One acquisition is over.
    ///
    /// - Returns: whether the lock stays, with another one or for a call that waits for it.
    package mutating func letGo(_ lock: LockID) -> Bool {
        guard let holds = lockHolds[lock], holds > 1 || isAwaited(lock) else { return false }
        lockHolds[lock] = holds > 1 ? holds - 1 : nil
        if holds == 1 { locksOrphaned.insert(lock) }
        return true
    }

    package func losses(of lock: LockID) -> Int { lockLosses[lock, default: 0] }

    /// It is released, or somebody else's.
    mutating func lost(_ lock: LockID) {
        if lockHolds.removeValue(forKey: lock) != nil { lockLosses[lock, default: 0] += 1 }
        locksOrphaned.remove(lock)
    }

    /// Releases what came too late, as soon as no other call of this client waits for it, and there is a link.
    mutating func giveBackOrphans() {
        guard state == .live, !locksOrphaned.isEmpty else { return }
        for lock in locksOrphaned.inOrder() where !isAwaited(lock) {
            locksOrphaned.remove(lock)
            ask(.releaseLock(lock), token: nil)
        }
    }

    private func isAwaited(_ lock: LockID) -> Bool {
        let isMeant = { (request: ClientRequest, token: ClientToken?) in
            if case .acquireLock(lock, _) = request, let token { !abandoned.contains(token) } else { false }
        }
        return requests.values.contains { isMeant($0.request, $0.token) }
            || queue.elements.contains { if case .request(let token, let request) = $0 { isMeant(request, token) } else { false } }
    }
}

/// When calls end that nobody has answered, the soonest first.
struct CallEnds: Sendable {
    private var ends: [(at: Instant, token: ClientToken)] = []

    var first: (at: Instant, token: ClientToken)? { ends.first }

    /// Most calls have the same time, and come in order.
    mutating func append(_ end: (at: Instant, token: ClientToken)) {
        let place = ends.lastIndex { $0.at <= end.at }.map { $0 + 1 } ?? 0
        ends.insert(end, at: place)
    }

    mutating func forget(_ tokens: Set<ClientToken>) {
        if !tokens.isEmpty { ends.removeAll { tokens.contains($0.token) } }
    }
}
