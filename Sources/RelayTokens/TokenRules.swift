import RelayRights
import RelayWire

/// Which tokens a relay takes: JWT (RFC 7519) in the compact form of JWS (RFC 7515), signed with HS256 by one of its secrets.
///
/// Everything that is wrong with a token is `tokenInvalid`, but that its time is over, which is `tokenExpired`: then the same
/// user needs nothing but a new one. The error's text says what is wrong and repeats nothing of the token.
public struct TokenRules: Sendable {
    /// By how much the clocks of a token's maker and its checker may differ, in seconds.
    package static let toleranceBounds = 0...300

    private let secrets: [TokenSecret]
    private let audience: String?
    private let toleranceSeconds: Int64

    /// - Parameters:
    ///   - secrets: at least one. Of several each has an id and a token names it (`kid`), so that a secret can be replaced while
    ///     tokens of the old one are still about.
    ///   - audience: what a token must name in `aud`. `nil`: it must not have an `aud`, because then it is meant for others
    ///     (RFC 7519 §4.1.3).
    ///   - tolerance: by how much clocks may differ, 0…300 s; a begun second counts as none.
    /// - Throws: what is wrong with them.
    public init(secrets: [TokenSecret], audience: String? = nil, tolerance: Duration = .seconds(5)) throws(TokenSetupError) {
        guard !secrets.isEmpty else { throw .noSecret }
        if secrets.count > 1 {
            var ids: Set<[UInt8]> = []
            for secret in secrets {
                guard let id = secret.id else { throw .secretWithoutID }
                guard ids.insert(Array(id.utf8)).inserted else { throw .secretIDTwice(id) }
            }
        }
        let bounds = Self.toleranceBounds
        guard tolerance >= .zero, tolerance <= .seconds(bounds.upperBound) else { throw .tolerance(actual: tolerance) }
        self.secrets = secrets
        self.audience = audience
        toleranceSeconds = tolerance.components.seconds
    }

    /// Checks a token as it was received. Nothing of its claims is looked at before the signature over these very bytes holds.
    ///
    /// - Parameter wallMilliseconds: now, in milliseconds since 1970.
    /// - Throws: `tokenExpired` if its time is over and nothing else is wrong; otherwise `tokenInvalid`.
    package func check(_ token: [UInt8], wallMilliseconds: UInt64) throws(WireError) -> CheckedToken {
        guard token.count <= Limits.tokenBytesMax else {
            throw WireError(
                .tokenInvalid, "a token has at most \(Limits.tokenBytesMax) bytes, this one has \(token.count)",
                limit: Limits.tokenBytesMax, actual: token.count)
        }
        let jws = try CompactJWS(token)
        let header = try readTokenJSON(TokenHeader.self, from: jws.header, what: "the header is")
        guard jws.isSigned(with: try secret(named: header.secretID)) else {
            throw WireError(.tokenInvalid, "the signature is not that of the relay's secret")
        }
        let claims = try TokenClaims(readTokenJSON(TokenClaimFields.self, from: jws.payload, what: "the claims are"))
        try checkAudience(claims.audience)
        let end = try checkTimes(claims, now: Int64(clamping: wallMilliseconds))
        return CheckedToken(
            subject: claims.subject, access: Access(role: claims.role, grants: claims.grants, endMilliseconds: end), expires: end,
            tokenID: claims.tokenID)
    }

    /// The same of a token that came as text.
    package func check(_ token: String, wallMilliseconds: UInt64) throws(WireError) -> CheckedToken {
        try check(Array(token.utf8), wallMilliseconds: wallMilliseconds)
    }

    /// The secret that a token says it was signed with; with one secret it need not say it.
    private func secret(named id: String?) throws(WireError) -> TokenSecret {
        guard let id else {
            guard secrets.count == 1 else { throw WireError(.tokenInvalid, "the header has no kid, and this relay has several secrets") }
            return secrets[0]
        }
        if secrets.count == 1, secrets[0].id == nil { return secrets[0] }
        let named = secrets.first { $0.id.map { $0.utf8.elementsEqual(id.utf8) } ?? false }
        guard let named else { throw WireError(.tokenInvalid, "the header's kid names no secret of this relay") }
        return named
    }

    private func checkAudience(_ found: [String]?) throws(WireError) {
        switch (audience, found) {
        case (nil, nil): return
        case (nil, .some): throw WireError(.tokenInvalid, "claim aud names an audience, and this relay has none")
        case (.some, nil): throw WireError(.tokenInvalid, "claim aud is missing")
        case (let audience?, let found?):
            guard found.contains(where: { $0.utf8.elementsEqual(audience.utf8) }) else {
                throw WireError(.tokenInvalid, "claim aud does not name this relay")
            }
        }
    }

    /// - Returns: the first millisecond at which the token is no longer valid.
    private func checkTimes(_ claims: TokenClaims, now: Int64) throws(WireError) -> UInt64 {
        // Integers of JSON are within ±2⁵³ (JS3) and the tolerance is small: a thousand times their sum is an Int64.
        for (claim, begin) in [("nbf", claims.notBefore), ("iat", claims.issuedAt)] {
            if let begin, now < (begin - toleranceSeconds) * 1000 {
                throw WireError(
                    .tokenInvalid, "claim \(claim) is \(begin), which is to come: it is \(now / 1000), \(toleranceSeconds) s are tolerated")
            }
        }
        let end = (claims.expires + toleranceSeconds) * 1000
        guard now < end else {
            throw WireError(
                .tokenExpired, "claim exp is \(claims.expires), which is over: it is \(now / 1000), \(toleranceSeconds) s are tolerated")
        }
        return UInt64(end)
    }
}

/// What a token that was found good is good for.
package struct CheckedToken: Equatable, Sendable {
    /// Whom it lets in.
    package let subject: Name
    /// What it lets them do; ends with the token.
    package let access: Access
    /// The first millisecond since 1970 at which the token is no longer valid: `exp` plus the tolerance.
    package let expires: UInt64
    /// Its own id (`jti`), as whoever made it wrote it: not a name, any text.
    package let tokenID: String?
}
