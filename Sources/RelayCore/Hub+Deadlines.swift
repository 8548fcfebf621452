import RelayPrimitives
import RelayWire

// Things that the hub checks at a set time.

extension Hub {
    mutating func deadlineReached() {
        while let (deadline, at) = deadlines.popDue(at: now.instant) {
            let lateness = now.instant - at
            if lateness > configuration.latenessTolerated, deadline.isLiveness {
                // The host slept: nobody is to blame. This one moves with the others. [HB4]
                deadlines.set(deadline, at: at)
                deadlines.postponeLiveness(by: lateness)
                shiftLastHeard(by: lateness)
                forgive(lateness)
                log(.warning, "a deadline fired \(lateness.milliseconds) ms late: all liveness deadlines move by that")
                continue
            }
            if isCurrent(deadline) { carryOut(deadline) }
        }
    }

    /// Judged by when a client was last heard, heartbeats move by moving that. [HB4]
    private mutating func shiftLastHeard(by lateness: Duration) {
        for index in connections.indices where connections[index].isOpen {
            connections[index].lastHeard = min(now.instant, connections[index].lastHeard + lateness)
        }
        outbox.postponeClocks(by: lateness)
    }

    /// Whoever comes and goes leaves deadlines of up to 300 s behind each time: when they are most of all, they go. [SE15]
    mutating func forgetDeadlines() {
        var current: [Bool] = []
        current.reserveCapacity(deadlines.count)
        for deadline in deadlines.all { current.append(isCurrent(deadline)) }
        deadlines.keep(current)
    }

    /// Whether what it was set for is still as it was.
    private func isCurrent(_ deadline: Deadline) -> Bool {
        switch deadline {
        case .login(let connection, let generation):
            isCurrent(connection, generation) && connections[connection].state == .greeting
        case .heartbeat(let connection, let generation), .accessEnd(let connection, let generation):
            isCurrent(connection, generation) && connections[connection].state == .live
        case .slowConsumer(let connection, let generation), .readerTurn(let connection, let generation),
            .boardReading(let connection, let generation), .credentialAnswer(let connection, let generation):
            isCurrent(connection, generation) && connections[connection].isOpen
        case .credentialJudged(let connection, let generation): isCurrent(connection, generation)
        case .sessionEnd(let session, let generation):
            sessions[session].generation == generation && sessions[session].state == .away
        case .heldOver(let session, let generation), .credit(let session, let generation): sessions[session].generation == generation
        case .partsEnd(let session, let generation):
            sessions[session].generation == generation && sessions[session].instance != nil
        case .userForgotten(let session, let generation):
            sessions[session].generation == generation && sessions[session].state == .lingering
        case .presenceInterval(let channel, let generation), .channelEnd(let channel, let generation),
            .lentRights(_, let channel, let generation):
            channels[channel].generation == generation && channels[channel].id != nil
        case .droppedNotice(let flow): flows[named: flow] != nil
        case .direct(let delivery): directs[delivery] != nil
        case .metadataEnd(let book, let generation): metadata[book].generation == generation && metadata[book].owner != nil
        case .lockWait(let lock, let ticket): locks[lock].waiters.contains { $0.ticket == ticket }
        case .lockExpiry(let lock, let absence): locks[lock].absence == absence
        case .boardAuthors(let board, let generation): boards[board].generation == generation && boards[board].authors != nil
        case .queueSweep, .historySweep, .windowSweep, .boardReaders, .boardExpiry, .boardUse, .claimSweep, .banSweep,
            .wrongCredentialSweep, .deviceOffers, .joinCodes, .erasure:
            true
        }
    }

    private func isCurrent(_ connection: Connection.Index, _ generation: UInt32) -> Bool {
        connections[connection].id.generation == generation
    }

    private mutating func carryOut(_ deadline: Deadline) {
        switch deadline {
        case .login(let connection, _):
            // An upgrade has begun it anew, with a deadline of its own.
            guard now.instant - connections[connection].greetingSince >= configuration.loginTimeout else { return }
            close(connection, .loginTimeout, "no login within \(configuration.loginTimeout)")
        case .heartbeat(let connection, _): heartbeatDeadline(connection)
        case .slowConsumer(let connection, _): slowConsumerDeadline(connection)
        case .sessionEnd(let session, _):
            counters.sessionsTimedOut += 1
            endSession(session, telling: .timeout)
        case .heldOver(let session, _): dropHeldOver(session, telling: .timeout)
        case .partsEnd(let session, _): partsDeadline(session)
        case .userForgotten(let session, _): forgetUser(session)
        case .presenceInterval(let channel, _): presenceIntervalDeadline(channel)
        case .channelEnd(let channel, _): channelEndDeadline(channel)
        case .droppedNotice(let flow): droppedNoticeDeadline(flows[named: flow]!)
        case .credit(let session, _): creditDeadline(session)
        case .direct(let delivery): directDeadline(delivery)
        case .metadataEnd(let book, _): metadataEndDeadline(book)
        case .lockWait(let lock, let ticket): lockWaitDeadline(lock, ticket)
        case .lockExpiry(let lock, _): lockExpiryDeadline(lock)
        case .readerTurn(let connection, _): outbox.wakeForTurn(connection)
        case .queueSweep: sweepQueues()
        case .historySweep: sweepHistory()
        case .windowSweep: sweepWindows()
        case .boardReading(let connection, _): boardReadingDeadline(connection)
        case .boardReaders: boardReadersDeadline()
        case .boardAuthors(let board, _): boardAuthorsDeadline(board)
        case .boardExpiry: expireBoards()
        case .boardUse: sweepUses()
        case .credentialAnswer(let connection, _): credentialDeadline(connection)
        case .credentialJudged(let connection, _): judgeLate(connection)
        case .accessEnd(let connection, _): accessDeadline(connection)
        case .lentRights(let session, let channel, _): lentRightsDeadline(session, channel)
        case .claimSweep: sweepClaims()
        case .banSweep: sweepBans()
        case .wrongCredentialSweep: sweepWrongCredentials()
        case .deviceOffers: deviceOffersDeadline()
        case .joinCodes: joinCodeDeadline()
        case .erasure: eraseAgain()
        }
    }
}
