@_exported public import RelayRights
import RelayWire

/// Makes tokens, as `TokenRules` reads them.
public enum TokenMint {
    /// A token with which a user comes in.
    ///
    /// - Parameters:
    ///   - expires: when it ends, in seconds since 1970.
    ///   - role: what the user is on every channel; `nil`: only the grants count.
    ///   - grants: what the user may do besides: rights by a channel's name, by the beginning of names (`board-*`) or on all (`*`).
    ///   - audience: what the relay's rules call it, if they do.
    /// - Throws: `TokenSetupError.claims` for what no relay takes: a wrong name or pattern, over 64 patterns, no right at all, a time
    ///   beyond 2⁵³ − 1 s, or a token of more than 3,072 bytes.
    public static func mint(
        for user: String, expires: Int64, role: Role? = nil, grants: [String: Rights] = [:], audience: String? = nil, secret: TokenSecret
    ) throws(TokenSetupError) -> String {
        guard expires.magnitude <= Limits.integerMax else {
            throw .claims("claim exp is within ±\(Limits.integerMax) s, this one is \(expires)")
        }
        do {
            var entries: [Grants.Entry] = []
            for (pattern, rights) in grants { entries.append(Grants.Entry(try ChannelPattern(pattern), rights)) }
            let claims = TokenClaims(
                subject: try Name(user), expires: expires, audience: audience.map { [$0] }, role: role, grants: try Grants(entries))
            _ = try TokenClaims(readTokenJSON(TokenClaimFields.self, from: claims.json, what: "the claims are"))
            return try mint(claims, secret: secret)
        } catch {
            throw .claims(error.text)
        }
    }

    /// The token that says this. The same claims and secret always give the same text.
    ///
    /// - Throws: `tokenInvalid` with limit and actual size if it gets larger than a relay takes (many grants).
    package static func mint(_ claims: TokenClaims, secret: TokenSecret) throws(WireError) -> String {
        let token = CompactJWS.sign(
            header: JSONBody.encode(TokenHeader(secretID: secret.id)), payload: claims.json, with: secret)
        guard token.utf8.count <= Limits.tokenBytesMax else {
            throw WireError(
                .tokenInvalid, "a token has at most \(Limits.tokenBytesMax) bytes, this one would have \(token.utf8.count)",
                limit: Limits.tokenBytesMax, actual: token.utf8.count)
        }
        return token
    }
}
