/// A channel of a client. Two are equal when client and name are; a channel is open once for each client.
public struct Channel: Sendable, Hashable {
    /// Whose handle it is.
    public let client: WhiteboardClient
    let id: Name

    /// Its name.
    public var name: String { id.text }

    /// What the channel keeps for good: records, each the newest under its key.
    public var board: Board { Board(channel: self) }
    /// Who is in the channel, with their states.
    public var presence: Presence { Presence(client: client, place: ChannelID(kind: .message, channel: id)) }
    /// Small texts by key that outlive everybody's session.
    public var metadata: Metadata { Metadata(client: client, owner: .channel(ChannelID(kind: .message, channel: id))) }

    /// A lock of the channel.
    ///
    /// - Throws: `badName`.
    public func lock(_ name: String) throws(RelayError) -> Lock {
        Lock(client: client, id: LockID(channel: ChannelID(kind: .message, channel: id), name: try checkedName(name)))
    }

    /// A topic of the channel: a named flow of packets. The channel need not be open for it.
    ///
    /// - Throws: `badName`.
    public func topic(_ name: String) throws(RelayError) -> Topic {
        Topic(channel: self, id: TopicID(channel: id, topic: try checkedName(name)))
    }

    /// What this client may here; `nil` before the first login.
    public var rights: Rights? { client.access?.rights(on: name) }

    /// What moderators set; known while the client is in the channel.
    public var modes: Set<ChannelMode> { client.core.read { $0.modes(name) } }

    public static func == (left: Channel, right: Channel) -> Bool { left.client === right.client && left.id == right.id }
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(client))
        hasher.combine(id.text)
    }

    // MARK: - Coming and going

    /// Receives what `parts` name. Again, it changes the parts, and with `start` begins anew.
    ///
    /// - Parameters:
    ///   - start: the board if `nil`; of a channel that is open already, where it is.
    ///   - quiet: not seen by others; may publish, has no states.
    /// - Throws: `limitReached`, `relayFull`, `notPermitted`, `cancelled`, or why the relay was not reached.
    public func open(
        _ parts: Set<Feature> = [.messages, .presence], from start: ChannelStart? = nil, quiet: Bool = false, call: CallOptions = .init()
    ) async throws(RelayError) {
        var opening: ReadableMachine.Opening?
        func end(_ error: RelayError?) { client.core.act { readable, _ in if let opening { readable.endOpening(opening, error) } } }
        do throws(RelayError) {
            _ = try await client.core.call(call) { (readable, token, now) throws(RelayError) in
                opening = try readable.open(id, parts, from: start, quiet: quiet, token: token, at: now)
            }
        } catch {
            end(error)
            throw error
        }
        end(nil)
    }

    /// Ends receiving, publishing in topics, and being seen; its readers end, in all tasks.
    ///
    /// - Throws: why the relay was not reached; the client leaves as soon as it is.
    public func leave(call: CallOptions = .init()) async throws(RelayError) {
        let isIn = client.core.act { readable, _ in readable.leave(id) }
        if isIn.message { try await end(.unsubscribe(id), call) }
        if isIn.stream { try await end(.leave(id), call) }
    }

    func end(_ request: ClientRequest, _ call: CallOptions) async throws(RelayError) {
        do throws(RelayError) { _ = try await client.core.ask(request, call) } catch { if !error.code.isOverAlready { throw error } }
    }

    // MARK: - Messages

    /// Sends a message of up to 8 MiB; it has its place in the order when this returns.
    ///
    /// After a break it is sent again until its outcome is known: the relay accepts it once. A large one leaves in parts, and arrives as
    /// one message or not at all.
    ///
    /// - Parameters:
    ///   - customType: the app's own word for what this is, 1…32 bytes.
    ///   - echo: whether this client receives it as well, if the channel is open.
    ///   - storeInHistory: whether the channel keeps it for users who come later, or come back. Without, a user without a link at that
    ///     moment misses it and is not told.
    /// - Throws: `tooLarge`, `limitReached` when 4 large ones are under way, `unsentFull`, `clientClosed`; nothing was sent then.
    @discardableResult
    public func send(
        _ payload: Payload, customType: String? = nil, echo: Bool = false, storeInHistory: Bool = true
    ) throws(RelayError) -> Receipt {
        let limit = client.limits.messageBytesMax
        let bytes = payload.byteCount + (customType?.utf8.count ?? 0)
        let receipt = client.nextReceipt()
        let place = ChannelID(kind: .message, channel: id)
        let fate: Fate
        if bytes <= limit {
            let pending = try client.core.send { (readable, token, now) throws(RelayError) in
                try readable.machine.send(
                    payload, to: name, customType: customType, echo: echo, isKept: storeInHistory, token: token, at: now)
            }
            fate = Fate(client, id: receipt, accepted: pending) { Problem(subject: .message, place: place, error: $0) }
        } else {
            guard storeInHistory else {
                throw RelayError(
                    .tooLarge, "a message that is not kept has at most \(limit) bytes, not \(bytes)", limit: limit, actual: bytes)
            }
            let pending = try client.core.sendStored { (readable, accepted, stored, now) throws(RelayError) in
                try readable.machine.sendLarge(
                    payload, to: name, customType: customType, key: nil, retain: false, echo: echo,
                    tokens: StoredTokens(accepted: accepted, stored: stored), at: now)
            }
            fate = Fate(client, id: receipt, accepted: pending.accepted) { Problem(subject: .message, place: place, error: $0) }
        }
        return Receipt(fate: fate)
    }

    /// Kept messages, a page at a time; the channel need not be open. Records are not among them: the board has those.
    ///
    /// - Parameters:
    ///   - from: the first offset wanted: `next` of the page before, or `nil` for the oldest (`backwards`: the newest).
    ///   - limit: at most so many messages, 1…100; a page ends earlier at 512 KiB.
    /// - Throws: `badRequest`, `notPermitted`, `rateLimited`, `outcomeUnknown`, or why the relay was not reached.
    public func history(from: UInt64? = nil, backwards: Bool = false, limit: Int? = nil, call: CallOptions = .init())
        async throws(RelayError) -> HistoryPage
    {
        guard case .history(let page) = try await client.core.ask(.history(id, from: from, backwards: backwards, limit: limit), call) else {
            throw .wrongAnswer
        }
        return page
    }

    /// Waits until every message that the relay accepted before has come: behind it the client is up to date.
    ///
    /// - Throws: `notSubscribed`, `limitReached` when 8 wait already, `cancelled`, or why the relay was not reached.
    public func upToDate(call: CallOptions = .init()) async throws(RelayError) { _ = try await client.core.ask(.barrier(id), call) }

    /// All locks, in order of name.
    ///
    /// - Throws: `notPermitted`, or why the relay was not reached.
    public func locks(call: CallOptions = .init()) async throws(RelayError) -> [LockDetail] {
        guard case .locks(let locks) = try await client.core.ask(.getLocks(ChannelID(kind: .message, channel: id)), call) else {
            throw .wrongAnswer
        }
        return locks
    }

    // MARK: - Readers

    /// All that happens in the channel, in the relay's order.
    public func events() -> Events<RelayEvent> {
        let name = name
        return client.events(channel: name) { item in
            guard case .event(let event) = item.content, let part = event.part(of: name) else { return nil }
            return RelayEvent(part)
        }
    }

    /// All locks by name, whenever one of them changes; `open` with the part `locks` brings them.
    public func lockStates() -> Latest<[String: LockDetail]> {
        let name = name
        return Latest(client, standing: { $0.locksStanding(name) }) { readable, _ in readable.locks(name) }
    }

    /// Who publishes in the channel's topics, in order of topic, user and device, whenever that changes. Known while this client publishes
    /// or follows a topic of the channel.
    public func publishedTopics() -> Latest<[PublishedTopic]> {
        let name = name
        return Latest(client, standing: { $0.publishedStanding(name) }) { readable, _ in readable.published(name) }
    }

    /// What this client may here, and what moderators set, whenever that changes.
    public func permissions() -> Latest<Permissions> {
        let name = name
        client.core.act { readable, _ in readable.watchPermissions(name) }
        return Latest(client, standing: { $0.permissionsStanding(name) }) { readable, _ in readable.permissions(name) }
    }

    /// Messages that are no records, and what is missed in the place of others.
    public func messages() -> Events<MessageEvent> {
        let name = name
        return client.events(channel: name) { item in
            switch item.content {
            case .event(.message(let message)) where message.channel == name && !message.isRetained: .message(message)
            case .event(.messagesMissed(let missed)) where missed.channel == name: .missed(missed)
            default: nil
            }
        }
    }
}

/// What a reader of messages gets.
public enum MessageEvent: Sendable, Equatable {
    /// A message.
    case message(Message)
    /// Messages that will not come.
    case missed(MessagesMissed)
}
