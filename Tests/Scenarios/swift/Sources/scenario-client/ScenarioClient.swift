import Foundation
import RelayClient

/// Carries out commands, and says what comes of them.
@MainActor
final class ScenarioClient {
    /// A topic, from its command on.
    private enum Publishing {
        case starting(held: [(payload: Payload, slot: UInt32?)])
        case started(TopicPublisher)
    }

    private let client: WhiteboardClient
    private var publishing: [String: Publishing] = [:]
    /// Who waits until all events before a mark were told, by the mark.
    private var marks: [UInt64: CheckedContinuation<Void, Never>] = [:]
    /// A scenario lasts as long as it lasts.
    private let patient = CallOptions(timeout: .seconds(86_400))

    init(_ client: WhiteboardClient) {
        self.client = client
        let events = client.events()
        Task { for try await event in events { tell(event) } }
        Task { try await client.connect() }
    }

    // MARK: - Events

    private func tell(_ event: RelayEvent) {
        switch event {
        case .message(let message): tell(message)
        case .board(let batch): for message in batch.messages { tell(message) }
        case .cleared(let board): Line(is: "cleared", channel: board.channel, offset: board.offset).say()
        case .messagesMissed(let missed):
            switch missed.extent {
            case .range(let range): Line(is: "missed", channel: missed.channel, from: range.lowerBound, to: range.upperBound).say()
            case .reset: Line(is: "reset", channel: missed.channel).say()
            }
        case .packet(let packet):
            Line(is: "packet", channel: packet.channel, user: packet.publisher, mark: mark(packet.payload), topic: packet.topic,
                 flow: packet.flow, sequence: packet.sequence).say()
        case .packetsLost(let lost):
            for entry in lost.entries { Line(is: "lost", flow: entry.flow, first: entry.first, last: entry.last).say() }
        case .link(.connected(let resumed)): Line(is: "link", state: "up", resumed: resumed).say()
        case .link(.waiting): Line(is: "link", state: "down").say()
        case .refused(let problem): problem.receipt.flatMap { marks.removeValue(forKey: $0) }?.resume()
        default: break
        }
    }

    private func tell(_ message: Message) {
        // Own records are told by their receipts.
        guard message.receipt == nil else { return }
        Line(is: "message", channel: message.channel, user: message.sender, key: message.isRetained ? message.key : nil,
             sha256: digest(message.payload), mark: mark(message.payload), size: message.payload.byteCount, offset: message.offset,
             epoch: message.epoch.map { [$0.start, $0.incarnation] }).say()
    }

    /// Returns when all events that have come were told: the failure of a receipt that nobody awaits comes behind them.
    private func tellAll() async throws {
        func mark() throws -> UInt64 { try client.person("nobody").send("mark").id }
        let mark = try mark()
        await withCheckedContinuation { marks[mark] = $0 }
    }

    // MARK: - Commands

    func carryOut(_ command: Command) {
        let id = command.id, patient = patient
        let payload = Payload(command.payload ?? Data())
        do throws(RelayError) {
            let place = try client.channel(command.channel ?? "")
            switch command.do {
            case "subscribe":
                settle(id) {
                    try await place.open([.messages], from: command.since == "beginning" ? .board : .now, call: patient)
                    return Line(is: "done", id: id)
                }
            case "publish":
                if let key = command.key {
                    follow(id, try place.board.put(payload, key: key))
                } else {
                    let receipt = try place.send(payload)
                    settle(id) { Line(is: "accepted", id: id, offset: try await receipt.accepted) }
                }
            case "remove": follow(id, try place.board.remove(command.key ?? ""))
            case "changes":
                let receipt = try place.board.batch { batch in
                    for change in command.changes ?? [] {
                        if let payload = change.payload { batch.put(Payload(payload), key: change.key) } else { batch.remove(change.key) }
                    }
                }
                follow(id, receipt)
            case "clear": settle(id) { Line(is: "done", id: id, offset: try await place.board.clear(call: patient).offset) }
            case "undoClear": settle(id) { Line(is: "done", id: id, offset: try await place.board.undoClear(call: patient).offset) }
            case "barrier":
                settle(id) {
                    try await place.upToDate(call: patient)
                    try await self.tellAll()
                    return Line(is: "done", id: id)
                }
            case "board":
                settle(id) {
                    let records = try await place.board.records(call: patient).values.compactMap { record in
                        record.payload.map { Line.Record(key: record.key, offset: record.offset ?? 0, sha256: digest($0)) }
                    }
                    return Line(is: "board", id: id, channel: place.name, records: records)
                }
            case "joinTopic", "subscribeTopic", "packet": stream(command, try place.topic(command.topic ?? ""), payload)
            default: Line(is: "refused", id: id, code: Int(ErrorCode.badRequest.rawValue)).say()
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

    /// Tells how far a record, or a batch, has come.
    private func follow(_ id: String, _ receipt: StoredReceipt) {
        settle(id) {
            Line(is: "accepted", id: id, offset: try await receipt.accepted).say()
            return Line(is: "stored", id: id, offset: try await receipt.stored)
        }
    }

    private func stream(_ command: Command, _ topic: Topic, _ payload: Payload) {
        let name = "\(command.channel ?? "") \(topic.name)", patient = patient
        switch command.do {
        case "joinTopic":
            publishing[name] = .starting(held: [])
            Task {
                let publisher = try await topic.startPublishing(call: patient)
                if case .starting(let held) = publishing[name] {
                    for packet in held { try? publisher.send(packet.payload, slot: packet.slot) }
                }
                publishing[name] = .started(publisher)
            }
        case "subscribeTopic": Task { try await topic.follow(call: patient) }
        default:
            switch publishing[name] {
            case .starting(let held): publishing[name] = .starting(held: held + [(payload, command.slot)])
            case .started(let publisher): try? publisher.send(payload, slot: command.slot)
            case nil: break
            }
        }
    }
}
