import RelayPrimitives
import RelayWire

// Drawings above the size of one message: cut into parts, which leave beside the queue. [BL8]
//
// A drawing of 8 MiB takes seconds at the rate of messages. Were its parts to stand in the queue, what is drawn
// meanwhile would wait for them. So the drawing has its place in the order like any call, but only a marker of it is in
// the queue: when that has its turn, the parts leave whenever the queue leaves room, and a quarter of the credit. What
// is sent behind goes before it, but for messages and drawings with its key, which wait until it is accepted.

extension ClientMachine {
    /// - Parameter key: `nil`: one of its own, where it is not retained.
    /// - Throws: `badName`, `tooLarge`, `badRequest` for an empty payload, `limitReached`, `unsentFull`, `clientClosed`: nothing was
    ///   queued.
    package mutating func sendLarge(
        _ payload: Payload, to channel: String, customType: String?, key: String?, retain: Bool, echo: Bool, tokens: StoredTokens,
        at now: Instant
    ) throws(RelayError) {
        let name = try checkedName(channel)
        guard key != nil || !retain else { throw RelayError(.badName, "what is kept has a key") }
        try refuseEmpty(payload)
        try checkType(customType)
        let bytes = payload.byteCount + (customType?.utf8.count ?? 0)
        guard bytes <= limits.largeMessageBytesMax else {
            throw RelayError(
                .tooLarge, "payload and custom type of a drawing have at most \(limits.largeMessageBytesMax) bytes, not \(bytes)",
                limit: limits.largeMessageBytesMax, actual: bytes)
        }
        let checkedKey = try checkedName(key ?? drawnKey())
        guard bytes > limits.messageBytesMax else {
            // One message that is not retained is a message like any other, without a key. [MS7]
            return try enqueue(
                .message(
                    OutgoingMessage(
                        token: tokens.accepted, channel: name, payload: payload, customType: customType, echo: echo,
                        key: retain ? checkedKey : nil,
                        isRetained: retain, storedToken: tokens.stored)), at: now)
        }
        let under = drawings.count { !$0.isChanges }
        guard under < ClientLimits.drawingsMax else {
            throw RelayError(
                .limitReached, "at most \(ClientLimits.drawingsMax) drawings are under way", limit: ClientLimits.drawingsMax,
                actual: under + 1)
        }
        let drawing = try OutgoingDrawing(
            id: tokens.accepted!, channel: name, key: checkedKey, customType: customType, isRetained: retain, echo: echo, payload: payload,
            tokens: tokens, limits: limits)
        try enqueue(drawing, at: now)
    }

    private mutating func enqueue(_ drawing: OutgoingDrawing, at now: Instant) throws(RelayError) {
        drawings.append(drawing)
        do throws(RelayError) {
            try enqueue(.drawing(drawing.id), at: now)
        } catch {
            drawings.removeAll { $0.id == drawing.id }
            throw error
        }
    }

    /// - Throws: `badName`, `badRequest` without a change and for an empty payload, `tooLarge`, `limitReached`, `unsentFull`,
    ///   `clientClosed`; with `changeIndex` where one change is meant. Nothing was queued.
    package mutating func send(changes: [RecordChange], to channel: String, tokens: StoredTokens, at now: Instant) throws(RelayError) {
        let name = try checkedName(channel)
        guard !changes.isEmpty else { throw RelayError(.badRequest, "a change set has one change or more") }
        guard changes.count <= Limits.changesMax else {
            throw RelayError(
                .limitReached, "a change set has at most \(Limits.changesMax) changes, not \(changes.count)", limit: Limits.changesMax,
                actual: changes.count)
        }
        var keys: Set<Name> = []
        for (index, change) in changes.enumerated() {
            do throws(RelayError) {
                keys.insert(try checkedName(change.key))
                guard let payload = change.payload else { continue }
                try refuseEmpty(payload)
                try check(payload, change.customType)
            } catch {
                var error = error
                error.changeIndex = index
                throw error
            }
        }
        let bytes = changes.reduce(0) { $0 + $1.contentBytes }
        guard bytes <= limits.largeMessageBytesMax else {
            throw RelayError(
                .tooLarge, "payloads and custom types of a change set have at most \(limits.largeMessageBytesMax) bytes, not \(bytes)",
                limit: limits.largeMessageBytesMax, actual: bytes)
        }
        let waiting = drawings.reduce(bytes) { $0 + ($1.isChanges ? $1.bytes.count : 0) }
        guard waiting <= settings.unsentBytesMax else {
            throw RelayError(.unsentFull, "too many bytes wait to be sent", limit: settings.unsentBytesMax, actual: waiting)
        }
        try enqueue(
            OutgoingDrawing(id: tokens.accepted!, channel: name, keys: keys, changes: changes, tokens: tokens, limits: limits), at: now)
    }

    /// Of no other drawing of this user.
    private mutating func drawnKey() -> String {
        lastDrawing += 1
        return "part-\(String(settings.instance, radix: 16))-\(lastDrawing)"
    }

    private func index(of part: DrawingPart) -> Int? { drawings.firstIndex { $0.id == part.drawing && $0.round == part.round } }

    /// `nil` for a part of an earlier round.
    func bytes(of part: DrawingPart) -> ArraySlice<UInt8>? { index(of: part).map { drawings[$0].bytes(of: part) } }

    /// Whether something with these keys is to wait for a drawing, or a change set, that was sent before it.
    func waitsForDrawing(_ channel: Name, _ keys: Set<Name>) -> Bool {
        drawings.contains { $0.isUnderWay && !$0.isAccepted && $0.channel == channel && !$0.keys.isDisjoint(with: keys) }
    }

    /// Of a drawing that waits for its turn.
    func waitsForDrawing(_ id: UInt64) -> Bool { drawings.contains { $0.id == id && waitsForDrawing($0.channel, $0.keys) } }

    mutating func begin(_ id: UInt64) {
        if let index = drawings.firstIndex(where: { $0.id == id }) { drawings[index].isUnderWay = true }
    }

    /// The first that may is brought to its end before the next.
    mutating func pumpDrawings(at now: Instant) {
        // Those that are sent again go first.
        guard !hasNumbered, queue.first?.message?.wasRefused != true else { return }
        var index = 0
        while index < drawings.count, outbound.count - outboundStart < ClientLimits.outboundBytes {
            guard drawings[index].isUnderWay, drawings[index].hasMore, !waitsForChanges(index),
                partMayLeave(drawings[index].channel, at: now)
            else {
                index += 1
                continue
            }
            encode(.message(drawings[index].nextPart()), at: now)
        }
    }

    /// A relay takes the parts of one change set at a time. [BL11]
    private func waitsForChanges(_ index: Int) -> Bool {
        drawings[index].isChanges && drawings[index].next == 1 && drawings.contains { $0.isChanges && $0.next > 1 && $0.hasMore }
    }

    private mutating func partMayLeave(_ channel: Name, at now: Instant) -> Bool {
        guard publishes.count < unansweredMax, numbersMayGoOn else { return false }
        return mayPublish(channel, keeping: limits.messagesPerSecond / ClientLimits.creditKeptDivisor, at: now)
    }

    // MARK: - What becomes of them

    mutating func accepted(_ part: DrawingPart, _ message: OutgoingMessage, _ number: UInt64, offset: UInt64) {
        guard part.isLast, let index = index(of: part) else { return }
        complete(drawings[index].tokens.accepted, .success(.offset(offset)))
        drawings[index].tokens.accepted = nil
        guard drawings[index].isRetained else { return settleDrawing(part, .success(.offset(offset))) }
        drawings[index].isAccepted = true
        unstored.insert(number, message)
    }

    /// Parts from this one on were not taken, because one behind which they were sent was not. [MS10]
    mutating func sendAgain(_ part: DrawingPart) {
        guard let index = index(of: part) else { return }
        drawings[index].goBack(to: part)
    }

    /// A part that the relay did not take: it begins anew where no part was shown to anybody.
    mutating func refused(_ part: DrawingPart, _ error: RelayError) {
        guard let index = index(of: part) else { return }
        switch error.code {
        case .partMissing, .notAccepted: beginAnew(index, error)
        case .outcomeUnknown where !part.isLast: beginAnew(index, error)
        default: settleDrawing(part, .failure(error))
        }
    }

    /// From part 1 with new numbers, a few times; then `error` is the outcome.
    private mutating func beginAnew(_ index: Int, _ error: RelayError) {
        let drawing = drawings[index]
        dropNumbered { $0.part?.drawing == drawing.id }
        guard !isSuperseded(drawing), drawings[index].beginAnew(limits) else { return finish(drawing.id, .failure(error)) }
    }

    /// It was accepted once, and its key was written since: sent again it would take that one's place.
    private func isSuperseded(_ drawing: OutgoingDrawing) -> Bool {
        guard drawing.tokens.accepted == nil else { return false }
        let sent =
            publishes.values.compactMap(\.message) + unstored.numbers.compactMap { unstored[$0] }
            + queue.elements.compactMap(\.message).filter { $0.number != nil }
        return sent.contains {
            $0.channel == drawing.channel && $0.part?.drawing != drawing.id && !keys(of: $0).isDisjoint(with: drawing.keys)
        }
    }

    private func keys(of message: OutgoingMessage) -> Set<Name> {
        if let key = message.key { return [key] }
        return drawings.first { $0.id == message.part?.drawing }?.keys ?? []
    }

    /// The relay said what has become of the last part.
    mutating func settleDrawing(_ part: DrawingPart, _ result: Result<ClientAnswer, RelayError>) {
        guard let index = index(of: part) else { return }
        finish(drawings[index].id, result)
    }

    private mutating func finish(_ id: UInt64, _ result: Result<ClientAnswer, RelayError>) {
        guard let index = drawings.firstIndex(where: { $0.id == id }) else { return }
        let tokens = drawings.remove(at: index).tokens
        dropNumbered { $0.part?.drawing == id }
        complete(tokens.accepted, result)
        complete(tokens.stored, result)
    }

    // MARK: - After a break

    /// A relay that was started anew knows a drawing only if it is durable, and says so of its last part. Before that
    /// part was sent nobody has seen the drawing: it begins anew.
    mutating func giveUpParts(isTooLate: Bool) {
        for drawing in drawings where drawing.isUnderWay {
            let last = queue.elements.lazy.compactMap(\.message).first {
                $0.number != nil && $0.part?.drawing == drawing.id && $0.part!.isLast
            }
            guard let last else {
                // Also when all that left was answered: that relay has none of it.
                if drawing.next > 1, let index = drawings.firstIndex(where: { $0.id == drawing.id }) {
                    beginAnew(index, RelayError(.partMissing, "the relay was started anew too often"))
                }
                continue
            }
            if drawing.isRetained, !isTooLate {
                dropNumbered { $0.part?.drawing == drawing.id && !$0.part!.isLast }
            } else {
                finish(drawing.id, .failure(.outcomeUnknown("message \(last.number!)")))
            }
        }
    }

    mutating func failDrawings(_ error: RelayError) {
        for drawing in drawings {
            finish(drawing.id, .failure(drawing.isUnderWay && !drawing.hasMore ? .outcomeUnknown("a drawing") : error))
        }
    }
}
