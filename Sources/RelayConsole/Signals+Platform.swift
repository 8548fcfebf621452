import Dispatch
import RelayIO

/// SIGINT, SIGTERM, and SIGHUP of a terminal that is closed: the first can be waited for, the second ends the process at once. Where no
/// terminal can be closed, SIGHUP can mean something else.
package final class Signals: Sendable {
    private let arrived: AsyncStream<Int32>
    private let token: UInt64
    /// How many have come.
    private let count = Mutex(0)

    /// Whether a terminal can be closed that this process belongs to.
    package static let hasTerminal: Bool = {
        let descriptor = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }()

    /// - Parameter hangup: called for each SIGHUP, which then ends nothing; on a queue of the signals'.
    package init(hangup: (@Sendable () -> Void)? = nil) {
        let (arrived, end) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingOldest(1))
        self.arrived = arrived
        token = SignalWatch.shared.add { [count] number in
            if number == SIGHUP {
                if let hangup {
                    hangup()
                    return false
                }
                guard !SignalWatch.shared.outlivesTerminal else { return false }
            }
            let seen = count.withLock { count in
                count += 1
                return count
            }
            // A terminal that is closed may say so twice, the shell and the system: nobody has lost patience.
            if seen > 1, number != SIGHUP { exit(ExitCode.interrupted.rawValue) }
            end.yield(number)
            return true
        }
    }

    deinit { SignalWatch.shared.remove(token) }

    /// - Returns: the first signal, when it has come; `nil` when the task is cancelled. Then nobody waits: a signal that came with the
    ///   cancellation, or comes later, ends the process.
    @discardableResult package func first() async -> Int32? {
        for await number in arrived where !Task.isCancelled { return number }
        SignalWatch.shared.remove(token)
        if count.withLock({ $0 }) > 0 { exit(ExitCode.interrupted.rawValue) }
        return nil
    }

    /// Which one it was, for people.
    package static func words(_ number: Int32?) -> String {
        switch number {
        case SIGHUP: "SIGHUP, the terminal is closed"
        case SIGTERM: "SIGTERM"
        default: "Ctrl-C"
        }
    }
}

/// Watches the signals as long as the process lives. On Linux a source of Dispatch has a handler of its own, which is not put back when
/// the disposition is set again before the source has gone: a second watch may see nothing.
private final class SignalWatch: Sendable {
    static let shared = SignalWatch()

    private let sources: Mutex<[any DispatchSourceSignal]>
    private struct Handlers {
        var last: UInt64 = 0
        /// Each says whether the signal ends the process.
        var all: [UInt64: @Sendable (Int32) -> Bool] = [:]
        /// A handler has had a signal: the process is on its way to its end.
        var isEnding = false
    }

    private let handlers: Mutex<Handlers>
    /// Started with nohup. Asked once: watching a signal looks the same.
    let outlivesTerminal = unsafeBitCast(signal(SIGHUP, SIG_IGN), to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)

    private init() {
        let handlers = Mutex(Handlers())
        self.handlers = handlers
        let queue = DispatchQueue(label: "boardrelay.signals")
        let registered = DispatchGroup()
        let sources = [SIGINT, SIGTERM, SIGHUP].map { [outlivesTerminal] number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { @Sendable in
                let (all, isEnding) = handlers.withLock { ($0.all.values.map(\.self), $0.isEnding) }
                // What nobody waits for does what it does without a watch; a closed terminal only once.
                if all.isEmpty, number != SIGHUP || !isEnding && !outlivesTerminal { exit(ExitCode.interrupted.rawValue) }
                for handler in all where handler(number) { handlers.withLock { $0.isEnding = true } }
            }
            registered.enter()
            source.setRegistrationHandler { @Sendable in registered.leave() }
            source.activate()
            return source
        }
        self.sources = Mutex(sources)
        // Dispatch watches them on a thread of its own: a signal before that is one that is ignored.
        registered.wait()
    }

    func add(_ handler: @escaping @Sendable (Int32) -> Bool) -> UInt64 {
        handlers.withLock { handlers in
            handlers.last += 1
            handlers.all[handlers.last] = handler
            return handlers.last
        }
    }

    func remove(_ token: UInt64) { handlers.withLock { $0.all[token] = nil } }
}
