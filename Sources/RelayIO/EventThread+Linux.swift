#if os(Linux)
    internal import CEpoll
    internal import Dispatch

    /// A thread that does nothing but wait in epoll_wait(2) and hand over what came.
    ///
    /// Dispatch would wait for the epoll instance on its manager thread, wake another one for the queue, and watch the
    /// instance anew: each a system call, and the second of them a wait for the scheduler.
    final class EventThread: @unchecked Sendable {
        // Safe: what is mutable is touched by the thread while it is not in `handOver`, and by that, which it waits for.
        private let epoll: Int32
        private let wake: Int32
        private let bell: Int32
        private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: eventsPerTurn)
        private var count = 0

        /// Set by the code that takes what came: whether it wants to be called again at once, with nothing if nothing came.
        var comesBack = false

        /// Of the descriptor that ends the thread; no watch has it.
        static let wakeToken: UInt64 = 0
        /// Of the one that makes it come; no watch has it.
        private static let bellToken = UInt64.max
        private static let turnsPerItem = 1 << 20
        /// The system tells of those first that came first: of one behind many who write without end only if it tells of all at once.
        private static let eventsPerTurn = 4_096

        /// Takes over the epoll instance: the thread closes it at its end, as a failure here does.
        init(epoll: Int32) throws(SocketAddress.Failure) {
            self.epoll = epoll
            wake = eventfd(0, Int32(EFD_CLOEXEC))
            bell = eventfd(0, Int32(EFD_CLOEXEC))
            var event = epoll_event()
            event.events = EPOLLIN.rawValue
            event.data.u64 = Self.wakeToken
            let isWatched = epoll_ctl(epoll, EPOLL_CTL_ADD, wake, &event) == 0
            // Each ring is told once, and nobody reads it.
            event.events = EPOLLIN.rawValue | EPOLLET.rawValue
            event.data.u64 = Self.bellToken
            guard isWatched, epoll_ctl(epoll, EPOLL_CTL_ADD, bell, &event) == 0 else {
                let code = errno
                for descriptor in [epoll, wake, bell] where descriptor >= 0 { systemClose(descriptor) }
                throw SocketAddress.Failure("an event descriptor", code: code)
            }
        }

        deinit { events.deallocate() }

        /// What came, for `handOver`.
        var came: UnsafeBufferPointer<epoll_event> { UnsafeBufferPointer(start: events, count: count) }

        /// - Parameters:
        ///   - queue: which is entered with what came. Its label is the thread's name, of which the system keeps 15 bytes.
        ///   - handOver: called on the queue, by the thread.
        func start(entering queue: DispatchQueue, _ handOver: @escaping @Sendable () -> Void) {
            SystemThread.detach { [self] in
                pthread_setname_np(pthread_self(), String(decoding: queue.label.utf8.prefix(15), as: UTF8.self))
                // An item, because a closure given to `sync` is allocated three times at each call. Not one for ever: libdispatch
                // counts its turns in 32 bits, and traps when they are through (`_dispatch_block_sync_invoke`).
                var item = DispatchWorkItem(block: handOver), turns = 0
                while wait() {
                    queue.sync(execute: item)
                    turns += 1
                    guard turns == Self.turnsPerItem else { continue }
                    (item, turns) = (DispatchWorkItem(block: handOver), 0)
                }
                for descriptor in [epoll, wake, bell] { systemClose(descriptor) }
            }
        }

        /// It hands over once more, though nothing came. From any thread, before `end`.
        func ring() { eventfd_write(bell, 1) }

        /// Ends the thread when it has handed over what it has. From any thread, once.
        func end() { eventfd_write(wake, 1) }

        /// - Returns: whether there is something to hand over; `false` at the end.
        private func wait() -> Bool {
            while true {
                count = Int(epoll_wait(epoll, events, Int32(Self.eventsPerTurn), comesBack ? 0 : -1))
                precondition(count >= 0 || errno == EINTR, "epoll_wait: \(SystemError.text(errno))")
                count = max(count, 0)
                guard count > 0 || comesBack else { continue }
                comesBack = false
                return !came.contains { $0.data.u64 == Self.wakeToken }
            }
        }
    }
#endif
