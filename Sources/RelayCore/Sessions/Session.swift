import RelayPrimitives
internal import RelayRights
import RelayWire

/// A logged-in client, or what is remembered of one: at most one for each device of a user.
struct Session {
    enum State: Equatable {
        case vacant
        case present(connection: Connection.Index)
        /// Without a connection, still there for others until its deadline. [SE9]
        case away
        /// Ended; only its rate buckets still count. [RT3]
        case lingering
    }

    var state = State.vacant
    /// Tells deadlines of this stay from those of earlier ones; rises with each change of `state`.
    var generation: UInt32 = 0
    /// When it came to be there, for others: not when it came back, or was taken over. [AC16]
    var since = Instant(nanoseconds: 0)
    var user: Name?
    @Placed var person: Person.Index
    /// Which of the person's. [SE8]
    var device: UInt64 = 0
    /// When its last connection ended.
    var awaySince = Instant(nanoseconds: 0)
    var handle: UInt32 = 0
    /// `nil`: it cannot be resumed.
    var resumeToken: Entropy?
    /// What it may: what its credential gives, and what moderators make of that. [AC4, AC10]
    var access = Access(role: nil)
    var given = Access(role: nil)
    /// A moderator has made it a reader: what a token for one channel gives is cut, too.
    var isHeldToReading = false
    /// Of the secret that its login came with, as in `UserClaim`. [AC13]
    var secretDigest: Entropy?
    /// Of the key that let it in.
    var keyDigest: [UInt8]?
    /// The client object, and what became of its publishes. [MS1, MS9]
    var instance: UInt64?
    var window = PublishWindow()
    var presenceTimeout = Duration.zero
    var heartbeat = Duration.zero
    var client = ""
    @OutOfLine var lastEnd: CloseNotice? = nil
    var memberships = Memberships()
    /// States set before subscribing. [PR8]
    var statesBefore: [ChannelID: [Name: PresenceState]] = [:]
    /// The channel last published to and its bucket, so that most publishes look nothing up.
    var lastPublish: (name: Name, channel: Channel.Index, generation: UInt32, bucket: TokenBucket.Index)?
    /// Whether its client can say `goOn`. [MS10]
    var goesOn = false
    /// Whether a deadline tells of a credit that has grown. [RT8]
    var isCreditWatched = false
    /// What it was told last of channels in which it may send little. [RT8]
    var creditTold: [TokenBucket.Index: UInt32] = [:]
    var directsPending = 0
    /// Users whose metadata it subscribed to. [MD8]
    var userMetadata: Set<Name> = []
    /// Locks it waits for, or has waited for on this connection. [LK4]
    var waitsForLocks: Set<Lock.Index> = []
    /// Flows it was to receive and that have closed, newest last, as `flowOpened` would tell them now. [SE9]
    var closedFlows: [FlowOpened] = []
    var packetsLost: UInt64 = 0
}

/// One session in one channel.
struct Membership {
    @Placed var session: Session.Index
    @Placed var channel: Channel.Index
    /// Handed on by a session that was replaced, and not yet subscribed again. [SE8]
    var heldOver = false
    var receivesMessages = false
    var receivesPresence = false
    var receivesMetadata = false
    var receivesLocks = false
    var quiet = false
    /// The numbering that it was last told. [BL4]
    var epoch = Epoch(start: 0, incarnation: 0)
    /// Of the newest reading of a board from its beginning, over whatever connections: see `CatchUp`.
    var freshThrough: UInt64 = 0
    /// While it gets what is kept instead of what comes. [HI2]
    @Packed var catchUp: CatchUp.Index?
    var states: [Name: PresenceState] = [:]
    /// Of a token for this channel. [AC9]
    @OutOfLine var lent: LentRights? = nil
    /// Topics published in: flow indexes. [ST3]
    var publishing: [Name: Flow.Index] = [:]
    /// Topics listened to. [ST7]
    var selections: [Name: Selection] = [:]

    mutating func receive(_ features: Set<Feature>) {
        receivesMessages = features.contains(.messages)
        receivesPresence = features.contains(.presence)
        receivesMetadata = features.contains(.metadata)
        receivesLocks = features.contains(.locks)
    }

    var features: [Feature] {
        (receivesMessages ? [.messages] : []) + (receivesPresence ? [.presence] : []) + (receivesMetadata ? [.metadata] : [])
            + (receivesLocks ? [.locks] : [])
    }
}

/// Whom a session wants to hear in a topic. [ST7]
struct Selection {
    var all = false
    var listed: Set<Name> = []

    func contains(_ user: Name) -> Bool { all || listed.contains(user) }
}
