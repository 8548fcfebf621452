import BoardFormat
import RelayClient
import RelayIO
import RelayWire

/// A second connection that looks on while a replay draws, and holds what arrives against what was sent.
final class ReplayWitness: Sendable {
    private struct Book {
        var verifier = ReplayVerifier()
        /// Drawing users who still publish points, or have not begun to.
        var drawing: Set<String> = []
        var hasSnapshot = false
        /// The places of each step of a user in the order of what that user sends.
        var places: [String: [Range<Int>]] = [:]
        var newestAccepted: UInt64 = 0
        var newestArrived: UInt64 = 0
        var sendersAreDone = false

        /// Whether nothing more can come: all have left the topic, which comes after their last packet, and the last
        /// message that was accepted is here.
        var isComplete: Bool { sendersAreDone && drawing.isEmpty && newestArrived >= newestAccepted }
    }

    private let client: WhiteboardClient
    private let channel: String
    /// Change sets are caught up with: what is missed meanwhile is told, and may have been replaced.
    private let isLesson: Bool
    private let book = Mutex(Book())

    /// Nobody sees it: it is in no count.
    static func enter(_ client: WhiteboardClient, channel: String, plans: [(user: String, plan: ReplayPlan)]) async throws -> ReplayWitness
    {
        try await client.subscribe(channel, features: [.messages], quiet: true)
        let stream = try await client.join(channel, features: [], quiet: true)
        try await stream.subscribeTopic(BoardWords.pointsTopic, users: .all)
        return ReplayWitness(client, channel: channel, plans: plans)
    }

    private init(_ client: WhiteboardClient, channel: String, plans: [(user: String, plan: ReplayPlan)]) {
        self.client = client
        self.channel = channel
        isLesson = plans.contains { $0.plan.isLesson }
        book.withLock { book in
            for (user, plan) in plans {
                if plan.topics.contains(BoardWords.pointsTopic) { book.drawing.insert(user) }
                var next = 0
                for step in plan.steps {
                    let arriving = step.arriving
                    for payload in arriving {
                        book.verifier.sends(
                            step.lane == .message ? .message : .packet, from: user, payload: payload, isOfBoard: step.isOfBoard)
                    }
                    book.places[user, default: []].append(next..<next + arriving.count)
                    next += arriving.count
                }
            }
        }
    }

    // MARK: What the senders know

    func accepted(offset: UInt64) { book.withLock { $0.newestAccepted = max($0.newestAccepted, offset) } }
    /// - Parameter step: its place in the plan.
    func refused(_ step: Int, from user: String) {
        book.withLock { book in for place in book.places[user]![step] { book.verifier.refused(place, from: user) } }
    }
    func uncertain(_ step: Int, from user: String) {
        book.withLock { book in for place in book.places[user]![step] { book.verifier.uncertain(place, from: user) } }
    }
    func dropped(_ count: Int, from user: String) { book.withLock { $0.verifier.dropped(count, from: user) } }

    /// Everything was sent and answered.
    func sendersAreDone() async {
        let isComplete = book.withLock { book in
            book.sendersAreDone = true
            return book.isComplete
        }
        if isComplete { await client.close() }
    }

    // MARK: What arrives

    /// Reads until everything is here, or the client is closed by others.
    func watch() async {
        for await event in client.told {
            let isComplete = book.withLock { book in
                note(event, in: &book)
                return book.isComplete
            }
            if isComplete { await client.close() }
        }
    }

    private func note(_ event: ClientEvent, in book: inout Book) {
        switch event {
        case .board(let batch): for message in batch.messages { note(.message(message), in: &book) }
        case .message(let message) where message.channel == channel:
            book.newestArrived = max(book.newestArrived, message.offset)
            book.verifier.receivedMessage(from: message.sender, offset: message.offset, payload: message.payload.bytes)
        case .cleared(let cleared) where cleared.channel == channel: book.newestArrived = max(book.newestArrived, cleared.offset)
        case .caughtUp(channel, let head) where isLesson: book.newestArrived = max(book.newestArrived, head)
        case .packet(let packet) where packet.channel == channel && packet.topic == BoardWords.pointsTopic:
            book.verifier.receivedPacket(
                from: packet.publisher, flow: packet.flow, sequence: packet.sequence, payload: packet.payload.bytes)
        case .packetsLost(let lost):
            for entry in lost.entries where entry.channel == channel && entry.topic == BoardWords.pointsTopic {
                book.verifier.lost(from: entry.publisher, flow: entry.flow, first: entry.first, last: entry.last)
            }
        case .messagesMissed(let missed) where missed.channel == channel && !isLesson: book.verifier.missedMessages()
        case .topics(let change) where change.channel == channel:
            let users = change.publishers.filter { $0.topic == BoardWords.pointsTopic }.map(\.user)
            switch change.kind {
            case .left: book.drawing.subtract(users)
            case .joined: break
            case .snapshot:
                // The second one comes after a broken link: a user who is not in it has left meanwhile.
                if book.hasSnapshot { book.drawing.formIntersection(users) }
                book.hasSnapshot = true
            }
        case .message, .cleared, .packet, .direct, .presence, .topics, .metadata, .locks, .packetsDropped, .messagesMissed, .caughtUp,
            .refused, .accessExpiring, .accessChanged, .channelMode, .joinCodeEnded, .link:
            break
        }
    }

    /// The verdict; the waiting is over.
    func finish() -> ReplayVerifier.Report {
        book.withLock { book in
            if !book.isComplete { book.verifier.gaveUp() }
            return book.verifier.finish()
        }
    }
}
