// JSON bodies about coming into channels and going out of them. [CH1–CH9]

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

/// What a session wants to receive from a channel. [CH3]
public enum Feature: String, Codable, Hashable, Sendable, CaseIterable, Comparable {
    case messages, presence, metadata, locks

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
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
