// A session's JSON bodies: login and its end, refusals, and what every request has. Field by field they are in
// `docs/protocol.md`; optional fields that are absent are not written. Every request carries `id`, 1…2³²−1, and its
// answer or error repeats it. [SE2, SE6, JS5, ER1, ER2]

/// What a client may be able to do beyond a version of the protocol. [SE3]
package enum Capability: String, CaseIterable, Sendable {
    /// It says `goOn` when it has heard that a publish was refused. [MS10]
    case goOn
}

package struct LoginRequest: JSONObject {
    package var id: UInt32 = 0
    /// Of the protocol: those that the client speaks. [SE3]
    package var versions: [Int] = []
    /// What the client can beyond that: names. [SE3]
    package var capabilities: [String]?
    /// `nil` with a `code`, which finds it.
    package var user: Name?
    /// 128 bits as 32 hexadecimal digits, drawn once per installation and user id.
    package var secret: String?
    /// From another device of the user, in place of both. [AC17]
    package var code: String?
    /// What lets it in, if the relay is not open: one of both. [AC1]
    package var key: String?
    package var token: String?
    /// In place of both. [AC20]
    package var joinCode: String?
    /// 64 bits as 16 hexadecimal digits, drawn once per client object.
    package var instance = ""
    /// The same, drawn once per installation or browser tab; absent: zeros. [SE8]
    package var device: String?
    /// Whether the other devices of the user are replaced. [SE8]
    package var onlyDevice: Bool?
    /// The highest number that this client object has sent; absent before the first. [MS9]
    package var lastNumber: UInt64?
    package var presenceTimeoutMs: Int?
    package var client: String?
    package var readerLimits: ReaderLimits?
    package var resume: ResumeRequest?
    /// Which part of a shared relay it is for. [SE16]
    package var space: String?

    package init() {}

    package init(
        id: UInt32, versions: [Int] = [Limits.protocolVersion], capabilities: [String]? = nil, user: Name?, secret: String? = nil,
        code: String? = nil, key: String? = nil, token: String? = nil, joinCode: String? = nil, instance: String, device: String? = nil,
        onlyDevice: Bool? = nil, lastNumber: UInt64? = nil, presenceTimeoutMs: Int? = nil, client: String? = nil,
        readerLimits: ReaderLimits? = nil, resume: ResumeRequest? = nil, space: String? = nil
    ) {
        self.id = id
        self.versions = versions
        self.capabilities = capabilities
        self.user = user
        self.secret = secret
        self.code = code
        self.key = key
        self.token = token
        self.joinCode = joinCode
        self.instance = instance
        self.device = device
        self.onlyDevice = onlyDevice
        self.lastNumber = lastNumber
        self.presenceTimeoutMs = presenceTimeoutMs
        self.client = client
        self.readerLimits = readerLimits
        self.resume = resume
        self.space = space
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("capabilities", &capabilities)
        json("client", &client)
        json("code", &code)
        json("device", &device)
        json("id", &id)
        json("instance", &instance)
        json("joinCode", &joinCode)
        json("key", &key)
        json("lastNumber", &lastNumber)
        json("onlyDevice", &onlyDevice)
        json("presenceTimeoutMs", &presenceTimeoutMs)
        json("readerLimits", &readerLimits)
        json("resume", &resume)
        json("secret", &secret)
        json("space", &space)
        json("token", &token)
        json("user", &user)
        json("versions", &versions)
    }
}

package struct ResumeRequest: JSONObject {
    /// From the last `welcome`: 32 hexadecimal digits.
    package internal(set) var token = ""
    /// By message channel: `Since.place`. [SE2]
    package internal(set) var seen: [String: [UInt64]]?

    package init() {}

    package init(token: String, seen: [String: [UInt64]]? = nil) { (self.token, self.seen) = (token, seen) }

    package mutating func fields(_ json: inout JSONFields) {
        json("seen", &seen)
        json("token", &token)
    }
}

package struct Welcome: JSONObject {
    package internal(set) var id: UInt32 = 0
    /// Of the protocol, chosen from those of the login. [SE3]
    package internal(set) var version = 0
    /// Those of the login that the relay has, too. [SE3]
    package internal(set) var capabilities: [String] = []
    /// The relay's public id: 32 hexadecimal digits. [SE6]
    package internal(set) var relay = ""
    package internal(set) var user = Name.unread
    /// The user's, told to a device that came with a code: 32 hexadecimal digits. [AC17]
    package internal(set) var secret: String?
    /// The relay's handle of this user, as in `deliver`.
    package internal(set) var handle: UInt32 = 0
    package internal(set) var resumeToken = ""
    package internal(set) var resumed = false
    package internal(set) var lastEnd: CloseNotice?
    /// The highest number accepted of this client object, as far as it is remembered. [MS9]
    package internal(set) var lastNumber: UInt64 = 0
    /// Of what the client object sent before, the relay may not know the outcome. Absent: it does. [MS9]
    package internal(set) var forgotten: Bool?
    package internal(set) var start: UInt32 = 0
    package internal(set) var heartbeatMs = 0
    package internal(set) var presenceTimeoutMs = 0
    package internal(set) var access = AccessBody()
    package internal(set) var limits = ServerLimits()
    /// Milliseconds until each channel has its whole credit; absent: it has it now. [RT8]
    package internal(set) var publishAfterMs: Int?
    /// What the join code of the login stood for, and where it leads. [AC20]
    package internal(set) var joinKey: String?
    package internal(set) var channel: Name?

    package init() {}

    package init(
        id: UInt32, capabilities: [String] = [], relay: String, user: Name, handle: UInt32, resumeToken: String, resumed: Bool,
        lastEnd: CloseNotice?,
        lastNumber: UInt64 = 0, forgotten: Bool = false, start: UInt32, heartbeatMs: Int, presenceTimeoutMs: Int,
        access: AccessBody, limits: ServerLimits, publishAfterMs: Int? = nil, secret: String? = nil, joinKey: String? = nil,
        channel: Name? = nil
    ) {
        self.id = id
        version = Limits.protocolVersion
        self.capabilities = capabilities
        self.relay = relay
        self.user = user
        self.secret = secret
        self.handle = handle
        self.resumeToken = resumeToken
        self.resumed = resumed
        self.lastEnd = lastEnd
        self.lastNumber = lastNumber
        self.forgotten = forgotten ? true : nil
        self.start = start
        self.heartbeatMs = heartbeatMs
        self.presenceTimeoutMs = presenceTimeoutMs
        self.access = access
        self.limits = limits
        self.publishAfterMs = publishAfterMs
        self.joinKey = joinKey
        self.channel = channel
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("access", &access)
        json("capabilities", &capabilities)
        json("channel", &channel)
        json("forgotten", &forgotten)
        json("handle", &handle)
        json("heartbeatMs", &heartbeatMs)
        json("id", &id)
        json("joinKey", &joinKey)
        json("lastEnd", &lastEnd)
        json("lastNumber", &lastNumber)
        json("limits", &limits)
        json("presenceTimeoutMs", &presenceTimeoutMs)
        json("publishAfterMs", &publishAfterMs)
        json("relay", &relay)
        json("resumeToken", &resumeToken)
        json("resumed", &resumed)
        json("secret", &secret)
        json("start", &start)
        json("user", &user)
        json("version", &version)
    }
}

/// Of a code for another device of the user. [AC17]
package struct OfferDeviceRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    /// That of the login; absent: it had none.
    package internal(set) var secret: String?

    package init() {}
    package init(id: UInt32, secret: String?) { (self.id, self.secret) = (id, secret) }

    package mutating func fields(_ json: inout JSONFields) {
        json("id", &id)
        json("secret", &secret)
    }
}

package struct OfferDeviceAnswer: JSONObject {
    package internal(set) var id: UInt32 = 0
    /// 10 characters of Crockford's base 32.
    package internal(set) var code = ""
    package internal(set) var validMs = 0

    package init() {}
    package init(id: UInt32, code: String, validMs: Int) { (self.id, self.code, self.validMs) = (id, code, validMs) }

    package mutating func fields(_ json: inout JSONFields) {
        json("code", &code)
        json("id", &id)
        json("validMs", &validMs)
    }
}

/// Of a code for newcomers. [AC20]
package struct OfferJoinCodeAnswer: JSONObject {
    package internal(set) var id: UInt32 = 0
    /// Letters of `JoinCode`.
    package internal(set) var code = ""
    package internal(set) var validMs = 0

    package init() {}
    package init(id: UInt32, code: String, validMs: Int) { (self.id, self.code, self.validMs) = (id, code, validMs) }

    package mutating func fields(_ json: inout JSONFields) {
        json("code", &code)
        json("id", &id)
        json("validMs", &validMs)
    }
}

/// A join code is over, and its session has not asked for that. [AC20]
package struct JoinCodeEnded: JSONObject {
    package enum Reason: String, CaseIterable, Sendable { case expired, wrongTries, keyChanged, notPermitted }

    /// A `Reason`, or a word of a newer relay. [FR6]
    package internal(set) var reason = ""

    package init() {}
    package init(_ reason: Reason) { self.reason = reason.rawValue }

    package mutating func fields(_ json: inout JSONFields) { json("reason", &reason) }
}

package struct EmptyRequest: JSONObject {
    package internal(set) var id: UInt32 = 0

    package init() {}
    package init(id: UInt32) { self.id = id }

    package mutating func fields(_ json: inout JSONFields) { json("id", &id) }
}

/// Just enough of any request to answer it when the rest cannot be read.
package struct RequestID: JSONObject {
    package internal(set) var id: UInt32 = 0

    package init() {}

    package mutating func fields(_ json: inout JSONFields) { json("id", &id) }
}

package struct EmptyAnswer: JSONObject {
    package internal(set) var id: UInt32 = 0

    package init() {}
    package init(id: UInt32) { self.id = id }

    package mutating func fields(_ json: inout JSONFields) { json("id", &id) }
}

/// Body of `closing`, and `lastEnd` of `welcome`: why a connection ended. [ER2]
package struct CloseNotice: JSONObject, Equatable, Sendable {
    package internal(set) var code: ErrorCode = .badRequest
    package internal(set) var name = ""
    package internal(set) var text = ""
    /// With `versionNotSupported`: those that the relay speaks. [SE3]
    package internal(set) var versions: [Int]?
    /// With `moved`: where the relay is reached that serves. [SE17]
    package internal(set) var address: String?

    package init() {}

    package init(code: ErrorCode, text: String, address: String? = nil) {
        (self.code, self.address) = (code, address)
        name = code.name
        self.text = text
        if code == .versionNotSupported { versions = [Limits.protocolVersion] }
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("address", &address)
        json("code", &code)
        json("name", &name)
        json("text", &text)
        json("versions", &versions)
    }
}

/// Body of `error`. [ER1]
package struct ErrorBody: JSONObject, Equatable, Sendable, Error {
    /// The request that is refused.
    package internal(set) var id: UInt32?
    /// The publish or direct message that is refused.
    package internal(set) var number: UInt64?
    /// The flow whose packet is refused.
    package internal(set) var flow: UInt32?
    /// Of a change set, the ordinal of the change that was refused, from 1. [BL11]
    package internal(set) var change: Int?
    /// Of a publish, how many the relay takes behind it in its channel. [RT8]
    package internal(set) var credit: UInt32?
    package internal(set) var code: ErrorCode = .badRequest
    package internal(set) var name = ""
    package internal(set) var text = ""
    package internal(set) var limit: UInt64?
    package internal(set) var actual: UInt64?
    /// `ErrorCode.Retry`, or a word of a newer relay. [ER5]
    package internal(set) var retry: String?
    package internal(set) var retryAfterMs: UInt64?

    package init() {}

    package init(_ error: WireError, id: UInt32? = nil, number: UInt64? = nil, flow: UInt32? = nil, credit: UInt32? = nil) {
        self.id = id
        self.number = number
        self.flow = flow
        self.credit = credit
        change = error.change
        code = error.code
        name = error.code.name
        text = error.text
        limit = error.limit
        actual = error.actual
        retry = error.code.retry.rawValue
        retryAfterMs = error.retryAfterMilliseconds
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("actual", &actual)
        json("change", &change)
        json("code", &code)
        json("credit", &credit)
        json("flow", &flow)
        json("id", &id)
        json("limit", &limit)
        json("name", &name)
        json("number", &number)
        json("retry", &retry)
        json("retryAfterMs", &retryAfterMs)
        json("text", &text)
    }
}
