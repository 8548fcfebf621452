import RelayPrimitives
import RelayRights
import RelayTokens
import RelayWire
import Testing

/// What a check of a token came to: the token, or the code and text it was refused with.
func outcome(_ rules: TokenRules, _ token: [UInt8], now: UInt64) -> Result<CheckedToken, WireError> {
    Result { () throws(WireError) in try rules.check(token, wallMilliseconds: now) }
}

extension Result where Success == CheckedToken, Failure == WireError {
    /// `nil` if the token was found good.
    var refusal: WireError? {
        if case .failure(let error) = self { return error }
        return nil
    }
}

/// A user, a moment, and tokens of that user for an hour from then.
enum Sample {
    static let now: UInt64 = 1_780_272_000_000
    static let seconds = Int64(now / 1000)
    static let bytes = (0..<32).map { UInt8($0) }

    static func secret(_ id: String? = nil) throws -> TokenSecret { try TokenSecret(id: id, bytes: bytes) }
    static func rules() throws -> TokenRules { try TokenRules(secrets: [secret()]) }

    static func claims(role: Role? = .editor, grants: [String: [String]] = [:]) throws -> TokenClaims {
        TokenClaims(subject: try Name("anna"), expires: seconds + 3600, role: role, grants: try Grants(words: grants))
    }

    /// A token of any text, rightly signed.
    static func signed(header: String = #"{"alg":"HS256"}"#, payload: String) -> [UInt8] {
        let signed = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
        return Array((signed + "." + Base64URL.encode(HMACSHA256.authenticate(Array(signed.utf8), key: bytes))).utf8)
    }
}
