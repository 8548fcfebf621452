import RelayMonitoring
import RelayPrimitives
public import RelayWire

/// The hub counted, at one moment: for `boardrelay status`, for tests that nothing is left behind, and for metrics.
///
/// Every array is sorted.
public struct Census: JSONObject, Sendable {
    /// One channel of either kind.
    public struct Channel: JSONObject, Sendable {
        /// `message` or `stream`.
        public var kind = ""
        /// Its name.
        public var name = ""
        /// Sessions inside, quiet ones among them.
        public var subscribers = 0
        /// Visible users: subscribers without the quiet ones.
        public var members = 0
        /// Topics with a publisher.
        public var topics = 0
        /// Publishers over all topics.
        public var flows = 0
        /// Offset of the newest message.
        public var head: UInt64 = 0

        package init() {}

        package mutating func fields(_ json: inout JSONFields) {
            json("flows", &flows)
            json("head", &head)
            json("kind", &kind)
            json("members", &members)
            json("name", &name)
            json("subscribers", &subscribers)
            json("topics", &topics)
        }
    }

    /// Addresses that make the relay hold most, most first, ten at most. [AC16]
    public var addresses: [RelayStatus.Address] = []
    /// Number of this start of the relay: greater at each.
    public var start: UInt32 = 0
    /// Links, logged in or not.
    public var connections = 0
    /// As many as there may be.
    public var connectionsMax = 0
    /// Sessions with a connection.
    public var sessionsPresent = 0
    /// Sessions without one that others still see.
    public var sessionsAway = 0
    /// User ids that belong to a client. [AC3]
    public var userIDs = 0
    /// Users known, those included whose session has just ended.
    public var users = 0
    /// Moments at which the hub wants to be woken.
    public var deadlines = 0
    /// Memory that sessions take with what they hold, as it is counted, in bytes.
    public var sessionMemoryBytes = 0
    /// Memory of what is remembered of publishes of client objects without a session, as it is counted, in bytes. [MS9]
    public var publishMemoryBytes = 0
    /// Memory that channels take besides what is in them, as it is counted, in bytes. Their number bounds it.
    public var channelMemoryBytes = 0
    /// Bytes of frames that have not come whole.
    public var unfinishedBytes = 0
    /// Memory of authors of boards' keys, as it is counted, in bytes. [BL10]
    public var authorMemoryBytes = 0
    /// Memory of blocks of boards on their way to readers, as it is counted, in bytes. [HI2]
    public var blockMemoryBytes = 0
    /// Bytes of parts that wait for the last of their change set, and 64 for each. [BL11]
    public var stagedBytes = 0
    /// Bytes of frames that wait for their turn, or for a file.
    public var heldBytes = 0
    /// Frames that had to wait for their turn, so far.
    public var framesHeld: UInt64 = 0
    /// Channels and users with metadata.
    public var metadataSets = 0
    /// Keys and values of all metadata, and 512 for each item.
    public var metadataBytes = 0
    /// Locks of all channels.
    public var locks = 0
    /// Users whose role a moderator has set.
    public var setRoles = 0
    /// Names of channels that are frozen.
    public var frozenChannels: [String] = []
    /// Names of channels that are open for editing.
    public var openChannels: [String] = []
    /// Banned users, including expired bans that the relay has not looked at since.
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
    /// Memory of all chunks, shared and private, and of what points into them, in bytes.
    public var queueMemoryBytes = 0
    /// Present and away, in order of user id.
    public var sessions: [RelayStatus.User] = []
    /// In order of name.
    public var channels: [Channel] = []
    /// What has happened since the start.
    public var counters = Counters()

    package init() {}

    package mutating func fields(_ json: inout JSONFields) {
        json("addresses", &addresses)
        json("authorMemoryBytes", &authorMemoryBytes)
        json("bans", &bans)
        json("blockMemoryBytes", &blockMemoryBytes)
        json("boardBytes", &boardBytes)
        json("boardRecords", &boardRecords)
        json("boards", &boards)
        json("catchingUp", &catchingUp)
        json("changesUnjournaledBytes", &changesUnjournaledBytes)
        json("changesUnrevealed", &changesUnrevealed)
        json("channelMemoryBytes", &channelMemoryBytes)
        json("channels", &channels)
        json("connections", &connections)
        json("connectionsMax", &connectionsMax)
        json("counters", &counters)
        json("deadlines", &deadlines)
        json("framesHeld", &framesHeld)
        json("frozenChannels", &frozenChannels)
        json("heldBytes", &heldBytes)
        json("historyBytes", &historyBytes)
        json("historyMessages", &historyMessages)
        json("locks", &locks)
        json("messageChannels", &messageChannels)
        json("metadataBytes", &metadataBytes)
        json("metadataSets", &metadataSets)
        json("openChannels", &openChannels)
        json("pinnedBytes", &pinnedBytes)
        json("publishMemoryBytes", &publishMemoryBytes)
        json("queueMemoryBytes", &queueMemoryBytes)
        json("queuedBytes", &queuedBytes)
        json("sessionMemoryBytes", &sessionMemoryBytes)
        json("sessions", &sessions)
        json("sessionsAway", &sessionsAway)
        json("sessionsPresent", &sessionsPresent)
        json("setRoles", &setRoles)
        json("stagedBytes", &stagedBytes)
        json("start", &start)
        json("storageFailure", &storageFailure)
        json("streamChannels", &streamChannels)
        json("unfinishedBytes", &unfinishedBytes)
        json("userIDs", &userIDs)
        json("users", &users)
    }
}

/// What has happened since the start. Each only grows.
public struct Counters: JSONObject, Sendable {
    /// Links that came.
    public var connectionsOpened: UInt64 = 0
    /// Logins that began a session.
    public var sessionsOpened: UInt64 = 0
    /// Logins that continued one.
    public var sessionsResumed: UInt64 = 0
    /// Sessions that ended because nobody came back in time.
    public var sessionsTimedOut: UInt64 = 0
    /// Wrong credentials of logins and renewals, and wrong operators' tokens. [AC2, HT9]
    public var credentialsWrong: UInt64 = 0
    /// Keys and codes that were judged late, right or wrong. [AC2]
    public var credentialsDelayed: UInt64 = 0
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
    /// Refusals by the code's name.
    public var refusals = [String: UInt64]()
    /// Connections that the hub closed, by the code's name.
    public var closes = [String: UInt64]()

    package init() {}

    package mutating func fields(_ json: inout JSONFields) {
        json("changeSetsEnded", &changeSetsEnded)
        json("changesAccepted", &changesAccepted)
        json("closes", &closes)
        json("connectionsOpened", &connectionsOpened)
        json("credentialsDelayed", &credentialsDelayed)
        json("credentialsWrong", &credentialsWrong)
        json("directAccepted", &directAccepted)
        json("directConfirmed", &directConfirmed)
        json("drawingsEnded", &drawingsEnded)
        json("erasuresRefused", &erasuresRefused)
        json("messagesAccepted", &messagesAccepted)
        json("messagesDelivered", &messagesDelivered)
        json("messagesRecovered", &messagesRecovered)
        json("moderations", &moderations)
        json("packetsAccepted", &packetsAccepted)
        json("packetsDiscarded", &packetsDiscarded)
        json("packetsDroppedRate", &packetsDroppedRate)
        json("packetsQueued", &packetsQueued)
        json("packetsShedCatchingUp", &packetsShedCatchingUp)
        json("packetsShedExpired", &packetsShedExpired)
        json("packetsShedReader", &packetsShedReader)
        json("packetsShedSlow", &packetsShedSlow)
        json("presenceEvents", &presenceEvents)
        json("refusals", &refusals)
        json("sessionsOpened", &sessionsOpened)
        json("sessionsResumed", &sessionsResumed)
        json("sessionsTimedOut", &sessionsTimedOut)
        json("storageFailures", &storageFailures)
    }
}

/// How long readers' queues took to empty, counted by size.
package struct DelayCounts: Sendable {
    /// Upper bounds in seconds, rising; what took longer than all of them is counted behind the last.
    package static let bounds: [Double] = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5]

    /// Times between a bound and the one before it.
    package private(set) var counts = [UInt64](repeating: 0, count: bounds.count + 1)
    /// Of all times, in seconds.
    package private(set) var seconds = 0.0

    mutating func observe(_ time: Duration) {
        let value = Double(time.nanoseconds) / 1e9
        var index = 0
        while index < Self.bounds.count, value > Self.bounds[index] { index += 1 }
        counts[index] += 1
        seconds += value
    }
}

/// What the outbox counts of the hub's `Counters`.
struct OutboxCounts {
    /// Queues into which shared frames went. [DL12]
    var receiversReached = 0
    var packetsQueued: UInt64 = 0
    var packetsShedSlow: UInt64 = 0
    var packetsShedExpired: UInt64 = 0
    var packetsShedReader: UInt64 = 0
    var packetsDiscarded: UInt64 = 0
    var delays = DelayCounts()
}
