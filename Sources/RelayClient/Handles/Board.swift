import RelayPrimitives

/// What a channel keeps for good: records, each the newest under its key. The channel need not be open for writing.
public struct Board: Sendable {
    let channel: Channel

    private var client: WhiteboardClient { channel.client }
    private var name: String { channel.name }

    // MARK: - Writing

    /// Keeps a record; it has its place in the order when this returns.
    ///
    /// After a break it is sent again until its outcome is known, to a relay that was started anew, too. A large one leaves in parts; what
    /// is sent meanwhile goes before it, but for what has its key.
    ///
    /// - Parameters:
    ///   - payload: 1 byte or more; with `customType` at most 8,388,608 bytes (`limits.largeMessageBytesMax`).
    ///   - key: 1…64 bytes of ASCII.
    ///   - customType: the app's own word for what this is, 1…32 bytes.
    /// - Throws: `badName`, `tooLarge`, `badRequest` for an empty payload, `limitReached` when 4 large ones are under way, `unsentFull`,
    ///   `clientClosed`; nothing was sent then.
    @discardableResult
    public func put(_ payload: Payload, key: String, customType: String? = nil) throws(RelayError) -> StoredReceipt {
        try send([RecordChange(key: key, payload: payload, customType: customType)], .record, key) {
            (machine, tokens, now) throws(RelayError) in
            try machine.sendLarge(
                payload, to: name, customType: customType, key: key, retain: true, echo: false, tokens: tokens, at: now)
        }
    }

    /// Removes the record of a key, whether there is one or not. Another user's record takes the right `revise`, as it does to replace it.
    ///
    /// - Throws: `badName`, `unsentFull`, `clientClosed`; nothing was sent then.
    @discardableResult
    public func remove(_ key: String) throws(RelayError) -> StoredReceipt {
        try send([RecordChange(removing: key)], .record, key) { (machine, tokens, now) throws(RelayError) in
            try machine.send(removing: key, from: name, tokens: tokens, at: now)
        }
    }

    /// Makes many changes together: all of them or none, for its readers and after a crash of the relay.
    ///
    ///     try lesson.board.batch { batch in
    ///         for stroke in moved { batch.put(stroke.payload, key: stroke.key, customType: "stroke") }
    ///     }
    ///
    /// It costs one message of the rate for each 64 changes, or 32,768 bytes, begun.
    ///
    /// - Parameter make: adds the changes, in order: 1…4,096 of them, each up to 32,768 bytes, together up to 8,388,608 bytes.
    /// - Returns: one receipt, with the offset of the last change. Its error has `changeIndex` where the relay refused one change.
    /// - Throws: `badName`, `tooLarge`, `badRequest` for an empty payload or no change, `limitReached`, `unsentFull`, `clientClosed`;
    ///   nothing was sent then.
    @discardableResult
    public func batch(_ make: (inout Batch) -> Void) throws(RelayError) -> StoredReceipt {
        var batch = Batch()
        make(&batch)
        let changes = batch.changes
        return try send(changes, .changes, nil) { (machine, tokens, now) throws(RelayError) in
            try machine.send(changes: changes, to: name, tokens: tokens, at: now)
        }
    }

    /// Changes of a board that are made together.
    public struct Batch {
        var changes: [RecordChange] = []

        /// Keeps a record.
        public mutating func put(_ payload: Payload, key: String, customType: String? = nil) {
            changes.append(RecordChange(key: key, payload: payload, customType: customType))
        }

        /// Removes the record of a key.
        public mutating func remove(_ key: String) { changes.append(RecordChange(removing: key)) }
    }

    private func send(
        _ changes: [RecordChange], _ subject: Problem.Subject, _ key: String?,
        _ send: (inout ClientMachine, StoredTokens, Instant) throws(RelayError) -> Void
    ) throws(RelayError) -> StoredReceipt {
        let id = client.nextReceipt()
        let pending = try client.core.sendStored { (readable, accepted, stored, now) throws(RelayError) in
            try readable.send(changes, to: name, receipt: id, accepted: accepted, stored: stored) { (machine) throws(RelayError) in
                try send(&machine, StoredTokens(accepted: accepted, stored: stored), now)
            }
        }
        let place = ChannelID(kind: .message, channel: channel.id)
        return StoredReceipt(
            fate: Fate(client, id: id, accepted: pending.accepted, stored: pending.stored) {
                Problem(subject: subject, place: place, key: key, error: $0)
            })
    }

    /// Removes all records, as one change (`cleared`).
    ///
    /// - Returns: the place of it, and how many records went; it is durable.
    /// - Throws: `notPermitted`, `boardNotFound`, `storageFailed`, `outcomeUnknown`, or why the relay was not reached.
    @discardableResult
    public func clear(call: CallOptions = .init()) async throws(RelayError) -> BoardClearing { try await change(.clear(channel.id), call) }

    /// Brings back what the newest `clear` of the last 10 minutes took away, but for keys that were written or removed since.
    ///
    /// The records come with new offsets, their authors and times as they were.
    ///
    /// - Returns: the place of it, and how many records the `clear` had taken away; it is durable.
    /// - Throws: `nothingToUndo`, `notPermitted`, `boardNotFound`, `busy`, `storageFailed`, `outcomeUnknown`, or why the relay was not
    ///   reached.
    @discardableResult
    public func undoClear(call: CallOptions = .init()) async throws(RelayError) -> BoardClearing {
        try await change(.undoClear(channel.id), call)
    }

    private func change(_ request: ClientRequest, _ call: CallOptions) async throws(RelayError) -> BoardClearing {
        guard case .boardChange(let change) = try await client.core.ask(request, call) else { throw .wrongAnswer }
        return change
    }

    /// Removes the board with all that is known of it; its readers begin anew (`reset`).
    ///
    /// - Parameter unused: only if nobody has used it for so long, as `boards(unusedFor:)` has it, when the relay removes it.
    /// - Throws: `boardInUse`, `notPermitted`, `boardNotFound`, `storageFailed`, `outcomeUnknown`, or why the relay was not reached.
    public func delete(ifUnusedFor unused: Duration? = nil, call: CallOptions = .init()) async throws(RelayError) {
        let unused = unused.map { UInt64(max(0, $0.milliseconds)) }
        _ = try await client.core.ask(.removeBoard(channel.id, unusedMilliseconds: unused), call)
    }

    // MARK: - Reading

    /// Changes of the board, in the relay's order, while the channel is open with `messages`. Own records come once they are stored, unless
    /// somebody has overwritten them meanwhile. Make it before `open`.
    public func changes() -> Events<BoardChange> {
        let name = name
        return client.events(channel: name) { item in
            if case .change(name, let change) = item.content { change } else { nil }
        }
    }

    /// The board as it is shown, whenever that changes, with own records on top that are not stored yet.
    public func pictures() -> Latest<BoardPicture> {
        let name = name
        return Latest(client, standing: { $0.boardStanding(name) }) { readable, reader in
            readable.picture(name, for: reader)
        } ended: { readable, reader in
            readable.forgetPictures(name, of: reader)
        }
    }

    /// All records as the relay has them now, by key. A channel that is not open is read without being seen in it.
    ///
    /// - Throws: `badRequest` where the channel is open, and not from the board; `notSubscribed` when it is left meanwhile; `cancelled`,
    ///   `timedOut`, or why the relay was not reached.
    public func records(call: CallOptions = .init()) async throws(RelayError) -> [String: BoardRecord] {
        let (core, name, id) = (client.core, name, channel.id)
        let isFirst: Bool
        switch core.act({ readable, _ in readable.beginReading(name) }) {
        case .open: return try await complete(call)
        case .notFromTheBoard: throw .notFromTheBoard
        case .apart(isFirst: let first): isFirst = first
        }
        if isFirst {
            do throws(RelayError) {
                _ = try await core.call(call) { (readable, token, now) throws(RelayError) in
                    readable.readFromBeginning(name, token)
                    try readable.machine.request(
                        .subscribe(id, features: [.messages], quiet: true, since: .beginning), token: token, at: now)
                }
            } catch {
                endReading()
                throw error
            }
        }
        do throws(RelayError) {
            let found = try await complete(call)
            endReading()
            return found
        } catch {
            endReading()
            throw error
        }
    }

    private func complete(_ call: CallOptions) async throws(RelayError) -> [String: BoardRecord] {
        let name = name
        _ = try await client.core.call(call, isLocal: true) { (readable, token, _) throws(RelayError) in readable.awaitBoard(name, token) }
        return client.core.read { $0.records(name) }
    }

    private func endReading() {
        let channel = channel
        guard client.core.act({ readable, _ in readable.endReading(name) }) else { return }
        Task { try? await channel.end(.unsubscribe(channel.id), .init()) }
    }
}
