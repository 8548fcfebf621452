#if os(Linux)
    internal import Dispatch
    internal import RelayPrimitives
    internal import RelayCore
    import RelayIO
    import RelaySystem

    /// The port of a relay with a certificate. It accepts, agrees on TLS, and gives the engine a socket on which all is in the clear; what
    /// begins without TLS the engine gets as it is.
    ///
    /// On a queue and a thread of its own: neither a handshake nor encryption keeps the hub. [TL5]
    final class TLSFront: PortEntry, @unchecked Sendable {
        // Safe: what is mutable is touched on `queue` only, but for what has a lock.
        private let queue = DispatchQueue(label: "boardrelay.front")
        private var readiness: Readiness?
        private var listener: Listener?
        private var timer: ReadinessTimer?
        private var handlers = StreamSocket.Handlers.none
        private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceBytes, alignment: 16)

        private var links: [UInt64: TLSLink] = [:]
        private var lastNumber: UInt64 = 0
        /// Those that have not shaken hands, or said nothing: the longest there first.
        private var greetings: [TLSLink] = []
        /// Those whose engine's side has ended, perhaps gone since: the longest there first.
        private var leaving: [TLSLink] = []
        /// Handshakes that can go on. Whoever has many waits for others in between.
        private var line = FairLine<AddressKey, UInt64>()
        private var turnIsSet = false
        private var again: [UInt64] = []
        private var acceptedInTurn = 0
        private var isClosing = false
        private var holdsPort = true

        private let context: Mutex<TLSServerContext>
        private let counted = Mutex(TLSCounters())
        private let deliver: @Sendable (Int32, SocketAddress, _ isProtected: Bool) -> Void
        private let released: @Sendable () -> Void
        let address: SocketAddress

        /// A record's, and what one read takes.
        private static let pieceBytes = 16 * 1024
        static let greetingsMax = 200
        static let greetingNanoseconds: UInt64 = 10_000_000_000
        static let greetingBytesMax: UInt64 = 65_536
        /// For the last of the engine's bytes, and the peer's end, in nanoseconds.
        private static let leavingNanoseconds: UInt64 = 2_000_000_000
        /// Each takes up to a millisecond.
        private static let handshakesPerTurn = 4
        private static let acceptedPerTurn = 32
        /// Bytes of a socket between it and the engine, which the system doubles: what lies there can no longer be shed.
        private static let pairBytes: Int32 = 32 * 1024

        /// Begins to listen.
        ///
        /// - Parameters:
        ///   - deliver: gets a descriptor that is the receiver's now. Called on the front's queue.
        ///   - exhausted: gets why the system gives no descriptor for a connection.
        ///   - released: after `close`, when the port is free and every link has ended.
        init(
            host: String?, port: UInt16, _ context: TLSServerContext,
            deliver: @escaping @Sendable (Int32, SocketAddress, _ isProtected: Bool) -> Void,
            exhausted: @escaping @Sendable (Int32) -> Void, released: @escaping @Sendable () -> Void
        ) throws(SocketAddress.Failure) {
            (self.context, self.deliver, self.released) = (Mutex(context), deliver, released)
            let readiness = try Readiness(queue: queue, waitsOnOwnThread: true)
            let listener = try Listener(host: host, port: port, on: readiness)
            address = listener.address
            self.readiness = readiness
            self.listener = listener
            let started = queue.sync { Result { () throws(SocketAddress.Failure) in try start(readiness, listener, exhausted) } }
            try started.get()
        }

        deinit { scratch.deallocate() }

        private func start(
            _ readiness: Readiness, _ listener: Listener, _ exhausted: @escaping @Sendable (Int32) -> Void
        ) throws(SocketAddress.Failure) {
            handlers = StreamSocket.Handlers(
                readable: { @Sendable [weak self] tag in self?.becameReady(tag) },
                writable: { @Sendable [weak self] tag in self?.becameReady(tag) })
            timer = try ReadinessTimer(on: readiness) { @Sendable [weak self] in self?.sweep() }
            try listener.activate(
                accepted: { @Sendable [weak self] descriptor, peer in
                    guard let self else {
                        discardDescriptor(descriptor)
                        return true
                    }
                    return accepted(descriptor, peer)
                },
                exhausted: exhausted,
                released: { @Sendable [weak self] in self?.portReleased() })
        }

        /// Handshakes show this certificate from now on. From any thread.
        func use(_ other: TLSServerContext) { context.withLock { $0 = other } }

        /// From any thread.
        var counters: TLSCounters {
            var counters = counted.withLock { $0 }
            counters.validUntil = context.withLock { $0.certificate.validUntil }
            return counters
        }

        // MARK: - The first bytes

        private func accepted(_ descriptor: Int32, _ peer: SocketAddress) -> Bool {
            guard let readiness, !isClosing else {
                discardDescriptor(descriptor)
                return true
            }
            lastNumber += 1
            let link = TLSLink(
                number: lastNumber, outer: StreamSocket(adopting: descriptor, on: readiness), descriptor: descriptor, peer: peer,
                deadline: SystemClock.monotonicNanoseconds() + Self.greetingNanoseconds)
            links[link.number] = link
            greetings.append(link)
            counted.withLock { $0.links = links.count }
            link.outer.activate(handlers, tag: link.number << 1)
            if greetings.count > Self.greetingsMax { turnAwayOne() }
            armTimer()
            acceptedInTurn += 1
            guard acceptedInTurn >= Self.acceptedPerTurn else { return true }
            acceptedInTurn = 0
            return false
        }

        /// Of the address that has most of those that have not come in, the oldest goes. [TL5]
        private func turnAwayOne() {
            var counts: [AddressKey: Int] = [:]
            for link in greetings { counts[link.address, default: 0] += 1 }
            let most = counts.values.max()
            if let link = greetings.first(where: { counts[$0.address] == most }) { drop(link, "crowded") }
        }

        private func becameReady(_ tag: UInt64) {
            guard let link = links[tag >> 1] else { return }
            switch link.stage {
            case .silent: hearFirst(link)
            case .shaking: wait(link)
            case .open: run(link)
            case .ended: break
            }
        }

        /// The first byte says whether it is TLS. [TL1]
        private func hearFirst(_ link: TLSLink) {
            switch link.outer.peek(into: UnsafeMutableRawBufferPointer(rebasing: scratch[..<1])) {
            case .bytes where scratch[0] == 0x16:
                do throws(SocketAddress.Failure) {
                    link.begins(try TLSServerSession(context.withLock { $0 }, descriptor: link.descriptor))
                    wait(link)
                } catch {
                    drop(link, "no_memory")
                }
            case .bytes:
                let copy = duplicateDescriptor(link.descriptor)
                guard copy >= 0 else { return drop(link, "no_descriptor") }
                forget(link, "plain")
                link.handOver()
                deliver(copy, link.peer, false)
                endIfOver()
            case .wouldBlock: break
            case .end, .failed: drop(link, "left")
            }
        }

        private func wait(_ link: TLSLink) {
            guard !link.isInLine else { return }
            link.isInLine = true
            line.append(link.number, of: link.address)
            setTurn()
        }

        private func setTurn() {
            guard !turnIsSet else { return }
            turnIsSet = true
            readiness?.perform { @Sendable [weak self] in self?.turn() }
        }

        private func turn() {
            turnIsSet = false
            let open = again
            again.removeAll(keepingCapacity: true)
            for number in open { if let link = links[number] { run(link) } }
            for _ in 0..<Self.handshakesPerTurn {
                guard let number = line.next() else { break }
                guard let link = links[number], case .shaking(let session) = link.stage else { continue }
                link.isInLine = false
                shakeHands(link, session)
            }
            if !line.isEmpty || !again.isEmpty { setTurn() }
        }

        private func shakeHands(_ link: TLSLink, _ session: TLSServerSession) {
            switch session.shakeHands() {
            case .done: open(link, session)
            case .wantsRead where session.bytesReceived > Self.greetingBytesMax: drop(link, "too_large")
            case .wantsRead: break
            case .wantsWrite: link.outer.waitUntilWritable()
            case .end: drop(link, "left")
            case .failed: drop(link, "failed")
            }
        }

        private func open(_ link: TLSLink, _ session: TLSServerSession) {
            guard let readiness, let pair = SocketPair(sendBufferBytes: Self.pairBytes) else { return drop(link, "no_descriptor") }
            greetings.removeAll { $0 === link }
            counted.withLock { $0.note("done") }
            let engine = StreamSocket(adopting: pair.near, on: readiness)
            link.opens(session, to: engine)
            engine.activate(handlers, tag: link.number << 1 | 1)
            deliver(pair.far, link.peer, true)
            run(link)
        }

        // MARK: - Open links

        private func run(_ link: TLSLink) {
            switch link.step(scratch) {
            case .waits: break
            case .again:
                again.append(link.number)
                setTurn()
            case .over: return drop(link)
            }
            guard link.engineHasEnded, !link.isLeaving else { return }
            link.isLeaving = true
            link.deadline = SystemClock.monotonicNanoseconds() + Self.leavingNanoseconds
            leaving.append(link)
            armTimer()
        }

        /// - Parameter outcome: of a handshake.
        private func drop(_ link: TLSLink, _ outcome: String? = nil) {
            guard links[link.number] != nil else { return }
            forget(link, outcome)
            link.end(scratch)
            endIfOver()
        }

        private func forget(_ link: TLSLink, _ outcome: String?) {
            links[link.number] = nil
            greetings.removeAll { $0 === link }
            counted.withLock { counted in
                counted.links = links.count
                if let outcome { counted.note(outcome) }
            }
        }

        // MARK: - Time and the end

        private func armTimer() { timer?.arm(for: [greetings.first?.deadline, leaving.first?.deadline].compactMap { $0 }.min()) }

        private func sweep() {
            let now = SystemClock.monotonicNanoseconds()
            for link in greetings.prefix(while: { $0.deadline <= now }) { drop(link, "slow") }
            let over = leaving.prefix { $0.deadline <= now }
            leaving.removeFirst(over.count)
            for link in over { drop(link) }
            armTimer()
        }

        /// Stops listening; links go on until the engine ends them. From any thread.
        func close() {
            queue.async { @Sendable [self] in
                isClosing = true
                for link in greetings { drop(link, "left") }
                listener?.close()
                listener = nil
            }
        }

        private func portReleased() {
            holdsPort = false
            endIfOver()
        }

        private func endIfOver() {
            guard isClosing, !holdsPort, links.isEmpty, readiness != nil else { return }
            timer?.cancel()
            timer = nil
            readiness = nil
            released()
        }
    }
#endif
