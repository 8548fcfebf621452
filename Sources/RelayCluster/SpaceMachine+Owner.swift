import RelayPrimitives
import RelayStorage

// What an owner appends, and how its ownership ends.

extension SpaceMachine {
    /// Appends a batch to the log, and then to the own disk: `show` says when both have it.
    ///
    /// - Parameter records: at least one; their sequences rise from batch to batch, as in a journal.
    /// - Returns: `nil` if it is not taken (see `takesRecords`): nothing of it is in the log, nor will be.
    package mutating func submit(_ records: [JournalRecord], at now: Instant) -> [Effect]? {
        guard takesRecords, mayAct(at: now), case .owner(var owner) = state else { return nil }
        defer { effects = [] }
        owner.queue = LogEntry.bodies(of: records, room: settings.entryBytesMax - LogEntry.headBytes)[...]
        goOn(&owner, now)
        state = .owner(owner)
        return effects
    }

    /// Sends what is next, if nothing is on its way.
    mutating func goOn(_ owner: inout Owner, _ now: Instant) {
        guard owner.flight == nil else { return }
        if let next = owner.queue.popFirst() {
            owner.flight = send(next.body, next.records, at: now)
        } else if owner.sent + settings.beat <= now {
            owner.flight = send(.beat, at: now)
        }
    }

    // MARK: - Answers

    mutating func taken(_ id: SpaceLog.AppendID, at position: UInt64, _ now: Instant) {
        switch state {
        case .takingOver(let flight) where flight.id == id: if isInPlace(flight, position) { begin(flight, now) }
        case .owner(var owner):
            guard let flight = owner.flight, flight.id == id, isInPlace(flight, position) else { return }
            // Of the first time: others may have heard of it since then.
            (owner.sent, owner.flight) = (flight.sent, nil)
            state = .owner(owner)
            count(flight.body, flight.records, as: flight.place)
            expire(at: now)
        case .releasing(let flight) where flight.id == id:
            count(flight.body, [], as: flight.place)
            // The others go first.
            stand(for: fullPatience(), now)
        case .unsure: stepDown(.leaseOver, now)
        case .alone: stepDown(.logIsBack, now)
        case .standby, .looking, .doubting, .takingOver, .releasing, .diskFailed, .stopped: break
        }
    }

    /// Ends the node if the log took the entry at another position than it was sent for: nobody can rely on such a log.
    private mutating func isInPlace(_ flight: Flight, _ position: UInt64) -> Bool {
        if position == flight.place.position { return true }
        endHub(.replaced)
        stop(.diverged(at: position))
        return false
    }

    mutating func refused(_ id: SpaceLog.AppendID, end: UInt64, _ now: Instant) {
        switch state {
        case .takingOver(let flight) where flight.id == id: stand(for: patience(), now)
        case .owner(let owner):
            guard owner.flight?.id == id else { return }
            stepDown(.replaced, now)
        case .releasing(let flight) where flight.id == id: stand(for: fullPatience(), now)
        case .unsure: return stepDown(.leaseOver, now)
        case .alone: return stepDown(.logIsBack, now)
        case .standby, .looking, .doubting, .takingOver, .releasing, .diskFailed, .stopped: return
        }
        if end < counted.position { doubt(end, now) }
    }

    // MARK: - The own disk

    mutating func stored(through position: UInt64, _ now: Instant) {
        let shown = disk.sequence
        while let place = unstored.first, place.position <= position {
            disk = place
            unstored.removeFirst()
        }
        if isFollowingLate, unstored.isEmpty { follow(now) }
        guard case .owner(var owner) = state else { return }
        if owner.phase == .opening, disk.start == counted.start {
            owner.phase = .serving
            state = .owner(owner)
            effects.append(.serve(start: disk.start))
        } else if disk.sequence > shown {
            effects.append(.show(through: disk.sequence))
        }
    }

    mutating func diskHasFailed() {
        if case .stopped = state { return }
        endHub(.diskFailed)
        // What the disk lacks is followed again.
        (counted, unstored, pieces) = (disk, [], [])
        state = .diskFailed
    }

    // MARK: - The end

    /// Ends an ownership whose T₁ is over. Everything that happens begins with it.
    mutating func expire(at now: Instant) {
        guard case .owner(let owner) = state, owner.sent + settings.ownerLease <= now else { return }
        guard settings.orphan == .serve, owner.phase == .serving else { return stepDown(.leaseOver, now) }
        // Of what was never sent, nothing is anywhere.
        let undecided = owner.flight?.records.last?.sequence ?? counted.sequence
        state = .unsure(asked: now, undecided: undecided)
        readEnd()
    }

    mutating func resign(_ now: Instant) {
        switch state {
        case .owner(var owner) where owner.phase != .opening:
            owner.phase = .leaving
            state = .owner(owner)
        case .owner, .unsure, .alone, .standby, .looking, .doubting, .takingOver:
            endHub(.resigned)
            stand(for: fullPatience(), now)
        case .releasing, .diskFailed, .stopped: break
        }
    }

    /// Nobody is served any more before the log hears of it.
    mutating func release(_ now: Instant) {
        endHub(.resigned)
        state = .releasing(send(.release, at: now))
    }
}
