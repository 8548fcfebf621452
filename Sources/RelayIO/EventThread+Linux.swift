#if os(Linux)
    internal import CEpoll
    internal import Foundation

    /// A thread that does nothing but wait in epoll_wait(2) and hand over what came.
    ///
    /// Dispatch would wait for the epoll instance on its manager thread, wake another one for the queue, and watch the
    /// instance anew: each a system call, and the second of them a wait for the scheduler.
    final class EventThread: Sendable {
        private let epoll: Int32
        private let wake: Int32

        /// Of the descriptor that ends the thread; no watch has it.
        static let wakeToken: UInt64 = 0

        /// Takes over the epoll instance: the thread closes it at its end, as a failure here does.
        init(epoll: Int32) throws(SocketAddress.Failure) {
            self.epoll = epoll
            wake = eventfd(0, Int32(EFD_CLOEXEC))
            var event = epoll_event()
            event.events = EPOLLIN.rawValue
            event.data.u64 = Self.wakeToken
            guard wake >= 0, epoll_ctl(epoll, EPOLL_CTL_ADD, wake, &event) == 0 else {
                let code = errno
                systemClose(epoll)
                if wake >= 0 { systemClose(wake) }
                throw SocketAddress.Failure("an event descriptor", code: code)
            }
        }

        /// - Parameters:
        ///   - name: of the thread; the system keeps 15 bytes of it.
        ///   - handOver: what came, on this thread; returns whether to come back at once, with nothing if nothing came.
        func start(name: String, _ handOver: @escaping @Sendable (UnsafeBufferPointer<epoll_event>) -> Bool) {
            Thread.detachNewThread { [epoll, wake] in
                // Foundation's `Thread.name` reaches the system or not, as the new thread or the old one is first.
                pthread_setname_np(pthread_self(), String(decoding: name.utf8.prefix(15), as: UTF8.self))
                Self.run(epoll: epoll, handOver)
                systemClose(epoll)
                systemClose(wake)
            }
        }

        /// Ends the thread when it has handed over what it has. From any thread, once.
        func end() { eventfd_write(wake, 1) }

        private static func run(epoll: Int32, _ handOver: (UnsafeBufferPointer<epoll_event>) -> Bool) {
            let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: Readiness.eventsPerTurn)
            defer { events.deallocate() }
            var comesBack = false
            while true {
                let count = Int(epoll_wait(epoll, events, Int32(Readiness.eventsPerTurn), comesBack ? 0 : -1))
                precondition(count >= 0 || errno == EINTR, "epoll_wait: \(SystemError.text(errno))")
                guard count > 0 || comesBack else { continue }
                let came = UnsafeBufferPointer(start: events, count: max(count, 0))
                if came.contains(where: { $0.data.u64 == wakeToken }) { return }
                comesBack = handOver(came)
            }
        }
    }
#endif
