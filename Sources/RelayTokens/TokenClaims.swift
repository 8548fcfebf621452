import RelayRights
import RelayWire

/// What a token says (RFC 7519 §4.1, and `role` and `grants`, which are this relay's). Times are seconds since 1970.
///
/// Claims that are not among these mean nothing here, and keep to the same JSON.
package struct TokenClaims: Equatable {
    /// `sub`: whom it is for.
    package var subject: Name
    /// `exp`: when it ends.
    package var expires: Int64
    /// `nbf`: from when it counts.
    package var notBefore: Int64?
    /// `iat`: when it was made.
    package var issuedAt: Int64?
    /// `aud`: which relays it is for. In JSON one is a string, several are a list.
    package var audience: [String]?
    /// `jti`: its own id.
    package var tokenID: String?
    package var role: Role?
    package var grants: Grants

    package init(
        subject: Name, expires: Int64, notBefore: Int64? = nil, issuedAt: Int64? = nil, audience: [String]? = nil, tokenID: String? = nil,
        role: Role? = nil, grants: Grants = Grants()
    ) {
        self.subject = subject
        self.expires = expires
        self.notBefore = notBefore
        self.issuedAt = issuedAt
        self.audience = audience
        self.tokenID = tokenID
        self.role = role
        self.grants = grants
    }
}

extension TokenClaims {
    /// As they stand in a token.
    package var json: [UInt8] { JSONBody.encode(TokenClaimFields(self)) }

    /// - Throws: `tokenInvalid` for claims that are missing, or give no right.
    init(_ fields: TokenClaimFields) throws(WireError) {
        guard let subject = fields.sub else { throw WireError(.tokenInvalid, "claim sub is missing") }
        guard let expires = fields.exp else { throw WireError(.tokenInvalid, "claim exp is missing") }
        let role = fields.role.flatMap { Role(word: $0) }
        guard fields.role == nil || role != nil else { throw WireError(.tokenInvalid, "claim role is none of \(Self.roleWords)") }
        self.init(
            subject: subject, expires: expires, notBefore: fields.nbf, issuedAt: fields.iat, audience: fields.aud?.names,
            tokenID: fields.jti, role: role, grants: try Self.grants(fields.grants ?? [:]))
        // A token that is good for nothing is its maker's mistake: most likely a misspelt claim.
        guard role != nil || grants.entries.contains(where: { !$0.rights.isEmpty }) else {
            throw WireError(.tokenInvalid, "neither claim role nor claim grants gives a right")
        }
    }

    private static var roleWords: String { Role.allCases.map(\.rawValue).joined(separator: ", ") }

    private static func grants(_ words: [String: [String]]) throws(WireError) -> Grants {
        do {
            return try Grants(words: words)
        } catch {
            throw WireError(error, code: .tokenInvalid)
        }
    }
}

/// The claims, each under its name. `null` is there: it is no string, number or list.
struct TokenClaimFields: JSONObject {
    fileprivate var aud: Audience?
    fileprivate var exp: Int64?
    fileprivate var grants: [String: [String]]?
    fileprivate var iat: Int64?
    fileprivate var jti: String?
    fileprivate var nbf: Int64?
    fileprivate var role: String?
    fileprivate var sub: Name?

    init() {}

    fileprivate init(_ claims: TokenClaims) {
        aud = claims.audience.map { Audience(names: $0) }
        exp = claims.expires
        grants = claims.grants.entries.isEmpty ? nil : claims.grants.words
        iat = claims.issuedAt
        jti = claims.tokenID
        nbf = claims.notBefore
        role = claims.role?.rawValue
        sub = claims.subject
    }

    /// What is wrong is `tokenInvalid`, with a text that repeats nothing that stands in the token.
    mutating func fields(_ json: inout JSONFields) {
        func wrong(_ text: String) -> WireError { WireError(.tokenInvalid, text) }
        json("aud", &aud, else: wrong("claim aud is not a string or a list of strings"))
        json("exp", &exp, else: wrong("claim exp is not an integer"))
        json("grants", &grants, else: wrong("claim grants is not an object of lists of strings"))
        json("iat", &iat, else: wrong("claim iat is not an integer"))
        json("jti", &jti, else: wrong("claim jti is not a string"))
        json("nbf", &nbf, else: wrong("claim nbf is not an integer"))
        json("role", &role, else: wrong("claim role is not a string"))
        json("sub", &sub, else: wrong("claim sub is not a user's name (NM1)"))
    }
}

/// RFC 7519 §4.1.3: a list, or instead of a list of one its only entry.
private struct Audience: JSONElement {
    var names: [String]

    init(names: [String]) { self.names = names }

    init?(_ json: inout JSONFields, at place: Int) {
        guard let names = json.isText(at: place) ? String(&json, at: place).map({ [$0] }) : [String](&json, at: place) else { return nil }
        self.names = names
    }

    func write(to json: inout JSONFields) {
        if names.count == 1 { names[0].write(to: &json) } else { names.write(to: &json) }
    }
}
