import RelayWire

/// Why something that a client was asked to do did not happen.
///
/// Tell errors apart by `code`: the relay's codes are in `docs/protocol.md`, the client's own (900 and up, never on
/// the wire) stand below. `text` is for people.
public struct RelayError: Error, Equatable, Sendable {
    /// What went wrong, for programs: compare codes, never texts.
    public var code: ErrorCode
    /// One sentence for people.
    public var text: String
    /// The bound that was passed, in the unit that `text` names.
    public var limit: Int?
    /// The value that was found, in the same unit.
    public var actual: Int?
    /// Whether asking again may help.
    public var retry: ErrorCode.Retry
    /// How long to wait before the same can succeed.
    public var retryAfter: Duration?

    /// Of a call that ended before its answer: whether something may have happened; `nil` of all else.
    public var outcome: Outcome?

    /// What has become of a call that ended before its answer.
    public enum Outcome: Sendable {
        /// It was never sent.
        case nothingHappened
        /// It was sent: it may have happened, or may still happen.
        case unknown
    }

    /// Of a batch, the index of the change that was refused; `nil` of all else.
    public var changeIndex: Int?

    /// An error of the client's own.
    package init(
        _ code: ErrorCode, _ text: String, limit: Int? = nil, actual: Int? = nil, retryAfter: Duration? = nil, outcome: Outcome? = nil
    ) {
        self.code = code
        self.text = text
        self.limit = limit
        self.actual = actual
        self.retryAfter = retryAfter
        self.outcome = outcome
        retry = [.connectFailed, .timedOut, .unsentFull, .notConnected].contains(code) ? .later : code.retry
    }

    /// The code's name in `docs/protocol.md`, or of the client's own codes.
    package var name: String { ErrorCode.clientNames.first { $0.code == code }?.name ?? code.name }

    package init(_ error: WireError) {
        self.init(
            error.code, error.text, limit: error.limit.map(Int.init(clamping:)), actual: error.actual.map(Int.init(clamping:)),
            retryAfter: error.retryAfterMilliseconds.map { .milliseconds(Int64(clamping: $0)) })
    }

    package init(_ body: ErrorBody) {
        self.init(
            body.code, body.text, limit: body.limit.map(Int.init(clamping:)), actual: body.actual.map(Int.init(clamping:)),
            retryAfter: body.retryAfterMs.map { .milliseconds(Int64(clamping: $0)) })
        // A word that this client does not know promises nothing. [ER5]
        retry = body.retry.flatMap(ErrorCode.Retry.init(rawValue:)) ?? .never
        changeIndex = body.change.map { $0 - 1 }
    }

    package init(_ notice: NotStored) {
        self.init(notice.code, notice.text)
        retry = notice.retry.flatMap(ErrorCode.Retry.init(rawValue:)) ?? .never
    }
}

extension RelayError: CustomStringConvertible {
    /// `tooLarge: a packet has at most 1024 bytes, this one has 1025`.
    public var description: String { "\(name): \(text)" }
}

/// Codes that a client gives by itself. They never stand on the wire, whose codes are below 400.
extension ErrorCode {
    /// No link to the relay could be made.
    public static let connectFailed = ErrorCode(rawValue: 900)
    /// The relay did not answer within the time that the options give.
    public static let timedOut = ErrorCode(rawValue: 901)
    /// What waits to be sent has reached its bound; nothing was queued.
    public static let unsentFull = ErrorCode(rawValue: 902)
    /// The client has been closed.
    public static let clientClosed = ErrorCode(rawValue: 903)
    /// The relay sent what the protocol does not allow.
    public static let relayFault = ErrorCode(rawValue: 904)
    /// The file that keeps the client secret cannot be read or made.
    public static let secretNotKept = ErrorCode(rawValue: 909)

    /// There is no link to the relay, and the call does not wait for one.
    public static let notConnected = ErrorCode(rawValue: 905)

    /// A reader took less than came, and has ended.
    public static let tooSlow = ErrorCode(rawValue: 906)
    /// A lock was lost before the body that had it ended.
    public static let lockLost = ErrorCode(rawValue: 907)
    /// Another relay than the invitation means answers at its address.
    public static let otherRelay = ErrorCode(rawValue: 908)

    static let clientNames: [(code: ErrorCode, name: String)] = [
        (.connectFailed, "connectFailed"), (.timedOut, "timedOut"), (.unsentFull, "unsentFull"),
        (.clientClosed, "clientClosed"), (.relayFault, "relayFault"),
        (.secretNotKept, "secretNotKept"), (.notConnected, "notConnected"), (.tooSlow, "tooSlow"), (.lockLost, "lockLost"),
        (.otherRelay, "otherRelay"),
    ]
}

extension ErrorCode {
    /// Whether a relay says that something is over which it was asked to end.
    package var isOverAlready: Bool { [.notSubscribed, .notJoined, .topicNotJoined].contains(self) }
}

extension RelayError {
    static func outcomeUnknown(_ what: String) -> RelayError {
        RelayError(.outcomeUnknown, "the link ended before \(what) was answered: it may have happened or not", outcome: .unknown)
    }

    package static let clientClosed = RelayError(.clientClosed, "the client is closed")
}
