import RelayPrimitives
import RelayWire
import Testing

@Suite struct HotFrameTests {
    static let withFlags: [(type: FrameType, allowed: FrameFlags, body: [UInt8])] = [
        (.publish, [.text, .customType, .key, .part, .echo, .retain, .noHistory], [0, 0, 0, 0, 0, 0, 0, 1, 1, 0x61] + filler),
        (.publishPacket, [.text, .slot, .senderTime, .echo], filler),
        (.direct, [.text, .customType], [0, 0, 0, 0, 0, 0, 0, 1, 1, 0x61] + filler),
        (.deliver, [.text, .customType, .key, .part, .retain], filler + filler),
        (.packet, [.text, .slot, .senderTime], filler),
        (.directDeliver, [.text, .customType], filler),
        (.historyItem, [.text, .customType, .key, .part], filler),
    ]
    static let filler = [UInt8](repeating: 0, count: 32)

    @Test("[FR7, JS6] a binary body cut at any byte is badRequest or has a shorter payload", arguments: FrameVector.binary)
    func truncated(vector: FrameVector) throws {
        let type = try #require(vector.type)
        let body = vector.frame.body
        let whole = try #require(try BinaryBody.decode(type, flags: vector.frame.flags, body: body))
        // `userNamed` ends with a name instead of a payload; which bytes are its name is all the same for a cut.
        // The head of texts says how long they are.
        let hasTexts = [.setMetadata, .updateMetadata, .metadataPage, .metadata].contains(type)
        let block = vector.frame.flags & FrameFlags.extensions.rawValue == 0 ? 0 : 2 + Int(body[0]) << 8 + Int(body[1])
        let openEnd = type == .userNamed ? body.count - block - 4 : hasTexts ? 0 : whole.payload?.count ?? 0
        for cut in 0..<body.count {
            var found: BinaryBody?
            let code = try refusal { found = try BinaryBody.decode(type, flags: vector.frame.flags, body: Array(body[..<cut])) }
            if cut < body.count - openEnd {
                #expect(code == .badRequest, "cut at \(cut)")
            } else {
                let found = try #require(found, "cut at \(cut)")
                guard type != .userNamed else { continue }
                #expect(found.fields == whole.fields, "cut at \(cut)")
                #expect(found.payload == Array(body[(body.count - openEnd)..<cut]), "cut at \(cut)")
            }
        }
    }

    @Test("[FR9] extensions come off a body whole; what is cut, too long or must be known is badRequest")
    func extensions() {
        func take(_ bytes: [UInt8]) -> (block: Int, rest: Int, code: ErrorCode?) {
            bytes.withUnsafeBytes { bytes in
                var (flags, body) = (UInt8(0x81), bytes)
                do throws(WireError) {
                    let block = try Extensions.take(from: &body, &flags)
                    #expect(flags == 0x01)
                    return (block.count, body.count, nil)
                } catch {
                    return (0, body.count, error.code)
                }
            }
        }
        #expect(take([0, 0, 9, 9]) == (2, 2, nil) && take([0, 5, 0, 7, 0, 1, 3, 9]) == (7, 1, nil))
        #expect(take([0, 8, 0x7F, 0xFF, 0, 0, 0, 1, 0, 0, 9]) == (10, 1, nil))
        let most = [UInt8](repeating: 0, count: 1020)
        #expect(take([4, 0, 0, 1, 3, 252] + most + [9]) == (1026, 1, nil))
        #expect(take([4, 1, 0, 1, 3, 253] + most + [0, 9]).code == .badRequest)
        for cut: [UInt8] in [[], [0], [0, 1], [0, 1, 9], [0, 3, 0, 0, 0], [0, 5, 0, 1, 0, 2, 9]] {
            #expect(take(cut).code == .badRequest)
        }
        // The number behind it can still be read.
        #expect(take([0, 4, 0x80, 1, 0, 0, 8, 8]) == (0, 2, .badRequest))
        [UInt8]([1, 2]).withUnsafeBytes { bytes in
            var (flags, body) = (UInt8(0x01), bytes)
            #expect((try? Extensions.take(from: &body, &flags))?.isEmpty == true && body.count == 2)
        }
    }

    @Test("[FR7] a length byte that reaches beyond the body is badRequest", arguments: [FrameType.publish, .direct, .directDeliver])
    func lengthBytes(type: FrameType) throws {
        let integers = type == .directDeliver ? 16 : 8
        for count in 0...UInt8.max {
            let body = [UInt8](repeating: 0, count: integers - 1) + [1, count] + [UInt8](repeating: 0x61, count: 40)
            let code = try refusal { _ = try BinaryBody.decode(type, flags: 0, body: body) }
            #expect(code == (count <= 40 ? nil : .badRequest), "\(count) of 40 bytes")
        }
    }

    @Test("[FR7] lost with a count that is not that of its ranges is badRequest")
    func lostCounts() throws {
        for ranges in 0...3 {
            for count in [0, 1, 2, 3, 4, 0xFFFF] {
                let body = [1, UInt8(count >> 8), UInt8(count & 0xFF)] + [UInt8](repeating: 0, count: ranges * LostFrame.rangeBytes)
                let code = try refusal { _ = try BinaryBody.decode(.lost, flags: 0, body: body) }
                #expect(code == (count == ranges ? nil : .badRequest), "\(count) announced, \(ranges) there")
            }
        }
        #expect(try refusal { _ = try BinaryBody.decode(.lost, flags: 0, body: [1, 0, 0, 0]) } == .badRequest)
    }

    @Test("[FR7] random bytes and flags never trap a decoder")
    func noise() throws {
        var generator = SplitMix64(seed: 20_261_121)
        let types = FrameType.allCases.filter { BinaryBody.decoder(of: $0) != nil }
        for _ in 0..<5_000 {
            let type = types.randomElement(using: &generator)!
            let count = Int.random(in: 0...60, using: &generator)
            // Small bytes make length bytes that fit.
            let top: UInt8 = Bool.random(using: &generator) ? 255 : 12
            let body = (0..<count).map { _ in UInt8.random(in: 0...top, using: &generator) }
            let flags = UInt8.random(in: 0...255, using: &generator)
            let code = try refusal { _ = try BinaryBody.decode(type, flags: flags, body: body) }
            #expect(code == nil || code == .badRequest, "\(type.name), flags \(flags), \(body.hex)")
        }
    }

    @Test("[FR4] each flag bit that a frame with a payload does not define is badRequest, the others pass", arguments: withFlags.indices)
    func flags(index: Int) throws {
        let (type, allowed, body) = Self.withFlags[index]
        for flags in 0...UInt8.max {
            let hasBlock = flags & FrameFlags.extensions.rawValue != 0
            let code = try refusal { _ = try BinaryBody.decode(type, flags: flags, body: hasBlock ? [0, 0] + body : body) }
            #expect(code == (FrameFlags(rawValue: flags & 0x7F).isSubset(of: allowed) ? nil : .badRequest), "\(type.name), flags \(flags)")
        }
    }

    @Test("[FR4] frames without a payload define no flag")
    func noFlags() {
        for type in FrameType.allCases {
            #expect(type.flagsAllowed == Self.withFlags.first { $0.type == type }?.allowed ?? [], "\(type.name)")
        }
    }

    @Test("[MS1, DM1] a number is 1…2⁵³−1", arguments: [FrameType.publish, .direct])
    func numbers(type: FrameType) throws {
        let cases: [(UInt64, ErrorCode?)] = [
            (0, .badRequest), (1, nil), (1 << 53 - 1, nil), (1 << 53, .badRequest), (.max, .badRequest),
        ]
        for (number, expected) in cases {
            var body: [UInt8] = []
            body.append(bigEndian: number)
            body.append(short: "a")
            #expect(try refusal { _ = try BinaryBody.decode(type, flags: 0, body: body) } == expected, "\(number)")
        }
    }

    @Test("[DL6] a range counts both its ends, the whole of a flow's sequences, too")
    func rangeCounts() {
        #expect(LostRange(flow: 1, first: 5, last: 5).count == 1)
        #expect(LostRange(flow: 1, first: 1, last: .max).count == Int(UInt32.max))
    }
}
