internal import RelayPrimitives
import RelayWire

extension JetStreamLog {
    mutating func handleEvents(at now: Instant) throws(NATSError) {
        for event in machine?.takeEvents() ?? [] {
            switch event {
            case .startTLS: events.append(.startTLS)
            case .ready: try open(at: now)
            case .denied(let text): events.append(.denied(text))
            case .delivered(let message): try deliver(message, at: now)
            case .answered(let call, let result): try handle(call, result.answer(bytesMax: call.answerBytesMax), at: now)
            }
        }
    }

    mutating func handle(_ call: Call, _ answer: Result<JSONValue, LogFailure>, at now: Instant) throws(NATSError) {
        switch call {
        case .open(let isCreation): try opened(answer, isCreation: isCreation, at: now)
        case .append(let append): try appended(append, answer, at: now)
        case .compare(let append, let last): compared(append, last: last, answer)
        case .ends: events.append(.ends(try ends(answer)))
        case .read(let sequence): events.append(.read(sequence, entry(answer, sequence)))
        case .trim(let sequence):
            let isDone = answer.map { $0["success"] == .bool(true) }
            events.append(.trimmed(sequence, isDone == .success(true) ? nil : isDone.failure ?? .badAnswer("no success")))
        case .examine(let attempt): try examined(answer, attempt: attempt, at: now)
        case .consume(let attempt): if answer.failure != nil { postpone(attempt: attempt, at: now) }
        }
    }

    // MARK: - Opening

    mutating func open(at now: Instant) throws(NATSError) {
        opening = .asking
        try ask("STREAM.INFO", call: .open(isCreation: false), at: now)
    }

    /// Where there is no stream this one makes it. Another relay that does so at the same time makes the same.
    private mutating func opened(_ answer: Result<JSONValue, LogFailure>, isCreation: Bool, at now: Instant) throws(NATSError) {
        if makesStream, !isCreation, answer.failure?.code == LogFailure.streamNotFound {
            return try ask("STREAM.CREATE", rules.creation(of: stream, subject: subject), call: .open(isCreation: true), at: now)
        }
        switch try ends(answer) {
        case .success(let ends):
            guard let info = machine?.info else { return }
            opening = .open
            events.append(.opened(info, ends))
            try listen(at: now)
        case .failure(let failure):
            opening = .waiting(until: now + Self.retryAfter)
            events.append(.notOpened(failure))
        }
    }

    /// - Throws: `refused`. Each answer is examined: settings change.
    mutating func ends(_ answer: Result<JSONValue, LogFailure>) throws(NATSError) -> Result<LogEnds, LogFailure> {
        switch answer {
        case .failure(let failure): return .failure(failure)
        case .success(let json):
            guard let examined = try rules.examine(json, stream: stream, subject: subject) else {
                return .failure(.badAnswer("no description of stream \(stream)"))
            }
            lastKnown = examined.last
            return .success(examined)
        }
    }

    // MARK: - Appending

    private mutating func appended(_ append: Append, _ answer: Result<JSONValue, LogFailure>, at now: Instant) throws(NATSError) {
        let outcome: AppendOutcome
        switch answer {
        case .success(let json):
            let isRight = json["stream"]?.text == stream && json["seq"]?.sequence == append.after + 1
            outcome = isRight ? .taken(append.after + 1) : .unknown(.badAnswer("an append behind \(append.after) is at another place"))
        case .failure(let failure):
            if let last = failure.wrongLast, last > append.after {
                do throws(NATSError) {
                    return try askForEntry(append.after + 1, call: .compare(append, last: last), at: now)
                } catch {
                    events.append(.appended(id: append.id, .unknown(failure)))
                    throw error
                }
            }
            outcome = .unknown(failure)
        }
        if case .taken(let sequence) = outcome { lastKnown = max(lastKnown, sequence) }
        events.append(.appended(id: append.id, outcome))
    }

    private mutating func compared(_ append: Append, last: UInt64, _ answer: Result<JSONValue, LogFailure>) {
        let outcome: AppendOutcome =
            switch entry(answer, append.after + 1) {
            case .success(let entry): entry.id == append.id ? .taken(entry.sequence) : .wrong(last: last)
            case .failure(let failure): .unknown(failure)
            }
        events.append(.appended(id: append.id, outcome))
    }

    private func entry(_ answer: Result<JSONValue, LogFailure>, _ sequence: UInt64) -> Result<StreamEntry, LogFailure> {
        answer.flatMap { json in
            StreamEntry(json, sequence: sequence).map { .success($0) } ?? .failure(.badAnswer("no entry \(sequence)"))
        }
    }
}

extension JetStreamLog.Call {
    fileprivate var answerBytesMax: Int {
        switch self {
        case .read, .compare: NATSLimits.receivedBytesMax(ofPayload: NATSLimits.payloadBytesMax)
        case .open, .append, .ends, .trim, .examine, .consume: NATSLimits.answerBytesMax
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
