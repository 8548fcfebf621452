import RelayPrimitives
import RelayStorage

// What a standby hears, and how it takes over.

extension SpaceMachine {
    /// The log can be asked: whatever was asked over another link is asked again.
    mutating func linked(_ now: Instant) {
        endHeard = nil
        switch state {
        case .standby, .looking, .doubting:
            follow(now)
            readEnd()
        case .takingOver(let flight):
            follow(now)
            state = .takingOver(askAgain(flight, now))
        case .releasing(let flight): state = .releasing(askAgain(flight, now))
        case .owner(var owner):
            owner.flight = owner.flight.map { askAgain($0, now) }
            state = .owner(owner)
        case .unsure, .alone: readEnd()
        case .diskFailed, .stopped: break
        }
    }

    // MARK: - Following

    mutating func followed(_ bytes: [UInt8], at position: UInt64, _ now: Instant) {
        guard position > counted.position, !isFollowingLate else { return }
        switch state {
        case .takingOver(let flight) where flight.place.position == position && flight.bytes == bytes: return begin(flight, now)
        case .standby, .looking, .doubting, .takingOver: break
        case .owner, .unsure, .alone, .releasing, .diskFailed, .stopped: return
        }
        guard unstored.count < Self.unstoredMax else {
            isFollowingLate = true
            return call(.follow(from: nil, number: follows))
        }
        guard position < LogPlace.numberMax else { return stop(.diverged(at: position)) }
        do throws(LogEntryError) {
            let entry = try LogEntry(bytes)
            guard entry.previous == counted.checksum else {
                let isNext = position == counted.position + 1
                return stop(isNext ? .diverged(at: position) : .missing(after: counted.position, before: position))
            }
            try count(entry, bytes, at: position)
            state = .standby(until: now + patience())
        } catch {
            stop(.badEntry(at: position, error))
        }
    }

    private mutating func count(_ entry: LogEntry, _ bytes: [UInt8], at position: UInt64) throws(LogEntryError) {
        var isStart = false, records: [JournalRecord] = []
        switch entry.body {
        case .start: isStart = true
        case .records(let body):
            records = try LogEntry.records(pieces.isEmpty ? body : pieces + body, after: counted.isPartial ? 0 : counted.sequence)
            records.removeAll { $0.sequence <= counted.sequence }
        case .piece(let piece):
            let bytes = pieces.count + piece.count
            guard bytes < settings.recordBytesMax else { throw .recordSize(bytes, max: settings.recordBytesMax) }
        case .beat, .release: break
        }
        guard isStart ? entry.start > counted.start : entry.start == counted.start else {
            throw .start(found: entry.start, current: counted.start)
        }
        count(entry.body, records, as: place(of: bytes, entry.body, records, at: position, isStart ? entry.start : nil))
    }

    /// The log's newest entry.
    mutating func ended(_ bytes: [UInt8], at end: UInt64, _ number: UInt64, _ now: Instant) {
        endHeard = end
        switch state {
        case .standby, .looking, .doubting: judge(end, bytes, number, now)
        case .unsure: stepDown(.leaseOver, now)
        case .alone: stepDown(.logIsBack, now)
        case .takingOver, .owner, .releasing, .diskFailed, .stopped: break
        }
    }

    private mutating func judge(_ end: UInt64, _ bytes: [UInt8], _ number: UInt64, _ now: Instant) {
        // The log had more than this already.
        if end < countedWhenAsked || counted.isPartial && end == counted.position {
            // What was asked earlier may be true of then.
            if number == asks { doubt(end, now) }
            return
        }
        // More is on its way, or the log is followed no more without a word.
        if end > counted.position {
            if case .standby = state { return }
            state = .standby(until: now + patience())
            // What an engine is slow to begin would never begin.
            if followsSince + settings.ownerLease <= now { follow(now) }
            return
        }
        // A folder that begins a log: nobody has owned the space there.
        if end == 0, counted.position == 0, holder == .another, case .standby(let until) = state {
            holder = .nobody
            return state = .standby(until: min(until, now + patience()))
        }
        if case .doubting = state { state = .standby(until: now + patience()) }
        guard end == counted.position, end > 0 else { return takeOverIfWanted(now) }
        do throws(LogEntryError) {
            let entry = try LogEntry(bytes)
            let checksum = entry.body == .beat ? entry.previous : LogEntry.checksum(bytes)
            guard checksum == counted.checksum else { return stop(.diverged(at: end)) }
            takeOverIfWanted(now)
        } catch {
            stop(.badEntry(at: end, error))
        }
    }

    /// The log ends before what this node has of it.
    mutating func doubt(_ end: UInt64, _ now: Instant) {
        guard case .doubting(let since, let asked) = state else { return state = .doubting(since: now, asked: now) }
        if since + settings.standbyWait <= asked { stop(.logEndsEarly(end: end, own: counted.position)) }
    }

    // MARK: - Taking over

    /// The wait that is under way becomes longer or shorter by the difference.
    mutating func hesitate(_ new: Duration?, _ now: Instant) {
        guard new != hesitation else { return }
        let old = hesitation
        hesitation = new
        guard case .standby(let until) = state else { return }
        guard let old, let new else { return state = .standby(until: now + patience()) }
        let longer = (until + new).nanoseconds - UInt64(clamping: old.nanoseconds)
        state = .standby(until: max(now, Instant(nanoseconds: longer)))
    }

    mutating func look(_ now: Instant) {
        state = .looking(asked: now)
        readEnd()
    }

    private mutating func takeOverIfWanted(_ now: Instant) {
        guard case .looking = state, unstored.isEmpty else { return }
        guard hesitation != nil else { return state = .standby(until: now + patience()) }
        guard counted.start < .max else { return stop(.startsUsedUp) }
        state = .takingOver(send(.start(life: life), start: max(counted.start + 1, settings.startMin), at: now))
    }

    /// The log has the start of this node.
    mutating func begin(_ flight: Flight, _ now: Instant) {
        count(flight.body, [], as: flight.place)
        call(.follow(from: nil, number: follows))
        state = .owner(Owner(sent: flight.sent))
        expire(at: now)
    }
}
