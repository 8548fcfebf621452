import RelayPrimitives
import RelayWire
import Testing

@testable import RelayNATS

@Suite("An append to the log") struct AppendTests {
    /// What the server answers to an append of `m1` behind entry 4, and what it became.
    static let answers: [(String, AppendOutcome)] = [
        (#"{"stream":"S","seq":5}"#, .taken(5)), (#"{"stream":"S","seq":5,"duplicate": true}"#, .taken(5)),
        (#"{"stream":"S","seq":5,"domain":"hub"}"#, .taken(5)),
        (#"{"stream":"S","seq":6}"#, .unknown(.badAnswer("an append behind 4 is at another place"))),
        (#"{"stream":"T","seq":5}"#, .unknown(.badAnswer("an append behind 4 is at another place"))),
        (#"{"stream":"S","seq":-5}"#, .unknown(.badAnswer("an append behind 4 is at another place"))),
        (#"{"seq":5}"#, .unknown(.badAnswer("an append behind 4 is at another place"))),
        (#"{"error":{}}"#, .unknown(.refused(code: 0, ""))), (#"{"error":7}"#, .unknown(.refused(code: 0, ""))),
    ] + refusals.map { (error($0, $1), .unknown(.refused(code: $0, $1))) }

    /// After which the append may be there all the same: asked before, and answered now by a leader that is none any more.
    private static let refusals: [(Int, String)] = [
        (10071, "wrong last sequence: 0"), (10071, "wrong last sequence: 3"), (10071, "wrong last sequence: 4"),
        (10071, "wrong last sequence"), (10071, "wrong last sequence: -9"), (10164, "wrong last sequence"), (10158, "in process"),
        (10060, "expected stream does not match"), (10077, "maximum bytes exceeded"), (10008, "JetStream system temporarily unavailable"),
    ]

    private static func error(_ code: Int, _ text: String) -> String {
        #"{"error":{"code":400,"err_code":\#(code),"description":"\#(text)"},"stream":"S","seq":0}"#
    }

    private static func appending() throws -> (Talk, Sent) {
        var talk = try Talk.opened(last: 4)
        try talk.log.append(Array("entry".utf8), after: 4, id: "m1", at: talk.now)
        let sent = talk.sent()
        #expect(sent.count == 1)
        return (talk, try #require(sent.first))
    }

    @Test("says behind which entry, and its id")
    func header() throws {
        let (_, sent) = try Self.appending()
        #expect(sent.verb == "HPUB" && sent.subject == "boardrelay.S" && sent.reply == "_INBOX.box.2" && text(sent.payload) == "entry")
        #expect(
            sent.header
                == "NATS/1.0\r\nNats-Expected-Stream: S\r\nNats-Expected-Last-Sequence: 4\r\nNats-Msg-Id: m1\r\n\r\n")
    }

    @Test("is what the answer says", arguments: answers)
    func outcomes(answer: String, outcome: AppendOutcome) throws {
        var (talk, sent) = try Self.appending()
        try talk.answer(sent, answer)
        #expect(talk.events == [.appended(id: "m1", outcome)])
    }

    @Test("is unknown without an answer that can be read")
    func noAnswer() throws {
        var (talk, sent) = try Self.appending()
        try talk.hear(message(sent.reply, header: "NATS/1.0 503"))
        #expect(talk.events == [.appended(id: "m1", .unknown(.noAnswer(.noResponders)))])

        (talk, sent) = try Self.appending()
        try talk.wait(.milliseconds(1_999))
        #expect(talk.events == [])
        try talk.wait(.milliseconds(1))
        #expect(talk.events == [.appended(id: "m1", .unknown(.noAnswer(.timedOut)))])
        try talk.answer(sent, #"{"stream":"S","seq":5}"#)
        #expect(talk.events.count == 1, "the answer came too late")

        (talk, sent) = try Self.appending()
        talk.log.disconnected(at: talk.now)
        #expect(talk.log.takeEvents() == [.appended(id: "m1", .unknown(.noAnswer(.linkLost)))])

        (talk, sent) = try Self.appending()
        try talk.answer(sent, "seq 5")
        guard case .appended(id: "m1", .unknown(.badAnswer))? = talk.events.first else { return unexpected("\(talk.events)") }
    }

    @Test("that came before an error of the connection counts")
    func beforeError() throws {
        var (talk, sent) = try Self.appending()
        #expect(throws: NATSError.self) { try talk.hear(message(sent.reply, #"{"stream":"S","seq":5}"#) + "no line\r\n") }
        #expect(talk.events == [.appended(id: "m1", .taken(5))])
    }

    /// What stands at 5, and what an append that wanted to stand there became; the log ends at 9.
    static let others: [(String, AppendOutcome)] = [
        // NATS/1.0, Nats-Msg-Id: m1
        (stored("TkFUUy8xLjANCk5hdHMtTXNnLUlkOiBtMQ0KDQo="), .taken(5)),
        // NATS/1.0, Nats-Msg-Id: m2
        (stored("TkFUUy8xLjANCk5hdHMtTXNnLUlkOiBtMg0KDQo="), .wrong(last: 9)),
        (#"{"message":{"subject":"boardrelay.S","seq":5,"data":"cjE="}}"#, .wrong(last: 9)),
        (#"{"message":{"subject":"boardrelay.S","seq":6}}"#, .unknown(.badAnswer("no entry 5"))),
        (stored("TkFUUy8xLjANCk5hdHMtTXNnLUlkOiBtMQ0KDQ"), .unknown(.badAnswer("no entry 5"))),
        (stored("_-__"), .unknown(.badAnswer("no entry 5"))), (stored("TkFU"), .unknown(.badAnswer("no entry 5"))),
        (error(10037, "no message found"), .unknown(.refused(code: 10037, "no message found"))),
    ]

    private static func stored(_ header: String) -> String {
        #"{"message":{"subject":"boardrelay.S","seq":5,"hdrs":"\#(header)","data":"cjE=","time":"2026-11-29T09:24:19Z"}}"#
    }

    @Test("that finds the log longer looks whose entry stands in its place: it may be its own", arguments: others)
    func compare(answer: String, outcome: AppendOutcome) throws {
        var (talk, sent) = try Self.appending()
        try talk.answer(sent, Self.error(10071, "wrong last sequence: 9"))
        #expect(talk.events == [])
        let look = try #require(talk.sent().first)
        #expect(look.subject == "$JS.API.STREAM.MSG.GET.S" && text(look.payload) == #"{"seq":5}"#, "the leader is asked, not a replica")
        try talk.answer(look, answer)
        #expect(talk.events == [.appended(id: "m1", outcome)])
    }

    @Test("whose look has no answer is unknown, at the append's own deadline or later")
    func lostLook() throws {
        var (talk, sent) = try Self.appending()
        try talk.answer(sent, Self.error(10071, "wrong last sequence: 9"))
        try talk.wait(.seconds(2))
        #expect(talk.events == [.appended(id: "m1", .unknown(.noAnswer(.timedOut)))])
    }

    @Test("is refused where the log is not open, and then nothing is sent")
    func notOpen() throws {
        var talk = Talk()
        #expect(throws: NATSError.notOpen) { try talk.log.append([1], after: 0, id: "a", at: talk.now) }
        try talk.hear(Talk.info + "PONG\r\n")
        _ = talk.sent()
        #expect(throws: NATSError.notOpen) { try talk.log.append([1], after: 0, id: "a", at: talk.now) }
        #expect(throws: NATSError.notOpen) { try talk.log.trim(below: 1, at: talk.now) }
        #expect(throws: NATSError.notOpen) { try talk.log.read(1, at: talk.now) }
        talk.log.disconnected(at: talk.now)
        #expect(throws: NATSError.notOpen) { try talk.log.readEnds(at: talk.now) }
        #expect(talk.sent() == [])
    }

    @Test("a hundred under way are each answered for themselves, in any order")
    func many() throws {
        var talk = try Talk.opened()
        for number in 0..<100 { try talk.log.append([], after: UInt64(number), id: "\(number)", at: talk.now) }
        for (number, sent) in talk.sent().enumerated().reversed() { try talk.answer(sent, #"{"stream":"S","seq":\#(number + 1)}"#) }
        #expect(talk.events == (0..<100).reversed().map { .appended(id: "\($0)", .taken(UInt64($0) + 1)) })
    }

    @Test("nothing is trimmed beyond the end that is known, nor everything where nothing is wanted")
    func trimBounds() throws {
        var talk = try Talk.opened(first: 3, last: 9)
        for nothing in [0, 1] as [UInt64] { try talk.log.trim(below: nothing, at: talk.now) }
        #expect(talk.sent() == [] && talk.log.takeEvents() == [.trimmed(0, nil), .trimmed(1, nil)])
        #expect(throws: NATSError.trimBeyondEnd(last: 9, actual: 11)) { try talk.log.trim(below: 11, at: talk.now) }
        #expect(talk.sent() == [])
        try talk.log.trim(below: 10, at: talk.now)
        try talk.log.append([], after: 9, id: "m", at: talk.now)
        let last = try #require(talk.sent().last)
        try talk.answer(last, #"{"stream":"S","seq":10}"#)
        try talk.log.trim(below: 11, at: talk.now)
        #expect(talk.sent().count == 1)
        try talk.log.readEnds(at: talk.now)
        try talk.answerLast(Talk.description(first: 3, last: 5))
        // The log has lost its end.
        #expect(throws: NATSError.trimBeyondEnd(last: 5, actual: 7)) { try talk.log.trim(below: 7, at: talk.now) }
    }

    @Test("entries are read and taken away where the leader says so")
    func readAndTrim() throws {
        var talk = try Talk.opened(last: 9)
        try talk.log.read(5, at: talk.now)
        try talk.answerLast(Self.stored("TkFUUy8xLjANCk5hdHMtTXNnLUlkOiBtMQ0KDQo="))
        #expect(talk.taken() == [.read(5, .success(StreamEntry(sequence: 5, id: "m1", payload: Array("r1".utf8))))])
        try talk.log.trim(below: 5, at: talk.now)
        let purge = try #require(talk.sent().first)
        #expect(purge.subject == "$JS.API.STREAM.PURGE.S" && text(purge.payload) == #"{"seq":5}"#)
        try talk.answer(purge, #"{"type":"io.nats.jetstream.api.v1.stream_purge_response","success":true,"purged":4}"#)
        #expect(talk.taken() == [.trimmed(5, nil)])
        try talk.log.trim(below: 6, at: talk.now)
        try talk.answerLast(#"{"success":false}"#)
        #expect(talk.taken() == [.trimmed(6, .badAnswer("no success"))])
        try talk.log.readEnds(at: talk.now)
        try talk.answerLast(Talk.description(first: 6, last: 9))
        #expect(talk.taken() == [.ends(.success(LogEnds(first: 6, last: 9)))])
        try talk.log.readEnds(at: talk.now)
        try talk.answerLast(Talk.description(first: 10, last: 9))
        #expect(talk.taken() == [.ends(.success(LogEnds(first: 10, last: 9)))], "all is trimmed")
    }
}
