package import RelayRights
package import RelayCore
import RelayTokens
internal import RelayWire
internal import RelayTesting

/// Keys, secrets and tokens for tests, all of which a log line would show: each has a word that stands nowhere else.
package enum TestAccess {
    package static let readerKey = "KEYREADER-0001"
    package static let editorKey = "KEYEDITOR-0002"
    package static let coeditorKey = "KEYCOEDITOR-0004"
    package static let hostKey = "KEYHOST-0003"

    package static func key(_ role: Role) -> String {
        switch role {
        case .reader: readerKey
        case .editor: editorKey
        case .coeditor: coeditorKey
        case .moderator: hostKey
        }
    }

    package static let tokenSecret = try! TokenSecret(bytes: Array("SIGNING-SECRET-OF-THE-TEST-RELAY".utf8))

    /// A key for each role, and tokens, whose times are exact: no clock differs here.
    package static let rules = AccessRules(
        keys: [.init(readerKey, .reader), .init(editorKey, .editor), .init(hostKey, .moderator), .init(coeditorKey, .coeditor)],
        tokens: try! TokenRules(secrets: [tokenSecret], tolerance: .zero))

    /// The editors' key is the one with which others are invited.
    package static let inviting = AccessRules(
        keys: rules.keys, tokens: rules.tokens, joinKey: editorKey)

    /// Of a client that always uses this user id: 32 hexadecimal digits.
    package static func secret(of user: String) -> String {
        let digits = user.utf8.reduce(UInt64(0xFEED_FACE)) { $0 &* 31 &+ UInt64($1) } % 0x1_0000_0000
        let text = String(digits, radix: 16)
        return "5ec4e7" + String(repeating: "0", count: 26 - text.count) + text
    }
}

extension HubDriver {
    /// A token that counts from now on.
    package func token(
        _ user: String, role: Role? = nil, grants: [String: [String]] = [:], seconds: Int64 = 3600,
        secret: TokenSecret = TestAccess.tokenSecret
    ) -> String {
        let claims = TokenClaims(
            subject: try! Name(user), expires: Int64(now.wallMilliseconds / 1000) + seconds, role: role, grants: try! Grants(words: grants))
        return try! TokenMint.mint(claims, secret: secret)
    }
}
