import RelayWire

/// What an operator may tune, with its default.
///
/// The defaults that clients are told at login (32 KB, 60/s, …) are in `RelayWire/ServerLimits.swift`, what the protocol fixes in
/// `RelayWire/Limits.swift`.
public struct Configuration: Sendable {
    // MARK: Sizes and rates

    /// Sizes, rates and counts that clients are told in `welcome`.
    public var limits = ServerLimits()
    /// Requests that may come at one instant, above `limits.requestsPerSecond`. [RT6]
    public var requestsBurst = 400
    /// Attempts at this many times a rate, for `abuseSeconds`, close the connection with `abuse`. [RT5]
    public var abuseRateFactor = 10
    /// How many seconds in a row of such attempts close it. [RT5]
    public var abuseSeconds = 10
    /// A publisher is told of dropped packets at most this often. [RT4]
    public var droppedNoticeInterval = Duration.seconds(1)
    /// Users in one stream channel. [ST2]
    public var streamChannelUsersMax = 1_000
    /// Bytes of the entries of a stream channel's publishers in its `topics` snapshot. [ST2]
    public var publisherBytesPerChannelMax = 512 * 1024
    /// States of one user in one channel. [PR8]
    public var statesPerUserMax = 32
    /// Channels in which one session may have states, even without being in them. [PR8]
    public var channelsWithStatesMax = 150
    /// Channels that may exist at once. [CH8]
    public var channelsMax = 10_000
    /// A message channel ends this long after its last subscriber and its last message. [CH2]
    public var channelLinger = Duration.seconds(600)
    /// Metadata calls of one user a second; channels' and users' metadata count apart. [RT7]
    public var metadataCallsPerSecond = 10
    /// Metadata calls that may come at one instant. [RT7]
    public var metadataCallsBurst = 20
    /// Keys, values and 512 bytes for each item of all metadata together. [MD4]
    public var metadataBytesTotalMax = 256 * 1024 * 1024
    /// Channels that one user may make a second. [RT9]
    public var newChannelsPerSecond = 20
    /// Channels that one user may make at one instant. [RT9]
    public var newChannelsBurst = 300
    /// Channels that users from one address may make a second. [RT9]
    public var newChannelsOfAddressPerSecond = 100
    /// Channels that users from one address may make at one instant. [RT9]
    public var newChannelsOfAddressBurst = 2_500
    /// New user ids with a key from one address a second. [RT9]
    public var newIDsPerSecond = 10
    /// New user ids with a key from one address at one instant. [RT9]
    public var newIDsBurst = 1_000
    /// User ids that belong to a client. [AC3]
    public var claimsMax = 100_000
    /// How long a user id belongs to the client that was there last. [AC3]
    public var claimTime = Duration.seconds(24 * 3600)
    /// Users whose role moderators have set. [AC10]
    public var setRolesMax = 10_000
    /// Names of channels that may have a mode at once. [AC11]
    public var channelModesMax = 10_000
    /// Most banned users at once. [AC13]
    public var bansMax = 10_000
    /// Erasures that were accepted and are not done: a forgotten user, a removed board. [AC14, BL9]
    public var erasuresMax = 10_000
    /// Pause before the first wrong credential of a connection is answered; it doubles with each further one. [AC2]
    public var credentialPause = Duration.seconds(1)
    /// Longest such pause. [AC2]
    public var credentialPauseMax = Duration.seconds(30)
    /// Wrong credentials from one address a second; while there are more, its keys and codes are judged late. [AC2]
    public var guessesPerSecond = 1
    /// Wrong credentials from one address at one instant. [AC2]
    public var guessesBurst = 10
    /// How late they are judged. [AC2]
    public var guessDelay = Duration.seconds(2)
    /// Users whose metadata is kept. [MD4]
    public var userMetadataMax = 10_000
    /// Users whose metadata one session may subscribe to. [MD8]
    public var subscribedUserMetadataMax = 100
    /// A set of metadata that was emptied keeps its major revision for this long. [MD2]
    public var emptyMetadataLinger = Duration.seconds(24 * 3600)
    /// Locks of one channel. [LK1]
    public var locksPerChannelMax = 32
    /// Locks of all channels. [LK1]
    public var locksTotalMax = 50_000
    /// Sessions that may wait for one lock. [LK4]
    public var lockWaitersMax = 100
    /// Links that may be open at once, logged in or not. [SE5]
    public var connectionsMax = 12_000
    /// Most open links without a login. Beyond it the link that has waited longest is closed. [SE5]
    public var greetingsMax = 2_000
    /// Devices of one user that may have a session. [SE8]
    public var devicesPerUserMax = 8
    /// Places that an address may have while one is left, however few these are. [SE5]
    public var addressPlacesMin = 64
    /// How long a code for another device holds. [AC17]
    public var deviceCodeValid = Duration.seconds(120)
    /// How long a join code holds. [AC20]
    public var joinCodeValid = Duration.seconds(1_800)
    /// Join codes that may be there at once. [AC20]
    public var joinCodesMax = 32
    /// Wrong join codes that are judged in a minute, from one address; what comes beyond them is refused unjudged. [AC20]
    public var wrongJoinCodesOfAddressMax = 5
    /// The same from all addresses. [AC20]
    public var wrongJoinCodesMax = 60
    /// Wrong join codes that void each code that is there meanwhile. [AC20]
    public var wrongJoinCodesPerCodeMax = 300
    /// Most devices of a user with a session, absent ones included. [SE5]
    public var sessionsMax = 20_000

    /// Memory that sessions may take with what they hold: channels they are in, topics, selections, states, closed flows. [SE15]
    public var sessionMemoryMax = 128 * 1024 * 1024

    // MARK: History

    /// Messages that a message channel keeps; 0: none. [HI1]
    public var historyMessagesMax = 1_000
    /// Bytes of these messages' frames. [HI1]
    public var historyBytesMax = 8 * 1024 * 1024
    /// How long a message is kept, at most `channelLinger`. [HI1]
    public var historyAge = Duration.seconds(600)
    /// Bytes that all channels keep together, with 256 for each message. [HI1]
    public var historyBytesTotalMax = 128 * 1024 * 1024
    /// Most messages in the answer to one `history` request. [HI6]
    public var historyPageMessagesMax = 100
    /// Most bytes in that answer, but one message at least. [HI6]
    public var historyPageBytesMax = 512 * 1024
    /// A reader that catches up is given its next block when fewer bytes than this wait for it, packets not counted. [HI2]
    public var catchUpQueueBytes = 64 * 1024
    /// Largest such block. [HI2]
    public var catchUpBlockBytes = 64 * 1024
    /// Memory of blocks of boards on their way to such readers. Beyond it a reader waits for its block; one that takes nothing for 100 ms
    /// while others wait has it read again. [HI2]
    public var boardBlocksBytesMax = 16 * 1024 * 1024
    /// Bytes that all such readers get together between two looks at what others send. [HI2]
    public var catchUpTurnBytes = 1024 * 1024
    /// Client objects of one device whose publishes are remembered, besides the one that has its session. [MS9]
    public var publishWindowsPerDeviceMax = 4
    /// Memory of remembered publishes. Beyond it the relay forgets the oldest, first of an address that has over a quarter. [MS9]
    public var publishWindowBytesMax = 8 * 1024 * 1024

    // MARK: Boards

    /// Bytes of one board. [BL7]
    public var boardBytesMax = 256 * 1024 * 1024
    /// Records of one board. [BL7]
    public var boardRecordsMax = 500_000
    /// Bytes of all boards; 0: no boards. A server takes their size at its start and half of the free space, if that is less.
    /// [BL7]
    public var boardBytesTotalMax = 4 * 1024 * 1024 * 1024
    /// Boards that may exist. [BL7]
    public var boardsMax = 10_000
    /// Boards that one user may begin in an hour. [BL7]
    public var newBoardsPerHour = 20
    /// Drawings that one client may send in parts at once. [BL8]
    public var draftsMax = 4
    /// Bytes of all change sets whose last part has not come; beyond it a part is refused with `busy`. [BL11]
    public var stagedBytesMax = 48 * 1024 * 1024
    /// How long a publish waits until the author of its record is read. [BL10]
    public var boardAuthorTimeout = Duration.seconds(10)
    /// Keys of a board whose authors are read at once, and kept while a user without the right `revise` writes there; a larger
    /// board is asked for each key.
    public var boardAuthorKeysMax = 20_000
    /// Memory of all keys whose author is known; beyond it they are read again. [BL10]
    public var authorMemoryMax = 8 * 1024 * 1024
    /// Boards that have not changed for this long are removed. `nil`: never.
    public var boardExpiry: Duration?

    // MARK: Sessions

    /// Whose logins it takes. Stays when others hold.
    package var part = RelayPart.whole
    /// A connection that has not logged in within this time is closed. [SE4]
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

    /// Newest closed flows that a resuming session is told again. [SE9]
    public var closedFlowsMax = 256

    // MARK: Storage

    /// Whether changes are revealed only when `Event.persisted` says that they are durable. [SG1]
    package var isJournaled = false
    /// Bytes of changes that may wait for the journal; beyond it changes are refused with `busy`. [SG3]
    public var unjournaledBytesMax = 16 * 1024 * 1024
    /// Bytes of memory that say where the records of boards in use stand in their files. Beyond it the board that was used longest ago
    /// is read again before it is used.
    public var boardIndexBytesMax = 128 * 1024 * 1024
    /// After an expiry that could not be stored, the next attempt comes this much later.
    public var expiryRetry = Duration.seconds(1)

    // MARK: Presence

    /// Above this many members a channel's presence comes in intervals. [PR6]
    public var presenceIntervalAbove = 50
    /// Below this many members it comes in single events again. [PR6]
    public var presenceIntervalBelow = 40
    /// Time between two `interval` events. [PR6]
    public var presenceInterval = Duration.seconds(5)
    /// Time between the frames of one `interval` that is too long for a single one. [PR6]
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
    /// Queue memory of all readers. Beyond it the relay closes the reader that holds most. [DL9]
    public var queueBytesTotalMax = 256 * 1024 * 1024
    /// A queue segment older than this many of its channel's chunks is copied for its reader alone. [DL9]
    public var sharedChunksPerChannelMax = 4
    /// What requests are answered with in one turn, in bytes. [DL12]
    public var requestTurnBytes = 128 * 1024
    /// Of it, on one connection. [DL12]
    public var requestShareBytes = 64 * 1024
    /// A request waits while more than this waits for its connection, packets not counted. [DL12]
    public var requestBacklogBytes = 1024 * 1024
    /// Bytes of waiting frames behind which a connection is not read. [DL12]
    public var heldBytesPerConnection = 128 * 1024
    /// The same of all connections; beyond it what would have to wait is refused with `busy`. [DL12, BL10]
    public var heldBytesMax = 16 * 1024 * 1024
    /// Bytes of all frames that have not come whole; beyond it the connection closes whose frame has been under way longest. [FR2]
    public var unfinishedBytesMax = 16 * 1024 * 1024
    /// Smallest chunk of a queue.
    public var chunkBytesMin = 4 * 1024
    /// Largest chunk: a channel's chunks grow up to this with its traffic.
    public var chunkBytesMax = 256 * 1024
    /// How long a closing link may take to receive its last frame.
    public var farewellLinger = Duration.milliseconds(500)
    /// How long links may take at shutdown to receive what is queued for them.
    public var shutdownLinger = Duration.seconds(5)

    /// The defaults: those of a relay that may take a gibibyte of memory.
    public init() {}

    /// The defaults, with each bound on what is held a share of all memory that the relay may take for it.
    ///
    /// - Parameter memory: bytes, at least 16 MiB.
    public init(memory: Int) {
        let part = max(memory, 16 * 1024 * 1024) / 64
        queueBytesTotalMax = 16 * part
        historyBytesTotalMax = 8 * part
        metadataBytesTotalMax = 16 * part
        boardIndexBytesMax = 8 * part
        boardRecordsMax = min(500_000, boardIndexBytesMax / 256)
        sessionMemoryMax = 8 * part
        stagedBytesMax = 3 * part
        boardBlocksBytesMax = part
        heldBytesMax = part
        unfinishedBytesMax = part
        unjournaledBytesMax = part
        publishWindowBytesMax = part / 2
        authorMemoryMax = part / 2
        boardAuthorKeysMax = min(20_000, authorMemoryMax / 256)
    }

    /// `publisherBytesPerChannelMax` as it is used: a newcomer behind all waiting answers is no slow reader by that alone.
    /// [DL8, DL12]
    var publisherBytesInUse: Int { min(publisherBytesPerChannelMax, reliableBacklogBytesSoft / 4) }

    /// `catchUpQueueBytes` and `catchUpBlockBytes` as they are used: both together fit below the bound at which a reader
    /// begins to be slow, however small an operator made it. Otherwise it would be closed for what it is given. [HI2, DL8]
    var catchUpQueueBytesInUse: Int { min(catchUpQueueBytes, max(1, reliableBacklogBytesSoft / 2)) }
    var catchUpBlockBytesInUse: Int { min(catchUpBlockBytes, reliableBacklogBytesSoft / 2) }
}
