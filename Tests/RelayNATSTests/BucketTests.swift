import RelayPrimitives
import RelayWire
import Testing

@testable import RelayNATS

/// A bucket and what stands for its server, on a clock moved by hand.
private struct BucketTalk {
    static let config = #"""
        "name":"KV_B","subjects":["$KV.B.>"],"retention":"limits","max_msgs":-1,"max_bytes":-1,"max_age":0,"max_msgs_per_subject":1,
        "max_msg_size":-1,"discard":"new","storage":"file","num_replicas":3,"sealed":false,"deny_delete":true,"deny_purge":false,
        "allow_rollup_hdrs":false,"allow_msg_ttl":true,"metadata":{"_nats.ver":"2.12.0"}
        """#
    static let created = #"{"type":"io.nats.jetstream.api.v1.consumer_create_response","name":"C","num_pending":"#

    var bucket: KeyValueBucket
    var now = Instant(nanoseconds: 1_000_000_000)
    var events: [KeyValueBucket.Event] = []
    var subscription = 0

    init() {
        bucket = KeyValueBucket(name: "B", login: NATSLogin(), needsTLS: false)
        bucket.connected(inbox: "box", at: now)
    }

    static func description(_ config: String = BucketTalk.config) -> String {
        // Keys that were overwritten are holes.
        #"{"config":{\#(config)},"state":{"messages":3,"first_seq":2,"last_seq":9,"num_deleted":5}}"#
    }

    /// One that watches, and has so many values to tell.
    static func opened(pending: Int = 0) throws -> BucketTalk {
        var talk = BucketTalk()
        try talk.hear(Talk.info + "PONG\r\n")
        try talk.answer(try #require(talk.sent().last), description())
        try talk.watches(pending: pending)
        return talk
    }

    mutating func watches(pending: Int = 0, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let sent = sent()
        let subscribe = try #require(sent.first { $0.verb == "SUB" }, sourceLocation: sourceLocation)
        let create = try #require(sent.last, sourceLocation: sourceLocation), config = create.json?["config"]
        subscription = try #require(Int(subscribe.words[2]))
        #expect(create.subject == "$JS.API.CONSUMER.CREATE.KV_B" && config?["deliver_subject"]?.text == subscribe.subject)
        #expect(config?["deliver_policy"] == "last_per_subject" && config?["filter_subject"] == "$KV.B.>", sourceLocation: sourceLocation)
        try answer(create, Self.created + "\(pending)}")
    }

    mutating func hear(_ text: String) throws {
        defer { events += bucket.takeEvents() }
        let bytes = Array(text.utf8), now = now
        try bytes.withUnsafeBytes { buffer in Result { () throws(NATSError) in try bucket.receive(buffer, at: now) } }.get()
    }

    mutating func answer(_ request: Sent, _ json: String) throws { try hear(message(request.reply, json)) }

    mutating func deliver(_ key: String, _ value: String, revision: Int, _ delivered: Int, pending: Int = 0) throws {
        let reply = "$JS.ACK.KV_B.C.1.\(revision).\(delivered).1795944259311924974.\(pending)"
        try hear(message("$KV.B.\(key)", to: subscription, reply: reply, value))
    }

    mutating func sent() -> [Sent] { Sent.all(bucket.takeOutput()) }

    mutating func taken() -> [KeyValueBucket.Event] {
        defer { events = [] }
        return events
    }
}

@Suite("A bucket of keys and values") struct BucketTests {
    private static func entry(_ key: String, _ value: String, _ revision: UInt64) -> KeyValueBucket.Event {
        .entry(BucketEntry(key: key, value: Array(value.utf8), revision: revision))
    }

    @Test("is made as ADR-8 has it, with values that may end by themselves") func made() throws {
        var talk = BucketTalk()
        try talk.hear(Talk.info + "PONG\r\n")
        let asked = try #require(talk.sent().last)
        #expect(asked.subject == "$JS.API.STREAM.INFO.KV_B")
        try talk.answer(asked, #"{"error":{"code":404,"err_code":10059,"description":"stream not found"}}"#)
        let create = try #require(talk.sent().last)
        #expect(create.subject == "$JS.API.STREAM.CREATE.KV_B" && create.json?["subjects"] == ["$KV.B.>"])
        #expect(create.json?["max_msgs_per_subject"] == 1 && create.json?["allow_msg_ttl"] == true && create.json?["num_replicas"] == 3)
        #expect(create.json?["discard"] == "new" && create.json?["storage"] == "file")
        try talk.answer(create, BucketTalk.description())
        guard case .opened = talk.events.last else { throw LiveLog.Failed(description: "\(talk.events)") }
    }

    @Test(
        "is refused where it may lose what it has acknowledged, or keeps more than a value of each key",
        arguments: [
            ("storage", #""memory""#), ("num_replicas", "1"), ("max_msgs_per_subject", "2"), ("max_msgs_per_subject", "-1"),
            ("allow_msg_ttl", "false"), ("max_age", "1"), ("discard", #""old""#), ("deny_delete", "false"), ("allow_rollup_hdrs", "true"),
            ("subjects", #"["$KV.>"]"#),
        ]) func refused(setting: String, value: String) throws {
        let right = try JSONValue(answer: Array("{\(BucketTalk.config)}".utf8), bytesMax: 10_000)
        guard case .object(let members) = right else { return }
        let config = (members.filter { $0.key != setting }.map { "\"\($0.key)\":\(text($0.value.bytes))" } + ["\"\(setting)\":\(value)"])
            .joined(separator: ",")
        var talk = BucketTalk()
        try talk.hear(Talk.info + "PONG\r\n")
        let asked = try #require(talk.sent().last)
        let error = #expect(throws: NATSError.self) { try talk.answer(asked, BucketTalk.description(config)) }
        #expect(error.map { "\($0)".hasPrefix("stream KV_B: \(setting) is ") } == true, "\(error.debugDescription)")
    }

    @Test("tells all values, then that these are all, then each change; an empty one has none") func told() throws {
        var talk = try BucketTalk.opened(pending: 2)
        try talk.deliver("space.a", "1", revision: 2, 1, pending: 1)
        try talk.deliver("node.x.y", "2", revision: 9, 2)
        try talk.deliver("space.a", "3", revision: 10, 3)
        #expect(Array(talk.taken().dropFirst()) == [
            Self.entry("space.a", "1", 2), Self.entry("node.x.y", "2", 9), .complete, Self.entry("space.a", "3", 10),
        ])
        var empty = try BucketTalk.opened()
        #expect(empty.taken().last == .complete)
    }

    @Test("of which a value is missing is told from the beginning") func gap() throws {
        var talk = try BucketTalk.opened(pending: 3)
        try talk.deliver("a", "1", revision: 2, 1, pending: 2)
        _ = talk.taken()
        try talk.deliver("c", "3", revision: 4, 3)
        #expect(talk.taken() == [])
        try talk.watches(pending: 1)
        try talk.deliver("a", "1", revision: 2, 1)
        #expect(talk.taken() == [Self.entry("a", "1", 2), .complete])
        // A heartbeat tells of a value that did not come.
        let heartbeat = "NATS/1.0 100 Idle Heartbeat\nNats-Last-Consumer: 2\nNats-Last-Stream: 9"
        try talk.hear(message("x", to: talk.subscription, header: heartbeat))
        try talk.watches()
        // Nor does silence last.
        talk.now = talk.now + .seconds(3)
        try talk.bucket.deadlineReached(at: talk.now)
        try talk.watches()
    }

    @Test("takes a value, where the key has the revision that is expected, and says when it was not taken") func put() throws {
        var talk = try BucketTalk.opened()
        try talk.bucket.put([1], for: "space.a", expected: 7, endsAfter: 60, at: talk.now)
        try talk.bucket.put([2], for: "node.b", at: talk.now)
        let sent = talk.sent()
        #expect(sent.map(\.subject) == ["$KV.B.space.a", "$KV.B.node.b"] && sent.map(\.payload) == [[1], [2]])
        #expect(sent[0].header.contains("Nats-Expected-Last-Subject-Sequence: 7\r\n") && sent[0].header.contains("Nats-TTL: 60s\r\n"))
        #expect(sent[1].header == "NATS/1.0\r\nNats-Expected-Stream: KV_B\r\n\r\n")
        _ = talk.taken()
        try talk.answer(sent[1], #"{"stream":"KV_B","seq":12}"#)
        try talk.answer(sent[0], #"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 8"}}"#)
        #expect(talk.taken() == [
            .put(key: "node.b", .success(12)), .put(key: "space.a", .failure(.refused(code: 10071, "wrong last sequence: 8"))),
        ])
        try talk.bucket.put([1], for: "a", at: talk.now)
        talk.bucket.disconnected(at: talk.now)
        #expect(talk.bucket.takeEvents() == [.put(key: "a", .failure(.noAnswer(.linkLost)))])
        #expect(throws: NATSError.notOpen) { try talk.bucket.put([1], for: "a", at: talk.now) }
    }

    @Test("takes a stream away; one that is not there is away", arguments: [
        (#"{"success":true}"#, nil), (#"{"error":{"code":404,"err_code":10059,"description":"stream not found"}}"#, nil),
        (#"{"error":{"code":503,"err_code":10008,"description":"unavailable"}}"#, LogFailure.refused(code: 10008, "unavailable")),
    ] as [(String, LogFailure?)])
    func removed(answer: String, failure: LogFailure?) throws {
        var talk = try BucketTalk.opened()
        try talk.bucket.removeStream("space-a", at: talk.now)
        let sent = try #require(talk.sent().last)
        #expect(sent.subject == "$JS.API.STREAM.DELETE.space-a")
        _ = talk.taken()
        try talk.answer(sent, answer)
        #expect(talk.taken() == [.streamRemoved("space-a", failure)])
    }

    @Test("whose server says of a value neither place nor key ends the connection", arguments: [
        ("$KV.B.a", "$JS.ACK.OTHER.C.1.2.1.5.0"), ("$KV.B.a", "x"), ("$KV.C.a", "$JS.ACK.KV_B.C.1.2.1.5.0"),
        ("$KV.B.a", "$JS.ACK.KV_B.C.1.2.1.5.x"),
    ]) func strange(subject: String, reply: String) throws {
        var talk = try BucketTalk.opened()
        let line = message(subject, to: talk.subscription, reply: reply, "1")
        #expect(throws: NATSError.self) { try talk.hear(line) }
    }
}
