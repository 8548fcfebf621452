/// Numbers that the protocol fixes. Those that a relay tells its clients at login (32 KB, 60/s, …) are in `ServerLimits.swift`, what
/// else an operator may tune in `RelayCore/Configuration.swift`.
///
/// `docs/protocol.md` has the same numbers in its table of limits; a test compares the two.
package enum Limits {
    /// The protocol version this library speaks. [SE2]
    public static let protocolVersion = 1
    /// The port on which a relay listens unless told otherwise: TCP frames, HTTP and WebSocket share it.
    public static let defaultPort: UInt16 = 7420

    /// Length (4), type (1) and flags (1) before each body. [FR1]
    public static let frameHeadBytes = 6
    /// Largest body of any frame; a longer one ends the connection as soon as its head is read. [FR3]
    public static let frameBodyBytesMax = 80 * 1024
    /// Entries of the extensions of a frame, in bytes. [FR9]
    public static let extensionBytesMax = 1024
    /// Largest JSON body. [JS1]
    public static let jsonBodyBytesMax = 16 * 1024
    /// Deepest nesting of a JSON body, the outer object counted. [JS4]
    public static let jsonDepthMax = 8
    /// Largest magnitude of an integer in JSON, and the largest offset and publish number. [JS3]
    public static let integerMax: UInt64 = (1 << 53) - 1
    /// Bytes a connection may send before it has logged in, heads included. [SE4]
    public static let bytesBeforeLoginMax = frameHeadBytes + jsonBodyBytesMax
    /// Longest key of a login, in bytes. [AC1]
    public static let keyBytesMax = 128
    /// Wrong credentials that one connection may try. [AC2]
    public static let wrongCredentialsMax = 3
    /// How long before the end of a token its session is told, in milliseconds. [AC8]
    public static let accessNoticeMilliseconds: UInt64 = 30_000
    /// Longest reason that a moderator gives for the end of a session, in bytes. [AC12]
    public static let endReasonBytesMax = 256
    /// Longest address of another relay that a client is told, in bytes. [SE17]
    package static let addressBytesMax = 300
    /// Shortest and longest time of a ban that ends by itself: a second, a year, in milliseconds. [AC13]
    public static let banMilliseconds = 1_000...31_536_000_000

    /// Longest name of a user, channel, topic, state key or lock, in bytes. [NM1]
    public static let nameBytesMax = 64
    /// How long a relay remembers the outcome of a client object's publishes after its session, in milliseconds. [MS9]
    public static let publishMemoryMilliseconds = 600_000
    /// Publishes that a relay remembers of each client object: at least twice as many as may be unanswered. [MS9]
    public static let publishWindowMax = 256
    /// Numberings of a channel with a board that are remembered over restarts. [BL5]
    public static let boardEpochsMax = 64
    /// Most removals of a board that a returning reader is told. [BL4]
    public static let boardMarkersMax = 5_000
    /// Days for which a removal is remembered. [BL4]
    public static let boardMarkerDays = 7
    /// How long a `clear` can be undone, in milliseconds. [BL6]
    public static let undoMilliseconds = 600_000
    /// How long the parts of a drawing wait for the next one, in milliseconds. [BL8]
    public static let partTimeoutMilliseconds = 30_000
    /// Changes in one part of a change set. [BL11]
    public static let changesPerPartMax = 64
    /// Changes in a whole change set. [BL11]
    public static let changesMax = 4_096
    /// How often at most a credit that has grown is told. [RT8]
    public static let creditIntervalMilliseconds = 100
    /// Channels of one client object in which a publish was refused and `goOn` has not come. [MS10]
    public static let refusedChannelsMax = 64
    /// Barriers of one connection that are not answered. [HI8]
    public static let barriersMax = 8
    /// Longest custom type of a message, in bytes. [MS2]
    public static let customTypeBytesMax = 32
    /// Longest `meta` text that a publisher attaches to its stay in a topic, in bytes. [ST3]
    public static let topicMetaBytesMax = 256
    /// Shortest and longest lifetime a topic's publisher may ask for, in milliseconds. [ST3]
    public static let packetLifetimeMilliseconds = 50...1000
    /// Keys plus values of one user's states in one channel, in bytes. [PR8]
    public static let statesBytesMax = 2 * 1024
    /// Keys plus values of one set of metadata, in bytes. [MD4]
    public static let metadataBytesMax = 64 * 1024
    /// Items of one set of metadata. [MD4]
    public static let metadataItemsMax = 1_000
    /// What an item of metadata counts among all of a relay besides its key and value, in bytes. [MD4]
    public static let metadataItemOverheadBytes = 512
    /// Values that one page of metadata may reach before it continues in another frame, in bytes.
    public static let metadataPageBytes = 60 * 1024
    /// Shortest and longest time that a lock may outlive its owner's last connection, in milliseconds. [LK2]
    public static let lockTTLMilliseconds = 1_000...300_000
    /// The `ttl` of a `setLock` that names none, in milliseconds. [LK2]
    public static let lockTTLMillisecondsDefault = 10_000
    /// Longest time to wait for a lock, in milliseconds. [LK4]
    public static let lockWaitMilliseconds = 1...300_000
    /// Most members in a presence snapshot or in one page of `who`. [PR3]
    public static let membersPerPageMax = 100
    /// Most addresses in an answer to `status`. [AC16]
    public static let addressesPerStatusMax = 10
    /// Users that one `subscribeTopic` selection may list. [ST8]
    public static let listedUsersMax = 64
    /// Users that one `subscribeTopic` or `unsubscribeTopic` may name: each comes back with a code, and the answer is one
    /// frame. [ST7]
    public static let usersPerRequestMax = 1_000
    /// Body bytes that a list in a JSON answer or event may reach before it continues in another frame.
    public static let jsonPageBytes = 12 * 1024

    /// Shortest and longest presence timeout that a login may ask for, in milliseconds. [SE7]
    public static let presenceTimeoutMilliseconds = 5_000...300_000
    /// Fewest and most packets a second that a reader may say it takes. [DL11]
    public static let readerPacketsPerSecond = 1...10_000
    /// Fewest and most bytes of packet frames a second that a reader may say it takes. [DL11]
    public static let readerBytesPerSecond = 1_024...1_000_000_000
    /// Fewest and most bytes of packets that a reader may let wait. [DL11]
    public static let readerWaitingBytes = 16_384...262_144
    /// Characters of a code for another device. [AC17]
    public static let deviceCodeCharacters = 10
    /// Letters of a join code. [AC20]
    public static let joinCodeLetters = 6
    /// Free text by which a client names itself to operators, in bytes. [SE2]
    public static let clientDescriptionBytesMax = 64
    /// Largest token, in bytes: it must fit into `bytesBeforeLoginMax` with the rest of its `login`.
    public static let tokenBytesMax = 3 * 1024
    /// Channel patterns that the grants of one token may name.
    public static let tokenGrantsMax = 64
    /// Shortest and longest secret that signs tokens, in bytes: no shorter than a digest of SHA-256 (RFC 7518 §3.2).
    public static let tokenSecretBytes = 32...1024
    /// Ranges in one `lost` frame. [DL6]
    public static let lostRangesPerFrameMax = 4_096
    /// Bytes of a ping that its pong repeats. [HB1]
    public static let pingBytesMax = 8
}
