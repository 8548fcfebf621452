import RelayIO

/// One non-blocking TCP socket of a thread that has a `Poller`. It owns its descriptor until `close`.
package struct PolledSocket: Sendable {
    package let descriptor: Int32

    /// Begins to connect; the socket is writable when that has succeeded, or failed, which the first read tells.
    ///
    /// - Parameters:
    ///   - source: the address of this machine to connect from, with port 0; the system's choice if `nil`.
    ///   - receiveBufferBytes: fixes the window of what is unread; the system's choice if `nil`.
    /// - Throws: when it cannot even begin; the text names the address.
    package init(connectingTo target: SocketAddress, from source: SocketAddress? = nil, receiveBufferBytes: Int32? = nil)
        throws(SocketAddress.Failure)
    {
        descriptor = socket(target.family, SocketConstants.stream, 0)
        guard descriptor >= 0 else { throw SocketAddress.Failure("a socket for \(target)", code: errno) }
        keepFromBlocking(descriptor)
        SocketConstants.quiet(descriptor)
        SocketConstants.set(descriptor, SocketConstants.tcp, TCP_NODELAY, 1)
        if let receiveBufferBytes { SocketConstants.set(descriptor, SOL_SOCKET, SO_RCVBUF, receiveBufferBytes) }
        if let source {
            if let option = SocketConstants.bindWithoutPort { SocketConstants.set(descriptor, SocketConstants.ipv4, option, 1) }
            guard source.withPointer({ systemBind(descriptor, $0, $1) }) == 0 else { throw failed("cannot connect from \(source)") }
        }
        guard target.withPointer({ systemConnect(descriptor, $0, $1) }) == 0 || errno == EINPROGRESS else {
            throw failed("cannot connect to \(target)")
        }
    }

    private func failed(_ what: String) -> SocketAddress.Failure {
        let code = errno
        systemClose(descriptor)
        return SocketAddress.Failure(what, code: code)
    }

    /// Reads once.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamSocket.Reading { StreamSocket.read(descriptor, into: buffer) }

    /// Writes what the socket takes at once.
    package func write(_ bytes: UnsafeRawBufferPointer) -> StreamSocket.Writing {
        while true {
            let written = send(descriptor, bytes.baseAddress, bytes.count, SocketConstants.sendFlags)
            if written >= 0 { return .wrote(written) }
            let code = errno
            if code == EINTR { continue }
            return code == EAGAIN || code == EWOULDBLOCK || code == ENOTCONN ? .wouldBlock : .failed(code)
        }
    }

    /// - Parameter resets: nothing of it stays in the system: for a program that opens many thousands, one after the other.
    package func close(resets: Bool) {
        if resets {
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        }
        systemClose(descriptor)
    }
}
