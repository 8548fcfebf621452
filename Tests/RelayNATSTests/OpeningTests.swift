import RelayPrimitives
import RelayWire
import Testing

@testable import RelayNATS

struct StreamVector: CustomTestStringConvertible, Sendable {
    var setting: String
    var value: String
    var meaning: String
    var testDescription: String { "\(setting) \(value)" }

    static let all = rows("streams.tsv").map { StreamVector(setting: text($0[0]), value: text($0[1]), meaning: text($0[2])) }

    /// A stream's settings with this one in place of what is right.
    func config() throws -> String {
        let right = try JSONValue(answer: Array("{\(Talk.config)}".utf8), bytesMax: 10_000)
        guard case .object(let members) = right else { return "" }
        let others = members.filter { $0.key != setting }.map { "\"\($0.key)\":\(text($0.value.bytes))" }
        return (others + (value == "-" ? [] : ["\"\(setting)\":\(value)"])).joined(separator: ",")
    }
}

@Suite("A log is opened") struct OpeningTests {
    @Test("only over a server that keeps what it acknowledges", arguments: [
        ("2.9.10", "2.9.10"), ("2.11.99", "2.11.99"), ("2.12.0-RC.1", "2.12.0-RC.1"), ("1.99.0", "1.99.0"),
    ])
    func oldServer(version: String, value: String) throws {
        var talk = Talk()
        let refusal = Refusal(owner: "NATS server n1", setting: "version", value: value, wanted: "2.12.0 or newer")
        #expect(throws: NATSError.refused(refusal)) { try talk.hear(Talk.info.replacing("2.12.0", with: version)) }
        #expect("\(refusal)" == "NATS server n1: version is \(value); wanted: 2.12.0 or newer")
        #expect(talk.sent() == [])
    }

    @Test("of each later version", arguments: ["2.12.0", "2.12.1-RC.1", "2.15.1", "3.0.0", "2.100.0"])
    func newServer(version: String) throws {
        var talk = Talk()
        try talk.hear(Talk.info.replacing("2.12.0", with: version) + "PONG\r\n")
        #expect(talk.sent().last?.subject == "$JS.API.STREAM.INFO.S")
    }

    @Test("whose INFO has a version of three numbers", arguments: [
        "", "2", "2.12", "2.12.0.1", "v2.12.0", "2.12.x", "2.-12.0", "99999999999999999999.0.0",
    ])
    func noVersion(version: String) throws {
        var talk = Talk()
        #expect(throws: NATSError.badAnswer("INFO has no version")) { try talk.hear(Talk.info.replacing("2.12.0", with: version)) }
    }

    @Test("and that has JetStream, headers, and room for an entry", arguments: [
        (#""jetstream":true"#, #""jetstream":false"#, "jetstream is false; wanted: true"),
        (#""headers":true"#, #""x":true"#, "headers is false; wanted: true"),
        (#":1048576"#, ":1048575", "max_payload is 1048575; wanted: at least 1048576"), (#":1048576"#, ":-1", "max_payload is -1; wanted: at least 1048576"),
    ])
    func poorServer(right: String, wrong: String, text: String) throws {
        var talk = Talk()
        let error = #expect(throws: NATSError.self) { try talk.hear(Talk.info.replacing(right, with: wrong)) }
        #expect(error.map { "\($0)" } == "NATS server n1: \(text)")
    }

    @Test("only in a stream that keeps what it acknowledged", arguments: StreamVector.all)
    func streams(vector: StreamVector) throws {
        var talk = Talk()
        try talk.hear(Talk.info + "PONG\r\n")
        let request = try #require(talk.sent().last)
        let answer = Talk.description(first: 3, last: 7, config: try vector.config())
        guard vector.meaning != "ok" else {
            try talk.answer(request, answer)
            guard case .opened(_, LogEnds(first: 3, last: 7))? = talk.events.first else {
                Issue.record("\(talk.events)")
                return
            }
            return
        }
        let error = #expect(throws: NATSError.self) { try talk.answer(request, answer) }
        let setting = vector.setting == "metadata" ? "_nats.ver" : vector.setting
        #expect(error.map { "\($0)" } == "stream S: \(setting) is \(vector.meaning)")
        #expect(throws: NATSError.notOpen) { try talk.log.append([1], after: 7, id: "a", at: talk.now) }
        #expect(talk.sent() == [])
    }

    @Test("and that has no hole", arguments: ["1", "\"0\""])
    func holes(count: String) throws {
        var talk = Talk()
        try talk.hear(Talk.info + "PONG\r\n")
        let request = try #require(talk.sent().last)
        let answer = Talk.description(first: 3, last: 7, state: #","num_deleted":\#(count)"#)
        let error = #expect(throws: NATSError.self) { try talk.answer(request, answer) }
        #expect(error.map { "\($0)" } == "stream S: num_deleted is \(count == "1" ? "1" : "0"); wanted: 0")
    }

    @Test("and is looked at again in each answer: settings change")
    func again() throws {
        var talk = try Talk.opened()
        try talk.log.readEnds(at: talk.now)
        let request = try #require(talk.sent().first)
        let answer = Talk.description(config: Talk.config.replacing("file", with: "memory"))
        #expect(throws: NATSError.self) { try talk.answer(request, answer) }
    }

    @Test("the stream is made where there is none, with settings that are taken")
    func creation() throws {
        var talk = Talk()
        try talk.hear(Talk.info + "PONG\r\n")
        try talk.answerLast(#"{"error":{"code":404,"err_code":10059,"description":"stream not found"}}"#)
        let creation = try #require(talk.sent().first)
        #expect(creation.subject == "$JS.API.STREAM.CREATE.S")
        let config = text(creation.payload).dropFirst().dropLast() + #","metadata":{"_nats.ver":"2.12.0"}"#
        try talk.answer(creation, Talk.description(config: String(config)))
        guard case .opened(let info, LogEnds(first: 1, last: 0))? = talk.events.first else {
            Issue.record("\(talk.events)")
            return
        }
        #expect(info.name == "n1")
    }

    @Test("also where the server's bytes come in one piece, answers and all")
    func onePiece() throws {
        var talk = Talk()
        try talk.hear(Talk.info + "PONG\r\n" + message("_INBOX.box.1", Talk.description(last: 3)))
        guard case .opened(_, LogEnds(first: 1, last: 3))? = talk.events.first else { return unexpected("\(talk.events)") }
    }

    @Test("with patience: without a leader it asks again after 500 ms")
    func patience() throws {
        var talk = Talk()
        try talk.hear(Talk.info + "PONG\r\n")
        let request = try #require(talk.sent().last)
        try talk.hear(message(request.reply, header: "NATS/1.0 503"))
        #expect(talk.taken() == [.notOpened(.noAnswer(.noResponders))])
        #expect(throws: NATSError.notOpen) { try talk.log.append([1], after: 0, id: "a", at: talk.now) }
        try talk.wait(.milliseconds(499))
        #expect(talk.sent() == [])
        try talk.wait(.milliseconds(1))
        try talk.answerLast("[]")
        guard case .notOpened(.badAnswer)? = talk.taken().first else { return unexpected("a list was taken for a stream") }
        try talk.wait(.milliseconds(500))
        try talk.answerLast(#"{"type":"io.nats.jetstream.api.v1.stream_info_response"}"#)
        #expect(talk.taken() == [.notOpened(.badAnswer("no description of stream S"))])
        try talk.wait(.milliseconds(500))
        try talk.answerLast(Talk.description())
        guard case .opened? = talk.taken().first else { return unexpected("not opened") }
    }

    @Test("the advice names what no server tells")
    func advice() {
        #expect(StreamRules.syncAdvice.contains("sync_interval: always") && StreamRules.syncAdvice.contains("sync_always"))
        #expect(StreamRules.durable.replicasMin == 3)
    }
}

func unexpected(_ what: String, sourceLocation: SourceLocation = #_sourceLocation) {
    Issue.record("\(what)", sourceLocation: sourceLocation)
}
