/// Decides from what was sent and what another connection received whether the relay kept its word.
///
/// Every accepted message once, in the channel's order, byte for byte; nothing of one sender ahead of what it sent
/// before, whichever the lane; of packets, delivered and reported lost make up all that were accepted, each once.
struct ReplayVerifier: Sendable {
    enum Lane: String, Sendable, Hashable { case message, packet }

    /// The first promise that was broken, and how often each was.
    enum Violation: String, Sendable, Hashable, CaseIterable {
        case unknownMessage = "a message arrived that was never sent, or not byte for byte"
        case unknownPacket = "a packet arrived that was never sent, or not byte for byte"
        case twice = "something arrived twice"
        case overtaken = "something arrived after what was sent later"
        case offsetOrder = "message offsets did not rise"
        case missingMessage = "an accepted message did not arrive"
        case refusedDelivered = "a refused message arrived"
        case messagesMissed = "the receiving connection was told that it missed messages"
        case sequenceOrder = "packet sequences of a flow did not rise"
        case sequenceTwice = "a packet sequence was delivered or reported lost twice"
        case packetCount = "delivered and reported lost packets are not those accepted"
        case lossUnknown = "packets were lost without saying which"
        case incomplete = "not everything that was accepted had arrived in time"
    }

    private struct Sent: Sendable {
        var lane: Lane
        var isRefused = false
        /// Nobody knows whether it was accepted: it may arrive or not.
        var isUncertain = false
        /// Of a board on which keys are written again and again, in change sets: a reader that catches up gets the newest of a key, so
        /// the boards of readers are judged in place of this.
        var isOfBoard = false
        var isDelivered = false
    }

    private struct Key: Hashable {
        var lane: Lane
        var payload: [UInt8]
        var isOfBoard = false
    }

    private struct Sender: Sendable {
        var sent: [Sent] = []
        var places: [Key: [Int]] = [:]
        /// Highest place that has arrived.
        var newest = -1
        var packetsDropped = 0
        var packetsDelivered = 0
        var packetsLost = 0
    }

    private struct Flow: Sendable {
        var publisher: String
        var newest: UInt32 = 0
        var covered = SequenceSet()
    }

    private var senders: [String: Sender] = [:]
    private var flows: [UInt32: Flow] = [:]
    private var newestOffset: UInt64 = 0
    private(set) var violations: [Violation: Int] = [:]
    /// The first few, in words.
    private(set) var examples: [String] = []

    // MARK: What was sent

    /// Tells of something that will be sent, in the order of sending, before any event can speak of it.
    ///
    /// - Returns: its place in the sender's order, for `refused`.
    @discardableResult
    mutating func sends(_ lane: Lane, from user: String, payload: [UInt8], isOfBoard: Bool = false) -> Int {
        senders[user, default: Sender()].sent.append(Sent(lane: lane, isOfBoard: isOfBoard))
        let place = senders[user]!.sent.count - 1
        senders[user]!.places[Key(lane: lane, payload: payload, isOfBoard: isOfBoard), default: []].append(place)
        return place
    }

    /// The relay or the client refused it: it must not arrive.
    mutating func refused(_ place: Int, from user: String) { senders[user]?.sent[place].isRefused = true }

    /// The sender does not know: it may arrive or not.
    mutating func uncertain(_ place: Int, from user: String) { senders[user]?.sent[place].isUncertain = true }

    /// The sender was told that this many of its packets were not passed on.
    mutating func dropped(_ count: Int, from user: String) { senders[user]?.packetsDropped += count }

    // MARK: What arrived

    mutating func receivedMessage(from user: String, offset: UInt64, payload: [UInt8]) {
        guard senders[user] != nil else { return }
        if offset <= newestOffset { report(.offsetOrder, "offset \(offset) after \(newestOffset)") }
        newestOffset = max(newestOffset, offset)
        arrived(.message, from: user, payload: payload)
    }

    mutating func receivedPacket(from user: String, flow: UInt32, sequence: UInt32, payload: [UInt8]) {
        guard senders[user] != nil else { return }
        var entry = flows[flow] ?? Flow(publisher: user)
        if sequence <= entry.newest { report(.sequenceOrder, "flow \(flow): \(sequence) after \(entry.newest)") }
        entry.newest = max(entry.newest, sequence)
        if !entry.covered.insert(sequence, sequence) { report(.sequenceTwice, "flow \(flow): \(sequence)") }
        flows[flow] = entry
        senders[user]!.packetsDelivered += 1
        arrived(.packet, from: user, payload: payload)
    }

    /// `last` is `nil` where the relay could not say how many there were.
    mutating func lost(from user: String, flow: UInt32, first: UInt32, last: UInt32?) {
        guard senders[user] != nil else { return }
        guard let last else { return report(.lossUnknown, "flow \(flow) from \(first) on") }
        guard first <= last else { return report(.sequenceTwice, "flow \(flow): lost \(first)…\(last)") }
        var entry = flows[flow] ?? Flow(publisher: user)
        if !entry.covered.insert(first, last) { report(.sequenceTwice, "flow \(flow): lost \(first)…\(last)") }
        entry.newest = max(entry.newest, last)
        flows[flow] = entry
        senders[user]!.packetsLost += Int(last - first) + 1
    }

    mutating func missedMessages() { report(.messagesMissed, "") }

    /// The receiver stopped waiting.
    mutating func gaveUp() { report(.incomplete, "") }

    private mutating func arrived(_ lane: Lane, from user: String, payload: [UInt8]) {
        let isOfRecord = senders[user]!.places[Key(lane: lane, payload: payload, isOfBoard: true)] != nil
        guard let places = senders[user]!.places[Key(lane: lane, payload: payload)] else {
            if isOfRecord { return }
            return report(lane == .message ? .unknownMessage : .unknownPacket, "\(payload.count) bytes from \(user)")
        }
        // Equal payloads: the first of them that has not come yet is meant. A record may come again and again, and at any time.
        guard let place = places.first(where: { !senders[user]!.sent[$0].isDelivered }) else {
            return isOfRecord ? () : report(.twice, "\(lane.rawValue) \(places[0]) of \(user)")
        }
        if isOfRecord { return senders[user]!.sent[place].isDelivered = true }
        let newest = senders[user]!.newest
        if senders[user]!.sent[place].isRefused { report(.refusedDelivered, "\(lane.rawValue) \(place) of \(user)") }
        if place < newest {
            let later = senders[user]!.sent[newest].lane
            report(.overtaken, "\(lane.rawValue) \(place) of \(user) after \(later.rawValue) \(newest)")
        }
        senders[user]!.sent[place].isDelivered = true
        senders[user]!.newest = max(newest, place)
    }

    private mutating func report(_ violation: Violation, _ detail: String) {
        violations[violation, default: 0] += 1
        if examples.count < 10 { examples.append(violation.rawValue + (detail.isEmpty ? "" : ": " + detail)) }
    }

    // MARK: The verdict

    struct Report: Sendable, Equatable {
        var messagesAccepted = 0
        var messagesDelivered = 0
        var packetsAccepted = 0
        var packetsDelivered = 0
        var packetsLost = 0
        var violations: [Violation: Int] = [:]
        var examples: [String] = []

        var isKept: Bool { violations.isEmpty }
    }

    /// Call once everything has arrived that will.
    mutating func finish() -> Report {
        var total = Report()
        for user in senders.keys.sorted() {
            let sender = senders[user]!
            var packets = 0
            for (place, sent) in sender.sent.enumerated() where !sent.isRefused && !sent.isOfBoard {
                switch sent.lane {
                case .message where sent.isUncertain && !sent.isDelivered: continue
                case .message:
                    total.messagesAccepted += 1
                    if sent.isDelivered {
                        total.messagesDelivered += 1
                    } else {
                        report(.missingMessage, "message \(place) of \(user)")
                    }
                case .packet: packets += 1
                }
            }
            let accepted = packets - sender.packetsDropped
            let flowsTold = flows.values.filter { $0.publisher == user }
            // Sequences count accepted packets from 1 without holes: so they must be covered.
            let covered = flowsTold.reduce(0) { $0 + $1.covered.count }
            let highest = flowsTold.reduce(0) { $0 + Int($1.newest) }
            if accepted != sender.packetsDelivered + sender.packetsLost || covered != accepted || highest != accepted {
                report(
                    .packetCount,
                    "\(user): \(accepted) accepted, \(sender.packetsDelivered) delivered, \(sender.packetsLost) reported lost")
            }
            total.packetsAccepted += accepted
            total.packetsDelivered += sender.packetsDelivered
            total.packetsLost += sender.packetsLost
        }
        total.violations = violations
        total.examples = examples
        return total
    }
}
