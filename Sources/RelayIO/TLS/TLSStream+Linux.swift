#if os(Linux)
    extension ConnectedLink {
        static func protected(
            _ address: RelayAddress, timeoutMilliseconds: Int, isCancelled: () -> Bool
        ) throws(SocketAddress.Failure) -> ConnectedLink {
            try protected(address, behindLineOf: 0, timeoutMilliseconds: timeoutMilliseconds, isCancelled: isCancelled).link
        }

        /// - Parameter lineBytesMax: of a line in the clear that the server says first; 0: it says none.
        static func protected(
            _ address: RelayAddress, behindLineOf lineBytesMax: Int, timeoutMilliseconds: Int, isCancelled: () -> Bool
        ) throws(SocketAddress.Failure) -> (link: ConnectedLink, line: [UInt8]) {
            let session = try TLSSession(to: address)
            let targets = try SocketAddress.resolve(host: address.host, port: address.port)
            let end = SystemClock.monotonicNanoseconds() + UInt64(timeoutMilliseconds) * 1_000_000
            let descriptor = try Connector.connect(
                toFirstOf: targets, timeoutMilliseconds: timeoutMilliseconds, isCancelled: isCancelled)
            var line: [UInt8] = []
            do throws(SocketAddress.Failure) {
                let greeting = TLSGreeting(descriptor: descriptor, session: session, host: address.host, end: end)
                if lineBytesMax > 0 { line = try greeting.line(bytesMax: lineBytesMax, isCancelled) }
                try greeting.run(isCancelled: isCancelled)
            } catch {
                systemClose(descriptor)
                throw error
            }
            let opened = OpenedSession(session)
            let link = ConnectedLink(
                serve: { TLSStream(StreamSocket(adopting: descriptor, on: $0), opened.session, on: $0) },
                discard: { systemClose(descriptor) })
            return (link, line)
        }

        /// A session between two threads.
        private final class OpenedSession: @unchecked Sendable {
            // Safe: the connecting thread has left it when the queue takes it.
            let session: TLSSession
            init(_ session: TLSSession) { self.session = session }
        }
    }

    /// Agrees on TLS over a descriptor that never blocks, on a thread that may.
    private struct TLSGreeting {
        /// A cancelled one ends within this time.
        private static let patienceMilliseconds: UInt64 = 250

        let descriptor: Int32
        let session: TLSSession
        let host: String
        /// When it is too late, in nanoseconds of the monotonic clock.
        let end: UInt64

        func run(isCancelled: () -> Bool) throws(SocketAddress.Failure) {
            while true {
                let isOpen: Bool
                do throws(SocketAddress.Failure) {
                    isOpen = try session.shakeHands()
                } catch {
                    // The server may log why. It need not hear it.
                    _ = send()
                    throw error
                }
                while let failure = send() {
                    guard failure == EAGAIN else { throw TLSFailure.ended(host) }
                    try wait(POLLOUT, isCancelled)
                }
                if isOpen { return }
                try receive(isCancelled)
            }
        }

        /// Reads up to the end of a line, and no byte of what follows it.
        func line(bytesMax: Int, _ isCancelled: () -> Bool) throws(SocketAddress.Failure) -> [UInt8] {
            var line: [UInt8] = []
            while line.last != UInt8(ascii: "\n") {
                guard line.count < bytesMax else { throw TLSFailure.notAgreed(host, "its first line has more than \(bytesMax) bytes") }
                var byte: UInt8 = 0
                switch withUnsafeMutableBytes(of: &byte, { StreamSocket.read(descriptor, into: $0) }) {
                case .bytes: line.append(byte)
                case .wouldBlock: try wait(POLLIN, isCancelled)
                case .end, .failed: throw TLSFailure.ended(host)
                }
            }
            return line
        }

        /// - Returns: why `output` is not all written.
        private func send() -> Int32? {
            while !session.output.isEmpty {
                let writing = session.output.withUnsafeBytes { bytes in
                    var vector = SystemVector(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
                    return StreamSocket.write(descriptor, &vector, count: 1)
                }
                switch writing {
                case .wrote(let count): session.wrote(count)
                case .wouldBlock: return EAGAIN
                case .failed(let code): return code
                }
            }
            return nil
        }

        private func receive(_ isCancelled: () -> Bool) throws(SocketAddress.Failure) {
            try withUnsafeTemporaryAllocation(byteCount: TLSSession.pieceBytesMax, alignment: 1) {
                (buffer) throws(SocketAddress.Failure) in
                while true {
                    switch StreamSocket.read(descriptor, into: buffer) {
                    case .bytes(let count): return try session.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    case .wouldBlock: try wait(POLLIN, isCancelled)
                    case .end, .failed: throw TLSFailure.ended(host)
                    }
                }
            }
        }

        private func wait(_ event: Int32, _ isCancelled: () -> Bool) throws(SocketAddress.Failure) {
            while !isCancelled() {
                let now = SystemClock.monotonicNanoseconds()
                guard now < end else { throw TLSFailure.timedOut(host) }
                var poller = pollfd(fd: descriptor, events: Int16(event), revents: 0)
                if poll(&poller, 1, Int32(min((end - now) / 1_000_000 + 1, Self.patienceMilliseconds))) > 0 { return }
            }
            throw SocketAddress.Failure("the attempt to connect", code: ECANCELED)
        }
    }

    /// TLS over a socket, on the socket's queue.
    ///
    /// A write is told as done when its record is made: at most one record waits here while the socket takes nothing.
    final class TLSStream: LinkStream, @unchecked Sendable {
        // Safe: everything below is touched on the queue of `readiness` only.
        private let socket: StreamSocket
        private let session: TLSSession
        private let readiness: Readiness
        private var handlers = StreamSocket.Handlers.none
        private var isClosed = false
        private(set) var failure: SocketAddress.Failure?
        private let received = UnsafeMutableRawBufferPointer.allocate(byteCount: TLSSession.pieceBytesMax, alignment: 16)

        init(_ socket: StreamSocket, _ session: TLSSession, on readiness: Readiness) {
            (self.socket, self.session, self.readiness) = (socket, session, readiness)
        }

        deinit { received.deallocate() }

        func activate(_ handlers: StreamSocket.Handlers, tag: UInt64) {
            self.handlers = handlers
            let own = StreamSocket.Handlers(
                readable: handlers.readable, writable: { @Sendable [weak self] tag in self?.becameWritable(tag) },
                released: handlers.released)
            socket.activate(own, tag: tag)
            // What came behind the handshake is in the session, and the socket does not tell of it.
            readiness.perform { @Sendable [weak self] in
                if let self, !isClosed { handlers.readable(tag) }
            }
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamSocket.Reading {
            guard !isClosed else { return .end }
            guard failure == nil else { return .failed(EPROTO) }
            do throws(SocketAddress.Failure) {
                while true {
                    let reading = try session.read(into: buffer)
                    // The server may want an answer.
                    if !session.output.isEmpty, sendOutput() == .wouldBlock { socket.waitUntilWritable() }
                    switch reading {
                    case .bytes(let count): return .bytes(count)
                    case .end: return .end
                    case .wantsMore: break
                    }
                    let more = socket.read(into: received)
                    guard case .bytes(let count) = more else { return more }
                    try session.receive(UnsafeRawBufferPointer(rebasing: received[..<count]))
                }
            } catch {
                failure = error
                return .failed(EPROTO)
            }
        }

        func write(_ bytes: UnsafeRawBufferPointer) -> StreamSocket.Writing {
            guard !isClosed, failure == nil else { return .failed(EPIPE) }
            var taken = 0
            do throws(SocketAddress.Failure) {
                while true {
                    if !session.output.isEmpty {
                        switch sendOutput() {
                        case .wrote: break
                        case .wouldBlock:
                            // What was taken will be sent; with nothing taken the caller waits by itself.
                            guard taken > 0 else { return .wouldBlock }
                            socket.waitUntilWritable()
                            return .wrote(taken)
                        case .failed(let code): return .failed(code)
                        }
                    }
                    guard taken < bytes.count else { return .wrote(taken) }
                    taken += try session.write(UnsafeRawBufferPointer(rebasing: bytes[taken...]))
                }
            } catch {
                failure = error
                return .failed(EPROTO)
            }
        }

        func waitUntilWritable() { socket.waitUntilWritable() }

        func close() {
            guard !isClosed else { return }
            isClosed = true
            // The last word, if the socket takes it: nobody waits for it.
            if failure == nil, (try? session.end()) != nil { _ = sendOutput() }
            socket.close()
        }

        private func becameWritable(_ tag: UInt64) {
            guard !isClosed else { return }
            // A failure is found by who reads and writes.
            if sendOutput() == .wouldBlock { return socket.waitUntilWritable() }
            handlers.writable(tag)
        }

        /// Writes what the session has for the server: all of it, or what the socket takes.
        private func sendOutput() -> StreamSocket.Writing {
            var sent = 0
            while !session.output.isEmpty {
                let writing = session.output.withUnsafeBytes { socket.write($0) }
                guard case .wrote(let count) = writing else { return writing }
                session.wrote(count)
                sent += count
            }
            return .wrote(sent)
        }
    }
#endif
