import RelayWire

/// One link as the hub sees it. Its outbound queue stands beside it, at the same index (`Hub.queues`).
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

    var id = ConnectionID(index: -1, generation: 0)
    var state = State.vacant
    @Packed var session: Session.Index?
    var entropy = Entropy(high: 0, low: 0)
    var peer = ""
    var lastHeard = Instant(nanoseconds: 0)
    /// Since when it may log in. [SE4]
    var greetingSince = Instant(nanoseconds: 0)
    /// Bytes received while greeting. [SE4]
    var bytesBeforeLogin = 0
    /// Logins with a wrong credential, and their answers that wait. [AC2]
    var wrongCredentials = 0
    var refusals: [HeldRefusal] = []
    /// When the end of its token is looked at next.
    var accessLookAt: Instant?
    /// The end of a token that was told to come soon. [AC8]
    var noticeToldFor: UInt64?
    /// Bytes of a frame that has not come whole yet. Empty, without memory, between frames.
    var partial: [UInt8] = []
    /// Its next frame cannot be judged yet: nothing is handled before, so that all it sends stays in order. [BL10]
    var waits = false
    /// The frame that waits was counted already. [RT1]
    var hasPaid = false
    /// What came from that frame on; what stands before `heldFrom` is done.
    var held: [UInt8] = []
    var heldFrom = 0
    /// The shell was told to read no more.
    var isPaused = false

    /// Memberships that catch up; the first is next. [HI2]
    var catchUps: [Membership.Index] = []

    var hasLoggedIn: Bool { state != .greeting && state != .requesting }

    /// Whether it may send and be sent to.
    var isOpen: Bool { state == .greeting || state == .live }
}
