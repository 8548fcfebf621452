package import RelayPrimitives

/// One connection to a NATS server, without its socket: bytes in, events and bytes to send out.
///
/// Whoever has it gives it what comes (`receive`), wakes it at `nextDeadline` (`deadlineReached`), and after each call sends what
/// `takeOutput` gives and carries out its events. Behind an error it does nothing any more: `end` tells which requests have no answer.
///
/// `Call` is what an asker wants to have again beside the answer.
package struct NATSMachine<Call: Sendable>: Sendable {
    package enum Event: Sendable {
        /// Begin TLS, then call `secured`.
        case startTLS
        /// The server has taken the login.
        case ready(ServerInfo)
        /// Once for each request.
        case answered(Call, Result<NATSMessage, NoAnswer>)
        /// For another subscription than that of the answers.
        case delivered(NATSMessage)
        /// This user may not publish or subscribe there. The connection lives.
        case denied(String)
    }

    private enum State {
        case waiting, securing
        /// CONNECT is sent, its PONG has not come.
        case greeting
        case ready
        case failed(NATSError)
    }

    private struct Request {
        var number: UInt64
        var call: Call
        var deadline: Instant
    }

    /// Silence after which the server is asked for a sign of life, and again as much after which the connection is of no use.
    private static var silence: Duration { .seconds(5) }
    /// Of the subscription for all answers; others follow.
    private static var answers: UInt64 { 1 }

    private var state = State.waiting
    private var parser = NATSParser()
    private let login: NATSLogin
    private let needsTLS: Bool
    private let inbox: String
    package private(set) var info: ServerInfo?
    private var output: [UInt8] = []
    private var events: [Event] = []
    /// In the order of their numbers.
    private var requests: [Request] = []
    private var lastRequest: UInt64 = 0
    private var lastSubscription = Self.answers
    private var subscriptions: Set<UInt64> = []
    private var heard: Instant
    private var hasAsked = false

    /// - Parameter needsTLS: whether a server without TLS is refused; one that demands it gets it in any case.
    /// - Parameter inbox: letters and digits that nobody can guess: who knows them can answer in the server's place.
    package init(login: NATSLogin, needsTLS: Bool, inbox: String, at now: Instant) {
        precondition(isWord(inbox), "an inbox of other than 1 to \(NATSLimits.nameBytesMax) letters and digits")
        (self.login, self.needsTLS, self.inbox, heard) = (login, needsTLS, inbox, now)
    }

    // MARK: - What the shell does

    package mutating func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    package mutating func takeEvents() -> [Event] {
        defer { events = [] }
        return events
    }

    /// Reads on, up to what makes an event: what that asks is asked before an answer is read.
    ///
    /// - Parameter position: where to begin; afterwards what was read ends there.
    /// - Throws: what makes the connection useless.
    package mutating func receive(_ bytes: UnsafeRawBufferPointer, _ position: inout Int, at now: Instant) throws(NATSError) {
        if case .failed(let error) = state { throw error }
        (heard, hasAsked) = (now, false)
        do throws(NATSError) {
            if case .securing = state, position < bytes.count { throw .bytesBeforeTLS }
            while events.isEmpty, let operation = try parser.next(bytes, &position) { try handle(operation) }
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// TLS stands.
    package mutating func secured() throws(NATSError) {
        guard case .securing = state else { throw .unexpected("no INFO that wants TLS") }
        try greet(isTLS: true)
    }

    package var nextDeadline: Instant? {
        if case .failed = state { return nil }
        return requests.reduce(heard + Self.silence * (hasAsked ? 2 : 1)) { min($0, $1.deadline) }
    }

    /// - Throws: `silent`.
    package mutating func deadlineReached(at now: Instant) throws(NATSError) {
        if case .failed(let error) = state { throw error }
        for request in requests where request.deadline <= now { events.append(.answered(request.call, .failure(.timedOut))) }
        requests.removeAll { $0.deadline <= now }
        let silence = now - heard
        if silence >= Self.silence * 2 {
            state = .failed(.silent(silence))
            throw .silent(silence)
        }
        guard silence >= Self.silence, !hasAsked else { return }
        hasAsked = true
        if case .ready = state { try send("PING") }
    }

    /// The connection is gone: every request has its answer.
    package mutating func end() {
        for request in requests { events.append(.answered(request.call, .failure(.linkLost))) }
        requests = []
        if case .failed = state { return }
        state = .failed(.unexpected("the end"))
    }

    // MARK: - What is asked

    private func answerSubject(_ number: UInt64) -> String { "_INBOX.\(inbox).\(number)" }

    /// - Throws: `tooManyRequests`, `payloadTooLarge`, `outputFull`, `notOpen`, or `badLine` for words that would not stay in their line;
    ///   nothing is sent then.
    package mutating func request(
        _ subject: String, header: [(name: String, value: String)] = [], _ payload: [UInt8] = [], call: Call, deadline: Instant
    ) throws(NATSError) {
        guard case .ready = state else { throw .notOpen }
        guard requests.count < NATSLimits.requestsMax else { throw .tooManyRequests(limit: NATSLimits.requestsMax) }
        try publish(subject, reply: answerSubject(lastRequest + 1), header: header, payload)
        lastRequest += 1
        requests.append(Request(number: lastRequest, call: call, deadline: deadline))
    }

    package mutating func publish(
        _ subject: String, reply: String? = nil, header: [(name: String, value: String)] = [], _ payload: [UInt8] = []
    ) throws(NATSError) {
        let words = [subject] + (reply.map { [$0] } ?? [])
        guard words.allSatisfy(isSubject), header.allSatisfy({ isField($0.name) && isField($0.value) }) else {
            throw .badLine(Array(words.joined(separator: " ").utf8).excerpt)
        }
        let fields = header.map { "\($0.name): \($0.value)\r\n" }.joined()
        let head = header.isEmpty ? "" : "NATS/1.0\r\n\(fields)\r\n"
        let bytes = head.utf8.count + payload.count, limit = min(info?.payloadBytesMax ?? 0, NATSLimits.payloadBytesMax)
        guard bytes <= limit else { throw .payloadTooLarge(limit: limit, actual: UInt64(bytes)) }
        let verb = header.isEmpty ? "PUB" : "HPUB", sizes = header.isEmpty ? "\(bytes)" : "\(head.utf8.count) \(bytes)"
        try send("\(verb) \(words.joined(separator: " ")) \(sizes)\r\n\(head)", payload)
    }

    /// - Returns: the number of the subscription.
    package mutating func subscribe(_ suffix: String) throws(NATSError) -> (number: UInt64, subject: String) {
        let subject = "_INBOX.\(inbox).\(suffix).\(lastSubscription + 1)"
        try send("SUB \(subject) \(lastSubscription + 1)")
        lastSubscription += 1
        subscriptions.insert(lastSubscription)
        return (lastSubscription, subject)
    }

    package mutating func unsubscribe(_ number: UInt64) throws(NATSError) {
        guard subscriptions.remove(number) != nil else { return }
        try send("UNSUB \(number)")
    }

    private mutating func send(_ line: String, _ payload: [UInt8] = []) throws(NATSError) {
        let bytes = line.utf8.count + payload.count + 2
        guard output.count + bytes <= NATSLimits.outputBytesMax else { throw .outputFull(limit: NATSLimits.outputBytesMax) }
        output += line.utf8
        output += payload
        output += [0x0D, 0x0A]
    }
}

// MARK: - What comes

extension NATSMachine {
    private mutating func handle(_ operation: NATSOperation) throws(NATSError) {
        switch operation {
        case .info(let json): try handle(try ServerInfo(json))
        case .ping: try send("PONG")
        case .ok: break
        case .pong:
            guard case .greeting = state, let info else { return }
            state = .ready
            events.append(.ready(info))
        case .error(let text):
            guard text.hasPrefix("Permissions Violation") else { throw .server(text) }
            events.append(.denied(text))
        case .message(let message): try handle(message)
        }
    }

    /// Of the first INFO; later ones tell how the cluster has changed.
    private mutating func handle(_ new: ServerInfo) throws(NATSError) {
        if let refusal = new.refusal { throw .refused(refusal) }
        info = new
        parser.messageBytesMax = NATSLimits.receivedBytesMax(ofPayload: new.payloadBytesMax)
        guard case .waiting = state else { return }
        guard !new.wantsLogin || login.proof != .none else { throw .loginWanted }
        guard new.wantsTLS || needsTLS else { return try greet(isTLS: false) }
        guard new.offersTLS else { throw .tlsNotOffered }
        state = .securing
        events.append(.startTLS)
    }

    private mutating func greet(isTLS: Bool) throws(NATSError) {
        try send("CONNECT \(String(decoding: login.connect(isTLS: isTLS), as: UTF8.self))")
        try send("SUB _INBOX.\(inbox).* \(Self.answers)")
        try send("PING")
        state = .greeting
    }

    private mutating func handle(_ message: NATSMessage) throws(NATSError) {
        guard message.subscription == Self.answers else {
            guard message.subscription > 0, message.subscription <= lastSubscription else {
                throw .unexpected("a message for subscription \(message.subscription) of \(lastSubscription)")
            }
            // What was under way when a subscription ended.
            if subscriptions.contains(message.subscription) { events.append(.delivered(message)) }
            return
        }
        guard let number = message.subject.split(separator: ".").last.flatMap(decimal), number > 0, number <= lastRequest,
            message.subject == answerSubject(number)
        else { throw .unexpected("an answer to \(Array(message.subject.utf8).excerpt), which nobody asked") }
        // Its time is over.
        guard let index = requests.firstIndex(where: { $0.number == number }) else { return }
        let request = requests.remove(at: index)
        events.append(.answered(request.call, message.header?.status == 503 ? .failure(.noResponders) : .success(message)))
    }
}

/// Why a request has no answer. What it asked may be done, or still be done.
package enum NoAnswer: Error, Hashable, Sendable {
    case timedOut
    /// Nobody listens there: a stream without a leader. What was asked before may be done.
    case noResponders
    /// The connection ended.
    case linkLost
}

/// 1 to 64 letters, digits, `-` and `_`: what stands in a subject between two dots without a meaning of its own, and in a header.
package func isWord(_ text: String) -> Bool {
    1...NATSLimits.nameBytesMax ~= text.utf8.count
        && text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
            default: false
            }
        }
}

private func isSubject(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F } }

private func isField(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
