import RelayPrimitives
import RelayWire

// Links that come and go, heartbeats, farewells.

extension Hub {
    mutating func opened(_ id: ConnectionID, entropy: Entropy, peer: Peer) {
        connections.open(Connection(id: id, state: .greeting, entropy: entropy, peer: peer, lastHeard: now.instant))
        outbox.open(id.place)
        counters.connectionsOpened += 1
        greetings.add(id, from: peer.address)
        if isShuttingDown { return close(id.place, .shuttingDown, "the relay is ending") }
        if !leavesOthersGreetings(id), greetings.count > max(1, configuration.greetingsMax) {
            turnAwayOne(for: id)
        }
        if connections.count > configuration.connectionsMax, !turnAwayOne(for: id) {
            let text = "the relay holds \(configuration.connectionsMax) connections, it may not hold more"
            return close(id.place, .tooManyConnections, text, linger: .zero)
        }
        expectLogin(id)
    }

    private mutating func expectLogin(_ id: ConnectionID) {
        connections[id.place].greetingSince = now.instant
        deadlines.set(.login(connection: id.place, generation: id.generation), at: now.instant + configuration.loginTimeout)
    }

    mutating func speaksHTTP(_ id: ConnectionID) {
        guard connections.has(id), connections[id.place].state == .greeting else { return }
        connections[id.place].state = .requesting
    }

    /// Its time to log in begins anew: a page was read before.
    mutating func upgraded(_ id: ConnectionID, peer: Peer) {
        guard connections.has(id), connections[id.place].state == .requesting else { return }
        connections[id.place].state = .greeting
        greetings.move(from: connections[id.place].peer.address, to: peer.address)
        connections[id.place].peer = peer
        connections[id.place].lastHeard = now.instant
        _ = leavesOthersGreetings(id)
        expectLogin(id)
    }

    /// Of connections without a login an address has a quarter: one of its own makes room for one more.
    ///
    /// - Returns: whether it had more.
    private mutating func leavesOthersGreetings(_ id: ConnectionID) -> Bool {
        let address = connections[id.place].peer.address
        guard address != .local, greetings.held(from: address) > greetingsOfAddressMax else { return false }
        turnAwayOne(for: id, ofItsAddress: true)
        return true
    }

    /// One has logged in, or is gone.
    mutating func greetingEnded(_ connection: Connection.Index) {
        guard greetings.endOne(from: connections[connection].peer.address) else { return }
        var left: [ConnectionID] = []
        for id in greetings.waiting where connections.has(id) && !connections[id.place].hasLoggedIn { left.append(id) }
        greetings.replace(with: left)
    }

    mutating func closed(_ id: ConnectionID, _ cause: CloseCause) {
        guard connections.has(id) else { return }
        let connection = id.place
        if !connections[connection].hasLoggedIn {
            connections[connection].state = .closing
            greetingEnded(connection)
        }
        discardHeld(connection)
        if connections[connection].state == .live {
            detach(connection, lastEnd: nil)
            accounts.live.giveBack(connections[connection].peer.address)
        }
        outbox.discard(connection)
        keepPartial([], since: now.instant, of: connection)
        connections.close(connection)
    }

    /// Says goodbye behind everything that is queued, and ends the connection. [ER2] A peer that speaks HTTP is told nothing.
    mutating func close(
        _ connection: Connection.Index, _ code: ErrorCode, _ text: String, address: String? = nil, linger: Duration? = nil
    ) {
        let isRequesting = connections[connection].state == .requesting
        guard connections[connection].isOpen || isRequesting else { return }
        counters.closes[code.name, default: 0] += 1
        let notice = CloseNotice(code: code, text: text, address: address)
        let who = sessionName(connection)
        // What a moderator wrote is for whom it was written.
        let reason = code == .endedByModerator ? "" : ", \(text)"
        log([.loggedOut, .shuttingDown, .moved].contains(code) ? .debug : .info, "\(who) closed: \(code.name)\(reason)")
        if !isRequesting { enqueueJSON(connection, .closing, notice) }
        discardHeld(connection)
        if connections[connection].state == .live { detach(connection, lastEnd: notice) }
        let hasLoggedIn = connections[connection].state == .live
        if hasLoggedIn { accounts.live.giveBack(connections[connection].peer.address) }
        // Who says goodbye slowly takes no place that others want.
        let isCrowded = !hasLoggedIn && connections.count > configuration.connectionsMax - configuration.connectionsMax / 8
        let linger = isCrowded ? .zero : linger ?? configuration.farewellLinger
        connections[connection].state = .closing
        outbox.close(connection)
        if !hasLoggedIn { greetingEnded(connection) }
        keepPartial([], since: now.instant, of: connection)
        effects.append(.close(connections[connection].id, code, lingerMilliseconds: Int(linger.milliseconds)))
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
        if connections[connection].input == .held(for: .author) {
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

extension Hub {
    // MARK: - Resume

    /// Tells a resumed session where everything stands; ends it where that is more than may wait for a slow reader. [SE9]
    ///
    /// - Parameter seen: where the client is in each message channel that it names.
    mutating func restore(_ session: Session.Index, _ connection: Connection.Index, seen: [String: Since]) {
        for index in sortedMemberships(session) where !memberships[index].heldOver {
            let membership = memberships[index], channel = membership.channel
            var restored = subscribeAnswer(id: nil, index)
            var begin: CatchUp.Start?
            let told = membership.receivesMessages ? seen[channels[channel].id!.channel.text] : nil
            // In another epoch a client that says nothing holds what nobody knows.
            let seen = told ?? .position(ChannelPosition(epoch: membership.epoch, offset: Limits.integerMax))
            let isCurrent =
                seen.position.map { $0.epoch == channels[channel].epoch && (told == nil || $0.offset >= channels[channel].head) } ?? false
            if membership.receivesMessages, !isCurrent {
                begin = recover(from: seen, channel, freshThrough: seen.isRest ? membership.freshThrough : 0, into: &restored)
            }
            memberships[index].epoch = channels[channel].epoch
            enqueueJSON(connection, .restored, restored)
            channels[channel].named = []
            sendSnapshots(index, to: connection)
            if let begin { beginCatchUp(index, begin, connection) }
            if channels[channel].id!.kind == .stream { restoreStream(index, to: connection) }
            if endIfTooMuch(session, connection) { return }
        }
        for user in sessions[session].userMetadata.inOrder() {
            sendMetadataSnapshot(.user(user), to: connection)
            if endIfTooMuch(session, connection) { return }
        }
    }

    private mutating func restoreStream(_ membership: Membership.Index, to connection: Connection.Index) {
        let (session, channel) = (memberships[membership].session, memberships[membership].channel)
        sendTopicsSnapshot(channel, to: connection)
        sendClosedFlows(session, channel, to: connection)
        for topic in memberships[membership].selections.keys.inOrder() {
            for flow in channels[channel].topics[topic] ?? [] where flows[flow].receivers.contains(session) {
                sendFlowRestored(flow, session, to: connection)
            }
        }
    }

    /// A reader that is closed for what it is told would resume, and be closed, for ever: a new session comes into one channel at a time.
    ///
    /// - Returns: whether it has ended, because what it has been told so far is more than may wait for it.
    private mutating func endIfTooMuch(_ session: Session.Index, _ connection: Connection.Index) -> Bool {
        let (bytes, bytesMax) = (outbox.load(of: connection).reliable, configuration.reliableBacklogBytesSoft)
        guard bytes > bytesMax else { return false }
        closeSlow(connection, "what the session is in is told in \(bytes) bytes and more, at most \(bytesMax) may be: it has ended")
        endSession(session, telling: .timeout)
        return true
    }
}
