import RelayWire

/// The board of one channel, as far as this client knows it.
///
/// It holds the same records as every other client in the end, in whatever order answers and events arrive; own ones on top, until they
/// are stored or refused. A relay that ends before an own record is stored may give its offset to another one: it has its place among
/// those of others once it is stored. [BL5] One that is not above what was read meanwhile was among that, or somebody has replaced or
/// removed it. [BL3]
struct BoardView: Sendable {
    /// Own records of one call, in its order.
    struct Own: Sendable {
        var keys: [String]
        /// Tells them apart, upwards from here.
        var first: UInt64
    }

    private struct OwnRecord: Sendable {
        var number: UInt64
        var record: BoardRecord
    }

    /// What is shown.
    private(set) var records = BoardRecords()
    /// What the relay has told; of one that was removed, `payload` is `nil`.
    private var told: [String: BoardRecord] = [:]
    /// Own records that are not stored, by key, in the order of the calls.
    private var own: [String: [OwnRecord]] = [:]
    private var lastOwn: UInt64 = 0
    /// Whether the channel is open; whether from the board; whether that is being read, and what was stored meanwhile.
    private(set) var isBegun = false
    private(set) var isWhole = false
    private var isReading = false
    private var settled: [(own: Own, last: UInt64, receipt: UInt64)] = []
    /// Keys of own removals that were stored while what is older was still to come; up to where they are.
    private var removedAhead: Set<String> = [], removedThrough: UInt64 = 0
    private var readThrough: UInt64 = 0
    private var clearedAt: UInt64 = 0
    private var progress: Double?
    /// For each reader of pictures, the keys that have changed since its last one.
    private var changed: [UInt64: Set<String>] = [:]
    private(set) var version = 0

    var isComplete: Bool { isWhole && !isReading }

    /// Whether anything is kept of a key, for tests.
    func knows(_ key: String) -> Bool { told[key] != nil }

    /// All records as the relay has them, by key.
    var kept: [String: BoardRecord] { told.filter { $0.value.payload != nil } }

    // MARK: - What the relay tells

    /// The channel is open from here on, from the beginning of the board or not.
    mutating func begin(isWhole: Bool) -> [BoardChange] {
        let isNews = !told.isEmpty
        forget()
        (self.isWhole, isReading, isBegun) = (isWhole, isWhole, true)
        version += 1
        return isNews ? [.reset] : []
    }

    private mutating func forget() {
        let keys = Set(told.keys).union(own.keys)
        told = [:]
        (readThrough, clearedAt, progress) = (0, 0, nil)
        // What is stored is among what comes now, if anything does.
        for stored in settled { ended(stored.own) }
        (settled, removedAhead, removedThrough) = ([], [], 0)
        // Of another numbering.
        for key in own.keys { for at in own[key]!.indices { own[key]![at].record.offset = nil } }
        for key in keys { refresh(key) }
    }

    /// - Returns: what an event changes, in order.
    mutating func take(_ event: ClientEvent) -> [BoardChange] {
        let changes = changes(of: event)
        if !changes.isEmpty { version += 1 }
        return changes
    }

    private mutating func changes(of event: ClientEvent) -> [BoardChange] {
        switch event {
        case .message(let message) where !message.isRetained:
            forgetRemovals(below: message.offset)
            return []
        case .message(let message): return received([message], nil)
        case .board(let batch): return received(batch.messages, batch.progress)
        case .cleared(let cleared):
            clearedAt = cleared.offset
            for (key, record) in told where record.offset ?? 0 <= cleared.offset { remove(key, at: cleared.offset) }
            for key in own.keys { refresh(key) }
            return [.cleared(cleared)]
        case .messagesMissed(let missed):
            if case .range(let range) = missed.extent { return [.missed(range)] }
            forget()
            isReading = isWhole
            return [.reset]
        case .caughtUp(channel: _, let head):
            forgetRemovals(below: head + 1)
            guard isReading else { return [.caughtUp] }
            (isReading, readThrough, progress) = (false, head, nil)
            let late = settled
            settled = []
            return [.caughtUp] + late.flatMap { stored($0.own, last: $0.last, receipt: $0.receipt, isCatchingUp: false) }
        default: return []
        }
    }

    private mutating func received(_ messages: [Message], _ progress: Double?) -> [BoardChange] {
        self.progress = isReading ? progress : nil
        var records: [BoardRecord] = []
        for message in messages {
            forgetRemovals(below: message.offset)
            guard let key = message.key else { continue }
            let record = BoardRecord(
                key: key, payload: message.isRemoval ? nil : message.payload, customType: message.customType, author: message.sender,
                offset: message.offset, wallMilliseconds: message.wallMilliseconds)
            if put(record) { records.append(record) }
        }
        return records.isEmpty ? [] : [.records(records, progress: self.progress)]
    }

    private mutating func remove(_ key: String, at offset: UInt64) {
        var gone = told[key]!
        (gone.payload, gone.offset) = (nil, offset)
        put(gone)
    }

    /// The record that is later in the relay's order counts.
    ///
    /// - Returns: whether it is this one.
    @discardableResult
    private mutating func put(_ record: BoardRecord) -> Bool {
        let key = record.key
        guard let offset = record.offset, offset > told[key]?.offset ?? clearedAt || told[key]?.offset == nil && offset > clearedAt else {
            return false
        }
        // That it was removed matters as long as an own one of before may still be told stored.
        told[key] = isForgettable(record) ? nil : record
        refresh(key)
        return true
    }

    // MARK: - Own records

    /// Shows what was sent.
    mutating func sent(_ changes: [RecordChange], author: String) -> Own {
        let sent = Own(keys: changes.map(\.key), first: lastOwn + 1)
        for change in changes {
            lastOwn += 1
            let record = BoardRecord(
                key: change.key, payload: change.payload, customType: change.customType, author: author, wallMilliseconds: nil,
                isPending: true)
            own[change.key, default: []].append(OwnRecord(number: lastOwn, record: record))
            refresh(change.key)
        }
        version += 1
        return sent
    }

    /// The relay has taken them: what others write behind them counts from now on.
    mutating func accepted(_ sent: Own, last: UInt64) {
        for (index, key) in sent.keys.enumerated() {
            guard let at = own[key]?.firstIndex(where: { $0.number == sent.first + UInt64(index) }) else { continue }
            own[key]![at].record.offset = offset(index, of: sent, last)
            refresh(key)
        }
        version += 1
    }

    /// Refused, or with an unknown outcome, or stored: they are on top no more.
    mutating func ended(_ sent: Own) {
        for (index, key) in sent.keys.enumerated() {
            own[key]?.removeAll { $0.number == sent.first + UInt64(index) }
            if own[key]?.isEmpty ?? false {
                own[key] = nil
                if told[key].map(isForgettable) ?? false { told[key] = nil }
            }
            refresh(key)
        }
        version += 1
    }

    /// They are stored.
    ///
    /// - Parameter isCatchingUp: whether what is older may still come.
    /// - Returns: nothing if they were read, or written again meanwhile.
    mutating func stored(_ sent: Own, last: UInt64, receipt: UInt64, isCatchingUp: Bool) -> [BoardChange] {
        guard !isReading else {
            settled.append((sent, last, receipt))
            return []
        }
        var changes: [BoardRecord] = []
        for (index, key) in sent.keys.enumerated() {
            guard var record = own[key]?.first(where: { $0.number == sent.first + UInt64(index) })?.record else { continue }
            record.offset = offset(index, of: sent, last)
            record.isPending = false
            guard record.offset! > readThrough, put(record) else { continue }
            changes.append(record)
            guard isCatchingUp, record.payload == nil else { continue }
            removedAhead.insert(key)
            removedThrough = max(removedThrough, record.offset!)
        }
        ended(sent)
        return changes.isEmpty ? [] : [.records(changes, receipt: receipt)]
    }

    /// A removal, behind which nothing older comes that is to be told from it.
    private func isForgettable(_ record: BoardRecord) -> Bool {
        record.payload == nil && own[record.key] == nil && !isReading && !removedAhead.contains(record.key)
    }

    private mutating func forgetRemovals(below offset: UInt64) {
        guard removedThrough < offset, !removedAhead.isEmpty else { return }
        let keys = removedAhead
        removedAhead = []
        for key in keys where told[key].map(isForgettable) ?? false { told[key] = nil }
    }

    private func offset(_ index: Int, of sent: Own, _ last: UInt64) -> UInt64 { last + 1 + UInt64(index) - UInt64(sent.keys.count) }

    /// What was sent goes on, whether the channel is open or not: all else is void.
    func onlyOwn() -> BoardView {
        var left = BoardView()
        (left.own, left.lastOwn, left.version) = (own, lastOwn, version + 1)
        for key in own.keys { left.refresh(key) }
        return left
    }

    // MARK: - What is shown

    private mutating func refresh(_ key: String) {
        let told = told[key]
        let mine = own[key]?.last?.record
        let isMine =
            mine.map { mine in mine.offset.map { $0 > max(told?.offset ?? 0, clearedAt, isReading ? 0 : readThrough) } ?? true } ?? false
        let record = isMine ? mine : told
        records.set(key, record?.payload == nil ? nil : record)
        for reader in changed.keys { changed[reader]!.insert(key) }
    }

    /// A reader's own picture. The first has all keys.
    mutating func picture(for reader: UInt64) -> BoardPicture {
        let keys = changed.updateValue([], forKey: reader) ?? records.keys
        return BoardPicture(records: records, changed: keys, progress: progress, isComplete: isComplete)
    }

    mutating func forget(reader: UInt64) { changed[reader] = nil }
}
