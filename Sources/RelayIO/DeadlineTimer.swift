package import Dispatch

/// One timer, armed for one moment at a time.
package final class DeadlineTimer: @unchecked Sendable {
    // Safe: `armedFor` is touched on the source's queue only, which each entry checks.
    private let queue: DispatchQueue
    private let source: any DispatchSourceTimer
    private var armedFor: UInt64?

    /// - Parameter fired: called on the queue.
    package init(queue: DispatchQueue, fired: @escaping @Sendable () -> Void) {
        self.queue = queue
        source = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        source.setEventHandler { @Sendable [weak self] in
            self?.armedFor = nil
            fired()
        }
        source.activate()
    }

    deinit { source.cancel() }

    /// Arms it for a moment of `SystemClock.monotonicNanoseconds`, or disarms it with `nil`.
    package func arm(for moment: UInt64?) {
        dispatchPrecondition(condition: .onQueue(queue))
        guard moment != armedFor else { return }
        armedFor = moment
        guard let moment else { return source.schedule(deadline: .distantFuture) }
        let now = SystemClock.monotonicNanoseconds()
        let wait = moment > now ? min(moment - now, 86_400_000_000_000) : 0
        source.schedule(deadline: .now() + .nanoseconds(Int(wait)), leeway: .nanoseconds(0))
    }
}
