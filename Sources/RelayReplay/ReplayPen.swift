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
    package let client: RelayClient
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
    package static func enter(_ client: RelayClient, as user: String, channel: String, plan: ReplayPlan) async throws -> ReplayPen {
        try await enter(
            client, as: user, channel: channel, plan: plan, tally: Mutex(ReplayTally()), verifier: nil, retains: true, audience: nil,
            store: nil)
    }

    /// Enters both channels as any user of a board does, and takes part: it receives what the others draw.
    static func enter(
        _ client: RelayClient, as user: String, channel: String, plan: ReplayPlan, tally: Mutex<ReplayTally>,
        verifier: ReplayWitness?, retains: Bool, audience: ReplayAudience?, store kind: ReplayStoreKind?
    ) async throws -> ReplayPen {
        try await client.subscribe(channel, features: [.messages], quiet: false)
        let stream = try await client.join(channel, features: [], quiet: false)
        try await stream.subscribeTopic(BoardWords.pointsTopic, users: .all)
        try await stream.joinTopic(BoardWords.pointsTopic)
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
        enum Part { case allSent, linkEnded(LinkEndReason?) }
        try await withThrowingTaskGroup(of: Part.self) { group in
            group.addTask { .linkEnded(await read()) }
            group.addTask {
                try await sendAndSave()
                try await stream.leaveTopic(BoardWords.pointsTopic)
                return .allSent
            }
            do {
                switch try await group.next() {
                case .allSent, nil: break
                case .linkEnded(let reason): throw Failure("\(user): \(Printable.escaped(EventText.words(reason ?? .closedByApp)))")
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
            // A user who cannot save any more stops drawing.
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
                let payload = Payload.text(String(decoding: step.payload, as: UTF8.self))
                switch step.lane {
                case .packet:
                    packets.sent(at: clock.now - begin)
                    try sendPacket(payload, place: place)
                case .message:
                    messages.sent(at: clock.now - begin)
                    let sentAt = clock.now
                    let receipt = try sendStroke(payload, place: place)
                    tally.withLock { $0.messagesSent += 1 }
                    let endsStroke = plan.endsStroke(place)
                    answers.addTask { await answer(to: receipt, place: place, sentAt: sentAt, endsStroke: endsStroke) }
                    // What comes in parts gives way to what is sent after it: a pen that waits keeps the order.
                    if step.payload.count + BoardWords.stroke.utf8.count > BoardLimits.messageBytesMax { _ = try? await receipt.offset() }
                }
            }
            try await answers.waitForAll()
        }
    }

    private enum Sent: Sendable {
        case message(Receipt)
        case record(StoredReceipt)

        func offset() async throws(RelayError) -> UInt64 {
            switch self {
            case .message(let receipt): try await receipt.value.offset
            case .record(let receipt): try await receipt.accepted
            }
        }
    }

    private func sendStroke(_ payload: Payload, place: Int) throws -> Sent {
        guard retains else { return .message(try client.send(payload, to: channel, customType: BoardWords.stroke, echo: false)) }
        let key = plan.drawing[plan.steps[place].stroke].id.text
        return .record(try client.sendLarge(payload, to: channel, customType: BoardWords.stroke, key: key, retain: true))
    }

    private func sendPacket(_ payload: Payload, place: Int) throws {
        do {
            try stream.send(payload, topic: BoardWords.pointsTopic)
            tally.withLock { $0.packetsSent += 1 }
        } catch {
            guard error.code != .clientClosed else { throw error }
            tally.withLock { $0.packetsRefused += 1 }
            verifier?.refused(place, from: user)
        }
    }

    private func answer(to receipt: Sent, place: Int, sentAt: ContinuousClock.Instant, endsStroke: Bool) async {
        var isAccepted = false
        do {
            let offset = try await receipt.offset()
            isAccepted = true
            let took = ContinuousClock.now - sentAt
            tally.withLock {
                $0.messagesAccepted += 1
                $0.roundTrips.add(took)
                if endsStroke { $0.strokesDone += 1 }
            }
            verifier?.accepted(offset: offset)
            if case .record(let receipt) = receipt {
                audience?.strokeIsAccepted()
                let stored = try await receipt.stored
                let stroke = plan.drawing[plan.steps[place].stroke].id.text
                let payload = String(decoding: plan.steps[place].payload, as: UTF8.self)
                audience?.stored(BoardRecord(key: stroke, customType: BoardWords.stroke, payload: .text(payload)), at: stored)
            }
            store?.settled(plan.steps[place].stroke, isAccepted: true)
        } catch {
            tally.withLock { $0.refusals[error.name, default: 0] += 1 }
            store?.settled(plan.steps[place].stroke, isAccepted: false)
            // What was accepted and then not stored has been delivered.
            if isAccepted || error.code == .outcomeUnknown {
                verifier?.uncertain(place, from: user)
            } else {
                verifier?.refused(place, from: user)
            }
        }
    }

    /// Reads what arrives here until the client is closed: a user who does not read would be paused.
    ///
    /// - Returns: why the link has ended.
    package func read() async -> LinkEndReason? {
        var reason: LinkEndReason?
        for await event in client.events {
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
                case .link(.waiting), .link(.paused): tally.linksBroken += 1
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

/// The rates that the protocol gives every user; a relay with lower ones refuses, and the summary says so.
enum ReplayRates {
    static let messagesPerSecond = ServerLimits().messagesPerSecond
    static let packetsPerSecond = ServerLimits().packetsPerSecond
    /// [RT7]
    static let metadataCallsPerSecond = 10
}
