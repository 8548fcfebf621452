import RelayWire

// What a machine keeps of a session: what its app wants, what the relay has told, what the app has not read.

/// What a machine tells, in order.
package enum Told: Sendable {
    case event(ClientEvent)
    /// A resumption has done what a call that is followed asks for, before its answer.
    case begun(ClientToken)
    /// A call that is followed has ended; whether kept messages of some channel, older than what was written, were still coming then.
    case completed(ClientToken, Result<ClientAnswer, RelayError>, isCatchingUp: Bool)
}

/// The publishers of a topic whose packets are wanted.
struct TopicSelection: Sendable {
    var all = false
    var listed: Set<String> = []

    func contains(_ user: String) -> Bool { all || listed.contains(user) }

    /// - Parameter users: `nil` for all.
    mutating func add(_ users: [String]?) {
        if let users { listed.formUnion(users) } else { all = true }
    }
}

/// What the app has asked for, to be had again in a new session.
struct WantedSession: Sendable {
    struct Channel: Sendable {
        var features: Set<Feature>
        var quiet: Bool
        var token: String?
    }

    var channels: [ChannelID: Channel] = [:]
    var publishing: [TopicID: TopicOptions] = [:]
    /// Topics of `publishing` in which a packet was sent with an echo: one's own come back, and can be lost.
    var echoing: Set<TopicID> = []
    var selections: [TopicID: TopicSelection] = [:]
    var states: [ChannelID: [String: String]] = [:]
    /// Users whose metadata is subscribed.
    var userMetadata: Set<Name> = []
}

/// What the relay has told.
struct KnownSession: Sendable {
    struct Flow: Sendable {
        var topic: TopicID
        var user: String
        var device: String
        /// Sequence of the next packet, if none is lost.
        var next: UInt32
        /// Told lost, at or after `next`.
        var told: [ClosedRange<UInt32>] = []
    }

    var channels: [UInt32: ChannelID] = [:]
    var users: [UInt32: String] = [:]
    var flows: [UInt32: Flow] = [:]
    /// Ranges told lost of flows whose opening is still to come on this link. [DL6]
    var lostEarly: [(flow: UInt32, reason: UInt8, range: ClosedRange<UInt32>)] = []
    /// Flows that were told closed lately: a resumption names them again.
    var closedFlows = RecentSet(limit: ClientLimits.closedFlowsMax)
    /// Flows known before a resumption and not named again so far.
    var unconfirmedFlows: Set<UInt32> = []
    /// Channels that the app wants and that a resumption has not named so far.
    var unconfirmedChannels: Set<ChannelID> = []
    var ownFlows: [TopicID: UInt32] = [:]
    var ownTopics: [UInt32: TopicID] = [:]
    /// Message channels whose kept messages have not all come, as the app has asked.
    var catchingUp: Set<Name> = []
    /// Those that were live, and get what is kept again for a while. [HI7]
    var behind: Set<Name> = []
    /// Records that have come to these, not told before all of them have.
    var gathered: [Name: GatheredRecords] = [:]
    /// The newest offset seen of each subscribed message channel; everything before it has come, or was told.
    var positions: [Name: ChannelPosition] = [:]
    /// Up to where messages of each channel were told missed, if they are.
    var missedThrough: [Name: ChannelPosition] = [:]
    /// Boards that are being read from the beginning, or anew after a reset.
    var readings: [Name: BoardReading] = [:]
    /// Large drawings whose last part has not come.
    var partials: [Name: PartialDrawings] = [:]
    var metadata: [MetadataOwner: MetadataPicture] = [:]
    /// Stream channels whose topics snapshot is not over.
    var snapshotGoesOn: Set<UInt32> = []
    /// Of the channels that it is in. [AC11]
    var modes: [ChannelID: Set<ChannelMode>] = [:]

    /// What is accepted comes later: that an own message was accepted does not say that all before it has come.
    func isCatchingUp(_ channel: Name) -> Bool { catchingUp.contains(channel) || behind.contains(channel) }
}
