internal import Dispatch
internal import RelayPrimitives
import RelayCluster
internal import RelayCore
import RelayIO
import RelayNATS
import RelaySystem

/// A space's log on NATS: a socket, a timer and what reconnects, on the queue of whoever asks.
///
/// The servers have their turns in order. A call that cannot be sent now is dropped, as one is whose answer is lost: `SpaceMachine` asks
/// again, and at each new link (`linked`).
@available(macOS 15, iOS 18, *)
final class LogLink: @unchecked Sendable {
    // Safe: everything mutable is touched on `queue` only, which each entry checks.
    private let queue: DispatchQueue
    private let servers: [RelayAddress]
    private let answer: @Sendable (SpaceLog.Answer) -> Void
    private let log: @Sendable (LogLine) -> Void
    private let stream: String

    private var jetStream: JetStreamLog
    private var readiness: Readiness?
    private var timer: DeadlineTimer?
    private var socket: (any LinkStream)?
    /// Of the link, or of the attempt to connect.
    private var attempt: UInt64 = 0
    private var cancelled: Mutex<Bool>?
    private var place = 0
    private var isClosed = false
    private var isOpen = false
    private var isBlocked = false
    private var unsent: ArraySlice<UInt8> = []
    /// When the attempt must have led to an examined stream.
    private var openBy: Instant?
    /// The first call that was sent since something was heard.
    private var waitsSince: Instant?

    private var follows: UInt64 = 0
    private enum EndQuestion { case none, asked(UInt64, next: UInt64?) }
    private var question = EndQuestion.none
    /// What was last said of each server, and of the log; nothing behind a link that was good.
    private var problems: [Int: String] = [:]
    /// Where the link leads; `nil`: nowhere.
    private(set) var connectedTo: String?

    private static let openWithin = Duration.seconds(4)
    /// A server that stands still is left after this: an owner has T₁ for all of them.
    private static let answerWithin = Duration.seconds(3)
    private static let connectMilliseconds = 2000
    private static let pauseMilliseconds = 200
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

    /// - Parameters:
    ///   - answer: called on the queue, never within a call.
    ///   - log: told of servers that cannot be used, of each once for a reason, until a link is good.
    init(
        _ servers: LogServers, stream: String, queue: DispatchQueue, log: @escaping @Sendable (LogLine) -> Void,
        answer: @escaping @Sendable (SpaceLog.Answer) -> Void
    ) {
        (self.servers, self.stream, self.queue, self.log, self.answer) = (servers.addresses, stream, queue, log, answer)
        jetStream = JetStreamLog(stream: stream, login: servers.login, needsTLS: true)
    }

    deinit { buffer.deallocate() }

    private var now: Instant { Instant(nanoseconds: SystemClock.monotonicNanoseconds()) }

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

    func call(_ call: SpaceLog.Call) {
        dispatchPrecondition(condition: .onQueue(queue))
        guard !isClosed else { return }
        do throws(NATSError) {
            switch call {
            case .append(let bytes, let after, let id):
                try jetStream.append(bytes, after: after, id: Self.name(of: id), at: now)
                waitsSince = waitsSince ?? now
            case .follow(let position?, let number):
                follows = number
                try jetStream.follow(from: position, at: now)
            case .follow(nil, _): try jetStream.unfollow()
            case .trim(let position): try jetStream.trim(below: position, at: now)
            case .readEnd(let number): ask(number)
            }
        } catch .notOpen {
            // It is asked again over the next link.
        } catch {
            failed("\(error)")
        }
        later()
    }

    /// One question at a time: an answer is that of a known question.
    private func ask(_ number: UInt64) {
        guard isOpen else { return }
        if case .asked(let asked, _) = question { return question = .asked(asked, next: number) }
        question = .asked(number, next: nil)
        do throws(NATSError) { try jetStream.readEnds(at: now) } catch { question = .none }
        waitsSince = waitsSince ?? now
    }

    private func answered(_ bytes: [UInt8]?, at position: UInt64) {
        guard case .asked(let number, let next) = question else { return }
        question = .none
        if let bytes { answer(.end(bytes, at: position, number: number)) }
        if let next { ask(next) }
    }

    // MARK: - Connecting

    private func connect() {
        guard !isClosed, socket == nil else { return }
        attempt += 1
        jetStream.needsTLS = servers[place].protection != .plain
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
        case .failure(let failure): if attempt == self.attempt { ended("\(failure)") }
        case .success(let (link, line)):
            guard attempt == self.attempt, !isClosed else { return link.discard() }
            do throws(SocketAddress.Failure) {
                if readiness == nil { readiness = try Readiness(queue: queue) }
            } catch {
                link.discard()
                return ended("\(error)")
            }
            let socket = link.serve(on: readiness!)
            self.socket = socket
            (isBlocked, unsent, openBy, waitsSince) = (false, [], now + Self.openWithin, nil)
            jetStream.connected(inbox: "br\(String(SystemEntropy.word(), radix: 36))\(String(SystemEntropy.word(), radix: 36))", at: now)
            let handlers = StreamSocket.Handlers(
                readable: { @Sendable [weak self] attempt in self?.read(attempt) },
                writable: { @Sendable [weak self] attempt in self?.becameWritable(attempt) })
            socket.activate(handlers, tag: attempt)
            if !line.isEmpty { line.withUnsafeBytes { receive($0) } }
            step()
        }
    }

    /// The next server, behind a pause when each had its turn.
    private func ended(_ problem: String) {
        endSocket()
        guard !isClosed else { return }
        warn("the log's server \(servers[place].host):\(servers[place].port): \(problem)", of: place)
        place = (place + 1) % servers.count
        queue.asyncAfter(deadline: .now() + .milliseconds(Self.pauseMilliseconds)) { @Sendable [weak self, attempt] in
            if let self, attempt == self.attempt { self.connect() }
        }
    }

    private func warn(_ text: String, of place: Int) {
        if problems.updateValue(text, forKey: place) != text { log(LogLine(.warning, text)) }
    }

    private func endSocket() {
        attempt += 1
        cancelled?.withLock { $0 = true }
        (cancelled, connectedTo, isOpen, openBy, waitsSince, question) = (nil, nil, false, nil, nil, .none)
        socket?.close()
        socket = nil
        jetStream.disconnected(at: now)
        // Whatever they say of appends, the machine asks again.
        _ = jetStream.takeEvents()
    }

    // MARK: - The link

    private func read(_ attempt: UInt64) {
        while attempt == self.attempt, let socket {
            switch socket.read(into: buffer) {
            case .bytes(let count):
                waitsSince = nil
                receive(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
            case .wouldBlock: return step()
            case .end: return ended("it closed the connection")
            case .failed(let code): return ended(socket.failure?.description ?? SystemError.text(code))
            }
        }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        let attempt = attempt
        do throws(NATSError) {
            try jetStream.receive(bytes, at: now)
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
        if late { return ended("no answer in time") }
        do throws(NATSError) {
            try jetStream.deadlineReached(at: now)
        } catch {
            takeEvents()
            return failed("\(error)")
        }
        step()
    }

    private func failed(_ problem: String) { if socket != nil { ended(problem) } }

    /// Behind what its owner asks: effects that follow are sent with it.
    private func later() { queue.async { @Sendable [weak self] in self?.step() } }

    private func step() {
        takeEvents()
        flush()
        guard socket != nil else { return timer?.arm(for: nil) ?? () }
        let due = Instant.earlier(Instant.earlier(jetStream.nextDeadline, openBy), waitsSince.map { $0 + Self.answerWithin })
        timer?.arm(for: due?.nanoseconds)
    }

    private func becameWritable(_ attempt: UInt64) {
        guard attempt == self.attempt else { return }
        isBlocked = false
        step()
    }

    private func flush() {
        while let socket, !isBlocked {
            if unsent.isEmpty { unsent = jetStream.takeOutput()[...] }
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
        // An answer may begin another one, whose entries are none of these.
        let follows = follows
        for event in jetStream.takeEvents() {
            switch event {
            case .startTLS:
                do throws(NATSError) {
                    guard servers[place].protection != .plain else { return failed("it wants TLS: tls:// says so") }
                    try jetStream.secured()
                } catch {
                    return failed("\(error)")
                }
            case .opened(let info, _):
                (isOpen, openBy, problems) = (true, nil, [:])
                connectedTo = "\(servers[place].host):\(servers[place].port)"
                log(LogLine(.debug, "the log \(stream) is at NATS server \(info.name), \(connectedTo!)"))
                answer(.linked)
            case .notOpened(let failure):
                warn("the log's stream \(stream) cannot be examined: \(failure)", of: -1)
            case .denied(let text): log(LogLine(.warning, "the log's server refuses: \(text)"))
            case .appended(let name, let outcome):
                guard let id = Self.id(of: name) else { continue }
                switch outcome {
                case .taken(let position): answer(.appended(id, .taken(at: position)))
                case .wrong(let end): answer(.appended(id, .wrong(end: end)))
                case .unknown: answer(.appended(id, .unknown))
                }
            case .ends(.success(let ends)):
                guard ends.last > 0 else {
                    answered([], at: 0)
                    continue
                }
                do throws(NATSError) { try jetStream.read(ends.last, at: now) } catch { answered(nil, at: 0) }
            case .ends(.failure): answered(nil, at: 0)
            case .read(let position, .success(let entry)): answered(entry.payload, at: position)
            case .read(_, .failure): answered(nil, at: 0)
            case .trimmed(let position, let failure):
                if let failure { log(LogLine(.warning, "the log is not trimmed below \(position): \(failure)")) }
            case .entry(let entry): answer(.entry(entry.payload, at: entry.sequence, number: follows))
            case .missing(let wanted, let ends):
                // Who follows is shown the gap by the first entry that is there; an end that is too early by the end itself.
                guard ends.first > wanted else { continue }
                do throws(NATSError) { try jetStream.follow(from: ends.first, at: now) } catch { return failed("\(error)") }
            }
        }
    }

    // MARK: - Names of appends

    static func name(of id: SpaceLog.AppendID) -> String { "\(String(id.life, radix: 16))-\(String(id.number, radix: 16))" }

    static func id(of name: String) -> SpaceLog.AppendID? {
        let words = name.split(separator: "-")
        guard words.count == 2, let life = UInt64(words[0], radix: 16), let number = UInt64(words[1], radix: 16) else { return nil }
        return SpaceLog.AppendID(life: life, number: number)
    }
}
