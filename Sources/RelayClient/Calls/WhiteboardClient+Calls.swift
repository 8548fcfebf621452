import RelayIO
import RelayPrimitives
import RelayWire

// The client as the protocol has it: message and stream channels apart, by name. Handles, RelayRTM and the commands stand on it.

/// A channel by kind and name.
package enum ChannelReference: Sendable, Equatable {
    case message(String)
    case stream(String)

    func id() throws(RelayError) -> ChannelID {
        switch self {
        case .message(let name): ChannelID(kind: .message, channel: try checkedName(name))
        case .stream(let name): ChannelID(kind: .stream, channel: try checkedName(name))
        }
    }
}

extension WhiteboardClient {
    // MARK: - Coming in

    /// A client that is connected, with what it is `told` from the first moment on. One that is not let in is closed.
    package static func connect(
        to address: RelayAddress, as user: String, options: ClientOptions = .init()
    ) async throws(RelayError) -> WhiteboardClient {
        try await connect(to: Invitation(address), as: user, options: options)
    }

    package static func connect(
        to invitation: Invitation, as user: String, options: ClientOptions = .init()
    ) async throws(RelayError) -> WhiteboardClient {
        try await connected(WhiteboardClient(invitation, user: user, options: options))
    }

    /// The same of one more device of a user. [AC17]
    package static func takeUp(
        code: String, at invitation: Invitation, options: ClientOptions = .init()
    ) async throws(RelayError) -> WhiteboardClient {
        try await connected(WhiteboardClient(invitation, code: code, options: options))
    }

    private static func connected(_ client: WhiteboardClient) async throws(RelayError) -> WhiteboardClient {
        client.core.openTold()
        do throws(RelayError) { try await client.connect() } catch {
            await client.close()
            throw error
        }
        return client
    }

    /// All that the machine tells, since the client came in by `connect`. Several readers share it.
    package var told: ToldEvents { ToldEvents(core: core) }

    // MARK: - Message channels

    package func subscribe(
        _ channel: String, features: Set<Feature> = [.messages, .presence], quiet: Bool = false, since: Since? = nil
    ) async throws(RelayError) {
        let name = try checkedName(channel)
        let isNew = core.act { readable, _ in readable.subscribedByCalls.insert(channel).inserted }
        do throws(RelayError) {
            _ = try await core.ask(.subscribe(name, features: features, quiet: quiet, since: since))
        } catch {
            if isNew, error.outcome != .unknown { core.act { readable, _ in _ = readable.subscribedByCalls.remove(channel) } }
            throw error
        }
    }

    package func unsubscribe(_ channel: String) async throws(RelayError) {
        _ = try await core.ask(.unsubscribe(try checkedName(channel)))
        core.act { readable, _ in _ = readable.subscribedByCalls.remove(channel) }
    }

    package func history(of channel: String, from: UInt64? = nil, backwards: Bool = false, limit: Int? = nil) async throws(RelayError)
        -> HistoryPage
    {
        try await self.channel(channel).history(from: from, backwards: backwards, limit: limit)
    }

    package func barrier(in channel: String? = nil) async throws(RelayError) {
        _ = try await core.ask(.barrier(try channel.map(checkedName)))
    }

    @discardableResult
    package func send(
        _ payload: Payload, to channel: String, customType: String? = nil, echo: Bool = false, storeInHistory: Bool = true
    ) throws(RelayError) -> Receipt {
        let pending = try core.send { (readable, token, now) throws(RelayError) in
            try readable.machine.send(
                payload, to: channel, customType: customType, echo: echo, isKept: storeInHistory, token: token, at: now)
        }
        return Receipt(fate: fate(pending))
    }

    @discardableResult
    package func send(_ payload: Payload, toUser user: String, customType: String? = nil) throws(RelayError) -> DirectReceipt {
        try person(user).send(payload, customType: customType)
    }

    @discardableResult
    package func send(
        _ payload: Payload, to channel: String, customType: String? = nil, retainedAs key: String, echo: Bool = false
    ) throws(RelayError) -> StoredReceipt {
        try sendStored { (machine, tokens, now) throws(RelayError) in
            try machine.send(payload, to: channel, customType: customType, retainedAs: key, echo: echo, tokens: tokens, at: now)
        }
    }

    @discardableResult
    package func send(removing key: String, from channel: String) throws(RelayError) -> StoredReceipt {
        try sendStored { (machine, tokens, now) throws(RelayError) in
            try machine.send(removing: key, from: channel, tokens: tokens, at: now)
        }
    }

    @discardableResult
    package func send(changes: [RecordChange], to channel: String) throws(RelayError) -> StoredReceipt {
        try sendStored { (machine, tokens, now) throws(RelayError) in
            try machine.send(changes: changes, to: channel, tokens: tokens, at: now)
        }
    }

    @discardableResult
    package func sendLarge(
        _ payload: Payload, to channel: String, customType: String? = nil, key: String? = nil, retain: Bool = false, echo: Bool = false
    ) throws(RelayError) -> StoredReceipt {
        try sendStored { (machine, tokens, now) throws(RelayError) in
            try machine.sendLarge(
                payload, to: channel, customType: customType, key: key, retain: retain, echo: echo, tokens: tokens, at: now)
        }
    }

    private func sendStored(_ send: (inout ClientMachine, StoredTokens, Instant) throws(RelayError) -> Void) throws(RelayError)
        -> StoredReceipt
    {
        let pending = try core.sendStored { (readable, accepted, stored, now) throws(RelayError) in
            try send(&readable.machine, StoredTokens(accepted: accepted, stored: stored), now)
        }
        return StoredReceipt(fate: fate(pending.accepted, pending.stored))
    }

    private func fate(_ accepted: PendingReceipt, _ stored: PendingReceipt? = nil) -> Fate {
        Fate(self, id: nextReceipt(), accepted: accepted, stored: stored) { Problem(subject: .message, error: $0) }
    }

    // MARK: - Stream channels

    package func join(
        _ channel: String, features: Set<Feature> = [.presence], quiet: Bool = false, token: String? = nil
    ) async throws(RelayError) -> StreamChannel {
        let name = try checkedName(channel)
        _ = try await core.ask(.join(name, features: features, quiet: quiet, token: token))
        return StreamChannel(client: self, name: name)
    }

    // MARK: - Of either

    package func presence(of channel: ChannelReference) throws(RelayError) -> Presence { Presence(client: self, place: try channel.id()) }

    package func metadata(of reference: MetadataReference) throws(RelayError) -> Metadata {
        let owner: MetadataOwner
        switch reference {
        case .message(let name): owner = .channel(ChannelID(kind: .message, channel: try checkedName(name)))
        case .stream(let name): owner = .channel(ChannelID(kind: .stream, channel: try checkedName(name)))
        case .user(let user): owner = .user(try checkedName(user))
        }
        return Metadata(client: self, owner: owner)
    }

    package func locks(of channel: ChannelReference) throws(RelayError) -> Locks { Locks(client: self, channel: try channel.id()) }

    package func board(of channel: String) throws(RelayError) -> Board { try self.channel(channel).board }

    package func removeBoard(_ channel: String, ifUnusedFor unused: Duration? = nil) async throws(RelayError) {
        try await self.channel(channel).board.delete(ifUnusedFor: unused)
    }

    package func channels(of user: String) async throws(RelayError) -> [ChannelID] { try await places(of: try checkedName(user)) }

    package func modes(of channel: ChannelReference) throws(RelayError) -> Set<ChannelMode> {
        let id = try channel.id()
        return core.read { $0.machine.modes(of: id) }
    }

    /// Whether it has subscribed or joined a channel, to its knowledge.
    package func isIn(_ channel: ChannelID) -> Bool { core.read { $0.machine.isIn(channel) } }
    package func isIn(stream name: String) -> Bool { (try? checkedName(name)).map { isIn(ChannelID(kind: .stream, channel: $0)) } ?? false }
}

/// The locks of a channel of either kind.
package struct Locks: Sendable {
    let client: WhiteboardClient
    let channel: ChannelID

    package func lock(_ name: String) throws(RelayError) -> Lock {
        Lock(client: client, id: LockID(channel: channel, name: try checkedName(name)))
    }

    package func all() async throws(RelayError) -> [LockDetail] {
        guard case .locks(let locks) = try await client.core.ask(.getLocks(channel)) else { throw .wrongAnswer }
        return locks
    }
}

/// What `told` gives; it ends with the client.
package struct ToldEvents: AsyncSequence, Sendable {
    // Not the client: a loop does not keep it.
    let core: ClientCore

    package func makeAsyncIterator() -> Iterator { Iterator(core: core) }

    package struct Iterator: AsyncIteratorProtocol {
        let core: ClientCore

        /// `nil` at the end, and when the task is cancelled.
        package mutating func next() async -> ClientEvent? {
            guard let reader = core.told else { return nil }
            while !Task.isCancelled {
                switch core.take(reader) {
                case .item(let item): if case .event(let event) = item.content { return event }
                case .end: return nil
                case .nothing: await core.wait(.events(reader)) { $0.feed.isReady(reader) }
                }
            }
            return nil
        }
    }
}
