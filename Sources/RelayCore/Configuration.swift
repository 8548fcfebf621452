import RelayWire

/// Everything an operator may tune, each default in this one place.
///
/// What the protocol fixes is in `RelayWire/Limits.swift`.
public struct Configuration: Sendable, Hashable {
    // MARK: Sizes and rates (design: "two kinds of channel")

    /// Sizes, rates and counts that clients are told in `welcome`.
    public var limits = ServerLimits()
    /// Requests that may come at one instant, above `limits.requestsPerSecond`. [RT6]
    public var requestsBurst = 400
    /// Attempts of this many times a rate … [RT5]
    public var abuseRateFactor = 10
    /// … in each of this many seconds in a row close the connection with `abuse`. [RT5]
    public var abuseSeconds = 10
    /// Notices to a publisher about dropped packets come at most this often. [RT4]
    public var droppedNoticeInterval = Duration.seconds(1)
    /// Users who may have joined one stream channel. [ST2]
    public var streamChannelUsersMax = 1_000
    /// States of one user in one channel. [PR8]
    public var statesPerUserMax = 32
    /// Channels in which one session may have states, being in them or not. [PR8]
    public var channelsWithStatesMax = 150
    /// Channels that may exist at once. [CH8]
    public var channelsMax = 10_000
    /// A message channel ends this long after its last subscriber and its last message. [CH2]
    public var channelLinger = Duration.seconds(600)
    /// Metadata calls per second of one user, channels' and users' metadata counted apart … [RT7]
    public var metadataCallsPerSecond = 10
    /// … and how many may come at one instant. [RT7]
    public var metadataCallsBurst = 20
    /// Keys and values of all metadata together, in bytes. [MD4]
    public var metadataBytesTotalMax = 256 * 1024 * 1024
    /// User ids that are known to belong to a client; the longest unseen are forgotten first. [AC3]
    public var claimsMax = 100_000
    /// How long a user id belongs to the client that was there last. [AC3]
    public var claimTime = Duration.seconds(24 * 3600)
    /// Users whose role moderators have set. [AC10]
    public var setRolesMax = 10_000
    /// Names of channels that may be frozen at once. [AC11]
    public var frozenChannelsMax = 10_000
    /// Users who may be banned at once. [AC13]
    public var bansMax = 10_000
    /// Erasures that were accepted and are not done: a forgotten user, a removed board. [AC14, BL9]
    public var erasuresMax = 10_000
    /// Before the first wrong credential of a connection is answered; twice as long before each further one … [AC2]
    public var credentialPause = Duration.seconds(1)
    /// … up to this. [AC2]
    public var credentialPauseMax = Duration.seconds(30)
    /// Users whose metadata is kept. [MD4]
    public var userMetadataMax = 10_000
    /// Users whose metadata one session may subscribe to. [MD8]
    public var subscribedUserMetadataMax = 100
    /// A set of metadata that was emptied keeps its major revision for this long. [MD2]
    public var emptyMetadataLinger = Duration.seconds(24 * 3600)
    /// Locks of one channel. [LK1]
    public var locksPerChannelMax = 32
    /// Sessions that may wait for one lock. [LK4]
    public var lockWaitersMax = 100
    /// Links that may be open at once, logged in or not. [SE5]
    public var connectionsMax = 12_000
    /// Those of them that have not logged in: the one that has waited longest makes room for a newcomer. [SE5]
    public var greetingsMax = 2_000
    /// Users with a session, those that are away included. [SE5]
    public var sessionsMax = 20_000

    // MARK: History

    /// Messages that a message channel keeps. [HI1] 0: none.
    public var historyMessagesMax = 1_000
    /// Their frames, in bytes. [HI1]
    public var historyBytesMax = 8 * 1024 * 1024
    /// How long a message is kept. [HI1] At most `channelLinger`.
    public var historyAge = Duration.seconds(600)
    /// What all channels together keep, in bytes. [HI1]
    public var historyBytesTotalMax = 256 * 1024 * 1024
    /// Most messages that one `history` request is answered with. [HI6]
    public var historyPageMessagesMax = 100
    /// Most bytes of them, one message at least. [HI6]
    public var historyPageBytesMax = 512 * 1024
    /// A reader that catches up is given the next block when fewer bytes than this, packets not counted, wait for it … [HI2]
    public var catchUpQueueBytes = 64 * 1024
    /// … of at most this size … [HI2]
    public var catchUpBlockBytes = 64 * 1024
    /// … and all such readers together at most so much between two looks at what others send. [HI2]
    public var catchUpTurnBytes = 1024 * 1024
    /// Client objects of one user, besides the one that has its session, whose publishes are remembered. [MS9]
    public var publishWindowsPerUserMax = 4
    /// The same of all users: beyond it the oldest are forgotten, and what such a one sends again is new. [MS9]
    public var publishWindowsMax = 20_000

    // MARK: Boards

    /// Bytes of one board. [BL7]
    public var boardBytesMax = 256 * 1024 * 1024
    /// Bytes of all boards. [BL7] A server takes what they have at its start and half of what is free then, if that is less. 0: there are none.
    public var boardBytesTotalMax = 4 * 1024 * 1024 * 1024
    /// Boards that may exist. [BL7]
    public var boardsMax = 10_000
    /// Boards that one user may begin in an hour. [BL7]
    public var newBoardsPerHour = 20
    /// Drawings that one client may send in parts at once. [BL8]
    public var draftsMax = 4
    /// A publish that waits for whose record it is to be read waits so long. [BL10]
    public var boardAuthorTimeout = Duration.seconds(10)
    /// Keys of a board whose authors are read at once, and kept while somebody writes there who may write but what is its
    /// own; a board that has more is asked for each key.
    public var boardAuthorKeysMax = 20_000
    /// The same of all boards together: beyond it they are read again.
    public var boardAuthorKeysTotalMax = 400_000
    /// Bytes that may be kept of connections with such a publish; beyond it the next one is refused with `busy`.
    public var heldBytesMax = 16 * 1024 * 1024
    /// Boards that have not changed for so long are removed. `nil`: never.
    public var boardExpiry: Duration?

    // MARK: Sessions

    /// A connection that has not logged in by then is closed. [SE4]
    public var loginTimeout = Duration.seconds(10)
    /// The presence timeout of a login that asks for none. [SE7]
    public var presenceTimeoutDefault = Duration.seconds(10)
    /// Longest heartbeat interval; half the presence timeout if that is shorter. [HB2]
    public var heartbeatMax = Duration.seconds(5)
    /// A deadline that fires later than this shows that the host slept. [HB4]
    public var latenessTolerated = Duration.seconds(1)
    /// A user's rate buckets outlive its session by this. [RT3]
    public var userLinger = Duration.seconds(2)
    /// A direct message that its receiver does not acknowledge in this time is answered `unconfirmed`. [DM4]
    public var directTimeout = Duration.seconds(10)
    /// Direct messages of one sender that wait for their acknowledgement. [DM5]
    public var directPendingMax = 128

    /// Flows that closed which a session is told of again when it resumes: the newest of them. [SE9]
    public var closedFlowsMax = 256

    // MARK: Storage

    /// Whether changes are revealed only when `Event.persisted` says that they are durable. [SG1]
    package var isJournaled = false
    /// Bytes of changes that may wait for the journal; beyond it changes are refused with `busy`. [SG3]
    public var unjournaledBytesMax = 16 * 1024 * 1024
    /// After an expiry that could not be stored, the next attempt comes this much later.
    public var expiryRetry = Duration.seconds(1)

    // MARK: Presence

    /// Above this many members a channel's presence turns to intervals … [PR6]
    public var presenceIntervalAbove = 50
    /// … and back below this many. [PR6]
    public var presenceIntervalBelow = 40
    /// Time between two `interval` events. [PR6]
    public var presenceInterval = Duration.seconds(5)
    /// Between frames of one `interval` that is too long for a single one. [PR6]
    public var presenceFrameInterval = Duration.milliseconds(250)
    /// In interval mode a leave and a join within this time cancel out. [PR7]
    public var presenceFlapWindow = Duration.seconds(2)

    // MARK: Delivery

    /// Packets queued for one reader, in bytes; above it packets are shed to half of it. [DL4]
    public var packetBacklogBytesMax = 256 * 1024
    /// Age at which a queued packet is shed, unless its topic has a shorter lifetime. [DL4]
    public var packetLifetime = Duration.seconds(1)
    /// Reliable bytes queued for one reader that close it at once. [DL8]
    public var reliableBacklogBytesHard = 8 * 1024 * 1024
    /// Reliable bytes queued for one reader that close it when they stay for `slowConsumerAfter`. [DL8]
    public var reliableBacklogBytesSoft = 2 * 1024 * 1024
    /// How long the soft limit may be passed without a pause. [DL8]
    public var slowConsumerAfter = Duration.seconds(10)
    /// Shared memory that one reader's queue may keep alive before the rest is copied for it alone. [DL9]
    public var pinnedBytesPerSessionMax = 1024 * 1024
    /// Queue memory of all readers; beyond it the one that holds most is closed. [DL9]
    public var queueBytesTotalMax = 256 * 1024 * 1024
    /// A queue segment older than this many of its channel's chunks is copied for its reader alone. [DL9]
    public var sharedChunksPerChannelMax = 4
    /// Smallest and largest chunk.
    public var chunkBytesMin = 4 * 1024
    /// A channel's chunks grow up to this with its traffic.
    public var chunkBytesMax = 256 * 1024
    /// How long a closing link gets to take its farewell.
    public var farewellLinger = Duration.milliseconds(500)
    /// How long links get at shutdown to take what is queued for them.
    public var shutdownLinger = Duration.seconds(5)

    /// The defaults.
    public init() {}

    /// `catchUpQueueBytes` and `catchUpBlockBytes` as they are used: both together fit below the bound at which a reader
    /// begins to be slow, however small an operator made it. Otherwise it would be closed for what it is given. [HI2, DL8]
    var catchUpQueueBytesInUse: Int { min(catchUpQueueBytes, max(1, reliableBacklogBytesSoft / 2)) }
    var catchUpBlockBytesInUse: Int { min(catchUpBlockBytes, reliableBacklogBytesSoft / 2) }
}
