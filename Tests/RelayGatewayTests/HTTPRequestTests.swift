import RelayGateway
import RelayPrimitives
import Testing

@Suite("Requests") struct HTTPRequestTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var name: String
        var text: String
        var refusal: HTTPRefusal
        var testDescription: String { name }

        init(_ name: String, _ text: String, _ refusal: HTTPRefusal) { (self.name, self.text, self.refusal) = (name, text, refusal) }
    }

    private static let host = "Host: a\r\n"

    /// What is no request of ours. Of each the last byte but those of the empty line makes it so, or the whole head.
    static let bad: [Row] = [
        Row("a handshake of TLS", "\u{16}\u{03}\u{01}", .tls),
        Row("noise", "\u{01}", .notHTTP),
        Row("an empty line before the request", "\r\n", .requestLine),
        Row("a space before the method", " GET / HTTP/1.1\r\n", .notHTTP),
        Row("a method without end", String(repeating: "A", count: 33), .notHTTP),
        Row("a method with a byte that is in none", "GE(T / HTTP/1.1\r\n", .notHTTP),
        Row("HTTP/0.9", "GET /\r\n", .requestLine),
        Row("two spaces", "GET  / HTTP/1.1\r\n", .requestLine),
        Row("a space behind the version", "GET / HTTP/1.1 \r\n", .requestLine),
        Row("a tab for a space", "GET\t/ HTTP/1.1\r\n", .notHTTP),
        Row("a space in the target", "GET /a b HTTP/1.1\r\n", .requestLine),
        Row("a version in small letters", "GET / http/1.1\r\n", .requestLine),
        Row("a version with two digits", "GET / HTTP/1.10\r\n", .requestLine),
        Row("a version without a minor one", "GET / HTTP/1\r\n", .requestLine),
        Row("HTTP/2", "PRI * HTTP/2.0\r\n", .version),
        Row("HTTP/1.2", "GET / HTTP/1.2\r\n", .version),
        Row("LF alone behind the request line", "GET / HTTP/1.1\n", .bareLF),
        Row("LF alone behind a field", "GET / HTTP/1.1\r\nHost: a\n", .bareLF),
        Row("LF alone as the empty line", "GET / HTTP/1.1\r\nHost: a\r\n\n", .bareLF),
        Row("CR alone in a value", "GET / HTTP/1.1\r\nHost: a\rb", .bareCR),
        Row("CR twice", "GET / HTTP/1.1\r\r\n", .bareCR),
        Row("an address as a proxy gets it", "GET http://a/ HTTP/1.1\r\n", .targetForm),
        Row("an asterisk", "GET * HTTP/1.1\r\n", .targetForm),
        Row("a fragment", "GET /#a HTTP/1.1\r\n", .targetByte),
        Row("a byte above ASCII in the path", "GET /\u{e9} HTTP/1.1\r\n", .targetByte),
        Row("a quote in the query", "GET /?\" HTTP/1.1\r\n", .targetByte),
        Row("half a percent sign", "GET /%4 HTTP/1.1\r\n", .percentEncoding),
        Row("a percent sign without digits", "GET /%zz HTTP/1.1\r\n", .percentEncoding),
        Row("a percent sign without digits in the query", "GET /?%z1 HTTP/1.1\r\n", .percentEncoding),
        Row("bytes that are no text", "GET /%ff HTTP/1.1\r\n", .percentEncoding),
        Row("up", "GET /../a HTTP/1.1\r\n", .traversal),
        Row("a field that goes on", "GET / HTTP/1.1\r\nHost: a\r\n b\r\n", .folded),
        Row("a field that goes on with a tab", "GET / HTTP/1.1\r\nHost: a\r\n\tb\r\n", .folded),
        Row("white space before the first field", "GET / HTTP/1.1\r\n Host: a\r\n", .folded),
        Row("a space before the colon", "GET / HTTP/1.1\r\nHost : a\r\n", .spaceBeforeColon),
        Row("a tab before the colon", "GET / HTTP/1.1\r\nHost\t: a\r\n", .spaceBeforeColon),
        Row("no name", "GET / HTTP/1.1\r\n: a\r\n", .fieldName),
        Row("no colon", "GET / HTTP/1.1\r\nHost\r\n", .fieldName),
        Row("a name with a byte that is in none", "GET / HTTP/1.1\r\nHo(st: a\r\n", .fieldName),
        Row("a name above ASCII", "GET / HTTP/1.1\r\nHöst: a\r\n", .fieldName),
        Row("NUL in a value", "GET / HTTP/1.1\r\nHost: a\u{0}b\r\n", .fieldValue),
        Row("a control character in a value", "GET / HTTP/1.1\r\nCookie: \u{1b}[0m\r\n", .fieldValue),
        Row("DEL in a value", "GET / HTTP/1.1\r\nCookie: \u{7f}\r\n", .fieldValue),
        Row("no host", "GET / HTTP/1.1\r\n\r\n", .hostMissing),
        Row("no host in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", .hostMissing),
        Row("two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", .hostTwice),
        Row("one host twice", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", .hostTwice),
        Row("POST", "POST / HTTP/1.1\r\n", .method),
        Row("a method in small letters", "get / HTTP/1.1\r\n", .method),
        Row("OPTIONS", "OPTIONS / HTTP/1.1\r\n", .method),
        Row("CONNECT", "CONNECT a:80 HTTP/1.1\r\n", .method),
        Row("two lengths", "GET / HTTP/1.1\r\n\(host)Content-Length: 0\r\nContent-Length: 5\r\n\r\n", .contentLengthTwice),
        Row("one length twice", "GET / HTTP/1.1\r\n\(host)Content-Length: 0\r\nContent-Length: 0\r\n\r\n", .contentLengthTwice),
        Row("a list of lengths", "GET / HTTP/1.1\r\n\(host)Content-Length: 0, 0\r\n\r\n", .contentLength),
        Row("a length with a sign", "GET / HTTP/1.1\r\n\(host)Content-Length: +0\r\n\r\n", .contentLength),
        Row("a length below 0", "GET / HTTP/1.1\r\n\(host)Content-Length: -1\r\n\r\n", .contentLength),
        Row("an empty length", "GET / HTTP/1.1\r\n\(host)Content-Length:\r\n\r\n", .contentLength),
        Row("a length in hexadecimal", "GET / HTTP/1.1\r\n\(host)Content-Length: 0x0\r\n\r\n", .contentLength),
        Row("a body", "GET / HTTP/1.1\r\n\(host)Content-Length: 1\r\n\r\n", .body),
        Row("a body longer than any number", "GET / HTTP/1.1\r\n\(host)Content-Length: 99999999999999999999999\r\n\r\n", .body),
        Row("chunks", "GET / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n", .transferEncoding),
        Row("a coding that is none", "GET / HTTP/1.1\r\n\(host)Transfer-Encoding: identity\r\n\r\n", .transferEncoding),
        Row("length and chunks", "GET / HTTP/1.1\r\n\(host)Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n", .lengthAndEncoding),
        Row("chunks and length", "GET / HTTP/1.1\r\n\(host)transfer-encoding: chunked\r\nContent-Length: 0\r\n\r\n", .lengthAndEncoding),
        Row("an expectation", "GET / HTTP/1.1\r\n\(host)Expect: the-unexpected\r\n\r\n", .expectation),
        Row("an expectation beside one that is met", "GET / HTTP/1.1\r\n\(host)Expect: 100-continue, more\r\n\r\n", .expectation),
        Row("a target without end", "GET /" + String(repeating: "a", count: 8_187) + "a", .targetTooLong),
        Row("a cookie of 1 MB", "GET / HTTP/1.1\r\n\(host)Cookie: " + String(repeating: "a", count: 1 << 20), .headTooLarge),
    ]

    @Test("[HT1, HT2] what is no request of RFC 9112, or not one of ours, is refused for its own reason", arguments: bad)
    func refuses(row: Row) {
        let reading = Reading(row.text)
        #expect(reading.requests == [] && reading.refusal == row.refusal)
        // At the byte that makes it so, however the bytes come.
        let bytes = Array(row.text.utf8.prefix(9_000))
        #expect(Reading(bytes.map { [$0] }).refusal == row.refusal)
    }

    /// The refusals that no row of `bad` can show, because a site has to be asked; `GatewayTests` has rows for each of them.
    static let ofSites: Set<HTTPRefusal> = [
        .hostInvalid, .wrongHost, .foreignOrigin, .notFound, .operatorOnly, .upgradeRequired, .webSocketUpgrade, .webSocketKey,
        .webSocketVersion,
        .pipelinedUpgrade, .slowHead, .pipelined, .tlsRequired,
    ]

    @Test("[HT1] each refusal has a row, a status of its class and a label of its own")
    func complete() {
        let shown = Set(Self.bad.map(\.refusal)).union([.tooManyFields])
        #expect(shown.isDisjoint(with: Self.ofSites) && shown.union(Self.ofSites) == Set(HTTPRefusal.allCases))
        for refusal in HTTPRefusal.allCases {
            let least: UInt16 = refusal == .tlsRequired ? 308 : 400
            #expect((least..<600).contains(refusal.status.rawValue) && !refusal.text.isEmpty)
            #expect(refusal.rawValue.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }, "\(refusal.rawValue)")
        }
        let statuses: [(HTTPRefusal, UInt16)] = [
            (.method, 405), (.headTooLarge, 431), (.tooManyFields, 431), (.targetTooLong, 414), (.version, 505), (.transferEncoding, 501),
            (.body, 413), (.expectation, 417), (.wrongHost, 421), (.upgradeRequired, 426), (.webSocketVersion, 426), (.slowHead, 408),
            (.foreignOrigin, 403), (.notFound, 404), (.operatorOnly, 401), (.bareLF, 400), (.traversal, 400),
        ]
        for (refusal, status) in statuses { #expect(refusal.status.rawValue == status, "\(refusal)") }
    }

    /// A head of so many bytes.
    private func head(bytes: Int) -> String {
        let rest = "GET / HTTP/1.1\r\nHost: a\r\nCookie: \r\n\r\n"
        return "GET / HTTP/1.1\r\nHost: a\r\nCookie: " + String(repeating: "c", count: bytes - rest.utf8.count) + "\r\n\r\n"
    }

    @Test("[HT2] a head of 8,192 bytes passes, one of 8,193 does not; nor a first line that is as long")
    func headBytes() {
        #expect(Reading(head(bytes: 8_192)).requests.count == 1)
        #expect(Reading(head(bytes: 8_193)).refusal == .headTooLarge)
        #expect(Reading(head(bytes: 8_193)).requests == [])
        let longest =
            "GET /" + String(repeating: "a", count: 8_192 - "GET / HTTP/1.1\r\nHost:a\r\n\r\n".utf8.count) + " HTTP/1.1\r\nHost:a\r\n\r\n"
        #expect(Reading(longest).requests.count == 1)
        // The bound is of each head, not of the connection.
        #expect(Reading(head(bytes: 8_192) + head(bytes: 8_192)).requests.count == 2)
    }

    @Test("[HT2] 64 fields pass, 65 do not")
    func fields() {
        func request(_ count: Int) -> Reading {
            Reading("GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: y\r\n", count: count - 1) + "\r\n")
        }
        #expect(request(64).requests.first?.fields.count == 64)
        #expect(request(65) == Reading("GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: y\r\n", count: 64)))
        #expect(request(65).refusal == .tooManyFields)
    }

    static let good = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "HEAD /relay-client.js HTTP/1.0\r\nhost:b:7420\r\n\r\n",
        "GET /a%20b/c?d=%2F..&e HTTP/1.1\r\nHOST: \t c \t \r\nCookie: \u{e9}\r\nAccept:\r\nContent-Length: 000\r\nExpect: 100-Continue\r\n\r\n",
    ]

    @Test("[HT1] a valid request is read as it was meant")
    func good() throws {
        let reading = Reading(Self.good.joined())
        #expect(reading.refusal == nil && !reading.isInHead)
        try #require(reading.requests.count == 3)
        let (first, second, third) = (reading.requests[0], reading.requests[1], reading.requests[2])
        #expect(first.method == .get && first.version == .http11 && first.target.path == "/" && first.target.query == nil)
        #expect(first.fields == [HTTPRequest.Field(name: Array("host".utf8), value: Array("a".utf8))])
        #expect(second.method == .head && second.version == .http10 && second.values("host") == [Array("b:7420".utf8)])
        #expect(third.target.path == "/a b/c" && third.target.query == Array("d=%2F..&e".utf8) && third.values("host") == [Array("c".utf8)])
        #expect(third.values("accept") == [[]] && third.values("cookie") == [Array("\u{e9}".utf8)])
    }

    @Test("[HT1] the bytes mean the same wherever they are cut, in two places")
    func cuts() {
        let bytes = Array(Self.good.joined().utf8)
        let whole = Reading([bytes])
        for first in 0...bytes.count {
            #expect(Reading(bytes.cut(at: [first])) == whole)
            for second in stride(from: first, through: bytes.count, by: 7) where Reading(bytes.cut(at: [first, second])) != whole {
                Issue.record("cut at \(first) and \(second)")
            }
        }
        #expect(Reading(bytes.map { [$0] }) == whole)
    }

    @Test(
        "[HT1, HT2] whatever the bytes, they mean the same however they are cut, and no control character passes", arguments: UInt64(1)...4)
    func mutants(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var accepted = 0, refusals: Set<HTTPRefusal> = []
        for _ in 0..<5_000 {
            let bytes = Mutant.mutated(Array(Self.good.randomElement(using: &generator)!.utf8), using: &generator)
            let whole = Reading([bytes])
            #expect(Reading(bytes.randomCut(using: &generator)) == whole)
            accepted += whole.requests.count
            if let refusal = whole.refusal { refusals.insert(refusal) }
            for request in whole.requests {
                let hasControl = (request.fields.flatMap { $0.name + $0.value } + Array(request.target.path.utf8)).contains {
                    $0 < 0x20 && $0 != 9 || $0 == 0x7F
                }
                #expect(!hasControl && request.values("host").count == 1, "\(text(bytes))")
            }
        }
        // Neither all nor nothing passes, or the mutants show nothing.
        #expect(accepted > 500 && accepted < 4_500 && refusals.count > 12, "\(accepted), \(refusals)")
    }
}

/// Small damage, of the kind that makes two readers differ.
enum Mutant {
    static let tokens = [
        "\r", "\n", "\r\n", " ", "\t", ":", ",", "%2e", "%", "/", "..", "\0", "HTTP/1.1", "Content-Length: 1\r\n",
        "Transfer-Encoding: chunked\r\n", "Host: b\r\n", "\u{7f}", "é",
    ]

    static func mutated(_ bytes: [UInt8], using generator: inout some RandomNumberGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0...Int.random(in: 0...1, using: &generator) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(contentsOf: Array(tokens.randomElement(using: &generator)!.utf8), at: index)
            case 3: bytes.insert(bytes[index], at: index)
            case 4: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            default:
                let end = Int.random(in: index..<Swift.min(bytes.count, index + 12), using: &generator)
                bytes.insert(contentsOf: bytes[index...end], at: index)
            }
        }
        return bytes
    }
}
