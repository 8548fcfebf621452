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
    package var since: Since?

    package init(id: UInt32, channel: Name, features: [String]? = nil, quiet: Bool? = nil, since: Since? = nil) {
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
    /// When `since` was given, or a resumption has something to catch up with: what is kept above this offset follows.
    package var after: UInt64?
    /// While it is frozen; absent otherwise. [AC11]
    package var frozen: Bool?

    package init(
        id: UInt32?, kind: ChannelKind, channel: Name, handle: UInt32, features: [Feature], quiet: Bool,
        epoch: Epoch? = nil, head: UInt64? = nil, recovered: Bool? = nil, missed: OffsetRange? = nil, reset: Bool? = nil, after: UInt64? = nil,
        frozen: Bool? = nil
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
        self.after = after
        self.frozen = frozen
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

/// Where a subscription begins, if not now. [CH6]
public enum Since: Codable, Hashable, Sendable {
    /// With the oldest message that is kept.
    case beginning
    /// Behind the last message that was seen.
    case position(ChannelPosition)
    /// The same of a reader that was getting a board from its beginning: its own records are among what it lacks. [BL3]
    case rest(ChannelPosition)

    /// `nil`: with the oldest.
    package var position: ChannelPosition? {
        switch self {
        case .beginning: nil
        case .position(let position), .rest(let position): position
        }
    }

    private struct Form: Codable {
        var beginning: Bool?
        var epoch: Epoch?
        var offset: UInt64?
        var own: Bool?
    }

    public init(from decoder: any Decoder) throws {
        let form = try Form(from: decoder)
        switch (form.beginning, form.epoch, form.offset) {
        case (true?, nil, nil): self = .beginning
        case (nil, let epoch?, let offset?):
            let position = ChannelPosition(epoch: epoch, offset: offset)
            self = form.own == true ? .rest(position) : .position(position)
        default:
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "either beginning: true, or epoch and offset"))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .beginning: try Form(beginning: true).encode(to: encoder)
        case .position(let position): try position.encode(to: encoder)
        case .rest(let position): try Form(epoch: position.epoch, offset: position.offset, own: true).encode(to: encoder)
        }
    }
}

/// Body of `gap`: the history has moved past messages that this reader was still to get. [HI4]
package struct Gap: Codable, Equatable {
    /// Handle.
    package var channel: UInt32
    package var from: UInt64
    package var to: UInt64

    package init(channel: UInt32, from: UInt64, to: UInt64) {
        self.channel = channel
        self.from = from
        self.to = to
    }
}

/// Body of `caughtUp`: from here on comes what is accepted. [HI2]
package struct CaughtUp: Codable, Equatable {
    /// Handle.
    package var channel: UInt32
    /// Offset of the newest message.
    package var head: UInt64

    package init(channel: UInt32, head: UInt64) {
        self.channel = channel
        self.head = head
    }
}

/// `history`: messages that are kept, without a subscription. [HI6]
package struct HistoryRequest: Codable, Equatable {
    package var id: UInt32
    package var channel: Name
    /// The first offset wanted; the oldest, or with `backwards` the newest, if absent.
    package var from: UInt64?
    package var backwards: Bool?
    package var limit: Int?

    package init(id: UInt32, channel: Name, from: UInt64? = nil, backwards: Bool? = nil, limit: Int? = nil) {
        self.id = id
        self.channel = channel
        self.from = from
        self.backwards = backwards
        self.limit = limit
    }
}

/// Answer to `history`, behind its `historyItem`s. [HI6]
package struct HistoryAnswer: Codable, Equatable {
    package var id: UInt32
    /// Absent when there is no such channel.
    package var epoch: Epoch?
    package var head: UInt64
    /// Items sent.
    package var count: Int
    /// Messages up to this offset are not kept any more; 0: all of them are.
    package var floor: UInt64
    /// Where to go on; absent at the end.
    package var next: UInt64?

    package init(id: UInt32, epoch: Epoch?, head: UInt64, count: Int, floor: UInt64, next: UInt64?) {
        self.id = id
        self.epoch = epoch
        self.head = head
        self.count = count
        self.floor = floor
        self.next = next
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
