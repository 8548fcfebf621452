@testable import RelayDiscovery
import RelayPrimitives
import Testing

@Suite struct DNSMessageTests {
    static let messages: [DNSMessage] = {
        var probe = query(Names.instance, DNSType.any)
        let location = [0, 0, 0, 0, 0x1C, 0xFC] + Names.host.bytes
        probe.authorities = [DNSRecord(Names.instance, DNSType.srv, seconds: 120, isUnique: true, location)]
        var legacy = response(address("10.0.0.1", seconds: 10), address("fe80::1"))
        legacy.id = 0xBEEF
        legacy.questions = [DNSMessage.Question(Names.host, DNSType.a)]
        legacy.additionals = [DNSRecord(Names.instance, DNSType.txt, seconds: 4_500, isUnique: true, [3, 97, 61, 49, 0])]
        let list = DNSRecord(.service, DNSType.ptr, seconds: 4_500, isUnique: false, Names.instance.bytes)
        return [DNSMessage(), query(.service, DNSType.ptr, unicast: true, knowing: [list]), probe, legacy]
    }()

    @Test("a message is the same behind its bytes", arguments: messages)
    func roundTrip(message: DNSMessage) { #expect(DNSMessage(message.bytes) == message) }

    /// Two questions of which the second points into the first, and a list whose name and data point there, too. As other systems write.
    static let compressed = bytes(
        "0000840000020002000000000b5f626f61726472656c6179045f746370056c6f63616c00000c00010162c00c00218001c00c000c0001000011940002"
            + "c028c0280021800100000078000a000000001cfc0162c01d")

    static func bytes(_ digits: String) -> [UInt8] {
        stride(from: 0, to: digits.count, by: 2).map { UInt8(digits.dropFirst($0).prefix(2), radix: 16)! }
    }

    static func many(_ bytes: [UInt8], _ count: Int) -> [UInt8] { Array(repeatElement(bytes, count: count).joined()) }

    @Test("names that point backwards are made whole, also in the data of lists and locations")
    func pointers() throws {
        let message = try #require(DNSMessage(Self.compressed)), instance = DNSName("b", "_boardrelay", "_tcp", "local")
        #expect(message.questions.map(\.name) == [.service, instance] && message.questions.map(\.wantsUnicast) == [false, true])
        #expect(message.answers[0] == DNSRecord(.service, DNSType.ptr, seconds: 4_500, isUnique: false, instance.bytes))
        #expect(message.answers[1].data == [0, 0, 0, 0, 0x1C, 0xFC] + DNSName("b", "local").bytes && message.answers[1].isUnique)
    }

    @Test("names are the same whatever the case of their letters, and no other")
    func sameNames() {
        #expect(DNSName("BoardRelay", "LOCAL") == Names.host && Set([DNSName("BOARDRELAY", "local"), Names.host]).count == 1)
        #expect(DNSName("boardrelay2", "local") != Names.host && DNSName("ä", "local") != DNSName("Ä", "local"))
        #expect(DNSName("boardrelay", "local").labels == ["boardrelay", "local"] && DNSName().labels == [])
    }

    static func question(_ name: [UInt8]) -> [UInt8] { [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] + name + [0, 1, 0, 1] }

    @Test(
        "what is wrong with a name makes the datagram one that is ignored",
        arguments: [
            ("points at itself", question([0xC0, 12])), ("points forwards", question([0xC0, 14, 0])),
            ("points back and forth", question([1, 97, 0xC0, 12])), ("has a length of 64", question([64] + many([97], 64) + [0])),
            ("is longer than 255 bytes", question(many([63] + many([97], 63), 4) + [0])),
            ("ends nowhere", question([9, 97])),
        ])
    func badNames(what: String, bytes: [UInt8]) { #expect(DNSMessage(bytes) == nil, "\(what)") }

    @Test("bounds of a datagram: at the bound it is read, beyond it is not")
    func bounds() {
        func questions(_ count: Int) -> [UInt8] { [0, 0, 0, 0, 0, UInt8(count)] + Self.many([0], 6) + Self.many([0, 0, 1, 0, 1], count) }
        #expect(DNSMessage(questions(64))?.questions.count == 64 && DNSMessage(questions(65)) == nil)
        func records(_ count: Int) -> [UInt8] {
            let head: [UInt8] = [0, 0, 0x84, 0, 0, 0, UInt8(count >> 8), UInt8(count & 255), 0, 0, 0, 0]
            return head + Self.many([0, 0, 16, 0, 1, 0, 0, 0, 1, 0, 0], count)
        }
        #expect(DNSMessage(records(512))?.answers.count == 512 && DNSMessage(records(513)) == nil)
        #expect(DNSMessage(Self.messages[0].bytes + Self.many([0], 8_988)) != nil)
        #expect(DNSMessage(Self.messages[0].bytes + Self.many([0], 8_989)) == nil)
        // 33 pointers, each to the one before.
        func chain(_ pointers: Int) -> [UInt8] {
            let head: [UInt8] = [0, 0, 0, 0, 0, UInt8(pointers + 1)] + Self.many([0], 6) + [0, 0, 1, 0, 1]
            return (0..<pointers).reduce(into: head) { bytes, index in
                bytes += [0xC0, UInt8(index == 0 ? 12 : 11 + index * 6), 0, 1, 0, 1]
            }
        }
        #expect(DNSMessage(chain(32)) != nil && DNSMessage(chain(33)) == nil)
    }

    @Test("other operations, failures and classes are ignored")
    func others() {
        #expect(DNSMessage([0, 0, 0x28, 0] + Self.many([0], 8)) == nil)
        #expect(DNSMessage([0, 0, 0x84, 3] + Self.many([0], 8)) == nil)
        let chaos: [UInt8] = [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 16, 0, 3, 0, 0, 0, 1, 0, 0]
        #expect(DNSMessage(chaos)?.answers.isEmpty == true)
    }

    @Test(
        "no datagram traps: each cut, and any other byte in each place, in the codec and in both machines",
        arguments: messages.map(\.bytes) + [compressed])
    func hostile(bytes: [UInt8]) {
        let wire = Wire()
        wire.add(relay(), address: "10.0.0.1", more: ["fe80::1"])
        wire.add(Finder(), address: "10.0.0.2")
        wire.run(milliseconds: 3_000)
        for count in bytes.indices { wire.send(Array(bytes[..<count]), from: "10.0.0.9") }
        var unequal: [[UInt8]] = []
        for place in bytes.indices {
            var changed = bytes
            for byte in UInt8.min...UInt8.max {
                changed[place] = byte
                // What can be read is written, too.
                if let message = DNSMessage(changed), DNSMessage(message.bytes) != message { unequal.append(changed) }
                if byte % 32 == place % 32 { wire.send(changed, from: "10.0.0.9", port: byte < 32 ? 4_000 : 5353) }
            }
            wire.run(milliseconds: 300)
        }
        #expect(unequal.isEmpty)
    }
}
