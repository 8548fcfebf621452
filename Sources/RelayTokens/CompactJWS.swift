import RelayPrimitives
import RelayWire

/// A token as it travels: header, claims and signature in base64url, a dot between them. [RFC 7515 §3.1, §7.1]
///
///     eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9 . eyJleHAiOjQxMDI0NDQ4MDAsInN1YiI6ImFubmEifQ . kuPl…
///     └──────────────── signed, as it stands here ────────────────────────────────────┘
struct CompactJWS {
    let header: [UInt8]
    let payload: [UInt8]
    let signature: [UInt8]
    let signedBytes: [UInt8]

    /// - Throws: `tokenInvalid` unless these are three parts of strict base64url, none of them empty.
    init(_ token: [UInt8]) throws(WireError) {
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else {
            throw WireError(.tokenInvalid, "a token is three parts with dots between them, none of them empty")
        }
        guard let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2])
        else { throw WireError(.tokenInvalid, "a part of the token is not base64url without padding") }
        self.header = header
        self.payload = payload
        self.signature = signature
        signedBytes = Array(token[..<parts[1].endIndex])
    }

    /// The token of a header and claims.
    static func sign(header: [UInt8], payload: [UInt8], with secret: TokenSecret) -> String {
        let signed = Base64URL.encode(header) + "." + Base64URL.encode(payload)
        return signed + "." + Base64URL.encode(secret.code(of: Array(signed.utf8)))
    }

    /// Whether the secret signed this. In constant time.
    func isSigned(with secret: TokenSecret) -> Bool { isEqualInConstantTime(secret.code(of: signedBytes), signature) }
}
