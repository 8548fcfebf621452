/// What a message channel keeps for good: the newest message of each key.
///
/// Records are written with `send(_:to:retainedAs:)` and `sendLarge`, and removed with `send(removing:from:)`. They are
/// read by `subscribe` with `since: .beginning`, and come as `board` events, then `caughtUp`.
public struct Board: Sendable {
    let core: ClientCore
    let channel: String

    /// Removes all records, as one event (`cleared`), which comes to this client, too, if it is subscribed.
    ///
    /// - Returns: the place of it, and how many records went; it is durable.
    /// - Throws: `boardNotFound`, `badName`, `storageFailed`, `outcomeUnknown`, or why the relay was not reached.
    @discardableResult
    public func clear() async throws(RelayError) -> BoardClearing { try await change(.clear(try checkedName(channel))) }

    /// Brings back what the newest `clear` of the last 10 minutes took away, but for keys that were written or removed since.
    ///
    /// The records come with new offsets, their authors and times as they were.
    ///
    /// - Returns: the place of it, and how many records the `clear` had taken away; it is durable.
    /// - Throws: `nothingToUndo`, `boardNotFound`, `badName`, `storageFailed`, `outcomeUnknown`, or why the relay was not reached.
    @discardableResult
    public func undoClear() async throws(RelayError) -> BoardClearing { try await change(.undoClear(try checkedName(channel))) }

    private func change(_ request: ClientRequest) async throws(RelayError) -> BoardClearing {
        guard case .boardChange(let change) = try await core.ask(request) else { throw .wrongAnswer }
        return change
    }
}

extension RelayClient {
    // MARK: - Boards

    /// Publishes a message that is kept for good as the newest of its key; it has its place in the order when this returns.
    ///
    /// After a break it is sent again until its outcome is known: the relay accepts it once, and one that was started
    /// anew, too. At most 256 publishes go on ahead of one that is not told durable; what is sent then waits.
    ///
    /// - Parameters:
    ///   - payload: 1 byte or more; with `customType` at most 32,768 bytes (`sendLarge` takes more).
    ///   - key: 1…64 bytes of ASCII, as names are.
    ///   - echo: whether this client receives it as well, if it is subscribed.
    /// - Returns: the receipt: `accepted`, then `stored`. It need not be awaited.
    /// - Throws: `badName`, `tooLarge`, `badRequest` for an empty payload, `unsentFull`, `clientClosed`; nothing was sent then.
    @discardableResult
    public func send(
        _ payload: Payload, to channel: String, customType: String? = nil, retainedAs key: String, echo: Bool = false
    ) throws(RelayError) -> StoredReceipt {
        try core.sendStored { (machine, tokens, now) throws(RelayError) in
            try machine.send(payload, to: channel, customType: customType, retainedAs: key, echo: echo, tokens: tokens, at: now)
        }
    }

    /// Removes the record of a key, whether there is one or not. Others receive a message with `isRemoval`. Another user's record takes the
    /// right `revise`, as it does to replace it: the receipt throws `notPermitted`.
    ///
    /// - Throws: `badName`, `unsentFull`, `clientClosed`; nothing was sent then.
    @discardableResult
    public func send(removing key: String, from channel: String) throws(RelayError) -> StoredReceipt {
        try core.sendStored { (machine, tokens, now) throws(RelayError) in
            try machine.send(removing: key, from: channel, tokens: tokens, at: now)
        }
    }

    /// Writes and removes many records of one board together: all of them or none, for its readers and after a crash of the relay.
    ///
    /// Moving 400 strokes is one call. It costs one message of the rate for each 64 changes, or 32,768 bytes, begun. Readers have all of
    /// it at their next `caughtUp`; messages with one of its keys that are sent behind it wait until it is accepted. After a break it goes
    /// on, or begins anew, at most 5 times.
    ///
    /// - Parameter changes: 1…4,096, in this order; their payloads and custom types together have at most `largeMessageBytesMax` of the
    ///   relay (8,388,608 bytes).
    /// - Returns: the receipt: `accepted` with the offset of the last change, behind those of the others without a gap, then `stored`.
    ///   Its error has `changeIndex` where the relay refused one change, and then none was made.
    /// - Throws: `badName`, `tooLarge`, `badRequest` for an empty payload or no change, `limitReached`, `unsentFull`, `clientClosed`;
    ///   nothing was sent then.
    @discardableResult
    public func send(changes: [RecordChange], to channel: String) throws(RelayError) -> StoredReceipt {
        try core.sendStored { (machine, tokens, now) throws(RelayError) in
            try machine.send(changes: changes, to: channel, tokens: tokens, at: now)
        }
    }

    /// Publishes a drawing of up to 8 MiB, in parts where one message does not hold it; it arrives as one message or not at all.
    ///
    /// Parts leave a quarter of a second's messages to what is sent meanwhile: at 60 messages a second 8 MiB take 4 s. That goes
    /// before it, but for messages and drawings with its key, which wait until it is accepted. After a break it goes on, or
    /// begins anew, at most 5 times.
    ///
    /// - Parameters:
    ///   - payload: 1 byte or more; with `customType` at most `largeMessageBytesMax` of the relay (8,388,608 bytes).
    ///   - key: as for `send(_:to:retainedAs:)`; `nil` draws one, where it is not retained. What is not retained and fits into
    ///     one message arrives without a key.
    ///   - retain: whether it is kept for good as the newest of its key.
    ///   - echo: whether this client receives it as well, if it is subscribed.
    /// - Returns: the receipt: `accepted` with the last part, then `stored`.
    /// - Throws: `badName` (a record without a key, too), `tooLarge`, `badRequest` for an empty payload, `limitReached` when 4
    ///   drawings are under way, `unsentFull`, `clientClosed`; nothing was sent then.
    @discardableResult
    public func sendLarge(
        _ payload: Payload, to channel: String, customType: String? = nil, key: String? = nil, retain: Bool = false, echo: Bool = false
    ) throws(RelayError) -> StoredReceipt {
        try core.sendStored { (machine, tokens, now) throws(RelayError) in
            try machine.sendLarge(
                payload, to: channel, customType: customType, key: key, retain: retain, echo: echo, tokens: tokens, at: now)
        }
    }

    /// What a message channel keeps for good; no subscription is needed.
    public func board(of channel: String) -> Board { Board(core: core, channel: channel) }

    /// All boards of the relay, in order of names.
    ///
    /// - Throws: `outcomeUnknown`, or why the relay was not reached.
    public func boards() async throws(RelayError) -> [BoardInfo] {
        var found: [BoardInfo] = []
        var next: Name?
        repeat {
            guard case .boards(let boards, let following) = try await core.ask(.boards(after: next)) else { throw .wrongAnswer }
            found += boards
            // A relay that names a page again would be asked for ever.
            guard following.map({ new in next.map { $0 < new } ?? true }) ?? true else { throw .wrongAnswer }
            next = following
        } while next != nil
        return found
    }

    /// Removes a board with all that is known of it; subscribers begin anew (`messagesMissed` with `reset`).
    ///
    /// - Throws: `boardNotFound`, `badName`, `storageFailed`, `outcomeUnknown`, or why the relay was not reached.
    public func removeBoard(_ channel: String) async throws(RelayError) { _ = try await core.ask(.removeBoard(try checkedName(channel))) }
}
