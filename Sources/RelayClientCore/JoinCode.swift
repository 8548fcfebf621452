import RelayWire

// A code with which newcomers come in. [AC20]

/// Six letters that stand for the join key, and lead to a channel.
public struct JoinCodeOffer: Hashable, Sendable {
    /// Capital letters, none of them a vowel or L. Small letters, spaces and hyphens are taken as well.
    public var code: String
    /// How long newcomers can use it, from now on, if nothing ends it before.
    public var validFor: Duration

    package init(code: String, validFor: Duration) { (self.code, self.validFor) = (code, validFor) }
}

/// What a join code stood for.
public struct JoinInvitation: Hashable, Sendable, CustomReflectable {
    /// The relay's key for newcomers: from the next start of the app on its `Credential`.
    public var key: String
    /// The channel that the code leads to.
    public var channel: String

    package init(key: String, channel: String) { (self.key, self.channel) = (key, channel) }

    /// The channel, and nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: ["channel": channel]) }
}

/// Why a join code is void.
public enum JoinCodeEnd: String, Hashable, Sendable {
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
