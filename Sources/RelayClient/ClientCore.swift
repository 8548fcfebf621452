import Dispatch
import RelayPrimitives

/// The machine behind a lock, and its link on a queue.
///
/// Calls from any thread change the machine under the lock; sockets and timers are touched on the queue only, which
/// is told to look by `kick`.
final class ClientCore: Sendable {
    private struct Guarded {
        var machine: ClientMachine
        var lastToken: ClientToken = 0
        var receipts: [ClientToken: PendingReceipt] = [:]
        /// The reader that waits for an event.
        var readers: [(id: UInt64, continuation: CheckedContinuation<Void, Never>)] = []
        var lastReader: UInt64 = 0
        var cancelledReaders: Set<UInt64> = []
        var isKicked = false
    }

    private let guarded: Mutex<Guarded>
    private let link: ClientLink
    /// Of a call, until its answer.
    private let timeout: Duration
    private let waitsForLink: Bool

    init(settings: ClientSettings, address: RelayAddress) {
        (timeout, waitsForLink) = (settings.callTimeout, settings.waitsForLink)
        guarded = Mutex(Guarded(machine: ClientMachine(settings: settings)))
        link = ClientLink(address: address, timeout: settings.connectTimeout)
        link.attach(self)
    }

    private static var now: Instant { Instant(nanoseconds: SystemClock.monotonicNanoseconds()) }

    // MARK: - Calls of the app

    func read<Value: Sendable>(_ body: (ClientMachine) -> Value) -> Value { guarded.withLock { body($0.machine) } }

    func act<Failure: Error>(_ body: (inout ClientMachine, Instant) throws(Failure) -> Void) throws(Failure) {
        let failure = change { state -> Failure? in
            do throws(Failure) { try body(&state.machine, Self.now) } catch { return error }
            return nil
        }
        if let failure { throw failure }
    }

    func send(_ body: (inout ClientMachine, ClientToken, Instant) throws(RelayError) -> Void) throws(RelayError) -> Receipt {
        let receipt = PendingReceipt()
        let failure = change { state -> RelayError? in
            state.lastToken += 1
            let token = state.lastToken
            state.receipts[token] = receipt
            do throws(RelayError) {
                try body(&state.machine, token, Self.now)
                return nil
            } catch {
                state.receipts[token] = nil
                return error
            }
        }
        if let failure { throw failure }
        return Receipt(pending: receipt)
    }

    func sendStored(_ body: (inout ClientMachine, StoredTokens, Instant) throws(RelayError) -> Void) throws(RelayError) -> StoredReceipt {
        let accepted = PendingReceipt(), stored = PendingReceipt()
        let failure = change { state -> RelayError? in
            let tokens = StoredTokens(accepted: state.lastToken + 1, stored: state.lastToken + 2)
            state.lastToken += 2
            state.receipts[state.lastToken - 1] = accepted
            state.receipts[state.lastToken] = stored
            do throws(RelayError) {
                try body(&state.machine, tokens, Self.now)
                return nil
            } catch {
                state.receipts[state.lastToken - 1] = nil
                state.receipts[state.lastToken] = nil
                return error
            }
        }
        if let failure { throw failure }
        return StoredReceipt(acceptance: accepted, storage: stored)
    }

    func ask(_ request: ClientRequest) async throws(RelayError) -> ClientAnswer {
        try await call(isHandedOver: request.isHandedOver, more: request.waitAtRelay) { (machine, token, now) throws(RelayError) in
            try machine.request(request, token: token, at: now)
        }
    }

    /// Takes its place in the order before it suspends. It ends with its task, and when its time is up.
    ///
    /// - Parameters:
    ///   - isHandedOver: it is done in any case.
    ///   - more: how long the relay may wait before it answers.
    /// - Throws: `cancelled` and `timedOut`, whose `outcome` says whether it was sent; `notConnected`.
    func call(
        isHandedOver: Bool = false, more: Duration = .zero,
        _ body: (inout ClientMachine, ClientToken, Instant) throws(RelayError) -> Void
    ) async throws(RelayError) -> ClientAnswer {
        guard isHandedOver || !Task.isCancelled else { throw RelayError(.cancelled, "the call was cancelled", outcome: .nothingHappened) }
        var asked: ClientToken = 0
        let receipt = try send { (machine, token, now) throws(RelayError) in
            asked = token
            if !waitsForLink { try machine.checkLink() }
            try body(&machine, token, now)
            machine.endCall(token, after: timeout + more, at: now)
        }
        let token = asked
        return try await withTaskCancellationHandler {
            await receipt.pending.result()
        } onCancel: {
            change { $0.machine.withdraw(token, RelayError(.cancelled, "the call was cancelled")) }
        }.get()
    }

    /// The app has released the client: the link ends, and after a while the session.
    func abandon() { change { state in state.machine.finish() } }

    // MARK: - Events

    /// The result for a reader that asks. Events go only to a reader that asks now, never to one that may have gone meanwhile.
    enum Reading { case event(RelayEvent), nothing, end }

    func takeEvent() -> Reading {
        change { state in
            if let event = state.machine.nextEvent(at: Self.now) { return .event(event) }
            return state.machine.isClosed ? .end : .nothing
        }
    }

    /// Returns when there may be something to take, or the task is cancelled.
    func eventsReady() async {
        let id = guarded.withLock { state in
            state.lastReader += 1
            return state.lastReader
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = guarded.withLock { state in
                    if state.cancelledReaders.remove(id) != nil || state.machine.hasEvents || state.machine.isClosed { return true }
                    state.readers.append((id, continuation))
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            let waiting = guarded.withLock { state in
                guard let index = state.readers.firstIndex(where: { $0.id == id }) else {
                    state.cancelledReaders.insert(id)
                    return nil as CheckedContinuation<Void, Never>?
                }
                return state.readers.remove(at: index).continuation
            }
            waiting?.resume()
        }
        guarded.withLock { _ = $0.cancelledReaders.remove(id) }
    }

    /// `nil` at the end, or when the task is cancelled.
    func nextEvent() async -> RelayEvent? {
        while !Task.isCancelled {
            switch takeEvent() {
            case .event(let event): return event
            case .end: return nil
            case .nothing: await eventsReady()
            }
        }
        return nil
    }

    // MARK: - What the link tells

    func linkOpened(_ attempt: UInt64) { change { $0.machine.linkOpened(attempt: attempt, at: Self.now) } }
    func linkEnded(_ attempt: UInt64, _ text: String) { change { $0.machine.linkEnded(attempt: attempt, text: text, at: Self.now) } }
    func deadline() { change { $0.machine.deadline(at: Self.now) } }

    func received(_ bytes: UnsafeRawBufferPointer, _ attempt: UInt64) {
        change { $0.machine.received(bytes, attempt: attempt, at: Self.now) }
    }

    func gather() -> [UInt8] { guarded.withLock { Array($0.machine.gather()) } }
    func wrote(_ count: Int) { change { $0.machine.wrote(count, at: Self.now) } }
    var nextDeadline: Instant? { guarded.withLock { $0.machine.nextDeadline } }

    // MARK: - One change

    /// Changes the machine and hands out what follows from it, outside of the lock.
    @discardableResult
    private func change<Value>(_ body: (inout Guarded) -> Value) -> Value {
        var completions: [(PendingReceipt, Result<ClientAnswer, RelayError>)] = []
        var readers: [CheckedContinuation<Void, Never>] = []
        var links: [ClientEffect] = []
        var mustKick = false
        let value = guarded.withLock { state in
            let value = body(&state)
            if state.machine.hasEvents || state.machine.isClosed {
                readers = state.readers.map(\.continuation)
                state.readers = []
            }
            for effect in state.machine.takeEffects() {
                switch effect {
                case .completed(let token, let result):
                    if let receipt = state.receipts.removeValue(forKey: token) { completions.append((receipt, result)) }
                case .openLink, .closeLink: links.append(effect)
                }
            }
            // In order with other changes: the queue is told under the lock.
            link.carryOut(links)
            if !state.isKicked {
                state.isKicked = true
                mustKick = true
            }
            return value
        }
        if mustKick {
            link.kick { [weak self] in self?.guarded.withLock { $0.isKicked = false } }
        }
        for (receipt, result) in completions { receipt.complete(result) }
        for reader in readers { reader.resume() }
        return value
    }
}
