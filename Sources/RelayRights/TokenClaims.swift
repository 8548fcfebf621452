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

    /// The claims' names, in the order of `docs/security.md`.
    package enum CodingKeys: String, CodingKey, CaseIterable { case sub, exp, role, grants, nbf, iat, aud, jti }
}

extension TokenClaims: Decodable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let subject = try container.present(Name.self, .sub, else: "claim sub is not a user's name (NM1)") else {
            throw WireError(.tokenInvalid, "claim sub is missing")
        }
        guard let expires = try container.present(Int64.self, .exp, else: "claim exp is not an integer") else {
            throw WireError(.tokenInvalid, "claim exp is missing")
        }
        self.subject = subject
        self.expires = expires
        notBefore = try container.present(Int64.self, .nbf, else: "claim nbf is not an integer")
        issuedAt = try container.present(Int64.self, .iat, else: "claim iat is not an integer")
        audience = try container.present(Audience.self, .aud, else: "claim aud is not a string or a list of strings")?.names
        tokenID = try container.present(String.self, .jti, else: "claim jti is not a string")
        role = nil
        if let word = try container.present(String.self, .role, else: "claim role is not a string") {
            guard let role = Role(word: word) else { throw WireError(.tokenInvalid, "claim role is none of \(Self.roleWords)") }
            self.role = role
        }
        let words = try container.present([String: [String]].self, .grants, else: "claim grants is not an object of lists of strings")
        grants = try Self.grants(words ?? [:])
        // A token that is good for nothing is a mistake of who made it: a misspelt claim, most likely.
        guard role != nil || grants.entries.contains(where: { !$0.rights.isEmpty }) else {
            throw WireError(.tokenInvalid, "neither claim role nor claim grants gives a right")
        }
    }

    private static var roleWords: String { Role.allCases.map(\.rawValue).joined(separator: ", ") }

    private static func grants(_ words: [String: [String]]) throws(WireError) -> Grants {
        do {
            return try Grants(words: words)
        } catch {
            var invalid = error
            invalid.code = .tokenInvalid
            throw invalid
        }
    }

    /// RFC 7519 §4.1.3: a list, or instead of a list of one its only entry.
    private struct Audience: Decodable {
        var names: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let name = try? container.decode(String.self) { names = [name] } else { names = try container.decode([String].self) }
        }
    }
}

extension TokenClaims: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(subject, forKey: .sub)
        try container.encode(expires, forKey: .exp)
        try container.encodeIfPresent(role?.rawValue, forKey: .role)
        if !grants.entries.isEmpty { try container.encode(grants.words, forKey: .grants) }
        try container.encodeIfPresent(notBefore, forKey: .nbf)
        try container.encodeIfPresent(issuedAt, forKey: .iat)
        if let audience, audience.count == 1 {
            try container.encode(audience[0], forKey: .aud)
        } else {
            try container.encodeIfPresent(audience, forKey: .aud)
        }
        try container.encodeIfPresent(tokenID, forKey: .jti)
    }
}
