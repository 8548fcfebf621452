import RelayPrimitives
import RelayRights
import RelayTokens
import RelayWire
import Testing

@Suite("tokens") struct TokenTests {
    /// RFC 7515 appendix A.1: header, claims and key as they stand there.
    private static let exampleKey = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"
    private static let exampleSigned =
        "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    private static let exampleSignature = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

    @Test("the example of RFC 7515, appendix A.1: signed as there, and refused only for the claims it has not")
    func example() throws {
        let key = try #require(Base64URL.decode(Self.exampleKey))
        #expect(Base64URL.encode(HMACSHA256.authenticate(Array(Self.exampleSigned.utf8), key: key)) == Self.exampleSignature)
        let rules = try TokenRules(secrets: [TokenSecret(bytes: key)])
        let token = Array((Self.exampleSigned + "." + Self.exampleSignature).utf8)
        #expect(outcome(rules, token, now: 1_300_819_380_000).refusal?.text == "claim sub is missing")
        let last = Array((Self.exampleSigned + "." + Self.exampleSignature.dropLast() + "g").utf8)
        #expect(outcome(rules, last, now: 1_300_819_380_000).refusal?.text == "the signature is not that of the relay's secret")
    }

    @Test("what is minted is read as it was meant, every claim of it")
    func roundTrip() throws {
        let claims = TokenClaims(
            subject: try Name("anna"), expires: Sample.seconds + 60, notBefore: Sample.seconds, issuedAt: Sample.seconds - 1,
            audience: ["relay", "other"], tokenID: "no. 7 é", role: .reader,
            grants: try Grants(words: ["board-*": ["publish", "lock"], "*": ["direct"]]))
        let rules = try TokenRules(
            secrets: [Sample.secret("2026"), TokenSecret(id: "2025", bytes: [UInt8](repeating: 1, count: 64))], audience: "relay")
        let token = try TokenMint.mint(claims, secret: Sample.secret("2026"))
        let read = try rules.check(token, wallMilliseconds: Sample.now)
        #expect(read.subject == claims.subject && read.tokenID == claims.tokenID)
        #expect(read.access == Access(role: .reader, grants: claims.grants, endMilliseconds: Sample.now + 65_000))
        #expect(read.expires == Sample.now + 65_000)
    }

    @Test("a server mints with names, roles and rights: the relay reads what was meant")
    func mints() throws {
        let token = try TokenMint.mint(
            for: "anna", expires: Sample.seconds + 60, role: .reader, grants: ["board-*": [.publish, .lock], "*": .direct],
            audience: "relay", secret: Sample.secret())
        let read = try TokenRules(secrets: [Sample.secret()], audience: "relay").check(token, wallMilliseconds: Sample.now)
        let grants = try Grants(words: ["board-*": ["publish", "lock"], "*": ["direct"]])
        #expect(read.subject.text == "anna" && read.access == Access(role: .reader, grants: grants, endMilliseconds: Sample.now + 65_000))
    }

    @Test("what no relay takes is not minted")
    func mintsNothing() throws {
        func refusal(_ user: String = "anna", _ role: Role? = nil, _ grants: [String: Rights] = [:], expires: Int64 = 1) throws -> String? {
            let secret = try Sample.secret()
            do throws(TokenSetupError) {
                _ = try TokenMint.mint(for: user, expires: expires, role: role, grants: grants, secret: secret)
                return nil
            } catch {
                return error.description
            }
        }
        #expect(try refusal("anna", .reader) == nil)
        #expect(try refusal() == "neither claim role nor claim grants gives a right")
        #expect(try refusal("", .reader)?.contains("name") == true)
        #expect(try refusal("anna", .reader, ["a*b": .publish])?.contains("*") == true)
        #expect(try refusal("anna", .reader, ["a": .direct])?.contains("direct") == true)
        #expect(try refusal("anna", .reader, expires: 1 << 53) == "claim exp is within ±9007199254740991 s, this one is 9007199254740992")
    }

    /// Anybody can make the same token, byte for byte, from the page's description.
    @Test("the text of a token: header and claims with sorted keys, without white space")
    func text() throws {
        let token = try TokenMint.mint(Sample.claims(grants: ["b": ["stream", "publish"], "a*": ["lock"]]), secret: Sample.secret("2026"))
        let parts = token.split(separator: ".")
        let texts = try parts.prefix(2).map { String(decoding: try #require(Base64URL.decode($0)), as: UTF8.self) }
        #expect(texts[0] == #"{"alg":"HS256","kid":"2026","typ":"JWT"}"#)
        #expect(texts[1] == #"{"exp":1780275600,"grants":{"a*":["lock"],"b":["publish","stream"]},"role":"editor","sub":"anna"}"#)
        #expect(parts.count == 3 && parts[2].utf8.count == 43)
        var one = try Sample.claims()
        one.audience = ["relay"]
        let payload = try #require(Base64URL.decode(TokenMint.mint(one, secret: Sample.secret()).split(separator: ".")[1]))
        #expect(String(decoding: payload, as: UTF8.self) == #"{"aud":"relay","exp":1780275600,"role":"editor","sub":"anna"}"#)
    }

    @Test("what would be larger than a relay takes is not minted")
    func tooLarge() throws {
        let grants = Dictionary(
            uniqueKeysWithValues: (0..<64).map { ("a channel with a long name, number \($0)", ["subscribe", "publish"]) })
        let claims = try Sample.claims(grants: grants), secret = try Sample.secret()
        do throws(WireError) {
            _ = try TokenMint.mint(claims, secret: secret)
            Issue.record("minted")
        } catch {
            #expect(error.code == .tokenInvalid && error.limit == 3072 && error.actual ?? 0 > 3072)
        }
    }

    @Test("every bit of a token counts: with any one turned it is refused, and never as one that has expired")
    func everyBit() throws {
        let rules = try TokenRules(secrets: [Sample.secret("2026")])
        let token = Array(try TokenMint.mint(Sample.claims(grants: ["*": ["clear"]]), secret: Sample.secret("2026")).utf8)
        #expect(outcome(rules, token, now: Sample.now).refusal == nil)
        var refused = 0
        for index in token.indices {
            for bit in 0..<8 {
                var other = token
                other[index] ^= 1 << UInt8(bit)
                if outcome(rules, other, now: Sample.now).refusal?.code == .tokenInvalid {
                    refused += 1
                } else {
                    Issue.record("byte \(index), bit \(bit)")
                }
            }
        }
        #expect(refused == token.count * 8)
    }

    @Test("every beginning of a token, and every token with one byte more, is refused")
    func everyLength() throws {
        let rules = try Sample.rules()
        let token = Array(try TokenMint.mint(Sample.claims(), secret: Sample.secret()).utf8)
        for count in token.indices {
            #expect(outcome(rules, Array(token[..<count]), now: Sample.now).refusal?.code == .tokenInvalid, "\(count) bytes")
        }
        for byte in UInt8.min ... .max {
            #expect(outcome(rules, token + [byte], now: Sample.now).refusal?.code == .tokenInvalid, "\(byte) behind")
            #expect(outcome(rules, [byte] + token, now: Sample.now).refusal?.code == .tokenInvalid, "\(byte) before")
        }
    }

    @Test("a token counts from the tolerance before nbf and iat to the tolerance after exp, to the millisecond", arguments: [0, 5, 300])
    func times(tolerance: Int) throws {
        let rules = try TokenRules(secrets: [Sample.secret()], tolerance: .seconds(tolerance))
        let margin = UInt64(tolerance) * 1000
        var claims = try Sample.claims()
        claims.expires = Sample.seconds
        var token = Array(try TokenMint.mint(claims, secret: Sample.secret()).utf8)
        #expect(outcome(rules, token, now: Sample.now + margin - 1).refusal == nil)
        #expect(outcome(rules, token, now: Sample.now + margin).refusal?.code == .tokenExpired)
        #expect(outcome(rules, token, now: .max).refusal?.code == .tokenExpired)
        for claim in [\TokenClaims.notBefore, \.issuedAt] {
            claims = try Sample.claims()
            claims[keyPath: claim] = Sample.seconds
            token = Array(try TokenMint.mint(claims, secret: Sample.secret()).utf8)
            #expect(outcome(rules, token, now: Sample.now - margin).refusal == nil)
            #expect(outcome(rules, token, now: Sample.now - margin - 1).refusal?.code == .tokenInvalid)
            #expect(outcome(rules, token, now: 0).refusal?.code == .tokenInvalid)
        }
    }

    @Test("the largest and smallest integers of JSON are times like others")
    func extremes() throws {
        let rules = try Sample.rules()
        let largest = Int64(Limits.integerMax)
        for (exp, nbf, good) in [(largest, -largest, true), (-largest, -largest, false), (largest, largest, false), (0, 0, false)] {
            var claims = try Sample.claims()
            (claims.expires, claims.notBefore, claims.issuedAt) = (exp, nbf, nbf)
            let token = Array(try TokenMint.mint(claims, secret: Sample.secret()).utf8)
            #expect((outcome(rules, token, now: Sample.now).refusal == nil) == good, "exp \(exp), nbf \(nbf)")
        }
    }

    @Test("a signature says nothing about claims that do not fit: what is signed is read as strictly")
    func signedButWrong() throws {
        let rules = try Sample.rules()
        let good = Sample.signed(payload: #"{"sub":"anna","exp":1780275600,"role":"reader"}"#)
        #expect(outcome(rules, good, now: Sample.now).refusal == nil)
        let twice = Sample.signed(payload: #"{"sub":"anna","exp":1780275600,"role":"reader","role":"moderator"}"#)
        #expect(outcome(rules, twice, now: Sample.now).refusal?.code == .tokenInvalid)
        // Characters that Swift's strings take for others: the Kelvin sign for K.
        let kelvin = try TokenRules(secrets: [Sample.secret("K"), TokenSecret(id: "k", bytes: Sample.bytes)], audience: "K")
        for (id, audience) in [("\u{212A}", "K"), ("K", "\u{212A}")] {
            let token = Sample.signed(
                header: #"{"alg":"HS256","kid":"\#(id)"}"#,
                payload: #"{"sub":"anna","exp":1780275600,"role":"reader","aud":"\#(audience)"}"#)
            #expect(outcome(kelvin, token, now: Sample.now).refusal?.code == .tokenInvalid, "\(id) \(audience)")
        }
    }

    @Test("secrets and rules that cannot be meant are refused, with limit and actual value")
    func setup() throws {
        func problem(_ work: () throws(TokenSetupError) -> Void) -> TokenSetupError? {
            do throws(TokenSetupError) {
                try work()
                return nil
            } catch {
                return error
            }
        }
        func secret(_ count: Int, _ id: String? = nil) throws(TokenSetupError) -> TokenSecret {
            try TokenSecret(id: id, bytes: [UInt8](repeating: 7, count: count))
        }
        for count in [32, 1024] { #expect(problem { () throws(TokenSetupError) in _ = try secret(count) } == nil) }
        for count in [0, 31, 1025] {
            #expect(problem { () throws(TokenSetupError) in _ = try secret(count) } == .secretBytes(actual: count))
        }
        #expect(TokenSetupError.secretBytes(actual: 31).description == "a token secret has 32…1024 bytes, this one has 31")
        for id in ["", String(repeating: "a", count: 65)] {
            #expect(problem { () throws(TokenSetupError) in _ = try secret(32, id) } == .secretIDBytes(actual: id.utf8.count))
        }
        let a = try secret(32, "a"), b = try secret(32, "b"), nameless = try secret(32)
        #expect(problem { () throws(TokenSetupError) in _ = try TokenRules(secrets: []) } == .noSecret)
        #expect(problem { () throws(TokenSetupError) in _ = try TokenRules(secrets: [a, nameless]) } == .secretWithoutID)
        #expect(problem { () throws(TokenSetupError) in _ = try TokenRules(secrets: [a, b, a]) } == .secretIDTwice("a"))
        #expect(problem { () throws(TokenSetupError) in _ = try TokenRules(secrets: [a, b]) } == nil)
        for seconds in [-1, 301] {
            #expect(
                problem { () throws(TokenSetupError) in _ = try TokenRules(secrets: [a], tolerance: .seconds(seconds)) }
                    == .tolerance(actual: .seconds(seconds)))
        }
    }

    @Test("a secret shows its bytes to nobody who prints it")
    func secretIsSilent() throws {
        let rules = try TokenRules(secrets: [TokenSecret(id: "2026", bytes: [UInt8](repeating: 171, count: 32))])
        var dumped = ""
        dump(rules, to: &dumped)
        for text in ["\(rules)", String(reflecting: rules), dumped] {
            #expect(text.contains("2026") && !text.contains("171") && !text.contains("SIMD") && !text.contains("HMAC"), "\(text)")
        }
    }
}
