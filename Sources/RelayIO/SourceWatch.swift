internal import Dispatch

/// A descriptor that Dispatch watches: for systems whose Dispatch stands on kqueue. (On Linux see `Readiness`.)
///
/// Sources are made and cancelled on their queue, and the descriptor is closed when the cancel handlers of both have run.
final class SourceWatch: DescriptorWatch {
    private let descriptor: Int32
    private let queue: DispatchQueue
    private var readSource: (any DispatchSourceRead)?
    private var writeSource: (any DispatchSourceWrite)?
    private let turnEnded: @Sendable () -> Void
    private var handlers = StreamSocket.Handlers.none
    private var tag: UInt64 = 0
    private var isPaused = false
    private var isAwaitingWritable = false
    /// Left when the cancel handler of each source has run.
    private let uncancelled = DispatchGroup()

    /// Its source tells again of what is unread, so that a short read need not be followed by another one, and of the end.
    var mayHaveEnded: Bool { false }

    init(_ descriptor: Int32, queue: DispatchQueue, turnEnded: @escaping @Sendable () -> Void) {
        self.descriptor = descriptor
        self.queue = queue
        self.turnEnded = turnEnded
    }

    func activate(_ handlers: StreamSocket.Handlers, tag: UInt64) -> Int32 {
        (self.handlers, self.tag) = (handlers, tag)
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { @Sendable [turnEnded] in
            handlers.readable(tag)
            turnEnded()
        }
        uncancelled.enter()
        source.setCancelHandler { @Sendable [uncancelled] in uncancelled.leave() }
        readSource = source
        source.activate()
        return 0
    }

    func pauseReading() {
        guard !isPaused else { return }
        isPaused = true
        readSource?.suspend()
    }

    func resumeReading() {
        guard isPaused else { return }
        isPaused = false
        readSource?.resume()
    }

    func awaitWritable() {
        guard !isAwaitingWritable else { return }
        isAwaitingWritable = true
        if let writeSource { return writeSource.resume() }
        let source = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [weak self] in self?.becameWritable() }
        uncancelled.enter()
        source.setCancelHandler { @Sendable [uncancelled] in uncancelled.leave() }
        writeSource = source
        source.activate()
    }

    private func becameWritable() {
        guard isAwaitingWritable else { return }
        isAwaitingWritable = false
        writeSource?.suspend()
        handlers.writable(tag)
        turnEnded()
    }

    func close() {
        // A suspended source does not run its cancel handler.
        if isPaused { readSource?.resume() }
        if !isAwaitingWritable { writeSource?.resume() }
        isAwaitingWritable = false
        readSource?.cancel()
        writeSource?.cancel()
        readSource = nil
        writeSource = nil
        uncancelled.notify(queue: queue) { @Sendable [descriptor, handlers, tag] in
            systemClose(descriptor)
            handlers.released(tag)
        }
        handlers = .none
    }
}
