#if os(Linux)
    internal import CEpoll
    package import Dispatch

    /// Which of its descriptors can be read or written, told on one queue.
    ///
    /// An epoll instance of its own, of which Dispatch watches nothing but its descriptor. Dispatch's own sources do not
    /// survive peers that hang up: on EPOLLHUP libdispatch takes a descriptor from its table on the source's queue, while its
    /// manager thread walks that table (swift-corelibs-libdispatch #949), and thousands of resets ended the relay with it.
    /// An epoll instance never hangs up. And a descriptor costs two calls in its life (edge-triggered, epoll(7)) instead of
    /// two and an ioctl for each event.
    package final class Readiness: @unchecked Sendable {
        // Safe: everything mutable is touched on `queue` only.
        package let queue: DispatchQueue
        private let epoll: Int32
        private let source: any DispatchSourceRead
        private var watches: [UInt64: EpollWatch] = [:]
        private var lastToken: UInt64 = 0
        private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: Readiness.eventsPerTurn)

        /// What else waits on the queue has its turn after so many.
        private static let eventsPerTurn = 16

        /// - Throws: when the system has no descriptor left.
        package init(queue: DispatchQueue) throws(SocketAddress.Failure) {
            self.queue = queue
            epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
            guard epoll >= 0 else { throw SocketAddress.Failure("an epoll instance", code: errno) }
            source = DispatchSource.makeReadSource(fileDescriptor: epoll, queue: queue)
            source.setCancelHandler { @Sendable [epoll] in systemClose(epoll) }
            source.setEventHandler { @Sendable [weak self] in self?.turn() }
            source.activate()
        }

        deinit {
            source.cancel()
            events.deallocate()
        }

        func watch(_ descriptor: Int32) -> any DescriptorWatch {
            lastToken += 1
            return EpollWatch(descriptor, token: lastToken, self)
        }

        fileprivate func add(_ watch: EpollWatch) -> Int32 {
            var event = epoll_event()
            event.events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
            event.data.u64 = watch.token
            guard epoll_ctl(epoll, EPOLL_CTL_ADD, watch.descriptor, &event) == 0 else { return errno }
            watches[watch.token] = watch
            return 0
        }

        fileprivate func remove(_ watch: EpollWatch) {
            guard watches.removeValue(forKey: watch.token) != nil else { return }
            _ = epoll_ctl(epoll, EPOLL_CTL_DEL, watch.descriptor, nil)
        }

        private func turn() {
            let count = Int(epoll_wait(epoll, events, Int32(Self.eventsPerTurn), 0))
            guard count > 0 else { return }
            // One that was closed by the call of another is not there any more: its token is not given again.
            for event in UnsafeBufferPointer(start: events, count: count) { watches[event.data.u64]?.take(event.events) }
        }
    }

    private final class EpollWatch: DescriptorWatch {
        let descriptor: Int32
        let token: UInt64
        private let readiness: Readiness
        private var readable: @Sendable () -> Void = {}
        private var writable: @Sendable () -> Void = {}
        private var isPaused = false
        private var isAwaitingWritable = false

        init(_ descriptor: Int32, token: UInt64, _ readiness: Readiness) {
            self.descriptor = descriptor
            self.token = token
            self.readiness = readiness
        }

        func activate(readable: @escaping @Sendable () -> Void, writable: @escaping @Sendable () -> Void) -> Int32 {
            self.readable = readable
            self.writable = writable
            return readiness.add(self)
        }

        func take(_ events: UInt32) {
            let ends = EPOLLHUP.rawValue | EPOLLERR.rawValue
            if events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue | ends) != 0 {
                if !isPaused { readable() }
            }
            if events & (EPOLLOUT.rawValue | ends) != 0, isAwaitingWritable {
                isAwaitingWritable = false
                writable()
            }
        }

        func pauseReading() { isPaused = true }

        /// Whoever stopped reading before EAGAIN is not told again of what is left: so it is asked to look, whether something is or not.
        func resumeReading() {
            guard isPaused else { return }
            isPaused = false
            readiness.queue.async { @Sendable [readable] in readable() }
        }

        func awaitWritable() { isAwaitingWritable = true }

        func close(released: @escaping @Sendable () -> Void) {
            readiness.remove(self)
            systemClose(descriptor)
            readable = {}
            writable = {}
            isAwaitingWritable = false
            readiness.queue.async(execute: released)
        }
    }
#endif
