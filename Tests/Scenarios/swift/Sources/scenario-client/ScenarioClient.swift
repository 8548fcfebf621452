import Foundation
import RelayClient

/// Carries out commands, and says what comes of them.
@MainActor
final class ScenarioClient {
    private let client: WhiteboardClient
    private var listening: Task<Void, Never>?
    private var boards: [String: BoardRecords] = [:]
    private var streams: [String: Task<StreamChannel, any Error>] = [:]

    init(_ client: WhiteboardClient) { self.client = client }

    // MARK: - Events

    /// Tells what is there before it returns to the caller's next turn, and then what comes.
    func listen() {
        listening?.cancel()
        listening = Task {
            var events = client.events.makeAsyncIterator()
            while let event = await events.next() { tell(event) }
        }
    }

    private func tell(_ event: RelayEvent) {
        switch event {
        case .message(let message): tell(message)
        case .board(let batch): for message in batch.messages { tell(message) }
        case .cleared(let board):
            boards[board.channel]?.clear(below: board.offset)
            Line(is: "cleared", channel: board.channel, offset: board.offset).say()
        case .messagesMissed(let missed):
            switch missed.extent {
            case .range(let range): Line(is: "missed", channel: missed.channel, from: range.from, to: range.to).say()
            case .reset:
                boards[missed.channel]?.reset()
                Line(is: "reset", channel: missed.channel).say()
            }
        case .caughtUp(let channel): boards[channel.channel]?.caughtUp(at: channel.head)
        case .packet(let packet):
            Line(is: "packet", channel: packet.channel, user: packet.publisher, mark: mark(packet.payload), topic: packet.topic,
                 flow: packet.flow, sequence: packet.sequence).say()
        case .packetsLost(let lost):
            for entry in lost.entries { Line(is: "lost", flow: entry.flow, first: entry.first, last: entry.last).say() }
        case .link(.connected(let resumed)): Line(is: "link", state: "up", resumed: resumed).say()
        case .link(.waiting): Line(is: "link", state: "down").say()
        default: break
        }
    }

    private func tell(_ message: Message) {
        Line(is: "message", channel: message.channel, user: message.sender, key: message.isRetained ? message.key : nil,
             sha256: digest(message.payload), mark: mark(message.payload), size: message.payload.byteCount, offset: message.offset,
             epoch: message.epoch.map { [$0.start, $0.incarnation] }).say()
        guard message.isRetained, let key = message.key else { return }
        boards[message.channel]?.put(key, .init(offset: message.offset, payload: message.isRemoval ? nil : message.payload))
    }

    // MARK: - Commands

    func carryOut(_ command: Command) {
        let id = command.id, channel = command.channel ?? "", topic = command.topic ?? "", client = client
        let payload = Payload.bytes(Array(command.payload ?? Data()))
        do throws(RelayError) {
            switch command.do {
            case "subscribe":
                if command.since == "beginning" { boards[channel] = BoardRecords() }
                let since: Since? = command.since == "beginning" ? .beginning : nil
                settle(id) {
                    try await client.subscribe(channel, features: [.messages], since: since)
                    return Line(is: "done", id: id)
                }
            case "publish":
                if let key = command.key {
                    follow(command, try client.sendLarge(payload, to: channel, key: key, retain: true), [(key, payload)])
                } else {
                    let receipt = try client.send(payload, to: channel)
                    settle(id) { Line(is: "accepted", id: id, offset: try await receipt.value.offset) }
                }
            case "remove":
                let key = command.key ?? ""
                follow(command, try client.send(removing: key, from: channel), [(key, nil)])
            case "changes":
                let changes = (command.changes ?? []).map { change in
                    change.payload.map { RecordChange(key: change.key, payload: .bytes(Array($0))) } ?? RecordChange(removing: change.key)
                }
                follow(command, try client.send(changes: changes, to: channel), changes.map { ($0.key, $0.payload) })
            case "clear":
                settle(id) { Line(is: "done", id: id, offset: try await client.board(of: channel).clear().offset) }
            case "undoClear":
                settle(id) { Line(is: "done", id: id, offset: try await client.board(of: channel).undoClear().offset) }
            case "barrier":
                settle(id) {
                    try await client.barrier(in: channel)
                    // What came before the answer may wait in `events`, and is to be told before it.
                    self.listen()
                    await Task.yield()
                    return Line(is: "done", id: id)
                }
            case "board": Line(is: "board", id: id, channel: channel, records: boards[channel]?.lines ?? []).say()
            case "joinTopic", "subscribeTopic", "packet": stream(command, channel, topic, payload)
            default: throw RelayError(.badRequest, "no command \(command.do)")
            }
        } catch {
            tell(error, of: id)
        }
    }

    private func tell(_ error: any Error, of id: String) {
        let code = (error as? RelayError)?.code
        if code == .outcomeUnknown {
            Line(is: "unknown", id: id).say()
        } else {
            Line(is: "refused", id: id, code: code.map { Int($0.rawValue) } ?? 0).say()
        }
    }

    private func settle(_ id: String, _ answer: @escaping @MainActor () async throws -> Line) {
        Task {
            do { try await answer().say() } catch { tell(error, of: id) }
        }
    }

    /// Tells how far a record, or a change set, has come, and shows it on the own board.
    private func follow(_ command: Command, _ receipt: StoredReceipt, _ changes: [(key: String, payload: Payload?)]) {
        let id = command.id, channel = command.channel ?? ""
        settle(id) {
            Line(is: "accepted", id: id, offset: try await receipt.accepted).say()
            let offset = try await receipt.stored
            for (place, change) in changes.enumerated() {
                let own = offset + UInt64(place + 1) - UInt64(changes.count)
                self.boards[channel]?.putOwn(change.key, .init(offset: own, payload: change.payload))
            }
            return Line(is: "stored", id: id, offset: offset)
        }
    }

    private func stream(_ command: Command, _ channel: String, _ topic: String, _ payload: Payload) {
        let client = client
        let joined = streams[channel] ?? Task { try await client.join(channel, features: []) }
        streams[channel] = joined
        Task {
            let stream = try await joined.value
            switch command.do {
            case "joinTopic": _ = try await stream.joinTopic(topic)
            case "subscribeTopic": _ = try await stream.subscribeTopic(topic)
            default: try stream.send(payload, topic: topic, slot: command.slot)
            }
        }
    }
}
