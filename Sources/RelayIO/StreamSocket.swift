package import Dispatch

/// One connected, non-blocking TCP socket, served by one serial queue.
///
/// Built around what Dispatch on Linux does not forgive (swift-corelibs-libdispatch #833, #949): the read handler must
/// drain to EAGAIN or the end; the write source sits on a `dup` of the descriptor and exists only after EAGAIN; sources
/// are made and cancelled on their queue; descriptors are closed in the cancel handlers. Otherwise cancel handlers do
/// not run, and descriptors stay open.
package final class StreamSocket: @unchecked Sendable {
    // Safe: everything below is touched on `queue` only, which each entry checks.
    private let queue: DispatchQueue
    private let descriptor: Int32
    private var readSource: (any DispatchSourceRead)?
    private var writeSource: (any DispatchSourceWrite)?
    private var isWaitingToWrite = false
    private var isReadingPaused = false
    private var isClosed = false
    /// Sources whose cancel handler has not run.
    private var openSources = 0
    private var handlers = Handlers()

    package struct Handlers: Sendable {
        package var readable: @Sendable () -> Void = {}
        package var writable: @Sendable () -> Void = {}
        /// Every descriptor is closed; called once, after `close`.
        package var released: @Sendable () -> Void = {}

        package init() {}
    }

    package enum Reading: Sendable, Equatable { case bytes(Int), wouldBlock, end, failed(Int32) }
    package enum Writing: Sendable, Equatable { case wrote(Int), wouldBlock, failed(Int32) }

    /// Unsent bytes the kernel takes before it says EAGAIN: what is not sent yet stays in our queue, where it can be shed.
    private static let notSentLowWaterBytes: Int32 = 16 * 1024

    /// Takes over a connected descriptor.
    package init(adopting descriptor: Int32, queue: DispatchQueue) {
        self.descriptor = descriptor
        self.queue = queue
        Self.prepare(descriptor)
    }

    static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        SocketConstants.quiet(descriptor)
        SocketConstants.set(descriptor, SocketConstants.tcp, TCP_NODELAY, 1)
        if let option = SocketConstants.notSentLowWater {
            SocketConstants.set(descriptor, SocketConstants.tcp, option, notSentLowWaterBytes)
        }
    }

    /// Begins to serve the socket. On the queue.
    package func activate(_ handlers: Handlers) {
        dispatchPrecondition(condition: .onQueue(queue))
        self.handlers = handlers
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { @Sendable [weak self] in self?.handlers.readable() }
        source.setCancelHandler { @Sendable [self, descriptor] in sourceCancelled(descriptor) }
        openSources += 1
        readSource = source
        source.activate()
    }

    private func sourceCancelled(_ descriptor: Int32) {
        systemClose(descriptor)
        openSources -= 1
        if openSources == 0 {
            let released = handlers.released
            handlers = Handlers()
            released()
        }
    }

    /// Reads once. The caller goes on until EAGAIN or the end, or comes back by itself: never by waiting for an event.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
        guard !isClosed else { return .end }
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            let code = errno
            if code == EINTR { continue }
            return code == EAGAIN || code == EWOULDBLOCK ? .wouldBlock : .failed(code)
        }
    }

    /// Writes what the socket takes at once.
    package func write(_ vectors: UnsafeMutablePointer<iovec>, count: Int) -> Writing {
        guard !isClosed else { return .failed(EPIPE) }
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

    /// Calls `writable` once when the socket takes bytes again.
    package func waitUntilWritable() {
        dispatchPrecondition(condition: .onQueue(queue))
        guard !isClosed, !isWaitingToWrite else { return }
        isWaitingToWrite = true
        if let writeSource { return writeSource.resume() }
        let duplicate = dup(descriptor)
        guard duplicate >= 0 else {
            // Out of descriptors: look again soon instead of losing the connection.
            queue.asyncAfter(deadline: .now() + .milliseconds(20)) { @Sendable [weak self] in self?.becameWritable() }
            return
        }
        _ = fcntl(duplicate, F_SETFD, FD_CLOEXEC)
        let source = DispatchSource.makeWriteSource(fileDescriptor: duplicate, queue: queue)
        source.setEventHandler { @Sendable [weak self] in self?.becameWritable() }
        source.setCancelHandler { @Sendable [self] in sourceCancelled(duplicate) }
        openSources += 1
        writeSource = source
        source.activate()
    }

    private func becameWritable() {
        guard !isClosed, isWaitingToWrite else { return }
        isWaitingToWrite = false
        writeSource?.suspend()
        handlers.writable()
    }

    /// Stops `readable` events: the peer is held back by TCP.
    package func pauseReading() {
        dispatchPrecondition(condition: .onQueue(queue))
        guard !isClosed, !isReadingPaused else { return }
        isReadingPaused = true
        readSource?.suspend()
    }

    package func resumeReading() {
        dispatchPrecondition(condition: .onQueue(queue))
        guard !isClosed, isReadingPaused else { return }
        isReadingPaused = false
        readSource?.resume()
    }

    /// No more will be written; the peer reads the rest and then the end.
    package func shutdownWriting() { _ = shutdown(descriptor, SocketConstants.shutdownWrite) }

    /// Ends it; `released` follows when the descriptors are closed. Calling again does nothing.
    package func close() {
        dispatchPrecondition(condition: .onQueue(queue))
        guard !isClosed else { return }
        isClosed = true
        guard let readSource else {
            systemClose(descriptor)
            return
        }
        if isReadingPaused { readSource.resume() }
        readSource.cancel()
        if let writeSource {
            // A suspended source does not run its cancel handler.
            if !isWaitingToWrite { writeSource.resume() }
            writeSource.cancel()
        }
        self.readSource = nil
        writeSource = nil
    }
}

/// `struct iovec`, for those who have no C library in sight.
package typealias SystemVector = iovec

/// Closes a descriptor that nobody wants.
package func discardDescriptor(_ descriptor: Int32) { systemClose(descriptor) }
