/// Why the relay refused a request or closed a connection: a number on the wire, never renumbered, never reused.
///
/// 1xx refuses the request and the connection lives; 2xx closes, come back; 3xx closes, stay away. A struct, so
/// that an older client can carry a code it does not know. `docs/protocol.md` has a table with each code's cause.
public struct ErrorCode: RawRepresentable, Hashable, Sendable, Codable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    private init(_ rawValue: UInt16) { self.rawValue = rawValue }

    // 1xx: the request is refused, the connection lives.
    public static let badRequest = Self(100), unknownFrame = Self(101), loginRequired = Self(102)
    public static let alreadyLoggedIn = Self(103), badName = Self(104), badText = Self(105), tooLarge = Self(106)
    public static let rateLimited = Self(107), notSubscribed = Self(108), notJoined = Self(109)
    public static let topicNotJoined = Self(110), unknownFlow = Self(111), limitReached = Self(112)
    public static let channelFull = Self(113), userOffline = Self(114), unconfirmed = Self(115)
    public static let outcomeUnknown = Self(116), notSupported = Self(117), relayFull = Self(118)
    public static let notPresent = Self(119), revisionMismatch = Self(120), itemNotFound = Self(121)
    public static let storageFull = Self(122), storageFailed = Self(123), busy = Self(124)
    public static let lockNotFound = Self(125), lockHeld = Self(126), lockNotHeld = Self(127)

    // 2xx: the connection is closed; come back.
    public static let shuttingDown = Self(200), slowConsumer = Self(201), heartbeatTimeout = Self(202)
    public static let loginTimeout = Self(203), tooManyConnections = Self(204)

    // 3xx: the connection is closed; do not come back by yourself.
    public static let protocolError = Self(300), versionNotSupported = Self(301), replaced = Self(302)
    public static let abuse = Self(303), loggedOut = Self(304), frameTooLarge = Self(305), notRelayProtocol = Self(306)

    /// The codes this version of the protocol knows, in numeric order.
    public static let all: [(code: ErrorCode, name: String)] = [
        (.badRequest, "badRequest"), (.unknownFrame, "unknownFrame"), (.loginRequired, "loginRequired"),
        (.alreadyLoggedIn, "alreadyLoggedIn"), (.badName, "badName"), (.badText, "badText"), (.tooLarge, "tooLarge"),
        (.rateLimited, "rateLimited"), (.notSubscribed, "notSubscribed"), (.notJoined, "notJoined"),
        (.topicNotJoined, "topicNotJoined"), (.unknownFlow, "unknownFlow"), (.limitReached, "limitReached"),
        (.channelFull, "channelFull"), (.userOffline, "userOffline"), (.unconfirmed, "unconfirmed"),
        (.outcomeUnknown, "outcomeUnknown"), (.notSupported, "notSupported"), (.relayFull, "relayFull"),
        (.notPresent, "notPresent"), (.revisionMismatch, "revisionMismatch"), (.itemNotFound, "itemNotFound"),
        (.storageFull, "storageFull"), (.storageFailed, "storageFailed"), (.busy, "busy"),
        (.lockNotFound, "lockNotFound"), (.lockHeld, "lockHeld"), (.lockNotHeld, "lockNotHeld"),
        (.shuttingDown, "shuttingDown"), (.slowConsumer, "slowConsumer"), (.heartbeatTimeout, "heartbeatTimeout"),
        (.loginTimeout, "loginTimeout"), (.tooManyConnections, "tooManyConnections"),
        (.protocolError, "protocolError"), (.versionNotSupported, "versionNotSupported"), (.replaced, "replaced"),
        (.abuse, "abuse"), (.loggedOut, "loggedOut"), (.frameTooLarge, "frameTooLarge"),
        (.notRelayProtocol, "notRelayProtocol"),
    ]

    /// The name in the table of codes, or `code NNN` for one this version does not know.
    public var name: String { Self.all.first { $0.code == self }?.name ?? "code \(rawValue)" }

    /// Whether the connection ends with this code.
    public var closesConnection: Bool { (200..<400).contains(rawValue) }

    /// Whether a client comes back by itself after a close with this code. [ER3]
    public var clientReconnects: Bool { (200..<300).contains(rawValue) }

    public init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(UInt16.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// What is wrong with bytes that a peer sent: the code to answer with, and what was allowed and found.
public struct WireError: Error, Hashable, Sendable {
    public var code: ErrorCode
    /// One sentence for people.
    public var text: String
    /// The bound that was passed, in the unit that `text` names.
    public var limit: UInt64?
    /// The value that was found.
    public var actual: UInt64?
    /// How long to wait before the same request can succeed.
    public var retryAfterMilliseconds: UInt64?

    public init(
        _ code: ErrorCode, _ text: String, limit: Int? = nil, actual: Int? = nil,
        retryAfterMilliseconds: UInt64? = nil
    ) {
        self.code = code
        self.text = text
        self.limit = limit.map { UInt64($0) }
        self.actual = actual.map { UInt64($0) }
        self.retryAfterMilliseconds = retryAfterMilliseconds
    }
}
