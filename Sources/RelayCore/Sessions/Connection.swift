import RelayPrimitives
import RelayWire

/// One link as the hub sees it. Its outbound queue stands beside it, at the same index (`Outbox.queues`).
struct Connection {
    enum State: Equatable {
        case vacant
        /// Connected, not logged in.
        case greeting
        /// As `greeting`, and what it says is HTTP.
        case requesting
        /// Logged in: `session` is the session's index.
        case live
        /// Told goodbye; whatever still comes is not read.
        case closing
    }

    /// What becomes of the bytes that it sends.
    enum Input: Equatable {
        /// Frames are handled as they come.
        case handled
        /// The next frame has to wait. The hub holds it and what follows, in order.
        case held(for: Wait)
        /// The frame that was held is judged again. Its rate was counted before. [RT1]
        case judgedAgain
        /// Frames that were held are handled.
        case catchingUp
    }

    enum Wait: Equatable {
        /// Whose record it changes has to be read. [BL10]
        case author
        /// Others have their turn. [DL12]
        case turn
        /// Too much waits for its reader. [DL12]
        case reader
        /// Its address guesses keys. [AC2]
        case guesses
        /// Its login is for a space, whose hub gets it. [SE16]
        case space
    }

    var id = ConnectionID(index: -1, generation: 0)
    var state = State.vacant
    @Packed var session: Session.Index?
    var entropy = Entropy(high: 0, low: 0)
    var peer = Peer(text: "", address: .local)
    var lastHeard = Instant(nanoseconds: 0)
    /// Since when it may log in. [SE4]
    var greetingSince = Instant(nanoseconds: 0)
    /// Bytes received while greeting. [SE4]
    var bytesBeforeLogin = 0
    /// Logins with a wrong credential, and their answers that wait. [AC2]
    var wrongCredentials = 0
    var refusals: [HeldRefusal] = []
    /// The key or code that it sends has waited its time. [AC2]
    var hasWaited = false
    /// When the end of its token is looked at next.
    var accessLookAt: Instant?
    /// The end of a token that was told to come soon. [AC8]
    var noticeToldFor: UInt64?
    /// Bytes of a frame that has not come whole yet, and since when. Empty, without memory, between frames.
    private(set) var partial: [UInt8] = []
    private(set) var partialSince = Instant(nanoseconds: 0)
    /// Whom they are charged to.
    private(set) var partialPayer: AddressKey?
    var input = Input.handled
    var held = HeldInput()
    /// The engine has stopped reading this connection.
    var isPaused = false
    var share = WorkAccount.Share()

    /// A read of a board for it is under way.
    var isReadingBoard = false
    /// The line for blocks of boards has called it, and it has not asked since. [HI2]
    var wasCalled = false
    /// What its session catches up with; the first is next. [HI2]
    var catchUps: [CatchUp.Index] = []
    /// What is answered when it has. [HI8]
    var barriers: [Barrier] = []

    var isHeld: Bool {
        if case .held = input { return true }
        return false
    }

    mutating func keepPartial(_ bytes: [UInt8], since: Instant, payer: AddressKey) {
        (partial, partialSince, partialPayer) = (bytes, since, bytes.isEmpty ? nil : payer)
    }

    var hasLoggedIn: Bool { state != .greeting && state != .requesting }

    /// Whether it may send and be sent to.
    var isOpen: Bool { state == .greeting || state == .live }
}

/// What came from a frame on that has to wait.
struct HeldInput {
    var bytes: [UInt8] = []
    /// What stands before is done.
    var from = 0
    /// Up to here there are whole frames.
    var whole = 0
    var since = Instant(nanoseconds: 0)
    /// The first frame's rate was counted when it came. [RT1]
    var isJudgedAgain = false

    var count: Int { bytes.count - from }

    /// Keeps handled bytes at most as many as waiting ones.
    mutating func letGoOfWhatIsDone() {
        guard from > count else { return }
        bytes = Array(bytes[from...])
        whole -= from
        from = 0
    }
}

/// All connections, at the places that the engine hands out.
struct ConnectionTable {
    private var connections = Slab<Connection>(vacant: Connection())
    /// How many there are.
    private(set) var count = 0

    /// Those that are vacant, too.
    var indices: some Sequence<Connection.Index> { connections.indices }

    @inline(__always)
    subscript(index: Connection.Index) -> Connection {
        unsafeAddress { UnsafePointer(connections.address(index)) }
        unsafeMutableAddress { connections.address(index) }
    }

    /// Whether the engine's id is the connection that stands there now, not an earlier one.
    @inline(__always)
    func has(_ id: ConnectionID) -> Bool {
        id.index >= 0 && connections.has(id.place) && self[id.place].id == id && self[id.place].state != .vacant
    }

    mutating func open(_ connection: Connection) {
        let place = connection.id.place
        connections.reserve(place)
        precondition(self[place].state == .vacant, "\(connection.id) opened while \(self[place].id) is there")
        self[place] = connection
        count += 1
    }

    mutating func close(_ index: Connection.Index) {
        connections.clear(index)
        count -= 1
    }
}
