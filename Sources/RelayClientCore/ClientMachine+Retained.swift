import RelayPrimitives
import RelayWire

// Messages that are kept for good: accepted first, durable later. [BL1, BL2]

extension ClientMachine {
    /// - Throws: `badName`, `tooLarge`, `badRequest` for an empty payload, `unsentFull`, `clientClosed`: nothing was queued.
    package mutating func send(
        _ payload: Payload, to channel: String, customType: String?, retainedAs key: String, echo: Bool, tokens: StoredTokens,
        at now: Instant
    ) throws(RelayError) {
        let name = try checkedName(channel), key = try checkedName(key)
        try refuseEmpty(payload)
        try check(payload, customType)
        try enqueueRetained(name, payload, customType, key, echo, tokens, at: now)
    }

    /// - Throws: `badName`, `unsentFull`, `clientClosed`: nothing was queued.
    package mutating func send(removing key: String, from channel: String, tokens: StoredTokens, at now: Instant) throws(RelayError) {
        let name = try checkedName(channel), key = try checkedName(key)
        try enqueueRetained(name, .bytes([]), nil, key, false, tokens, at: now)
    }

    private mutating func enqueueRetained(
        _ channel: Name, _ payload: Payload, _ customType: String?, _ key: Name, _ echo: Bool, _ tokens: StoredTokens, at now: Instant
    ) throws(RelayError) {
        try enqueue(
            .message(
                OutgoingMessage(
                    token: tokens.accepted, channel: channel, payload: payload, customType: customType, echo: echo, key: key,
                    isRetained: true,
                    storedToken: tokens.stored)), at: now)
    }

    /// On the wire it would take the record away.
    func refuseEmpty(_ payload: Payload) throws(RelayError) {
        guard payload.byteCount > 0 else { throw RelayError(.badRequest, "an empty payload removes a record: that is a call of its own") }
    }

    /// Whether the relay would still know the oldest message not told durable, with one number more. [MS9]
    var numbersMayGoOn: Bool { unstored.oldest.map { lastNumber + 1 - min($0, lastNumber) < UInt64(Limits.publishWindowMax) } ?? true }

    // MARK: - What becomes of them

    package mutating func complete(_ token: ClientToken?, _ result: Result<ClientAnswer, RelayError>) {
        guard let token else { return }
        // Who has stopped waiting was told so; what it has done meanwhile counts.
        if abandoned.isEmpty || abandoned.remove(token) == nil { effects.append(.completed(token, result)) }
        guard followed.remove(token) != nil else { return }
        flushBatch()
        events.append(.completed(token, result, isCatchingUp: isCatchingUp))
    }

    /// A resumption has done what a call asks for, before its answer.
    mutating func begun(_ token: ClientToken) {
        guard followed.contains(token) else { return }
        flushBatch()
        events.append(.begun(token))
    }

    mutating func fail(_ message: OutgoingMessage, _ error: RelayError) {
        complete(message.token, .failure(error))
        complete(message.storedToken, .failure(error))
    }

    /// `accepted` for a message of its own; parts of drawings have theirs.
    mutating func accepted(_ message: OutgoingMessage, _ number: UInt64, offset: UInt64) {
        complete(message.token, .success(.offset(offset)))
        guard message.isRetained else { return complete(message.storedToken, .success(.offset(offset))) }
        // Told before it was answered.
        guard message.storedToken != nil else { return }
        var message = message
        message.token = nil
        unstored.insert(number, message)
    }

    mutating func stored(_ number: UInt64, offset: UInt64) { settleStored(number, .success(.offset(offset))) }

    mutating func notStored(_ notice: NotStored) {
        settleStored(notice.number, .failure(RelayError(notice)))
    }

    /// It may be told before the number was sent again, or before that is answered. A number that is not known says nothing.
    private mutating func settleStored(_ number: UInt64, _ result: Result<ClientAnswer, RelayError>) {
        if let message = unstored.remove(number) { return settle(message, result) }
        if case .message(var message)? = publishes[number], message.isRetained {
            if let part = message.part, !part.isLast { return }
            settle(message, result)
            message.token = nil
            message.storedToken = nil
            // Its answer is still to come, and frees its place.
            publishes[number] = .message(message)
            return
        }
        guard hasNumbered, let found = queue.elements.lazy.compactMap(\.message).first(where: { $0.number == number }), found.isRetained
        else { return }
        if let part = found.part, !part.isLast { return }
        settle(found, result)
        dropNumbered { $0.number == number }
    }

    private mutating func settle(_ message: OutgoingMessage, _ result: Result<ClientAnswer, RelayError>) {
        guard let part = message.part else {
            complete(message.token, result)
            return complete(message.storedToken, result)
        }
        settleDrawing(part, result)
    }

    // MARK: - Those that wait to be sent again

    /// They stand before everything else.
    var hasNumbered: Bool { queue.first?.message?.number != nil }

    mutating func dropNumbered(where matches: (OutgoingMessage) -> Bool) {
        guard hasNumbered else { return }
        for item in queue.elements { if let message = item.message, message.number != nil, matches(message) { count(item, -1) } }
        queue.removeAll { item in
            guard let message = item.message, message.number != nil else { return false }
            return matches(message)
        }
    }
}
