// JSON bodies of the relay that answer something. [JS5]

package struct Welcome: Codable, Equatable {
    package var id: UInt32
    package var version: Int
    package var user: Name
    /// The relay's handle of this user, as in `deliver`.
    package var handle: UInt32
    package var resumeToken: String
    package var resumed: Bool
    package var lastEnd: CloseNotice?
    package var start: UInt32
    package var heartbeatMs: Int
    package var presenceTimeoutMs: Int
    package var limits: ServerLimits

    package init(
        id: UInt32, user: Name, handle: UInt32, resumeToken: String, resumed: Bool, lastEnd: CloseNotice?,
        start: UInt32, heartbeatMs: Int, presenceTimeoutMs: Int, limits: ServerLimits
    ) {
        self.id = id
        version = Limits.protocolVersion
        self.user = user
        self.handle = handle
        self.resumeToken = resumeToken
        self.resumed = resumed
        self.lastEnd = lastEnd
        self.start = start
        self.heartbeatMs = heartbeatMs
        self.presenceTimeoutMs = presenceTimeoutMs
        self.limits = limits
    }
}

/// The limits this relay is configured with, told in `welcome`. Sizes in bytes, rates per second. [SE6]
public struct ServerLimits: Codable, Hashable, Sendable {
    /// Payload and custom type of a message, in bytes. [MS2]
    public var messageBytesMax = 32_768
    /// Messages of one user in one channel. [RT1]
    public var messagesPerSecond = 60
    /// Payload of a packet, in bytes. [ST5]
    public var packetBytesMax = 1_024
    /// Packets of one user in one topic. [RT1]
    public var packetsPerSecond = 200
    /// Messages of one user to other users. [RT1]
    public var directMessagesPerSecond = 60
    /// Requests of one user. [RT6]
    public var requestsPerSecond = 200
    /// Message channels subscribed by one session. [CH7]
    public var subscribedChannelsMax = 50
    /// Stream channels joined by one session. [CH7]
    public var joinedChannelsMax = 100
    /// Topics of one channel that one user publishes in. [ST3]
    public var publishedTopicsMax = 8
    /// Topics of one channel that one session listens to. [ST7]
    public var subscribedTopicsMax = 50
    /// Messages of one client that may be unanswered. [MS3]
    public var unansweredMax = 128

    /// The defaults.
    public init() {}
}

/// Body of `closing`, and `lastEnd` of `welcome`: why a connection ended. [ER2]
package struct CloseNotice: Codable, Hashable, Sendable {
    package var code: ErrorCode
    package var name: String
    package var text: String

    package init(code: ErrorCode, text: String) {
        self.code = code
        name = code.name
        self.text = text
    }
}

/// Body of `error`. [ER1]
package struct ErrorBody: Codable, Hashable, Sendable, Error {
    /// The request that is refused.
    package var id: UInt32?
    /// The publish or direct message that is refused.
    package var number: UInt64?
    /// The flow whose packet is refused.
    package var flow: UInt32?
    package var code: ErrorCode
    package var name: String
    package var text: String
    package var limit: UInt64?
    package var actual: UInt64?
    package var retryAfterMs: UInt64?

    package init(_ error: WireError, id: UInt32? = nil, number: UInt64? = nil, flow: UInt32? = nil) {
        self.id = id
        self.number = number
        self.flow = flow
        code = error.code
        name = error.code.name
        text = error.text
        limit = error.limit
        actual = error.actual
        retryAfterMs = error.retryAfterMilliseconds
    }
}

/// Answer to `subscribe`, and body of `restored` for a message channel. [CH4, SE9]
package struct SubscribeAnswer: Codable, Equatable {
    /// Absent in `restored`.
    package var id: UInt32?
    package var kind: ChannelKind
    package var channel: Name
    package var handle: UInt32
    package var features: [Feature]
    package var quiet: Bool
    /// Message channels only.
    package var epoch: Epoch?
    /// Message channels only: the offset of the newest message, 0 before the first.
    package var head: UInt64?
    /// Message channels only, when `since` was given: whether nothing after it is missing.
    package var recovered: Bool?
    package var missed: OffsetRange?
    package var reset: Bool?

    package init(
        id: UInt32?, kind: ChannelKind, channel: Name, handle: UInt32, features: [Feature], quiet: Bool,
        epoch: Epoch? = nil, head: UInt64? = nil, recovered: Bool? = nil, missed: OffsetRange? = nil, reset: Bool? = nil
    ) {
        self.id = id
        self.kind = kind
        self.channel = channel
        self.handle = handle
        self.features = features
        self.quiet = quiet
        self.epoch = epoch
        self.head = head
        self.recovered = recovered
        self.missed = missed
        self.reset = reset
    }
}

package struct EmptyAnswer: Codable, Equatable {
    package var id: UInt32
    package init(id: UInt32) { self.id = id }
}

package struct JoinTopicAnswer: Codable, Equatable {
    package var id: UInt32
    package var flow: UInt32
    /// Sequence that the next accepted packet gets.
    package var next: UInt32

    package init(id: UInt32, flow: UInt32, next: UInt32) {
        self.id = id
        self.flow = flow
        self.next = next
    }
}

package struct LeaveTopicAnswer: Codable, Equatable {
    package var id: UInt32
    package var flow: UInt32
    /// Sequence of the last accepted packet, 0 if there was none.
    package var last: UInt32

    package init(id: UInt32, flow: UInt32, last: UInt32) {
        self.id = id
        self.flow = flow
        self.last = last
    }
}

package struct TopicUsersAnswer: Codable, Equatable {
    package struct Failure: Codable, Equatable {
        package var user: String
        package var code: ErrorCode
        package var name: String

        package init(user: String, code: ErrorCode) {
            self.user = user
            self.code = code
            name = code.name
        }
    }

    package var id: UInt32
    package var all: Bool
    package var succeeded: [String]
    package var failed: [Failure]

    package init(id: UInt32, all: Bool, succeeded: [String] = [], failed: [Failure] = []) {
        self.id = id
        self.all = all
        self.succeeded = succeeded
        self.failed = failed
    }
}

package struct SubscribedUsersAnswer: Codable, Equatable {
    package var id: UInt32
    package var all: Bool
    package var users: [Name]

    package init(id: UInt32, all: Bool, users: [Name]) {
        self.id = id
        self.all = all
        self.users = users
    }
}

/// One user in a presence snapshot, event or page.
public struct Member: Codable, Hashable, Sendable {
    /// Id of the user.
    public var user: Name
    /// What it says about itself in the channel: a display name, a tool.
    public var states: [String: String]

    /// A user with its states.
    public init(user: Name, states: [String: String] = [:]) {
        self.user = user
        self.states = states
    }
}

package struct WhoAnswer: Codable, Equatable {
    package var id: UInt32
    package var total: Int
    package var members: [Member]
    /// Give it as `after` to read on; absent on the last page.
    package var next: Name?

    package init(id: UInt32, total: Int, members: [Member], next: Name?) {
        self.id = id
        self.total = total
        self.members = members
        self.next = next
    }
}

/// A channel: its kind and its name. [CH1]
public struct ChannelID: Codable, Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Message or stream.
    public var kind: ChannelKind
    /// Its name.
    public var channel: Name

    /// The channel of this kind and name.
    public init(kind: ChannelKind, channel: Name) {
        self.kind = kind
        self.channel = channel
    }

    public static func < (left: Self, right: Self) -> Bool {
        left.channel == right.channel ? left.kind < right.kind : left.channel < right.channel
    }

    public var description: String { "\(kind.rawValue):\(channel)" }
}

package struct WhereAnswer: Codable, Equatable {
    package var id: UInt32
    package var channels: [ChannelID]

    package init(id: UInt32, channels: [ChannelID]) {
        self.id = id
        self.channels = channels
    }
}

package struct StatesAnswer: Codable, Equatable {
    package var id: UInt32
    package var states: [String: String]

    package init(id: UInt32, states: [String: String]) {
        self.id = id
        self.states = states
    }
}
