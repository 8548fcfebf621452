import RelayWire

/// The header of a token (RFC 7515 §4.1): held against the one algorithm there is; of the rest only `kid` is used.
///
/// It is read before the signature is checked, so nothing follows from it but which secret to check with.
struct TokenHeader {
    static let algorithm = "HS256"

    /// By which the secret is chosen.
    var secretID: String?
}

extension TokenHeader: JSONObject {
    /// Anything but HS256 is `tokenInvalid`, a `typ` other than JWT too, and `crit`: it lists what must be understood
    /// (RFC 7515 §4.1.11), and no extension is.
    mutating func fields(_ json: inout JSONFields) {
        func invalid(_ text: String) -> WireError { WireError(.tokenInvalid, text) }
        var algorithm = json.isWriting ? Self.algorithm : nil
        json("alg", &algorithm, else: invalid("the header's alg is not a string"))
        let isHS256 = algorithm.map { $0.utf8.elementsEqual(Self.algorithm.utf8) } == true
        if !isHS256 { json.refuse(invalid("the header's alg is not HS256")) }
        if !json.isWriting, json.has("crit") { json.refuse(invalid("the header has crit, and this relay knows no extensions")) }
        json("kid", &secretID, else: invalid("the header's kid is not a string"))
        var type: String? = "JWT"
        json("typ", &type, else: invalid("the header's typ is not a string"))
        let isJWT = type.map { $0.utf8.map { $0 & ~0x20 }.elementsEqual("JWT".utf8) } == true
        if !isJWT { json.refuse(invalid("the header's typ is not JWT")) }
    }
}

/// Reads header or claims of a token.
///
/// - Parameter what: how the error's sentence begins.
/// - Throws: `tokenInvalid`; its text repeats nothing that stands in the token.
func readTokenJSON<T: JSONObject>(_ type: T.Type, from bytes: [UInt8], what: String) throws(WireError) -> T {
    // `withUnsafeBytes` of an array loses the type of what it throws.
    let result = bytes.withUnsafeBytes { bytes in
        Result { () throws(WireError) in try JSONBody.decode(type, from: bytes) }
    }
    switch result {
    case .success(let value): return value
    case .failure(let error) where error.code == .tokenInvalid: throw error
    // Other codes are of the JSON itself, and quote keys and places of it.
    case .failure: throw WireError(.tokenInvalid, "\(what) not one JSON object as rules JS1 to JS4 of the protocol want it")
    }
}
