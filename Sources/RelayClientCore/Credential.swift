import RelayWire

/// What lets a client into a relay that is not open.
public enum Credential: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// A key that many share: `#key=…` of a relay's address.
    case key(String)
    /// A token for one user id, signed by somebody whom the relay trusts (JWT, HS256).
    case token(String)
    /// Six letters that a moderator shows newcomers: the first login puts the key in its place that `WhiteboardClient.invitation` tells.
    case joinCode(String)

    var key: String? { if case .key(let key) = self { key } else { nil } }
    var token: String? { if case .token(let token) = self { token } else { nil } }
    var joinCode: String? { if case .joinCode(let code) = self { code } else { nil } }

    /// Which of them it is, and nothing of what it says.
    public var description: String {
        switch self {
        case .key: "a key"
        case .token: "a token"
        case .joinCode: "a join code"
        }
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
