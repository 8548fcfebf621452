package import RelayPrimitives
import RelayWire

/// A log in a stream of NATS JetStream: entries behind each other, each appended only where its writer saw the end.
///
/// A connection is examined before anything is asked over it: the server by its INFO, the stream by its settings (`StreamRules`). It is
/// used as `NATSMachine` is. Behind an error its user calls `disconnected`, and `connected` with the next connection, to any server of the
/// cluster; who follows then gets the next entry.
///
/// The owner's signs of life are entries like all others, and go when the log is trimmed. The roll-ups that would keep only the newest
/// (`Nats-Rollup: sub`) are refused: they make holes, and so hide those that a loss makes.
package struct JetStreamLog: Sendable {
    enum Call: Sendable {
        case open(isCreation: Bool)
        case append(Append)
        /// Whose entry stands where an append wanted to be.
        case compare(Append, last: UInt64)
        case ends
        case read(UInt64)
        case trim(UInt64)
        case examine(attempt: UInt64), consume(attempt: UInt64)
    }

    struct Append: Sendable {
        var id: String
        var after: UInt64
        var deadline: Instant
    }

    /// How long an answer may take. An election of a leader takes longer: whoever appends asks again.
    package static let answerWithin = Duration.seconds(2)
    static let retryAfter = Duration.milliseconds(500)

    let stream: String
    let subject: String
    let rules: StreamRules
    /// Whether a stream that is not there is made.
    package var makesStream: Bool
    private let login: NATSLogin
    /// Whether a server without TLS is refused, from the next connection on.
    package var needsTLS: Bool
    var machine: NATSMachine<Call>?
    var opening = StreamOpening.closed
    var follower: Follower?
    var lastAttempt: UInt64 = 0
    var events: [LogEvent] = []
    /// The last entry that this side knows of.
    var lastKnown: UInt64 = 0

    /// - Parameter stream: 1 to 64 letters, digits, `-` and `_`; nothing else may be in it, and its one subject is `boardrelay.NAME`.
    package init(stream: String, rules: StreamRules = .durable, makesStream: Bool = true, login: NATSLogin, needsTLS: Bool) {
        precondition(isWord(stream), "a stream's name of other than 1 to \(NATSLimits.nameBytesMax) letters and digits")
        (self.stream, subject, self.rules, self.login, self.needsTLS) = (stream, "boardrelay.\(stream)", rules, login, needsTLS)
        self.makesStream = makesStream
    }

    // MARK: - The connection

    /// - Parameter inbox: letters and digits that nobody can guess, others for each connection.
    package mutating func connected(inbox: String, at now: Instant) {
        disconnected(at: now)
        machine = NATSMachine(login: login, needsTLS: needsTLS, inbox: inbox, at: now)
    }

    /// The connection is gone, or is to go. Whatever waited for an answer is unknown.
    package mutating func disconnected(at now: Instant) {
        machine?.end()
        for case .answered(let call, let result) in machine?.takeEvents() ?? [] {
            // None of these answers makes it ask anew.
            try? handle(call, result.answer(bytesMax: 0), at: now)
        }
        (machine, opening) = (nil, .closed)
        follower?.pause()
    }

    package mutating func takeOutput() -> [UInt8] { machine?.takeOutput() ?? [] }

    package mutating func takeEvents() -> [LogEvent] {
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
        var next = Instant.earlier(machine.nextDeadline, follower?.deadline)
        if case .waiting(let time) = opening { next = .earlier(next, time) }
        return next
    }

    package mutating func deadlineReached(at now: Instant) throws(NATSError) {
        try machine?.deadlineReached(at: now)
        try handleEvents(at: now)
        if case .waiting(let time) = opening, time <= now { try open(at: now) }
        if let deadline = follower?.deadline, deadline <= now { try listen(at: now) }
    }

    // MARK: - The calls

    /// Most bytes of one entry, over this connection; 0 without one.
    package var entryBytesMax: Int {
        guard let info = machine?.info else { return 0 }
        return min(info.payloadBytesMax, NATSLimits.payloadBytesMax) - NATSLimits.appendHeaderBytes
    }

    /// Appends an entry if the log ends at `after`: `appended`, with the same id.
    ///
    /// An append that was asked again is found by its id: by the server while its `duplicate_window` lasts, if it looks there before it
    /// compares the sequence, and always by this log's own look at the entry that stands in its place.
    ///
    /// - Parameter id: 1 to 64 letters, digits, `-` and `_` that no other entry of the log has.
    /// - Throws: `notOpen`, `payloadTooLarge`, `tooManyRequests` or `outputFull`; nothing is sent then.
    package mutating func append(_ entry: [UInt8], after: UInt64, id: String, at now: Instant) throws(NATSError) {
        precondition(after < .max && isWord(id), "an id of other than 1 to \(NATSLimits.nameBytesMax) letters and digits")
        try requireOpen()
        let append = Append(id: id, after: after, deadline: now + Self.answerWithin)
        let header = [("Nats-Expected-Stream", stream), ("Nats-Expected-Last-Sequence", "\(after)"), (.messageID, id)]
        guard entry.count <= entryBytesMax else { throw .payloadTooLarge(limit: entryBytesMax, actual: UInt64(entry.count)) }
        try request(subject, header: header, entry, call: .append(append), deadline: append.deadline)
    }

    /// Asks the leader where the log begins and ends: `ends`.
    package mutating func readEnds(at now: Instant) throws(NATSError) { try ask("STREAM.INFO", call: .ends, at: now) }

    /// Asks the leader for one entry: `read`.
    package mutating func read(_ sequence: UInt64, at now: Instant) throws(NATSError) {
        try askForEntry(sequence, call: .read(sequence), at: now)
    }

    /// Takes away all entries before one: `trimmed`.
    ///
    /// - Parameter sequence: at most 1 more than the last entry that was appended, followed, or told by `ends` or `opened`.
    /// - Throws: `trimBeyondEnd`, or as `append` does.
    package mutating func trim(below sequence: UInt64, at now: Instant) throws(NATSError) {
        try requireOpen()
        guard sequence <= lastKnown + 1 else { throw .trimBeyondEnd(last: lastKnown, actual: sequence) }
        // For a server 0 is all.
        guard sequence > 1 else { return events.append(.trimmed(sequence, nil)) }
        try ask("STREAM.PURGE", ["seq": .integer(Int(clamping: sequence))], call: .trim(sequence), at: now)
    }

    mutating func askForEntry(_ sequence: UInt64, call: Call, at now: Instant) throws(NATSError) {
        try ask("STREAM.MSG.GET", ["seq": .integer(Int(clamping: sequence))], call: call, at: now)
    }

    private func requireOpen() throws(NATSError) {
        guard case .open = opening else { throw .notOpen }
    }

    mutating func ask(_ what: String, _ body: JSONValue? = nil, call: Call, at now: Instant) throws(NATSError) {
        try request("$JS.API.\(what).\(stream)", body?.bytes ?? [], call: call, deadline: now + Self.answerWithin)
    }

    private mutating func request(
        _ subject: String, header: [(name: String, value: String)] = [], _ payload: [UInt8], call: Call, deadline: Instant
    ) throws(NATSError) {
        if case .open = call {} else { try requireOpen() }
        try machine?.request(subject, header: header, payload, call: call, deadline: deadline)
    }
}
