internal import RelayPrimitives
import RelayIO

/// One ownership of a space, and until when its hub may take turns. From any thread.
final class Lease: Sendable {
    private enum State {
        case until(Instant)
        case over
    }

    private let state: Mutex<State>

    init(until moment: Instant) { state = Mutex(.until(moment)) }

    /// Whether a turn may begin. Each asks by its own clock, so that a process that was stopped, and continues, is told no.
    func mayAct(at now: Instant) -> Bool { state.withLock { if case .until(let moment) = $0 { now < moment } else { false } } }

    var isOver: Bool { state.withLock { if case .over = $0 { true } else { false } } }

    /// The newest entry was taken; nothing brings back a lease that is over.
    func extend(until moment: Instant) { state.withLock { if case .until = $0 { $0 = .until(moment) } } }

    func end() { state.withLock { $0 = .over } }
}
