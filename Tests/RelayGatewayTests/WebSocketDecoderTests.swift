import RelayGateway
import RelayPrimitives
import Testing

@Suite("WebSocket: frames of clients") struct WebSocketDecoderTests {
    /// Whole messages and control frames as a decoder gives them, and how it ends.
    struct Decoded: Equatable, CustomStringConvertible {
        enum Item: Equatable { case text([UInt8]), binary([UInt8]), ping([UInt8]), pong([UInt8]), close(WebSocketClose?) }
        var items: [Item] = []
        var failure: WebSocketClose?
        /// Bytes that were handed out of a message that is not whole.
        var pending: [UInt8] = []
        /// Bytes that had been read when it failed.
        var read = 0

        init(_ pieces: [[UInt8]], limit: Int = 1 << 20, takesText: Bool = true) {
            var decoder = WebSocketDecoder(messageBytesMax: limit, takesText: takesText)
            for piece in pieces where failure == nil {
                var piece = piece
                var position = 0
                piece.withUnsafeMutableBytes { bytes in
                    do throws(WebSocketClose) {
                        while let event = try decoder.next(bytes, &position) {
                            switch event {
                            case .payload(let range): pending += bytes[range]
                            case .message(let isText):
                                items.append(isText ? .text(pending) : .binary(pending))
                                pending = []
                            case .ping(let data): items.append(.ping(data))
                            case .pong(let data): items.append(.pong(data))
                            case .close(let close): items.append(.close(close))
                            }
                        }
                    } catch {
                        failure = error
                    }
                }
                read += position
            }
        }

        var description: String { "\(items) \(failure.map { "\($0)" } ?? "") pending \(pending.hex)" }
    }

    @Test("[WS5] the frames of RFC 6455 §5.7 that a client may send")
    func standard() throws {
        func decode(_ hex: String) throws -> Decoded { Decoded([try #require([UInt8](hex: hex))]) }
        #expect(try decode("818537fa213d7f9f4d5158").items == [.text(Array("Hello".utf8))])
        #expect(try decode("8a8537fa213d7f9f4d5158").items == [.pong(Array("Hello".utf8))])
        // The others stand there as a server sends them: the same with a key of zeros.
        #expect(try decode("018300000000" + "48656c" + "808200000000" + "6c6f").items == [.text(Array("Hello".utf8))])
        #expect(try decode("898500000000" + "48656c6c6f").items == [.ping(Array("Hello".utf8))])
        let bytes = (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(try decode("82fe010000000000" + Array(bytes.prefix(256)).hex).items == [.binary(Array(bytes.prefix(256)))])
        #expect(try decode("82ff000000000001000000000000" + bytes.hex).items == [.binary(bytes)])
        // Unmasked, as it stands there, it is a server's.
        #expect(try decode("810548656c6c6f").failure?.code == 1002)
    }

    static let sequence: [UInt8] =
        masked(2, Array(0...200)) + masked(9, Array("p".utf8)) + masked(1, Array("grü".utf8), isFinal: false) + masked(10, [])
        + masked(0, Array("ß 🖋".utf8.prefix(5)), isFinal: false) + masked(9, [1, 2, 3]) + masked(0, Array("ß 🖋".utf8.dropFirst(5)))
        + masked(2, []) + masked(1, [])
        + masked(2, [7], isFinal: false) + masked(0, []) + masked(8, [0x03, 0xE8] + Array("bye".utf8)) + masked(2, [9])

    @Test("[WS5, WS6] messages, fragments and what stands between them mean the same wherever the bytes are cut")
    func cuts() {
        let whole = Decoded([Self.sequence])
        #expect(
            whole.items == [
                .binary(Array(0...200)), .ping([0x70]), .pong([]), .ping([1, 2, 3]), .text(Array("grüß 🖋".utf8)), .binary([]), .text([]),
                .binary([7]),
                .close(WebSocketClose(1000, "bye")),
            ])
        #expect(whole.failure == nil && whole.read == Self.sequence.count)
        for first in 0...Self.sequence.count {
            for second in stride(from: first, through: Self.sequence.count, by: 13)
            where Decoded(Self.sequence.cut(at: [first, second])) != whole {
                Issue.record("cut at \(first) and \(second)")
            }
        }
        #expect(Decoded(Self.sequence.map { [$0] }) == whole)
    }

    @Test("[WS5] each of the eight ways that a payload can lie on its key is unmasked", arguments: 0...24)
    func keys(count: Int) {
        let payload = (0..<count).map { UInt8($0 + 1) }
        let frame = masked(2, payload, key: [0xA1, 0xB2, 0xC3, 0xD4])
        for cut in 6...frame.count { #expect(Decoded(frame.cut(at: [cut])).items == [.binary(payload)]) }
    }

    struct Bad: CustomTestStringConvertible, Sendable {
        var name: String
        var bytes: [UInt8]
        var code: UInt16
        /// Bytes after which it is known.
        var after: Int
        var testDescription: String { name }
        init(_ name: String, _ bytes: [UInt8], _ code: UInt16 = 1002, after: Int) {
            (self.name, self.bytes, self.code, self.after) = (name, bytes, code, after)
        }
    }

    static let broken: [Bad] = [
        Bad("no mask", [0x82, 0x05], after: 2), Bad("no mask on a ping", [0x89, 0x00], after: 2),
        Bad("RSV1, as of an extension", [0xC2], after: 1), Bad("RSV2", [0xA2], after: 1), Bad("RSV3", [0x92], after: 1),
        Bad("RSV1 on a ping", [0xC9], after: 1),
        Bad("opcode 3", [0x83], after: 1), Bad("opcode 7", [0x87], after: 1), Bad("opcode 11", [0x8B], after: 1),
        Bad("opcode 15", [0x8F], after: 1),
        Bad("a fragment of nothing", [0x80], after: 1), Bad("a fragment of a whole message", masked(2, []) + [0x00], after: 7),
        Bad("a message in a message", masked(2, [1], isFinal: false) + [0x82], after: 8),
        Bad("a text in a message", masked(2, [], isFinal: false) + [0x01], after: 7),
        Bad("a ping in fragments", [0x09], after: 1), Bad("a close in fragments", [0x08], after: 1),
        Bad("a ping of 126 bytes", [0x89, 0xFE], after: 2), Bad("a close of 64-bit length", [0x88, 0xFF], after: 2),
        Bad("125 in 16 bits", [0x82, 0xFE, 0x00, 0x7D], after: 4),
        Bad("65,535 in 64 bits", [0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 1002, after: 10),
        Bad("a length below 0", [0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], after: 10),
        Bad("text that is none", masked(1, [0x61, 0xFF, 0x61]), 1007, after: 8),
        Bad("text cut in a scalar", masked(1, [0xE2, 0x82]), 1007, after: 8),
        Bad("text whose second fragment is wrong", masked(1, [0xF4], isFinal: false) + masked(0, [0x90]), 1007, after: 14),
        Bad("a surrogate", masked(1, [0xED, 0xA0, 0x80]), 1007, after: 8),
        Bad("half a code", masked(8, [3]), after: 7), Bad("a reason that is no text", masked(8, [3, 0xE8, 0xC3]), 1007, after: 9),
    ]

    @Test("[WS5, WS6] what breaks a rule ends the socket with its code, at the byte that shows it", arguments: broken)
    func bad(row: Bad) {
        let decoded = Decoded([row.bytes + [UInt8](repeating: 0, count: 20)])
        #expect(decoded.failure?.code == row.code)
        // Not a byte earlier, and then at once.
        let pieces = row.bytes.map { [$0] }
        #expect(Decoded(Array(pieces.prefix(row.after - 1))).failure == nil)
        #expect(Decoded(Array(pieces.prefix(row.after))).failure?.code == row.code)
    }

    @Test("[WS6] text fails at its first byte that cannot be, not at its end")
    func failsFast() {
        let bytes = masked(1, [0x61, 0xFF] + [UInt8](repeating: 0x61, count: 100))
        #expect(Decoded([Array(bytes.prefix(7))]).failure == nil)
        #expect(Decoded([Array(bytes.prefix(8))]).failure?.code == 1007)
    }

    @Test("[WS4] a message at the limit passes, one byte more is refused from its head, over fragments too")
    func limit() {
        let payload = [UInt8](repeating: 7, count: 1_000)
        #expect(Decoded([masked(2, payload)], limit: 1_000).items == [.binary(payload)])
        let over = masked(2, payload + [7])
        #expect(Decoded([Array(over.prefix(3))], limit: 1_000).failure == nil)
        let refused = Decoded([Array(over.prefix(4))], limit: 1_000)
        #expect(refused.failure?.code == 1009 && refused.failure?.reason == "a message has at most 1000 bytes")
        // In fragments: 600, then 400 or 401 announced.
        let first = masked(2, Array(payload.prefix(600)), isFinal: false)
        #expect(Decoded([first + masked(0, Array(payload.suffix(400)))], limit: 1_000).items == [.binary(payload)])
        let second = Decoded([first + [0x80, 0xFE, 0x01, 0x91]], limit: 1_000)
        #expect(second.failure?.code == 1009 && second.read == first.count + 4)
        // The largest length there is, and that of a relay.
        #expect(Decoded([[0x82, 0xFF, 0x7F] + [UInt8](repeating: 0xFF, count: 7)]).failure?.code == 1009)
        #expect(GatewayLimits.messageBytesMax == 81_926)
        // The next message counts from nothing, and what stands between fragments does not count.
        #expect(Decoded([masked(2, payload) + masked(2, payload)], limit: 1_000).items.count == 2)
        #expect(
            Decoded([first + masked(9, Array(payload.prefix(125))) + masked(0, Array(payload.suffix(400)))], limit: 1_000).items.count == 2)
    }

    @Test("[WS6] where relay frames are understood text is refused at its first byte, and its kind is named")
    func textRefused() {
        #expect(Decoded([[0x81]], takesText: false).failure == WebSocketClose(1003, "relay frames are binary"))
        #expect(Decoded([[0x01]], takesText: false).failure?.code == 1003)
        #expect(Decoded([masked(2, [1])], takesText: false).items == [.binary([1])])
    }

    @Test("[WS6] a close is taken with the codes that a peer may send, and those alone")
    func codes() {
        let valid = Set<UInt16>((1000...1003).map { $0 } + (1007...1014).map { $0 } + (3000...4999).map { $0 })
        for code in UInt16.min...UInt16.max {
            let decoded = Decoded([masked(8, [UInt8(code >> 8), UInt8(code & 0xFF)])])
            let expected: Decoded.Item? = valid.contains(code) ? .close(WebSocketClose(code)) : nil
            guard decoded.items.first != expected || decoded.failure?.code != (expected == nil ? 1002 : nil) else { continue }
            Issue.record("\(code): \(decoded)")
        }
        #expect(Decoded([masked(8, [])]).items == [.close(nil)])
    }

    @Test("[WS6] a control frame of 125 bytes passes")
    func control() {
        let most = [UInt8](repeating: 0x61, count: 125)
        #expect(Decoded([masked(9, most)]).items == [.ping(most)])
        #expect(
            Decoded([masked(8, [3, 0xE8] + most.prefix(123))]).items == [.close(WebSocketClose(1000, String(repeating: "a", count: 123)))])
    }

    @Test("[WS5] whatever the bytes, they mean the same however they are cut", arguments: UInt64(1)...4)
    func mutants(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var failures: Set<UInt16> = []
        for _ in 0..<3_000 {
            var bytes = Self.sequence
            for _ in 0...Int.random(in: 0...1, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] =
                    Bool.random(using: &generator)
                    ? UInt8.random(in: 0...255, using: &generator) : bytes[index] ^ (1 << UInt8.random(in: 0..<8, using: &generator))
            }
            var whole = Decoded([bytes], limit: 400), cut = Decoded(bytes.randomCut(using: &generator), limit: 400)
            if let failure = whole.failure { failures.insert(failure.code) }
            // Of text that fails a piece more or less may have been handed out.
            if whole.failure?.code == 1007 { (whole.pending, cut.pending, whole.read, cut.read) = ([], [], 0, 0) }
            if whole.failure != nil { (whole.read, cut.read) = (0, 0) }
            #expect(whole == cut)
        }
        #expect(failures == [1002, 1007, 1009])
    }

    @Test("[WS6] text in pieces is well-formed exactly when Swift says so of the whole", arguments: UInt64(1)...4)
    func utf8(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let edges: [UInt8] = [
            0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF3, 0xF4, 0xF5,
            0xFF,
        ]
        var valid = 0
        for _ in 0..<3_000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...8, using: &generator) {
                switch Int.random(in: 0..<8, using: &generator) {
                case 0: bytes.append(edges.randomElement(using: &generator)!)
                case 1: bytes += [UInt8](repeating: 0x61, count: Int.random(in: 0...20, using: &generator))
                default:
                    bytes += Array(
                        String(
                            Unicode.Scalar(
                                UInt32.random(in: 0...0x1F_FFFF, using: &generator) >> UInt32.random(in: 0...14, using: &generator)) ?? "é"
                        ).utf8)
                }
            }
            if Int.random(in: 0..<4, using: &generator) == 0, !bytes.isEmpty { bytes.removeLast() }
            let isValid = String(validating: bytes, as: UTF8.self) != nil
            let decoded = Decoded(masked(1, bytes).randomCut(using: &generator))
            if isValid { valid += 1 }
            #expect(decoded.items == (isValid ? [.text(bytes)] : []) && decoded.failure?.code == (isValid ? nil : 1007), "\(bytes.hex)")
        }
        #expect(valid > 300 && valid < 2_700)
    }
}
