@testable import RelayAnnouncement
@testable import RelayDiscovery
import RelayPrimitives
import Testing

@Suite struct ResponderTests {
    private static let me = "10.0.0.1", other = "10.0.0.9"

    /// A relay on a link, whose announcements are over and long enough ago.
    private static func settled(
        _ responder: Responder = relay(), more: [String] = [], after milliseconds: Int64 = 5_000
    ) -> (Wire, Host<Responder>, Instant) {
        let wire = Wire(), host = wire.add(responder, address: me, more: more)
        wire.run(milliseconds: milliseconds)
        #expect(host.takeNews() == [.won("boardrelay")])
        return (wire, host, wire.now)
    }

    private static func milliseconds(_ sent: [Wire.Sent], since: Instant) -> [Int64] { sent.map { ($0.at - since).milliseconds } }

    // MARK: Probing and announcing

    @Test(
        "asks three times, 250 ms apart, after 0 to 250 ms, and then says twice what it has, a second apart",
        arguments: 1...20 as ClosedRange<UInt64>)
    func beginning(seed: UInt64) {
        let wire = Wire(), start = wire.now, host = wire.add(relay(seed: seed), address: Self.me, more: ["fe80::1"])
        wire.run(milliseconds: 60_000)
        let sent = wire.log, first = (sent[0].at - start).milliseconds
        #expect((0...250).contains(first) && Self.milliseconds(sent, since: sent[0].at) == [0, 250, 500, 750, 1_750])
        for probe in sent[..<3] {
            #expect(!probe.message.isResponse && probe.target == nil)
            #expect(probe.message.questions.map(\.name) == [Names.instance, Names.host])
            // Another program on this port might get an answer to one.
            #expect(probe.message.questions.allSatisfy { $0.type == DNSType.any && !$0.wantsUnicast })
            #expect(probe.message.authorities.map(\.type) == [DNSType.srv, DNSType.txt, DNSType.a, DNSType.aaaa])
        }
        for announcement in sent[3...] {
            let records = announcement.message.answers
            #expect(announcement.message.isResponse && announcement.message.questions.isEmpty && announcement.target == nil)
            #expect(records.map(\.type) == [DNSType.ptr, DNSType.ptr, DNSType.srv, DNSType.txt, DNSType.a, DNSType.aaaa])
            #expect(records.map(\.seconds) == [4_500, 4_500, 120, 4_500, 120, 120])
            #expect(records.map(\.isUnique) == [false, false, true, true, true, true])
        }
        #expect(host.takeNews() == [.won("boardrelay")] && host.nextDeadline == nil)
    }

    @Test("an interface that is new, or has other addresses, is asked; one that is gone is silent; others go on")
    func interfaces() {
        var responder = relay(), now = Instant(nanoseconds: 0)
        func interface(_ index: UInt32, _ address: String) -> LinkInterface { LinkInterface(index: index, addresses: [parsed(address)]) }
        func run(_ seconds: Int64) -> [UInt32: [Bool]] {
            let end = now + .seconds(seconds)
            while let next = responder.nextDeadline, next <= end {
                now = next
                responder.deadlineReached(at: now)
            }
            now = end
            var isResponse: [UInt32: [Bool]] = [:]
            for case .send(let datagram) in responder.effects {
                isResponse[datagram.interface, default: []].append(DNSMessage(datagram.bytes)!.isResponse)
            }
            responder.effects = []
            return isResponse
        }
        let beginning = [false, false, false, true, true]
        responder.interfacesChanged([interface(2, "10.0.0.1")], at: now)
        #expect(run(5) == [2: beginning])
        responder.interfacesChanged([interface(2, "10.0.0.1"), interface(3, "10.0.1.1")], at: now)
        #expect(run(5) == [3: beginning])
        responder.interfacesChanged([interface(2, "10.0.0.2"), interface(3, "10.0.1.1")], at: now)
        #expect(run(5) == [2: beginning])
        responder.interfacesChanged([], at: now)
        #expect(responder.nextDeadline == nil && run(5) == [:])
        responder.close()
        #expect(run(5) == [:])
    }

    @Test("the text record has the fields given, without those that are too long, and one empty string if there are none")
    func text() {
        func said(_ fields: [String]) -> [UInt8]? {
            let wire = Wire()
            wire.add(relay(text: fields), address: Self.me)
            wire.run(milliseconds: 2_000)
            return wire.log.last?.message.answers.first { $0.type == DNSType.txt }?.data
        }
        #expect(said(["a=1", "b"]) == [3, 97, 61, 49, 1, 98] && said([]) == [0])
        #expect(said([String(repeating: "x", count: 256), "", "b"]) == [1, 98])
        #expect(said([String](repeating: String(repeating: "x", count: 255), count: 9))?.count == 5 * 256)
    }

    // MARK: Conflicts

    @Test("a name that somebody has is not taken: the next one is tried, from any start", arguments: [
        ("boardrelay", "boardrelay-2"), ("boardrelay-2", "boardrelay-3"), ("room-x", "room-x-2"), ("", "boardrelay-2"),
        (String(repeating: "ä", count: 40), String(repeating: "ä", count: 28) + "-2"),
    ])
    func taken(name: String, next: String) {
        let wire = Wire(), host = wire.add(relay(name), address: Self.me)
        wire.run(milliseconds: 300)
        let asked = wire.log.last!.message.questions
        wire.send(response(DNSRecord(asked[0].name, DNSType.srv, seconds: 120, isUnique: true, [0, 0, 0, 0, 0, 80, 0])), from: Self.other)
        wire.run(milliseconds: 5_000)
        #expect(host.takeNews() == [.won(next)])
    }

    @Test("a name of a host that somebody has is not taken either, and who takes his back has none")
    func takenHost() {
        for (seconds, name) in [(120, "boardrelay-2"), (0, "boardrelay")] as [(UInt32, String)] {
            let wire = Wire(), host = wire.add(relay(), address: Self.me)
            wire.run(milliseconds: 300)
            wire.send(response(address(Self.other, seconds: seconds)), from: Self.other)
            wire.run(milliseconds: 5_000)
            #expect(host.takeNews() == [.won(name)])
        }
    }

    @Test("who claims many names takes only those that were asked for")
    func manyTaken() {
        let wire = Wire(), host = wire.add(relay(), address: Self.me)
        wire.send(response(address(Self.other)), from: Self.other)
        wire.run(milliseconds: 300)
        for name in ["", "-2", "-3", "-4"].map({ "boardrelay" + $0 }) {
            wire.send(response(address(Self.other, of: DNSName(name, "local"))), from: Self.other)
        }
        wire.run(milliseconds: 5_000)
        #expect(host.takeNews() == [.won("boardrelay-2")])
    }

    @Test("a conflict later makes it ask again: it keeps the name if nobody answers, and tells that it lost it if somebody does")
    func later() {
        for isThere in [false, true] {
            let (wire, host, start) = Self.settled()
            wire.send(response(address(Self.other)), from: Self.other)
            wire.run(milliseconds: 300)
            #expect(wire.sent(by: Self.me, since: start).map(\.message.isResponse).prefix(1) == [false])
            if isThere { wire.send(response(address(Self.other)), from: Self.other) }
            wire.run(milliseconds: 5_000)
            #expect(host.takeNews() == (isThere ? [.lost("boardrelay"), .won("boardrelay-2")] : []))
            #expect(wire.log.last!.message.isResponse)
        }
    }

    @Test("while it asks again it answers nothing, not even what it was about to")
    func silentMeanwhile() {
        let (wire, _, start) = Self.settled()
        wire.send(query(.service, DNSType.ptr), from: Self.other)
        wire.send(response(address(Self.other)), from: Self.other)
        wire.send(query(Names.host, DNSType.a), from: Self.other)
        wire.run(milliseconds: 5_000)
        #expect(wire.sent(by: Self.me, since: start).map(\.message.isResponse) == [false, false, false, true, true])
    }

    @Test("what this machine's other programs say of its addresses is no conflict, nor what somebody repeats; another service is one")
    func ownMachine() {
        let (wire, host, start) = Self.settled()
        wire.send(response(address("fe80::7")), from: Self.me)
        wire.send(response(address(Self.me)), from: Self.other)
        wire.run(milliseconds: 5_000)
        #expect(wire.sent(by: Self.me, since: start).isEmpty && host.takeNews().isEmpty)
        wire.send(response(DNSRecord(Names.instance, DNSType.srv, seconds: 120, isUnique: true, [0, 0, 0, 0, 0, 80, 0])), from: Self.me)
        wire.run(milliseconds: 5_000)
        #expect(wire.sent(by: Self.me, since: start).count == 5)
    }

    @Test("of two who ask at once, who has the lesser records waits for a second", arguments: [
        ("10.0.0.9", Names.host, true), ("10.0.0.0", Names.host, false), ("10.0.0.9", DNSName("other", "local"), false),
    ])
    func simultaneous(other: String, name: DNSName, waits: Bool) {
        let wire = Wire(), host = wire.add(relay(), address: Self.me)
        wire.run(milliseconds: 300)
        let first = wire.log.last!.at, count = wire.log.count
        var probe = query(name, DNSType.any)
        probe.authorities = [address(other, of: name)]
        wire.send(probe, from: other)
        wire.run(milliseconds: 5_000)
        let next = (wire.log[count].at - first).milliseconds
        #expect(waits ? (1_000...1_500).contains(next) : next == 250)
        #expect(host.takeNews() == [.won("boardrelay")])
    }

    @Test("its own question, heard again, is no other's")
    func ownProbe() {
        let wire = Wire()
        wire.add(relay(), address: Self.me)
        wire.run(milliseconds: 300)
        wire.send(wire.log.last!.message, from: Self.other)
        wire.run(milliseconds: 5_000)
        #expect(Self.milliseconds(wire.log, since: wire.log[0].at) == [0, 250, 500, 750, 1_750])
    }

    @Test("who always has the name already cannot make it busy: after 15 conflicts it waits 5 s before each attempt")
    func alwaysConflict() {
        let wire = Wire(), host = wire.add(relay(), address: Self.me)
        var asked: [Instant] = []
        let end = wire.now + .seconds(120)
        while wire.now < end {
            wire.run(milliseconds: 1)
            guard wire.log.count > asked.count, let last = wire.log.last else { continue }
            asked.append(last.at)
            let name = last.message.questions[0].name
            for port in 0..<20 as Range<UInt8> {
                wire.send(response(DNSRecord(name, DNSType.srv, seconds: 120, isUnique: true, [0, 0, 0, 0, 9, port, 0])), from: Self.other)
            }
        }
        #expect(asked.count <= 15 + 24 && host.takeNews().isEmpty)
        #expect(zip(asked[15...], asked[14...]).allSatisfy { ($0 - $1).milliseconds >= 5_000 })
        // And once it is quiet, it comes to rest.
        wire.run(milliseconds: 20_000)
        #expect(host.takeNews() == [.won("boardrelay-\(asked.count + 1)")])
    }

    @Test("who conflicts only with what was won cannot make it busy either")
    func conflictAfterwards() {
        let wire = Wire(), host = wire.add(relay(), address: Self.me)
        for _ in 0..<600 {
            wire.run(milliseconds: 100)
            if wire.log.last?.message.isResponse == true { wire.send(response(address(Self.other)), from: Self.other) }
        }
        #expect(wire.log.count < 160 && host.takeNews().first == .won("boardrelay"))
    }
}
