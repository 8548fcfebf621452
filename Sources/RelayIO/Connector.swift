/// Makes a TCP connection, trying each address of a host in turn.
package enum Connector {
    /// Blocks: to be called on a queue that has nothing else to do.
    ///
    /// - Parameter timeoutMilliseconds: for all addresses together.
    /// - Returns: a connected descriptor, the caller's now.
    /// - Throws: why the last address failed; the text names it.
    package static func connect(to address: RelayAddress, timeoutMilliseconds: Int) throws(SocketAddress.Failure) -> Int32 {
        let end = SystemClock.monotonicNanoseconds() + UInt64(timeoutMilliseconds) * 1_000_000
        var failure = SocketAddress.Failure("\(address) has no address")
        for target in try SocketAddress.resolve(host: address.host, port: address.port) {
            let now = SystemClock.monotonicNanoseconds()
            guard now < end else { break }
            do throws(SocketAddress.Failure) {
                return try connect(to: target, timeoutMilliseconds: Int32(clamping: (end - now) / 1_000_000))
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private static func connect(to target: SocketAddress, timeoutMilliseconds: Int32) throws(SocketAddress.Failure) -> Int32 {
        let descriptor = socket(target.family, SocketConstants.stream, 0)
        guard descriptor >= 0 else { throw SocketAddress.Failure("a socket for \(target)", code: errno) }
        keepFromBlocking(descriptor)
        var code = target.withPointer { systemConnect(descriptor, $0, $1) } == 0 ? 0 : errno
        if code == EINPROGRESS {
            var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            code = poll(&poller, 1, timeoutMilliseconds) > 0 ? socketError(descriptor) : ETIMEDOUT
        }
        guard code == 0 else {
            systemClose(descriptor)
            throw SocketAddress.Failure("cannot connect to \(target)", code: code)
        }
        return descriptor
    }

    private static func socketError(_ descriptor: Int32) -> Int32 {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        return code
    }
}
