import Dispatch
import RelayPrimitives

/// What a client's core has its links made with.
package protocol ClientTransport: AnyObject, Sendable {
    /// Once, before anything else.
    func attach(_ core: ClientCore)
    /// From any thread, in the order of the calls; the core is locked meanwhile.
    func carryOut(_ effects: [ClientEffect])
    /// From any thread: soon `began` is called, what waits is written, and the next deadline is looked up.
    func kick(_ began: @escaping @Sendable () -> Void)
    /// From any thread: readers have room again.
    func goOn()
}

/// Where a client's links lead, and its time.
package struct ClientSurroundings: Sendable {
    package var transport: any ClientTransport
    /// Of its dice.
    package var seed: UInt64
    /// Of `ClientSettings`.
    package var instance: UInt64
    package var now: @Sendable () -> Instant

    package init(transport: any ClientTransport, seed: UInt64, instance: UInt64, now: @escaping @Sendable () -> Instant) {
        (self.transport, self.seed, self.instance, self.now) = (transport, seed, instance, now)
    }
}

/// Sockets, and a timer, on a queue of their own.
final class ClientLink: ClientTransport, @unchecked Sendable {
    // Safe: everything mutable is touched on `queue` only, but for `core`, which is set once before anything runs.
    private let queue = DispatchQueue(label: "boardrelay.client")
    private let addresses: [RelayAddress]
    /// The one that is tried first: a relay was there last.
    private var first = 0
    /// Where a relay has sent this client, at which its pin holds: it comes before all others. [SE17]
    private var detour: RelayAddress?
    private let timeoutMilliseconds: Int
    private weak var core: ClientCore?
    private var timer: DeadlineTimer?
    private var readiness: Readiness?
    private var socket: (any LinkStream)?
    private var attempt: UInt64 = 0
    /// Of the attempt that connects now: whether it is to end.
    private var connectingIsCancelled: Mutex<Bool>?
    private var isBlocked = false
    /// Readers have no room for more.
    private var isHeldBack = false
    /// Whether nothing has come over this link.
    private var isUnheard = true
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

    init(addresses: [RelayAddress], timeout: Duration) {
        self.addresses = addresses
        timeoutMilliseconds = Int(min(max(timeout / .milliseconds(1), 0), 86_400_000))
    }

    deinit {
        connectingIsCancelled?.withLock { $0 = true }
        buffer.deallocate()
    }

    func attach(_ core: ClientCore) {
        self.core = core
        timer = DeadlineTimer(queue: queue) { @Sendable [weak self] in self?.core?.deadline() }
    }

    func carryOut(_ effects: [ClientEffect]) {
        guard !effects.isEmpty else { return }
        queue.async { @Sendable [self] in
            for effect in effects {
                switch effect {
                case .openLink(let attempt): open(attempt)
                case .closeLink: close()
                case .goElsewhere(let address): goElsewhere(address)
                case .completed: break
                }
            }
        }
    }

    func kick(_ began: @escaping @Sendable () -> Void) {
        queue.async { @Sendable [self] in
            began()
            flush()
            timer?.arm(for: core?.nextDeadline?.nanoseconds)
        }
    }

    private func goElsewhere(_ address: String?) {
        detour = nil
        let wanted = address.flatMap { RelayAddress($0) }
        if let wanted, let place = addresses.firstIndex(where: { $0.host == wanted.host && $0.port == wanted.port }) {
            first = place
        } else if let wanted, wanted.protection != .plain, case .pinned = addresses[0].protection {
            detour = RelayAddress(host: wanted.host, port: wanted.port, protection: addresses[0].protection)
        } else {
            first = (first + 1) % addresses.count
        }
    }

    private func open(_ attempt: UInt64) {
        close()
        self.attempt = attempt
        let timeout = timeoutMilliseconds
        var places: [(place: Int?, address: RelayAddress)] = detour.map { [(nil, $0)] } ?? []
        places += addresses.indices.map { ((first + $0) % addresses.count, addresses[(first + $0) % addresses.count]) }
        let isCancelled = Mutex(false)
        connectingIsCancelled = isCancelled
        DispatchQueue.global().async { @Sendable [weak self, places] in
            var result: Result<ConnectedLink, SocketAddress.Failure> = .failure(.init("an invitation without an address"))
            var found: Int?
            for (place, address) in places {
                found = place
                do throws(SocketAddress.Failure) {
                    let link = try ConnectedLink.connect(to: address, timeoutMilliseconds: timeout / places.count) {
                        isCancelled.withLock { $0 }
                    }
                    result = .success(link)
                    break
                } catch {
                    result = .failure(error)
                }
            }
            guard let self else {
                if case .success(let link) = result { link.discard() }
                return
            }
            let (outcome, place) = (result, found)
            self.queue.async { @Sendable in
                if let place { (self.first, self.detour) = (place, nil) }
                self.connected(outcome, attempt)
            }
        }
    }

    private func connected(_ result: Result<ConnectedLink, SocketAddress.Failure>, _ attempt: UInt64) {
        switch result {
        case .failure(let failure):
            if attempt == self.attempt { core?.linkEnded(attempt, failure.description) }
        case .success(let link):
            guard attempt == self.attempt, socket == nil else { return link.discard() }
            let socket: any LinkStream
            do throws(SocketAddress.Failure) {
                socket = link.serve(on: try madeReadiness())
            } catch {
                link.discard()
                core?.linkEnded(attempt, error.description)
                return
            }
            self.socket = socket
            (isBlocked, isUnheard) = (false, true)
            let handlers = StreamSocket.Handlers(
                readable: { @Sendable [weak self] attempt in self?.read(attempt) },
                writable: { @Sendable [weak self] _ in
                    self?.isBlocked = false
                    self?.flush()
                })
            socket.activate(handlers, tag: attempt)
            core?.linkOpened(attempt)
        }
    }

    /// One for all links.
    private func madeReadiness() throws(SocketAddress.Failure) -> Readiness {
        if let readiness { return readiness }
        let made = try Readiness(queue: queue)
        readiness = made
        return made
    }

    private func read(_ attempt: UInt64) {
        while attempt == self.attempt, !isHeldBack, let socket {
            switch socket.read(into: buffer) {
            case .bytes(let count):
                let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
                if isUnheard, bytes.starts(with: "HTTP/".utf8) {
                    return ended(attempt, "an HTTP server answers, not a relay: a proxy before the relay must pass on all that TCP brings")
                }
                isUnheard = false
                isHeldBack = !(core?.received(bytes, attempt) ?? true)
            case .wouldBlock: return
            case .end: return ended(attempt, "the relay closed the connection")
            case .failed(let code): return ended(attempt, socket.failure?.description ?? SystemError.text(code))
            }
        }
    }

    func goOn() {
        queue.async { @Sendable [self] in
            guard isHeldBack else { return }
            isHeldBack = false
            read(attempt)
        }
    }

    private func flush() {
        guard let socket, !isBlocked, let core else { return }
        while true {
            let bytes = core.gather()
            guard !bytes.isEmpty else { return }
            switch bytes.withUnsafeBytes({ socket.write($0) }) {
            case .wrote(let written): core.wrote(written)
            case .wouldBlock:
                isBlocked = true
                return socket.waitUntilWritable()
            case .failed:
                // What the relay said before it closed may still be read: the read side finds the end.
                return read(attempt)
            }
        }
    }

    private func ended(_ attempt: UInt64, _ text: String) {
        close()
        core?.linkEnded(attempt, text)
    }

    private func close() {
        attempt = 0
        connectingIsCancelled?.withLock { $0 = true }
        connectingIsCancelled = nil
        socket?.close()
        socket = nil
        isBlocked = false
        isHeldBack = false
    }
}
