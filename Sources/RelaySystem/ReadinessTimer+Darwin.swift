#if canImport(Darwin)
    internal import Dispatch
    import RelayIO

    /// A timer that is told as the descriptors of a `Readiness` are, armed for one moment at a time: a Dispatch timer.
    package final class ReadinessTimer: Sendable {
        private let timer: DeadlineTimer

        /// On the queue of `readiness`. Throws nothing here; elsewhere when the system has no descriptor left.
        ///
        /// - Parameter fired: called on the queue.
        package init(on readiness: Readiness, fired: @escaping @Sendable () -> Void) throws(SocketAddress.Failure) {
            timer = DeadlineTimer(queue: readiness.queue) { @Sendable [weak readiness] in
                fired()
                readiness?.endTurn()
            }
        }

        /// Arms it for a moment of `SystemClock.monotonicNanoseconds`, or disarms it with `nil`.
        package func arm(for moment: UInt64?) { timer.arm(for: moment) }

        /// Ends it. On the queue, once.
        package func cancel() { timer.arm(for: nil) }
    }
#endif
