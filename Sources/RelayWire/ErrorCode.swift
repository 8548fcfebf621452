/// Why the relay refused a request or closed a connection: a number on the wire, never renumbered, never reused.
///
/// 1xx refuses the request and the connection lives; 2xx closes, come back; 3xx closes, stay away. A struct, so
/// that an older client can carry a code it does not know. `docs/protocol.md` has a table with each code's cause. Codes that are not
/// public here tell of a client's own faults, or of a connection that it makes again by itself.
public struct ErrorCode: RawRepresentable, Hashable, Sendable, JSONElement {
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    private init(_ rawValue: UInt16) { self.rawValue = rawValue }

    // 1xx: the request is refused, the connection lives.
    /// A body, flag or field that is not what the frame type asks for.
    public static let badRequest = Self(100)
    /// A frame type that no client sends.
    package static let unknownFrame = Self(101)
    /// A frame other than `login`, `ping`, `pong` before login.
    package static let loginRequired = Self(102)
    /// A second `login` on one connection.
    package static let alreadyLoggedIn = Self(103)
    /// A name that breaks NM1.
    public static let badName = Self(104)
    /// Text that is not well-formed UTF-8.
    package static let badText = Self(105)
    /// A payload, text or set of states over its limit.
    public static let tooLarge = Self(106)
    /// A message, direct message, request, new channel or new user id over its rate.
    public static let rateLimited = Self(107)
    /// `unsubscribe` without a subscription; a user in `unsubscribeTopic` who was not selected.
    public static let notSubscribed = Self(108)
    /// `leave` or a topic request without having joined the channel.
    public static let notJoined = Self(109)
    /// `leaveTopic` of a topic one does not publish in.
    public static let topicNotJoined = Self(110)
    /// `publishPacket` on a flow that is not one's own.
    package static let unknownFlow = Self(111)
    /// One more of something than a limit allows.
    public static let limitReached = Self(112)
    /// One more user than a stream channel holds.
    public static let channelFull = Self(113)
    /// `direct` to a user without a connection, `endSession` of one without a session.
    public static let userOffline = Self(114)
    /// `direct` that was not acknowledged in time.
    public static let unconfirmed = Self(115)
    /// The relay does not know whether it accepted the message of this number.
    public static let outcomeUnknown = Self(116)
    /// A retained message on a relay that keeps no boards.
    public static let notSupported = Self(117)
    /// One more channel, user id, board, lock or byte of memory than the relay holds.
    public static let relayFull = Self(118)
    /// A quiet member sets states or joins a topic.
    public static let notPresent = Self(119)
    /// A revision given as a condition is not the one found.
    public static let revisionMismatch = Self(120)
    /// `updateMetadata` or `removeMetadata` of an item that is not there.
    public static let itemNotFound = Self(121)
    /// One more byte than a relay's metadata, or its boards, may have.
    public static let storageFull = Self(122)
    /// A change that could not be made durable.
    public static let storageFailed = Self(123)
    /// Too many bytes of changes wait to be stored.
    public static let busy = Self(124)
    /// A lock that is not there, or was removed meanwhile.
    public static let lockNotFound = Self(125)
    /// A lock that another device holds.
    public static let lockHeld = Self(126)
    /// A lock that the author, or the owner named, does not hold.
    public static let lockNotHeld = Self(127)
    /// A skipped number: a higher one was accepted, this one never will be.
    public static let notAccepted = Self(128)
    /// One more byte than a board may have.
    public static let boardFull = Self(129)
    /// One more byte than one user may have on all boards.
    public static let quotaReached = Self(130)
    /// No board of that name.
    public static let boardNotFound = Self(131)
    /// No `clear` that could be undone.
    public static let nothingToUndo = Self(132)
    /// A part of a drawing without the parts before it.
    public static let partMissing = Self(133)
    /// A token that cannot be read, was not signed with the relay's secret, or is not for this relay and moment.
    public static let tokenInvalid = Self(134)
    /// A token that has expired; a new one helps.
    public static let tokenExpired = Self(135)
    /// A key that is not one of the relay's keys.
    public static let keyWrong = Self(136)
    /// A login without a key or token that the relay takes.
    public static let credentialRequired = Self(137)
    /// A user id that belongs to another client.
    public static let userIDTaken = Self(138)
    /// A request without the right for it.
    public static let notPermitted = Self(139)
    /// `unbanUser` for a user without a ban.
    public static let notBanned = Self(140)
    /// A request that waited and that its client withdrew.
    public static let cancelled = Self(141)
    /// A publish behind one that was refused, in the same channel.
    package static let behindRefused = Self(142)
    /// A device's code or a join code that is wrong, used or too old.
    public static let codeWrong = Self(143)
    /// A moderator has ended a channel that one was in.
    public static let channelEnded = Self(144)
    /// A board that was to go only if nobody had used it for some time.
    public static let boardInUse = Self(145)

    // 2xx: the connection is closed; come back.
    /// The relay is ending.
    package static let shuttingDown = Self(200)
    /// The reader let more queue up than DL8 or DL9 allow.
    package static let slowConsumer = Self(201)
    /// Nothing came for two heartbeat intervals.
    package static let heartbeatTimeout = Self(202)
    /// No login in time.
    package static let loginTimeout = Self(203)
    /// The relay holds all connections it may.
    package static let tooManyConnections = Self(204)
    /// The session's token has expired.
    public static let accessExpired = Self(205)
    /// The relay holds all sessions it may.
    package static let tooManySessions = Self(206)
    /// Another relay of the space serves. [SE17]
    package static let moved = Self(207)

    // 3xx: the connection is closed; do not come back by yourself.
    /// A frame length below 2.
    package static let protocolError = Self(300)
    /// Another protocol version in `login`.
    package static let versionNotSupported = Self(301)
    /// A newer login of the same device, or one with `onlyDevice`.
    public static let replaced = Self(302)
    /// Ten times a rate for ten seconds.
    package static let abuse = Self(303)
    /// `logout`.
    package static let loggedOut = Self(304)
    /// A head that announces too much; too much before login.
    package static let frameTooLarge = Self(305)
    /// The first byte of the connection is not 0.
    package static let notRelayProtocol = Self(306)
    /// Three wrong credentials on one connection.
    package static let credentialsWrong = Self(307)
    /// The key that let the session in was replaced.
    public static let keyChanged = Self(308)
    /// A moderator has ended the session.
    public static let endedByModerator = Self(309)
    /// The user, or its client, is banned.
    public static let banned = Self(310)

    /// Frames in the clear, at a relay that wants TLS.
    public static let tlsRequired = Self(311)
    /// A login that names no space of the relay, or none where there are several.
    package static let spaceUnknown = Self(312)

    /// The codes this version of the protocol knows, in numeric order.
    package static let all: [(code: ErrorCode, name: String)] = [
        (.badRequest, "badRequest"), (.unknownFrame, "unknownFrame"), (.loginRequired, "loginRequired"),
        (.alreadyLoggedIn, "alreadyLoggedIn"), (.badName, "badName"), (.badText, "badText"), (.tooLarge, "tooLarge"),
        (.rateLimited, "rateLimited"), (.notSubscribed, "notSubscribed"), (.notJoined, "notJoined"),
        (.topicNotJoined, "topicNotJoined"), (.unknownFlow, "unknownFlow"), (.limitReached, "limitReached"),
        (.channelFull, "channelFull"), (.userOffline, "userOffline"), (.unconfirmed, "unconfirmed"),
        (.outcomeUnknown, "outcomeUnknown"), (.notSupported, "notSupported"), (.relayFull, "relayFull"),
        (.notPresent, "notPresent"), (.revisionMismatch, "revisionMismatch"), (.itemNotFound, "itemNotFound"),
        (.storageFull, "storageFull"), (.storageFailed, "storageFailed"), (.busy, "busy"),
        (.lockNotFound, "lockNotFound"), (.lockHeld, "lockHeld"), (.lockNotHeld, "lockNotHeld"), (.notAccepted, "notAccepted"),
        (.boardFull, "boardFull"), (.quotaReached, "quotaReached"), (.boardNotFound, "boardNotFound"), (.nothingToUndo, "nothingToUndo"),
        (.partMissing, "partMissing"), (.tokenInvalid, "tokenInvalid"), (.tokenExpired, "tokenExpired"), (.keyWrong, "keyWrong"),
        (.credentialRequired, "credentialRequired"), (.userIDTaken, "userIDTaken"), (.notPermitted, "notPermitted"),
        (.notBanned, "notBanned"), (.cancelled, "cancelled"), (.behindRefused, "behindRefused"), (.codeWrong, "codeWrong"),
        (.channelEnded, "channelEnded"), (.boardInUse, "boardInUse"),
        (.shuttingDown, "shuttingDown"), (.slowConsumer, "slowConsumer"), (.heartbeatTimeout, "heartbeatTimeout"),
        (.loginTimeout, "loginTimeout"), (.tooManyConnections, "tooManyConnections"), (.accessExpired, "accessExpired"),
        (.tooManySessions, "tooManySessions"), (.moved, "moved"),
        (.protocolError, "protocolError"), (.versionNotSupported, "versionNotSupported"), (.replaced, "replaced"),
        (.abuse, "abuse"), (.loggedOut, "loggedOut"), (.frameTooLarge, "frameTooLarge"),
        (.notRelayProtocol, "notRelayProtocol"), (.credentialsWrong, "credentialsWrong"), (.keyChanged, "keyChanged"),
        (.endedByModerator, "endedByModerator"), (.banned, "banned"), (.tlsRequired, "tlsRequired"),
        (.spaceUnknown, "spaceUnknown"),
    ]

    /// The name in the table of codes, or `code NNN` for one this version does not know.
    public var name: String { Self.all.first { $0.code == self }?.name ?? "code \(rawValue)" }

    /// Whether asking again may help.
    public enum Retry: String, Equatable, Sendable {  // [ER5]
        /// At once, under a new id or number.
        case now
        /// After `retryAfter`, without it after a growing pause.
        case later
        /// On a new connection, with another credential.
        case reconnect
        /// The same is refused again.
        case never
    }

    private static let helpedByTime: Set<ErrorCode> = [
        .rateLimited, .limitReached, .channelFull, .userOffline, .unconfirmed, .relayFull, .storageFull, .storageFailed, .busy, .lockHeld,
        .boardFull, .quotaReached,
    ]

    /// What the relay says of this code in `retry`.
    public var retry: Retry {  // [ER5]
        if clientReconnects || self == .tokenExpired { return .reconnect }
        if self == .notAccepted || self == .partMissing || self == .cancelled || self == .behindRefused { return .now }
        return Self.helpedByTime.contains(self) ? .later : .never
    }

    /// Whether the connection ends with this code.
    package var closesConnection: Bool { (200..<400).contains(rawValue) }

    /// Whether a client comes back by itself after a close with this code.
    package var clientReconnects: Bool { (200..<300).contains(rawValue) }  // [ER3]
}

/// What is wrong with bytes that a peer sent: the code to answer with, and what was allowed and found.
///
/// A class, so that what throws it hands on one word: six fields took every caller of what throws much machine code.
package final class WireError: Error, Equatable, Sendable {
    package let code: ErrorCode
    /// One sentence for people.
    package let text: String
    /// The bound that was passed, in the unit that `text` names.
    package let limit: UInt64?
    /// The value that was found.
    package let actual: UInt64?
    /// How long to wait before the same request can succeed.
    package let retryAfterMilliseconds: UInt64?
    /// Of a change set, the ordinal of the change that was refused, from 1. [BL11]
    package let change: Int?

    package init(
        _ code: ErrorCode, _ text: String, limit: Int? = nil, actual: Int? = nil,
        retryAfterMilliseconds: UInt64? = nil
    ) {
        self.code = code
        self.text = text
        self.limit = limit.map { UInt64($0) }
        self.actual = actual.map { UInt64($0) }
        self.retryAfterMilliseconds = retryAfterMilliseconds
        change = nil
    }

    /// The same numbers under another code, or of one change of a change set.
    package init(_ error: WireError, code: ErrorCode? = nil, change: Int? = nil) {
        self.code = code ?? error.code
        text = change.map { "change \($0): \(error.text)" } ?? error.text
        (limit, actual, retryAfterMilliseconds) = (error.limit, error.actual, error.retryAfterMilliseconds)
        self.change = change
    }

    package static func == (left: WireError, right: WireError) -> Bool {
        left.code == right.code && left.text == right.text && left.limit == right.limit && left.actual == right.actual
            && left.retryAfterMilliseconds == right.retryAfterMilliseconds && left.change == right.change
    }

    /// A field of a request that is not in its range.
    package static func outside(_ field: String, _ allowed: ClosedRange<Int>, _ actual: Int) -> WireError {
        WireError(
            .badRequest, "field \(field) is within \(allowed.lowerBound)…\(allowed.upperBound), not \(actual)",
            limit: actual < allowed.lowerBound ? allowed.lowerBound : allowed.upperBound, actual: max(0, actual))
    }
}
