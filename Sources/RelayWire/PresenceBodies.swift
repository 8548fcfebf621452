// JSON bodies about present users and their states. [PR2–PR8]

/// One user in a presence snapshot, event or page.
public struct Member: JSONObject, Equatable, Sendable {
    /// Id of the user.
    public var user = ""
    /// What it says about itself in the channel: a display name, a tool.
    public var states: [String: String] = [:]

    package init() {}

    /// A user with its states.
    public init(user: String, states: [String: String] = [:]) { (self.user, self.states) = (user, states) }

    package mutating func fields(_ json: inout JSONFields) {
        json("states", &states)
        json.name("user", &user)
    }
}

package struct PresenceEvent: JSONObject {
    package enum Kind: String, JSONElement { case snapshot, join, leave, timeout, stateChanged, interval }

    package var channel: UInt32 = 0
    package var event: Kind = .snapshot
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
    /// `interval`: users who joined or changed, each with all its states.
    package var joined: [Member]?
    package var changed: [Member]?
    /// `interval`.
    package var left: [Name]?
    package var timedOut: [Name]?

    package init() {}

    package init(channel: UInt32, event: Kind) { (self.channel, self.event) = (channel, event) }

    package mutating func fields(_ json: inout JSONFields) {
        json("changed", &changed)
        json("channel", &channel)
        json("event", &event)
        json("joined", &joined)
        json("left", &left)
        json("members", &members)
        json("removed", &removed)
        json("states", &states)
        json("timedOut", &timedOut)
        json("total", &total)
        json("user", &user)
    }
}

package struct WhoRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var kind: ChannelKind = .message
    package internal(set) var channel = Name.unread
    package internal(set) var after: Name?
    package internal(set) var limit: Int?

    package init() {}

    package init(id: UInt32, kind: ChannelKind, channel: Name, after: Name? = nil, limit: Int? = nil) {
        (self.id, self.kind, self.channel, self.after, self.limit) = (id, kind, channel, after, limit)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("after", &after)
        json("channel", &channel)
        json("id", &id)
        json("kind", &kind)
        json("limit", &limit)
    }
}

package struct WhoAnswer: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var total = 0
    package internal(set) var members: [Member] = []
    /// Give it as `after` to read on; absent on the last page.
    package internal(set) var next: Name?

    package init() {}

    package init(id: UInt32, total: Int, members: [Member], next: Name?) {
        (self.id, self.total, self.members, self.next) = (id, total, members, next)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("id", &id)
        json("members", &members)
        json("next", &next)
        json("total", &total)
    }
}

package struct WhereRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var user = Name.unread
    package internal(set) var after: ChannelID?

    package init() {}

    package init(id: UInt32, user: Name, after: ChannelID? = nil) { (self.id, self.user, self.after) = (id, user, after) }

    package mutating func fields(_ json: inout JSONFields) {
        json("after", &after)
        json("id", &id)
        json("user", &user)
    }
}

package struct WhereAnswer: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var channels: [ChannelID] = []
    /// Give it as `after` to read on; absent on the last page.
    package internal(set) var next: ChannelID?

    package init() {}

    package init(id: UInt32, channels: [ChannelID], next: ChannelID? = nil) { (self.id, self.channels, self.next) = (id, channels, next) }

    package mutating func fields(_ json: inout JSONFields) {
        json("channels", &channels)
        json("id", &id)
        json("next", &next)
    }
}

package struct SetStatesRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var kind: ChannelKind = .message
    package internal(set) var channel = Name.unread
    package internal(set) var states: [String: String] = [:]

    package init() {}

    package init(id: UInt32, kind: ChannelKind, channel: Name, states: [String: String]) {
        (self.id, self.kind, self.channel, self.states) = (id, kind, channel, states)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
        json("kind", &kind)
        json("states", &states)
    }
}

package struct RemoveStatesRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var kind: ChannelKind = .message
    package internal(set) var channel = Name.unread
    package internal(set) var keys: [Name]?

    package init() {}

    package init(id: UInt32, kind: ChannelKind, channel: Name, keys: [Name]? = nil) {
        (self.id, self.kind, self.channel, self.keys) = (id, kind, channel, keys)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
        json("keys", &keys)
        json("kind", &kind)
    }
}

package struct GetStatesRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var kind: ChannelKind = .message
    package internal(set) var channel = Name.unread
    package internal(set) var user = Name.unread

    package init() {}

    package init(id: UInt32, kind: ChannelKind, channel: Name, user: Name) {
        (self.id, self.kind, self.channel, self.user) = (id, kind, channel, user)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
        json("kind", &kind)
        json("user", &user)
    }
}

package struct StatesAnswer: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var states: [String: String] = [:]

    package init() {}

    package init(id: UInt32, states: [String: String]) { (self.id, self.states) = (id, states) }

    package mutating func fields(_ json: inout JSONFields) {
        json("id", &id)
        json("states", &states)
    }
}
