import BoardFormat
import RelayClient
import RelayConsole
import RelayWire

/// Makes lines of a recorded lesson from the events of a reader of the board.
///
/// What stands at the start waits until all of it has come: the lines tell it as records at 0, and time begins then.
struct LessonRecorder: Sendable {
    /// The live topics of a board.
    static let topics = [BoardWords.pointsTopic, "cursors"]

    private enum State {
        /// All records that stand by now, by key.
        case reading([String: Message])
        /// Since when, on the caller's clock.
        case live(since: Duration)
    }

    private struct Stay: Hashable, Comparable {
        var topic: String
        var user: String
        var device: String

        static func < (left: Stay, right: Stay) -> Bool {
            (left.topic, left.user, left.device) < (right.topic, right.user, right.device)
        }
    }

    private let channel: String
    private var state = State.reading([:])
    private var paper: String?
    private var last = 0
    private var isBroken = false
    /// Who publishes where.
    private var stays: Set<Stay> = []
    private(set) var missed = 0

    init(_ channel: String) { self.channel = channel }

    var isLive: Bool { if case .live = state { true } else { false } }

    /// - Parameters:
    ///   - now: since any start.
    ///   - time: now, in ms since 1970.
    /// - Returns: what is to be written, in order.
    mutating func note(_ event: ClientEvent, at now: Duration, time: Int) -> [LessonEvent] {
        switch state {
        case .reading(var records):
            if case .caughtUp(channel, head: _) = event {
                state = .live(since: now)
                let standing = records.values.sorted { $0.offset < $1.offset }.flatMap(Self.lines)
                let papers = paper.map { [LessonEvent.Kind.paper($0)] } ?? []
                return ([.begin(time: time)] + papers + standing).map { LessonEvent(at: 0, $0) }
            }
            for message in messages(of: event) where message.isRetained {
                records[message.key ?? ""] = message.isRemoval ? nil : message
            }
            switch event {
            case .cleared(let cleared) where cleared.channel == channel: records = [:]
            case .messagesMissed(let missed) where missed.channel == channel && missed.extent == .reset: records = [:]
            case .metadata(let change): _ = papers(change)
            case .topics(let change): _ = left(change)
            default: break
            }
            state = .reading(records)
            return []
        case .live(let since):
            let kinds = kinds(of: event)
            guard !kinds.isEmpty else { return [] }
            last = max(last, 1, Int((now - since) / .milliseconds(1)))
            // A change set is told as a whole, and so are the records that a page of a catch-up has.
            var isSet = false
            if case .board = event { isSet = true }
            return kinds.enumerated().map { LessonEvent(at: last, $1, more: isSet && $0 < kinds.count - 1) }
        }
    }

    /// The recorder is told to stop.
    func end(at now: Duration) -> [LessonEvent] {
        guard case .live(let since) = state else { return [] }
        return [LessonEvent(at: max(last, 1, Int((now - since) / .milliseconds(1))), .end)]
    }

    private mutating func kinds(of event: ClientEvent) -> [LessonEvent.Kind] {
        switch event {
        case .message, .board: return messages(of: event).flatMap(Self.lines)
        case .cleared(let cleared) where cleared.channel == channel: return [.clear(by: cleared.user)]
        case .packet(let packet) where packet.channel == channel:
            return [.packet(.init(packet.payload), topic: packet.topic, by: packet.publisher, device: packet.device)]
        case .topics(let change): return left(change)
        case .metadata(let change): return papers(change)
        case .packetsLost(let lost):
            let entries = lost.entries.filter { $0.channel == channel }
            guard !entries.isEmpty else { return [] }
            let isKnown = entries.allSatisfy { $0.last != nil }
            missed += 1
            return [.missed(.packets, count: isKnown ? entries.reduce(0) { $0 + Int($1.last! - $1.first) + 1 } : nil)]
        case .messagesMissed(let missed) where missed.channel == channel:
            self.missed += 1
            switch missed.extent {
            case .range(let range): return [.missed(.messages, count: Int(clamping: range.upperBound - range.lowerBound + 1))]
            case .reset: return [.missed(.messages, count: nil), .reset]
            }
        case .link(.waiting):
            // It is told once, however often the client tries.
            defer { isBroken = true }
            return isBroken ? [] : [.broken]
        case .link(.connected):
            isBroken = false
            return []
        case .cleared, .packet, .messagesMissed, .direct, .presence, .locks, .packetsDropped, .caughtUp, .refused,
            .accessExpiring, .accessChanged, .channelMode, .joinCodeEnded, .link:
            return []
        }
    }

    private func messages(of event: ClientEvent) -> [Message] {
        switch event {
        case .message(let message) where message.channel == channel: [message]
        case .board(let batch) where batch.channel == channel: batch.messages
        default: []
        }
    }

    private static func lines(_ message: Message) -> [LessonEvent.Kind] {
        let payload = WhiteboardRecord.Payload(message.payload)
        guard message.isRetained, let key = message.key else {
            return [.message(payload, customType: message.customType, key: message.key, by: message.sender)]
        }
        if message.isRemoval { return [.removal(key: key, by: message.sender)] }
        return [.record(WhiteboardRecord(key: key, customType: message.customType, payload: payload), by: message.sender)]
    }

    /// The board's paper, if it has changed.
    private mutating func papers(_ change: MetadataChange) -> [LessonEvent.Kind] {
        guard change.owner == .message(channel) else { return [] }
        let now = change.items[BoardWords.paperItem]?.value
        guard now != paper else { return [] }
        paper = now
        return [.paper(now)]
    }

    /// Who is there no more.
    private mutating func left(_ change: TopicsChange) -> [LessonEvent.Kind] {
        guard change.channel == channel else { return [] }
        let told = Set(change.publishers.map { Stay(topic: $0.topic, user: $0.user, device: $0.device) })
        var gone: Set<Stay> = []
        switch change.kind {
        case .snapshot: (gone, stays) = (stays.subtracting(told), told)
        case .joined: stays.formUnion(told)
        case .left: (gone, stays) = (told, stays.subtracting(told))
        }
        return gone.filter { Self.topics.contains($0.topic) }.sorted().map { .left(topic: $0.topic, by: $0.user, device: $0.device) }
    }
}
