/// What becomes of a message that was sent.
public struct Receipt: Sendable {
    let pending: PendingReceipt

    /// The answer of the relay.
    public struct Accepted: Sendable, Hashable {
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

/// The answer to one message, before and after it is there.
final class PendingReceipt: Sendable {
    private enum State {
        case waiting([CheckedContinuation<Result<ClientAnswer, RelayError>, Never>])
        case done(Result<ClientAnswer, RelayError>)
    }

    private let state = Lock(State.waiting([]))

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
