import RelayWire

/// How a client stands with its relay. Each change is an event, in order with all others.
public enum LinkState: Equatable, Sendable {
    /// Nothing has needed the relay yet: the first call that does connects.
    case idle
    /// A link is being made, or is there and not logged in yet.
    case connecting
    /// Logged in: what is sent leaves at once, as far as the rates allow.
    ///
    /// `resumed`: others have not noticed the break, and what was missed is told exactly. Otherwise the session is new:
    /// channels are opened again, messages missed are told, and packets of meanwhile, of whatever flow, are lost.
    case connected(resumed: Bool)
    /// The link ended; the client comes back by itself `after` this time. What is sent waits. The reason's code is `connectFailed`,
    /// `timedOut`, `relayFault`, `otherRelay`, or one of the relay's from 200 on (202 also when the relay fell silent).
    case waiting(after: Duration, reason: RelayError)
    /// The end: this client does not come back. The reason's code is `clientClosed` after `close()`, the relay's from 300 on, or why it
    /// refused the login.
    case closed(reason: RelayError)

    /// Whether what is sent leaves at once, as far as the rates allow.
    public var isConnected: Bool {
        if case .connected = self { true } else { false }
    }
}

/// Why a link ended.
enum LinkEnd {
    /// No link could be made, or it broke; with the system's words.
    case linkFailed(String)
    /// Linking up and logging in took longer than `connectTimeout`.
    case timedOut
    /// Nothing came from the relay for two heartbeat intervals, or after `wakeUp()` within the time for a probe.
    case relaySilent
    /// The relay said why it closes. 2xx: the client comes back; 3xx: it does not.
    case relayClosed(CloseNotice)
    /// The relay refused the login.
    case loginRefused(RelayError)
    /// The relay sent what the protocol does not allow.
    case relayFault(String)
    /// Another relay answers there than the one that is meant: its public id.
    case otherRelay(String)
    /// `close()` was called.
    case closedByApp

    /// The same for apps, and for calls that still wait.
    var error: RelayError {
        switch self {
        case .linkFailed(let text): RelayError(.connectFailed, text)
        case .timedOut: RelayError(.timedOut, "the relay did not let in in time")
        case .relaySilent: RelayError(.heartbeatTimeout, "the relay has fallen silent")
        case .relayClosed(let notice): RelayError(notice.code, notice.text)
        case .loginRefused(let error): error
        case .relayFault(let text): RelayError(.relayFault, text)
        case .otherRelay(let id): RelayError(.otherRelay, "another relay answers here: \(id)")
        case .closedByApp: .clientClosed
        }
    }
}
