package import RelayDiscovery
package import RelayPrimitives

/// Claims names for a relay on each link and answers who asks for it, as RFC 6762 says. Pure.
///
/// It holds, for each of at most 16 links, its own records with two moments each, and nothing that others sent.
package struct Responder: MulticastMachine {
    package enum News: Hashable, Sendable {
        /// The relay is `name`.local on the first of the links; the others are still asked.
        case won(String)
        /// Somebody else has it; the next one is tried.
        case lost(String)
    }

    package var effects: [MulticastEffect<News>] = []
    private var name: String
    private let port: UInt16, text: [UInt8]
    private var links: [AnnouncedLink] = []
    private var isWon = false
    /// Each within 10 s of the one before.
    private var conflictCount = 0, lastConflict: Instant?
    private var random: SplitMix64

    /// (§8.1, §8.2, §8.3)
    private static let probes = 3, probeGap = Duration.milliseconds(250), deferral = Duration.seconds(1), announceGap = Duration.seconds(1)
    /// After so many conflicts a pause is before each attempt, until there was none for some time. (§8.1)
    private static let conflictsMax = 15, conflictMemory = Duration.seconds(10), conflictPause = Duration.seconds(5)
    /// Who knows nothing of multicast gets no longer times, in seconds. (§6.7)
    private static let legacySecondsMax: UInt32 = 10
    /// Of a name: a label's 63 without those of the number. Of all fields of the TXT record, with their lengths. (RFC 6763 §6.2)
    package static let nameBytesMax = 56, textBytesMax = 1_300

    /// - Parameters:
    ///   - name: what to try first, letters, digits and `-`: `boardrelay`, or the name of the last time. Then come `boardrelay-2`, `-3`…
    ///   - text: `key=value`, at most 255 bytes each. Longer ones are left out, and what exceeds `textBytesMax`. Everybody on the link
    ///     reads them: nothing in them may let anyone in.
    ///   - seed: of the random delays.
    package init(name: String, port: UInt16, text: [String], seed: UInt64) {
        (self.name, self.port, random) = (name.isEmpty ? "boardrelay" : name, port, SplitMix64(seed: seed))
        while self.name.utf8.count > Self.nameBytesMax { self.name.removeLast() }
        let fields = text.filter { (1...255).contains($0.utf8.count) }.reduce(into: [UInt8]()) { fields, field in
            if fields.count + field.utf8.count < Self.textBytesMax { fields += [UInt8(field.utf8.count)] + field.utf8 }
        }
        self.text = fields.isEmpty ? [0] : fields
    }

    package var nextDeadline: Instant? { links.reduce(nil) { Instant.earlier($0, $1.nextDeadline) } }

    /// Asks for its names on links that are new, or on which it has other addresses. (§8)
    package mutating func interfacesChanged(_ interfaces: [LinkInterface], at now: Instant) {
        links = interfaces.prefix(LinkInterface.countMax).map { interface in
            links.first { $0.interface == interface } ?? link(interface, probesAt: now + delay(milliseconds: 0...250))
        }
    }

    package mutating func deadlineReached(at now: Instant) {
        for place in links.indices { step(place, at: now) }
    }

    package mutating func close() {
        for link in links where link.phase == .claimed { send(link.goodbye, link) }
        links = []
    }

    package mutating func receive(_ datagram: Datagram, at now: Instant) {
        guard let peer = datagram.peer, let place = links.firstIndex(where: { $0.interface.index == datagram.interface }),
            links[place].interface.reaches(peer.address), let message = DNSMessage(datagram.bytes)
        else { return }
        // Other programs of this machine may say its addresses, under any name. Services are each relay's own.
        let isOwnMachine = links.contains { $0.interface.has(peer.address) }
        let names = isOwnMachine ? [links[place].instance] : [links[place].instance, links[place].host]
        switch links[place].phase {
        case _ where message.isResponse: if peer.port == Datagram.port, isConflict(message, names) { giveWay(place, at: now) }
        case .claimed:
            answer(message, to: peer, place, at: now)
            step(place, at: now)
        case .probing:
            // Two ask for a name at once: who has less waits. (§8.2)
            if names.contains(where: { isLess(links[place], than: message.authorities, $0) }) {
                links[place].ask(at: now + Self.deferral + delay(milliseconds: 0...250))
            }
        }
    }

    // MARK: Names

    /// Goes one step further, if it is time, and says what is due.
    private mutating func step(_ place: Int, at now: Instant) {
        let isTime = links[place].next.map { $0 <= now } ?? false
        switch links[place].phase {
        case _ where !isTime: break
        case .probing(let sent) where sent < Self.probes:
            links[place].ask(at: now + Self.probeGap, sent: sent + 1)
            send(links[place].probe, links[place])
        case .probing:
            if !isWon { effects.append(.tell(.won(name))) }
            isWon = true
            links[place].announce(at: now, again: now + Self.announceGap)
        case .claimed: links[place].announce(at: now, again: nil)
        }
        if let message = links[place].takeDue(at: now) { send(message, links[place]) }
    }

    /// What this relay says itself, on any of its links, is no conflict: two of them may be one, or somebody repeats it.
    private func isConflict(_ message: DNSMessage, _ names: [DNSName]) -> Bool {
        (message.answers + message.additionals).contains { record in
            names.contains(record.name) && record.seconds > 0 && [DNSType.a, DNSType.aaaa, DNSType.srv, DNSType.txt].contains(record.type)
                && !links.contains { $0.claims.contains { $0.says(record) } }
        }
    }

    /// Compares what two would have of a name, by type and data. (§8.2.1)
    private func isLess(_ link: AnnouncedLink, than others: [DNSRecord], _ name: DNSName) -> Bool {
        func comparable(_ records: [DNSRecord]) -> [[UInt8]] {
            records.filter { $0.name == name }.map { [UInt8($0.type >> 8), UInt8($0.type & 255)] + $0.data }
                .inOrder { $0.lexicographicallyPrecedes($1) }
        }
        let theirs = comparable(others)
        guard !theirs.isEmpty, !links.contains(where: { comparable($0.claims) == theirs }) else { return false }
        return comparable(link.claims).lexicographicallyPrecedes(theirs) { $0.lexicographicallyPrecedes($1) }
    }

    /// Asks again who has the name. If that is somebody else, the next name has its turn. (§9)
    private mutating func giveWay(_ place: Int, at now: Instant) {
        // Nobody was asked yet: who has it will say so again.
        if links[place].phase == .probing(sent: 0) { return }
        let isFirst = lastConflict.map { $0 + Self.conflictMemory < now } ?? true
        conflictCount = isFirst ? 1 : min(conflictCount + 1, Self.conflictsMax)
        lastConflict = now
        let next = now + (conflictCount == Self.conflictsMax ? Self.conflictPause : delay(milliseconds: 0...250))
        if links[place].phase == .claimed { return links[place].ask(at: next) }
        if isWon { effects.append(.tell(.lost(name))) }
        (name, isWon) = (Self.name(after: name), false)
        links = links.map { link($0.interface, probesAt: next) }
    }

    /// `boardrelay`, `boardrelay-2`, `boardrelay-3`…
    static func name(after name: String) -> String {
        guard let dash = name.lastIndex(of: "-"), let number = Int(name[dash...].dropFirst()), (2..<999_999).contains(number) else {
            return "\(name)-2"
        }
        return "\(name[..<dash])-\(number + 1)"
    }

    // MARK: Answers

    private mutating func answer(_ query: DNSMessage, to peer: Datagram.Peer, _ place: Int, at now: Instant) {
        let isLegacy = peer.port != Datagram.port, isProbe = !query.authorities.isEmpty
        var alone: [Int] = []
        // A plain resolver has one question, which its answer repeats.
        let questions = query.questions.prefix(isLegacy ? 1 : DNSMessage.questionsMax)
        for question in questions {
            for match in links[place].matches(question) where !alone.contains(match) {
                let record = links[place].answers[match].record
                // Known-answer suppression. (§7.1)
                if query.answers.contains(where: { $0.says(record) && $0.seconds >= record.seconds / 2 }) { continue }
                if isLegacy || question.wantsUnicast && !isProbe && links[place].isFresh(match, at: now) {
                    alone.append(match)
                } else {
                    let wait = isProbe || record.isUnique ? Duration.zero : delay(milliseconds: 20...120)
                    links[place].schedule(match, at: now + wait, isDefence: isProbe)
                }
            }
        }
        guard !alone.isEmpty, links[place].mayAnswerOne(at: now) else { return }
        var response = links[place].response(alone, isLegacy ? [] : links[place].additionals(to: alone))
        if isLegacy {
            (response.id, response.questions) = (query.id, Array(questions))
            for index in alone.indices {
                response.answers[index].seconds = min(response.answers[index].seconds, Self.legacySecondsMax)
                response.answers[index].isUnique = false
            }
        }
        send(response, links[place], to: peer)
    }

    // MARK: Parts

    private func link(_ interface: LinkInterface, probesAt next: Instant) -> AnnouncedLink {
        AnnouncedLink(interface, label: name, port: port, text: text, probesAt: next)
    }

    private mutating func send(_ message: DNSMessage, _ link: AnnouncedLink, to peer: Datagram.Peer? = nil) {
        effects.append(.send(Datagram(message, interface: link.interface.index, peer: peer)))
    }

    private mutating func delay(milliseconds: ClosedRange<Int64>) -> Duration {
        .microseconds(Int64.random(in: milliseconds.lowerBound * 1_000...milliseconds.upperBound * 1_000, using: &random))
    }
}
