import RelayPrimitives
import RelayWire

// What was sent and not answered, when a link ends and when the next one is there. [SE11, MS9]

extension ClientMachine {
    /// What was written and not answered may have happened or not. [SE11] Messages are sent again. [MS9]
    mutating func failInFlight(at now: Instant) {
        goOnWithStopped()
        var again: [Outgoing] = []
        for number in (publishes.keys + unstored.numbers).inOrder() {
            guard var message = publishes[number]?.message ?? unstored[number] else { continue }
            publishes[number] = nil
            let isOver = if let part = message.part { bytes(of: part) == nil } else { message.isSettled }
            guard !isOver else { continue }
            message.number = number
            again.append(.message(message))
        }
        unstored.removeAll()
        queue.prepend(again)
        for item in again { count(item, 1) }
        // Those that waited to be sent again when this link ended, too.
        if hasNumbered, sentUntil == nil { sentUntil = now }
        failInFlight()
        directWindow.linkRenewed(at: now)
    }

    private mutating func failInFlight() {
        for number in publishes.keys.inOrder() {
            switch publishes[number]! {
            case .message(let message): fail(message, .outcomeUnknown("message \(number)"))
            case .direct(let token): complete(token, .failure(.outcomeUnknown("message \(number)")))
            }
        }
        for number in unstored.numbers { fail(unstored[number]!, .outcomeUnknown("message \(number)")) }
        for id in requests.keys.inOrder() {
            let pending = requests[id]!
            // What it withdraws went with the link.
            if case .cancel = pending.request { continue }
            // It is asked again with each login.
            if case .goOn = pending.request { continue }
            let isAbandoned = pending.token.map { abandoned.contains($0) } ?? false
            if pending.request.isEnding || !isAbandoned && (pending.token == nil || pending.request.mayBeRepeated) {
                askedAgain.append(PendingRequest(token: pending.token, request: pending.request))
            } else {
                fail(pending)
            }
        }
        publishes = [:]
        unstored.removeAll()
        requests = [:]
        outbound = []
        outboundStart = 0
    }

    private mutating func fail(_ pending: PendingRequest) {
        complete(pending.token, .failure(.outcomeUnknown("a request")))
    }

    /// A relay that was started anew, or has forgotten this client, knows nothing of what was sent, but for what is retained:
    /// that it knows when it is durable, and otherwise it is not there. After too long a time it does not know that either. [MS9, BL2]
    mutating func giveUpSent(at now: Instant, isForgotten: Bool) {
        defer { sentUntil = nil }
        guard isForgotten else { return }
        let isTooLate = sentUntil.map { now - $0 > .milliseconds(Limits.publishMemoryMilliseconds) } ?? false
        giveUpParts(isTooLate: isTooLate)
        let isGivenUp = { (message: OutgoingMessage) in message.part == nil && (isTooLate || !message.isRetained) }
        for case .message(let message) in queue.elements where message.number != nil && isGivenUp(message) {
            fail(message, .outcomeUnknown("message \(message.number!)"))
        }
        dropNumbered(where: isGivenUp)
    }

    /// The end: nothing that waits will be sent.
    mutating func failAll(_ error: RelayError) {
        goOnWithStopped()
        failInFlight()
        for pending in askedAgain { fail(pending) }
        askedAgain = []
        for item in queue.elements {
            switch item {
            case .message(let message): fail(message, message.number.map { .outcomeUnknown("message \($0)") } ?? error)
            case .direct(let token, _, _, _): complete(token, .failure(error))
            case .request(let token, _): complete(token, .failure(error))
            case .packet, .drawing: break
            }
        }
        failDrawings(error)
        queue.removeAll()
        (queuedBytes, queuedMessages, queuedPackets) = (0, 0, 0)
    }
}
