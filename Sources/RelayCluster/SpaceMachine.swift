import RelayPrimitives
import RelayStorage

/// A node's part in a space: it follows the log, owns the space, or neither. Pure.
///
/// The right to append to the log is the ownership:
///
/// 1. Whoever appends the next start number behind all that it has followed owns the space.
/// 2. A change is shown when the log has taken it and the own disk has it, in this order.
/// 3. An owner serves until T₁ after it has *first* sent the newest entry that was taken. Each of its turns asks `mayAct`.
/// 4. A standby tries to take over when it has heard nothing for T₂ > T₁. So it hears later than the owner sends, and no clock is
///    compared with another's.
/// 5. What has no answer is asked again under the same id.
/// 6. An own entry counts once, whether the log tells of it or answers first.
/// 7. Of several nodes that could take over, one that hesitates less is first. One that would not own the space only follows it.
///
/// Who has it carries out the effects of each call in their order, before the next call. `now` is read behind what the event tells of
/// and before any effect is carried out.
package struct SpaceMachine: Sendable {
    package enum Event: Equatable, Sendable {
        case log(SpaceLog.Answer)
        /// The own disk has all effects `store` up to this position.
        case stored(through: UInt64)
        /// The own disk has lost all effects `store` that it has not told of, and takes none.
        case diskFailed
        case diskRecovered
        case deadlineReached
        /// Somebody else shall own the space: what is under way is finished before.
        case resign
        /// Entries below this position may go; the machine keeps what its disk lacks.
        case trim(below: UInt64)
        /// A standby waits so much longer from now on before it takes over; `nil`: it does not take over.
        case hesitate(Duration?)
    }

    package enum Effect: Equatable, Sendable {
        case call(SpaceLog.Call)
        /// For the own disk: the records, and the place that they end at, as one change. A start number has no records.
        case store([JournalRecord], LogPlace)
        /// This node owns the space, and its disk has all of it.
        case serve(start: UInt32)
        /// These records are durable.
        case show(through: UInt64)
        /// The log cannot be reached. The hub goes on with what is not durable. Of the records not shown, those through this sequence
        /// may be in the log or not: nobody may be told. Those above are in no log, nor will be.
        case serveAlone(undecidedThrough: UInt64)
        /// The hub ends, before the next effect is carried out. Whatever it has not answered may be in the log or not.
        case stepDown(StepDown)
        /// The node does nothing any more: its operator decides.
        case stop(Stop)
    }

    package enum StepDown: Equatable, Sendable {
        case resigned
        /// Nothing that was sent in the last T₁ was taken.
        case leaseOver
        /// The log ends elsewhere: others append.
        case replaced
        /// The relay was alone, and reaches the log again.
        case logIsBack
        case diskFailed
    }

    package enum Stop: Equatable, Sendable {
        /// The log ends before what this node has had from it, for T₂.
        case logEndsEarly(end: UInt64, own: UInt64)
        /// The log has another history than this node.
        case diverged(at: UInt64)
        /// The log has lost or removed entries that this node lacks: it wants a copy of another's folder.
        case missing(after: UInt64, before: UInt64)
        case badEntry(at: UInt64, LogEntryError)
        /// No start number is left.
        case startsUsedUp
    }

    enum State {
        /// Takes over at this moment, if nothing is heard.
        case standby(until: Instant)
        /// Wants to take over, and asks where the log ends.
        case looking(asked: Instant)
        /// The log has ended before what this node has: a leader that was replaced may say so, for a while.
        case doubting(since: Instant, asked: Instant)
        case takingOver(Flight)
        case owner(Owner)
        /// T₁ is over: does the log answer?
        case unsure(asked: Instant, undecided: UInt64)
        case alone(asked: Instant)
        /// Serves nobody any more, and says so to the log.
        case releasing(Flight)
        case diskFailed
        case stopped
    }

    struct Owner {
        enum Phase {
            /// Its start is not on its disk.
            case opening
            case serving, leaving
        }

        var phase = Phase.opening
        /// When the newest entry that was taken was first sent.
        var sent: Instant
        var flight: Flight?
        /// Of the batch under way, what is not sent.
        var queue: ArraySlice<(body: LogEntry.Body, records: [JournalRecord])> = []
    }

    /// An append that is not answered.
    struct Flight {
        var id: SpaceLog.AppendID
        var bytes: [UInt8]
        var body: LogEntry.Body
        var records: [JournalRecord]
        /// What has been counted when it is taken.
        var place: LogPlace
        var sent: Instant
        var asked: Instant
    }

    /// Who owns the space, as the log says.
    enum Holder { case nobody, me, another }

    let settings: ClusterSettings
    let life: UInt64
    var dice: SplitMix64
    var state: State
    var effects: [Effect] = []
    /// All that was counted of the log; the disk gets it.
    package internal(set) var counted: LogPlace
    /// What the disk has.
    package internal(set) var disk: LogPlace
    /// What it was given since, at most `unstoredMax` of followed entries.
    var unstored: [LogPlace] = []
    /// Of a record that is not whole, less than `ClusterSettings.recordBytesMax`.
    var pieces: [UInt8] = []
    var holder: Holder
    var appends: UInt64 = 0
    var follows: UInt64 = 0
    /// When it asked for that.
    var followsSince = Instant(nanoseconds: 0)
    /// More was followed than the disk takes: it is followed again when the disk has what it was given.
    var isFollowingLate = false
    var asks: UInt64 = 0
    /// What was counted when the end was asked for the last time.
    var countedWhenAsked: UInt64 = 0
    /// Where the log ended when it was last said, over this link.
    var endHeard: UInt64?
    /// See `Event.hesitate`.
    var hesitation: Duration? = .zero

    static let unstoredMax = 1024

    /// - Parameters:
    ///   - disk: what the newest `store` on the own disk says; of an empty one `LogPlace()`.
    ///   - life: drawn at random for each process.
    ///   - seed: of the random delays.
    package init(disk: LogPlace, life: UInt64, seed: UInt64, settings: ClusterSettings = ClusterSettings(), at now: Instant) {
        (self.disk, counted, self.life, self.settings) = (disk, disk, life, settings)
        holder = disk.start == 0 ? .nobody : .another
        dice = SplitMix64(seed: seed)
        state = .standby(until: now)
        state = .standby(until: now + patience())
    }

    // MARK: - What its surroundings ask

    /// For `status` and metrics.
    package enum Role: Sendable { case standby, doubting, takingOver, owner, alone, releasing, diskFailed, stopped }

    package var role: Role {
        switch state {
        case .standby, .looking: .standby
        case .doubting: .doubting
        case .takingOver: .takingOver
        case .owner, .unsure: .owner
        case .alone: .alone
        case .releasing: .releasing
        case .diskFailed: .diskFailed
        case .stopped: .stopped
        }
    }

    /// Whether it wants to take over, and asks where the log ends.
    package var isLooking: Bool { if case .looking = state { true } else { false } }

    /// Whether it follows, had all of the log when the log last said where it ends, and has most of it on its disk.
    package var isCaughtUp: Bool {
        switch state {
        case .standby, .looking:
            unstored.count < 64 && !isFollowingLate && !counted.isPartial && endHeard.map { $0 <= counted.position } ?? false
        case .doubting, .takingOver, .owner, .unsure, .alone, .releasing, .diskFailed, .stopped: false
        }
    }

    /// Until when the hub may take turns; `nil`: not at all. Another queue may keep a copy of it, as long as it is renewed after each call.
    package var actsUntil: Instant? {
        switch state {
        case .owner(let owner) where owner.phase != .opening: owner.sent + settings.ownerLease
        case .alone: Instant(nanoseconds: .max)
        case .standby, .looking, .doubting, .takingOver, .owner, .unsure, .releasing, .diskFailed, .stopped: nil
        }
    }

    /// Whether the hub may take a turn; asked where each begins. A process that was stopped, and continues, is told no.
    package func mayAct(at now: Instant) -> Bool { actsUntil.map { now < $0 } ?? false }

    /// Whether `submit` takes a batch: one is under way at a time, until it is shown.
    package var takesRecords: Bool {
        guard case .owner(let owner) = state, owner.phase == .serving, owner.queue.isEmpty, unstored.isEmpty else { return false }
        return owner.flight.map { $0.body == .beat } ?? true
    }

    package var nextDeadline: Instant? {
        switch state {
        // Behind a disk that is late nobody takes over.
        case .standby(let until): unstored.isEmpty ? until : nil
        case .looking(let asked), .doubting(_, let asked), .unsure(let asked, _), .alone(let asked): asked + settings.askAgain
        case .takingOver(let flight), .releasing(let flight):
            min(flight.asked + settings.askAgain, flight.sent + settings.ownerLease)
        case .owner(let owner):
            min(owner.sent + settings.ownerLease, owner.flight.map { $0.asked + settings.askAgain } ?? owner.sent + settings.beat)
        case .diskFailed, .stopped: nil
        }
    }

    // MARK: - What happens

    package mutating func handle(_ event: Event, at now: Instant) -> [Effect] {
        expire(at: now)
        switch event {
        case .log(.appended(let id, .taken(let position))): taken(id, at: position, now)
        case .log(.appended(let id, .wrong(let end))): refused(id, end: end, now)
        // It stays in flight, and is asked again.
        case .log(.appended(_, .unknown)), .deadlineReached: break
        case .log(.entry(let bytes, let position, let number)): if number == follows { followed(bytes, at: position, now) }
        case .log(.end(let bytes, let position, let number)): ended(bytes, at: position, number, now)
        case .log(.linked): linked(now)
        case .stored(let position): stored(through: position, now)
        case .diskFailed: diskHasFailed()
        case .diskRecovered: if case .diskFailed = state { stand(for: patience(), now) }
        case .resign: resign(now)
        // The newest entry on the disk stays: who lacks some before it sees that they are gone.
        case .trim(let position): if case .owner = state { call(.trim(below: min(position, disk.position))) }
        case .hesitate(let hesitation): hesitate(hesitation, now)
        }
        step(at: now)
        defer { effects = [] }
        return effects
    }

    /// Does what is due.
    private mutating func step(at now: Instant) {
        if case .owner(var owner) = state {
            goOn(&owner, now)
            state = .owner(owner)
            if owner.phase == .leaving, owner.flight == nil, owner.queue.isEmpty, unstored.isEmpty { release(now) }
        }
        guard let due = nextDeadline, due <= now else { return }
        switch state {
        case .standby, .looking: look(now)
        case .doubting(let since, _):
            state = .doubting(since: since, asked: now)
            readEnd()
        case .takingOver(let flight):
            if flight.sent + settings.ownerLease <= now { return stand(for: patience(), now) }
            state = .takingOver(askAgain(flight, now))
        case .owner(var owner):
            owner.flight = owner.flight.map { askAgain($0, now) }
            state = .owner(owner)
        case .unsure(_, let undecided):
            state = .alone(asked: now)
            effects.append(.serveAlone(undecidedThrough: undecided))
            readEnd()
        case .alone:
            state = .alone(asked: now)
            readEnd()
        case .releasing(let flight):
            if flight.sent + settings.ownerLease <= now { return stand(for: fullPatience(), now) }
            state = .releasing(askAgain(flight, now))
        case .diskFailed, .stopped: break
        }
    }
}
