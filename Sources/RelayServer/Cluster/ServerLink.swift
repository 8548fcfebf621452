internal import Dispatch
internal import RelayPrimitives
internal import RelayCore
import RelayIO
import RelayNATS
import RelaySystem

/// What speaks with a NATS server over one connection at a time, without its socket.
protocol ServerMachine: Sendable {
    associatedtype Event: Sendable
    var needsTLS: Bool { get set }
    var nextDeadline: Instant? { get }
    mutating func connected(inbox: String, at now: Instant)
    mutating func disconnected(at now: Instant)
    mutating func secured() throws(NATSError)
    mutating func receive(_ bytes: UnsafeRawBufferPointer, at now: Instant) throws(NATSError)
    mutating func deadlineReached(at now: Instant) throws(NATSError)
    mutating func takeOutput() -> [UInt8]
    mutating func takeEvents() -> [Event]
}

extension JetStreamLog: ServerMachine {}
extension KeyValueBucket: ServerMachine {}

/// A link to one of several NATS servers: a socket, a timer and what reconnects, on the queue of whoever asks.
///
/// The servers have their turns in order.
@available(macOS 15, iOS 18, *)
final class ServerLink<Machine: ServerMachine>: @unchecked Sendable {
    // Safe: everything mutable is touched on `queue` only, which each entry checks.
    private let queue: DispatchQueue
    private let servers: [RelayAddress]
    private let handle: @Sendable ([Machine.Event]) -> Void
    private let ended: @Sendable () -> Void
    private let log: @Sendable (LogLine) -> Void
    private let title: String
    private let isQuiet: Bool

    private var machine: Machine
    private var readiness: Readiness?
    private var timer: DeadlineTimer?
    private var socket: (any LinkStream)?
    /// Of the link, or of the attempt to connect.
    private var attempt: UInt64 = 0
    private var cancelled: Mutex<Bool>?
    private var place = 0
    private var isClosed = false
    private var isBlocked = false
    private var unsent: ArraySlice<UInt8> = []
    /// When the attempt must have led to an examined stream.
    private var openBy: Instant?
    /// The first call that was sent since something was heard.
    private var waitsSince: Instant?
    /// What was last said of each server, and of the stream; nothing behind a link that was good.
    private var problems: [Int: String] = [:]
    /// Where the link leads; `nil`: nowhere.
    private(set) var connectedTo: String?

    private static var openWithin: Duration { .seconds(4) }
    /// A server that stands still is left after this: an owner has T₁ for all of them.
    private static var answerWithin: Duration { .seconds(3) }
    private static var connectMilliseconds: Int { 2000 }
    private static var pauseMilliseconds: Int { 200 }
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

    /// - Parameters:
    ///   - title: of what is asked there, for the log.
    ///   - isQuiet: others use the same servers, and say what is wrong with them.
    ///   - log: told of servers that cannot be used, of each once for a reason, until a link is good.
    ///   - ended: called where a link ends: what was asked over it may stay without an answer.
    ///   - handle: called for the machine's events, on the queue, never within a call. Each `opened` is told back by `opened(at:)`.
    init(
        _ servers: LogServers, _ machine: Machine, title: String, isQuiet: Bool = false, queue: DispatchQueue,
        log: @escaping @Sendable (LogLine) -> Void, ended: @escaping @Sendable () -> Void,
        handle: @escaping @Sendable ([Machine.Event]) -> Void
    ) {
        (self.servers, self.machine, self.title, self.isQuiet, self.queue) = (servers.addresses, machine, title, isQuiet, queue)
        // So that many links have not all one server.
        if isQuiet { place = Int.random(in: self.servers.indices) }
        (self.log, self.ended, self.handle) = (log, ended, handle)
    }

    deinit { buffer.deallocate() }

    var now: Instant { Instant(nanoseconds: SystemClock.monotonicNanoseconds()) }

    // MARK: - What its owner does, on the queue

    func start() {
        dispatchPrecondition(condition: .onQueue(queue))
        timer = DeadlineTimer(queue: queue) { @Sendable [weak self] in self?.deadlineReached() }
        connect()
    }

    func close() {
        dispatchPrecondition(condition: .onQueue(queue))
        isClosed = true
        endSocket()
        timer?.arm(for: nil)
        (timer, readiness) = (nil, nil)
    }

    /// Asks something; it is sent behind this call. Without a link nothing is asked.
    ///
    /// - Parameter waits: whether a server that does not answer is left.
    func ask(waits: Bool = true, _ body: (inout Machine) throws(NATSError) -> Void) {
        dispatchPrecondition(condition: .onQueue(queue))
        guard !isClosed else { return }
        do throws(NATSError) {
            try body(&machine)
            if waits { waitsSince = waitsSince ?? now }
        } catch .notOpen {
            // It is asked again over the next link.
        } catch {
            failed("\(error)")
        }
        queue.async { @Sendable [weak self] in self?.step() }
    }

    /// The machine wants TLS.
    func beginTLS() {
        do throws(NATSError) {
            guard servers[place].protection != .plain else { return failed("it wants TLS: tls:// says so") }
            try machine.secured()
        } catch {
            failed("\(error)")
        }
    }

    /// The server is what it must be.
    func opened(at info: ServerInfo) {
        (openBy, problems) = (nil, [:])
        connectedTo = "\(servers[place].host):\(servers[place].port)"
        log(LogLine(.debug, "\(title) is at NATS server \(info.name), \(connectedTo!)"))
    }

    /// It is said once.
    func warn(_ text: String) { warn(text, of: -1) }

    // MARK: - Connecting

    private func connect() {
        guard !isClosed, socket == nil else { return }
        attempt += 1
        machine.needsTLS = servers[place].protection != .plain
        let (attempt, server, stop) = (attempt, servers[place], Mutex(false))
        cancelled = stop
        DispatchQueue.global().async { @Sendable [weak self, queue] in
            var result: Result<(ConnectedLink, [UInt8]), SocketAddress.Failure>
            do throws(SocketAddress.Failure) {
                result = .success(
                    try ConnectedLink.connect(
                        to: server, behindLineOf: NATSLimits.infoBytesMax, timeoutMilliseconds: Self.connectMilliseconds
                    ) { stop.withLock { $0 } })
            } catch {
                result = .failure(error)
            }
            queue.async { @Sendable [weak self, result] in
                guard let self else {
                    if case .success(let link) = result { link.0.discard() }
                    return
                }
                self.connected(result, attempt)
            }
        }
    }

    private func connected(_ result: Result<(ConnectedLink, [UInt8]), SocketAddress.Failure>, _ attempt: UInt64) {
        switch result {
        case .failure(let failure): if attempt == self.attempt { leave("\(failure)") }
        case .success(let (link, line)):
            guard attempt == self.attempt, !isClosed else { return link.discard() }
            do throws(SocketAddress.Failure) {
                if readiness == nil { readiness = try Readiness(queue: queue) }
            } catch {
                link.discard()
                return leave("\(error)")
            }
            let socket = link.serve(on: readiness!)
            self.socket = socket
            (isBlocked, unsent, openBy, waitsSince) = (false, [], now + Self.openWithin, nil)
            machine.connected(inbox: "br\(String(SystemEntropy.word(), radix: 36))\(String(SystemEntropy.word(), radix: 36))", at: now)
            let handlers = StreamSocket.Handlers(
                readable: { @Sendable [weak self] attempt in self?.read(attempt) },
                writable: { @Sendable [weak self] attempt in self?.becameWritable(attempt) })
            socket.activate(handlers, tag: attempt)
            if !line.isEmpty { line.withUnsafeBytes { receive($0) } }
            step()
        }
    }

    /// The next server, behind a pause.
    private func leave(_ problem: String) {
        endSocket()
        guard !isClosed else { return }
        warn("the log's server \(servers[place].host):\(servers[place].port): \(problem)", of: place)
        place = (place + 1) % servers.count
        queue.asyncAfter(deadline: .now() + .milliseconds(Self.pauseMilliseconds)) { @Sendable [weak self, attempt] in
            if let self, attempt == self.attempt { self.connect() }
        }
    }

    private func warn(_ text: String, of place: Int) {
        if problems.updateValue(text, forKey: place) != text { log(LogLine(isQuiet && place >= 0 ? .debug : .warning, text)) }
    }

    private func endSocket() {
        attempt += 1
        cancelled?.withLock { $0 = true }
        (cancelled, connectedTo, openBy, waitsSince) = (nil, nil, nil, nil)
        socket?.close()
        socket = nil
        machine.disconnected(at: now)
        // Whatever they say of what was asked, it is asked again.
        _ = machine.takeEvents()
        ended()
    }

    // MARK: - The link

    private func read(_ attempt: UInt64) {
        while attempt == self.attempt, let socket {
            switch socket.read(into: buffer) {
            case .bytes(let count):
                waitsSince = nil
                receive(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
            case .wouldBlock: return step()
            case .end: return leave("it closed the connection")
            case .failed(let code): return leave(socket.failure?.description ?? SystemError.text(code))
            }
        }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        let attempt = attempt
        do throws(NATSError) {
            try machine.receive(bytes, at: now)
        } catch {
            // What came before it counts.
            takeEvents()
            if attempt == self.attempt { failed("\(error)") }
            return
        }
        takeEvents()
    }

    private func deadlineReached() {
        guard socket != nil else { return }
        let late = (openBy.map { $0 <= now } ?? false) || (waitsSince.map { $0 + Self.answerWithin <= now } ?? false)
        if late { return leave("no answer in time") }
        do throws(NATSError) {
            try machine.deadlineReached(at: now)
        } catch {
            takeEvents()
            return failed("\(error)")
        }
        step()
    }

    private func failed(_ problem: String) { if socket != nil { leave(problem) } }

    private func step() {
        takeEvents()
        flush()
        guard socket != nil else { return timer?.arm(for: nil) ?? () }
        let due = Instant.earlier(Instant.earlier(machine.nextDeadline, openBy), waitsSince.map { $0 + Self.answerWithin })
        timer?.arm(for: due?.nanoseconds)
    }

    private func becameWritable(_ attempt: UInt64) {
        guard attempt == self.attempt else { return }
        isBlocked = false
        step()
    }

    private func flush() {
        while let socket, !isBlocked {
            if unsent.isEmpty { unsent = machine.takeOutput()[...] }
            guard !unsent.isEmpty else { return }
            switch unsent.withUnsafeBytes({ socket.write($0) }) {
            case .wrote(let count): unsent = unsent.dropFirst(count)
            case .wouldBlock:
                isBlocked = true
                socket.waitUntilWritable()
            // The read side finds out why.
            case .failed: return
            }
        }
    }

    private func takeEvents() {
        let events = machine.takeEvents()
        if !events.isEmpty { handle(events) }
    }
}
