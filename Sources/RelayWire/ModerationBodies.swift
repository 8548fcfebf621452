// Bodies of moderation: what a moderator asks for, and what those concerned are told. [AC10–AC15]

/// `setRole`; without a role what the credential gives counts again. [AC10]
package struct SetRoleRequest: Codable, Equatable {
    package var id: UInt32
    package var user: Name
    /// `reader` or `editor`.
    package var role: String?

    package init(id: UInt32, user: Name, role: String? = nil) {
        self.id = id
        self.user = user
        self.role = role
    }
}

/// `freezeChannel`. [AC11]
package struct FreezeChannelRequest: Codable, Equatable {
    package var id: UInt32
    /// Both kinds of this name.
    package var channel: Name
    package var frozen: Bool

    package init(id: UInt32, channel: Name, frozen: Bool) {
        self.id = id
        self.channel = channel
        self.frozen = frozen
    }
}

/// `endSession`. [AC12]
package struct EndSessionRequest: Codable, Equatable {
    package var id: UInt32
    package var user: Name
    /// For people: the text of its `closing`.
    package var reason: String?

    package init(id: UInt32, user: Name, reason: String? = nil) {
        self.id = id
        self.user = user
        self.reason = reason
    }
}

/// `forgetUser`. [AC14]
package struct ForgetUserRequest: Codable, Equatable {
    package var id: UInt32
    package var user: Name
    /// Its records go from all boards.
    package var withRecords: Bool?

    package init(id: UInt32, user: Name, withRecords: Bool? = nil) {
        self.id = id
        self.user = user
        self.withRecords = withRecords
    }
}

/// `banUser`. [AC13]
package struct BanUserRequest: Codable, Equatable {
    package var id: UInt32
    package var user: Name
    /// Absent: until `unbanUser`.
    package var forMs: Int?

    package init(id: UInt32, user: Name, forMs: Int? = nil) {
        self.id = id
        self.user = user
        self.forMs = forMs
    }
}

/// A user who may not come in.
public struct BanInfo: Codable, Hashable, Sendable {
    /// Id of the user; the client that used it last is banned with it.
    public var user: Name
    /// Id of the moderator who did it.
    public var by: Name
    /// When: wall clock of the relay, in milliseconds since 1970.
    public var time: UInt64
    /// When it is over, likewise; `nil`: when a moderator says so.
    public var until: UInt64?

    package init(user: Name, by: Name, time: UInt64, until: UInt64?) {
        self.user = user
        self.by = by
        self.time = time
        self.until = until
    }
}

package struct BansAnswer: Codable, Equatable {
    package var id: UInt32
    package var bans: [BanInfo]
    /// Give it as `after`; absent at the end.
    package var next: Name?

    package init(id: UInt32, bans: [BanInfo], next: Name?) {
        self.id = id
        self.bans = bans
        self.next = next
    }
}

/// Body of `accessChanged`: what the session may from here on, as `access` tells it. [AC10]
package struct AccessChanged: Codable, Equatable {
    package var role: String?
    package var grants: [String: [String]]?
    package var untilMs: UInt64?
    /// Id of the moderator.
    package var by: Name

    package init(_ access: AccessBody, by: Name) {
        role = access.role
        grants = access.grants
        untilMs = access.untilMs
        self.by = by
    }

    package var access: AccessBody { AccessBody(role: role, grants: grants, untilMs: untilMs) }
}

/// Body of `channelFrozen`. [AC11]
package struct ChannelFrozen: Codable, Equatable {
    /// Handle.
    package var channel: UInt32
    package var frozen: Bool
    /// Id of the moderator.
    package var by: Name

    package init(channel: UInt32, frozen: Bool, by: Name) {
        self.channel = channel
        self.frozen = frozen
        self.by = by
    }
}
