import RelayPrimitives
import RelayWire

// How many publishes a client may send without being refused for its rate: told as a count, so that no clock but the relay's matters. [RT8]

extension Hub {
    /// What the relay takes in a channel behind what it has judged so far. It is told now.
    mutating func tellCredit(_ bucket: TokenBucket.Index, _ session: Session.Index) -> UInt32 {
        let rate = configuration.limits.messagesPerSecond
        let credit = UInt32(clamping: buckets[bucket].tokens(rate: rate, capacity: rate, at: now.instant))
        noteCredit(credit, bucket, session)
        return credit
    }

    /// As `tellCredit`, of a channel that may not be one.
    mutating func tellCredit(in channel: UnsafeRawBufferPointer, _ session: Session.Index) -> UInt32 {
        let whole = UInt32(clamping: configuration.limits.messagesPerSecond)
        guard let name = try? Name(bytes: channel), let bucket = people[sessions[session].person].buckets[.messages(channel: name)] else {
            return whole
        }
        return tellCredit(bucket, session)
    }

    /// Below half it is told again as it grows: a client may wait for it.
    private func isLow(_ credit: UInt32) -> Bool { 2 * Int(credit) < configuration.limits.messagesPerSecond }

    /// Of a bucket that other devices may empty and be told of: what this one knows.
    private mutating func noteCredit(_ credit: UInt32, _ bucket: TokenBucket.Index, _ session: Session.Index) {
        if isLow(credit) || !sessions[session].creditTold.isEmpty { sessions[session].creditTold[bucket] = isLow(credit) ? credit : nil }
        if isLow(credit), !sessions[session].isCreditWatched { watchCredit(session) }
    }

    private mutating func watchCredit(_ session: Session.Index) {
        sessions[session].isCreditWatched = true
        deadlines.set(
            .credit(session: session, generation: sessions[session].generation),
            at: now.instant + .milliseconds(Limits.creditIntervalMilliseconds))
    }

    mutating func creditDeadline(_ session: Session.Index) {
        sessions[session].isCreditWatched = false
        guard let connection = outbox.connection(of: session) else { return }
        let rate = configuration.limits.messagesPerSecond
        let held = people[sessions[session].person].buckets
        var low: [Name] = []
        for case (.messages(let channel), let bucket) in held where sessions[session].creditTold[bucket] != nil { low.append(channel) }
        for channel in low.inOrder() {
            let bucket = held[.messages(channel: channel)]!
            let credit = UInt32(clamping: buckets[bucket].tokens(rate: rate, capacity: rate, at: now.instant))
            if credit > sessions[session].creditTold[bucket]! {
                enqueueJSON(connection, .credit, CreditNotice(channel: channel, credit: credit))
            }
            noteCredit(credit, bucket, session)
        }
    }

    /// A login counts from the whole credit of every channel.
    ///
    /// - Returns: milliseconds until each channel has it; `nil` if each has.
    mutating func renewCredit(_ session: Session.Index) -> Int? {
        let rate = configuration.limits.messagesPerSecond
        sessions[session].isCreditWatched = false
        sessions[session].creditTold = [:]
        var wait: UInt64 = 0
        for case (.messages, let bucket) in people[sessions[session].person].buckets {
            wait = max(wait, buckets[bucket].nanosecondsUntilFull(rate: rate, at: now.instant))
        }
        return wait == 0 ? nil : Int((wait + 999_999) / 1_000_000)
    }

    // MARK: - Order behind a refusal

    /// What an instance has sent behind a publish that was refused is refused as well, if its client can say `goOn`. [MS10]
    ///
    /// - Throws: `behindRefused`.
    func checkBehind(_ number: UInt64, in channel: UnsafeRawBufferPointer, _ session: Session.Index) throws(WireError) {
        guard sessions[session].goesOn,
            let refused = sessions[session].window.refused?.first(where: { $0.channel.text.utf8.elementsEqual(channel) }),
            number > refused.number
        else { return }
        throw WireError(.behindRefused, "publish \(refused.number) in channel \(refused.channel) was refused, and goOn has not come")
    }

    /// A publish is refused, and with it what its instance has sent behind it in that channel.
    ///
    /// - Parameter channel: `nil` if it could not be read.
    mutating func refusePublish(
        _ error: WireError, _ body: UnsafeRawBufferPointer, in channel: UnsafeRawBufferPointer?, _ session: Session.Index,
        _ connection: Connection.Index
    ) {
        let number = Self.publishNumber(body)
        guard let number, let channel else { return refuse(connection, error, number: number) }
        if sessions[session].goesOn, error.code.breaksOrder, let name = try? Name(bytes: channel) {
            sessions[session].window.refuse(number, in: name)
        }
        refuse(connection, error, number: number, credit: tellCredit(in: channel, session))
    }

    mutating func goOn(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(GoOnRequest.self, body)
        sessions[session].window.goOn(behind: request.number, in: request.channel)
        answer(connection, EmptyAnswer(id: request.id))
    }
}

extension ErrorCode {
    /// Whether what was sent behind a publish with this refusal is refused as well: not for a rate, and not where the number is one of
    /// before. [MS10]
    fileprivate var breaksOrder: Bool {
        self != .rateLimited && self != .behindRefused && self != .notAccepted && self != .outcomeUnknown
    }
}
