import Foundation
import RelayRights
import RelayTokens
import RelayWire
import Testing

/// Tokens that another implementation has made, good and bad ones: `Tests/Interop/token_vectors.py`.
@Suite("tokens made by PyJWT") struct PyJWTTests {
    struct Row: Decodable, CustomTestStringConvertible, Sendable {
        struct Secret: Decodable {
            var id: String?
            var hex: String
        }

        /// What a good token says, or the code and some words of the text with which a bad one is refused.
        struct Expect: Decodable {
            var sub: String?
            var exp: Int64?
            var role: String?
            var grants: [String: [String]]?
            var jti: String?
            var code: String?
            var words: String?
        }

        var name: String
        var token: String
        var now: UInt64
        var secrets: [Secret]
        var audience: String?
        var expect: Expect
        var testDescription: String { name }

        func rules() throws -> TokenRules {
            try TokenRules(
                secrets: secrets.map { secret in
                    let digits = secret.hex.compactMap(\.hexDigitValue)
                    let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
                    return try TokenSecret(id: secret.id, bytes: bytes)
                }, audience: audience)
        }

        static func all() throws -> [Row] {
            let file = try #require(Bundle.module.resourceURL).appending(path: "Vectors/pyjwt.ndjson")
            return try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).map { try JSONDecoder().decode(Row.self, from: $0) }
        }
    }

    @Test("25 good ones of every shape are read as they were meant")
    func good() throws {
        let rows = try Row.all().filter { $0.expect.code == nil }
        #expect(rows.count == 25)
        for row in rows {
            switch outcome(try row.rules(), Array(row.token.utf8), now: row.now) {
            case .success(let token):
                #expect(token.subject.text == row.expect.sub && token.access.role?.rawValue == row.expect.role, "\(row.name)")
                #expect(token.tokenID == row.expect.jti, "\(row.name)")
                #expect(token.access.grants.words.mapValues { Set($0) } == row.expect.grants?.mapValues { Set($0) }, "\(row.name)")
                #expect(
                    token.expires == row.expect.exp.map { UInt64($0 + 5) * 1000 } && token.access.endMilliseconds == token.expires,
                    "\(row.name)")
            case .failure(let error): Issue.record("\(row.name): \(error.text)")
            }
        }
    }

    @Test("173 bad ones are refused for what is wrong with them, in words that repeat nothing of them")
    func bad() throws {
        let rows = try Row.all().filter { $0.expect.code != nil }
        #expect(rows.count == 173 && Set(rows.map(\.name)).count == 173)
        for row in rows {
            guard let error = outcome(try row.rules(), Array(row.token.utf8), now: row.now).refusal else {
                Issue.record("\(row.name) was found good")
                continue
            }
            #expect(error.code.name == row.expect.code, "\(row.name): \(error.text)")
            #expect(error.text.contains(try #require(row.expect.words)), "\(row.name): \(error.text)")
            #expect(!error.text.contains("MARKER"), "\(row.name): \(error.text)")
        }
    }
}
