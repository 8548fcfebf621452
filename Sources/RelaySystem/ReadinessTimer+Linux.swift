#if os(Linux)
    internal import CEpoll
    internal import Dispatch
    import RelayIO

    /// A timer that is told among the descriptors of a `Readiness`, armed for one moment at a time: a timerfd_create(2) descriptor.
    package final class ReadinessTimer: @unchecked Sendable {
        // Safe: `armedFor` is touched on the queue only, which each entry checks.
        private let queue: DispatchQueue
        private let descriptor: Int32
        private let watch: any DescriptorWatch
        private var armedFor: UInt64?
        private var fired: @Sendable () -> Void

        /// On the queue of `readiness`.
        ///
        /// - Parameter fired: called on the queue.
        /// - Throws: when the system has no descriptor left.
        package init(on readiness: Readiness, fired: @escaping @Sendable () -> Void) throws(SocketAddress.Failure) {
            dispatchPrecondition(condition: .onQueue(readiness.queue))
            queue = readiness.queue
            self.fired = fired
            // TFD_CLOEXEC and TFD_NONBLOCK are the flags of open(2).
            descriptor = timerfd_create(CLOCK_MONOTONIC, O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { throw SocketAddress.Failure("a timer", code: errno) }
            watch = readiness.watch(descriptor)
            let refusal = watch.activate(StreamSocket.Handlers(readable: { @Sendable [weak self] _ in self?.expired() }), tag: 0)
            guard refusal == 0 else {
                systemClose(descriptor)
                throw SocketAddress.Failure("a timer", code: refusal)
            }
        }

        /// An edge that came before the timer was armed anew does not count.
        private func expired() {
            var expirations: UInt64 = 0
            guard systemRead(descriptor, &expirations, 8) == 8 else { return }
            armedFor = nil
            fired()
        }

        /// Arms it for a moment of `SystemClock.monotonicNanoseconds`, or disarms it with `nil`.
        package func arm(for moment: UInt64?) {
            dispatchPrecondition(condition: .onQueue(queue))
            guard moment != armedFor else { return }
            armedFor = moment
            var time = itimerspec()
            if let moment {
                let now = SystemClock.monotonicNanoseconds()
                // 0 would disarm it.
                let wait = moment > now ? min(moment - now, 86_400_000_000_000) : 1
                time.it_value = timespec(tv_sec: Int(wait / 1_000_000_000), tv_nsec: Int(wait % 1_000_000_000))
            }
            timerfd_settime(descriptor, 0, &time, nil)
        }

        /// Ends it. On the queue, once.
        package func cancel() {
            dispatchPrecondition(condition: .onQueue(queue))
            armedFor = nil
            fired = {}
            watch.close()
        }
    }
#endif
