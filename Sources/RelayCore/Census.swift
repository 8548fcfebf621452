/// The hub counted, at one moment: for `boardrelay status`, for tests that nothing is left behind, and for metrics.
///
/// Every array is sorted, so that two censuses compare.
public struct Census: Sendable, Hashable, Codable {
    /// One session, present or away.
    public struct Session: Sendable, Hashable, Codable {
        /// Id of the user.
        public var user: String
        /// Which of the user's devices: 16 hexadecimal digits.
        public var device: String
        /// Address of its connection; empty while away.
        public var peer: String
        /// What the client calls itself.
        public var client: String
        /// Whether it has no connection and others still see it.
        public var away: Bool
        /// Message channels subscribed.
        public var messageChannels: Int
        /// Stream channels joined.
        public var streamChannels: Int
        /// Bytes that wait for this session, reliable and packets.
        public var queuedBytes: Int
        /// Of them, bytes of packets.
        public var queuedPacketBytes: Int
        /// Shared memory that its queue keeps alive, in bytes.
        public var pinnedBytes: Int
        /// Packets shed from its queues since the session began.
        public var packetsLost: UInt64
        package init(
            user: String, device: String, peer: String, client: String, away: Bool, messageChannels: Int, streamChannels: Int,
            queuedBytes: Int, queuedPacketBytes: Int, pinnedBytes: Int, packetsLost: UInt64
        ) {
            self.user = user
            self.device = device
            self.peer = peer
            self.client = client
            self.away = away
            self.messageChannels = messageChannels
            self.streamChannels = streamChannels
            self.queuedBytes = queuedBytes
            self.queuedPacketBytes = queuedPacketBytes
            self.pinnedBytes = pinnedBytes
            self.packetsLost = packetsLost
        }
    }

    /// One channel of either kind.
    public struct Channel: Sendable, Hashable, Codable {
        /// `message` or `stream`.
        public var kind: String
        /// Its name.
        public var name: String
        /// Sessions inside, quiet ones among them.
        public var subscribers: Int
        /// Users who are seen: subscribers without the quiet ones.
        public var members: Int
        /// Topics with a publisher.
        public var topics: Int
        /// Publishers over all topics.
        public var flows: Int
        /// Offset of the newest message.
        public var head: UInt64
        package init(kind: String, name: String, subscribers: Int, members: Int, topics: Int, flows: Int, head: UInt64) {
            self.kind = kind
            self.name = name
            self.subscribers = subscribers
            self.members = members
            self.topics = topics
            self.flows = flows
            self.head = head
        }
    }

    /// Number of this start of the relay: greater at each.
    public var start: UInt32 = 0
    /// Links, logged in or not.
    public var connections = 0
    /// Sessions with a connection.
    public var sessionsPresent = 0
    /// Sessions without one that others still see.
    public var sessionsAway = 0
    /// Users known, those included whose session has just ended.
    public var users = 0
    /// Moments at which the hub wants to be woken.
    public var deadlines = 0
    /// Channels and users with metadata, and its keys and values in bytes.
    public var metadataSets = 0
    /// Keys and values of all metadata.
    public var metadataBytes = 0
    /// Locks of all channels.
    public var locks = 0
    /// Users whose role a moderator has set.
    public var setRoles = 0
    /// Names of channels that are frozen.
    public var frozenChannels: [String] = []
    /// Names of channels that are open for editing.
    public var openChannels: [String] = []
    /// Users who are banned. It includes bans that are over and were not looked at since.
    public var bans = 0
    /// Messages that channels keep.
    public var historyMessages = 0
    /// Their frames.
    public var historyBytes = 0
    /// Message channels that keep something for good.
    public var boards = 0
    /// Their records, those on their way to a file not counted.
    public var boardRecords = 0
    /// Keys, custom types and payloads of their records, and 64 for each.
    public var boardBytes = 0
    /// Subscriptions that get what is kept before they get what comes.
    public var catchingUp = 0
    /// Changes that are not known to be durable, and their bytes.
    public var changesUnrevealed = 0
    /// Their keys and values.
    public var changesUnjournaledBytes = 0
    /// Why nothing can be changed, if so.
    public var storageFailure: String?
    /// Channels of each kind.
    public var messageChannels = 0
    /// Channels of each kind.
    public var streamChannels = 0
    /// Bytes that wait for all readers.
    public var queuedBytes = 0
    /// Shared memory that lagging readers keep alive, in bytes: a chunk counts for each of them.
    public var pinnedBytes = 0
    /// Memory of all chunks, shared and private, in bytes.
    public var queueMemoryBytes = 0
    /// In order of user id.
    public var sessions: [Session] = []
    /// In order of name.
    public var channels: [Channel] = []
    /// What has happened since the start.
    public var counters = Counters()

    package init() {}
}

/// What has happened since the start. Each only grows.
public struct Counters: Sendable, Hashable, Codable {
    /// Links that came.
    public var connectionsOpened: UInt64 = 0
    /// Logins that began a session.
    public var sessionsOpened: UInt64 = 0
    /// Logins that continued one.
    public var sessionsResumed: UInt64 = 0
    /// Sessions that ended because nobody came back in time.
    public var sessionsTimedOut: UInt64 = 0
    /// Logins with a key or token that was none. [AC1]
    public var credentialsWrong: UInt64 = 0
    /// What moderators have changed: as many lines the log has of it. [AC15]
    public var moderations: UInt64 = 0
    /// Messages that got an offset.
    public var messagesAccepted: UInt64 = 0
    /// Messages put into readers' queues.
    public var messagesDelivered: UInt64 = 0
    /// Drawings that came in parts, and whose last part did not come in time. [BL8]
    public var drawingsEnded: UInt64 = 0
    /// Change sets that were never whole: another began, the next part did not come in time, or the session ended. [BL11]
    public var changeSetsEnded: UInt64 = 0
    /// Packets that got a sequence.
    public var packetsAccepted: UInt64 = 0
    /// Put into a reader's queue; those shed later are counted in `packetsShed…` as well.
    public var packetsQueued: UInt64 = 0
    /// Packets shed because a reader took too little.
    public var packetsShedSlow: UInt64 = 0
    /// Packets shed because they outlived their use.
    public var packetsShedExpired: UInt64 = 0
    /// Packets shed because they were more than their reader has said that it takes. [DL11]
    public var packetsShedReader: UInt64 = 0
    /// Packets that readers were not given because they were catching up.
    public var packetsShedCatchingUp: UInt64 = 0
    /// Of `messagesDelivered`, those from what is kept.
    public var messagesRecovered: UInt64 = 0
    /// Packets that went with a connection whose queue died.
    public var packetsDiscarded: UInt64 = 0
    /// Packets dropped because their publisher was over its rate.
    public var packetsDroppedRate: UInt64 = 0
    /// Messages from user to user that were passed on.
    public var directAccepted: UInt64 = 0
    /// Of them, those that were acknowledged.
    public var directConfirmed: UInt64 = 0
    /// Changes of metadata and locks.
    public var changesAccepted: UInt64 = 0
    /// Times that changes could not be stored.
    public var storageFailures: UInt64 = 0
    /// Requests refused because too many erasures were under way. [AC14]
    public var erasuresRefused: UInt64 = 0
    /// Events of presence, each counted once for all readers.
    public var presenceEvents: UInt64 = 0
    /// From a frame that finds a reader's queue empty until the socket has taken all that came behind it, too. Readers with limits
    /// do not count: they wait by their own choice. [DL11]
    public var delivery = DelayCounts()
    /// Refusals by the code's name.
    public var refusals: [String: UInt64] = [:]
    /// Connections that the hub closed, by the code's name.
    public var closes: [String: UInt64] = [:]

    package init() {}
}
