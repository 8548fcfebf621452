// JSON bodies, client to relay and back. Field by field they are in `docs/protocol.md`; optional fields that are
// absent are not written. Every request carries `id`, 1…2³²−1, and its answer or error repeats it. [JS5]

/// Where a reader of a message channel stands: the numbering's identity and the last offset it has seen. [CH6]
public struct ChannelPosition: Codable, Hashable, Sendable {
    /// The numbering that `offset` belongs to.
    public var epoch: Epoch
    /// The last offset that was seen.
    public var offset: UInt64

    /// A position in a channel's numbering.
    public init(epoch: Epoch, offset: UInt64) {
        self.epoch = epoch
        self.offset = offset
    }
}

/// Identity of a channel's numbering: offsets compare only within one epoch. [CH5]
public struct Epoch: Codable, Hashable, Sendable {
    /// Rises with each start of the relay.
    public var start: UInt32
    /// Rises with each new numbering of the channel within one start.
    public var incarnation: UInt32

    /// The numbering that a relay with this start number began as its nth.
    public init(start: UInt32, incarnation: UInt32) {
        self.start = start
        self.incarnation = incarnation
    }
}

/// Offsets from `from` to `to`, both included.
public struct OffsetRange: Codable, Hashable, Sendable {
    /// The first.
    public var from: UInt64
    /// The last.
    public var to: UInt64

    /// From `from` to `to`, both included.
    public init(from: UInt64, to: UInt64) {
        self.from = from
        self.to = to
    }
}

/// What a session wants to receive from a channel. [CH3]
public enum Feature: String, Codable, Hashable, Sendable, CaseIterable, Comparable {
    case messages, presence, metadata, locks

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// How urgent a topic's packets are: the lowest are shed first. [ST3]
public enum TopicPriority: String, Codable, Hashable, Sendable, CaseIterable {
    case highest, high, normal, low

    /// 0 is shed first.
    package var rank: UInt8 {
        switch self {
        case .low: 0
        case .normal: 1
        case .high: 2
        case .highest: 3
        }
    }
}

/// What a topic's publisher asks of the order of its packets. Unordered is a permission, not a demand. [ST3]
public enum TopicQoS: String, Codable, Hashable, Sendable {
    case ordered, unordered
}

// MARK: - Requests

package struct LoginRequest: Codable, Equatable {
    package var id: UInt32
    package var version: Int
    package var user: Name
    /// 128 bits as 32 hexadecimal digits, drawn once per installation and user id.
    package var secret: String?
    /// 64 bits as 16 hexadecimal digits, drawn once per client object.
    package var instance: String
    package var presenceTimeoutMs: Int?
    package var client: String?
    package var resume: ResumeRequest?

    package init(
        id: UInt32, version: Int = Limits.protocolVersion, user: Name, secret: String? = nil, instance: String,
        presenceTimeoutMs: Int? = nil, client: String? = nil, resume: ResumeRequest? = nil
    ) {
        self.id = id
        self.version = version
        self.user = user
        self.secret = secret
        self.instance = instance
        self.presenceTimeoutMs = presenceTimeoutMs
        self.client = client
        self.resume = resume
    }
}

package struct ResumeRequest: Codable, Equatable {
    /// From the last `welcome`: 32 hexadecimal digits.
    package var token: String

    package init(token: String) { self.token = token }
}

package struct EmptyRequest: Codable, Equatable {
    package var id: UInt32
    package init(id: UInt32) { self.id = id }
}

/// `subscribe` (message channels).
package struct SubscribeRequest: Codable, Equatable {
    package var id: UInt32
    package var channel: Name
    package var features: [String]?
    package var quiet: Bool?
    package var since: ChannelPosition?

    package init(id: UInt32, channel: Name, features: [String]? = nil, quiet: Bool? = nil, since: ChannelPosition? = nil) {
        self.id = id
        self.channel = channel
        self.features = features
        self.quiet = quiet
        self.since = since
    }
}

/// `join` (stream channels).
package struct JoinRequest: Codable, Equatable {
    package var id: UInt32
    package var channel: Name
    package var features: [String]?
    package var quiet: Bool?
    package var token: String?

    package init(id: UInt32, channel: Name, features: [String]? = nil, quiet: Bool? = nil, token: String? = nil) {
        self.id = id
        self.channel = channel
        self.features = features
        self.quiet = quiet
        self.token = token
    }
}

/// `unsubscribe` and `leave`.
package struct ChannelRequest: Codable, Equatable {
    package var id: UInt32
    package var channel: Name

    package init(id: UInt32, channel: Name) {
        self.id = id
        self.channel = channel
    }
}

package struct JoinTopicRequest: Codable, Equatable {
    package var id: UInt32
    package var channel: Name
    package var topic: Name
    package var qos: TopicQoS?
    package var priority: TopicPriority?
    package var meta: String?
    package var lifetimeMs: Int?

    package init(
        id: UInt32, channel: Name, topic: Name, qos: TopicQoS? = nil, priority: TopicPriority? = nil,
        meta: String? = nil, lifetimeMs: Int? = nil
    ) {
        self.id = id
        self.channel = channel
        self.topic = topic
        self.qos = qos
        self.priority = priority
        self.meta = meta
        self.lifetimeMs = lifetimeMs
    }
}

/// `leaveTopic` and `subscribedUsers`.
package struct TopicRequest: Codable, Equatable {
    package var id: UInt32
    package var channel: Name
    package var topic: Name

    package init(id: UInt32, channel: Name, topic: Name) {
        self.id = id
        self.channel = channel
        self.topic = topic
    }
}

/// `subscribeTopic` and `unsubscribeTopic`; `users` are strings, because each one is answered for itself.
package struct TopicUsersRequest: Codable, Equatable {
    package var id: UInt32
    package var channel: Name
    package var topic: Name
    package var users: [String]?

    package init(id: UInt32, channel: Name, topic: Name, users: [String]? = nil) {
        self.id = id
        self.channel = channel
        self.topic = topic
        self.users = users
    }
}

package struct WhoRequest: Codable, Equatable {
    package var id: UInt32
    package var kind: ChannelKind
    package var channel: Name
    package var after: Name?
    package var limit: Int?

    package init(id: UInt32, kind: ChannelKind, channel: Name, after: Name? = nil, limit: Int? = nil) {
        self.id = id
        self.kind = kind
        self.channel = channel
        self.after = after
        self.limit = limit
    }
}

package struct WhereRequest: Codable, Equatable {
    package var id: UInt32
    package var user: Name

    package init(id: UInt32, user: Name) {
        self.id = id
        self.user = user
    }
}

package struct SetStatesRequest: Codable, Equatable {
    package var id: UInt32
    package var kind: ChannelKind
    package var channel: Name
    package var states: [String: String]

    package init(id: UInt32, kind: ChannelKind, channel: Name, states: [String: String]) {
        self.id = id
        self.kind = kind
        self.channel = channel
        self.states = states
    }
}

package struct RemoveStatesRequest: Codable, Equatable {
    package var id: UInt32
    package var kind: ChannelKind
    package var channel: Name
    package var keys: [Name]?

    package init(id: UInt32, kind: ChannelKind, channel: Name, keys: [Name]? = nil) {
        self.id = id
        self.kind = kind
        self.channel = channel
        self.keys = keys
    }
}

package struct GetStatesRequest: Codable, Equatable {
    package var id: UInt32
    package var kind: ChannelKind
    package var channel: Name
    package var user: Name

    package init(id: UInt32, kind: ChannelKind, channel: Name, user: Name) {
        self.id = id
        self.kind = kind
        self.channel = channel
        self.user = user
    }
}

/// Just enough of any request to answer it when the rest cannot be read.
package struct RequestID: Codable {
    package var id: UInt32
}

// MARK: - Answers

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

// MARK: - Events

package struct FlowOpened: Codable, Equatable {
    package var flow: UInt32
    package var channel: UInt32
    package var topic: Name
    package var user: Name
    package var meta: String
    /// Sequence of the next packet meant for this subscriber.
    package var next: UInt32

    package init(flow: UInt32, channel: UInt32, topic: Name, user: Name, meta: String, next: UInt32) {
        self.flow = flow
        self.channel = channel
        self.topic = topic
        self.user = user
        self.meta = meta
        self.next = next
    }
}

package struct FlowClosed: Codable, Equatable {
    package var flow: UInt32
    /// Sequence of the last packet meant for this subscriber's selection, 0 if there was none.
    package var last: UInt32

    package init(flow: UInt32, last: UInt32) {
        self.flow = flow
        self.last = last
    }
}

package struct PacketsDropped: Codable, Equatable {
    package var flow: UInt32
    /// Since the last notice about this flow.
    package var dropped: UInt64
    /// Since the flow was opened.
    package var total: UInt64

    package init(flow: UInt32, dropped: UInt64, total: UInt64) {
        self.flow = flow
        self.dropped = dropped
        self.total = total
    }
}

package struct PresenceEvent: Codable, Equatable {
    package enum Kind: String, Codable { case snapshot, join, leave, timeout, stateChanged, interval }

    package var channel: UInt32
    package var event: Kind
    /// `snapshot`.
    package var members: [Member]?
    /// `snapshot`: how many there are in all.
    package var total: Int?
    /// `join`, `leave`, `timeout`, `stateChanged`.
    package var user: Name?
    /// `join`: all states of the user; `stateChanged`: what was set.
    package var states: [String: String]?
    /// `stateChanged`.
    package var removed: [Name]?
    /// `interval`: who came or changed, each with all its states.
    package var joined: [Member]?
    package var changed: [Member]?
    /// `interval`.
    package var left: [Name]?
    package var timedOut: [Name]?

    package init(channel: UInt32, event: Kind) {
        self.channel = channel
        self.event = event
    }
}

package struct TopicPublisher: Codable, Equatable {
    package var topic: Name
    package var user: Name
    package var meta: String

    package init(topic: Name, user: Name, meta: String) {
        self.topic = topic
        self.user = user
        self.meta = meta
    }
}

package struct TopicsEvent: Codable, Equatable {
    package enum Kind: String, Codable { case snapshot, publisherJoined, publisherLeft }

    package var channel: UInt32
    package var event: Kind
    /// One in `publisherJoined` and `publisherLeft`, any number in `snapshot`.
    package var publishers: [TopicPublisher]
    /// `snapshot`: the picture goes on in the next frame.
    package var more: Bool?

    package init(channel: UInt32, event: Kind, publishers: [TopicPublisher], more: Bool? = nil) {
        self.channel = channel
        self.event = event
        self.publishers = publishers
        self.more = more
    }
}
