import Foundation
import RelayPrimitives
import RelayWire
import Testing

@testable import RelayNATS

/// Rows of a file in Vectors, without those that begin with `#`; cells with `\r`, `\n`, `\t`, `\xHH` and `{N}` written out.
func rows(_ name: String) -> [[[UInt8]]] {
    guard let file = Bundle.module.resourceURL?.appending(path: "Vectors/\(name)"),
        let text = try? String(contentsOf: file, encoding: .utf8)
    else { return [] }
    return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { row in
        row.split(separator: "\t", omittingEmptySubsequences: false).map { writtenOut(String($0)) }
    }
}

private func writtenOut(_ cell: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(cell.utf8)[...]
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "{"), let end = rest.firstIndex(of: UInt8(ascii: "}")), let count = Int(text(rest[..<end])) {
            bytes += [UInt8](repeating: UInt8(ascii: "x"), count: count)
            rest = rest[(end + 1)...]
        } else if byte == UInt8(ascii: "\\"), let kind = rest.popFirst() {
            switch kind {
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "x"):
                bytes.append(UInt8(text(rest.prefix(2)), radix: 16)!)
                rest = rest.dropFirst(2)
            default: bytes += [byte, kind]
            }
        } else {
            bytes.append(byte)
        }
    }
    return bytes
}

func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

/// In pieces that begin at these places.
func cut(_ bytes: [UInt8], at places: [Int]) -> [[UInt8]] { zip([0] + places, places + [bytes.count]).map { Array(bytes[$0..<$1]) } }

/// What a relay has sent: a line, and what follows it.
struct Sent: Equatable {
    var line: String
    var header = ""
    var payload: [UInt8] = []

    var words: [String] { line.split(separator: " ").map(String.init) }
    var verb: String { words[0] }
    var subject: String { words[1] }
    /// Of a request.
    var reply: String { words[2] }
    var json: JSONValue? { try? JSONValue(answer: payload, bytesMax: 1 << 20) }

    static func all(_ bytes: [UInt8]) -> [Sent] {
        var rest = bytes[...]
        func line() -> String {
            let end = rest.firstIndex(of: 0x0D)!
            defer { rest = rest[(end + 2)...] }
            return text(rest[..<end])
        }
        var all: [Sent] = []
        while !rest.isEmpty {
            var sent = Sent(line: line())
            if let bytes = sent.words.last.flatMap({ Int($0) }), ["PUB", "HPUB"].contains(sent.verb) {
                let headerBytes = sent.verb == "HPUB" ? Int(sent.words[sent.words.count - 2])! : 0
                sent.header = text(rest.prefix(headerBytes))
                sent.payload = Array(rest.prefix(bytes).dropFirst(headerBytes))
                rest = rest.dropFirst(bytes + 2)
            }
            all.append(sent)
        }
        return all
    }
}

func message(_ subject: String, to subscription: Int = 1, reply: String? = nil, _ payload: String) -> String {
    "MSG \(([subject, "\(subscription)"] + (reply.map { [$0] } ?? [])).joined(separator: " ")) \(payload.utf8.count)\r\n\(payload)\r\n"
}

func message(_ subject: String, to subscription: Int = 1, reply: String? = nil, header: String, _ payload: String = "") -> String {
    let header = header.replacing("\n", with: "\r\n") + "\r\n\r\n"
    let words = [subject, "\(subscription)"] + (reply.map { [$0] } ?? [])
    return "HMSG \(words.joined(separator: " ")) \(header.utf8.count) \(header.utf8.count + payload.utf8.count)\r\n\(header)\(payload)\r\n"
}

/// A log and what stands for its server, on a clock moved by hand.
struct Talk {
    static let info = #"INFO {"server_name":"n1","version":"2.12.0","headers":true,"jetstream":true,"max_payload":1048576}"# + "\r\n"
    static let config = #"""
        "name":"S","subjects":["boardrelay.S"],"retention":"limits","max_msgs":-1,"max_bytes":-1,"max_age":0,"max_msgs_per_subject":-1,
        "max_msg_size":-1,"discard":"new","storage":"file","num_replicas":3,"sealed":false,"deny_delete":true,"deny_purge":false,
        "allow_rollup_hdrs":false,"allow_msg_ttl":false,"allow_direct":true,"metadata":{"_nats.ver":"2.12.0"}
        """#

    var log: JetStreamLog
    var now = Instant(nanoseconds: 1_000_000_000)
    var events: [LogEvent] = []

    init(login: NATSLogin = NATSLogin(), needsTLS: Bool = false) {
        log = JetStreamLog(stream: "S", login: login, needsTLS: needsTLS)
        log.connected(inbox: "box", at: now)
    }

    /// One whose stream has these ends.
    static func opened(first: UInt64 = 1, last: UInt64 = 0) throws -> Talk {
        var talk = Talk()
        try talk.open(first: first, last: last)
        return talk
    }

    mutating func open(first: UInt64 = 1, last: UInt64 = 0) throws {
        try hear(Talk.info + "PONG\r\n")
        try answerLast(Talk.description(first: first, last: last))
        events = []
    }

    static func description(first: UInt64 = 1, last: UInt64 = 0, config: String = Talk.config, state more: String = "") -> String {
        let count = last + 1 - first
        return #"{"config":{\#(config)},"state":{"messages":\#(count),"first_seq":\#(count == 0 ? 0 : first),"last_seq":\#(last)\#(more)}}"#
    }

    mutating func hear(_ text: String) throws {
        defer { events += log.takeEvents() }
        var bytes = Array(text.utf8)
        do throws(NATSError) {
            try receive(&bytes)
        } catch {
            throw error
        }
    }

    private mutating func receive(_ bytes: inout [UInt8]) throws(NATSError) {
        let now = now
        try bytes.withUnsafeBytes { buffer in Result { () throws(NATSError) in try log.receive(buffer, at: now) } }.get()
    }

    mutating func answer(_ request: Sent, _ json: String) throws { try hear(message(request.reply, json)) }

    /// What was asked last.
    mutating func answerLast(_ json: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let request = try #require(sent().last, sourceLocation: sourceLocation)
        try answer(request, json)
    }

    mutating func wait(_ time: Duration) throws {
        defer { events += log.takeEvents() }
        now = now + time
        try log.deadlineReached(at: now)
    }

    mutating func sent() -> [Sent] { Sent.all(log.takeOutput()) }

    mutating func taken() -> [LogEvent] {
        defer { events = [] }
        return events
    }
}
