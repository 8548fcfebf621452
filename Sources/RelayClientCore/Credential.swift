import RelayWire

/// What lets a client into a relay that is not open.
public enum Credential: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// A key that many share: `#key=…` of a relay's address.
    case key(String)
    /// A token for one user id, signed by somebody whom the relay trusts (JWT, HS256).
    case token(String)
    /// Six letters that a moderator shows newcomers: the first login puts the key in its place that `RelayClient.invitation` tells. [AC20]
    case joinCode(String)

    /// Reads what stands behind `#` in an address that a relay has printed: `http://192.168.1.5:7420/#key=…`, `…#token=…`.
    ///
    /// - Returns: `nil` if there is neither a key nor a token.
    public init?(address: String) {
        guard let hash = address.firstIndex(of: "#") else { return nil }
        for part in address[address.index(after: hash)...].split(separator: "&") {
            if part.hasPrefix("key="), part.utf8.count > 4 {
                self = .key(String(part.dropFirst(4)))
                return
            }
            if part.hasPrefix("token="), part.utf8.count > 6 {
                self = .token(String(part.dropFirst(6)))
                return
            }
        }
        return nil
    }

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
