// Words that stand in several bodies.

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
