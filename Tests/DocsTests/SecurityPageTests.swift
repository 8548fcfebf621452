import Foundation
import RelayRights
import RelayWire
import Testing

@Suite("docs/security.md") struct SecurityPageTests {
    @Test("the table of rights is that of the code: every right, in its order, and what each role has")
    func rights() throws {
        let table = try Document.security().table("Roles and rights")
        #expect(table.map { Document.plain($0[0]) } == Rights.words.map(\.word))
        for row in table {
            let right = try #require(Rights(word: Document.plain(row[0])))
            try #require(row.count == 2 + Role.allCases.count && !row[1].isEmpty)
            for (role, cell) in zip(Role.allCases, row[2...]) {
                #expect(cell == (role.rights.contains(right) ? "yes" : ""), "\(role) \(row[0])")
            }
        }
    }

    @Test("the columns of roles are the roles, in their order")
    func roles() throws {
        let document = try Document.security()
        let head = try #require(document.lines.first { $0.hasPrefix("| right ") })
        let cells = head.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(Array(cells.dropFirst(2)) == Role.allCases.map(\.rawValue))
    }

    @Test("the table of claims has every claim that is read and written")
    func claims() throws {
        let table = try Document.security().table("Tokens")
        let claims = TokenClaims(
            subject: try Name("anna"), expires: 2, notBefore: 1, issuedAt: 1, audience: ["relay"], tokenID: "t", role: .editor,
            grants: try Grants(words: ["*": ["publish"]]))
        let written = try #require(try JSONSerialization.jsonObject(with: Data(claims.json)) as? [String: Any])
        #expect(table.map { Document.plain($0[0]) }.sorted() == written.keys.sorted())
    }

    @Test("the numbers of the section on tokens are those of the code")
    func numbers() throws {
        let text = try Document.security().text
        let secret = Limits.tokenSecretBytes
        let sentences = [
            "at most \(Limits.tokenGrantsMax) patterns", "at most \(Document.written(Limits.tokenBytesMax)) bytes",
            "a secret \(secret.lowerBound) to \(Document.written(secret.upperBound)),",
        ]
        for sentence in sentences { #expect(text.contains(sentence), "\(sentence)") }
    }
}

extension Document {
    static func security() throws -> Document { try named("security.md") }

    /// A number as the documents write it: 3,072.
    static func written(_ number: Int) -> String {
        number < 1000 ? "\(number)" : "\(number / 1000)," + String("\(number % 1000 + 1000)".dropFirst())
    }
}
