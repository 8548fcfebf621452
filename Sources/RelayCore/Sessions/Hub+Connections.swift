import RelayPrimitives
import RelayWire

// Links that come and go, heartbeats, farewells.

extension Hub {
    mutating func opened(_ id: ConnectionID, entropy: Entropy, peer: String) {
        connections.open(Connection(id: id, state: .greeting, entropy: entropy, peer: peer, lastHeard: now.instant))
        outbox.open(id.place)
        counters.connectionsOpened += 1
        if isShuttingDown { return close(id.place, .shuttingDown, "the relay is ending") }
        greetings.add(id)
        if greetings.count > max(1, configuration.greetingsMax) { turnAwayOldest(except: id) }
        if connections.count > configuration.connectionsMax, !turnAwayOldest(except: id) {
            return close(id.place, .tooManyConnections, "the relay holds \(configuration.connectionsMax) connections, it may not hold more")
        }
        expectLogin(id)
    }

    private mutating func expectLogin(_ id: ConnectionID) {
        connections[id.place].greetingSince = now.instant
        deadlines.set(.login(connection: id.place, generation: id.generation), at: now.instant + configuration.loginTimeout)
    }

    mutating func speaksHTTP(_ id: ConnectionID) {
        guard isKnown(id), connections[id.place].state == .greeting else { return }
        connections[id.place].state = .requesting
    }

    /// Its time to log in begins anew: a page was read before.
    mutating func upgraded(_ id: ConnectionID, peer: String) {
        guard isKnown(id), connections[id.place].state == .requesting else { return }
        connections[id.place].state = .greeting
        connections[id.place].peer = peer
        connections[id.place].lastHeard = now.instant
        expectLogin(id)
    }

    /// Of those that have not logged in the one that has waited longest makes room. [SE5]
    ///
    /// - Returns: whether there was one.
    @discardableResult
    private mutating func turnAwayOldest(except newcomer: ConnectionID) -> Bool {
        while let oldest = greetings.next(except: newcomer) {
            guard isKnown(oldest), !connections[oldest.place].hasLoggedIn else { continue }
            // It has said nothing yet: there is nothing that its farewell must not overtake.
            close(oldest.place, .tooManyConnections, "others come in, and this connection has not logged in", linger: .zero)
            return true
        }
        return false
    }

    /// One has logged in, or is gone.
    mutating func greetingEnded() {
        guard greetings.endOne() else { return }
        var left: [ConnectionID] = []
        for id in greetings.waiting where isKnown(id) && !connections[id.place].hasLoggedIn { left.append(id) }
        greetings.replace(with: left)
    }

    mutating func closed(_ id: ConnectionID, _ cause: CloseCause) {
        guard isKnown(id) else { return }
        let connection = id.place
        if !connections[connection].hasLoggedIn {
            connections[connection].state = .closing
            greetingEnded()
        }
        if connections[connection].state == .live { detach(connection, lastEnd: nil) }
        outbox.discard(connection)
        discardHeld(connection)
        connections.close(connection)
    }

    /// Says goodbye behind everything that is queued, and ends the connection. [ER2] A peer that speaks HTTP is told nothing.
    mutating func close(_ connection: Connection.Index, _ code: ErrorCode, _ text: String, linger: Duration? = nil) {
        let isRequesting = connections[connection].state == .requesting
        guard connections[connection].isOpen || isRequesting else { return }
        counters.closes[code.name, default: 0] += 1
        let notice = CloseNotice(code: code, text: text)
        let who = sessionName(connection)
        // What a moderator wrote is for whom it was written.
        let reason = code == .endedByModerator ? "" : ", \(text)"
        log(code == .loggedOut || code == .shuttingDown ? .debug : .info, "\(who) closed: \(code.name)\(reason)")
        if !isRequesting { enqueueJSON(connection, .closing, notice) }
        if connections[connection].state == .live { detach(connection, lastEnd: notice) }
        let hasLoggedIn = connections[connection].state == .live
        connections[connection].state = .closing
        outbox.close(connection)
        if !hasLoggedIn { greetingEnded() }
        connections[connection].partial = []
        discardHeld(connection)
        effects.append(
            .close(connections[connection].id, code, lingerMilliseconds: Int((linger ?? configuration.farewellLinger).milliseconds)))
    }

    func sessionName(_ connection: Connection.Index) -> String {
        let user = connections[connection].session.flatMap { sessions[$0].user }.map { "user \($0), " } ?? ""
        return "\(user)\(connections[connection].peer)"
    }

    mutating func shutdown() {
        isShuttingDown = true
        for connection in connections.indices {
            close(connection, .shuttingDown, "the relay is ending", linger: configuration.shutdownLinger)
        }
    }

    // MARK: - Heartbeat

    mutating func ping(_ head: FrameHead, _ body: UnsafeRawBufferPointer, _ connection: Connection.Index) {
        guard isLegalPing(head, connection) else { return }
        enqueuePrivate(connection, head: FrameHead(type: FrameType.pong.rawValue, bodyBytes: body.count)) { $0.bytes(body) }
    }

    /// A sign of life, which the bytes were already.
    mutating func pong(_ head: FrameHead, _ connection: Connection.Index) { _ = isLegalPing(head, connection) }

    private mutating func isLegalPing(_ head: FrameHead, _ connection: Connection.Index) -> Bool {
        if head.flags != 0 {
            refuse(connection, WireError(.badRequest, "the flags of ping and pong are 0"))
        } else if head.bodyBytes > Limits.pingBytesMax {
            let error = WireError(
                .badRequest, "ping and pong have at most \(Limits.pingBytesMax) bytes, not \(head.bodyBytes)",
                limit: Limits.pingBytesMax, actual: head.bodyBytes)
            refuse(connection, error)
        } else {
            return true
        }
        return false
    }

    mutating func setHeartbeat(_ connection: Connection.Index, at instant: Instant) {
        deadlines.set(.heartbeat(connection: connection, generation: connections[connection].id.generation), at: instant)
    }

    /// Looks how long the client has been silent. [HB2, HB3]
    mutating func heartbeatDeadline(_ connection: Connection.Index) {
        let interval = sessions[connections[connection].session!].heartbeat
        // While the relay does not read, the silence is its own doing. [BL10]
        if connections[connection].input == .held {
            connections[connection].lastHeard = now.instant
            enqueuePrivate(connection, head: FrameHead(type: FrameType.ping.rawValue, bodyBytes: 0)) { _ in }
            return setHeartbeat(connection, at: now.instant + interval)
        }
        let heard = connections[connection].lastHeard
        let silence = now.instant - heard
        if silence < interval {
            setHeartbeat(connection, at: heard + interval)
        } else if silence < interval * 2 {
            enqueuePrivate(connection, head: FrameHead(type: FrameType.ping.rawValue, bodyBytes: 0)) { _ in }
            setHeartbeat(connection, at: heard + interval * 2)
        } else {
            close(
                connection, .heartbeatTimeout, "nothing came for \(silence.milliseconds) ms, the heartbeat is \(interval.milliseconds) ms")
        }
    }
}
