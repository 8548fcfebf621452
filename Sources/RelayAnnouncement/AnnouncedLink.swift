internal import RelayDiscovery
internal import RelayPrimitives

/// What a relay says on one interface, and when.
struct AnnouncedLink: Sendable {
    struct Answer: Sendable {
        let record: DNSRecord
        /// When all on the link were last told, and when they will be.
        var sentAt: Instant?, dueAt: Instant?

        /// That a name has no other types. It is told only to who asks for one of them, or soon would. (RFC 6762 §6.1)
        var isAbsence: Bool { record.type == DNSType.nsec }
    }

    enum Phase: Sendable, Equatable {
        /// Asks whether somebody has the names, and is silent otherwise.
        case probing(sent: Int)
        /// Has them.
        case claimed
    }

    let interface: LinkInterface
    let instance: DNSName, host: DNSName
    private(set) var phase = Phase.probing(sent: 0)
    /// When it asks again, or says once more that it has them, if it does.
    private(set) var next: Instant?
    private(set) var answers: [Answer]
    /// Unicast answers, since a moment.
    private var answersToOne = 0, second = Instant(nanoseconds: 0)

    /// Times to live: of what names the host or its port, and of the rest. (RFC 6762 §10)
    private static let secondsOfHost: UInt32 = 120, secondsOfRest: UInt32 = 4_500
    /// Unicast answers in a second.
    private static let answersToOneMax = 100
    /// No record is told to all more often; in defence against a probe it is. (RFC 6762 §6)
    private static let gap = Duration.seconds(1), gapOfDefence = Duration.milliseconds(250)

    init(_ interface: LinkInterface, label: String, port: UInt16, text: [UInt8], probesAt next: Instant) {
        let instance = DNSName(label, "_boardrelay", "_tcp", "local"), host = DNSName(label, "local")
        func unique(_ name: DNSName, _ type: UInt16, _ data: [UInt8], seconds: UInt32 = Self.secondsOfHost) -> DNSRecord {
            DNSRecord(name, type, seconds: seconds, isUnique: true, data)
        }
        let listed = [(DNSName.serviceTypes, DNSName.service), (DNSName.service, instance)].map {
            DNSRecord($0, DNSType.ptr, seconds: Self.secondsOfRest, isUnique: false, $1.bytes)
        }
        let location = [0, 0, 0, 0, UInt8(port >> 8), UInt8(port & 255)] + host.bytes
        let service = [unique(instance, DNSType.srv, location), unique(instance, DNSType.txt, text, seconds: Self.secondsOfRest)]
        // Link-local ones only where IPv6 has no others, as avahi does it: were they said, it would give up the same name of its machine.
        let routable = interface.addresses.filter { $0.bytes.count == 16 && !$0.isLinkLocal }
        let addresses = interface.addresses.filter { $0.bytes.count == 4 || routable.isEmpty || !$0.isLinkLocal }
            .map { unique(host, $0.bytes.count == 4 ? DNSType.a : DNSType.aaaa, $0.bytes) }
        let absences = [(instance, service), (host, addresses)].map { name, records in
            // Of the first 40 types each is a bit. (RFC 4034 §4.1)
            var bits = [UInt8](repeating: 0, count: 5)
            for record in records { bits[Int(record.type) / 8] |= 0x80 >> (record.type % 8) }
            bits.removeLast(bits.reversed().prefix { $0 == 0 }.count)
            return unique(name, DNSType.nsec, name.bytes + [0, UInt8(bits.count)] + bits)
        }
        (self.interface, self.instance, self.host, self.next) = (interface, instance, host, next)
        answers = (listed + service + addresses + absences).map { Answer(record: $0) }
    }

    /// Asks for the names, and forgets what all were to be told.
    mutating func ask(at next: Instant, sent: Int = 0) {
        (phase, self.next) = (.probing(sent: sent), next)
        for place in answers.indices { answers[place].dueAt = nil }
    }

    /// Has the names, and says so.
    mutating func announce(at now: Instant, again: Instant?) {
        (phase, next) = (.claimed, again)
        for place in answers.indices where !answers[place].isAbsence { schedule(place, at: now) }
    }

    var nextDeadline: Instant? { answers.reduce(next) { Instant.earlier($0, $1.dueAt) } }

    /// What nobody else may have.
    var claims: [DNSRecord] { answers.filter { $0.record.isUnique && !$0.isAbsence }.map(\.record) }

    /// (RFC 6762 §8.1) It does not ask for unicast answers: another program on this port might get them. (§15)
    var probe: DNSMessage {
        var message = DNSMessage()
        message.questions = [instance, host].map { DNSMessage.Question($0, DNSType.any) }
        message.authorities = claims
        return message
    }

    /// Takes back what is this relay's alone. (RFC 6762 §10.1)
    var goodbye: DNSMessage {
        var message = response(answers.indices.filter { answers[$0].record.name != .serviceTypes && !answers[$0].isAbsence }, [])
        for place in message.answers.indices { message.answers[place].seconds = 0 }
        return message
    }

    /// Which records answer a question: all that it names, or that there are only others.
    func matches(_ question: DNSMessage.Question) -> [Int] {
        let named = answers.indices.filter { answers[$0].record.name == question.name }
        let typed = named.filter { question.type == DNSType.any ? !answers[$0].isAbsence : question.type == answers[$0].record.type }
        return typed.isEmpty ? named.filter { answers[$0].isAbsence } : typed
    }

    /// What the asker will want to know next. (RFC 6763 §12)
    func additionals(to chosen: [Int]) -> [Int] {
        let records = chosen.map { answers[$0].record }, hasBoth = interface.speaks(ipv6: false) && interface.speaks(ipv6: true)
        let isListed = records.contains { $0.name == .service }
        let isLocated = isListed || records.contains { $0.type == DNSType.srv || $0.name == host }
        return answers.indices.filter { place in
            let answer = answers[place]
            let isWanted = isListed && answer.record.name == instance && !answer.isAbsence
            return !chosen.contains(place) && (isWanted || isLocated && answer.record.name == host && !(hasBoth && answer.isAbsence))
        }
    }

    /// Whether all were told within a quarter of its time: then a unicast answer is enough. (RFC 6762 §5.4)
    func isFresh(_ place: Int, at now: Instant) -> Bool {
        answers[place].sentAt.map { now < $0 + .seconds(Int64(answers[place].record.seconds) / 4) } ?? false
    }

    /// Will tell all, not before a moment and not too often.
    mutating func schedule(_ place: Int, at moment: Instant, isDefence: Bool = false) {
        let earliest = answers[place].sentAt.map { $0 + (isDefence ? Self.gapOfDefence : Self.gap) }
        answers[place].dueAt = Instant.earlier(answers[place].dueAt, max(moment, earliest ?? moment))
    }

    /// Unicast answers are few: a source may be forged.
    mutating func mayAnswerOne(at now: Instant) -> Bool {
        if second + .seconds(1) <= now { (second, answersToOne) = (now, 0) }
        answersToOne += 1
        return answersToOne <= Self.answersToOneMax
    }

    /// What all are to be told now.
    mutating func takeDue(at now: Instant) -> DNSMessage? {
        let due = answers.indices.filter { answers[$0].dueAt.map { $0 <= now } ?? false }
        guard !due.isEmpty else { return nil }
        let extra = additionals(to: due).filter { place in answers[place].sentAt.map { $0 + Self.gap <= now } ?? true }
        for place in due + extra { (answers[place].sentAt, answers[place].dueAt) = (now, nil) }
        return response(due, extra)
    }

    func response(_ chosen: [Int], _ extra: [Int]) -> DNSMessage {
        var message = DNSMessage()
        message.isResponse = true
        (message.answers, message.additionals) = (chosen.map { answers[$0].record }, extra.map { answers[$0].record })
        return message
    }
}
