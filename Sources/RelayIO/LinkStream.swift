/// A connected link as a client reads and writes it, on one serial queue: a socket, or TLS over one.
package protocol LinkStream: AnyObject, Sendable {
    /// Begins to serve it; `readable` is called first when bytes, the end or a failure are there.
    ///
    /// - Parameter tag: what the handlers get.
    func activate(_ handlers: StreamSocket.Handlers, tag: UInt64)

    /// Reads once. The caller goes on until it would block, or the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamSocket.Reading

    /// Writes what the link takes at once: perhaps a part.
    func write(_ bytes: UnsafeRawBufferPointer) -> StreamSocket.Writing

    /// Calls `writable` once when the link takes bytes again, after a write that would have blocked.
    func waitUntilWritable()

    /// Ends it. Calling again does nothing.
    func close()

    /// Why it failed, where no system call did.
    var failure: SocketAddress.Failure? { get }
}

extension StreamSocket: LinkStream {
    package func write(_ bytes: UnsafeRawBufferPointer) -> Writing {
        var vector = SystemVector(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
        return write(&vector, count: 1)
    }

    package var failure: SocketAddress.Failure? { nil }
}

/// A link that is connected, and protected as its address says, and that no queue serves yet.
package struct ConnectedLink: Sendable {
    private let serving: @Sendable (Readiness) -> any LinkStream
    private let discarding: @Sendable () -> Void

    init(serve: @escaping @Sendable (Readiness) -> any LinkStream, discard: @escaping @Sendable () -> Void) {
        serving = serve
        discarding = discard
    }

    /// Connects. Blocks: to be called on a queue that has nothing else to do.
    ///
    /// - Parameters:
    ///   - timeoutMilliseconds: for all of it, once the resolver has told the host's addresses.
    ///   - isCancelled: asked at least every 250 ms.
    /// - Throws: why there is no link that is protected as the address says; then nothing of the app's was sent.
    package static func connect(
        to address: RelayAddress, timeoutMilliseconds: Int, isCancelled: () -> Bool
    ) throws(SocketAddress.Failure) -> ConnectedLink {
        switch address.protection {
        case .plain:
            let descriptor = try Connector.connect(to: address, timeoutMilliseconds: timeoutMilliseconds, isCancelled: isCancelled)
            return ConnectedLink(
                serve: { StreamSocket(adopting: descriptor, on: $0) }, discard: { discardDescriptor(descriptor) })
        case .certified, .pinned:
            return try protected(address, timeoutMilliseconds: timeoutMilliseconds, isCancelled: isCancelled)
        }
    }

    /// The same for a server that says a line in the clear before TLS begins. [NATS]
    ///
    /// - Parameter lineBytesMax: of that line.
    /// - Returns: the link and, of a protected one, the line with its end.
    package static func connect(
        to address: RelayAddress, behindLineOf lineBytesMax: Int, timeoutMilliseconds: Int, isCancelled: () -> Bool
    ) throws(SocketAddress.Failure) -> (link: ConnectedLink, line: [UInt8]) {
        guard address.protection != .plain else {
            return (try connect(to: address, timeoutMilliseconds: timeoutMilliseconds, isCancelled: isCancelled), [])
        }
        return try protected(address, behindLineOf: lineBytesMax, timeoutMilliseconds: timeoutMilliseconds, isCancelled: isCancelled)
    }

    /// Hands it to a queue: on the queue, once, and never after `discard`.
    package func serve(on readiness: Readiness) -> any LinkStream { serving(readiness) }

    /// Closes it instead of serving it.
    package func discard() { discarding() }
}
