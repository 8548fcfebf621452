import RelayPrimitives
package import RelayRights
import RelayTokens

/// Who may come in, and with which rights. [AC1]
package struct AccessRules: Sendable {
    /// A shared key, known by its digest alone.
    package struct Key: Sendable {
        package var digest: [UInt8]
        package var role: Role

        /// - Parameter text: as clients send it.
        package init(_ text: String, _ role: Role) {
            digest = SHA256.hash(Array(text.utf8))
            self.role = role
        }
    }

    /// Anyone who can reach the relay may do everything.
    package var isOpen: Bool
    package var keys: [Key]
    /// `nil`: no tokens are taken.
    package var tokens: TokenRules?
    /// As text, for moderators who invite others; `nil`: the relay has no join key. [AC16]
    package var joinKey: String?

    package static let open = AccessRules(isOpen: true, keys: [], tokens: nil)

    package init(isOpen: Bool = false, keys: [Key], tokens: TokenRules?, joinKey: String? = nil) {
        self.isOpen = isOpen
        self.keys = keys
        self.joinKey = joinKey
        self.tokens = tokens
    }

    /// Whether this is the key of a digest.
    static func digest(_ text: String, is digest: [UInt8]) -> Bool { isEqualInConstantTime(SHA256.hash(Array(text.utf8)), digest) }

    /// Compares with every key, each in constant time: how long it takes says nothing about any.
    func key(_ text: String) -> Key? {
        let digest = SHA256.hash(Array(text.utf8))
        var found: Key?
        for key in keys where isEqualInConstantTime(key.digest, digest) { found = key }
        return found
    }
}

/// What let a session in.
struct Admission {
    var access: Access
    /// Of the key, if it was one: sessions end with it.
    var keyDigest: [UInt8]?
    var isToken = false
}
