#if canImport(Darwin)
package import Dispatch

/// Which of its descriptors can be read or written, told on one queue: by Dispatch's sources, each event in a turn of its own.
package final class Readiness: Sendable {
    package let queue: DispatchQueue
    private let turnEnded: @Sendable () -> Void

    /// Throws nothing here; elsewhere when the system has no descriptor left.
    ///
    /// - Parameters:
    ///   - waitsOnOwnThread: without effect here.
    ///   - turnEnded: called behind each call to a watch or timer, and behind what `perform` was given.
    package init(queue: DispatchQueue, waitsOnOwnThread: Bool = false, turnEnded: @escaping @Sendable () -> Void = {}) throws(SocketAddress
        .Failure)
    {
        self.queue = queue
        self.turnEnded = turnEnded
    }

    package func watch(_ descriptor: Int32) -> any DescriptorWatch { SourceWatch(descriptor, queue: queue, turnEnded: turnEnded) }

    /// Runs it in a turn of its own, behind what waits now. From the queue.
    package func perform(_ body: @escaping @Sendable () -> Void) { enter(body) }

    /// Runs it in a turn. From any thread.
    package func enter(_ body: @escaping @Sendable () -> Void) {
        queue.async { @Sendable [turnEnded] in
            body()
            turnEnded()
        }
    }

    package func endTurn() { turnEnded() }
}
#endif
