import Dispatch
import RelayPrimitives
import RelayRights

/// Which reader of a client.
enum ReaderKey: Hashable, Sendable {
    case events(ReaderFeed.ID)
    case latest(UInt64)
}

/// The machine with its readers behind a lock, and its link on a queue.
///
/// Calls from any thread change the machine under the lock; sockets and timers are touched on the queue only, which
/// is told to look by `kick`.
package final class ClientCore: Sendable {
    private struct Guarded {
        var readable: ReadableMachine
        var lastToken: ClientToken = 0
        var lastWaiter: UInt64 = 0
        var receipts: [ClientToken: PendingReceipt] = [:]
        /// Tasks that wait until something holds.
        var waiters: [Waiter] = []
        var cancelledWaiters: Set<UInt64> = []
        /// Readers that are open, and what each is called.
        var readers: [ReaderKey: Any.Type] = [:]
        var isKicked = false
        var wasHeldBack = false
        /// The reader for calls.
        var told: ReaderFeed.ID?
        /// Of a client that its app has let go, until it is closed.
        var itself: ClientCore?
    }

    private struct Waiter {
        var id: UInt64
        var reader: ReaderKey
        var isReady: @Sendable (ReadableMachine) -> Bool
        var continuation: CheckedContinuation<Void, Never>
    }

    private let guarded: Mutex<Guarded>
    package let transport: any ClientTransport
    private let now: @Sendable () -> Instant
    private let options: ClientOptions
    /// Who this is, read from where it is kept, once.
    let identity: KeptIdentity

    init(_ invitation: Invitation, _ who: KeptIdentity.Who, _ options: ClientOptions, _ surroundings: ClientSurroundings?) {
        self.options = options
        if let surroundings { now = surroundings.now } else { now = { Instant(nanoseconds: SystemClock.monotonicNanoseconds()) } }
        identity = KeptIdentity(who, invitation, options)
        var settings = options.settings(who.machineIdentity, invitation)
        if let surroundings { (settings.seed, settings.instance) = (surroundings.seed, surroundings.instance) }
        guarded = Mutex(Guarded(readable: ReadableMachine(ClientMachine(settings: settings))))
        transport = surroundings?.transport ?? ClientLink(addresses: invitation.addresses, timeout: settings.connectTimeout)
        transport.attach(self)
    }

    // MARK: - Calls of the app

    func read<Value: Sendable>(_ body: (ReadableMachine) -> Value) -> Value { guarded.withLock { body($0.readable) } }

    /// Changes the machine without needing the relay.
    func act<Value, Failure: Error>(_ body: (inout ReadableMachine, Instant) throws(Failure) -> Value) throws(Failure) -> Value {
        try change { state -> Result<Value, Failure> in
            do throws(Failure) { return .success(try body(&state.readable, now())) } catch { return .failure(error) }
        }.get()
    }

    /// The first call that needs the relay connects.
    ///
    /// - Throws: `badRequest` for digits of an option that are none; `secretNotKept`.
    func start() throws(RelayError) {
        guard read(\.machine.isIdle) else { return }
        try identify()
        act { readable, now in if readable.machine.isIdle { readable.machine.connect(token: nil, at: now) } }
    }

    /// Reads who this is, before anything is asked.
    func identify() throws(RelayError) {
        guard read(\.machine.isIdle) else { return }
        let digits = try identity.read()
        // Another call may have begun the first login meanwhile, with the same digits.
        act { readable, _ in if readable.machine.isIdle { readable.machine.identify(secret: digits.secret, device: digits.device) } }
    }

    func reach<Value>(_ body: (inout ReadableMachine, Instant) throws(RelayError) -> Value) throws(RelayError) -> Value {
        try start()
        return try act(body)
    }

    func send(_ body: (inout ReadableMachine, ClientToken, Instant) throws(RelayError) -> Void) throws(RelayError) -> PendingReceipt {
        try start()
        return try handOver(body)
    }

    func handOver(_ body: (inout ReadableMachine, ClientToken, Instant) throws(RelayError) -> Void) throws(RelayError) -> PendingReceipt {
        let receipt = PendingReceipt()
        let failure = change { state -> RelayError? in
            state.lastToken += 1
            let token = state.lastToken
            state.receipts[token] = receipt
            do throws(RelayError) {
                try body(&state.readable, token, now())
                return nil
            } catch {
                state.receipts[token] = nil
                return error
            }
        }
        if let failure { throw failure }
        return receipt
    }

    /// What is accepted, and then stored.
    func sendStored(_ body: (inout ReadableMachine, _ accepted: ClientToken, _ stored: ClientToken, Instant) throws(RelayError) -> Void)
        throws(RelayError) -> (accepted: PendingReceipt, stored: PendingReceipt)
    {
        try start()
        let pending = (accepted: PendingReceipt(), stored: PendingReceipt())
        let failure = change { state -> RelayError? in
            let (accepted, stored) = (state.lastToken + 1, state.lastToken + 2)
            state.lastToken = stored
            (state.receipts[accepted], state.receipts[stored]) = (pending.accepted, pending.stored)
            do throws(RelayError) {
                try body(&state.readable, accepted, stored, now())
                return nil
            } catch {
                (state.receipts[accepted], state.receipts[stored]) = (nil, nil)
                return error
            }
        }
        if let failure { throw failure }
        return pending
    }

    func ask(_ request: ClientRequest, _ call: CallOptions = .init()) async throws(RelayError) -> ClientAnswer {
        try await self.call(call, isHandedOver: request.isHandedOver, more: request.waitAtRelay) {
            (readable, token, now) throws(RelayError) in
            try readable.machine.request(request, token: token, at: now)
        }
    }

    /// Takes its place in the order before it suspends. It ends with its task, and when its time is up.
    ///
    /// - Parameters:
    ///   - isHandedOver: it is done in any case.
    ///   - isLocal: it needs no link.
    ///   - more: how long the relay may wait before it answers.
    /// - Throws: `cancelled` and `timedOut`, whose `outcome` says whether it was sent; `notConnected`.
    func call(
        _ call: CallOptions = .init(), isHandedOver: Bool = false, isLocal: Bool = false, more: Duration = .zero,
        _ body: (inout ReadableMachine, ClientToken, Instant) throws(RelayError) -> Void
    ) async throws(RelayError) -> ClientAnswer {
        guard isHandedOver || !Task.isCancelled else { throw RelayError(.cancelled, "the call was cancelled", outcome: .nothingHappened) }
        if !isLocal { try start() }
        let timeout = call.timeout ?? options.requestTimeout
        let waitsForLink = isLocal || (call.offline ?? options.offline) == .wait
        var asked: ClientToken = 0
        let pending = try handOver { (readable, token, now) throws(RelayError) in
            asked = token
            if !waitsForLink { try readable.machine.checkLink() }
            try body(&readable, token, now)
            readable.machine.endCall(token, after: timeout + more, at: now)
        }
        let token = asked
        return try await withTaskCancellationHandler {
            await pending.result()
        } onCancel: {
            change { $0.readable.withdraw(token, RelayError(.cancelled, "the call was cancelled")) }
        }.get()
    }

    /// The app has let the client go: it does what `close()` does, and lives until that is done.
    func letGo() {
        change { state in
            guard !state.readable.machine.isClosed else { return }
            state.itself = self
            state.lastToken += 1
            state.readable.machine.close(token: state.lastToken, at: now())
        }
    }

    // MARK: - Readers

    /// A reader for calls, as long as the client is there.
    func openTold() {
        change { state in
            state.told = state.readable.open(at: now()) { $0.audience.contains(.calls) ? $0 : nil }
        }
    }

    var told: ReaderFeed.ID? { guarded.withLock { $0.told } }

    func take(_ reader: ReaderFeed.ID) -> ReaderFeed.Taken {
        let taken = change { $0.readable.take(reader, at: now()) }
        guard case .item(var item) = taken, case .event(.direct(var message)) = item.content, let delivery = message.delivery else {
            return taken
        }
        message.acknowledgement = DirectMessage.Acknowledgement { [weak self] in
            self?.act { readable, _ in readable.machine.acknowledge(delivery) }
        }
        item.content = .event(.direct(message))
        return .item(item)
    }

    /// Returns when something holds, or the task is cancelled.
    func wait(_ reader: ReaderKey, until isReady: @escaping @Sendable (ReadableMachine) -> Bool) async {
        let id = guarded.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = guarded.withLock { state in
                    if state.cancelledWaiters.remove(id) != nil || isReady(state.readable) { return true }
                    state.waiters.append(Waiter(id: id, reader: reader, isReady: isReady, continuation: continuation))
                    return false
                }
                if goesOn { continuation.resume() }
            }
        } onCancel: {
            let waiting = guarded.withLock { state in
                guard let index = state.waiters.firstIndex(where: { $0.id == id }) else {
                    state.cancelledWaiters.insert(id)
                    return nil as CheckedContinuation<Void, Never>?
                }
                return state.waiters.remove(at: index).continuation
            }
            waiting?.resume()
        }
        guarded.withLock { _ = $0.cancelledWaiters.remove(id) }
    }

    /// A reader begins.
    func begin(_ reader: ReaderKey, _ type: Any.Type) { guarded.withLock { $0.readers[reader] = type } }

    /// A reader has ended.
    func end(_ reader: ReaderKey) { guarded.withLock { $0.readers[reader] = nil } }

    /// Calls and receipts without an answer.
    package var unanswered: Int { guarded.withLock { $0.receipts.count } }

    /// Readers that do not wait for more, such as `ben: Events<MessageEvent>`.
    package func busyReaders() -> [String] {
        guarded.withLock { state in
            let waiting = Set(state.waiters.map(\.reader))
            let user = state.readable.machine.identity.user?.text ?? "?"
            return state.readers.filter { !waiting.contains($0.key) }.map { "\(user): \($0.value)" }.sorted()
        }
    }

    // MARK: - What the link tells

    package func linkOpened(_ attempt: UInt64) { change { $0.readable.machine.linkOpened(attempt: attempt, at: now()) } }
    package func linkEnded(_ attempt: UInt64, _ text: String) {
        change { $0.readable.machine.linkEnded(attempt: attempt, text: text, at: now()) }
    }
    package func deadline() { change { $0.readable.deadline(at: now()) } }

    /// - Returns: whether more may come.
    package func received(_ bytes: UnsafeRawBufferPointer, _ attempt: UInt64) -> Bool {
        change { state in
            state.readable.machine.received(bytes, attempt: attempt, at: now())
            state.readable.tell(at: now())
            return !state.readable.machine.isHeldBack
        }
    }

    package func gather() -> [UInt8] { guarded.withLock { Array($0.readable.machine.gather()) } }
    package func wrote(_ count: Int) { change { $0.readable.machine.wrote(count, at: now()) } }
    package var nextDeadline: Instant? { guarded.withLock { $0.readable.nextDeadline } }

    // MARK: - One change

    /// Changes the machine and hands out what follows from it, outside of the lock.
    @discardableResult
    private func change<Value>(_ body: (inout Guarded) -> Value) -> Value {
        var completions: [(PendingReceipt, Result<ClientAnswer, RelayError>)] = []
        var waiters: [CheckedContinuation<Void, Never>] = []
        var tasks: [ReadableMachine.Task] = []
        var opening: UInt64?
        var mustKick = false
        var itself: ClientCore?
        let value = guarded.withLock { state in
            let value = body(&state)
            state.readable.tell(at: now())
            state.waiters.removeAll { waiter in
                guard waiter.isReady(state.readable) else { return false }
                waiters.append(waiter.continuation)
                return true
            }
            var links: [ClientEffect] = []
            for effect in state.readable.machine.takeEffects() {
                switch effect {
                case .completed(let token, let result):
                    if let receipt = state.receipts.removeValue(forKey: token) { completions.append((receipt, result)) }
                case .openLink(let attempt) where options.token != nil: opening = attempt
                case .openLink, .closeLink, .goElsewhere: links.append(effect)
                }
            }
            tasks = state.readable.takeTasks()
            // In order with other changes: the queue is told under the lock.
            transport.carryOut(links)
            if state.wasHeldBack, !state.readable.machine.isHeldBack { transport.goOn() }
            state.wasHeldBack = state.readable.machine.isHeldBack
            if state.readable.machine.isClosed { swap(&itself, &state.itself) }
            if !state.isKicked {
                state.isKicked = true
                mustKick = true
            }
            return value
        }
        if mustKick {
            transport.kick { [weak self] in self?.guarded.withLock { $0.isKicked = false } }
        }
        for (receipt, result) in completions { receipt.complete(result) }
        for waiter in waiters { waiter.resume() }
        for task in tasks { carryOut(task) }
        if let opening { openWithToken(opening) }
        return value
    }

    // MARK: - What is done besides

    private func carryOut(_ task: ReadableMachine.Task) {
        switch task {
        case .connected: do throws(RelayError) { try keepIdentity() } catch { tell(Problem(subject: .unknown, error: error)) }
        case .log(let problem): ClientLog.problem(problem)
        case .renewToken:
            guard let token = options.token else { return }
            Task { [weak self] in
                do {
                    let credential = Credential.token(try await token())
                    _ = try await self?.call { (readable, token, now) throws(RelayError) in
                        try readable.machine.renew(credential, token: token, at: now)
                    }
                } catch {
                    self?.tell(Problem(subject: .token, error: (error as? RelayError) ?? RelayError(.tokenInvalid, "\(error)")))
                }
            }
        case .readMembers(let channel, let after, let snapshot):
            Task { [weak self] in await self?.readMembers(channel, after, snapshot) }
        }
    }

    func tell(_ problem: Problem) { act { readable, now in readable.tell(problem, at: now) } }

    /// With a token of the app's own, each login has a new one.
    private func openWithToken(_ attempt: UInt64) {
        guard let token = options.token else { return }
        Task { [weak self] in
            do {
                let credential = Credential.token(try await token())
                // It may have taken longer than the attempt has time.
                guard self?.act({ readable, _ in readable.machine.use(credential, for: attempt) }) == true else { return }
                self?.transport.carryOut([.openLink(attempt: attempt)])
            } catch {
                self?.linkEnded(attempt, "no token: \(error)")
            }
        }
    }

    /// Keeps what the relay has told of who this is.
    ///
    /// - Throws: `secretNotKept`.
    func keepIdentity() throws(RelayError) {
        let (identity, device, relay) = read { ($0.machine.identity, $0.machine.settings.device, $0.machine.relayID) }
        guard let user = identity.user else { return }
        try self.identity.keep(user: user, secret: identity.secret, device: device, relayID: relay)
    }

    /// A snapshot has at most 100 members; pages bring the rest.
    private func readMembers(_ channel: String, _ after: String, _ snapshot: Int) async {
        guard let name = try? checkedName(channel) else { return }
        var next = try? checkedName(after)
        while next != nil {
            let place = ChannelID(kind: .message, channel: name)
            guard case .members(_, let members, let following)? = try? await ask(.who(place, after: next, limit: nil)) else { return }
            act { readable, _ in readable.read(members, in: channel, of: snapshot) }
            next = following
        }
    }
}
