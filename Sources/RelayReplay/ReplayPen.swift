import BoardFormat
import RelayClient
import RelayConsole
import RelayIO
import RelayPrimitives
import RelayWire

/// One user who draws a plan on a channel.
package struct ReplayPen: Sendable {
    package let user: String
    let channel: String
    let plan: ReplayPlan
    package let client: WhiteboardClient
    let stream: StreamChannel
    let tally: Mutex<ReplayTally>
    /// Knows all steps of the plan already, in this order.
    let verifier: ReplayWitness?
    /// Whether each stroke is kept for good, under its id.
    let retains: Bool
    /// The reader of the board that is kept.
    let audience: ReplayAudience?
    /// Where it saves what it draws, if it does.
    let store: ReplayStore?

    /// A user who keeps each stroke. Nothing watches this user.
    package static func enter(_ client: WhiteboardClient, as user: String, channel: String, plan: ReplayPlan) async throws -> ReplayPen {
        try await enter(
            client, as: user, channel: channel, plan: plan, tally: Mutex(ReplayTally()), verifier: nil, retains: true, audience: nil,
            store: nil)
    }

    /// Enters both channels as any user of a board does, and takes part: it receives what the others draw.
    static func enter(
        _ client: WhiteboardClient, as user: String, channel: String, plan: ReplayPlan, tally: Mutex<ReplayTally>,
        verifier: ReplayWitness?, retains: Bool, audience: ReplayAudience?, store kind: ReplayStoreKind?
    ) async throws -> ReplayPen {
        try await client.subscribe(channel, features: [.messages], quiet: false)
        let stream = try await client.join(channel, features: [], quiet: false)
        try await stream.subscribeTopic(BoardWords.pointsTopic, users: .all)
        for topic in plan.topics.sorted() { try await stream.joinTopic(topic) }
        var store: ReplayStore?
        if kind == .metadata {
            store = try await ReplayStore.enter(client, as: user, channel: channel, plan: plan, tally: tally)
        }
        return ReplayPen(
            user: user, channel: channel, plan: plan, client: client, stream: stream, tally: tally, verifier: verifier, retains: retains,
            audience: audience, store: store)
    }

    /// The same one with another plan, and a tally of its own.
    package func drawing(_ plan: ReplayPlan) -> ReplayPen {
        ReplayPen(
            user: user, channel: channel, plan: plan, client: client, stream: stream, tally: Mutex(ReplayTally()), verifier: verifier,
            retains: retains, audience: audience, store: store)
    }

    /// Draws, waits for every answer, leaves and logs out.
    func draw() async throws {
        enum Part { case allSent, linkEnded(RelayError?) }
        try await withThrowingTaskGroup(of: Part.self) { group in
            group.addTask { .linkEnded(await read()) }
            group.addTask {
                try await sendAndSave()
                for topic in plan.topics.sorted() { try await stream.leaveTopic(topic) }
                return .allSent
            }
            do {
                switch try await group.next() {
                case .allSent, nil: break
                case .linkEnded(let reason): throw Failure("\(user): \(Printable.escaped(EventText.words(reason ?? .clientClosed)))")
                }
            } catch {
                group.cancelAll()
                await client.close()
                throw error
            }
            // What the relay still has to say, about drops above all, comes before the end of the events.
            await client.close()
            try await group.waitForAll()
        }
    }

    private func sendAndSave() async throws {
        guard let store else { return try await send() }
        enum Part { case sent, saved }
        try await withThrowingTaskGroup(of: Part.self) { group in
            group.addTask {
                defer { store.allSettled() }
                try await send()
                return .sent
            }
            group.addTask {
                try await store.run()
                return .saved
            }
            // A user who can no longer save stops drawing.
            if try await group.next() == .saved { group.cancelAll() }
            try await group.waitForAll()
        }
    }

    /// Sends all steps, or those until the task is cancelled, and waits for every answer.
    package func send() async throws {
        let clock = ContinuousClock()
        let begin = clock.now
        var messages = Pace(perSecond: ReplayRates.messagesPerSecond)
        var packets = Pace(perSecond: ReplayRates.packetsPerSecond)
        try await withThrowingTaskGroup(of: Void.self) { answers in
            for (place, step) in plan.steps.enumerated() {
                let pace = step.lane == .message ? messages : packets
                let wait = max(step.at - (clock.now - begin), pace.delay(at: clock.now - begin))
                if wait > .zero { try? await clock.sleep(until: clock.now + wait, tolerance: .zero) }
                if Task.isCancelled {
                    for unsent in place..<plan.steps.count { verifier?.refused(unsent, from: user) }
                    break
                }
                switch step.lane {
                case .packet:
                    packets.sent(at: clock.now - begin)
                    try sendPacket(step, place: place)
                case .message:
                    for _ in 0..<step.messages { messages.sent(at: clock.now - begin) }
                    let sentAt = clock.now
                    let receipt: Sent
                    do {
                        receipt = try send(step)
                    } catch let error as RelayError where plan.isLesson && error.code != .clientClosed {
                        // One message of a lesson that this relay does not take is told; the rest is played.
                        tally.withLock { $0.refusals[error.name, default: 0] += 1 }
                        verifier?.refused(place, from: user)
                        continue
                    }
                    tally.withLock { $0.messagesSent += 1 }
                    let endsStroke = plan.endsStroke(place)
                    answers.addTask { await answer(to: receipt, place: place, sentAt: sentAt, endsStroke: endsStroke) }
                    // What comes in parts gives way to what is sent after it, and so may a request: a pen that waits keeps the order.
                    if step.waits { _ = try? await receipt.offset() }
                }
            }
            try await answers.waitForAll()
        }
    }

    private enum Sent: Sendable {
        case message(Receipt)
        /// The records that it writes, and keys that it removes.
        case changes([ReplayPlan.Change], StoredReceipt)
        case large(StoredReceipt)
        case asked(Task<UInt64?, any Error>, isClear: Bool)

        /// `nil` of what has no place in the order of messages.
        func offset() async throws -> UInt64? {
            switch self {
            case .message(let receipt): try await receipt.accepted
            case .changes(_, let receipt), .large(let receipt): try await receipt.accepted
            case .asked(let task, _): try await task.value
            }
        }
    }

    private func send(_ step: ReplayPlan.Step) throws -> Sent {
        switch step.lesson {
        case nil: return try sendStroke(step)
        case .changes(let changes)?:
            if changes.count == 1, let record = changes[0].record {
                return .changes(
                    changes,
                    try client.sendLarge(
                        record.payload.published, to: channel, customType: record.customType, key: record.key, retain: true))
            }
            if changes.count == 1 { return .changes(changes, try client.send(removing: changes[0].key, from: channel)) }
            let sent = changes.map { change in
                change.record.map { RecordChange(key: $0.key, payload: $0.payload.published, customType: $0.customType) }
                    ?? RecordChange(removing: change.key)
            }
            return .changes(changes, try client.send(changes: sent, to: channel))
        case .message(let payload, let customType, let key)?:
            return .large(try client.sendLarge(payload.published, to: channel, customType: customType, key: key))
        case .clear?:
            let board = try client.board(of: channel)
            return .asked(Task { try await board.clear().offset }, isClear: true)
        case .paper(let paper)?:
            let metadata = try client.metadata(of: .message(channel))
            return .asked(
                Task {
                    if let paper {
                        try await metadata.set([BoardWords.paperItem: paper])
                    } else {
                        try await metadata.remove([BoardWords.paperItem])
                    }
                    return nil
                }, isClear: false)
        case .packet?: preconditionFailure("a packet among messages")
        }
    }

    private func sendStroke(_ step: ReplayPlan.Step) throws -> Sent {
        let text = String(decoding: step.payload, as: UTF8.self)
        guard retains else { return .message(try client.send(.text(text), to: channel, customType: BoardWords.stroke, echo: false)) }
        let key = plan.drawing[step.stroke].id.text
        let record = WhiteboardRecord(key: key, customType: BoardWords.stroke, payload: .text(text))
        return .changes(
            [ReplayPlan.Change(record)],
            try client.sendLarge(.text(text), to: channel, customType: BoardWords.stroke, key: key, retain: true))
    }

    private func sendPacket(_ step: ReplayPlan.Step, place: Int) throws {
        do {
            if case .packet(let payload, let topic)? = step.lesson {
                try stream.send(payload.published, topic: topic)
            } else {
                try stream.send(.text(String(decoding: step.payload, as: UTF8.self)), topic: BoardWords.pointsTopic)
            }
            tally.withLock { $0.packetsSent += 1 }
        } catch {
            guard error.code != .clientClosed else { throw error }
            tally.withLock { $0.packetsRefused += 1 }
            verifier?.refused(place, from: user)
        }
    }

    private func answer(to receipt: Sent, place: Int, sentAt: ContinuousClock.Instant, endsStroke: Bool) async {
        let stroke = plan.steps[place].stroke
        var isAccepted = false
        do {
            // What was sent is sent: its answer counts, whether drawing was cancelled or not.
            let offset = try await Task { try await receipt.offset() }.value
            isAccepted = true
            let took = ContinuousClock.now - sentAt
            tally.withLock {
                $0.messagesAccepted += 1
                $0.roundTrips.add(took)
                if endsStroke { $0.strokesDone += 1 }
            }
            if let offset { verifier?.accepted(offset: offset) }
            switch receipt {
            case .changes(let changes, let receipt):
                audience?.strokeIsAccepted()
                audience?.stored(changes, upTo: try await Task { try await receipt.stored }.value)
            case .asked(_, isClear: true): if let offset { audience?.cleared(at: offset) }
            case .message, .large, .asked: break
            }
            if !plan.isLesson { store?.settled(stroke, isAccepted: true) }
        } catch {
            let refusal = error as? RelayError
            tally.withLock { $0.refusals[refusal?.name ?? "\(error)", default: 0] += 1 }
            if !plan.isLesson { store?.settled(stroke, isAccepted: false) }
            // What was accepted and then not stored has been delivered.
            if isAccepted || refusal?.code == .outcomeUnknown {
                verifier?.uncertain(place, from: user)
            } else {
                verifier?.refused(place, from: user)
            }
        }
    }

    /// Reads what arrives here until the client is closed: a user who does not read would be paused.
    ///
    /// - Returns: why the link has ended.
    package func read() async -> RelayError? {
        var reason: RelayError?
        for await event in client.told {
            if case .link(.closed(let end)) = event { reason = end }
            tally.withLock { tally in
                switch event {
                case .message: tally.messagesReceived += 1
                case .board(let batch): tally.messagesReceived += batch.messages.count
                case .packet: tally.packetsReceived += 1
                case .packetsLost(let lost):
                    for entry in lost.entries { tally.packetsLost += entry.last.map { Int($0 - entry.first) + 1 } ?? 0 }
                case .packetsDropped(let dropped): tally.packetsDropped += dropped.dropped
                case .messagesMissed: tally.messagesMissed += 1
                case .refused(let refusal) where refusal.subject == .packet: tally.packetsRefused += 1
                case .link(.waiting): tally.linksBroken += 1
                case .cleared, .direct, .presence, .topics, .metadata, .locks, .caughtUp, .refused, .accessExpiring, .accessChanged,
                    .channelMode, .joinCodeEnded, .link:
                    break
                }
            }
            switch event {
            case .packetsDropped(let dropped): verifier?.dropped(dropped.dropped, from: user)
            case .refused(let refusal) where refusal.subject == .packet: verifier?.dropped(1, from: user)
            default: break
            }
        }
        return reason
    }
}

extension ReplayPlan.Step {
    /// How many messages of the rate it costs.
    fileprivate var messages: Int {
        guard case .changes(let changes)? = lesson else { return 1 }
        let bytes = changes.reduce(0) { $0 + $1.bytes }
        return max(1, (changes.count + 63) / 64, (bytes + BoardLimits.messageBytesMax - 1) / BoardLimits.messageBytesMax)
    }

    /// Whether what comes next must not be sent before this is accepted.
    fileprivate var waits: Bool {
        switch lesson {
        case nil: payload.count + BoardWords.stroke.utf8.count > BoardLimits.messageBytesMax
        case .changes(let changes)?: changes.count > 1 || changes.contains { $0.bytes > BoardLimits.messageBytesMax }
        case .message(let payload, let customType, _)?:
            payload.count + (customType?.utf8.count ?? 0) > BoardLimits.messageBytesMax
        case .clear?, .paper?: true
        case .packet?: false
        }
    }
}

/// The rates that the protocol gives every user; a relay with lower ones refuses, and the summary says so.
enum ReplayRates {
    static let messagesPerSecond = ServerLimits().messagesPerSecond
    static let packetsPerSecond = ServerLimits().packetsPerSecond
    /// [RT7]
    static let metadataCallsPerSecond = 10
}
