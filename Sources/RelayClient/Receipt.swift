/// What becomes of a message that was sent.
public struct Receipt: Sendable {
    let pending: PendingReceipt

    /// The answer of the relay.
    public struct Accepted: Sendable, Equatable {
        /// Position in the channel; 0 for a message to one user.
        public var offset: UInt64
    }

    /// Waits for the answer; at once if it is there.
    ///
    /// - Throws: why the message was refused; `outcomeUnknown` when the link broke before the answer; `cancelled` when the task was
    ///   cancelled, which takes nothing back.
    public var value: Accepted {
        get async throws(RelayError) {
            switch await pending.awaited() {
            case .success(.offset(let offset)): return Accepted(offset: offset)
            case .success: return Accepted(offset: 0)
            case .failure(let error): throw error
            }
        }
    }
}

/// What becomes of a message that is kept for good, or of a large drawing. [BL2]
///
/// Others see it from `accepted` on; a relay that ends before `stored` may have lost it again, and give its offset to another record.
/// So an own record has its place among those of others once it is stored.
///
/// **Who reads the board at the same time**, from its beginning or anew after `messagesMissed` with `reset`, gets own records among
/// the others. One whose `stored` comes behind the `caughtUp` of such a reading, with an offset that is not above its `head`, was
/// among what was read, or has been superseded or removed since: do not draw it again. [BL3]
public struct StoredReceipt: Sendable {
    let acceptance: PendingReceipt
    let storage: PendingReceipt

    /// Waits until the relay has taken it; at once if it has.
    ///
    /// - Returns: its offset; of a large drawing that of its last part.
    /// - Throws: why it was refused (`boardFull`, `quotaReached`, `storageFull`, `busy`, `partMissing`, …); `storageFailed`
    ///   when it was told not durable before it was answered; `outcomeUnknown` when the relay no longer knows; `cancelled` when the
    ///   task was cancelled, which takes nothing back.
    public var accepted: UInt64 {
        get async throws(RelayError) { try await offset(acceptance) }
    }

    /// Waits until it is durable; at once if it is. Of what is not retained the same as `accepted`.
    ///
    /// After a break it is sent again until it is told, to the same relay started anew, too.
    ///
    /// - Returns: its offset.
    /// - Throws: what `accepted` throws; `storageFailed`: it was accepted and is gone, and every user who received it is told
    ///   (`messagesMissed` with `reset`); `notAccepted` or `outcomeUnknown` from a relay that has forgotten it.
    public var stored: UInt64 {
        get async throws(RelayError) { try await offset(storage) }
    }

    private func offset(_ pending: PendingReceipt) async throws(RelayError) -> UInt64 {
        switch await pending.awaited() {
        case .success(.offset(let offset)): return offset
        case .success: throw .wrongAnswer
        case .failure(let error): throw error
        }
    }
}

/// The answer to one message, before and after it is there.
final class PendingReceipt: Sendable {
    private typealias Waiter = CheckedContinuation<Result<ClientAnswer, RelayError>, Never>

    private enum State {
        case waiting([UInt64: Waiter])
        case done(Result<ClientAnswer, RelayError>)
    }

    private let state = Mutex((now: State.waiting([:]), last: UInt64(0), cancelled: Set<UInt64>()))

    func complete(_ result: Result<ClientAnswer, RelayError>) {
        let waiting = state.withLock { state in
            guard case .waiting(let waiting) = state.now else { return [:] as [UInt64: Waiter] }
            state.now = .done(result)
            return waiting
        }
        for continuation in waiting.values { continuation.resume(returning: result) }
    }

    func result() async -> Result<ClientAnswer, RelayError> { await result(of: newWaiter()) }

    /// Ends with the task, too, as `cancelled`.
    func awaited() async -> Result<ClientAnswer, RelayError> {
        let id = newWaiter()
        return await withTaskCancellationHandler {
            await result(of: id)
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                guard case .waiting(var waiting) = state.now else { return nil }
                guard let waiter = waiting.removeValue(forKey: id) else {
                    state.cancelled.insert(id)
                    return nil
                }
                state.now = .waiting(waiting)
                return waiter
            }
            waiter?.resume(returning: .failure(Self.cancelled))
        }
    }

    private static let cancelled = RelayError(.cancelled, "the task was cancelled while it waited", outcome: .unknown)

    private func newWaiter() -> UInt64 {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    private func result(of id: UInt64) async -> Result<ClientAnswer, RelayError> {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state -> Result<ClientAnswer, RelayError>? in
                let wasCancelled = state.cancelled.remove(id) != nil
                switch state.now {
                case .done(let result): return result
                case .waiting where wasCancelled: return .failure(Self.cancelled)
                case .waiting(var waiting):
                    waiting[id] = continuation
                    state.now = .waiting(waiting)
                    return nil
                }
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }
}
