package import RelayPrimitives
import RelayWire

/// Who follows the log, over all connections.
///
/// The consumer is JetStream's, pushes, and is never acknowledged: whatever is wrong with it, another one is made that begins with the
/// entry that is wanted. Before each one the leader says where the log begins and ends, because a consumer that is to begin behind the end
/// of a log that has lost entries waits in silence.
struct Follower: Sendable {
    private(set) var wanted: UInt64
    /// Answers to an earlier one are of no interest.
    private(set) var attempt: UInt64 = 0
    var subscription: UInt64?
    /// How many entries the consumer has delivered.
    private(set) var delivered: UInt64 = 0
    /// When there must have been a heartbeat, or it is time for another attempt; `nil` while it waits for an answer or a connection.
    var deadline: Instant?

    init(from wanted: UInt64) { self.wanted = wanted }

    mutating func begin(attempt: UInt64) { (self.attempt, delivered, deadline) = (attempt, 0, nil) }

    mutating func pause() { (subscription, deadline) = (nil, nil) }

    mutating func took() {
        wanted += 1
        delivered += 1
    }
}

extension JetStreamLog {
    private func consumer(_ wanted: UInt64, to inbox: String) -> JSONValue {
        PushConsumer.creation(of: stream, to: inbox, [
            JSONMember(key: "deliver_policy", value: "by_start_sequence"),
            JSONMember(key: "opt_start_seq", value: .integer(Int(clamping: wanted))),
        ])
    }

    /// Follows from a sequence: `entry` for each entry that there is and comes, `missing` if one cannot come. Ends an earlier following.
    ///
    /// - Parameter sequence: at least 1.
    package mutating func follow(from sequence: UInt64, at now: Instant) throws(NATSError) {
        try unfollow()
        follower = Follower(from: max(1, sequence))
        try listen(at: now)
    }

    package mutating func unfollow() throws(NATSError) {
        try endSubscription()
        follower = nil
    }

    private mutating func endSubscription() throws(NATSError) {
        guard let subscription = follower?.subscription else { return }
        follower?.subscription = nil
        try machine?.unsubscribe(subscription)
    }

    /// Another attempt, if there is a connection.
    mutating func listen(at now: Instant) throws(NATSError) {
        guard case .open = opening, follower != nil else { return }
        try endSubscription()
        lastAttempt += 1
        follower?.begin(attempt: lastAttempt)
        try ask("STREAM.INFO", call: .examine(attempt: lastAttempt), at: now)
    }

    mutating func examined(_ answer: Result<JSONValue, LogFailure>, attempt: UInt64, at now: Instant) throws(NATSError) {
        switch try ends(answer) {
        case .failure: postpone(attempt: attempt, at: now)
        case .success(let ends):
            guard let wanted = follower?.wanted, follower?.attempt == attempt, machine != nil else { return }
            guard ends.first <= wanted, wanted <= ends.last + 1 else {
                follower = nil
                return events.append(.missing(wanted, ends))
            }
            let (number, inbox) = try machine!.subscribe("follow")
            follower?.subscription = number
            follower?.deadline = now + PushConsumer.silence
            try ask("CONSUMER.CREATE", consumer(wanted, to: inbox), call: .consume(attempt: attempt), at: now)
        }
    }

    /// Another attempt later.
    mutating func postpone(attempt: UInt64, at now: Instant) {
        if follower?.attempt == attempt { follower?.deadline = now + Self.retryAfter }
    }

    mutating func deliver(_ message: NATSMessage, at now: Instant) throws(NATSError) {
        guard let follower, follower.subscription == message.subscription else { return }
        self.follower?.deadline = now + PushConsumer.silence
        if message.header?.status == 100 { return try control(message, at: now) }
        guard let place = EntryPlace(message.reply), place.stream == stream else {
            throw .unexpected("an entry whose place is \(Array((message.reply ?? "not told").utf8).excerpt)")
        }
        guard place.delivered == follower.delivered + 1, place.sequence == follower.wanted else { return try listen(at: now) }
        self.follower?.took()
        lastKnown = max(lastKnown, place.sequence)
        events.append(.entry(StreamEntry(sequence: place.sequence, id: message.header?[.messageID], payload: message.payload)))
    }

    private mutating func control(_ message: NATSMessage, at now: Instant) throws(NATSError) {
        if let subject = message.flowControl { try machine?.publish(subject) }
        if let last = message.lastDelivered, last != follower?.delivered { try listen(at: now) }
    }
}
