internal import RelayClientCore
internal import RelayCore
internal import RelayWire

/// A client machine, its link, and an app that paints a board from what it is told.
final class BoardApp {
    /// A record as an app knows it; without a payload it was removed.
    struct Record: Equatable {
        var offset: UInt64
        var payload: UInt64?
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
        case subscribe
        /// Asked when the channel was there.
        case barrier(epoch: Epoch, head: UInt64)
        case other

        /// Whether it is of records.
        var isKept: Bool {
            switch self {
            case .record, .changes: true
            case .plain, .clear, .undo, .subscribe, .barrier, .other: false
            }
        }
    }

    let name: String
    var machine: ClientMachine
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

    // What it paints.
    private(set) var picture: [String: Record] = [:]
    /// What it has stored itself, which does not come back to it.
    private var own: [String: Record] = [:]
    private var clearedAt: UInt64 = 0
    private var isReset = false
    /// Up to here all of its own has come, or is gone: the board was read anew.
    private var readThrough: UInt64 = 0
    private var beginnings = 0
    private var lastOffset: (epoch: Epoch, offset: UInt64)?
    /// Unretained messages that came, and ranges told missed.
    private(set) var plain: [Epoch: Set<UInt64>] = [:]
    private(set) var missed: [Epoch: [ClosedRange<UInt64>]] = [:]
    private(set) var resets = 0
    private(set) var batches = 0
    private(set) var drawings = 0

    init(_ name: String, _ settings: ClientSettings) {
        self.name = name
        machine = ClientMachine(settings: settings)
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

    func read(_ event: ClientEvent) throws {
        switch event {
        case .message(let message): try take(message)
        case .board(let batch):
            batches += 1
            guard !batch.messages.isEmpty, (0...1).contains(batch.progress) else {
                throw BrokenPromise("\(name): an empty batch, or progress \(batch.progress)")
            }
            for message in batch.messages { try take(message) }
        case .cleared(let cleared):
            try order(cleared.offset, lastOffset?.epoch, "cleared")
            clearedAt = max(clearedAt, cleared.offset)
            picture = picture.filter { $0.value.offset > cleared.offset }
        case .messagesMissed(let missed):
            switch missed.extent {
            case .reset:
                resets += 1
                picture = [:]
                clearedAt = 0
                readThrough = 0
                isReset = true
                lastOffset = nil
            case .range(let range): if let epoch = missed.epoch { self.missed[epoch, default: []].append(range) }
            }
        case .caughtUp(channel: _, let head):
            // All that it had stored by then has come, but for what was removed since.
            if isReset {
                readThrough = head
                own = own.filter { $0.value.offset > head }
            }
            isReset = false
        default: break
        }
    }

    /// It asks for the board anew, and may have had some of it: offsets begin again, once.
    func asksAgain() { beginnings += 1 }

    private func take(_ message: Message) throws {
        guard let epoch = message.epoch else { throw BrokenPromise("[CH5] \(name): a message without an epoch") }
        try order(message.offset, epoch, message.key ?? "plain")
        guard message.isRetained, let key = message.key else {
            plain[epoch, default: []].insert(message.offset)
            return
        }
        if message.payload.byteCount > BoardSimulation.messageBytes { drawings += 1 }
        picture[key] = Record(offset: message.offset, payload: message.isRemoval ? nil : message.payload.digest)
    }

    /// Offsets only rise, over all resumptions and restarts, but for a reset. [CH5, BL3, BL5]
    private func order(_ offset: UInt64, _ epoch: Epoch?, _ what: String) throws {
        if let last = lastOffset, offset <= last.offset, epoch == nil || epoch == last.epoch, beginnings > 0 {
            beginnings -= 1
            picture = [:]
            clearedAt = 0
            lastOffset = nil
        }
        if let lastOffset, offset <= lastOffset.offset, epoch == nil || epoch == lastOffset.epoch {
            throw BrokenPromise("[MS4, BL3] \(name) got \(what) at \(offset) after \(lastOffset.offset)")
        }
        if let epoch = epoch ?? lastOffset?.epoch { lastOffset = (epoch, offset) }
    }

    func stored(_ key: String, _ payload: UInt64?, at offset: UInt64) {
        // What it is told late was among what it read, or has been replaced, removed or cleared since. [BL3]
        guard offset > readThrough else { return }
        if own[key].map({ $0.offset < offset }) ?? true { own[key] = Record(offset: offset, payload: payload) }
    }

    /// What it shows, its own records among it.
    var shown: [String: Record] {
        var shown = picture
        for (key, record) in own where record.offset > clearedAt && record.offset > shown[key]?.offset ?? 0 { shown[key] = record }
        return shown.filter { $0.value.payload != nil }
    }
}

/// Bytes under way between one app and the relay.
struct ConnectionLink {
    let attempt: UInt64
    let id: ConnectionID
    var toRelay: [UInt8] = []
    var toClient: [UInt8] = []
}
