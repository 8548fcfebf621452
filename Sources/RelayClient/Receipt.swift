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
    /// - Throws: why the message was refused; `outcomeUnknown` when the link broke before the answer.
    public var value: Accepted {
        get async throws(RelayError) {
            switch await pending.result() {
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
    ///   when it was told not durable before it was answered; `outcomeUnknown` when the relay no longer knows.
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
        switch await pending.result() {
        case .success(.offset(let offset)): return offset
        case .success: throw .wrongAnswer
        case .failure(let error): throw error
        }
    }
}

/// The answer to one message, before and after it is there.
final class PendingReceipt: Sendable {
    private enum State {
        case waiting([CheckedContinuation<Result<ClientAnswer, RelayError>, Never>])
        case done(Result<ClientAnswer, RelayError>)
    }

    private let state = Mutex(State.waiting([]))

    func complete(_ result: Result<ClientAnswer, RelayError>) {
        let waiting = state.withLock { state in
            guard case .waiting(let waiting) = state else { return [] as [CheckedContinuation<Result<ClientAnswer, RelayError>, Never>] }
            state = .done(result)
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: result) }
    }

    func result() async -> Result<ClientAnswer, RelayError> {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state -> Result<ClientAnswer, RelayError>? in
                switch state {
                case .done(let result): return result
                case .waiting(let waiting):
                    state = .waiting(waiting + [continuation])
                    return nil
                }
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }
}
