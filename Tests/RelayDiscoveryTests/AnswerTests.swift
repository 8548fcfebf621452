@testable import RelayAnnouncement
@testable import RelayDiscovery
import RelayPrimitives
import Testing

/// What a relay that has its names answers.
@Suite struct AnswerTests {
    private static let me = "10.0.0.1", asker = "10.0.0.9"

    /// A relay whose announcements are some seconds ago.
    private static func settled(more: [String] = [], after milliseconds: Int64 = 5_000) -> (Wire, Host<Responder>, Instant) {
        let wire = Wire(), host = wire.add(relay(), address: me, more: more)
        wire.run(milliseconds: milliseconds)
        return (wire, host, wire.now)
    }

    private static func answers(_ message: DNSMessage, more: [String] = [], port: UInt16 = 5353, from: String = asker) -> [Wire.Sent] {
        let (wire, _, start) = settled(more: more)
        wire.send(message, from: from, port: port)
        wire.run(milliseconds: 1_000)
        return wire.sent(by: me, since: start)
    }

    @Test(
        "each question has its answers, and with them what the asker will want to know next",
        arguments: [
            (DNSName.service, DNSType.ptr, [DNSType.ptr], [DNSType.srv, DNSType.txt, DNSType.a, DNSType.nsec]),
            (.serviceTypes, DNSType.ptr, [DNSType.ptr], []),
            (Names.instance, DNSType.srv, [DNSType.srv], [DNSType.a, DNSType.nsec]), (Names.instance, DNSType.txt, [DNSType.txt], []),
            (Names.instance, DNSType.any, [DNSType.srv, DNSType.txt], [DNSType.a, DNSType.nsec]),
            (Names.host, DNSType.a, [DNSType.a], [DNSType.nsec]), (DNSName("BoardRelay", "Local"), DNSType.a, [DNSType.a], [DNSType.nsec]),
            (Names.host, DNSType.any, [DNSType.a], [DNSType.nsec]),
        ] as [(DNSName, UInt16, [UInt16], [UInt16])])
    func answered(name: DNSName, type: UInt16, answers: [UInt16], additionals: [UInt16]) {
        let sent = Self.answers(query(name, type))
        #expect(sent.count == 1 && sent[0].target == nil && sent[0].message.isResponse && sent[0].message.questions.isEmpty)
        #expect(sent[0].message.answers.map(\.type) == answers && sent[0].message.additionals.map(\.type) == additionals)
    }

    @Test("what is not this relay's is not answered", arguments: [
        query(DNSName("other", "local"), DNSType.a), query(DNSName("other", "_boardrelay", "_tcp", "local"), DNSType.srv),
        query(DNSName("_http", "_tcp", "local"), DNSType.ptr), query(.service, DNSType.txt), response(address("10.0.0.1")),
    ])
    func others(message: DNSMessage) { #expect(Self.answers(message).isEmpty) }

    @Test("a family of addresses that the host has not is denied, and so is any other type of its names")
    func absences() {
        let host = Names.host.bytes, instance = Names.instance.bytes
        func denied(_ name: DNSName, _ type: UInt16, more: [String] = []) -> [[UInt8]]? {
            Self.answers(query(name, type), more: more).first?.message.answers.map(\.data)
        }
        #expect(denied(Names.host, DNSType.aaaa) == [host + [0, 1, 0x40]])
        #expect(denied(Names.host, DNSType.txt, more: ["fe80::1"]) == [host + [0, 4, 0x40, 0, 0, 8]])
        #expect(denied(Names.instance, DNSType.a) == [instance + [0, 5, 0, 0, 0x80, 0, 0x40]])
        let both = Self.answers(query(Names.host, DNSType.a), more: ["fe80::1"])
        #expect(both[0].message.additionals.map(\.type) == [DNSType.aaaa])
    }

    @Test("addresses are those of the link on which somebody asks")
    func addresses() {
        var responder = relay(), now = Instant(nanoseconds: 0)
        let links = [("10.0.0.1", "10.0.0.9"), ("10.0.1.1", "10.0.1.9")]
        responder.interfacesChanged(links.enumerated().map { LinkInterface(index: UInt32($0), addresses: [parsed($1.0)]) }, at: now)
        while let next = responder.nextDeadline {
            now = next
            responder.deadlineReached(at: now)
        }
        for (index, (own, asker)) in links.enumerated() {
            responder.effects = []
            let peer = Datagram.Peer(address: parsed(asker).bytes, port: 5353)
            responder.receive(Datagram(query(Names.host, DNSType.a), interface: UInt32(index), peer: peer), at: now + .seconds(5))
            guard case .send(let answer)? = responder.effects.first else { return #expect(Bool(false)) }
            #expect(answer.interface == index && DNSMessage(answer.bytes)?.answers == [address(own)])
        }
    }

    @Test("a link-local address of IPv6 is told where there is no other")
    func linkLocal() {
        for (more, told) in [(["fe80::1"], ["fe80::1"]), (["fe80::1", "fd00::1"], ["fd00::1"]), (["169.254.1.1"], [])] {
            let answers = Self.answers(query(Names.host, DNSType.aaaa), more: more)[0].message.answers
            #expect(answers.filter { $0.type == DNSType.aaaa } == told.map { address($0) })
        }
    }

    @Test("who is not on the link gets no answer", arguments: [
        ("10.0.0.77", true), ("10.0.1.9", false), ("8.8.8.8", false), ("169.254.3.3", true), ("fe80::9", true), ("fd00::9", false),
    ])
    func onLink(source: String, isAnswered: Bool) {
        for port in [5353, 4_000] as [UInt16] {
            #expect(Self.answers(query(Names.host, DNSType.a), port: port, from: source).isEmpty != isAnswered)
        }
    }

    @Test("lists, of which others have a part, come after 20 to 120 ms; what is this relay's alone comes at once", arguments: 0..<20)
    func delays(count: Int) {
        let (wire, _, _) = Self.settled(after: 5_000 + Int64(count))
        let start = wire.now
        wire.send(query(Names.host, DNSType.a), from: Self.asker)
        #expect(wire.log.last!.at == start)
        wire.send(query(.service, DNSType.ptr), from: Self.asker)
        wire.run(milliseconds: 5_000)
        #expect((20...120).contains((wire.log.last!.at - start).milliseconds) && wire.log.last!.message.answers[0].type == DNSType.ptr)
    }

    @Test("what the asker knows for half of its time is not said again", arguments: [(2_250, true), (2_249, false)] as [(UInt32, Bool)])
    func knownAnswers(seconds: UInt32, isKnown: Bool) {
        let known = DNSRecord(.service, DNSType.ptr, seconds: seconds, isUnique: false, Names.instance.bytes)
        #expect(Self.answers(query(.service, DNSType.ptr, knowing: [known])).isEmpty == isKnown)
        let another = DNSRecord(.service, DNSType.ptr, seconds: 4_500, isUnique: false, DNSName("b", "_boardrelay", "_tcp", "local").bytes)
        #expect(Self.answers(query(.service, DNSType.ptr, knowing: [another])).count == 1)
    }

    @Test("no record is told to all more than once in a second, however often it is asked for")
    func onceASecond() {
        let (wire, _, start) = Self.settled(more: ["fe80::1"])
        for _ in 0..<500 {
            for name in [.service, .serviceTypes, Names.instance, Names.host] as [DNSName] {
                wire.send(query(name, DNSType.any), from: Self.asker)
            }
            wire.run(milliseconds: 10)
        }
        var last: [DNSRecord: Instant] = [:]
        for sent in wire.sent(by: Self.me, since: start) {
            for record in sent.message.answers + sent.message.additionals {
                if let before = last[record] { #expect((sent.at - before).milliseconds >= 1_000) }
                last[record] = sent.at
            }
        }
        #expect(last.count == 6 && wire.sent(by: Self.me, since: start).count < 30)
    }

    @Test("a name is defended at once against who is about to take it, at most every 250 ms")
    func defence() {
        let (wire, host, start) = Self.settled()
        var probe = query(Names.host, DNSType.any, unicast: true)
        probe.authorities = [address("10.0.0.200")]
        for _ in 0..<100 {
            wire.send(probe, from: "10.0.0.200")
            wire.run(milliseconds: 10)
        }
        let times = wire.sent(by: Self.me, since: start).map { ($0.at - start).milliseconds }
        #expect(times == [0, 250, 500, 750, 1_000] && host.takeNews() == [.won("boardrelay")])
        #expect(wire.sent(by: Self.me, since: start).allSatisfy { $0.target == nil && $0.message.answers == [address(Self.me)] })
    }

    @Test("who wants it alone gets it alone, at once; if all were told too long ago, all are told")
    func unicast() {
        let (wire, _, start) = Self.settled(), peer = Datagram.Peer(address: parsed(Self.asker).bytes, port: 5353)
        wire.send(query(Names.host, DNSType.a, unicast: true), from: Self.asker)
        wire.send(query(.service, DNSType.ptr, unicast: true), from: Self.asker)
        let sent = wire.sent(by: Self.me, since: start)
        #expect(sent.map(\.target) == [peer, peer] && sent.map(\.at) == [start, start])
        #expect(sent[0].message.id == 0 && sent[0].message.questions.isEmpty && sent[0].message.answers == [address(Self.me)])
        // A quarter of 120 s.
        wire.run(milliseconds: 31_000)
        wire.send(query(Names.host, DNSType.a, unicast: true), from: Self.asker)
        #expect(wire.log.last!.target == nil && wire.log.last!.at == wire.now)
    }

    @Test("a resolver that knows nothing of multicast gets its id and question back, short times, and no bit it does not know")
    func legacy() {
        var message = query(Names.host, DNSType.any)
        message.id = 0xBEEF
        message.questions.append(DNSMessage.Question(.service, DNSType.ptr))
        let sent = Self.answers(message, port: 49_152)
        #expect(sent.map(\.target) == [Datagram.Peer(address: parsed(Self.asker).bytes, port: 49_152)])
        #expect(sent[0].message.id == 0xBEEF && sent[0].message.questions == [message.questions[0]] && sent[0].message.additionals.isEmpty)
        #expect(sent[0].message.answers.map(\.type) == [DNSType.a])
        #expect(sent[0].message.answers.allSatisfy { $0.seconds <= 10 && !$0.isUnique })
    }

    @Test("one address alone gets at most 100 answers in a second")
    func forged() {
        let (wire, _, start) = Self.settled()
        for _ in 0..<1_000 { wire.send(query(Names.host, DNSType.a), from: Self.asker, port: 4_000) }
        #expect(wire.sent(by: Self.me, since: start).count == 100)
        wire.run(milliseconds: 1_000)
        wire.send(query(Names.host, DNSType.a), from: Self.asker, port: 4_000)
        #expect(wire.sent(by: Self.me, since: start).count == 101)
    }

    @Test("before it has its names it answers nothing")
    func silent() {
        let wire = Wire()
        wire.add(relay(), address: Self.me)
        wire.run(milliseconds: 600)
        wire.send(query(Names.host, DNSType.a), from: Self.asker, port: 4_000)
        wire.send(query(.service, DNSType.ptr), from: Self.asker)
        #expect(wire.log.allSatisfy { !$0.message.isResponse })
    }

    @Test("at the end it takes back what is its own, and not what others list, too")
    func goodbye() {
        let (wire, host, start) = Self.settled(more: ["fe80::1"])
        wire.close(host)
        let sent = wire.sent(by: Self.me, since: start)
        #expect(sent.count == 1 && sent[0].message.answers.map(\.type) == [DNSType.ptr, DNSType.srv, DNSType.txt, DNSType.a, DNSType.aaaa])
        #expect(sent[0].message.answers.allSatisfy { $0.seconds == 0 } && sent[0].message.answers[0].name == .service)
    }
}
