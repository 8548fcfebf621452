import RelayClient
import RelayClientCore
internal import RelayCore
import RelayPrimitives

/// The links of one client. What its core wants done waits until the world has a turn.
final class MemoryLink: ClientTransport, @unchecked Sendable {
    // Safe: `core` is set once, before anything else; what is behind `state` is touched on the world's queue only.
    enum Note {
        case effects([ClientEffect])
        case kick(@Sendable () -> Void)
        case goOn
    }

    /// What the world knows of it.
    struct State {
        var attempt: UInt64 = 0
        /// A link is to be made.
        var isOpening = false
        var connection: ConnectionID?
        /// Which start of the relay that is with.
        var start: UInt32 = 0
        var isReachable = true
        var isHeld = false
        /// The client's readers have no room.
        var isHeldBack = false
    }

    let world: World
    private(set) weak var core: ClientCore?
    var state = State()
    private let notes = Mutex<[Note]>([])

    init(world: World) { self.world = world }

    deinit { if let connection = state.connection { world.drop(connection, of: state.start) } }

    func attach(_ core: ClientCore) {
        self.core = core
        world.add(self)
    }

    func carryOut(_ effects: [ClientEffect]) { if !effects.isEmpty { note(.effects(effects)) } }
    func kick(_ began: @escaping @Sendable () -> Void) { note(.kick(began)) }
    func goOn() { note(.goOn) }

    private func note(_ note: Note) {
        notes.withLock { $0.append(note) }
        world.wake()
    }

    func takeNotes() -> [Note] {
        notes.withLock { notes in
            defer { notes = [] }
            return notes
        }
    }
}
