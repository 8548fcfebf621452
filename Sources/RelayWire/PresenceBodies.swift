// JSON bodies about who is here, and with which states. [PR2–PR8]

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

package struct WhereRequest: Codable, Equatable {
    package var id: UInt32
    package var user: Name
    package var after: ChannelID?

    package init(id: UInt32, user: Name, after: ChannelID? = nil) {
        self.id = id
        self.user = user
        self.after = after
    }
}

package struct WhereAnswer: Codable, Equatable {
    package var id: UInt32
    package var channels: [ChannelID]
    /// Give it as `after` to read on; absent on the last page.
    package var next: ChannelID?

    package init(id: UInt32, channels: [ChannelID], next: ChannelID? = nil) {
        self.id = id
        self.channels = channels
        self.next = next
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

package struct StatesAnswer: Codable, Equatable {
    package var id: UInt32
    package var states: [String: String]

    package init(id: UInt32, states: [String: String]) {
        self.id = id
        self.states = states
    }
}
