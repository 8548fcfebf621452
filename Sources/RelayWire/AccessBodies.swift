// What a session may, and its changes. Field by field in `docs/protocol.md`. [AC4, AC7, AC8]

/// In `welcome` and in the answer to `renew`. [AC4]
package struct AccessBody: Codable, Hashable, Sendable {
    /// `reader`, `editor` or `moderator`: rights in every channel.
    package var role: String?
    /// Names of rights by channel pattern.
    package var grants: [String: [String]]?
    /// From now on, in milliseconds; `nil`: without an end.
    package var untilMs: UInt64?

    package init(role: String? = nil, grants: [String: [String]]? = nil, untilMs: UInt64? = nil) {
        self.role = role
        self.grants = grants
        self.untilMs = untilMs
    }
}

/// Another credential for the session that is there. [AC8]
package struct RenewRequest: Codable, Equatable {
    package var id: UInt32
    package var key: String?
    package var token: String?

    package init(id: UInt32, key: String? = nil, token: String? = nil) {
        self.id = id
        self.key = key
        self.token = token
    }
}

package struct RenewAnswer: Codable, Equatable {
    package var id: UInt32
    package var access: AccessBody

    package init(id: UInt32, access: AccessBody) {
        self.id = id
        self.access = access
    }
}

/// Rights end soon. [AC8]
package struct AccessExpiring: Codable, Equatable {
    package var inMs: UInt64
    package init(inMs: UInt64) { self.inMs = inMs }
}

/// A session is in a channel no more, and did not ask for that. [AC7]
package struct RemovedNotice: Codable, Equatable {
    /// Handle.
    package var channel: UInt32
    package var code: ErrorCode
    package var name: String
    package var text: String

    package init(channel: UInt32, code: ErrorCode, text: String) {
        self.channel = channel
        self.code = code
        name = code.name
        self.text = text
    }
}
