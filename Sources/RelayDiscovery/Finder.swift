package import RelayPrimitives

/// Looks for relays on each link, as RFC 6762 §5 says, until it is dropped. Pure.
///
/// It holds at most 200 services with 16 addresses and 1,300 bytes of text each. However much comes, it looks through that at most ten
/// times a second, and sends no more queries on an interface.
package struct Finder: MulticastMachine {
    package static let servicesMax = 200, textBytesMax = 1_300
    /// Until all are asked again: 1 s, then twice as long each time. A record that lives 75 minutes is renewed in its last half. (§5.2)
    private static let waitMin = Duration.seconds(1), waitMax = Duration.seconds(1_024)
    private static let gap = Duration.milliseconds(100)
    /// Of names and types that somebody said something of.
    private static let slotsMax = 2_000
    /// Of one query: questions, and answers that it says it knows.
    private static let questionsMax = 32, knownMax = 16
    /// Longer than any that §10 recommends is not believed, in seconds.
    private static let secondsMax: UInt32 = 4_500

    private struct Key: Hashable { let interface: UInt32, name: DNSName, type: UInt16 }

    private struct Known {
        let record: DNSRecord
        let since: Instant
        var end: Instant

        /// From then on it is asked for again. (§5.2)
        var stale: Instant { since + .milliseconds(800 * Int64(min(record.seconds, Finder.secondsMax))) }

        /// For who is asked, while half of its time is left, so that it is not said again. (§7.1)
        func answer(at now: Instant) -> DNSRecord? {
            var answer = record
            answer.seconds = UInt32(clamping: (end - now).components.seconds)
            return answer.seconds > record.seconds / 2 ? answer : nil
        }
    }

    /// What is known of a name and a type, one location or text and up to 16 addresses, and when to ask for it.
    private struct Slot {
        var known: [Known] = []
        var askAt: Instant
        var wait = Finder.waitMin
    }

    package var effects: [MulticastEffect<[FoundService]>] = []
    private var interfaces: [LinkInterface] = []
    /// In an order that is always the same.
    private var keys: [Key] = []
    private var slots: [Key: Slot] = [:]
    private var told: [FoundService] = []
    /// Something was said since the last look, and the next look is not before a moment.
    private var isStirred = false, restsUntil = Instant(nanoseconds: 0)

    package init() {}

    package var nextDeadline: Instant? {
        if isStirred { return restsUntil }
        let next = slots.values.reduce(nil) { $1.known.reduce(Instant.earlier($0, $1.askAt)) { Instant.earlier($0, $1.end) } }
        return next.map { max($0, restsUntil) }
    }

    /// Asks at once on those that are new or have other addresses, and forgets what was behind those that are gone.
    package mutating func interfacesChanged(_ interfaces: [LinkInterface], at now: Instant) {
        for interface in interfaces where !self.interfaces.contains(interface) {
            slots[list(interface)] = Slot(known: slots[list(interface)]?.known ?? [], askAt: now)
        }
        self.interfaces = Array(interfaces.prefix(LinkInterface.countMax))
        (isStirred, restsUntil) = (true, now)
        deadlineReached(at: now)
    }

    package mutating func receive(_ datagram: Datagram, at now: Instant) {
        guard let peer = datagram.peer, peer.port == Datagram.port, let message = DNSMessage(datagram.bytes), message.isResponse,
            interfaces.contains(where: { $0.index == datagram.interface && $0.reaches(peer.address) })
        else { return }
        for record in message.answers + message.additionals { learn(record, on: datagram.interface, at: now) }
        isStirred = true
        deadlineReached(at: now)
    }

    package mutating func deadlineReached(at now: Instant) {
        guard restsUntil <= now else { return }
        (isStirred, restsUntil) = (false, now + Self.gap)
        let found = refresh(at: now)
        ask(at: now)
        if found != told { effects.append(.tell(found)) }
        told = found
    }

    package mutating func close() {}

    private func list(_ interface: LinkInterface) -> Key { Key(interface: interface.index, name: .service, type: DNSType.ptr) }

    /// What nothing leads to is forgotten by `refresh`.
    private mutating func learn(_ record: DNSRecord, on interface: UInt32, at now: Instant) {
        switch (record.type, record.data.count) {
        case (DNSType.ptr, _) where record.name == .service && DNSName(bytes: record.data).parent == .service: break
        case (DNSType.srv, _), (DNSType.txt, ...Self.textBytesMax), (DNSType.a, 4), (DNSType.aaaa, 16): break
        default: return
        }
        let key = Key(interface: interface, name: record.name, type: record.type)
        guard var slot = slots[key] ?? (slots.count < Self.slotsMax ? Slot(askAt: now) : nil) else { return }
        // Others of the name that were told more than a second ago are over in a second. (§10.2)
        let isAll = record.isUnique && key.type != DNSType.ptr
        for place in slot.known.indices where isAll && slot.known[place].since + .seconds(1) < now {
            slot.known[place].end = min(slot.known[place].end, now + .seconds(1))
        }
        // What is taken back stays for a second. (§10.1)
        let news = Known(record: record, since: now, end: now + .seconds(Int64(min(max(record.seconds, 1), Self.secondsMax))))
        if let place = slot.known.firstIndex(where: { $0.record.data == record.data }) {
            slot.known[place] = news
        } else if record.seconds > 0 {
            if key.type == DNSType.srv || key.type == DNSType.txt { slot.known = [] }
            if hasRoom(slot, key) { slot.known.append(news) }
        }
        slots[key] = slot
    }

    private func hasRoom(_ slot: Slot, _ key: Key) -> Bool {
        if key.type != DNSType.ptr { return slot.known.count < LinkInterface.addressesMax }
        return interfaces.reduce(0) { $0 + (slots[list($1)]?.known.count ?? 0) } < Self.servicesMax
    }

    /// Keeps what is listed and what that leads to, and forgets the rest and what is over.
    ///
    /// - Returns: services with a known host and address. A service that two interfaces find counts once.
    private mutating func refresh(at now: Instant) -> [FoundService] {
        let old = slots
        (keys, slots) = ([], [:])
        var services: [FoundService] = [], places: [FoundService: Int] = [:]
        for interface in interfaces {
            func known(_ name: DNSName, _ type: UInt16) -> [Known] {
                keep(Key(interface: interface.index, name: name, type: type), of: old, at: now)
            }
            for instance in known(.service, DNSType.ptr).map({ DNSName(bytes: $0.record.data) }) {
                let text = known(instance, DNSType.txt).first?.record.data ?? []
                guard let location = known(instance, DNSType.srv).first?.record.data else { continue }
                let host = DNSName(bytes: location.dropFirst(6)), addresses = known(host, DNSType.a) + known(host, DNSType.aaaa)
                guard !addresses.isEmpty else { continue }
                let port = UInt16(location[4]) << 8 | UInt16(location[5]), hostName = host.labels.joined(separator: ".")
                let service = FoundService(name: instance.labels[0], host: hostName, port: port, text: FoundService.fields(text))
                let place = places[service] ?? services.count
                if place == services.count { services.append(service) }
                places[service] = place
                services[place].add(addresses.map(\.record.data), on: interface.index)
            }
        }
        return services
    }

    private mutating func keep(_ key: Key, of old: [Key: Slot], at now: Instant) -> [Known] {
        if let slot = slots[key] { return slot.known }
        var slot = old[key] ?? Slot(askAt: now)
        slot.known.removeAll { $0.end <= now }
        if key.type != DNSType.ptr, let stale = slot.known.map(\.stale).min(), stale > now {
            (slot.askAt, slot.wait) = (stale, Self.waitMin)
        }
        slots[key] = slot
        keys.append(key)
        return slot.known
    }

    /// Asks for what is missing or will soon be over, and for the list at its times.
    private mutating func ask(at now: Instant) {
        for interface in interfaces {
            var query = DNSMessage()
            for key in keys where key.interface == interface.index && query.questions.count < Self.questionsMax {
                guard let slot = slots[key], slot.askAt <= now else { continue }
                slots[key]?.askAt = now + slot.wait
                slots[key]?.wait = min(slot.wait * 2, Self.waitMax)
                // Of a host's two families one is enough.
                let family = key.type == DNSType.a ? DNSType.aaaa : key.type == DNSType.aaaa ? DNSType.a : key.type
                let other = slots[Key(interface: key.interface, name: key.name, type: family)]?.known ?? []
                if slot.known.isEmpty, !other.isEmpty { continue }
                query.questions.append(DNSMessage.Question(key.name, key.type))
                if key.type == DNSType.ptr { query.answers = slot.known.compactMap { $0.answer(at: now) }.suffix(Self.knownMax) }
            }
            if !query.questions.isEmpty { effects.append(.send(Datagram(query, interface: interface.index))) }
        }
    }
}
