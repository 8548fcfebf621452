internal import Dispatch

/// One connected, non-blocking TCP socket, served by one serial queue.
package final class StreamSocket: @unchecked Sendable {
    // Safe: everything below is touched on `queue` only, which each entry checks.
    private let readiness: Readiness
    private let descriptor: Int32
    private var isActive = false
    private var isClosed = false
    private let watch: any DescriptorWatch
    /// Why the system does not watch it, or a write could end the process: reading and writing tell it.
    private var refusal: Int32

    /// What is called for a socket, with its tag. All sockets of an owner share one: an idle socket has no closures of its own.
    package final class Handlers: Sendable {
        let readable: @Sendable (UInt64) -> Void
        let writable: @Sendable (UInt64) -> Void
        let released: @Sendable (UInt64) -> Void

        /// Does nothing.
        package static let none = Handlers(readable: { _ in })

        /// - Parameter released: the descriptor is closed; called once, in a later turn of the queue than `close`.
        package init(
            readable: @escaping @Sendable (UInt64) -> Void, writable: @escaping @Sendable (UInt64) -> Void = { _ in },
            released: @escaping @Sendable (UInt64) -> Void = { _ in }
        ) {
            self.readable = readable
            self.writable = writable
            self.released = released
        }
    }

    package enum Reading: Sendable, Equatable { case bytes(Int), wouldBlock, end, failed(Int32) }
    package enum Writing: Sendable, Equatable { case wrote(Int), wouldBlock, failed(Int32) }

    /// Unsent bytes the kernel takes before it says EAGAIN: what is not sent yet stays in our queue, where it can be shed.
    private static let notSentLowWaterBytes: Int32 = 16 * 1024

    /// Takes over a connected descriptor that never blocks. On the queue of `readiness`, which serves it.
    ///
    /// - Parameter quiet: keeps its writes from raising a signal, and returns 0 or why that failed.
    package init(adopting descriptor: Int32, on readiness: Readiness, quiet: (Int32) -> Int32 = SocketConstants.quiet) {
        dispatchPrecondition(condition: .onQueue(readiness.queue))
        self.descriptor = descriptor
        self.readiness = readiness
        watch = readiness.watch(descriptor)
        refusal = quiet(descriptor)
        SocketConstants.set(descriptor, SocketConstants.tcp, TCP_NODELAY, 1)
        // The rest stays with the writer, who may change it.
        SocketConstants.set(descriptor, SocketConstants.tcp, SocketConstants.notSentLowWater, Self.notSentLowWaterBytes)
        if let bytes = SocketConstants.sendBufferBytes { SocketConstants.set(descriptor, SOL_SOCKET, SO_SNDBUF, bytes) }
    }

    /// Begins to serve the socket. On the queue.
    ///
    /// - Parameter tag: what the handlers get, so that they know which socket it is.
    package func activate(_ handlers: Handlers, tag: UInt64) {
        dispatchPrecondition(condition: .onQueue(readiness.queue))
        isActive = true
        let unwatched = watch.activate(handlers, tag: tag)
        if refusal == 0 { refusal = unwatched }
        guard refusal != 0 else { return }
        readiness.perform { @Sendable [weak self] in
            if let self, !isClosed { handlers.readable(tag) }
        }
    }

    /// Whether a read of fewer bytes than there was room for has left nothing: what comes then is told. (epoll(7): "the end of
    /// the packet/stream read can also be detected by checking the amount of data read".)
    package var isDrainedByShortRead: Bool { !watch.mayHaveEnded }

    /// Reads once. The caller goes on until EAGAIN, the end or what drains it, or comes back by itself: never by waiting for an event.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
        guard !isClosed else { return .end }
        guard refusal == 0 else { return .failed(refusal) }
        return Self.read(descriptor, into: buffer)
    }

    /// What a read would give, which stays there.
    package func peek(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
        guard !isClosed, refusal == 0 else { return .end }
        return Self.read(descriptor, into: buffer, flags: SocketConstants.peek)
    }

    package static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, flags: Int32 = 0) -> Reading {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, flags)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            let code = errno
            if code == EINTR { continue }
            return code == EAGAIN || code == EWOULDBLOCK ? .wouldBlock : .failed(code)
        }
    }

    /// Writes what the socket takes at once.
    package func write(_ vectors: UnsafeMutablePointer<iovec>, count: Int) -> Writing {
        guard !isClosed, refusal == 0 else { return .failed(isClosed ? EPIPE : refusal) }
        return Self.write(descriptor, vectors, count: count)
    }

    package static func write(_ descriptor: Int32, _ vectors: UnsafeMutablePointer<iovec>, count: Int) -> Writing {
        var message = msghdr()
        message.msg_iov = vectors
        message.msg_iovlen = .init(count)
        while true {
            let written = sendmsg(descriptor, &message, SocketConstants.sendFlags)
            if written >= 0 { return .wrote(written) }
            let code = errno
            if code == EINTR { continue }
            return code == EAGAIN || code == EWOULDBLOCK ? .wouldBlock : .failed(code)
        }
    }

    /// Another descriptor of the same connection, for whoever goes on with it; -1: the system gives none.
    package func duplicate() -> Int32 { isClosed ? -1 : duplicateDescriptor(descriptor) }

    /// Calls `writable` once when the socket takes bytes again, after a write that would have blocked.
    package func waitUntilWritable() {
        dispatchPrecondition(condition: .onQueue(readiness.queue))
        guard !isClosed else { return }
        watch.awaitWritable()
    }

    /// Stops `readable` events: the peer is held back by TCP.
    package func pauseReading() {
        dispatchPrecondition(condition: .onQueue(readiness.queue))
        guard !isClosed else { return }
        watch.pauseReading()
    }

    package func resumeReading() {
        dispatchPrecondition(condition: .onQueue(readiness.queue))
        guard !isClosed else { return }
        watch.resumeReading()
    }

    /// No more will be written; the peer reads the rest and then the end.
    package func shutdownWriting() { _ = shutdown(descriptor, SocketConstants.shutdownWrite) }

    /// Ends it; `released` follows when the descriptor is closed. Calling again does nothing.
    package func close() {
        dispatchPrecondition(condition: .onQueue(readiness.queue))
        guard !isClosed else { return }
        isClosed = true
        guard isActive else { return systemClose(descriptor) }
        watch.close()
    }
}

/// `struct iovec`, for modules that do not import the C library.
package typealias SystemVector = iovec

/// Closes a descriptor that nobody wants.
package func discardDescriptor(_ descriptor: Int32) { systemClose(descriptor) }
