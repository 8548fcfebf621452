import RelayPrimitives
import RelayWire
import Testing

@testable import RelayNATS

@Suite("Who follows the log") struct FollowTests {
    /// Of one that follows: the log's talk, and the subscription that the consumer delivers to.
    private struct Following {
        var talk: Talk
        var subscription = 0

        init(first: UInt64 = 1, last: UInt64, from wanted: UInt64) throws {
            talk = try Talk.opened(first: first, last: last)
            try talk.log.follow(from: wanted, at: talk.now)
            try consumer(first: first, last: last, from: wanted)
        }

        /// Answers the question for the ends, and expects a consumer from there.
        mutating func consumer(
            first: UInt64 = 1, last: UInt64, from wanted: UInt64, sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            try talk.answerLast(Talk.description(first: first, last: last), sourceLocation: sourceLocation)
            let sent = talk.sent()
            let subscribe = try #require(sent.first, sourceLocation: sourceLocation)
            let create = try #require(sent.last, sourceLocation: sourceLocation)
            subscription = try #require(Int(subscribe.words[2]))
            #expect(subscribe.verb == "SUB" && create.subject == "$JS.API.CONSUMER.CREATE.S", sourceLocation: sourceLocation)
            let config = create.json?["config"]
            #expect(config?["deliver_subject"]?.text == subscribe.subject, sourceLocation: sourceLocation)
            #expect(config?["opt_start_seq"]?.sequence == wanted && config?["ack_policy"] == "none", sourceLocation: sourceLocation)
            #expect(config?["flow_control"] == true && config?["idle_heartbeat"] == 1_000_000_000, sourceLocation: sourceLocation)
            try talk.answer(create, #"{"type":"io.nats.jetstream.api.v1.consumer_create_response","name":"C"}"#)
        }

        /// An entry, as the consumer's delivery number `delivered`.
        mutating func deliver(_ sequence: UInt64, _ delivered: UInt64, to other: Int? = nil) throws {
            let reply = "$JS.ACK.S.C.1.\(sequence).\(delivered).1795944259311924974.0"
            let header = "NATS/1.0\nNats-Msg-Id: m\(sequence)"
            try talk.hear(message("boardrelay.S", to: other ?? subscription, reply: reply, header: header, "e\(sequence)"))
        }

        mutating func heartbeat(_ delivered: UInt64) throws {
            let header = "NATS/1.0 100 Idle Heartbeat\nNats-Last-Consumer: \(delivered)\nNats-Last-Stream: 9"
            try talk.hear(message("x", to: subscription, header: header))
        }
    }

    private static func entry(_ sequence: UInt64) -> LogEvent {
        .entry(StreamEntry(sequence: sequence, id: "m\(sequence)", payload: Array("e\(sequence)".utf8)))
    }

    @Test("gets what there is, and what comes")
    func follows() throws {
        var following = try Following(first: 3, last: 5, from: 4)
        for (sequence, delivered) in [(4, 1), (5, 2), (6, 3)] as [(UInt64, UInt64)] { try following.deliver(sequence, delivered) }
        #expect(following.talk.events == [Self.entry(4), Self.entry(5), Self.entry(6)])
        #expect(following.talk.sent() == [])
    }

    @Test("reads the place of an entry in each form", arguments: [
        ("$JS.ACK.S.C.1.4.1.5.0", true), ("$JS.ACK.hub.ACC.S.C.1.4.1.5.0", true), ("$JS.ACK._.ACC.S.C.1.4.1.5.0.rnd", true),
        ("$JS.ACK.S.C.1.4.1.5", false), ("$JS.ACK.hub.S.C.1.4.1.5.0", false), ("$JS.ACK.T.C.1.4.1.5.0", false),
        ("$JS.ACK.S.C.1.x.1.5.0", false), ("$JS.ACK.S.C.1.4.-1.5.0", false), ("JS.ACK.S.C.1.4.1.5.0", false), ("$JS.ACK.........", false),
    ])
    func places(reply: String, isPlace: Bool) throws {
        var following = try Following(last: 5, from: 4)
        let line = message("boardrelay.S", to: following.subscription, reply: reply, "e4")
        guard isPlace else {
            #expect(throws: NATSError.self) { try following.talk.hear(line) }
            return
        }
        try following.talk.hear(line)
        #expect(following.talk.events == [.entry(StreamEntry(sequence: 4, id: nil, payload: Array("e4".utf8)))])
    }

    @Test("and a gap makes another consumer, from the entry that is wanted", arguments: [
        (6, 3), (6, 2), (5, 3), (4, 2),
    ] as [(UInt64, UInt64)])
    func gap(sequence: UInt64, delivered: UInt64) throws {
        var following = try Following(last: 9, from: 4)
        try following.deliver(4, 1)
        try following.deliver(sequence, delivered)
        #expect(following.talk.taken() == [Self.entry(4)])
        let old = following.subscription
        try following.consumer(last: 9, from: 5)
        #expect(following.subscription != old)
        try following.deliver(5, 2, to: old)
        #expect(following.talk.events == [], "what was under way from the earlier one")
        try following.deliver(5, 1)
        #expect(following.talk.events == [Self.entry(5)])
    }

    @Test("unsubscribes from the consumer that it leaves")
    func leaves() throws {
        var following = try Following(last: 9, from: 4)
        try following.deliver(5, 1)
        #expect(following.talk.sent().map(\.line).first == "UNSUB \(following.subscription)")
    }

    @Test("A heartbeat is expected each second; without one for 3 s another consumer is made")
    func heartbeats() throws {
        var following = try Following(last: 3, from: 4)
        for _ in 0..<5 {
            try following.talk.wait(.milliseconds(2_999))
            try following.heartbeat(0)
        }
        #expect(following.talk.sent() == [])
        try following.talk.wait(.milliseconds(2_999))
        #expect(following.talk.sent() == [])
        try following.talk.wait(.milliseconds(1))
        try following.consumer(last: 3, from: 4)
    }

    @Test("A heartbeat that tells of more entries than came is a gap")
    func heartbeatGap() throws {
        var following = try Following(last: 9, from: 4)
        try following.deliver(4, 1)
        try following.heartbeat(1)
        #expect(following.talk.sent() == [])
        try following.heartbeat(2)
        try following.consumer(last: 9, from: 5)
    }

    @Test("says that it keeps up, and only where consumers ask that")
    func flowControl() throws {
        var following = try Following(last: 9, from: 4)
        let to = following.subscription
        try following.talk.hear(message("x", to: to, reply: "$JS.FC.S.C.abc", header: "NATS/1.0 100 FlowControl Request"))
        #expect(following.talk.sent() == [Sent(line: "PUB $JS.FC.S.C.abc 0")])
        let stalled = "NATS/1.0 100 Idle Heartbeat\nNats-Last-Consumer: 0\nNats-Consumer-Stalled: $JS.FC."
        try following.talk.hear(message("x", to: to, header: stalled + "S.C.def"))
        #expect(following.talk.sent() == [Sent(line: "PUB $JS.FC.S.C.def 0")])
        // Who guessed the inbox would have the relay empty its own log.
        try following.talk.hear(message("x", to: to, reply: "$JS.API.STREAM.PURGE.S", header: "NATS/1.0 100 FlowControl Request"))
        #expect(following.talk.sent() == [])
        #expect(throws: NATSError.self) { try following.talk.hear(message("x", to: to, header: stalled + "a b")) }
        #expect(following.talk.sent() == [])
    }

    @Test("is told when the log has not what is wanted", arguments: [
        (5, 9, 4), (1, 9, 11), (10, 9, 9), (1, 0, 2),
    ] as [(UInt64, UInt64, UInt64)])
    func missing(first: UInt64, last: UInt64, wanted: UInt64) throws {
        var talk = try Talk.opened()
        try talk.log.follow(from: wanted, at: talk.now)
        try talk.answerLast(Talk.description(first: first, last: last))
        #expect(talk.events == [.missing(wanted, LogEnds(first: first, last: last))])
        #expect(talk.sent() == [])
        try talk.wait(.seconds(4))
        #expect(talk.sent() == [], "following has ended")
    }

    @Test("gets all from both ends", arguments: [(5, 9, 5), (5, 9, 10), (10, 9, 10), (1, 0, 1), (1, 0, 0)] as [(UInt64, UInt64, UInt64)])
    func ends(first: UInt64, last: UInt64, wanted: UInt64) throws {
        _ = try Following(first: first, last: last, from: max(1, wanted))
    }

    @Test("A log that went backwards is noticed when another consumer is made")
    func backwards() throws {
        var following = try Following(last: 9, from: 9)
        try following.deliver(9, 1)
        try following.talk.wait(.seconds(3))
        try following.talk.answerLast(Talk.description(last: 8))
        #expect(following.talk.events == [Self.entry(9), .missing(10, LogEnds(first: 1, last: 8))])
    }

    @Test("asks again after 500 ms where nobody answers, for the ends and for the consumer")
    func patience() throws {
        var talk = try Talk.opened(last: 9)
        try talk.log.follow(from: 4, at: talk.now)
        let ends = try #require(talk.sent().last)
        try talk.hear(message(ends.reply, header: "NATS/1.0 503"))
        try talk.wait(.milliseconds(499))
        #expect(talk.sent() == [])
        try talk.wait(.milliseconds(1))
        try talk.answerLast(Talk.description(last: 9))
        try talk.answerLast(#"{"error":{"code":503,"err_code":10008,"description":"JetStream system temporarily unavailable"}}"#)
        try talk.wait(.milliseconds(499))
        #expect(talk.sent() == [])
        try talk.wait(.milliseconds(1))
        #expect(talk.sent().map(\.verb) == ["UNSUB", "PUB"])
        try talk.wait(.seconds(2))
        try talk.wait(.milliseconds(500))
        #expect(talk.sent().last?.subject == "$JS.API.STREAM.INFO.S", "no answer for 2 s")
        #expect(talk.events == [])
    }

    @Test("goes on over the next connection with the entry that is wanted")
    func reconnects() throws {
        var following = try Following(last: 9, from: 4)
        try following.deliver(4, 1)
        following.talk.log.disconnected(at: following.talk.now)
        try following.talk.wait(.seconds(60))
        #expect(following.talk.log.nextDeadline == nil && following.talk.sent() == [])
        following.talk.log.connected(inbox: "next", at: following.talk.now)
        #expect(following.talk.taken() == [Self.entry(4)])
        try following.talk.hear(Talk.info + "PONG\r\n")
        try following.talk.answerLast(Talk.description(last: 9))
        try following.consumer(last: 9, from: 5)
        try following.deliver(5, 1)
        #expect(following.talk.events.last == Self.entry(5))
    }

    @Test("begins elsewhere before it has begun, and then once")
    func twice() throws {
        var talk = try Talk.opened(last: 9)
        try talk.log.follow(from: 4, at: talk.now)
        try talk.log.follow(from: 7, at: talk.now)
        let asked = talk.sent()
        #expect(asked.count == 2)
        try talk.answer(asked[0], Talk.description(last: 9))
        #expect(talk.sent() == [])
        try talk.answer(asked[1], Talk.description(last: 9))
        #expect(talk.sent().map(\.verb) == ["SUB", "PUB"])
    }

    @Test("begins elsewhere when it is told to, and ends")
    func elsewhere() throws {
        var following = try Following(last: 9, from: 4)
        let old = following.subscription
        try following.talk.log.follow(from: 7, at: following.talk.now)
        try following.deliver(4, 1, to: old)
        try following.consumer(last: 9, from: 7)
        try following.talk.log.unfollow()
        #expect(following.talk.sent() == [Sent(line: "UNSUB \(following.subscription)")])
        try following.deliver(7, 1)
        try following.talk.wait(.seconds(4))
        #expect(following.talk.events == [] && following.talk.sent() == [])
    }
}
