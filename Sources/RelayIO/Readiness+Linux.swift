#if os(Linux)
internal import CEpoll
package import Dispatch

/// Which of its descriptors can be read or written, told on one queue.
///
/// An epoll instance of its own. Dispatch's own sources do not survive peers that hang up: on EPOLLHUP libdispatch takes
/// a descriptor from its table on the source's queue, while its manager thread walks that table
/// (swift-corelibs-libdispatch #949), and thousands of resets ended the relay with it. And a descriptor costs two calls
/// in its life (edge-triggered, epoll(7)) instead of two and an ioctl for each event.
package final class Readiness: @unchecked Sendable {
    // Safe: everything mutable is touched on `queue` only, but for `arrived`, which has a lock.
    package let queue: DispatchQueue
    private let epoll: Int32
    private let driver: Driver
    private let turnEnded: @Sendable () -> Void
    private var watches: [UInt64: EpollWatch] = [:]
    private var lastToken = EventThread.wakeToken
    private var isInTurn = false
    /// For the next turn of the thread, and what this one has of the last.
    private var later: [@Sendable () -> Void] = []
    private var waiting: [@Sendable () -> Void] = []
    /// What other threads want done, and what this turn has of it.
    private let arrived = Mutex<[@Sendable () -> Void]>([])
    private var entered: [@Sendable () -> Void] = []

    private enum Driver {
        /// Dispatch watches the epoll instance: no thread, and two hops between threads an event.
        case source(any DispatchSourceRead, UnsafeMutablePointer<epoll_event>)
        /// A thread waits, and enters the queue with what came: no hop.
        case thread(EventThread)
    }

    /// What else waits on the queue has its turn after so many.
    private static let eventsPerTurn = 64

    /// - Parameters:
    ///   - waitsOnOwnThread: for a relay, where an event is to be answered with as little as can be. A client has no thread of its own.
    ///   - turnEnded: called behind the last of those calls that one turn of the queue makes to watches and timers, and behind what
    ///     `perform` was given.
    /// - Throws: when the system has no descriptor left.
    package init(queue: DispatchQueue, waitsOnOwnThread: Bool = false, turnEnded: @escaping @Sendable () -> Void = {}) throws(SocketAddress
        .Failure)
    {
        self.queue = queue
        self.turnEnded = turnEnded
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw SocketAddress.Failure("an epoll instance", code: errno) }
        guard !waitsOnOwnThread else {
            driver = .thread(try EventThread(epoll: epoll))
            start()
            return
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: epoll, queue: queue)
        let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: Self.eventsPerTurn)
        driver = .source(source, events)
        source.setCancelHandler { @Sendable [epoll] in systemClose(epoll) }
        source.setEventHandler { @Sendable [weak self] in self?.sourceTurn() }
        source.activate()
    }

    private func start() {
        guard case .thread(let thread) = driver else { return }
        thread.start(entering: queue) { @Sendable [weak self, unowned thread] in
            guard let self else { return }
            thread.comesBack = turn(thread.came)
        }
    }

    deinit {
        for body in arrived.withLock({ $0 }) { queue.async(execute: body) }
        switch driver {
        case .source(let source, let events):
            source.cancel()
            events.deallocate()
        case .thread(let thread): thread.end()
        }
    }

    package func watch(_ descriptor: Int32) -> any DescriptorWatch {
        lastToken += 1
        return EpollWatch(descriptor, token: lastToken, self)
    }

    /// Runs it in a turn of its own, behind what waits now. From the queue.
    package func perform(_ body: @escaping @Sendable () -> Void) {
        dispatchPrecondition(condition: .onQueue(queue))
        if case .thread = driver, isInTurn { later.append(body) } else { enter(body) }
    }

    /// Runs it in a turn. From any thread.
    ///
    /// The thread takes it from a list. By `queue.async` a thread of Dispatch's would come for it, and while that waits for a processor
    /// the queue is its own: for up to 3 ms nobody is served.
    package func enter(_ body: @escaping @Sendable () -> Void) {
        guard case .thread(let thread) = driver else {
            return queue.async { @Sendable [self] in
                body()
                turnEnded()
            }
        }
        let isFirst = arrived.withLock { arrived in
            arrived.append(body)
            return arrived.count == 1
        }
        if isFirst { thread.ring() }
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

    private func sourceTurn() {
        guard case .source(_, let events) = driver else { return }
        let count = Int(epoll_wait(epoll, events, Int32(Self.eventsPerTurn), 0))
        guard count > 0 else { return }
        _ = turn(UnsafeBufferPointer(start: events, count: count))
    }

    /// - Returns: whether another turn is wanted, whatever comes.
    private func turn(_ events: UnsafeBufferPointer<epoll_event>) -> Bool {
        isInTurn = true
        swap(&later, &waiting)
        // An earlier call may have closed this one. Its token is never given again.
        for event in events { watches[event.data.u64]?.take(event.events) }
        arrived.withLock { swap(&$0, &entered) }
        for body in entered { body() }
        entered.removeAll(keepingCapacity: true)
        for body in waiting { body() }
        waiting.removeAll(keepingCapacity: true)
        turnEnded()
        isInTurn = false
        return !later.isEmpty
    }
}

private final class EpollWatch: DescriptorWatch {
    let descriptor: Int32
    private var isPaused = false
    private var isAwaitingWritable = false
    private(set) var mayHaveEnded = false
    let token: UInt64
    private let readiness: Readiness
    private var handlers = StreamSocket.Handlers.none
    private var tag: UInt64 = 0

    init(_ descriptor: Int32, token: UInt64, _ readiness: Readiness) {
        self.descriptor = descriptor
        self.token = token
        self.readiness = readiness
    }

    func activate(_ handlers: StreamSocket.Handlers, tag: UInt64) -> Int32 {
        (self.handlers, self.tag) = (handlers, tag)
        return readiness.add(self)
    }

    func take(_ events: UInt32) {
        let ends = EPOLLHUP.rawValue | EPOLLERR.rawValue
        if events & (EPOLLRDHUP.rawValue | ends) != 0 { mayHaveEnded = true }
        if events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue | ends) != 0 {
            if !isPaused { handlers.readable(tag) }
        }
        if events & (EPOLLOUT.rawValue | ends) != 0, isAwaitingWritable {
            isAwaitingWritable = false
            handlers.writable(tag)
        }
    }

    func pauseReading() { isPaused = true }

    /// Whoever stopped reading before EAGAIN is not told again of what is left: so it is asked to look, whether something is or not.
    func resumeReading() {
        guard isPaused else { return }
        isPaused = false
        readiness.perform { @Sendable [handlers, tag] in handlers.readable(tag) }
    }

    func awaitWritable() { isAwaitingWritable = true }

    func close() {
        readiness.remove(self)
        systemClose(descriptor)
        isAwaitingWritable = false
        readiness.perform { @Sendable [handlers, tag] in handlers.released(tag) }
        handlers = .none
    }
}
#endif
