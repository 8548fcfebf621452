import RelayWire

// What was sent and not answered, when a link ends and when the next one is there. [SE11, MS9]

extension ClientMachine {
    /// What was written and not answered may have happened or not. [SE11] Messages are sent again. [MS9]
    mutating func failInFlight(at now: Moment) {
        var again: [Outgoing] = []
        for number in publishes.keys.sorted() {
            guard case .message(var message) = publishes[number]! else { continue }
            message.number = number
            again.append(.message(message))
            publishes[number] = nil
        }
        queue.prepend(again)
        for item in again { count(item, 1) }
        // Those that waited to be sent again when this link ended, too.
        let isSentBefore = queue.elements.contains { if case .message(let message) = $0 { message.number != nil } else { false } }
        if isSentBefore, sentUntil == nil { sentUntil = now }
        failInFlight()
        for channel in windows.keys { windows[channel]!.linkRenewed(at: now) }
        directWindow.linkRenewed(at: now)
    }

    private mutating func failInFlight() {
        for number in publishes.keys.sorted() {
            effects.append(.completed(publishes[number]!.token, .failure(.outcomeUnknown("message \(number)"))))
        }
        for id in requests.keys.sorted() {
            forgetSelections(requests[id]!.request)
            if let token = requests[id]!.token {
                effects.append(.completed(token, .failure(.outcomeUnknown("a request"))))
            } else {
                askedAgain.append(requests[id]!.request)
            }
        }
        publishes = [:]
        requests = [:]
        outbound = []
        outboundStart = 0
    }

    /// A relay that was started anew, or after too long a time, knows nothing of what was sent. [MS9]
    mutating func giveUpSent(at now: Moment, isSameStart: Bool) {
        defer { sentUntil = nil }
        guard let since = sentUntil, !isSameStart || now - since > .milliseconds(Limits.publishMemoryMilliseconds) else { return }
        for item in queue.elements {
            guard case .message(let message) = item, let number = message.number else { continue }
            count(item, -1)
            effects.append(.completed(message.token, .failure(.outcomeUnknown("message \(number)"))))
        }
        queue.removeAll { if case .message(let message) = $0 { message.number != nil } else { false } }
    }

    /// A selection that may have ended is not relied on: of flows that open later it is not known from where they are missed. [SE9]
    private mutating func forgetSelections(_ unanswered: ClientRequest) {
        switch unanswered {
        case .unsubscribeTopic(let topic, _): known.selections[topic] = nil
        case .leave(let channel): known.selections = known.selections.filter { $0.key.channel != channel }
        default: break
        }
    }

    /// The end: nothing that waits will be sent.
    mutating func failAll(_ error: RelayError) {
        failInFlight()
        for item in queue.elements {
            switch item {
            case .message(let message):
                effects.append(.completed(message.token, .failure(message.number.map { .outcomeUnknown("message \($0)") } ?? error)))
            case .direct(let token, _, _, _): effects.append(.completed(token, .failure(error)))
            case .request(let token, _): if let token { effects.append(.completed(token, .failure(error))) }
            case .packet: break
            }
        }
        queue.removeAll()
        (queuedBytes, queuedMessages, queuedPackets) = (0, 0, 0)
    }
}
