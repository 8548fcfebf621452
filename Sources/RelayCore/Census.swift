/// The hub counted, at one moment: for `boardrelay status`, for tests that nothing is left behind, and for metrics.
///
/// Every array is sorted, so that two censuses compare.
public struct Census: Sendable, Hashable, Codable {
    public struct Session: Sendable, Hashable, Codable {
        public var user: String
        public var peer: String
        public var client: String
        public var away: Bool
        public var messageChannels: Int
        public var streamChannels: Int
        /// Bytes that wait for this session, reliable and packets.
        public var queuedBytes: Int
        public var queuedPacketBytes: Int
        public var pinnedBytes: Int
        public var packetsLost: UInt64
        public init(
            user: String, peer: String, client: String, away: Bool, messageChannels: Int, streamChannels: Int,
            queuedBytes: Int, queuedPacketBytes: Int, pinnedBytes: Int, packetsLost: UInt64
        ) {
            self.user = user
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

    public struct Channel: Sendable, Hashable, Codable {
        public var kind: String
        public var name: String
        public var subscribers: Int
        /// Those who are seen: subscribers without the quiet ones.
        public var members: Int
        public var topics: Int
        public var flows: Int
        public var head: UInt64
        public init(kind: String, name: String, subscribers: Int, members: Int, topics: Int, flows: Int, head: UInt64) {
            self.kind = kind
            self.name = name
            self.subscribers = subscribers
            self.members = members
            self.topics = topics
            self.flows = flows
            self.head = head
        }
    }

    public var start: UInt32 = 0
    public var connections = 0
    public var sessionsPresent = 0
    public var sessionsAway = 0
    public var users = 0
    public var deadlines = 0
    /// Channels and users with metadata, and its keys and values in bytes.
    public var metadataSets = 0
    public var metadataBytes = 0
    public var locks = 0
    /// Changes that are not known to be durable, and their bytes.
    public var changesUnrevealed = 0
    public var changesUnjournaledBytes = 0
    /// Why nothing can be changed, if so.
    public var storageFailure: String?
    /// Memory of all chunks, shared and private, in bytes.
    public var queueMemoryBytes = 0
    public var sessions: [Session] = []
    public var channels: [Channel] = []
    public var counters = Counters()

    public init() {}
}

/// What has happened since the start. Each only grows.
public struct Counters: Sendable, Hashable, Codable {
    public var connectionsOpened: UInt64 = 0
    public var sessionsOpened: UInt64 = 0
    public var sessionsResumed: UInt64 = 0
    public var sessionsTimedOut: UInt64 = 0
    public var messagesAccepted: UInt64 = 0
    public var messagesDelivered: UInt64 = 0
    public var packetsAccepted: UInt64 = 0
    /// Put into a reader's queue; those shed later are counted in `packetsShed…` as well.
    public var packetsQueued: UInt64 = 0
    public var packetsShedSlow: UInt64 = 0
    public var packetsShedExpired: UInt64 = 0
    /// Packets that went with a connection whose queue died.
    public var packetsDiscarded: UInt64 = 0
    public var packetsDroppedRate: UInt64 = 0
    public var directAccepted: UInt64 = 0
    public var directConfirmed: UInt64 = 0
    /// Changes of metadata and locks.
    public var changesAccepted: UInt64 = 0
    /// Times that changes could not be stored.
    public var storageFailures: UInt64 = 0
    public var presenceEvents: UInt64 = 0
    /// Refusals by the code's name.
    public var refusals: [String: UInt64] = [:]
    /// Connections that the hub closed, by the code's name.
    public var closes: [String: UInt64] = [:]

    public init() {}
}
