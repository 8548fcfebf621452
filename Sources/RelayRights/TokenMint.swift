import RelayWire

/// Makes tokens, as `TokenRules` reads them.
package enum TokenMint {
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
