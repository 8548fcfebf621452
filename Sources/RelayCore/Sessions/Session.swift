import RelayPrimitives
internal import RelayRights
import RelayWire

/// A logged-in client, or the memory of one: at most one for each device of a user.
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
    var statesBefore = [ChannelID: [Name: PresenceState]]()
    /// What is charged of them.
    var statesBeforeBytes = 0
    /// The channel last published to and its bucket, so that most publishes look nothing up.
    var lastPublish: (name: Name, channel: Channel.Index, generation: UInt32, bucket: TokenBucket.Index)?
    /// Whether its client can say `goOn`. [MS10]
    var goesOn = false
    /// Whether a deadline tells of a credit that has grown. [RT8]
    var isCreditWatched = false
    /// What it was told last of channels in which it may send little. [RT8]
    var creditTold = [TokenBucket.Index: UInt32]()
    var directsPending = 0
    /// Users whose metadata it subscribed to. [MD8]
    var userMetadata: Set<Name> = []
    /// Locks it waits for on its connection, and how often. [LK4]
    var waitsForLocks = [Lock.Index: Int32]()
    /// How often, in all.
    var lockWaits = 0
    /// Flows it was to receive and that have closed, newest last, as `flowOpened` would tell them now. [SE9]
    var closedFlows: [ClosedFlow] = []
    var packetsLost: UInt64 = 0
    /// Where its last login came from: whom its place and memory are charged to.
    var address = AddressKey.local
    /// How much memory: all, and what does not hang on its memberships. [SE15]
    var held = 0
    var heldOwn = 0
}

/// A flow that has closed, as `flowOpened` would tell it now, and what it was for one receiver. [SE9]
struct ClosedFlow {
    /// Of all its receivers.
    final class Content: Sendable {
        let opened: FlowOpened

        init(_ opened: FlowOpened) { self.opened = opened }
    }

    let content: Content
    let from: UInt32
    /// What is charged of it.
    let bytes: UInt32

    var opened: FlowOpened {
        var opened = content.opened
        opened.from = from
        return opened
    }
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
    var states = [Name: PresenceState]()
    /// Of a token for this channel. [AC9]
    @OutOfLine var lent: LentRights? = nil
    /// Topics published in: flow indexes. [ST3]
    var publishing = [Name: Flow.Index]()
    /// Topics listened to. [ST7]
    var selections = [Name: Selection]()
    /// Flows whose receivers it is among.
    var receiving: Int32 = 0
    /// What is charged of it. [SE15]
    var held = 0

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

/// The memberships of one session by channel, in the order of the channels: one block of memory, and none while there is no membership.
///
/// Most sessions are in a channel or two; a dictionary of that size is mostly room for more.
struct Memberships {
    private struct Entry {
        var channel: Channel.Index
        var membership: Membership.Index
    }

    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }
    var all: [Membership.Index] { entries.map(\.membership) }

    subscript(channel: Channel.Index) -> Membership.Index? {
        let index = index(of: channel)
        return index < entries.count && entries[index].channel == channel ? entries[index].membership : nil
    }

    mutating func insert(_ membership: Membership.Index, in channel: Channel.Index) {
        entries.insert(Entry(channel: channel, membership: membership), at: index(of: channel))
    }

    mutating func remove(_ channel: Channel.Index) { entries.remove(at: index(of: channel)) }

    /// Where a channel stands or would stand.
    private func index(of channel: Channel.Index) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].channel < channel { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension Hub {
    /// The membership of a session in a channel, if it has one; it may be held over.
    func membership(of session: Session.Index, in id: ChannelID) -> Membership.Index? {
        channels[named: id].flatMap { sessions[session].memberships[$0] }
    }

    /// The membership of a session that is inside a channel.
    func membership(of session: Session.Index, inside channel: Channel.Index) -> Membership.Index {
        guard let membership = sessions[session].memberships[channel] else {
            preconditionFailure(
                "channel \(channels[channel].handle) has session \(sessions[session].handle) inside, which has no membership there")
        }
        return membership
    }
}
