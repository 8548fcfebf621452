internal import RelayClientCore
internal import RelayCore
import RelayPrimitives
internal import RelayWire

/// A client machine, its link, and an app that paints a board from what it is told.
final class BoardApp {
    /// A record as an app knows it.
    struct Record: Equatable {
        var offset: UInt64
        var payload: UInt64
    }

    /// One of a change set; without a payload it removes.
    struct Change {
        var key: String
        var payload: UInt64?
    }

    enum Sent {
        case record(key: String, payload: UInt64?)
        case changes([Change])
        case plain(payload: UInt64)
        case clear
        case undo
        case open
        /// Asked when the channel was there.
        case barrier(epoch: Epoch, head: UInt64)
        case other

        /// Whether it is of records.
        var isKept: Bool {
            switch self {
            case .record, .changes: true
            case .plain, .clear, .undo, .open, .barrier, .other: false
            }
        }
    }

    let name: String
    private let events: ReaderFeed.ID
    var readable: ReadableMachine
    var machine: ClientMachine {
        get { readable.machine }
        _modify { yield &readable.machine }
    }
    var openings: [ClientToken: ReadableMachine.Opening] = [:]
    var wasOpen = false
    /// Of what it has stopped waiting for it does not hear whether it begins the board.
    var hasGivenUp = false
    /// It may change only records of its own. [BL10]
    var isEditor = false
    var connection: ConnectionLink?
    /// The app reads no events before, in nanoseconds; and no link of its can be made before.
    var readsFrom: UInt64 = 0
    var unreachableUntil: UInt64 = 0
    var opening: UInt64?
    private var lastToken: ClientToken = 0
    var waiting: [ClientToken: Sent] = [:]
    /// Calls that are accepted in their order, and the newest of those, in a run of the relay. [MS10]
    var ordered: Set<ClientToken> = []
    private var newest: (run: Int, call: ClientToken, offset: UInt64)?

    /// What it paints, by key.
    private(set) var shown: [String: Record] = [:]
    private var beginnings = 0
    private var lastOffset: (epoch: Epoch, offset: UInt64)?
    /// Unretained messages that came, and ranges told missed.
    private(set) var plain: [Epoch: Set<UInt64>] = [:]
    private(set) var missed: [Epoch: [ClosedRange<UInt64>]] = [:]
    private(set) var resets = 0
    private(set) var batches = 0
    private(set) var drawings = 0

    init(_ name: String, _ settings: ClientSettings, at now: Instant) {
        self.name = name
        readable = ReadableMachine(ClientMachine(settings: settings))
        events = readable.open(at: now) { item in
            if case .event = item.content, !item.audience.contains(.calls) { nil } else { item }
        }
    }

    func token(_ sent: Sent) -> ClientToken {
        lastToken += 1
        waiting[lastToken] = sent
        return lastToken
    }

    /// Whatever is refused, what follows it does not overtake what came before it.
    func accepted(_ call: ClientToken, at offset: UInt64, run: Int) throws {
        guard ordered.remove(call) != nil else { return }
        if let newest, newest.run == run, (call > newest.call) != (offset > newest.offset) {
            throw BrokenPromise("[MS10] \(name): call \(call) was accepted at \(offset), and call \(newest.call) at \(newest.offset)")
        }
        if newest.map({ $0.run != run || $0.call < call }) ?? true { newest = (run, call, offset) }
    }

    // MARK: - Events

    /// What it has not read yet.
    func nextItem(at now: Instant) -> ReaderItem.Content? {
        if case .item(let item) = readable.take(events, at: now) { item.content } else { nil }
    }

    func read(_ item: ReaderItem.Content) throws {
        switch item {
        case .event(let event): try read(event)
        case .change(channel: _, let change): paint(change)
        }
    }

    private func paint(_ change: BoardChange) {
        switch change {
        case .records(let records, progress: _, receipt: _):
            for record in records { shown[record.key] = record.payload.map { Record(offset: record.offset!, payload: $0.digest) } }
        case .cleared(let cleared): shown = shown.filter { $0.value.offset > cleared.offset }
        case .reset: shown = [:]
        case .missed, .caughtUp: break
        }
    }

    private func read(_ event: ClientEvent) throws {
        switch event {
        case .message(let message): try take(message)
        case .board(let batch):
            batches += 1
            guard !batch.messages.isEmpty, (0...1).contains(batch.progress) else {
                throw BrokenPromise("\(name): an empty batch, or progress \(batch.progress)")
            }
            for message in batch.messages { try take(message) }
        case .cleared(let cleared): try order(cleared.offset, lastOffset?.epoch, "cleared")
        case .messagesMissed(let missed):
            switch missed.extent {
            case .reset:
                resets += 1
                lastOffset = nil
            case .range(let range): if let epoch = missed.epoch { self.missed[epoch, default: []].append(range) }
            }
        default: break
        }
    }

    /// It asks for the board anew, and may have had some of it: offsets begin again, once.
    func asksAgain() { beginnings += 1 }

    /// Nothing is left that could begin again.
    func hasReadAll() { if beginnings > 0, openings.isEmpty, !hasGivenUp, picture.isComplete { beginnings = 0 } }

    var picture: BoardPicture { readable.picture(BoardSimulation.channel.text, for: 0) }

    private func take(_ message: Message) throws {
        guard let epoch = message.epoch else { throw BrokenPromise("[CH5] \(name): a message without an epoch") }
        try order(message.offset, epoch, message.key ?? "plain")
        if !message.isRetained {
            plain[epoch, default: []].insert(message.offset)
        } else if message.payload.byteCount > BoardSimulation.messageBytes {
            drawings += 1
        }
    }

    /// Offsets only rise, over all resumptions and restarts, but for a reset. [CH5, BL3, BL5]
    private func order(_ offset: UInt64, _ epoch: Epoch?, _ what: String) throws {
        if let last = lastOffset, offset <= last.offset, epoch == nil || epoch == last.epoch, beginnings > 0 {
            beginnings -= 1
            lastOffset = nil
        }
        if let lastOffset, offset <= lastOffset.offset, epoch == nil || epoch == lastOffset.epoch {
            throw BrokenPromise("[MS4, BL3] \(name) got \(what) at \(offset) after \(lastOffset.offset)")
        }
        if let epoch = epoch ?? lastOffset?.epoch { lastOffset = (epoch, offset) }
    }
}

/// Bytes under way between one app and the relay.
struct ConnectionLink {
    let attempt: UInt64
    let id: ConnectionID
    var toRelay: [UInt8] = []
    var toClient: [UInt8] = []
}
