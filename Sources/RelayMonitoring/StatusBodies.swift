import RelayWire

/// What a moderator sees of a relay at one moment.
///
/// Rates are differences of two of these: the relay keeps none.
public struct RelayStatus: JSONObject, Equatable, Sendable {  // [AC16]
    /// Sessions of the relay.
    public struct Sessions: JSONObject, Equatable, Sendable {
        /// With a connection.
        public var present = 0
        /// Without one, and still there for others.
        public var away = 0

        package init() {}

        package init(present: Int = 0, away: Int = 0) { (self.present, self.away) = (present, away) }

        package mutating func fields(_ json: inout JSONFields) {
            json("away", &away)
            json("present", &present)
        }
    }

    /// Channels of the relay.
    public struct Channels: JSONObject, Equatable, Sendable {
        /// Of the kind for messages.
        public var message = 0
        /// Of the kind for packets.
        public var stream = 0

        package init() {}

        package init(message: Int = 0, stream: Int = 0) { (self.message, self.stream) = (message, stream) }

        package mutating func fields(_ json: inout JSONFields) {
            json("message", &message)
            json("stream", &stream)
        }
    }

    /// What has happened since the relay started. Each only grows.
    public struct Counters: JSONObject, Equatable, Sendable {
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
        /// Because they were more than it has said that it takes.
        public var packetsShedReader: UInt64 = 0
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
        /// Wrong keys, tokens and codes, also those whose senders did not wait to be refused.
        public var credentialsWrong: UInt64 = 0

        package init() {}

        package mutating func fields(_ json: inout JSONFields) {
            json("credentialsWrong", &credentialsWrong)
            json("directAccepted", &directAccepted)
            json("messagesAccepted", &messagesAccepted)
            json("messagesDelivered", &messagesDelivered)
            json("messagesRecovered", &messagesRecovered)
            json("packetsAccepted", &packetsAccepted)
            json("packetsDiscarded", &packetsDiscarded)
            json("packetsDroppedRate", &packetsDroppedRate)
            json("packetsQueued", &packetsQueued)
            json("packetsShedCatchingUp", &packetsShedCatchingUp)
            json("packetsShedExpired", &packetsShedExpired)
            json("packetsShedReader", &packetsShedReader)
            json("packetsShedSlow", &packetsShedSlow)
            json("refusals", &refusals)
        }
    }

    /// A device of a user with a session.
    public struct User: JSONObject, Equatable, Sendable {
        /// Id of the user.
        public var user = ""
        /// Which of the user's: 16 hexadecimal digits.
        public var device = ""
        /// What its client calls itself.
        public var client = ""
        /// Address of its connection; empty while away.
        public var peer = ""
        /// Whether it has no connection and others still see it.
        public var away = false
        /// For how long it has been here: over reconnects, and logins that took over.
        public var session = Duration.zero
        /// Memory that it makes the relay hold, in bytes: its stays in channels, flows, selections, states.
        public var memoryBytes = 0  // [SE15]
        /// Bytes that wait for it.
        public var queuedBytes = 0
        /// Of them, bytes of packets.
        public var queuedPacketBytes = 0
        /// Packets that it did not get since its session began.
        public var packetsLost: UInt64 = 0
        /// For how long something has been waiting for it without a pause.
        public var backlog = Duration.zero

        package init() {}

        package mutating func fields(_ json: inout JSONFields) {
            json("away", &away)
            json.milliseconds("backlogMs", &backlog)
            json("client", &client)
            json("device", &device)
            json("memoryBytes", &memoryBytes)
            json("packetsLost", &packetsLost)
            json("peer", &peer)
            json("queuedBytes", &queuedBytes)
            json("queuedPacketBytes", &queuedPacketBytes)
            json.milliseconds("sessionMs", &session)
            json.name("user", &user)
        }
    }

    /// An address, and what it makes the relay hold.
    public struct Address: JSONObject, Equatable, Sendable {
        /// An IPv4 address, the first 64 bits of an IPv6 address as `2001:db8:0:7::/64`, or `this machine`.
        public var address = ""
        /// Sessions that came from it.
        public var sessions = 0
        /// Memory that is charged to it, in bytes: of its sessions, the metadata that it wrote last, and what waits.
        public var memoryBytes = 0  // [SE15, MD4]

        package init() {}

        package init(address: String, sessions: Int, memoryBytes: Int) {
            (self.address, self.sessions, self.memoryBytes) = (address, sessions, memoryBytes)
        }

        package mutating func fields(_ json: inout JSONFields) {
            json("address", &address)
            json("memoryBytes", &memoryBytes)
            json("sessions", &sessions)
        }
    }

    /// Since the relay started.
    public var uptime = Duration.zero
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
    /// Those that make the relay hold most, most first, ten at most; only where the users begin.
    public var addresses: [Address] = []
    /// Why nothing can be stored, if so.
    public var storageFailure: String?
    /// Whether the relay knows the user id that was asked about; `nil` if none was.
    public var known: Bool?
    /// A page of the users with a session, in order of their ids.
    public var users: [User] = []
    /// Where the others begin: give it as `after`. `nil` at the end.
    public var next: String?

    package init() {}

    package mutating func fields(_ json: inout JSONFields) { fields(&json) { _ in } }

    /// - Parameter others: what stands in the same object between `counters` and `known`.
    fileprivate mutating func fields(_ json: inout JSONFields, _ others: (inout JSONFields) -> Void) {
        json("addresses", &addresses)
        json("boardBytes", &boardBytes)
        json("boards", &boards)
        json("channels", &channels)
        json("connections", &connections)
        json("counters", &counters)
        others(&json)
        json("known", &known)
        json.name("next", &next)
        json("pinnedBytes", &pinnedBytes)
        json("queuedBytes", &queuedBytes)
        json("sessions", &sessions)
        json("storageFailure", &storageFailure)
        json.milliseconds("uptimeMs", &uptime)
        json("users", &users)
    }
}

/// A minute of a relay's last hour. [AC16]
package struct StatusSample: JSONObject, Equatable, Sendable {
    /// Sessions with a connection, and those that lag: the most in the minute.
    package var sessions = 0, lagging = 0
    /// What happened in it.
    package var messagesIn = 0, messagesOut = 0, packetsIn = 0, packetsOut = 0, packetsLost = 0, bytesIn = 0, bytesOut = 0
    /// Of the process, and of the data folder's files, which a relay in memory lacks: at its end.
    package var memoryBytes = 0
    package var diskBytes: Int?

    package init() {}

    package mutating func fields(_ json: inout JSONFields) {
        json("bytesIn", &bytesIn)
        json("bytesOut", &bytesOut)
        json("diskBytes", &diskBytes)
        json("lagging", &lagging)
        json("memoryBytes", &memoryBytes)
        json("messagesIn", &messagesIn)
        json("messagesOut", &messagesOut)
        json("packetsIn", &packetsIn)
        json("packetsLost", &packetsLost)
        json("packetsOut", &packetsOut)
        json("sessions", &sessions)
    }
}

/// `status`: a page of users, and whether the relay knows one of them. [AC16]
package struct StatusRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var after: Name?
    /// 1…100.
    package internal(set) var limit: Int?
    package internal(set) var user: Name?
    /// Whether the answer is to have the key with which others come in.
    package internal(set) var joinKey: Bool?
    /// Whether the answer is to have the last hour, and no users.
    package internal(set) var hour: Bool?

    package init() {}

    package init(id: UInt32, after: Name? = nil, limit: Int? = nil, user: Name? = nil, joinKey: Bool? = nil, hour: Bool? = nil) {
        (self.id, self.after, self.limit, self.user, self.joinKey, self.hour) = (id, after, limit, user, joinKey, hour)
    }

    package var page: PageRequest { PageRequest(id: id, after: after, limit: limit) }

    package mutating func fields(_ json: inout JSONFields) {
        json("after", &after)
        json("hour", &hour)
        json("id", &id)
        json("joinKey", &joinKey)
        json("limit", &limit)
        json("user", &user)
    }
}

/// Answer to `status`: its fields, the request's id and, if they were asked for, the key and the last hour in one object.
package struct StatusAnswer: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var status = RelayStatus()
    package internal(set) var joinKey: String?
    package internal(set) var hour: [StatusSample]?

    package init() {}

    package init(id: UInt32, status: RelayStatus, joinKey: String? = nil, hour: [StatusSample]? = nil) {
        (self.id, self.status, self.joinKey, self.hour) = (id, status, joinKey, hour)
    }

    package mutating func fields(_ json: inout JSONFields) {
        status.fields(&json) { json in
            json("hour", &hour)
            json("id", &id)
            json("joinKey", &joinKey)
        }
    }
}
