package import Dispatch
import RelayIO

/// Looks every few seconds whether this machine's addresses are others than before: no platform's way of being told is every
/// platform's.
package final class NetworkWatch: @unchecked Sendable {
    // Safe: a source may be cancelled from anywhere, and nothing else is done with it after `init`.
    private let source: any DispatchSourceTimer

    /// - Parameters:
    ///   - addresses: reads them, on the queue.
    ///   - changed: gets those of now, on the queue, each time they are others. Those of the beginning are not told.
    package init(
        queue: DispatchQueue = DispatchQueue(label: "boardrelay.network"), every milliseconds: Int = 5_000,
        addresses: @escaping @Sendable () -> [String] = Interfaces.addresses, changed: @escaping @Sendable ([String]) -> Void
    ) {
        let known = Mutex(addresses())
        source = DispatchSource.makeTimerSource(queue: queue)
        source.schedule(
            deadline: .now() + .milliseconds(milliseconds), repeating: .milliseconds(milliseconds), leeway: .milliseconds(milliseconds / 5))
        source.setEventHandler { @Sendable in
            let now = addresses()
            let isNew = known.withLock { known in
                defer { known = now }
                return Set(known) != Set(now)
            }
            if isNew { changed(now) }
        }
        source.activate()
    }

    deinit { source.cancel() }

    package func cancel() { source.cancel() }
}
