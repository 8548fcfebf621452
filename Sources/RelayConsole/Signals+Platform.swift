import Dispatch
import Foundation
import RelayIO

/// SIGINT, SIGTERM, and SIGHUP of a terminal that is closed: the first can be waited for, the second ends the process at once.
package final class Signals: Sendable {
    private let arrived: AsyncStream<Int32>
    private let end: AsyncStream<Int32>.Continuation
    private let sources = Lock<[any DispatchSourceSignal]>([])

    /// Whether it was started with nohup. Asked once: watching a signal looks the same.
    private static let outlivesTerminal = unsafeBitCast(signal(SIGHUP, SIG_IGN), to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)

    package init() {
        (arrived, end) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingOldest(1))
        let queue = DispatchQueue(label: "boardrelay.signals")
        let count = Lock(0)
        let registered = DispatchGroup()
        for number in [SIGINT, SIGTERM, SIGHUP] {
            if number == SIGHUP, Self.outlivesTerminal { continue }
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { @Sendable [end] in
                let seen = count.withLock { count in
                    count += 1
                    return count
                }
                // A terminal that is closed may say so twice, the shell and the system: nobody has lost patience.
                if seen > 1, number != SIGHUP { exit(ExitCode.interrupted.rawValue) }
                end.yield(number)
            }
            registered.enter()
            source.setRegistrationHandler { @Sendable in registered.leave() }
            source.activate()
            sources.withLock { $0.append(source) }
        }
        // Dispatch watches them on a thread of its own: a signal before that is one that is ignored.
        registered.wait()
    }

    /// - Returns: the first signal, when it has come; `nil` when the task is cancelled.
    @discardableResult package func first() async -> Int32? {
        for await number in arrived { return number }
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
