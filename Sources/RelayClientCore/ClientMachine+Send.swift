import RelayPrimitives
import RelayWire

extension ClientMachine {
    // MARK: - Into the queue

    /// - Throws: `badName`, `tooLarge`, `unsentFull`, `clientClosed`: nothing was queued.
    package mutating func send(
        _ payload: Payload, to channel: String, customType: String?, echo: Bool, isKept: Bool = true, token: ClientToken, at now: Instant
    ) throws(RelayError) {
        let name = try checkedName(channel)
        try check(payload, customType)
        try enqueue(
            .message(
                OutgoingMessage(
                    token: token, channel: name, payload: payload, customType: customType, echo: echo, isKept: isKept)), at: now)
    }

    package mutating func send(
        _ payload: Payload, toUser user: String, customType: String?, token: ClientToken, at now: Instant
    ) throws(RelayError) {
        let name = try checkedName(user)
        try check(payload, customType)
        try enqueue(.direct(token, name, payload, customType: customType), at: now)
    }

    package mutating func sendPacket(
        _ payload: Payload, _ topic: TopicID, slot: UInt32?, senderTime: UInt32?, echo: Bool, at now: Instant
    ) throws(RelayError) {
        guard wanted.publishing[topic] != nil else { throw RelayError(.topicNotJoined, "topic \(topic.topic) is not joined") }
        guard payload.byteCount <= limits.packetBytesMax else {
            throw RelayError(
                .tooLarge, "a packet has at most \(limits.packetBytesMax) bytes, not \(payload.byteCount)", limit: limits.packetBytesMax,
                actual: payload.byteCount)
        }
        try enqueue(.packet(topic, payload, slot: slot, senderTime: senderTime, echo: echo, queuedAt: now), at: now)
    }

    /// - Throws: `tooLarge`, `unsentFull`, `clientClosed`: nothing was queued.
    package mutating func request(_ request: ClientRequest, token: ClientToken, at now: Instant) throws(RelayError) {
        if case .writeMetadata(let owner, let write) = request { try write.check(owner) }
        try enqueue(.request(token, request), at: now)
    }

    func checkType(_ customType: String?) throws(RelayError) {
        if let customType, !(1...Limits.customTypeBytesMax).contains(customType.utf8.count) {
            throw RelayError(
                .tooLarge, "a custom type has 1…\(Limits.customTypeBytesMax) bytes, not \(customType.utf8.count)",
                limit: Limits.customTypeBytesMax, actual: customType.utf8.count)
        }
    }

    func check(_ payload: Payload, _ customType: String?) throws(RelayError) {
        try checkType(customType)
        let bytes = payload.byteCount + (customType?.utf8.count ?? 0)
        guard bytes <= limits.messageBytesMax else {
            throw RelayError(
                .tooLarge, "payload and custom type have at most \(limits.messageBytesMax) bytes, not \(bytes)",
                limit: limits.messageBytesMax,
                actual: bytes)
        }
    }

    mutating func enqueue(_ item: Outgoing, at now: Instant) throws(RelayError) {
        guard state != .closed, closeToken == nil else { throw .clientClosed }
        guard queue.count < settings.unsentCountMax else {
            throw RelayError(.unsentFull, "too much waits to be sent", limit: settings.unsentCountMax, actual: queue.count + 1)
        }
        // Drawings are few, and bounded by their number: they do not keep a small message out.
        let bytes = queuedBytes + unstored.bytes + item.bytes
        guard bytes <= settings.unsentBytesMax else {
            throw RelayError(.unsentFull, "too many bytes wait to be sent", limit: settings.unsentBytesMax, actual: bytes)
        }
        queue.append(item)
        count(item, 1)
        pump(at: now)
    }

    mutating func count(_ item: Outgoing, _ sign: Int) {
        queuedBytes += sign * item.bytes
        switch item {
        case .message(let message): if message.part == nil { queuedMessages += sign }
        case .direct: queuedMessages += sign
        case .packet: queuedPackets += sign
        case .drawing, .request: break
        }
    }

    // MARK: - Out of the queue

    /// Encodes what may be sent now, in order; whatever must wait holds back what comes after it.
    mutating func pump(at now: Instant) {
        pumpAt = nil
        guard state == .live, !logoutIsSent else { return }
        // What was asked again stands before what the app asks now.
        while outbound.count - outboundStart < ClientLimits.outboundBytes, askedAgain.isEmpty, let first = queue.first {
            guard mayLeave(first, at: now) else { break }
            _ = queue.removeFirst()
            count(first, -1)
            encode(first, at: now)
        }
        if askedAgain.isEmpty { pumpDrawings(at: now) }
        if closeToken != nil, queue.isEmpty, publishes.isEmpty, requests.isEmpty, askedAgain.isEmpty, unstored.isEmpty, drawings.isEmpty,
            stopped.isEmpty
        {
            logOut(at: now)
        }
    }

    /// Nothing is sent behind it.
    mutating func logOut(at now: Instant) {
        logoutIsSent = true
        lastRequest += 1
        write(.json(.logout, EmptyRequest(id: lastRequest)))
        closeBy = now + ClientLimits.logoutTimeout
    }

    var unansweredMax: Int { min(limits.unansweredMax, ClientLimits.unansweredMax) }

    private mutating func mayLeave(_ item: Outgoing, at now: Instant) -> Bool {
        switch item {
        case .request: return true
        case .message(let message):
            let channel = message.channel
            guard publishes.count < unansweredMax else { return false }
            // One that is sent again has its number, and stands before all that are new.
            let keys: Set<Name> = message.key.map { [$0] } ?? []
            guard message.number != nil || (numbersMayGoOn && (message.wasRefused || !waitsForDrawing(channel, keys))) else { return false }
            forgetPacers(at: now)
            return mayPublish(channel, at: now)
        case .drawing(let id): return !waitsForDrawing(id)
        case .direct:
            guard publishes.count < unansweredMax else { return false }
            return wait(directWindow.permission(limit: limits.directMessagesPerSecond, at: now))
        case .packet(let topic, _, _, _, _, _):
            // Its topic is being joined again, or was left: then it is dropped when its turn comes.
            guard wanted.publishing[topic] != nil else { return true }
            guard known.ownFlows[topic] != nil else { return false }
            var bucket = topicBuckets[topic] ?? PacketPacer(rate: limits.packetsPerSecond, at: now)
            bucket.setRate(limits.packetsPerSecond, at: now)
            let until = bucket.take(at: now)
            topicBuckets[topic] = bucket
            forgetPacers(at: now)
            if let until { pumpAt = Instant.earlier(pumpAt, until) }
            return until == nil
        }
    }

    /// For unused channels and topics: the client may forget buckets that are full again.
    private mutating func forgetPacers(at now: Instant) {
        if windows.count > ClientLimits.pacersMax {
            for channel in windows.keys.inOrder() where windows[channel]!.isIdle(at: now) { windows[channel] = nil }
        }
        if topicBuckets.count > ClientLimits.pacersMax {
            for topic in topicBuckets.keys.inOrder() where topicBuckets[topic]!.isFull(at: now) { topicBuckets[topic] = nil }
        }
    }

    /// - Parameter kept: of the channel's credit, for others.
    mutating func mayPublish(_ channel: Name, keeping kept: Int = 0, at now: Instant) -> Bool {
        if let publishAt, now < publishAt {
            pumpAt = Instant.earlier(pumpAt, publishAt)
            return false
        }
        publishAt = nil
        return stopped[channel] == nil && (windows[channel]?.grants(keeping: kept) ?? true)
    }

    mutating func wait(_ permission: AnswerWindow.Permission) -> Bool {
        switch permission {
        case .granted: return true
        case .wait(let until):
            pumpAt = Instant.earlier(pumpAt, until)
            return false
        case .waitForAnswer: return false
        }
    }

    mutating func encode(_ item: Outgoing, at now: Instant) {
        switch item {
        case .message(let message):
            // Of a drawing that has ended or begun anew meanwhile nothing is sent.
            let payload: ArraySlice<UInt8>? = if let part = message.part { bytes(of: part) } else { message.payload.bytes[...] }
            guard let payload else { return }
            let number = message.number ?? lastNumber + 1
            lastNumber = max(lastNumber, number)
            publishes[number] = .message(message)
            windows[message.channel, default: CreditWindow(limit: limits.messagesPerSecond)].sent()
            if let part = message.part, part.isChanges {
                return write(
                    .publishChanges(number: number, channel: message.channel.text, part: (part.number, part.of), changes: payload))
            }
            write(
                .publish(
                    number: number, channel: message.channel.text, customType: message.customType, key: message.key?.text,
                    part: message.part.map { ($0.number, $0.of) }, flags: message.flags, payload: payload))
        case .drawing(let id): begin(id)
        case .direct(let token, let user, let payload, let customType):
            lastNumber += 1
            publishes[lastNumber] = .direct(token)
            directWindow.sent()
            write(.direct(number: lastNumber, user: user.text, customType: customType, flags: payload.flags, payload: payload.bytes))
        case .packet(let topic, let payload, let slot, let senderTime, let echo, _):
            guard let flow = known.ownFlows[topic] else { return dropped(1, topic, .topicNotJoined) }
            if echo { wanted.echoing.insert(topic) }
            write(
                .publishPacket(
                    flow: flow, slot: slot, senderTime: senderTime, flags: payload.flags.union(echo ? .echo : []), payload: payload.bytes))
        case .request(let token, let request): ask(request, token: token)
        }
    }

    mutating func ask(_ request: ClientRequest, token: ClientToken?) {
        lastRequest = lastRequest == .max ? 1 : lastRequest + 1
        requests[lastRequest] = PendingRequest(token: token, request: request)
        write(request.frame(id: lastRequest))
    }

    mutating func dropped(_ count: Int, _ topic: TopicID, _ reason: PacketsDropped.Reason) {
        emit(.packetsDropped(PacketsDropped(channel: topic.channel.text, topic: topic.topic.text, reason: reason, dropped: count)))
    }

    /// After a break: points that are older than a packet lives are noise by now.
    mutating func dropStalePackets(at now: Instant) { dropPackets(.linkDown) { now - $0 > ClientLimits.packetLifetime } }

    /// - Parameter matches: judges by the moment at which a packet was queued.
    mutating func dropPackets(_ reason: PacketsDropped.Reason, where matches: (Instant) -> Bool = { _ in true }) {
        var stale: [TopicID: Int] = [:]
        var bytes = 0
        queue.removeAll { item in
            guard case .packet(let topic, let payload, _, _, _, let queuedAt) = item, matches(queuedAt) else { return false }
            stale[topic, default: 0] += 1
            bytes += payload.byteCount
            return true
        }
        queuedBytes -= bytes
        for topic in stale.keys.inOrder() {
            queuedPackets -= stale[topic]!
            dropped(stale[topic]!, topic, reason)
        }
    }
}

/// - Throws: `badName`.
package func checkedName(_ text: String) throws(RelayError) -> Name {
    do throws(WireError) {
        return try Name(text)
    } catch {
        throw RelayError(error)
    }
}
