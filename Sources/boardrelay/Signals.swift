import Dispatch
import Foundation

/// SIGINT and SIGTERM: the first is waited for, the second ends the process.
final class Signals: @unchecked Sendable {
    // Safe: nothing changes after init; sources are only kept alive here.
    private let arrived: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
        arrived = stream
        let queue = DispatchQueue(label: "boardrelay.signals")
        let count = Count()
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { @Sendable in
                if count.next() > 1 { exit(1) }
                continuation.yield()
            }
            source.activate()
            return source
        }
        signal(SIGPIPE, SIG_IGN)
    }

    func first() async {
        for await _ in arrived { return }
    }

    /// Touched on the signal queue only.
    private final class Count: @unchecked Sendable {
        private var value = 0
        func next() -> Int {
            value += 1
            return value
        }
    }
}
