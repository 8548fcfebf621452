import RelayPrimitives
import Testing

@testable import RelayNATS

struct ProtocolVector: CustomTestStringConvertible, Sendable {
    var name: String
    var bytes: [UInt8]
    var meaning: String
    var testDescription: String { name }

    static let all = rows("protocol.tsv").map { ProtocolVector(name: text($0[0]), bytes: $0[1], meaning: text($0[2])) }
}

@Suite("The bytes of a NATS server") struct ParserTests {
    private static func reading(_ pieces: [[UInt8]]) -> String {
        var parser = NATSParser()
        parser.messageBytesMax = 2_048
        var read: [String] = []
        for piece in pieces {
            do throws(NATSError) {
                try Self.read(&parser, piece, into: &read)
            } catch {
                return (read + ["\(error)"]).joined(separator: " | ")
            }
        }
        return read.joined(separator: " | ")
    }

    private static func read(_ parser: inout NATSParser, _ piece: [UInt8], into read: inout [String]) throws(NATSError) {
        try piece.withUnsafeBytes { bytes in
            Result { () throws(NATSError) in
                var position = 0
                while let operation = try parser.next(bytes, &position) { read.append(told(operation)) }
                #expect(position == bytes.count)
            }
        }.get()
    }

    private static func told(_ operation: NATSOperation) -> String {
        switch operation {
        case .info(let json): return "info \(text(json))"
        case .ping: return "ping"
        case .pong: return "pong"
        case .ok: return "ok"
        case .error(let text): return "error \(text)"
        case .message(let message):
            let header = message.header.map { header in
                "[\(([header.status.map { "\($0)" } ?? "-"] + header.fields.map { "\($0.name)=\($0.value)" }).joined(separator: " "))]"
            }
            return "message \(message.subject) \(message.subscription) \(message.reply ?? "-") \(header ?? "-") \(text(message.payload))"
        }
    }

    @Test("there is a row for each kind of line and each refusal")
    func complete() {
        #expect(ProtocolVector.all.count == 65)
        let read = ["info", "ping", "pong", "ok", "error", "message"]
        let refused = ["a line of", "a message's header", "a message has", "not a line", "not a header"]
        for word in read + refused { #expect(ProtocolVector.all.contains { $0.meaning.contains(word) }, "\(word)") }
    }

    @Test("a server's bytes mean the same however they are cut", arguments: ProtocolVector.all)
    func cuts(vector: ProtocolVector) {
        #expect(Self.reading([vector.bytes]) == vector.meaning)
        #expect(Self.reading(vector.bytes.map { [$0] }) == vector.meaning)
        let places = vector.bytes.indices.prefix(vector.bytes.count < 200 ? 200 : 10)
        let others = places.filter { Self.reading(cut(vector.bytes, at: [$0])) != vector.meaning }
        #expect(others == [], "cut there it means something else")
    }

    @Test("before INFO no payload is taken", arguments: [0, 1])
    func beforeInfo(bytes: Int) throws {
        var parser = NATSParser()
        let line = Array("MSG a 1 \(bytes)\r\n".utf8)
        var position = 0
        let refusal = line.withUnsafeBytes { line in
            do throws(NATSError) {
                _ = try parser.next(line, &position)
                return nil as NATSError?
            } catch {
                return error
            }
        }
        #expect(refusal == (bytes == 0 ? nil : .payloadTooLarge(limit: 0, actual: 1)))
    }

    @Test("the largest header is taken")
    func largestHeader() throws {
        let header = "NATS/1.0\r\nA:" + String(repeating: "x", count: NATSLimits.headerBytesMax - 16) + "\r\n\r\n"
        #expect(header.utf8.count == NATSLimits.headerBytesMax)
        #expect(throws: NATSError.payloadTooLarge(limit: 2_048, actual: 16_384)) {
            try Self.one("HMSG a 1 16384 16384\r\n", messageBytesMax: 2_048)
        }
        let read = try Self.one("HMSG a 1 16384 16384\r\n\(header)\r\n", messageBytesMax: 16_384)
        guard case .message(let message)? = read else {
            Issue.record("\(String(describing: read))")
            return
        }
        #expect(message.header?["A"]?.utf8.count == NATSLimits.headerBytesMax - 16)
    }

    private static func one(_ text: String, messageBytesMax: Int) throws -> NATSOperation? {
        var parser = NATSParser()
        parser.messageBytesMax = messageBytesMax
        var position = 0
        return try Array(text.utf8).withUnsafeBytes { bytes in Result { () throws(NATSError) in try parser.next(bytes, &position) } }.get()
    }
}
