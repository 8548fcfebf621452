// What a session may, and its changes. Field by field in `docs/protocol.md`. [AC4, AC7, AC8]

/// In `welcome` and in the answer to `renew`. [AC4]
package struct AccessBody: JSONObject, Equatable, Sendable {
    /// `reader`, `editor` or `moderator`: rights in every channel.
    package internal(set) var role: String?
    /// Names of rights by channel pattern.
    package internal(set) var grants: [String: [String]]?
    /// From now on, in milliseconds; `nil`: without an end.
    package internal(set) var untilMs: UInt64?

    package init() {}

    package init(role: String? = nil, grants: [String: [String]]? = nil, untilMs: UInt64? = nil) {
        (self.role, self.grants, self.untilMs) = (role, grants, untilMs)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("grants", &grants)
        json("role", &role)
        json("untilMs", &untilMs)
    }
}

/// Another credential for the session that is there. [AC8]
package struct RenewRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var key: String?
    package internal(set) var token: String?

    package init() {}

    package init(id: UInt32, key: String? = nil, token: String? = nil) { (self.id, self.key, self.token) = (id, key, token) }

    package mutating func fields(_ json: inout JSONFields) {
        json("id", &id)
        json("key", &key)
        json("token", &token)
    }
}

package struct RenewAnswer: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var access = AccessBody()

    package init() {}

    package init(id: UInt32, access: AccessBody) { (self.id, self.access) = (id, access) }

    package mutating func fields(_ json: inout JSONFields) {
        json("access", &access)
        json("id", &id)
    }
}

/// Rights end soon. [AC8]
package struct AccessExpiring: JSONObject {
    package internal(set) var inMs: UInt64 = 0

    package init() {}
    package init(inMs: UInt64) { self.inMs = inMs }

    package mutating func fields(_ json: inout JSONFields) { json("inMs", &inMs) }
}

/// The relay has removed a session from a channel. [AC7]
package struct RemovedNotice: JSONObject {
    /// Handle.
    package internal(set) var channel: UInt32 = 0
    package internal(set) var code: ErrorCode = .badRequest
    package internal(set) var name = ""
    package internal(set) var text = ""

    package init() {}

    package init(channel: UInt32, code: ErrorCode, text: String) {
        self.channel = channel
        self.code = code
        name = code.name
        self.text = text
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("code", &code)
        json("name", &name)
        json("text", &text)
    }
}
