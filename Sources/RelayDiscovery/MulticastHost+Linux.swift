#if os(Linux)
    package import Dispatch
    package import RelayIO
    internal import RelayPrimitives

    /// Gives a machine its sockets, its clock and this system's interfaces, on one serial queue.
    package final class MulticastHost<Machine: MulticastMachine>: @unchecked Sendable {
        // Safe: what is mutable is touched on `queue` only, once `init` is over.
        private let queue: DispatchQueue
        private let all: @Sendable () -> [LinkInterface]
        private let told: @Sendable (Machine.News) -> Void
        private var machine: Machine
        private var sockets: [MulticastSocket]
        private var sources: [any DispatchSourceRead] = []
        private var timer: DeadlineTimer?
        private var interfaces: [LinkInterface] = [], isNew = true

        /// Others have their turn on the queue after so many datagrams.
        private static var datagramsPerTurn: Int { 32 }

        /// - Parameters:
        ///   - queue: serial.
        ///   - all: the interfaces and addresses that count.
        ///   - told: gets the machine's news, on the queue.
        /// - Throws: if this program may have no socket on port 5353. One family is enough.
        package init(
            _ machine: Machine, queue: DispatchQueue, among all: @escaping @Sendable () -> [LinkInterface] = { LinkInterface.all() },
            told: @escaping @Sendable (Machine.News) -> Void
        ) throws(SocketAddress.Failure) {
            (self.machine, self.queue, self.all, self.told) = (machine, queue, all, told)
            sockets = [true, false].compactMap { try? MulticastSocket(isIPv6: $0) }
            if sockets.isEmpty { sockets = [try MulticastSocket(isIPv6: false)] }
            timer = DeadlineTimer(queue: queue) { @Sendable [weak self] in self?.turn { $0.deadlineReached(at: $1) } }
            sources = sockets.map { socket in
                let source = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: queue)
                source.setEventHandler { @Sendable [weak self] in self?.read(socket) }
                // The descriptor stays until nobody watches it.
                source.setCancelHandler { @Sendable in withExtendedLifetime(socket) {} }
                source.activate()
                return source
            }
            interfacesChanged()
        }

        deinit { for source in sources { source.cancel() } }

        /// Looks which interfaces there are now. From any thread.
        package func interfacesChanged() {
            queue.async { @Sendable [self] in
                let old = interfaces
                interfaces = all()
                guard interfaces != old || isNew else { return }
                isNew = false
                for socket in sockets {
                    for gone in old where !interfaces.contains(where: { $0.index == gone.index }) { socket.leave(gone.index) }
                    for interface in interfaces { socket.join(interface.index) }
                }
                turn { $0.interfacesChanged(interfaces, at: $1) }
            }
        }

        /// Ends it, with a good-bye if the machine has one. From any thread.
        ///
        /// - Parameter done: called on the queue when that is sent: a program that ends waits for it.
        package func close(_ done: @escaping @Sendable () -> Void = {}) {
            queue.async { @Sendable [self] in
                turn { machine, _ in machine.close() }
                for source in sources { source.cancel() }
                (sources, sockets, timer) = ([], [], nil)
                done()
            }
        }

        private func read(_ socket: MulticastSocket) {
            for _ in 0..<Self.datagramsPerTurn {
                guard timer != nil, let datagram = socket.receive() else { return }
                turn { $0.receive(datagram, at: $1) }
            }
        }

        private func turn(_ body: (inout Machine, Instant) -> Void) {
            guard let timer else { return }
            body(&machine, Instant(nanoseconds: SystemClock.monotonicNanoseconds()))
            for effect in machine.effects {
                switch effect {
                case .tell(let news): told(news)
                case .send(let datagram):
                    let interface = interfaces.first { $0.index == datagram.interface }
                    for socket in sockets {
                        let isMeant = datagram.peer.map { $0.isIPv6 == socket.isIPv6 } ?? interface?.speaks(ipv6: socket.isIPv6)
                        if isMeant == true { socket.send(datagram) }
                    }
                }
            }
            machine.effects = []
            timer.arm(for: machine.nextDeadline?.nanoseconds)
        }
    }
#endif
