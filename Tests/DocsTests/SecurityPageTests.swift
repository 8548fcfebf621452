import Foundation
import RelayRights
import RelayTokens
import RelayWire
import Testing

@Suite("docs/security.md") struct SecurityPageTests {
    @Test("the table of claims has every claim that is read and written")
    func claims() throws {
        let table = try Document.security().table("Tokens")
        let claims = TokenClaims(
            subject: try Name("anna"), expires: 2, notBefore: 1, issuedAt: 1, audience: ["relay"], tokenID: "t", role: .editor,
            grants: try Grants(words: ["*": ["publish"]]))
        let written = try #require(try JSONSerialization.jsonObject(with: Data(claims.json)) as? [String: Any])
        #expect(table.map { Document.plain($0[0]) }.sorted() == written.keys.sorted())
    }

    /// What the section on tokens states.
    static let constants = ["tokenSecretBytes", "tokenGrantsMax", "tokenBytesMax"]

    @Test("the numbers of the section on tokens are those of the code")
    func numbers() throws {
        let text = try Document.security().text
        let secret = Limits.tokenSecretBytes
        let sentences = [
            "at most \(Limits.tokenGrantsMax) patterns", "at most \(ReferenceValues.grouped(Limits.tokenBytesMax)) bytes",
            "a secret \(secret.lowerBound) to \(ReferenceValues.grouped(secret.upperBound)),",
        ]
        for sentence in sentences { #expect(text.contains(sentence), "\(sentence)") }
    }
}

extension Document {
    static func security() throws -> Document { try named("security.md") }
}
