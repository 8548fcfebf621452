// Bodies of moderation: what a moderator asks for, and what those concerned are told. [AC10–AC15]

/// `setRole`; without a role what the credential gives counts again. [AC10]
package struct SetRoleRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var user = Name.unread
    /// `reader`, `editor` or `coeditor`.
    package internal(set) var role: String?

    package init() {}

    package init(id: UInt32, user: Name, role: String? = nil) { (self.id, self.user, self.role) = (id, user, role) }

    package mutating func fields(_ json: inout JSONFields) {
        json("id", &id)
        json("role", &role)
        json("user", &user)
    }
}

/// `setMode`. [AC11]
package struct SetModeRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    /// Both kinds of this name.
    package internal(set) var channel = Name.unread
    /// A `ChannelMode`.
    package internal(set) var mode = ""
    package internal(set) var on = false

    package init() {}

    package init(id: UInt32, channel: Name, mode: ChannelMode, on: Bool) {
        (self.id, self.channel, self.mode, self.on) = (id, channel, mode.rawValue, on)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
        json("mode", &mode)
        json("on", &on)
    }
}

/// `endSession`. [AC12]
package struct EndSessionRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var user = Name.unread
    /// For people: the text of its `closing`.
    package internal(set) var reason: String?

    package init() {}

    package init(id: UInt32, user: Name, reason: String? = nil) { (self.id, self.user, self.reason) = (id, user, reason) }

    package mutating func fields(_ json: inout JSONFields) {
        json("id", &id)
        json("reason", &reason)
        json("user", &user)
    }
}

/// `endChannel`. [AC19]
package struct EndChannelRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    /// Both kinds of this name.
    package internal(set) var channel = Name.unread
    /// For people: the text of `removed`.
    package internal(set) var reason: String?

    package init() {}

    package init(id: UInt32, channel: Name, reason: String? = nil) { (self.id, self.channel, self.reason) = (id, channel, reason) }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
        json("reason", &reason)
    }
}

/// `forgetUser`. [AC14]
package struct ForgetUserRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var user = Name.unread
    /// Its records go from all boards.
    package internal(set) var withRecords: Bool?

    package init() {}

    package init(id: UInt32, user: Name, withRecords: Bool? = nil) { (self.id, self.user, self.withRecords) = (id, user, withRecords) }

    package mutating func fields(_ json: inout JSONFields) {
        json("id", &id)
        json("user", &user)
        json("withRecords", &withRecords)
    }
}

/// Answer to `forgetUser`: what went, and what the relay still keeps. [AC14]
package struct ForgetUserAnswer: JSONObject, Equatable {
    package internal(set) var id: UInt32 = 0
    package internal(set) var forgotten = Forgotten()

    package init() {}

    package init(id: UInt32, _ forgotten: Forgotten) { (self.id, self.forgotten) = (id, forgotten) }

    package mutating func fields(_ json: inout JSONFields) {
        json("banned", &forgotten.isBanned)
        json("boards", &forgotten.boards)
        json("here", &forgotten.isHere)
        json("id", &id)
        json("idFreed", &forgotten.wasIDFreed)
        json("keptBytes", &forgotten.keptBytes)
        json("metadata", &forgotten.metadata)
        json("records", &forgotten.records)
        json("role", &forgotten.hadRole)
    }
}

/// What became of what a relay kept of a user that was to be forgotten. [AC14]
package struct Forgotten: Equatable, Sendable {
    /// Items of metadata that went.
    package var metadata = 0
    /// Whether a role that a moderator had set went.
    package var hadRole = false
    /// Whether the id was the user's, with the digest of its client's secret, and is anybody's now.
    package var wasIDFreed = false
    /// Boards that were the user's, and are nobody's now.
    package var boards = 0
    /// Records that went.
    package var records = 0
    /// Bytes of the user's records that stay.
    package var keptBytes = 0
    /// Whether a ban stays.
    package var isBanned = false
    /// Whether the user is here: so the id stays its own.
    package var isHere = false

    package init() {}
}

/// `removeRecords`. [AC18]
package struct RemoveRecordsRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    /// The board's.
    package internal(set) var channel = Name.unread
    /// Whose records go.
    package internal(set) var user = Name.unread

    package init() {}

    package init(id: UInt32, channel: Name, user: Name) { (self.id, self.channel, self.user) = (id, channel, user) }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
        json("user", &user)
    }
}

package struct RemoveRecordsAnswer: JSONObject {
    package internal(set) var id: UInt32 = 0
    /// How many went.
    package internal(set) var records = 0

    package init() {}

    package init(id: UInt32, records: Int) { (self.id, self.records) = (id, records) }

    package mutating func fields(_ json: inout JSONFields) {
        json("id", &id)
        json("records", &records)
    }
}

/// `banUser`. [AC13]
package struct BanUserRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var user = Name.unread
    /// Absent: until `unbanUser`.
    package internal(set) var forMs: Int?

    package init() {}

    package init(id: UInt32, user: Name, forMs: Int? = nil) { (self.id, self.user, self.forMs) = (id, user, forMs) }

    package mutating func fields(_ json: inout JSONFields) {
        json("forMs", &forMs)
        json("id", &id)
        json("user", &user)
    }
}

/// A banned user.
public struct BanInfo: JSONObject, Equatable, Sendable {
    /// Id of the user; the client that used it last is banned with it.
    public var user = ""
    /// Id of the moderator who banned the user.
    public var by = ""
    /// When: wall clock of the relay, in milliseconds since 1970.
    package var wallMilliseconds: UInt64 = 0
    /// When it is over, likewise; `nil`: when a moderator says so.
    package var endMilliseconds: UInt64?

    package init() {}

    package init(user: String, by: String, wallMilliseconds: UInt64, endMilliseconds: UInt64?) {
        (self.user, self.by, self.wallMilliseconds, self.endMilliseconds) = (user, by, wallMilliseconds, endMilliseconds)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json.name("by", &by)
        json("time", &wallMilliseconds)
        json("until", &endMilliseconds)
        json.name("user", &user)
    }
}

package struct BansAnswer: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var bans: [BanInfo] = []
    /// Give it as `after`; absent at the end.
    package internal(set) var next: Name?

    package init() {}

    package init(id: UInt32, bans: [BanInfo], next: Name?) { (self.id, self.bans, self.next) = (id, bans, next) }

    package mutating func fields(_ json: inout JSONFields) {
        json("bans", &bans)
        json("id", &id)
        json("next", &next)
    }
}

/// Body of `accessChanged`: what the session may from here on, as `access` tells it. [AC10]
package struct AccessChanged: JSONObject, Equatable {
    package internal(set) var role: String?
    package internal(set) var grants: [String: [String]]?
    package internal(set) var untilMs: UInt64?
    /// Id of the moderator.
    package internal(set) var by = Name.unread

    package init() {}

    package init(_ access: AccessBody, by: Name) {
        role = access.role
        grants = access.grants
        untilMs = access.untilMs
        self.by = by
    }

    package var access: AccessBody { AccessBody(role: role, grants: grants, untilMs: untilMs) }

    package mutating func fields(_ json: inout JSONFields) {
        json("by", &by)
        json("grants", &grants)
        json("role", &role)
        json("untilMs", &untilMs)
    }
}

/// Body of `modeChanged`. [AC11]
package struct ModeChanged: JSONObject, Equatable {
    /// Handle.
    package internal(set) var channel: UInt32 = 0
    /// A `ChannelMode`, or one that a later version has.
    package internal(set) var mode = ""
    package internal(set) var on = false
    /// Id of the moderator.
    package internal(set) var by = Name.unread

    package init() {}

    package init(channel: UInt32, mode: ChannelMode, on: Bool, by: Name) {
        (self.channel, self.mode, self.on, self.by) = (channel, mode.rawValue, on, by)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("by", &by)
        json("channel", &channel)
        json("mode", &mode)
        json("on", &on)
    }
}
