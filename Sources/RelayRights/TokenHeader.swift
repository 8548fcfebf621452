import RelayWire

/// The header of a token (RFC 7515 §4.1): held against the one algorithm there is; of the rest only `kid` is used.
///
/// It is read before the signature is checked, so nothing follows from it but which secret to check with.
struct TokenHeader {
    static let algorithm = "HS256"

    /// By which the secret is chosen.
    var secretID: String?

    private enum CodingKeys: String, CodingKey { case alg, crit, kid, typ }
}

extension TokenHeader: Decodable {
    /// - Throws: `tokenInvalid` for anything but HS256, for a `typ` other than JWT, and for `crit`: it lists what must be
    ///   understood (RFC 7515 §4.1.11), and no extension is.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let algorithm = try container.present(String.self, .alg, else: "the header's alg is not a string")
        guard let algorithm, algorithm.utf8.elementsEqual(Self.algorithm.utf8) else {
            throw WireError(.tokenInvalid, "the header's alg is not HS256")
        }
        guard !container.contains(.crit) else { throw WireError(.tokenInvalid, "the header has crit, and this relay knows no extensions") }
        if let type = try container.present(String.self, .typ, else: "the header's typ is not a string") {
            guard type.utf8.map({ $0 & ~0x20 }).elementsEqual("JWT".utf8) else {
                throw WireError(.tokenInvalid, "the header's typ is not JWT")
            }
        }
        secretID = try container.present(String.self, .kid, else: "the header's kid is not a string")
    }
}

extension TokenHeader: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.algorithm, forKey: .alg)
        try container.encodeIfPresent(secretID, forKey: .kid)
        try container.encode("JWT", forKey: .typ)
    }
}

/// Reads header or claims of a token.
///
/// - Parameter what: how the error's sentence begins.
/// - Throws: `tokenInvalid`; its text repeats nothing that stands in the token.
func readTokenJSON<T: Decodable>(_ type: T.Type, from bytes: [UInt8], what: String) throws(WireError) -> T {
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

extension KeyedDecodingContainer {
    /// What stands under a key; `nil` if the key is not there. `null` is there: it is no string, number or list.
    ///
    /// - Throws: `tokenInvalid` with a text that, unlike a decoder's, repeats nothing that stands in the token.
    func present<T: Decodable>(_ type: T.Type, _ key: Key, else text: String) throws -> T? {
        guard contains(key) else { return nil }
        guard let value = try? decode(type, forKey: key) else { throw WireError(.tokenInvalid, text) }
        return value
    }
}
