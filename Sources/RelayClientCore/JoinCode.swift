import RelayWire

// A code with which newcomers come in. [AC20]

/// What a join code stood for: the relay's key for newcomers, and the channel that the code leads to.
package struct JoinInvitation: Equatable, Sendable {
    package var key: String
    package var channel: Name?
}

/// Why a join code is void.
package enum JoinCodeEnd: String, Hashable, Sendable {
    /// Its time is over.
    case expired
    /// So many wrong ones came that somebody may be guessing.
    case wrongTries
    /// The relay has another key.
    case keyChanged
    /// This client is no longer a moderator.
    case notPermitted
    /// As a newer relay says it.
    case other
}

extension ClientMachine {
    mutating func joinCodeEnded(_ ended: JoinCodeEnded) { emit(.joinCodeEnded(JoinCodeEnd(rawValue: ended.reason) ?? .other)) }
}
