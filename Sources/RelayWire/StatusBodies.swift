/// What a moderator sees of a relay at one moment. [AC16]
///
/// Rates are differences of two of these: the relay keeps none.
public struct RelayStatus: Codable, Hashable, Sendable {
    /// Sessions of the relay.
    public struct Sessions: Codable, Hashable, Sendable {
        /// With a connection.
        public var present: Int
        /// Without one, and still there for others.
        public var away: Int

        package init(present: Int = 0, away: Int = 0) {
            self.present = present
            self.away = away
        }
    }

    /// Channels of the relay.
    public struct Channels: Codable, Hashable, Sendable {
        /// Of the kind for messages.
        public var message: Int
        /// Of the kind for packets.
        public var stream: Int

        package init(message: Int = 0, stream: Int = 0) {
            self.message = message
            self.stream = stream
        }
    }

    /// What has happened since the relay started. Each only grows.
    public struct Counters: Codable, Hashable, Sendable {
        /// Messages that got an offset.
        public var messagesAccepted: UInt64 = 0
        /// Messages put into readers' queues.
        public var messagesDelivered: UInt64 = 0
        /// Of them, those that readers were given from what is kept.
        public var messagesRecovered: UInt64 = 0
        /// Packets that got a sequence.
        public var packetsAccepted: UInt64 = 0
        /// Packets put into readers' queues, those included that were shed there later.
        public var packetsQueued: UInt64 = 0
        /// Packets that a reader did not get because it took too little.
        public var packetsShedSlow: UInt64 = 0
        /// Because they had outlived their use.
        public var packetsShedExpired: UInt64 = 0
        /// Because it was catching up.
        public var packetsShedCatchingUp: UInt64 = 0
        /// Because its connection broke.
        public var packetsDiscarded: UInt64 = 0
        /// Packets that nobody got because their publisher was over its rate.
        public var packetsDroppedRate: UInt64 = 0
        /// Messages from user to user that were passed on.
        public var directAccepted: UInt64 = 0
        /// Requests and messages that were refused, for whatever reason.
        public var refusals: UInt64 = 0

        package init() {}
    }

    /// A user with a session.
    public struct User: Codable, Hashable, Sendable {
        /// Id of the user.
        public var user: Name
        /// What its client calls itself.
        public var client: String
        /// Address of its connection; empty while away.
        public var peer: String
        /// Whether it has no connection and others still see it.
        public var away: Bool
        /// For how long it has been here, in milliseconds: over reconnects, and logins that took over.
        public var sessionMs: UInt64
        /// Bytes that wait for it.
        public var queuedBytes: Int
        /// Of them, bytes of packets.
        public var queuedPacketBytes: Int
        /// Packets that it did not get since its session began.
        public var packetsLost: UInt64
        /// For how long something has been waiting for it without a pause, in milliseconds.
        public var backlogMs: UInt64

        package init(
            user: Name, client: String, peer: String, away: Bool, sessionMs: UInt64, queuedBytes: Int, queuedPacketBytes: Int,
            packetsLost: UInt64, backlogMs: UInt64
        ) {
            self.user = user
            self.client = client
            self.peer = peer
            self.away = away
            self.sessionMs = sessionMs
            self.queuedBytes = queuedBytes
            self.queuedPacketBytes = queuedPacketBytes
            self.packetsLost = packetsLost
            self.backlogMs = backlogMs
        }
    }

    /// Since the relay started, in milliseconds.
    public var uptimeMs: UInt64 = 0
    /// Links, logged in or not.
    public var connections = 0
    /// Sessions of the relay.
    public var sessions = Sessions()
    /// Channels of the relay.
    public var channels = Channels()
    /// Message channels that keep something for good …
    public var boards = 0
    /// … and what their records take, in bytes.
    public var boardBytes = 0
    /// Bytes that wait for all readers.
    public var queuedBytes = 0
    /// Shared memory that lagging readers keep alive, in bytes: a piece counts for each of them.
    public var pinnedBytes = 0
    /// What has happened since the relay started.
    public var counters = Counters()
    /// Why nothing can be stored, if so.
    public var storageFailure: String?
    /// Whether the relay knows the user id that was asked about; `nil` if none was.
    public var known: Bool?
    /// Some of those who have a session, in order of their ids.
    public var users: [User] = []
    /// Where the others begin: give it as `after`. `nil` at the end.
    public var next: Name?

    package init() {}
}

/// `status`: a page of users, and whether the relay knows one of them. [AC16]
package struct StatusRequest: Codable, Equatable {
    package var id: UInt32
    package var after: Name?
    /// 1…100.
    package var limit: Int?
    package var user: Name?
    /// Whether the answer is to have the key with which others come in.
    package var joinKey: Bool?

    package init(id: UInt32, after: Name? = nil, limit: Int? = nil, user: Name? = nil, joinKey: Bool? = nil) {
        self.id = id
        self.after = after
        self.limit = limit
        self.user = user
        self.joinKey = joinKey
    }

    package var page: PageRequest { PageRequest(id: id, after: after, limit: limit) }
}

/// Answer to `status`: its fields, the request's id and, if that was asked for, the key in one object.
package struct StatusAnswer: Codable, Equatable {
    package var id: UInt32
    package var status: RelayStatus
    package var joinKey: String?

    private enum CodingKeys: CodingKey { case id, joinKey }

    package init(id: UInt32, status: RelayStatus, joinKey: String? = nil) {
        self.id = id
        self.status = status
        self.joinKey = joinKey
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(UInt32.self, forKey: .id)
        joinKey = try container.decodeIfPresent(String.self, forKey: .joinKey)
        status = try RelayStatus(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        try status.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encodeIfPresent(joinKey, forKey: .joinKey)
    }
}
