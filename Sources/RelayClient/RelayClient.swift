import Dispatch

/// A client of a whiteboard relay.
///
///     let client = try await RelayClient.connect(to: address, as: "alice")
///     try await client.subscribe("lesson")
///     try client.send(.text("hello"), to: "lesson")
///     for await event in client.events { … }
///
/// Safe from any thread. Every call takes its place in the one order before it returns or suspends; what comes back
/// comes in one sequence, in the relay's order. A broken link is made again by itself, with all that was subscribed;
/// what was missed meanwhile is told.
public final class RelayClient: Sendable {
    let core: ClientCore

    /// Connects and logs in.
    ///
    /// - Throws: `cancelled` with the task, and the client is closed; `badName`; `badRequest` for digits of an option that are none;
    ///   `secretNotKept`; `connectFailed` or `timedOut` when the relay cannot be reached; a code of the relay's, such as `limitReached`
    ///   when 8 other devices of the user are there. [SE8]
    public static func connect(
        to address: RelayAddress, as user: String, options: ClientOptions = .init()
    ) async throws(RelayError) -> RelayClient {
        let name = try checkedName(user)
        let secret = try options.secret.digits(for: name, at: address)
        let device = try options.device.digits(for: name, at: address, beside: options.secret)
        return try await logIn(options.settings(.user(name, secret: secret), device: device), at: address)
    }

    static func logIn(_ settings: ClientSettings, at address: RelayAddress) async throws(RelayError) -> RelayClient {
        let client = RelayClient(core: ClientCore(settings: settings, address: address), device: settings.device)
        let receipt = try client.core.send { machine, token, now in machine.connect(token: token, at: now) }
        do throws(RelayError) {
            _ = try await receipt.pending.awaited().get()
            return client
        } catch {
            client.core.abandon()
            throw error
        }
    }

    private init(core: ClientCore, device: String) {
        self.core = core
        self.device = device
        events = Events(core: core)
    }

    deinit { core.abandon() }

    // MARK: - Events

    /// Everything that happens, in the relay's order. For one reader: with several, each event goes to one of them.
    public let events: Events

    /// The client's sequence of events; ends when the client is closed and all has been read.
    public struct Events: AsyncSequence, Sendable {
        let core: ClientCore

        public func makeAsyncIterator() -> Iterator { Iterator(core: core) }

        /// Takes events one by one.
        public struct Iterator: AsyncIteratorProtocol {
            let core: ClientCore
            public mutating func next() async -> RelayEvent? { await core.nextEvent() }
        }
    }

    /// Told every event on the main actor, in order, until the client is closed. Not kept alive.
    ///
    /// Takes the place of reading `events`, whose readers get nothing that a delegate was given. Setting another one, or
    /// none, loses nothing: an event is taken at the moment in which it is handed over.
    @MainActor public weak var delegate: (any RelayClientDelegate)? {
        didSet {
            guard delegate != nil, !isDelivering else { return }
            isDelivering = true
            Task { @MainActor [weak self, core] in
                while self?.delegateTakesEvents() == true { await core.eventsReady() }
            }
        }
    }

    @MainActor private var isDelivering = false

    /// Hands over what is there; false when there will be nothing more to hand over.
    @MainActor private func delegateTakesEvents() -> Bool {
        while let delegate {
            switch core.takeEvent() {
            case .event(let event): delegate.relayClient(self, received: event)
            case .nothing: return true
            case .end: return false
            }
        }
        isDelivering = false
        return false
    }

    // MARK: - Message channels

    /// Receives a message channel's messages, presence, or both. Calling again changes what is received.
    ///
    /// - Parameters:
    ///   - quiet: not seen by others; may publish, has no states.
    ///   - since: where to begin: kept messages come first, then `caughtUp`, then what is sent, without a hole or a
    ///     duplicate between them. `nil`: with what is sent from now on. What is not kept any more is told (`messagesMissed`).
    ///     After a break the client goes on where it was by itself.
    /// - Throws: `badName`, `limitReached`, `relayFull`, or why the relay was not reached.
    public func subscribe(
        _ channel: String, features: Set<Feature> = [.messages, .presence], quiet: Bool = false, since: Since? = nil
    ) async throws(RelayError) {
        _ = try await core.ask(.subscribe(try checkedName(channel), features: features, quiet: quiet, since: since))
    }

    /// Kept messages of a channel, a page at a time; no subscription is needed. Records are not among them: the board has those.
    ///
    /// - Parameters:
    ///   - from: the first offset wanted: `next` of the page before, or `nil` for the oldest (`backwards`: the newest).
    ///   - limit: at most so many messages, 1…100; a page ends earlier at 512 KiB.
    /// - Throws: `badName`, `badRequest`, `rateLimited`, `outcomeUnknown`, or why the relay was not reached.
    public func history(of channel: String, from: UInt64? = nil, backwards: Bool = false, limit: Int? = nil) async throws(RelayError)
        -> HistoryPage
    {
        guard
            case .history(let page) = try await core.ask(.history(try checkedName(channel), from: from, backwards: backwards, limit: limit))
        else {
            throw .wrongAnswer
        }
        return page
    }

    /// Waits until every message that the relay accepted before has come: behind it a client is up to date. [HI8]
    ///
    /// They are in `events` then, or taken from it. When the task is cancelled, so is the wait.
    ///
    /// - Parameter channel: a message channel that is subscribed; `nil`: all.
    /// - Throws: `notSubscribed`, `limitReached` when 8 wait already, `cancelled`, or why the relay was not reached.
    public func barrier(in channel: String? = nil) async throws(RelayError) {
        _ = try await core.ask(.barrier(try channel.map(checkedName)))
    }

    /// Ends receiving a message channel and being seen in it.
    ///
    /// - Throws: `notSubscribed`, `badName`, or why the relay was not reached.
    public func unsubscribe(_ channel: String) async throws(RelayError) { _ = try await core.ask(.unsubscribe(try checkedName(channel))) }

    /// Publishes a message; it has its place in the order when this returns.
    ///
    /// After a break it is sent again until its outcome is known: the relay accepts it once.
    ///
    /// - Parameters:
    ///   - echo: whether this client receives it as well, if it is subscribed.
    ///   - storeInHistory: whether the channel keeps it for users who come later, or come back. Without, a user without a link that
    ///     takes it misses it and is not told.
    /// - Returns: the receipt, whose value is the message's offset. It need not be awaited.
    /// - Throws: `badName`, `tooLarge`, `unsentFull`, `clientClosed`; nothing was sent then.
    @discardableResult
    public func send(
        _ payload: Payload, to channel: String, customType: String? = nil, echo: Bool = false, storeInHistory: Bool = true
    ) throws(RelayError) -> Receipt {
        try core.send { (machine, token, now) throws(RelayError) in
            try machine.send(payload, to: channel, customType: customType, echo: echo, isKept: storeInHistory, token: token, at: now)
        }
    }

    /// Sends a message to one user. The receipt's value comes when the receiving app has taken it.
    @discardableResult
    public func send(_ payload: Payload, toUser user: String, customType: String? = nil) throws(RelayError) -> Receipt {
        try core.send { (machine, token, now) throws(RelayError) in
            try machine.send(payload, toUser: user, customType: customType, token: token, at: now)
        }
    }

    // MARK: - Stream channels

    /// Joins a stream channel.
    public func join(
        _ channel: String, features: Set<Feature> = [.presence], quiet: Bool = false, token: String? = nil
    ) async throws(RelayError) -> StreamChannel {
        let name = try checkedName(channel)
        _ = try await core.ask(.join(name, features: features, quiet: quiet, token: token))
        return StreamChannel(core: core, name: name)
    }

    // MARK: - Presence

    /// Presence and states of a channel; neither needs to be subscribed for reading.
    public func presence(of channel: ChannelReference) -> Presence { Presence(core: core, channel: channel) }

    /// The channels in which a user is seen.
    public func channels(of user: String) async throws(RelayError) -> [ChannelID] {
        let user = try checkedName(user)
        var found: [ChannelID] = []
        var next: ChannelID?
        repeat {
            guard case .channels(let channels, let following) = try await core.ask(.whereIs(user, after: next)) else { throw .wrongAnswer }
            found += channels
            next = following
        } while next != nil
        return found
    }

    // MARK: - Access

    /// Id of the user.
    public var user: String { core.read { $0.identity.user?.text } ?? "" }

    /// Which of the user's devices this client is: 16 hexadecimal digits, as in `LockDetail.ownerDevice` and `Packet.device`. [SE8]
    public let device: String

    /// What this client may: its role, and what is granted to it besides; `nil` before the first login.
    ///
    ///     if client.access?.rights(on: "lesson").contains(.publish) == true { … }
    public var access: Access? { core.read { $0.access } }

    /// The public id of the relay that let the client in last: 32 hexadecimal digits, the same over restarts of a relay with a data
    /// folder. By it an app tells one relay from another that has taken its address.
    public var relayID: String? { core.read { $0.relayID } }

    /// What the join code stood for with which the client has come in: an app keeps the key, and goes to the channel. [AC20]
    public var invitation: JoinInvitation? { core.read { $0.invitation } }

    /// Whether it has subscribed or joined a channel, to its knowledge.
    package func isIn(_ channel: ChannelID) -> Bool { core.read { $0.isIn(channel) } }
    package func isIn(stream name: String) -> Bool { (try? checkedName(name)).map { isIn(ChannelID(kind: .stream, channel: $0)) } ?? false }

    /// Brings another credential for the same user id: the session goes on with what that one is good for. Without a link it
    /// is used for the next login, which is tried at once.
    ///
    /// - Throws: `tokenInvalid`, `tokenExpired`, `keyWrong`, with which nothing has changed; `clientClosed`, `outcomeUnknown`.
    public func renew(_ credential: Credential) async throws(RelayError) {
        _ = try await core.call { (machine, token, now) throws(RelayError) in try machine.renew(credential, token: token, at: now) }
    }

    // MARK: - The link

    /// Says what this client takes of packets from now on, over reconnects too; `ReaderLimits()`: all of them. The relay leaves others
    /// out and tells so (`packetsLost` with `readerLimit`); of each slot the newest comes. Messages are never left out. [DL11]
    ///
    /// - Throws: `badRequest` for a limit that is not in its range, or why the relay was not reached.
    public func setReaderLimits(_ limits: ReaderLimits) async throws(RelayError) {
        _ = try await core.call { (machine, token, now) throws(RelayError) in try machine.setReaderLimits(limits, token: token, at: now) }
    }

    /// How the client stands with its relay, as the last `link` event says, whether it was read or not.
    public var linkState: LinkState { core.read { $0.linkState } }

    /// What waits to be sent: while the link is down, or for the rates.
    public var unsent: Unsent {
        core.read { machine in
            let (messages, packets, bytes) = machine.unsent
            return Unsent(messages: messages, packets: packets, bytes: bytes, unstored: machine.unstoredCount)
        }
    }

    /// What moderators have set of a channel that this client is in. With `openEditing`, who may publish may also replace and remove
    /// others' records.
    ///
    /// - Throws: `badName`.
    public func modes(of channel: ChannelReference) throws(RelayError) -> Set<ChannelMode> {
        let id =
            switch channel {
            case .message(let name): ChannelID(kind: .message, channel: try checkedName(name))
            case .stream(let name): ChannelID(kind: .stream, channel: try checkedName(name))
            }
        return core.read { $0.modes(of: id) }
    }

    /// Last measured time to the relay and back; `nil` before the first.
    public var roundTrip: Duration? { core.read { $0.roundTrip } }

    /// For an app that comes to the foreground: a client that waits tries at once, a link that may be dead is probed.
    public func wakeUp() { core.act { machine, now in machine.wakeUp(at: now) } }

    /// Sends what waits (for at most 2 s), logs out, and ends; others see this user leave. Events end after it. A task that is cancelled
    /// only stops waiting for it.
    public func close() async {
        let receipt = try? core.send { machine, token, now in machine.close(token: token, at: now) }
        _ = await receipt?.pending.awaited()
    }
}

/// A channel by kind and name.
public enum ChannelReference: Sendable, Equatable {
    /// The message channel of this name.
    case message(String)
    /// The stream channel of this name.
    case stream(String)
}

extension RelayError {
    static let wrongAnswer = RelayError(.relayFault, "the relay answered something else")
}
