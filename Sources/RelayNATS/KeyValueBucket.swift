package import RelayPrimitives
import RelayWire

/// A value of a bucket, or that a key has none any more.
package struct BucketEntry: Equatable, Sendable {
    package let key: String
    package let value: [UInt8]
    /// Of the bucket: rises with each change of any key.
    package let revision: UInt64
}

/// A key-value bucket of NATS (ADR-8): a stream that keeps the newest value of each key. All its values are told, then each change.
///
/// It is used as `JetStreamLog` is: over each connection all values are told anew. Keys are never removed: a value says what is gone, or a
/// value ends by itself, which is not told. An answer to `put` may be lost: whether it was taken is told with the values.
package struct KeyValueBucket: Sendable {
    package enum Event: Equatable, Sendable {
        /// Begin TLS, then call `secured`.
        case startTLS
        /// The server and the bucket are what they must be; calls are taken. Values follow.
        case opened(ServerInfo)
        /// The bucket cannot be examined, for now; it is asked again.
        case notOpened(LogFailure)
        case denied(String)
        case entry(BucketEntry)
        /// All values that there were have been told over this connection.
        case complete
        case put(key: String, Result<UInt64, LogFailure>)
        case streamRemoved(String, LogFailure?)
    }

    enum Call: Sendable {
        case open(isCreation: Bool)
        case put(String)
        case removeStream(String)
        case watch(attempt: UInt64)
    }

    /// The consumer of this connection.
    private struct Watch {
        var attempt: UInt64
        var subscription: UInt64
        var delivered: UInt64 = 0
        var isComplete = false
        var deadline: Instant
    }

    private let name: String
    private let stream: String
    private let rules: StreamRules
    private let login: NATSLogin
    /// Whether a server without TLS is refused, from the next connection on.
    package var needsTLS: Bool
    private var machine: NATSMachine<Call>?
    private var opening = StreamOpening.closed
    private var watch: Watch?
    private var lastAttempt: UInt64 = 0
    private var events: [Event] = []

    /// - Parameter name: 1 to 60 letters, digits, `-` and `_`.
    package init(name: String, rules: StreamRules = .bucket, login: NATSLogin, needsTLS: Bool) {
        (self.name, stream, self.rules, self.login, self.needsTLS) = (name, "KV_\(name)", rules, login, needsTLS)
        precondition(isWord(stream), "a bucket's name of other than letters and digits")
    }

    private func subject(of key: String) -> String { "$KV.\(name).\(key)" }

    // MARK: - The connection

    /// - Parameter inbox: letters and digits that nobody can guess, others for each connection.
    package mutating func connected(inbox: String, at now: Instant) {
        disconnected(at: now)
        machine = NATSMachine(login: login, needsTLS: needsTLS, inbox: inbox, at: now)
    }

    /// The connection is gone, or is to go. What waits for an answer gets none.
    package mutating func disconnected(at now: Instant) {
        machine?.end()
        for case .answered(let call, let result) in machine?.takeEvents() ?? [] {
            try? handle(call, result.answer(bytesMax: 0), at: now)
        }
        (machine, opening, watch) = (nil, .closed, nil)
    }

    package mutating func takeOutput() -> [UInt8] { machine?.takeOutput() ?? [] }

    package mutating func takeEvents() -> [Event] {
        defer { events = [] }
        return events
    }

    package mutating func secured() throws(NATSError) { try machine?.secured() }

    /// - Throws: what makes the connection useless. Events from before it stay.
    package mutating func receive(_ bytes: UnsafeRawBufferPointer, at now: Instant) throws(NATSError) {
        var position = 0
        while position < bytes.count {
            guard try machine?.receive(bytes, &position, at: now) != nil else { return }
            try handleEvents(at: now)
        }
    }

    package var nextDeadline: Instant? {
        guard let machine else { return nil }
        var next = Instant.earlier(machine.nextDeadline, watch?.deadline)
        if case .waiting(let time) = opening { next = .earlier(next, time) }
        return next
    }

    package mutating func deadlineReached(at now: Instant) throws(NATSError) {
        try machine?.deadlineReached(at: now)
        try handleEvents(at: now)
        if case .waiting(let time) = opening, time <= now { try open(at: now) }
        if let deadline = watch?.deadline, deadline <= now { try listen(at: now) }
    }

    // MARK: - The calls

    /// Gives a key a value: `put`.
    ///
    /// - Parameters:
    ///   - key: words of letters, digits, `-` and `_` with dots between them.
    ///   - expected: the revision of the value that it has now, 0 for none; `nil`: whichever.
    ///   - seconds: after so many the value ends by itself, unless another one replaces it; `nil`: never.
    /// - Throws: `notOpen`, `payloadTooLarge`, `tooManyRequests` or `outputFull`; nothing is sent then.
    package mutating func put(
        _ value: [UInt8], for key: String, expected: UInt64? = nil, endsAfter seconds: Int? = nil, at now: Instant
    ) throws(NATSError) {
        precondition(key.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { isWord(String($0)) }, "a key of other words")
        var header = [("Nats-Expected-Stream", stream)]
        if let expected { header.append(("Nats-Expected-Last-Subject-Sequence", "\(expected)")) }
        if let seconds { header.append(("Nats-TTL", "\(seconds)s")) }
        try request(subject(of: key), header: header, value, call: .put(key), at: now)
    }

    /// Takes a whole stream away, with all that it has: `streamRemoved`.
    package mutating func removeStream(_ name: String, at now: Instant) throws(NATSError) {
        precondition(isWord(name), "a stream's name of other than letters and digits")
        try request("$JS.API.STREAM.DELETE.\(name)", [], call: .removeStream(name), at: now)
    }

    private mutating func request(
        _ subject: String, header: [(name: String, value: String)] = [], _ payload: [UInt8], call: Call, at now: Instant
    ) throws(NATSError) {
        if case .open = call {} else { guard case .open = opening else { throw .notOpen } }
        try machine?.request(subject, header: header, payload, call: call, deadline: now + JetStreamLog.answerWithin)
    }

    // MARK: - What comes

    private mutating func handleEvents(at now: Instant) throws(NATSError) {
        for event in machine?.takeEvents() ?? [] {
            switch event {
            case .startTLS: events.append(.startTLS)
            case .ready: try open(at: now)
            case .denied(let text): events.append(.denied(text))
            case .delivered(let message): try deliver(message, at: now)
            case .answered(let call, let result): try handle(call, result.answer(bytesMax: NATSLimits.answerBytesMax), at: now)
            }
        }
    }

    private mutating func handle(_ call: Call, _ answer: Result<JSONValue, LogFailure>, at now: Instant) throws(NATSError) {
        switch call {
        case .open(let isCreation): try opened(answer, isCreation: isCreation, at: now)
        case .put(let key):
            let revision = answer.flatMap { json in
                json["stream"]?.text == stream ? json["seq"]?.sequence.map { .success($0) } ?? Self.noRevision : Self.noRevision
            }
            events.append(.put(key: key, revision))
        case .removeStream(let name):
            if case .failure(let failure) = answer, failure.code != LogFailure.streamNotFound {
                events.append(.streamRemoved(name, failure))
            } else {
                events.append(.streamRemoved(name, nil))
            }
        case .watch(let attempt):
            guard watch?.attempt == attempt else { return }
            switch answer {
            case .success(let json): if json["num_pending"] == 0 { complete() }
            case .failure: watch?.deadline = now + JetStreamLog.retryAfter
            }
        }
    }

    private static let noRevision = Result<UInt64, LogFailure>.failure(.badAnswer("no revision"))

    private mutating func complete() {
        guard watch?.isComplete == false else { return }
        watch?.isComplete = true
        events.append(.complete)
    }

    // MARK: - Opening

    private mutating func open(at now: Instant) throws(NATSError) {
        opening = .asking
        try request("$JS.API.STREAM.INFO.\(stream)", [], call: .open(isCreation: false), at: now)
    }

    private mutating func opened(_ answer: Result<JSONValue, LogFailure>, isCreation: Bool, at now: Instant) throws(NATSError) {
        switch answer {
        case .failure(let failure) where !isCreation && failure.code == LogFailure.streamNotFound:
            let settings = rules.creation(of: stream, subject: subject(of: ">"))
            try request("$JS.API.STREAM.CREATE.\(stream)", settings.bytes, call: .open(isCreation: true), at: now)
        case .failure(let failure):
            opening = .waiting(until: now + JetStreamLog.retryAfter)
            events.append(.notOpened(failure))
        case .success(let json):
            guard try rules.examine(json, stream: stream, subject: subject(of: ">")) != nil, let info = machine?.info else {
                opening = .waiting(until: now + JetStreamLog.retryAfter)
                return events.append(.notOpened(.badAnswer("no description of stream \(stream)")))
            }
            opening = .open
            events.append(.opened(info))
            try listen(at: now)
        }
    }

    // MARK: - Watching

    /// All values from the beginning, over a consumer of its own.
    private mutating func listen(at now: Instant) throws(NATSError) {
        if let watch { try machine?.unsubscribe(watch.subscription) }
        guard let (number, inbox) = try machine?.subscribe("watch") else { return }
        lastAttempt += 1
        watch = Watch(attempt: lastAttempt, subscription: number, deadline: now + PushConsumer.silence)
        let consumer = PushConsumer.creation(of: stream, to: inbox, [
            JSONMember(key: "deliver_policy", value: "last_per_subject"),
            JSONMember(key: "filter_subject", value: .string(subject(of: ">"))),
        ])
        try request("$JS.API.CONSUMER.CREATE.\(stream)", consumer.bytes, call: .watch(attempt: lastAttempt), at: now)
    }

    private mutating func deliver(_ message: NATSMessage, at now: Instant) throws(NATSError) {
        guard let known = watch, known.subscription == message.subscription else { return }
        watch?.deadline = now + PushConsumer.silence
        if message.header?.status == 100 {
            if let subject = message.flowControl { try machine?.publish(subject) }
            if let last = message.lastDelivered, last != known.delivered { try listen(at: now) }
            return
        }
        let prefix = subject(of: "")
        guard let place = EntryPlace(message.reply), place.stream == stream, message.subject.hasPrefix(prefix) else {
            throw .unexpected("a value whose place is \(Array((message.reply ?? "not told").utf8).excerpt)")
        }
        guard place.delivered == known.delivered + 1 else { return try listen(at: now) }
        watch?.delivered += 1
        let key = String(message.subject.dropFirst(prefix.utf8.count))
        events.append(.entry(BucketEntry(key: key, value: message.payload, revision: place.sequence)))
        if place.pending == 0 { complete() }
    }
}
