import RelayPrimitives
import RelayWire

/// What a reader gets.
package struct ReaderItem: Sendable {
    package enum Content: Sendable {
        case event(ClientEvent)
        case change(channel: String, BoardChange)
    }

    /// For whom it is.
    package struct Audience: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Readers of handles, for whom both channels of a name are one.
        package static let handles = Audience(rawValue: 1)
        /// Readers that keep message and stream channels apart.
        package static let calls = Audience(rawValue: 2)
    }

    package var content: Content
    package var audience: Audience

    var packet: Packet? { if case .event(.packet(let packet)) = content { packet } else { nil } }
    var lag: PacketsLost? { if case .event(.packetsLost(let lost)) = content, lost.reason == .readerLag { lost } else { nil } }
}

/// What readers of a client have not taken: each has a cursor of its own, and what several wait for is held once.
///
/// A reader that lags loses packets first, told in the place of the first of them. Then it holds the relay back, while a channel catches
/// up; else it ends with `tooSlow`.
package struct ReaderFeed: Sendable {
    /// Which reader.
    package typealias ID = UInt64
    /// What a reader gets of an item; `nil`: nothing.
    package typealias View = @Sendable (ReaderItem) -> ReaderItem?

    /// What a reader that asks is given.
    package enum Taken: Sendable {
        case item(ReaderItem)
        case nothing
        /// The last; with why, if there is a reason.
        case end(RelayError?)
    }

    private struct Slot: Sendable {
        var item: ReaderItem
        var cost: Int
        var readers: Int
    }

    private enum Entry: Sendable {
        case shared(UInt64)
        case own(ReaderItem, cost: Int)
    }

    private struct Cursor: Sendable {
        var id: ID
        var view: View
        var entries = FIFO<Entry>()
        /// What they hold.
        var bytes = 0
        var takenAt: Instant
        /// It holds the relay back.
        var isFull = false
        var isEnded = false
        var error: RelayError?
    }

    private var cursors: [Cursor] = []
    private var slots: [UInt64: Slot] = [:]
    private var lastID: ID = 0
    private var lastSlot: UInt64 = 0
    /// What all of them hold together; what several wait for counts once.
    package private(set) var bytes = 0

    private let patience: Duration

    /// - Parameter patience: how long a reader that takes nothing may hold the relay back.
    package init(patience: Duration) { self.patience = patience }

    // MARK: - Readers

    package mutating func open(at now: Instant, view: @escaping View) -> ID {
        lastID += 1
        cursors.append(Cursor(id: lastID, view: view, takenAt: now))
        return lastID
    }

    private func place(_ id: ID) -> Int? { cursors.firstIndex { $0.id == id } }

    /// Whether a reader that asks gets something.
    package func isReady(_ id: ID) -> Bool { place(id).map { !cursors[$0].entries.isEmpty || cursors[$0].isEnded } ?? true }

    /// The reader ends behind what it has not taken.
    package mutating func finish(_ id: ID, _ error: RelayError? = nil) {
        guard let at = place(id), !cursors[at].isEnded else { return }
        cursors[at].isFull = false
        cursors[at].isEnded = true
        cursors[at].error = error
    }

    package mutating func finishAll() {
        for cursor in cursors { finish(cursor.id) }
    }

    /// The reader is gone.
    package mutating func close(_ id: ID) {
        guard let at = place(id) else { return }
        let cursor = cursors.remove(at: at)
        for entry in cursor.entries.elements { release(entry) }
    }

    package mutating func take(_ id: ID, at now: Instant) -> Taken {
        guard let at = place(id) else { return .end(nil) }
        guard let entry = cursors[at].entries.popFirst() else {
            guard cursors[at].isEnded else { return .nothing }
            defer { cursors[at].error = nil }
            return .end(cursors[at].error)
        }
        let item =
            switch entry {
            case .shared(let slot): cursors[at].view(slots[slot]!.item)!
            case .own(let item, cost: _): item
            }
        cursors[at].bytes -= cost(entry)
        release(entry)
        cursors[at].takenAt = now
        if cursors[at].bytes <= ClientLimits.readerBytesMax / 2 { cursors[at].isFull = false }
        return .item(item)
    }

    // MARK: - What comes

    /// Hands an item to each reader that wants it.
    ///
    /// - Parameters:
    ///   - cost: what it holds, in bytes.
    ///   - mayWait: whether the relay may be held back for it.
    /// - Returns: the readers that get it.
    @discardableResult
    package mutating func append(_ item: ReaderItem, cost: Int, mayWait: Bool, at now: Instant) -> Int {
        var readers = 0
        for at in cursors.indices where !cursors[at].isEnded && cursors[at].view(item) != nil {
            if readers == 0 {
                lastSlot += 1
                slots[lastSlot] = Slot(item: item, cost: cost, readers: 0)
                bytes += cost
            }
            readers += 1
            slots[lastSlot]!.readers += 1
            if cursors[at].entries.isEmpty { cursors[at].takenAt = now }
            cursors[at].entries.append(.shared(lastSlot))
            cursors[at].bytes += cost
        }
        guard readers > 0 else { return 0 }
        for at in cursors.indices where lags(at) { relieve(at, mayWait: mayWait) }
        while bytes > ClientLimits.readersBytesMax {
            let most = cursors.indices.filter { cursors[$0].entries.count > 1 && !cursors[$0].isFull }.max {
                cursors[$0].bytes < cursors[$1].bytes
            }
            guard let most else { break }
            relieve(most, mayWait: mayWait)
        }
        return readers
    }

    /// For one reader alone.
    package mutating func append(own item: ReaderItem, cost: Int, to id: ID) {
        guard let at = place(id) else { return }
        cursors[at].entries.append(.own(item, cost: cost))
        cursors[at].bytes += cost
        bytes += cost
    }

    private func cost(_ entry: Entry) -> Int {
        switch entry {
        case .shared(let slot): slots[slot]!.cost
        case .own(_, let cost): cost
        }
    }

    private mutating func release(_ entry: Entry) {
        switch entry {
        case .own(_, let cost): bytes -= cost
        case .shared(let slot):
            slots[slot]!.readers -= 1
            guard slots[slot]!.readers == 0 else { return }
            bytes -= slots[slot]!.cost
            slots[slot] = nil
        }
    }

    // MARK: - Readers that lag

    /// The newest never counts: a large one would end a reader that keeps up.
    private func lags(_ at: Int) -> Bool {
        guard cursors[at].entries.count > 1, !cursors[at].isEnded else { return false }
        return cursors[at].bytes - cost(cursors[at].entries.elements.last!) > ClientLimits.readerBytesMax
    }

    private mutating func relieve(_ at: Int, mayWait: Bool) {
        dropPackets(at)
        guard lags(at) || cursors[at].entries.count > 1 && bytes > ClientLimits.readersBytesMax else { return }
        if mayWait { cursors[at].isFull = true } else { tooSlow(at) }
    }

    private mutating func dropPackets(_ at: Int) {
        var lost = LostPackets()
        var kept: [Entry] = []
        var place = 0
        for entry in cursors[at].entries.elements {
            let item =
                switch entry {
                case .shared(let slot): cursors[at].view(slots[slot]!.item)!
                case .own(let item, cost: _): item
                }
            let isLost = lost.take(item)
            if isLost {
                if lost.count == 1 { place = kept.count }
                cursors[at].bytes -= cost(entry)
                release(entry)
            } else {
                kept.append(entry)
            }
        }
        guard lost.count > 0 else { return }
        let cost = ClientEvent.packetsLost(lost.told).cost
        kept.insert(.own(ReaderItem(content: .event(.packetsLost(lost.told)), audience: [.handles, .calls]), cost: cost), at: place)
        cursors[at].entries = FIFO(kept)
        cursors[at].bytes += cost
        bytes += cost
    }

    private mutating func tooSlow(_ at: Int) {
        let (limit, actual) = (ClientLimits.readerBytesMax, cursors[at].bytes)
        for entry in cursors[at].entries.elements { release(entry) }
        cursors[at].entries.removeAll()
        cursors[at].bytes = 0
        finish(
            cursors[at].id,
            RelayError(.tooSlow, "a reader may lag by \(limit) bytes, not \(actual)", limit: limit, actual: actual))
    }

    package var holdsBack: Bool { cursors.contains { $0.isFull } }

    /// When a reader that holds the relay back is given up.
    package var nextDeadline: Instant? { cursors.filter(\.isFull).map { $0.takenAt + patience }.min() }

    package mutating func deadline(at now: Instant) {
        for at in cursors.indices where cursors[at].isFull && now >= cursors[at].takenAt + patience { tooSlow(at) }
    }
}

/// Packets that a reader will not get, by flow.
private struct LostPackets {
    private var flows: [UInt32: Int] = [:]
    private(set) var told = PacketsLost(reason: .readerLag, entries: [])
    private(set) var count = 0

    /// - Returns: whether it is one, or tells of some that are lost already.
    mutating func take(_ item: ReaderItem) -> Bool {
        if let packet = item.packet {
            let (flow, sequence) = (packet.flow, packet.sequence)
            add(
                PacketsLost.Entry(
                    flow: flow, channel: packet.channel, topic: packet.topic, publisher: packet.publisher, device: packet.device,
                    first: sequence, last: sequence))
        } else if let lag = item.lag {
            for entry in lag.entries { add(entry) }
        } else {
            return false
        }
        count += 1
        return true
    }

    private mutating func add(_ entry: PacketsLost.Entry) {
        guard let at = flows[entry.flow] else {
            flows[entry.flow] = told.entries.count
            return told.entries.append(entry)
        }
        told.entries[at].first = min(told.entries[at].first, entry.first)
        if let known = told.entries[at].last, let last = entry.last { told.entries[at].last = max(known, last) }
    }
}
