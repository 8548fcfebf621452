#if os(Linux)
    /// A server's side of one TLS connection, over a descriptor that never blocks and that somebody else owns.
    ///
    /// Not thread-safe.
    package final class TLSServerSession {
        package enum Progress: Equatable {
            /// So many bytes; of a handshake, that it is over.
            case done(Int)
            /// Again when the descriptor can be read, or written: with the same bytes.
            case wantsRead, wantsWrite
            /// The peer has said that nothing follows.
            case end
            /// It breaks the rules of TLS, or is gone.
            case failed(String)
        }

        private let context: TLSServerContext
        private var library: OpenSSLServer { context.library }
        private let session: OpenSSL.Pointer
        private let stream: OpenSSL.Pointer
        private var isBroken = false

        /// The streams of all sessions. [BIO_meth_new(3)]
        private static let method = Result<OpenSSL.Address, SocketAddress.Failure> { () throws(SocketAddress.Failure) in
            let library = try OpenSSLServer.ofSystem.get()
            guard let method = library.newMethod(OpenSSLServer.Constant.sourceAndSink, "descriptor") else {
                throw SocketAddress.Failure("no memory for TLS")
            }
            _ = library.setRead(method) { stream, bytes, count in
                TLSServerSession.move(stream, OpenSSLServer.Constant.triesRead) { descriptor in
                    StreamSocket.read(descriptor, into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)))
                }
            }
            _ = library.setWrite(method) { stream, bytes, count in
                TLSServerSession.move(stream, OpenSSLServer.Constant.triesWrite) { descriptor in
                    var vector = SystemVector(iov_base: bytes, iov_len: Int(count))
                    return switch StreamSocket.write(descriptor, &vector, count: 1) {
                    case .wrote(let count): .bytes(count)
                    case .wouldBlock: .wouldBlock
                    case .failed(let code): .failed(code)
                    }
                }
            }
            _ = library.setControl(method) { stream, command, _, _ in
                switch command {
                case OpenSSLServer.Constant.flush: 1
                // Else an end without a word of TLS is a failure, and what is still to be said is lost.
                case OpenSSLServer.Constant.isAtEnd:
                    Int((try? OpenSSLServer.ofSystem.get())?.hasFlags(stream, OpenSSLServer.Constant.atEnd) ?? 0)
                default: 0
                }
            }
            return OpenSSL.Address(method)
        }

        private static func move(_ stream: OpenSSL.Pointer, _ retry: Int32, _ body: (Int32) -> StreamSocket.Reading) -> Int32 {
            guard let library = try? OpenSSLServer.ofSystem.get() else { return -1 }
            library.clearFlags(stream, OpenSSLServer.Constant.anyTry)
            switch body(Int32(truncatingIfNeeded: Int(bitPattern: library.data(stream)))) {
            case .bytes(let count): return Int32(count)
            case .end:
                library.setFlags(stream, OpenSSLServer.Constant.atEnd)
                return 0
            case .wouldBlock:
                library.setFlags(stream, retry)
                return -1
            case .failed: return -1
            }
        }

        /// - Throws: when there is no memory.
        package init(_ context: TLSServerContext, descriptor: Int32) throws(SocketAddress.Failure) {
            let library = context.library, base = library.base, method = try Self.method.get()
            guard let session = base.newSession(context.context) else { throw SocketAddress.Failure("no memory for TLS") }
            guard let stream = base.newStream(method.pointer) else {
                base.freeSession(session)
                throw SocketAddress.Failure("no memory for TLS")
            }
            library.setData(stream, OpenSSL.Pointer(bitPattern: Int(descriptor)))
            library.setReady(stream, 1)
            base.setStreams(session, stream, stream)
            library.setServer(session)
            (self.context, self.session, self.stream) = (context, session, stream)
        }

        deinit { library.base.freeSession(session) }

        /// Of the handshake and all that came behind it.
        package var bytesReceived: UInt64 { library.bytesRead(stream) }

        /// Goes on with the handshake.
        package func shakeHands() -> Progress { progress { $0.shakeHands(session) } }

        package func read(into buffer: UnsafeMutableRawBufferPointer) -> Progress {
            progress { $0.read(session, buffer.baseAddress, Int32(clamping: buffer.count)) }
        }

        package func write(_ bytes: UnsafeRawBufferPointer) -> Progress {
            guard !bytes.isEmpty else { return .done(0) }
            return progress { $0.write(session, bytes.baseAddress, Int32(clamping: bytes.count)) }
        }

        /// Tells the peer that nothing follows, as far as the descriptor takes it at once.
        package func end() {
            guard !isBroken else { return }
            library.base.clearErrors()
            _ = library.base.shutDown(session)
            library.base.clearErrors()
        }

        private func progress(_ body: (OpenSSL) -> Int32) -> Progress {
            let base = library.base
            base.clearErrors()
            let count = body(base)
            if count > 0 { return .done(Int(count)) }
            switch base.outcome(session, count) {
            case OpenSSL.Constant.wantsRead: return .wantsRead
            case OpenSSL.Constant.wantsWrite: return .wantsWrite
            case OpenSSL.Constant.closed: return .end
            default:
                isBroken = true
                let error = base.firstError()
                return .failed(error == 0 ? "the connection broke" : library.lastError())
            }
        }
    }

    extension OpenSSL {
        /// A pointer that any thread may have.
        struct Address: @unchecked Sendable {
            // Safe: a method of streams never changes once it is made.
            let pointer: Pointer
            init(_ pointer: Pointer) { self.pointer = pointer }
        }
    }
#endif
