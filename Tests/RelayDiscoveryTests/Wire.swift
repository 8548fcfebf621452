@testable import RelayAnnouncement
@testable import RelayDiscovery
import RelayPrimitives

/// A link on which each datagram is there at once, and a clock moved by hand.
final class Wire {
    private(set) var now: Instant
    private var stations: [any Station] = []
    /// All that was sent, the oldest first.
    private(set) var log: [Sent] = []

    init(now: Instant = Instant(nanoseconds: 1_000_000_000_000)) { self.now = now }

    struct Sent {
        var at: Instant
        var source: Datagram.Peer
        var target: Datagram.Peer?
        var message: DNSMessage
    }

    @discardableResult
    func add<Machine: MulticastMachine>(_ machine: Machine, address: String, more: [String] = []) -> Host<Machine> {
        let host = Host(machine, interface: LinkInterface(index: 2, addresses: ([address] + more).map(parsed)))
        stations.append(host)
        host.machine.interfacesChanged([host.interface], at: now)
        carry()
        return host
    }

    /// Until a moment, with all that happens on the way, in its order.
    func run(milliseconds: Int64) {
        let end = now + .milliseconds(milliseconds)
        while let next = stations.compactMap(\.nextDeadline).min(), next <= end {
            now = max(now, next)
            for station in stations where station.nextDeadline.map({ $0 <= now }) ?? false {
                station.deadlineReached(at: now)
                carry()
            }
        }
        now = end
    }

    /// A datagram from somebody who is no station.
    func send(_ message: DNSMessage, from source: String, port: UInt16 = 5353, to target: Datagram.Peer? = nil) {
        send(message.bytes, from: source, port: port, to: target)
    }

    func send(_ bytes: [UInt8], from source: String, port: UInt16 = 5353, to target: Datagram.Peer? = nil) {
        deliver(bytes, from: Datagram.Peer(address: parsed(source).bytes, port: port), to: target)
        carry()
    }

    func close(_ station: any Station) {
        station.close()
        carry()
        stations.removeAll { $0 === station }
    }

    /// What was said by an address since a moment.
    func sent(by address: String, since: Instant) -> [Sent] { log.filter { $0.source.address == parsed(address).bytes && $0.at >= since } }

    private func deliver(_ bytes: [UInt8], from source: Datagram.Peer, to target: Datagram.Peer?) {
        for station in stations where target.map({ station.interface.has($0.address) }) ?? true {
            station.receive(Datagram(bytes: bytes, interface: station.interface.index, peer: source), at: now)
        }
    }

    private func carry() {
        while let station = stations.first(where: { !$0.outgoing.isEmpty }) {
            let datagram = station.takeOutgoing()
            let source = Datagram.Peer(address: station.interface.addresses[0].bytes, port: Datagram.port)
            log.append(Sent(at: now, source: source, target: datagram.peer, message: DNSMessage(datagram.bytes)!))
            deliver(datagram.bytes, from: source, to: datagram.peer)
        }
    }
}

protocol Station: AnyObject {
    var interface: LinkInterface { get }
    var nextDeadline: Instant? { get }
    var outgoing: [Datagram] { get }
    func takeOutgoing() -> Datagram
    func receive(_ datagram: Datagram, at now: Instant)
    func deadlineReached(at now: Instant)
    func close()
}

final class Host<Machine: MulticastMachine>: Station {
    var machine: Machine
    let interface: LinkInterface

    init(_ machine: Machine, interface: LinkInterface) { (self.machine, self.interface) = (machine, interface) }

    var nextDeadline: Instant? { machine.nextDeadline }
    private(set) var news: [Machine.News] = []

    var outgoing: [Datagram] {
        machine.effects.compactMap { effect in
            if case .send(let datagram) = effect { datagram } else { nil }
        }
    }

    func takeOutgoing() -> Datagram {
        while true {
            switch machine.effects.removeFirst() {
            case .send(let datagram): return datagram
            case .tell(let told): news.append(told)
            }
        }
    }

    /// With what was told behind the last datagram.
    func takeNews() -> [Machine.News] {
        for effect in machine.effects { if case .tell(let told) = effect { news.append(told) } }
        machine.effects = []
        defer { news = [] }
        return news
    }

    func receive(_ datagram: Datagram, at now: Instant) { machine.receive(datagram, at: now) }
    func deadlineReached(at now: Instant) { machine.deadlineReached(at: now) }
    func close() { machine.close() }
}

/// `10.0.0.1`, with 24 bits of prefix, or `fe80::x` and `fd00::x`, x one hexadecimal digit, with 64.
func parsed(_ text: String) -> LinkInterface.Address {
    if text.contains(".") { return LinkInterface.Address(bytes: text.split(separator: ".").map { UInt8($0)! }, prefixBits: 24) }
    let head: [UInt8] = text.hasPrefix("fe80") ? [0xFE, 0x80] : [0xFD, 0]
    return LinkInterface.Address(bytes: head + [UInt8](repeating: 0, count: 13) + [UInt8(String(text.last!), radix: 16)!], prefixBits: 64)
}

func relay(_ name: String = "boardrelay", port: UInt16 = 7420, text: [String] = ["txtvers=1"], seed: UInt64 = 1) -> Responder {
    Responder(name: name, port: port, text: text, seed: seed)
}

func query(_ name: DNSName, _ type: UInt16, unicast: Bool = false, knowing known: [DNSRecord] = []) -> DNSMessage {
    var message = DNSMessage()
    message.questions = [DNSMessage.Question(name, type)]
    message.questions[0].wantsUnicast = unicast
    message.answers = known
    return message
}

func response(_ records: DNSRecord...) -> DNSMessage {
    var message = DNSMessage()
    message.isResponse = true
    message.answers = records
    return message
}

enum Names {
    static let instance = DNSName("boardrelay", "_boardrelay", "_tcp", "local"), host = DNSName("boardrelay", "local")
}

func address(_ text: String, of host: DNSName = Names.host, seconds: UInt32 = 120) -> DNSRecord {
    let bytes = parsed(text).bytes
    return DNSRecord(host, bytes.count == 4 ? DNSType.a : DNSType.aaaa, seconds: seconds, isUnique: true, bytes)
}
