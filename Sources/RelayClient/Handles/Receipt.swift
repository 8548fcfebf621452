/// What becomes of a message. Where nobody has asked for its outcome when the last copy of the receipt goes, a failure is among
/// `WhiteboardClient.problems()`.
public struct Receipt: Sendable, Identifiable {
    let fate: Fate

    /// Tells this client's receipts apart.
    public var id: UInt64 { fate.id }

    /// Waits for the offset, which is there once others see the message; at once if it is there.
    ///
    /// It has no time limit.
    ///
    /// - Throws: why the message was refused; why the client ended before it was sent, such as `clientClosed`; `outcomeUnknown` when it was
    ///   sent and the client ended before the answer, or the relay has forgotten it; `cancelled`, which takes nothing back.
    public var accepted: UInt64 {
        get async throws(RelayError) { try await fate.offset(of: \.accepted) }
    }
}

/// What becomes of a message to one user.
public struct DirectReceipt: Sendable, Identifiable {
    let fate: Fate

    /// Tells this client's receipts apart.
    public var id: UInt64 { fate.id }

    /// Waits until the user's app has acknowledged the message.
    ///
    /// - Throws: `userOffline`; `unconfirmed` after 10 s, or once the user's last connection has ended (it may have arrived);
    ///   `notPermitted`, `rateLimited`, `limitReached`; `outcomeUnknown` when the link broke; `clientClosed`, or why else the client ended,
    ///   before it was sent; `cancelled`, which takes nothing back.
    public func acknowledged() async throws(RelayError) { _ = try await fate.answer(of: \.accepted) }
}

/// What becomes of a record, of a batch, or of a message in parts.
///
/// Others see it from `accepted` on; a relay that ends before `stored` may have lost it again, and give its offset to another record.
public struct StoredReceipt: Sendable, Identifiable {
    let fate: Fate

    /// Tells this client's receipts apart: own records come back with it (`BoardChange.records`).
    public var id: UInt64 { fate.id }

    /// Waits until the relay has taken it; at once if it has.
    ///
    /// - Returns: its offset; of a large record that of its last part, of a batch that of its last change.
    /// - Throws: why it was refused (`boardFull`, `quotaReached`, `storageFull`, `busy`, `partMissing`, …); `storageFailed`
    ///   when it was told not durable before it was answered; `outcomeUnknown` when the relay no longer knows; `cancelled` when the
    ///   task was cancelled, which takes nothing back.
    public var accepted: UInt64 {
        get async throws(RelayError) { try await fate.offset(of: \.accepted) }
    }

    /// Waits until it is durable; at once if it is.
    ///
    /// After a break it is sent again until it is told, to the same relay started anew, too.
    ///
    /// - Returns: its offset.
    /// - Throws: what `accepted` throws; `storageFailed`: it was accepted and is gone, and every user who received it is told
    ///   (`messagesMissed` with `reset`); `notAccepted` or `outcomeUnknown` from a relay that has forgotten it.
    public var stored: UInt64 {
        get async throws(RelayError) { try await fate.offset(of: \.stored) }
    }
}

/// What all copies of a receipt share. It keeps the client.
final class Fate: Sendable {
    let id: UInt64
    let accepted: PendingReceipt
    let stored: PendingReceipt
    private let client: WhiteboardClient
    /// What is told where nobody has asked.
    private let problem: @Sendable (RelayError) -> Problem

    init(
        _ client: WhiteboardClient, id: UInt64, accepted: PendingReceipt, stored: PendingReceipt? = nil,
        problem: @escaping @Sendable (RelayError) -> Problem
    ) {
        (self.client, self.id, self.accepted, self.stored, self.problem) = (client, id, accepted, stored ?? accepted, problem)
    }

    func answer(of what: KeyPath<Fate, PendingReceipt> & Sendable) async throws(RelayError) -> ClientAnswer {
        try await self[keyPath: what].awaited().get()
    }

    func offset(of what: KeyPath<Fate, PendingReceipt> & Sendable) async throws(RelayError) -> UInt64 {
        guard case .offset(let offset) = try await answer(of: what) else { throw .wrongAnswer }
        return offset
    }

    deinit {
        let (id, problem) = (id, problem)
        // Whoever has asked for the acceptance alone has heard why there was none.
        stored.tellUnasked(butFor: accepted) { [weak core = client.core] error in
            var told = problem(error)
            told.receipt = id
            core?.tell(told)
        }
    }
}

/// The answer to one message, before and after it is there.
final class PendingReceipt: Sendable {
    private typealias Waiter = CheckedContinuation<Result<ClientAnswer, RelayError>, Never>

    private enum Answer {
        case waiting([UInt64: Waiter])
        case done(Result<ClientAnswer, RelayError>)
    }

    private struct State {
        var answer = Answer.waiting([:])
        var last: UInt64 = 0
        var cancelled: Set<UInt64> = []
        var wasAsked = false
        /// Told of a failure.
        var unasked: (@Sendable (RelayError) -> Void)?
    }

    private let state = Mutex(State())

    func complete(_ result: Result<ClientAnswer, RelayError>) {
        let (waiting, unasked) = state.withLock { state -> ([UInt64: Waiter], (@Sendable (RelayError) -> Void)?) in
            guard case .waiting(let waiting) = state.answer else { return ([:], nil) }
            state.answer = .done(result)
            defer { state.unasked = nil }
            return (waiting, state.unasked)
        }
        for continuation in waiting.values { continuation.resume(returning: result) }
        if case .failure(let error) = result { unasked?(error) }
    }

    /// Nobody can ask any more: a failure that nobody has asked about is told.
    func tellUnasked(butFor earlier: PendingReceipt, _ tell: @escaping @Sendable (RelayError) -> Void) {
        let isHeard: @Sendable () -> Bool = { [weak self] in
            guard earlier !== self else { return false }
            return earlier.state.withLock { state in
                if state.wasAsked, case .done(.failure) = state.answer { true } else { false }
            }
        }
        let failure = state.withLock { state -> RelayError? in
            guard !state.wasAsked else { return nil }
            switch state.answer {
            case .done(.failure(let error)): return error
            case .done(.success): return nil
            case .waiting:
                state.unasked = { if !isHeard() { tell($0) } }
                return nil
            }
        }
        if let failure, !isHeard() { tell(failure) }
    }

    func result() async -> Result<ClientAnswer, RelayError> { await result(of: newWaiter()) }

    /// Ends with the task, too, as `cancelled`.
    func awaited() async -> Result<ClientAnswer, RelayError> {
        let id = newWaiter()
        return await withTaskCancellationHandler {
            await result(of: id)
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                guard case .waiting(var waiting) = state.answer else { return nil }
                guard let waiter = waiting.removeValue(forKey: id) else {
                    state.cancelled.insert(id)
                    return nil
                }
                state.answer = .waiting(waiting)
                return waiter
            }
            waiter?.resume(returning: .failure(Self.cancelled))
        }
    }

    private static let cancelled = RelayError(.cancelled, "the task was cancelled while it waited", outcome: .unknown)

    private func newWaiter() -> UInt64 {
        state.withLock { state in
            state.wasAsked = true
            state.last += 1
            return state.last
        }
    }

    private func result(of id: UInt64) async -> Result<ClientAnswer, RelayError> {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state -> Result<ClientAnswer, RelayError>? in
                let wasCancelled = state.cancelled.remove(id) != nil
                switch state.answer {
                case .done(let result): return result
                case .waiting where wasCancelled: return .failure(Self.cancelled)
                case .waiting(var waiting):
                    waiting[id] = continuation
                    state.answer = .waiting(waiting)
                    return nil
                }
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }
}
