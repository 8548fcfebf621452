import RelayPrimitives
import RelayWire

/// What tokens are signed with: shared by the relay and whoever lets people in. Shows its bytes to nobody.
public struct TokenSecret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Longest id, in bytes.
    public static let idBytesMax = 64

    /// By which a token says with which of several secrets it was signed (`kid`); 1…64 bytes.
    public let id: String?
    private let keyed: HMACSHA256

    /// - Parameter bytes: 32…1,024, drawn at random: a word that people remember can be found from one token.
    /// - Throws: `TokenSetupError` with limit and actual length.
    public init(id: String? = nil, bytes: [UInt8]) throws(TokenSetupError) {
        guard Limits.tokenSecretBytes.contains(bytes.count) else { throw .secretBytes(actual: bytes.count) }
        if let id, !(1...Self.idBytesMax).contains(id.utf8.count) { throw .secretIDBytes(actual: id.utf8.count) }
        self.id = id
        keyed = HMACSHA256(key: bytes)
    }

    /// The HMAC-SHA-256 of a message: 32 bytes.
    package func code(of message: [UInt8]) -> [UInt8] {
        var code = keyed
        code.update(message)
        return code.finalize()
    }

    public var description: String { "TokenSecret(id: \(id ?? "none"))" }
    /// The id and nothing else.
    public var debugDescription: String { description }
    /// What `dump` and the failures of tests show of it: the id and nothing else.
    public var customMirror: Mirror { Mirror(self, children: ["id": id as Any]) }
}

/// Secrets, rules and claims of tokens that cannot be meant: a mistake of whoever sets up the relay or makes tokens.
public enum TokenSetupError: Error, Equatable, CustomStringConvertible {
    /// A secret that is too short or too long.
    case secretBytes(actual: Int)
    /// An id that is empty or too long.
    case secretIDBytes(actual: Int)
    /// Rules without a secret.
    case noSecret
    /// Several secrets, one of them without an id.
    case secretWithoutID
    /// Two secrets with one id.
    case secretIDTwice(String)
    /// A tolerance outside its bounds.
    case tolerance(actual: Duration)
    /// Claims that no relay takes, and why.
    case claims(String)

    public var description: String {
        switch self {
        case .secretBytes(let actual):
            "a token secret has \(Limits.tokenSecretBytes.lowerBound)…\(Limits.tokenSecretBytes.upperBound) bytes, this one has \(actual)"
        case .secretIDBytes(let actual): "the id of a token secret has 1…\(TokenSecret.idBytesMax) bytes, this one has \(actual)"
        case .noSecret: "tokens need at least one secret"
        case .secretWithoutID: "of several token secrets each has an id"
        case .secretIDTwice(let id): "two token secrets have the id \(id)"
        case .tolerance(let actual):
            "the tolerance for clocks is \(TokenRules.toleranceBounds.lowerBound)…\(TokenRules.toleranceBounds.upperBound) seconds, this one has \(actual)"
        case .claims(let text): text
        }
    }
}
