import RelayIO
import RelayPrimitives

/// A client of a whiteboard relay: one device of one user.
///
///     let client = try WhiteboardClient(Invitation("http://192.168.1.5:7420/#key=…"), user: "alice-7f3a")
///     let lesson = try client.channel("lesson")
///     let pictures = lesson.board.pictures()
///     try await lesson.open()
///     try lesson.board.put("0,0 10,20", key: "s1")
///     for await picture in pictures { … }
///
/// Safe from any thread. Every call that sends takes its place in the one order before it returns or suspends. A broken link is made again
/// by itself, with all that was open; what was missed meanwhile is told. When the last reference goes (handles, receipts and readers have
/// one), the client does what `close()` does.
public final class WhiteboardClient: Sendable {
    package let core: ClientCore
    private let invited: Invitation
    private let lastReceipt = Mutex(UInt64(0))

    /// Makes a client without input or output: the first call that needs the relay connects, and reads the user's secret.
    ///
    /// - Parameters:
    ///   - invitation: where the relay is and what lets in.
    ///   - user: the user's id, 1…64 bytes of ASCII, such as `keptUserID()`. People see the state `name`.
    /// - Throws: `badName`; `badRequest` for an invitation without an address, or whose addresses are protected in different ways.
    public convenience init(_ invitation: Invitation, user: String, options: ClientOptions = .init()) throws(RelayError) {
        try self.init(invitation, .user(try checkedName(user)), options, nil)
    }

    /// Makes a client that comes in as one more device of the user who has shown a code (`handOver`).
    ///
    /// `user` is known behind `connect()`: from the next start on the app uses `init(_:user:options:)`. The user's secret and this device
    /// are kept where `options` say. With `ClientSecret.digits` the app keeps `secret` itself. Of a credential only a key goes along.
    ///
    /// - Throws: `badRequest` for an invitation without an address. `connect()` throws `codeWrong` for a code that is wrong, used or too
    ///   old, `limitReached` when 8 devices of the user are there.
    public convenience init(_ invitation: Invitation, code: String, options: ClientOptions = .init()) throws(RelayError) {
        try self.init(invitation, .code(code), options, nil)
    }

    /// A client of a relay in memory.
    package convenience init(
        _ invitation: Invitation, user: String, options: ClientOptions, surroundings: ClientSurroundings
    ) throws(RelayError) {
        try self.init(invitation, .user(try checkedName(user)), options, surroundings)
    }

    private init(
        _ invitation: Invitation, _ who: KeptIdentity.Who, _ options: ClientOptions, _ surroundings: ClientSurroundings?
    ) throws(RelayError) {
        try Invitation.check(invitation.addresses)
        invited = invitation
        core = ClientCore(invitation, who, options, surroundings)
    }

    deinit { core.letGo() }

    /// A client for as long as `body` runs; it is closed however that ends.
    ///
    /// - Throws: what `init` and `body` throw.
    public static func withClient<Result>(
        _ invitation: Invitation, user: String, options: ClientOptions = .init(),
        _ body: (WhiteboardClient) async throws -> Result
    ) async throws -> Result {
        let client = try WhiteboardClient(invitation, user: user, options: options)
        do {
            let result = try await body(client)
            await client.close()
            return result
        } catch {
            await client.close()
            throw error
        }
    }

    // MARK: - Coming and going

    /// Waits until the client is connected.
    ///
    /// - Parameter timeout: `nil`: as long as the attempt lasts, which has `ClientOptions.connectTimeout`.
    /// - Throws: `connectFailed`, `timedOut`, `otherRelay` when an attempt fails: the client goes on trying. After a refusal whose `retry`
    ///   is `never`, such as `keyWrong`, it is closed. `secretNotKept`, `cancelled`.
    public func connect(timeout: Duration? = nil) async throws(RelayError) {
        try core.identify()
        _ = try await core.call(CallOptions(timeout: timeout ?? .unbounded), isLocal: true) { (readable, token, now) throws(RelayError) in
            readable.machine.connect(token: token, at: now)
        }
        try core.keepIdentity()
    }

    /// Sends what waits (for at most 2 s), logs out, and ends; others see this user leave. What has no answer by then fails with
    /// `clientClosed`. A task that is cancelled only stops waiting for it.
    public func close() async {
        let receipt = try? core.handOver { (readable, token, now) throws(RelayError) in readable.machine.close(token: token, at: now) }
        _ = await receipt?.awaited()
    }

    /// For an app that comes to the foreground: a client that waits tries at once, a link that may be dead is probed.
    public func wakeUp() { core.act { readable, now in readable.machine.wakeUp(at: now) } }

    /// Ends the link and the client without a word to the relay, as when its machine loses power.
    package func breakOff() { core.act { readable, _ in readable.machine.finish() } }

    // MARK: - Handles

    /// The handle of a channel.
    ///
    /// - Throws: `badName`.
    public func channel(_ name: String) throws(RelayError) -> Channel { Channel(client: self, id: try checkedName(name)) }

    /// Another user: what is sent to them, and known of them.
    ///
    /// - Throws: `badName`.
    public func person(_ user: String) throws(RelayError) -> Person { Person(client: self, id: try checkedName(user)) }

    /// What a moderator decides about others.
    public var moderation: Moderation { Moderation(client: self) }

    // MARK: - Readers

    /// All that happens, in the relay's order.
    public func events() -> Events<RelayEvent> { events { if case .event(let event) = $0.content { RelayEvent(event) } else { nil } } }

    /// Messages to this user alone.
    public func directMessages() -> Events<DirectMessage> {
        events { if case .event(.direct(let message)) = $0.content { message } else { nil } }
    }

    /// Refusals that no call waited for, failures of receipts that nobody asked, packets of this client that were dropped, and why a join
    /// code or a token ends. The first reader gets those of before, at most 100.
    public func problems() -> Events<Problem> {
        let reader = Reader(self, of: Events<Problem>.self, id: core.act { readable, now in readable.openProblems(at: now) })
        return Events(reader: reader, extract: { if case .event(let event) = $0.content { event.problem } else { nil } })
    }

    /// How the client stands with its relay.
    public func linkStates() -> Latest<LinkState> { Latest(self, standing: \.linkStanding) { readable, _ in readable.machine.linkState } }

    // MARK: - What is known

    /// How the client stands with its relay; readers may be behind it.
    public var link: LinkState { core.read(\.machine.linkState) }

    /// The user's id; `nil` with a code, until the first login.
    public var user: String? { core.read { $0.machine.identity.user?.text } }

    /// Which of the user's devices this is, 16 hexadecimal digits, as in `LockDetail.ownerDevice` and `Packet.device`; `nil` where it
    /// cannot be read.
    public var device: String? {
        do throws(RelayError) { try core.identify() } catch { return nil }
        return core.read(\.machine.settings.device)
    }

    /// What shows the relay that the user id is this client's, 32 hexadecimal digits: for an app that keeps it by itself, as
    /// `ClientSecret.digits`. `nil` before the first login, and where the relay lets everybody in and nothing was kept.
    public var secret: String? { core.read(\.machine.identity.secret) }

    /// What this client may: its role, and what is granted to it besides; `nil` before the first login.
    ///
    ///     if client.access?.rights(on: "lesson").contains(.publish) == true { … }
    public var access: Access? { core.read(\.machine.access) }

    /// What the relay allows; before the first login what one allows by default.
    public var limits: ServerLimits { core.read(\.machine.limits) }

    /// The public id of the relay that let the client in last: 32 hexadecimal digits, the same over restarts of a relay with a data
    /// folder.
    public var relayID: String? { core.read(\.machine.relayID) }

    /// What the join code stood for with which the client has come in, if with one: it lets in without the code, by the relay's key, and
    /// leads to the channel. The app keeps its `text` for the next start.
    public var invitation: Invitation? {
        guard let joined = core.read(\.machine.invitation) else { return nil }
        var invitation = invited
        (invitation.credential, invitation.channel) = (.key(joined.key), joined.channel?.text)
        return invitation
    }

    /// What waits to be sent: while the link is down, or for the rates.
    public var unsent: Unsent {
        core.read { readable in
            let (messages, packets, bytes) = readable.machine.unsent
            return Unsent(messages: messages, packets: packets, bytes: bytes, unstored: readable.machine.unstoredCount)
        }
    }

    /// Last measured time to the relay and back; `nil` before the first.
    public var roundTrip: Duration? { core.read(\.machine.roundTrip) }

    /// Channels that the client is in, in order of name: from the answer to `open` until `leave`, over broken links too.
    public var openChannels: [Channel] {
        core.read { readable in readable.machine.subscribedChannels.filter { $0.kind == .message && readable.isOpen($0.channel.text) } }
            .map { Channel(client: self, id: $0.channel) }
    }

    // MARK: - Calls

    /// All boards of the relay, in order of names.
    ///
    /// - Parameter unused: only those that nobody has used for so long, by the relay's clock: nobody has changed them, and nobody was seen
    ///   in their channels since the end of that day (UTC).
    /// - Throws: `outcomeUnknown`, or why the relay was not reached.
    public func boards(unusedFor unused: Duration? = nil, call: CallOptions = .init()) async throws(RelayError) -> [BoardInfo] {
        var found: [BoardInfo] = []
        var next: Name?
        repeat {
            let request = ClientRequest.boards(after: next, unusedMilliseconds: unused.map { UInt64(max(0, $0.milliseconds)) })
            guard case .boards(let boards, let following) = try await core.ask(request, call) else { throw .wrongAnswer }
            found += boards
            // A relay that names a page again would be asked for ever.
            guard following.map({ new in next.map { $0 < new } ?? true }) ?? true else { throw .wrongAnswer }
            next = following
        } while next != nil
        return found
    }

    /// Waits until every message that the relay accepted before has come, in all open channels.
    ///
    /// - Throws: `limitReached` when 8 wait already, or why the relay was not reached.
    public func upToDate(call: CallOptions = .init()) async throws(RelayError) { _ = try await core.ask(.barrier(nil), call) }

    /// Makes a code with which one more device of this user comes in: that one gives it to `init(_:code:options:)`.
    ///
    /// It can be used once, by whoever has it, for 2 minutes, while this client keeps its session. An earlier code of this client is void.
    ///
    /// - Throws: `notPermitted` if the client has no `secret` and the relay does not let everybody in; `rateLimited`; or why the relay was
    ///   not reached.
    public func handOver(call: CallOptions = .init()) async throws(RelayError) -> OfferedCode {
        let answer = try await core.call(call) { (readable, token, now) throws(RelayError) in
            try readable.machine.offerDevice(token: token, at: now)
        }
        guard case .code(let offer) = answer else { throw .wrongAnswer }
        return offer
    }

    /// Brings another credential for the same user id: the session goes on with what that one is good for. Without a link it
    /// is used for the next login, which is tried at once.
    ///
    /// - Throws: `tokenInvalid`, `tokenExpired`, `keyWrong`, with which nothing has changed; `clientClosed`, `outcomeUnknown`.
    public func renew(_ credential: Credential, call: CallOptions = .init()) async throws(RelayError) {
        _ = try await core.call(call) { (readable, token, now) throws(RelayError) in
            try readable.machine.renew(credential, token: token, at: now)
        }
    }

    /// Says what this client takes of packets from now on, over reconnects too; `ReaderLimits()`: all of them. The relay leaves others
    /// out and tells so (`packetsLost` with `readerLimit`); of each slot the newest comes. Messages are never left out.
    ///
    /// - Throws: `badRequest` for a limit that is not in its range, or why the relay was not reached.
    public func setReaderLimits(_ limits: ReaderLimits, call: CallOptions = .init()) async throws(RelayError) {
        _ = try await core.call(call) { (readable, token, now) throws(RelayError) in
            try readable.machine.setReaderLimits(limits, token: token, at: now)
        }
    }

    /// Tells this client's receipts apart.
    func nextReceipt() -> UInt64 {
        lastReceipt.withLock { last in
            last += 1
            return last
        }
    }
}

extension RelayError {
    static let wrongAnswer = RelayError(.relayFault, "the relay answered something else")
}
