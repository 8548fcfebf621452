@testable import RelayAnnouncement
@testable import RelayDiscovery
import RelayPrimitives
import Testing

@Suite struct FinderTests {
    private static let me = "10.0.0.2", other = "10.0.0.9"

    private static func list(_ name: String, seconds: UInt32 = 4_500) -> DNSRecord {
        DNSRecord(.service, DNSType.ptr, seconds: seconds, isUnique: false, instance(name).bytes)
    }

    private static func instance(_ name: String) -> DNSName { DNSName(name, "_boardrelay", "_tcp", "local") }

    private static func location(_ name: String, port: UInt8 = 80, seconds: UInt32 = 120) -> DNSRecord {
        DNSRecord(instance(name), DNSType.srv, seconds: seconds, isUnique: true, [0, 0, 0, 0, 0, port] + DNSName(name, "local").bytes)
    }

    private static func text(_ name: String, _ data: [UInt8] = [3, 97, 61, 49], seconds: UInt32 = 4_500) -> DNSRecord {
        DNSRecord(instance(name), DNSType.txt, seconds: seconds, isUnique: true, data)
    }

    private static func whole(_ name: String) -> DNSMessage {
        response(address("10.0.0.9", of: DNSName(name, "local")), text(name), location(name), list(name))
    }

    private static func finder() -> (Wire, Host<Finder>) {
        let wire = Wire()
        return (wire, wire.add(Finder(), address: me))
    }

    @Test("asks at once, after 1 s, after 3 s, and each time after twice as long, at most 1,024 s; and never for a unicast answer")
    func schedule() {
        let (wire, _) = Self.finder(), start = wire.now
        wire.run(milliseconds: 4_000_000)
        #expect(wire.log.map { ($0.at - start).components.seconds } == [0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1_023, 2_047, 3_071])
        #expect(wire.log.allSatisfy { $0.message == query(.service, DNSType.ptr) && $0.target == nil })
    }

    @Test("a service is told when its host and an address are known, in whatever order that comes, and once")
    func found() {
        let expected = FoundService(
            name: "b", host: "b.local", port: 80, text: ["a=1"], addresses: ["10.0.0.9"])
        let (wire, host) = Self.finder()
        wire.run(milliseconds: 150)
        wire.send(Self.whole("b"), from: Self.other)
        #expect(host.takeNews() == [[expected]])
        wire.send(Self.whole("b"), from: Self.other)
        wire.run(milliseconds: 150)
        #expect(host.takeNews().isEmpty)
        let (bit, slow) = Self.finder()
        for record in [Self.list("b"), Self.text("b"), Self.location("b"), address("10.0.0.9", of: DNSName("b", "local"))] {
            #expect(slow.takeNews().isEmpty)
            bit.send(response(record), from: Self.other)
            bit.run(milliseconds: 150)
        }
        #expect(slow.takeNews() == [[expected]])
    }

    @Test("what is missing is asked for, and what is known is not said again to it")
    func missing() {
        let (wire, _) = Self.finder(), start = wire.now
        wire.run(milliseconds: 500)
        wire.send(response(Self.list("b")), from: Self.other)
        #expect(wire.log.last!.message.questions.map(\.type) == [DNSType.txt, DNSType.srv] && wire.log.last!.at == wire.now)
        wire.send(response(Self.location("b"), Self.text("b")), from: Self.other)
        wire.run(milliseconds: 110)
        #expect(wire.log.last!.message.questions.map(\.type) == [DNSType.a, DNSType.aaaa])
        wire.send(response(address("10.0.0.9", of: DNSName("b", "local"))), from: Self.other)
        wire.run(milliseconds: 60_000)
        let later = wire.sent(by: Self.me, since: start + .milliseconds(700)).map(\.message)
        #expect(!later.isEmpty && later.allSatisfy { $0.questions == query(.service, DNSType.ptr).questions })
        #expect(later.allSatisfy { $0.answers.map(\.data) == [Self.list("b").data] })
    }

    @Test("what will soon be over is asked for at four fifths of its time, and forgotten if nobody answers")
    func renewal() {
        let (wire, host) = Self.finder(), start = wire.now
        wire.send(Self.whole("b"), from: Self.other)
        wire.run(milliseconds: 95_800)
        #expect(host.takeNews().count == 1)
        wire.send(response(Self.location("b")), from: Self.other)
        wire.run(milliseconds: 200)
        #expect(wire.log.last!.message.questions.map(\.type) == [DNSType.a] && (wire.log.last!.at - start).milliseconds == 96_000)
        wire.run(milliseconds: 23_990)
        #expect(host.takeNews().isEmpty)
        wire.run(milliseconds: 20)
        #expect(host.takeNews() == [[]])
        wire.send(response(address("10.0.0.9", of: DNSName("b", "local"))), from: Self.other)
        wire.run(milliseconds: 100)
        #expect(host.takeNews().last?.count == 1)
    }

    @Test("a service that is taken back is forgotten a second later, and so are other addresses than those that are said to be all")
    func goodbye() {
        let (wire, host) = Self.finder(), name = DNSName("b", "local")
        wire.send(Self.whole("b"), from: Self.other)
        wire.run(milliseconds: 2_000)
        _ = host.takeNews()
        wire.send(response(address("10.0.0.10", of: name), address("10.0.0.11", of: name)), from: Self.other)
        wire.run(milliseconds: 1_500)
        let told = host.takeNews().map { $0[0].addresses }
        #expect(told == [["10.0.0.9", "10.0.0.10", "10.0.0.11"], ["10.0.0.10", "10.0.0.11"]])
        wire.send(response(Self.list("b", seconds: 0)), from: Self.other)
        wire.run(milliseconds: 990)
        #expect(host.takeNews().isEmpty)
        wire.run(milliseconds: 20)
        #expect(host.takeNews() == [[]])
    }

    @Test("what is no response of somebody on the link is not heard")
    func unheard() {
        let (wire, host) = Self.finder()
        wire.send(Self.whole("b"), from: "10.0.1.9")
        wire.send(Self.whole("b"), from: Self.other, port: 4_000)
        var query = Self.whole("b")
        query.isResponse = false
        wire.send(query, from: Self.other)
        let other = DNSName("_http", "_tcp", "local")
        wire.send(response(DNSRecord(other, DNSType.ptr, seconds: 9, isUnique: false, Self.instance("b").bytes)), from: Self.other)
        wire.run(milliseconds: 200)
        #expect(host.takeNews().isEmpty)
        wire.send(Self.whole("b"), from: Self.other)
        wire.run(milliseconds: 200)
        #expect(host.takeNews().count == 1)
    }

    @Test("addresses that mean nothing without an interface have one; two interfaces that find alike find one")
    func scopes() throws {
        var finder = Finder()
        let now = Instant(nanoseconds: 0), addresses = ["fe80::9", "fd00::9"].map { address($0, of: DNSName("b", "local")) }
        let message = response(Self.list("b"), Self.location("b"), addresses[0], addresses[1])
        finder.interfacesChanged([2, 7].map { LinkInterface(index: $0, addresses: [parsed("fe80::1")]) }, at: now)
        for index in [2, 7] as [UInt32] {
            finder.receive(Datagram(message, interface: index, peer: Datagram.Peer(address: parsed("fe80::9").bytes, port: 5353)), at: now)
        }
        finder.deadlineReached(at: now + .milliseconds(100))
        guard case .tell(let services)? = finder.effects.last else { return #expect(Bool(false)) }
        #expect(services.map { $0.addresses } == [["fe80::9%2", "fd00::9", "fe80::9%7"]])
        finder.interfacesChanged([], at: now)
        guard case .tell(let none)? = finder.effects.last else { return #expect(Bool(false)) }
        #expect(none.isEmpty && finder.nextDeadline == nil)
    }

    @Test("fields of a text: an empty one is none, a torn one is left out", arguments: [
        ([0], []), ([3, 97, 61, 49, 0, 1, 98], ["a=1", "b"]), ([1, 97, 5, 98], ["a"]), ([], []), ([1, 0xFF], ["\u{FFFD}"]),
    ] as [([UInt8], [String])])
    func fields(data: [UInt8], fields: [String]) { #expect(FoundService.fields(data) == fields) }

    @Test("who names hundreds of services and hosts and addresses gets 200 remembered, 16 addresses each, and ten queries a second")
    func hostile() {
        let (wire, host) = Self.finder(), start = wire.now
        for number in 0..<500 {
            let host = address(Self.other, of: DNSName("x\(number)", "local"))
            wire.send(response(Self.list("x\(number)", seconds: .max), Self.location("x\(number)", seconds: .max), host), from: Self.other)
        }
        wire.run(milliseconds: 100)
        #expect(host.takeNews().last?.count == 200)
        for number in 0..<100 as Range<UInt8> {
            var more = address("10.0.0.\(number)", of: DNSName("x1", "local"))
            more.isUnique = false
            wire.send(response(more, Self.text("x1", [UInt8](repeating: 0, count: 1_301))), from: Self.other)
            wire.send(response(Self.location("x2", port: number)), from: Self.other)
        }
        wire.run(milliseconds: 100)
        let told = host.takeNews().last!
        #expect(told.count == 200 && told[1].addresses.count == 16 && told[1].text.isEmpty)
        wire.run(milliseconds: 10_000)
        #expect(wire.sent(by: Self.me, since: start).count <= 102 && wire.log.allSatisfy { $0.message.bytes.count < 2_000 })
    }

    @Test("nothing is believed for longer than 75 minutes")
    func longest() {
        let (wire, host) = Self.finder()
        let place = address(Self.other, of: DNSName("b", "local"), seconds: .max)
        wire.send(response(Self.list("b", seconds: .max), Self.location("b", seconds: .max), place), from: Self.other)
        wire.run(milliseconds: 4_499_000)
        #expect(host.takeNews().map(\.count) == [1])
        wire.run(milliseconds: 1_100)
        #expect(host.takeNews() == [[]])
    }

    // MARK: Both halves

    @Test("a finder finds the relay that is there and the one that comes, follows what they are called, and forgets who goes")
    func both() {
        let wire = Wire(), first = wire.add(relay(text: ["a=1"]), address: "10.0.0.1", more: ["fe80::1"])
        wire.run(milliseconds: 4_000)
        let (finder, start) = (wire.add(Finder(), address: Self.me), wire.now)
        wire.run(milliseconds: 130)
        let one = FoundService(
            name: "boardrelay", host: "boardrelay.local", port: 7420, text: ["a=1"],
            addresses: ["10.0.0.1", "fe80::1%2"])
        #expect(finder.takeNews() == [[one]] && wire.sent(by: Self.me, since: start).count == 1)
        let second = wire.add(relay(port: 7421, seed: 9), address: "10.0.0.3")
        wire.run(milliseconds: 5_000)
        #expect(first.takeNews() == [.won("boardrelay")] && second.takeNews() == [.won("boardrelay-2")])
        #expect(finder.takeNews().last?.map { "\($0.name) \($0.port)" } == ["boardrelay 7420", "boardrelay-2 7421"])
        // Hours later they are still there.
        wire.run(milliseconds: 3 * 3_600_000)
        #expect(finder.takeNews().isEmpty)
        wire.close(first)
        wire.run(milliseconds: 1_001)
        #expect(finder.takeNews().last?.map(\.name) == ["boardrelay-2"])
    }

    @Test(
        "relays that begin at the same moment get names of their own, those on one machine, too", arguments: 1...20 as ClosedRange<UInt64>)
    func manyAtOnce(seed: UInt64) {
        let wire = Wire()
        let hosts = (0..<5 as Range<UInt64>).map { number in
            let responder = relay(port: 7420 + UInt16(number), seed: seed * 10 + number)
            return wire.add(responder, address: number < 2 ? "10.0.0.\(number + 1)" : "10.0.0.7")
        }
        wire.run(milliseconds: 60_000)
        let names = hosts.compactMap { $0.takeNews().last }
        #expect(Set(names) == Set(["", "-2", "-3", "-4", "-5"].map { .won("boardrelay" + $0) }))
    }

    @Test("two links that become one: as soon as somebody asks, one relay keeps the name and the other takes the next")
    func joined() {
        let wires = [Wire(), Wire()], addresses = ["10.0.0.1", "10.0.0.3"]
        let alone = zip(wires, addresses).map { $0.add(relay(seed: UInt64($1.utf8.last!)), address: $1) }
        for wire in wires { wire.run(milliseconds: 5_000) }
        #expect(alone.map { $0.takeNews() } == [[.won("boardrelay")], [.won("boardrelay")]])
        let wire = Wire(now: wires[0].now), hosts = zip(alone, addresses).map { wire.add($0.machine, address: $1) }
        wire.run(milliseconds: 5_000)
        #expect(wire.log.isEmpty)
        wire.add(Finder(), address: Self.me)
        wire.run(milliseconds: 10_000)
        #expect(hosts.map { $0.takeNews() } == [[.lost("boardrelay"), .won("boardrelay-2")], []])
    }
}
