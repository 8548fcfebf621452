internal import Dispatch
import RelayIO

/// Accepts TCP connections on one address and hands over their descriptors.
package final class Listener: @unchecked Sendable {
    // Safe: mutable state is touched on the queue only; the rest is set before it is watched.
    private let readiness: Readiness
    private let descriptor: Int32
    private var watch: (any DescriptorWatch)?
    private var isPaused = false
    /// Has stopped short and has a turn of its own for the rest: an event meanwhile is no second one.
    private var continues = false
    private var isClosed = false
    /// Given up for a moment when descriptors run out, so that a waiting peer can be taken and turned away instead
    /// of keeping the listener readable for ever.
    private var reserve: Int32
    package let address: SocketAddress

    /// How long accepting rests when the system has no descriptor or memory left.
    private static let restAfterExhaustion = DispatchTimeInterval.milliseconds(100)

    /// Binds and listens.
    ///
    /// - Parameter host: `nil` for every interface, IPv4 and IPv6 on one socket where the system has both.
    /// - Throws: a failure that names address and port, for example when the port is in use.
    package init(host: String?, port: UInt16, on readiness: Readiness) throws(SocketAddress.Failure) {
        self.readiness = readiness
        let addresses = try SocketAddress.resolve(host: host, port: port)
        var failure = SocketAddress.Failure("host \(host ?? "any") has no address")
        var bound: Int32 = -1
        for address in addresses {
            do throws(SocketAddress.Failure) {
                bound = try Self.bind(address, anyInterface: host == nil || host == "::")
                break
            } catch {
                failure = error
            }
        }
        guard bound >= 0 else { throw failure }
        descriptor = bound
        reserve = open("/dev/null", O_RDONLY | O_CLOEXEC)
        address = SocketAddress { _ = getsockname(bound, $0, &$1) }
    }

    private static func bind(_ address: SocketAddress, anyInterface: Bool) throws(SocketAddress.Failure) -> Int32 {
        let descriptor = socket(address.family, SocketConstants.stream, 0)
        guard descriptor >= 0 else { throw SocketAddress.Failure("a socket for \(address)", code: errno) }
        SocketConstants.set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        if address.family == AF_INET6 { SocketConstants.set(descriptor, SocketConstants.ipv6, IPV6_V6ONLY, anyInterface ? 0 : 1) }
        keepFromBlocking(descriptor)
        let result = address.withPointer { systemBind(descriptor, $0, $1) }
        guard result == 0, listen(descriptor, 1024) == 0 else {
            let code = errno
            systemClose(descriptor)
            throw SocketAddress.Failure("cannot listen on \(address)", code: code)
        }
        return descriptor
    }

    /// Begins to accept. On the queue; `released` is called there when the port is free again after `close`.
    ///
    /// - Parameter accepted: gets a descriptor that is the receiver's now. It answers whether this turn takes another one.
    /// - Throws: when the system does not watch it.
    package func activate(
        accepted: @escaping @Sendable (Int32, SocketAddress) -> Bool, exhausted: @escaping @Sendable (Int32) -> Void,
        released: @escaping @Sendable () -> Void
    ) throws(SocketAddress.Failure) {
        dispatchPrecondition(condition: .onQueue(readiness.queue))
        let watch = readiness.watch(descriptor)
        let handlers = StreamSocket.Handlers(
            readable: { @Sendable [weak self] _ in
                guard let self, !continues else { return }
                acceptWaiting(accepted, exhausted)
            }, released: { @Sendable _ in released() })
        let refusal = watch.activate(handlers, tag: 0)
        guard refusal == 0 else { throw SocketAddress.Failure("cannot accept on \(address)", code: refusal) }
        self.watch = watch
    }

    private func acceptWaiting(
        _ accepted: @escaping @Sendable (Int32, SocketAddress) -> Bool, _ exhausted: @escaping @Sendable (Int32) -> Void
    ) {
        while !isClosed {
            var peer: Int32 = -1
            let address = SocketAddress { peer = systemAccept(descriptor, $0, &$1) }
            if peer >= 0 {
                guard accepted(peer, address) else { break }
                continue
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EAGAIN, EWOULDBLOCK: return
            case let code:
                turnAwayOne()
                exhausted(code)
                return rest()
            }
        }
        guard !isClosed else { return }
        // A reader that stops short is not told again.
        continues = true
        readiness.perform { @Sendable [weak self] in
            guard let self else { return }
            continues = false
            acceptWaiting(accepted, exhausted)
        }
    }

    /// Without a free descriptor the first in line cannot even be refused: the reserve makes room for that.
    private func turnAwayOne() {
        guard reserve >= 0 else { return }
        systemClose(reserve)
        let peer = accept(descriptor, nil, nil)
        if peer >= 0 { systemClose(peer) }
        reserve = open("/dev/null", O_RDONLY | O_CLOEXEC)
    }

    private func rest() {
        guard !isPaused, let watch else { return }
        isPaused = true
        watch.pauseReading()
        readiness.queue.asyncAfter(deadline: .now() + Self.restAfterExhaustion) { @Sendable [weak self] in
            guard let self, isPaused else { return }
            isPaused = false
            self.watch?.resumeReading()
        }
    }

    /// Stops listening; the port is free when `released` is called. On the queue. Calling again does nothing.
    package func close() {
        dispatchPrecondition(condition: .onQueue(readiness.queue))
        guard !isClosed else { return }
        isClosed = true
        if reserve >= 0 { systemClose(reserve) }
        guard let watch else { return systemClose(descriptor) }
        watch.close()
        self.watch = nil
    }
}
