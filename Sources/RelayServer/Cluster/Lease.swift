internal import RelayPrimitives
import RelayIO

/// One ownership of a space, and until when its hub may take turns. From any thread.
final class Lease: Sendable {
    private enum State {
        case until(Instant)
        case over
    }

    private let state: Mutex<State>
    /// Turns go on behind its moment, until it is over; nothing durable is shown in them.
    private let goesOnAlone: Bool

    init(until moment: Instant, goesOnAlone: Bool = false) { (state, self.goesOnAlone) = (Mutex(.until(moment)), goesOnAlone) }

    /// Whether what is durable may be shown. Each asks by its own clock, so that a process that was stopped, and continues, is told no.
    func mayShow(at now: Instant) -> Bool { state.withLock { if case .until(let moment) = $0 { now < moment } else { false } } }

    /// Whether a turn may begin, and its bytes be written.
    func mayAct(at now: Instant) -> Bool { goesOnAlone ? !isOver : mayShow(at: now) }

    var isOver: Bool { state.withLock { if case .over = $0 { true } else { false } } }

    /// The newest entry was taken; nothing brings back a lease that is over.
    func extend(until moment: Instant) { state.withLock { if case .until = $0 { $0 = .until(moment) } } }

    func end() { state.withLock { $0 = .over } }
}
