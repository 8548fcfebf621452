internal import RelayPrimitives
import RelayRights
import RelayTokens
import RelayWire

private let now: UInt64 = 1_780_272_000_000
private let tolerance = 5
/// That of Tests/RelayTokensTests/Vectors.
private let secret = try! TokenSecret(bytes: Array(0..<32))
private let rules = try! TokenRules(secrets: [secret], tolerance: .seconds(tolerance))
private let named = try! TokenSecret(id: "b", bytes: Array(32..<64))
private let strictRules = try! TokenRules(
    secrets: [try! TokenSecret(id: "a", bytes: Array(0..<32)), named], audience: "relay", tolerance: .zero)

/// By the first byte a whole token, or header and claims with a 0 between them, which are signed here.
func tokens(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = bytes.first else { return false }
    let content = Array(bytes.dropFirst())
    guard first & 1 == 1 else {
        check(content)
        return true
    }
    let parts = content.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false).map(Array.init)
    guard parts.count == 2 else { return false }
    let signed = "\(Base64URL.encode(parts[0])).\(Base64URL.encode(parts[1]))"
    let signer = first & 2 == 2 ? named : secret
    var code = signer.code(of: Array(signed.utf8))
    check(Array("\(signed).\(Base64URL.encode(code))".utf8))
    code[content.count % code.count] ^= 1
    let forged = Array("\(signed).\(Base64URL.encode(code))".utf8)
    must((try? (signer.id == nil ? rules : strictRules).check(forged, wallMilliseconds: now)) == nil, "a forged token is taken")
    return true
}

/// What is taken is not over, has a right, and comes back from a token with the same claims.
private func check(_ token: [UInt8]) {
    _ = try? strictRules.check(token, wallMilliseconds: now)
    guard let found = try? rules.check(token, wallMilliseconds: now) else { return }
    must(found.expires > now && found.access.endMilliseconds == found.expires, "\(found) is over")
    must((try? rules.check(token, wallMilliseconds: found.expires)) == nil, "\(found) is taken at its end")
    let claims = TokenClaims(
        subject: found.subject, expires: Int64(found.expires / 1000) - Int64(tolerance), tokenID: found.tokenID, role: found.access.role,
        grants: found.access.grants)
    guard let minted = try? TokenMint.mint(claims, secret: secret) else { return }
    must((try? rules.check(minted, wallMilliseconds: now)) == found, "\(found) does not come back")
}
