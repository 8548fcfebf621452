import RelayPrimitives
import RelayStorage

// What every role asks of the log, counts of it, and leaves.

extension SpaceMachine {
    mutating func call(_ call: SpaceLog.Call) { effects.append(.call(call)) }

    /// How long this node waits before it tries to take over.
    mutating func patience() -> Duration {
        guard holder != .another, let hesitation else { return fullPatience() }
        return settings.freeWait + hesitation
    }

    mutating func fullPatience() -> Duration {
        let jitter = dice.below(UInt64(clamping: settings.standbyJitter.nanoseconds) + 1)
        return settings.standbyWait + (hesitation ?? .zero) + .nanoseconds(Int64(jitter))
    }

    mutating func stop(_ reason: Stop) {
        state = .stopped
        effects.append(.stop(reason))
    }

    mutating func stepDown(_ reason: StepDown, _ now: Instant) {
        endHub(reason)
        stand(for: patience(), now)
    }

    /// If there is one.
    mutating func endHub(_ reason: StepDown) {
        switch state {
        case .owner(let owner) where owner.phase != .opening: effects.append(.stepDown(reason))
        case .unsure, .alone: effects.append(.stepDown(reason))
        case .standby, .looking, .doubting, .takingOver, .owner, .releasing, .diskFailed, .stopped: break
        }
    }

    /// Follows the log behind what was counted.
    mutating func stand(for patience: Duration, _ now: Instant) {
        state = .standby(until: now + patience)
        follow(now)
        readEnd()
    }

    mutating func follow(_ now: Instant) {
        follows += 1
        followsSince = now
        isFollowingLate = false
        call(.follow(from: counted.position + 1, number: follows))
    }

    mutating func readEnd() {
        asks += 1
        countedWhenAsked = counted.position
        call(.readEnd(number: asks))
    }

    // MARK: - Appending

    mutating func send(_ body: LogEntry.Body, _ records: [JournalRecord] = [], start: UInt32? = nil, at now: Instant) -> Flight {
        let bytes = LogEntry(start: start ?? counted.start, previous: counted.checksum, body: body).encoded()
        appends += 1
        let id = SpaceLog.AppendID(life: life, number: appends)
        call(.append(bytes, after: counted.position, id: id))
        return Flight(
            id: id, bytes: bytes, body: body, records: records, place: place(of: bytes, body, records, at: counted.position + 1, start),
            sent: now, asked: now)
    }

    /// The place behind an entry.
    func place(of bytes: [UInt8], _ body: LogEntry.Body, _ records: [JournalRecord], at position: UInt64, _ start: UInt32?) -> LogPlace {
        var place = counted
        place.position = position
        if body != .beat { place.checksum = LogEntry.checksum(bytes) }
        if let start { place.start = start }
        if let last = records.last { place.sequence = last.sequence }
        if case .records = body { place.isPartial = false }
        return place
    }

    /// Under the id that it has: under another it might be taken twice.
    mutating func askAgain(_ flight: Flight, _ now: Instant) -> Flight {
        call(.append(flight.bytes, after: counted.position, id: flight.id))
        var flight = flight
        flight.asked = now
        return flight
    }

    /// An entry of the log is the newest that this node has.
    mutating func count(_ body: LogEntry.Body, _ records: [JournalRecord], as place: LogPlace) {
        counted = place
        switch body {
        case .beat: return
        case .piece(let bytes):
            pieces += bytes
            return
        case .release:
            (holder, pieces) = (.nobody, [])
            return
        case .start(let life): (holder, pieces) = (life == self.life ? .me : .another, [])
        case .records: pieces = []
        }
        unstored.append(place)
        effects.append(.store(records, place))
    }
}
