#if canImport(Darwin)
    package import Dispatch

    /// Which of its descriptors can be read or written, told on one queue: by Dispatch's sources.
    package final class Readiness: Sendable {
        package let queue: DispatchQueue

        /// Throws nothing here; elsewhere when the system has no descriptor left.
        package init(queue: DispatchQueue) throws(SocketAddress.Failure) { self.queue = queue }

        func watch(_ descriptor: Int32) -> any DescriptorWatch { SourceWatch(descriptor, queue: queue) }
    }
#endif
