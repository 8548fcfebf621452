import RelayPrimitives
import RelayWire

// How a link ends, and the client.

extension ClientMachine {
    /// The link is over; what follows depends on why.
    mutating func end(_ reason: LinkEnd, at now: Instant) {
        let wasLive = state == .live
        guard state != .closed else { return }
        effects.append(.closeLink(attempt: attempt))
        attempt += 1
        failInFlight(at: now)
        flushBatch()
        forgetGathered()
        dropRetainedPartials()
        pingSentAt = nil
        probeBy = nil
        isHeldBack = false
        let comesBack: Bool
        switch reason {
        case .relayClosed(let notice): comesBack = notice.code.clientReconnects
        // With another token it may, and the app can still bring one; and what is full now has a time. [AC8, ER5]
        case .loginRefused(let error): comesBack = error.retryAfter != nil || logins > 0 && error.code == .tokenExpired
        case .closedByApp: comesBack = false
        case .linkFailed, .timedOut, .relaySilent, .relayFault, .otherRelay: comesBack = true
        }
        if closeToken != nil || !comesBack { return finish(closeToken != nil ? .closedByApp : reason) }
        if goesElsewhere(reason, wasLive: wasLive) {
            inVain += 1
            state = .waiting(until: now)
            return emit(.link(.waiting(after: .zero, reason: reason.error)))
        }
        inVain = 0
        if !settings.waitsForConnectivity { completeConnects(.failure(reason.error)) }
        if wasLive, now - liveSince >= ClientLimits.linkGoodAfter { backoff.reset() }
        var pause = backoff.next(&dice)
        if case .loginRefused(let error) = reason { pause = pause + (error.retryAfter ?? .zero) }
        state = .waiting(until: now + pause)
        emit(.link(.waiting(after: pause, reason: reason.error)))
    }

    /// Whether the relay that serves may be elsewhere, and it is looked for there without a pause. [SE17]
    private mutating func goesElsewhere(_ reason: LinkEnd, wasLive: Bool) -> Bool {
        var address: String?
        switch reason {
        case .relayClosed(let notice) where !wasLive: address = notice.code == .moved ? notice.address : nil
        case .otherRelay, .relaySilent: break
        case .timedOut, .relayFault: if wasLive { return false }
        // All addresses were tried where no link could be made, and one that broke was good.
        case .linkFailed, .relayClosed, .loginRefused, .closedByApp: return false
        }
        guard settings.addresses > 1 || address != nil else { return false }
        effects.append(.goElsewhere(address))
        return inVain + 1 < max(settings.addresses, address == nil ? 1 : 2)
    }

    /// Everybody has left.
    package mutating func finish() { finish(.closedByApp) }

    mutating func finish(_ reason: LinkEnd) {
        guard state != .closed else { return }
        effects.append(.closeLink(attempt: attempt))
        attempt += 1
        state = .closed
        closeBy = nil
        dropPackets(.closed)
        let error = reason.error
        emit(.link(.closed(reason: error)))
        failAll(error)
        completeConnects(.failure(error))
        complete(closeToken, .success(.done))
        closeToken = nil
    }

    /// Sends what waits, logs out, ends; `token` is completed when that is done. What is not sent in time is told.
    package mutating func close(token: ClientToken, at now: Instant) {
        guard state != .closed else { return complete(token, .success(.done)) }
        complete(closeToken, .success(.done))
        closeToken = token
        // Packets are stale by then.
        let isLasting = { (item: Outgoing) in if case .packet = item { false } else { true } }
        let hasUnsent = queue.elements.contains(where: isLasting) || !askedAgain.isEmpty || !drawings.isEmpty || !unstored.isEmpty
        guard state == .live || hasUnsent, state != .idle else { return finish(.closedByApp) }
        closeBy = now + ClientLimits.closeDrainTimeout
        if case .waiting = state { open(at: now) }
        pump(at: now)
    }

    mutating func completeConnects(_ result: Result<ClientAnswer, RelayError>) {
        for token in connectTokens { complete(token, result) }
        connectTokens = []
    }
}
