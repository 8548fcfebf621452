import RelayPrimitives
import RelayWire
import Testing

@testable import RelayNATS

@Suite("A connection to a NATS server") struct MachineTests {
    private static let login = #""lang":"swift","version":"1","name":"boardrelay","#

    @Test("CONNECT says who the relay is", arguments: [
        (NATSLogin(), ""), (NATSLogin(.password(user: "ann", #"p"w"#)), #","user":"ann","pass":"p\"w""#),
        (NATSLogin(.token("t")), #","auth_token":"t""#),
    ])
    func connect(login: NATSLogin, end: String) throws {
        var talk = Talk(login: login)
        #expect(talk.sent() == [], "before INFO")
        try talk.hear(Talk.info)
        let sent = talk.sent()
        let common = #"{"verbose":false,"pedantic":false,"headers":true,"no_responders":true,"protocol":1,"#
        let json = common + Self.login + #""tls_required":false"# + end + "}"
        #expect(sent == [Sent(line: "CONNECT \(json)"), Sent(line: "SUB _INBOX.box.* 1"), Sent(line: "PING")])
        #expect(talk.events == [])
    }

    @Test("a server that wants a login gets none of nobody")
    func noLogin() throws {
        var talk = Talk()
        let info = Talk.info.replacing("{", with: #"{"auth_required":true,"#, maxReplacements: 1)
        #expect(throws: NATSError.loginWanted) { try talk.hear(info) }
        #expect(talk.sent() == [])
    }

    @Test("TLS begins before anything is said", arguments: [(true, "tls_required"), (true, "tls_available"), (false, "tls_required")])
    func tls(needsTLS: Bool, word: String) throws {
        var talk = Talk(login: NATSLogin(.token("secret")), needsTLS: needsTLS)
        try talk.hear(Talk.info.replacing("{", with: "{\"\(word)\":true,", maxReplacements: 1))
        #expect(talk.sent() == [] && talk.events == [.startTLS])
        try talk.log.secured()
        #expect(talk.sent().first?.line.contains(#""tls_required":true"#) == true)
        #expect(throws: NATSError.self) { try talk.log.secured() }
    }

    @Test("TLS that is wanted and not offered, and bytes in the clear where it begins, end the connection")
    func noTLS() throws {
        var talk = Talk(needsTLS: true)
        #expect(throws: NATSError.tlsNotOffered) { try talk.hear(Talk.info) }
        let info = Talk.info.replacing("{", with: #"{"tls_required":true,"#, maxReplacements: 1)
        talk = Talk()
        #expect(throws: NATSError.bytesBeforeTLS) { try talk.hear(info + "P") }
        talk = Talk()
        try talk.hear(info)
        #expect(throws: NATSError.bytesBeforeTLS) { try talk.hear("PING\r\n") }
        #expect(throws: NATSError.bytesBeforeTLS, "for ever") { try talk.hear("PING\r\n") }
        #expect(talk.sent() == [])
    }

    @Test("a server that is silent is asked after 5 s, and left after 10 s")
    func silence() throws {
        var talk = try Talk.opened()
        #expect(talk.log.nextDeadline == talk.now + .seconds(5))
        try talk.wait(.milliseconds(4_999))
        #expect(talk.sent() == [])
        try talk.wait(.milliseconds(1))
        #expect(talk.sent() == [Sent(line: "PING")])
        try talk.hear("PONG\r\n")
        try talk.wait(.seconds(5))
        #expect(talk.sent() == [Sent(line: "PING")])
        try talk.wait(.milliseconds(4_999))
        #expect(talk.sent() == [], "asked once")
        #expect(throws: NATSError.silent(.seconds(10))) { try talk.wait(.milliseconds(1)) }
    }

    @Test("one that says nothing at all is left after 10 s")
    func dumb() throws {
        var talk = Talk()
        try talk.wait(.milliseconds(9_999))
        #expect(throws: NATSError.silent(.seconds(10))) { try talk.wait(.milliseconds(1)) }
    }

    @Test("PING is answered, as long as the answers are taken")
    func ping() throws {
        var talk = try Talk.opened()
        try talk.hear("PING\r\n")
        #expect(talk.sent() == [Sent(line: "PONG")])
        let entry = [UInt8](repeating: 0, count: talk.log.entryBytesMax), error = NATSError.outputFull(limit: NATSLimits.outputBytesMax)
        for number in 0..<32 { try talk.log.append(entry, after: UInt64(number), id: "a", at: talk.now) }
        #expect(throws: error) { try talk.log.append(entry, after: 32, id: "a", at: talk.now) }
        #expect(throws: error) { try talk.hear(String(repeating: "PING\r\n", count: 4_000)) }
        #expect(NATSLimits.outputBytesMax - 5...NATSLimits.outputBytesMax ~= talk.log.takeOutput().count)
    }

    @Test("256 requests wait for an answer, the next one is refused and not sent")
    func requests() throws {
        var talk = try Talk.opened()
        for _ in 0..<NATSLimits.requestsMax { try talk.log.readEnds(at: talk.now) }
        #expect(talk.sent().count == 256)
        #expect(throws: NATSError.tooManyRequests(limit: 256)) { try talk.log.readEnds(at: talk.now) }
        #expect(talk.sent() == [])
        try talk.wait(.milliseconds(1_999))
        #expect(talk.events == [])
        try talk.wait(.milliseconds(1))
        #expect(talk.events == Array(repeating: .ends(.failure(.noAnswer(.timedOut))), count: 256))
        try talk.log.readEnds(at: talk.now)
    }

    @Test("an answer that comes too late, or twice, is none")
    func late() throws {
        var talk = try Talk.opened()
        try talk.log.readEnds(at: talk.now)
        let first = try #require(talk.sent().first)
        try talk.wait(.seconds(2))
        try talk.log.readEnds(at: talk.now)
        let second = try #require(talk.sent().first)
        _ = talk.taken()
        try talk.answer(first, Talk.description(last: 3))
        #expect(talk.events == [])
        try talk.answer(second, Talk.description(last: 4))
        try talk.answer(second, Talk.description(last: 5))
        #expect(talk.events == [.ends(.success(LogEnds(first: 1, last: 4)))])
    }

    @Test("what nobody asked for ends the connection", arguments: [
        message("_INBOX.box.3", "{}"), message("_INBOX.box.0", "{}"), message("_INBOX.other.1", "{}"), message("a", "{}"),
        message("a.18446744073709551616", "{}"), message("a", to: 2, "{}"), message("a", to: 0, ""), "-ERR 'Stale Connection'\r\n", "GET / HTTP/1.1\r\n",
        "INFO {}\r\n", "INFO {\"version\":\"2.12.0\"\r\n",
    ])
    func unasked(line: String) throws {
        var talk = try Talk.opened()
        #expect(throws: NATSError.self) { try talk.hear(line) }
        #expect(throws: NATSError.self, "for ever") { try talk.hear("PING\r\n") }
        #expect(talk.sent() == [])
    }

    @Test("before the login nothing but INFO is of use", arguments: [
        message("_INBOX.box.1", ""), message("_INBOX.box.0", ""), message("a", to: 7, ""),
    ])
    func early(line: String) throws {
        var talk = Talk()
        #expect(throws: NATSError.self) { try talk.hear(line) }
    }

    @Test("a permission that is missing is told, and the connection lives")
    func denied() throws {
        var talk = try Talk.opened()
        let text = #"Permissions Violation for Publish to "boardrelay.S""#
        try talk.hear("-ERR '\(text)'\r\nPING\r\n")
        #expect(talk.events == [.denied(text)])
        #expect(talk.sent() == [Sent(line: "PONG")])
    }

    @Test("an entry fits into the server's max_payload with its header, and a larger one is refused")
    func payload() throws {
        var talk = try Talk.opened()
        let most = talk.log.entryBytesMax
        #expect(most == 1_048_576 - 512)
        let id = String(repeating: "i", count: 64)
        try talk.log.append(Array(repeating: 0, count: most), after: .max - 1, id: id, at: talk.now)
        let sent = try #require(talk.sent().first)
        #expect(sent.payload.count == most && sent.words.last.flatMap { Int($0) }.map { $0 <= 1_048_576 } == true)
        #expect(throws: NATSError.payloadTooLarge(limit: most, actual: UInt64(most + 1))) {
            try talk.log.append(Array(repeating: 0, count: most + 1), after: 1, id: id, at: talk.now)
        }
        #expect(talk.sent() == [])
    }

    @Test("INFO may change the bounds while the connection lives, and is examined again")
    func infoAgain() throws {
        var talk = try Talk.opened()
        try talk.hear(Talk.info.replacing("1048576", with: "2097152"))
        #expect(talk.log.entryBytesMax == 2_097_152 - 512)
        #expect(talk.sent() == [] && talk.events == [])
        #expect(throws: NATSError.self) { try talk.hear(Talk.info.replacing("2.12.0", with: "2.11.9")) }
    }
}
