#if os(Linux)
    /// A client's side of one TLS connection, without a socket: what came from the server goes in, what goes to it comes out.
    ///
    /// Nothing of the app's is taken or given before the server has proved who it is. It holds at most what one `receive` gave it, one
    /// record that is not whole, and `outputBytesMax` for the server.
    final class TLSSession {
        enum Reading: Equatable {
            case bytes(Int)
            /// More must be received first.
            case wantsMore
            /// The server has said that nothing follows.
            case end
        }

        /// Bytes that one `receive` takes, and one `write` at most: a record's.
        static let pieceBytesMax = 16 * 1024
        /// Of what the server has not taken: a record and what it has asked for. A server that asks on and does not read is left.
        private static let outputBytesMax = 64 * 1024

        private let library: OpenSSL
        private let session: OpenSSL.Pointer
        private let input: OpenSSL.Pointer
        private let outlet: OpenSSL.Pointer
        private let host: String
        private let protection: RelayAddress.Protection
        private(set) var isOpen = false
        private var hasHeard = false
        private var isBroken = false

        /// What waits to be written to the socket.
        private(set) var output: [UInt8] = []

        /// Begins a connection; it reads the system's roots if it wants them, which takes milliseconds.
        ///
        /// - Throws: when there is no OpenSSL 3, or no memory.
        init(to address: RelayAddress, _ library: OpenSSL? = nil) throws(SocketAddress.Failure) {
            let library = if let library { library } else { try OpenSSL.ofSystem.get() }
            guard let host = address.nameInCertificates else { throw TLSFailure.noName(address.host) }
            guard let context = library.newContext(library.clientMethod()) else { throw TLSFailure.notAgreed(host, "no memory") }
            // A session keeps its context.
            defer { library.freeContext(context) }
            guard library.setContext(context, OpenSSL.Constant.setMinimalVersion, OpenSSL.Constant.version1_2, nil) == 1 else {
                throw TLSFailure.notAgreed(host, "this machine does not know TLS 1.2")
            }
            _ = library.setOptions(context, OpenSSL.Constant.noRenegotiation)
            if address.protection == .certified, library.useSystemRoots(context) != 1 {
                throw TLSFailure.notAgreed(host, "the roots that this system trusts cannot be read")
            }
            guard let session = library.newSession(context), let input = library.newStream(library.memoryMethod()),
                let outlet = library.newStream(library.memoryMethod())
            else { throw TLSFailure.notAgreed(host, "no memory") }
            library.setStreams(session, input, outlet)
            library.setClient(session)
            (self.library, self.session, self.input, self.outlet) = (library, session, input, outlet)
            (self.host, protection) = (host, address.protection)
            try prepareVerification()
        }

        deinit { library.freeSession(session) }

        private func prepareVerification() throws(SocketAddress.Failure) {
            // An address is no name to ask for.
            let isAddress = library.parameters(session).map { library.setAddress($0, host) == 1 } ?? false
            if !isAddress, library.setSession(session, OpenSSL.Constant.setServerName, 0, host) != 1 {
                throw TLSFailure.noName(host)
            }
            switch protection {
            case .certified:
                library.setHostFlags(session, OpenSSL.Constant.noPartialWildcards | OpenSSL.Constant.neverSubject)
                guard isAddress || library.setHost(session, host) == 1 else { throw TLSFailure.noName(host) }
                library.setVerification(session, OpenSSL.Constant.verifyPeer, nil)
            case .pinned: library.setVerification(session, OpenSSL.Constant.verifyNothing, nil)
            case .plain: preconditionFailure("TLS for an address without")
            }
        }

        /// Takes what came from the server, at most `pieceBytesMax`; then `shakeHands` or `read` must be called until they want more.
        func receive(_ bytes: UnsafeRawBufferPointer) throws(SocketAddress.Failure) {
            precondition(bytes.count <= Self.pieceBytesMax, "received \(bytes.count) bytes at once")
            // The first record is one of the handshake or an alert.
            if !hasHeard, let first = bytes.first, first != 22, first != 21 { throw TLSFailure.noTLS(host, answer: bytes) }
            hasHeard = hasHeard || !bytes.isEmpty
            guard bytes.isEmpty || library.writeStream(input, bytes.baseAddress, Int32(bytes.count)) == bytes.count else {
                throw TLSFailure.notAgreed(host, "no memory for \(bytes.count) bytes")
            }
        }

        /// Goes on with the handshake.
        ///
        /// - Returns: whether the link is open: then the server is the one that the address names.
        /// - Throws: why it is not. What `output` holds then tells the server.
        func shakeHands() throws(SocketAddress.Failure) -> Bool {
            guard !isOpen else { return true }
            library.clearErrors()
            let result = library.shakeHands(session)
            let outcome = library.outcome(session, result)
            try collectOutput()
            guard result == 1 else {
                if outcome == OpenSSL.Constant.wantsRead || outcome == OpenSSL.Constant.wantsWrite { return false }
                isBroken = true
                throw refusal()
            }
            try judge()
            isOpen = true
            return true
        }

        /// Whether the server has the key that is wanted. Without a pin the handshake has failed unless the certificate is good.
        private func judge() throws(SocketAddress.Failure) {
            guard case .pinned(let pin) = protection else { return }
            let certificate = library.certificate(session)
            defer { library.freeCertificate(certificate) }
            let found = certificate.flatMap { Certificate(der: library.der(of: $0)) }?.pin
            guard found == pin else {
                isBroken = true
                throw TLSFailure.wrongKey(host, expected: pin, found: found)
            }
        }

        private func refusal() -> SocketAddress.Failure {
            let verdict = library.verification(session)
            guard case .certified = protection, verdict != OpenSSL.Verdict.fine else { return failure() }
            switch verdict {
            case OpenSSL.Verdict.wrongHost, OpenSSL.Verdict.wrongAddress:
                let certificate = library.element(library.verifiedChain(session), 0).flatMap { Certificate(der: library.der(of: $0)) }
                return TLSFailure.wrongName(host, names: certificate?.names ?? [])
            case OpenSSL.Verdict.expired: return TLSFailure.expired(host)
            case OpenSSL.Verdict.notYetValid: return TLSFailure.notYetValid(host)
            case _ where OpenSSL.Verdict.unknownRoots.contains(verdict): return TLSFailure.unknownRoot(host)
            default: return TLSFailure.wrongCertificate(host, library.verificationText(verdict).map { String(cString: $0) } ?? "\(verdict)")
            }
        }

        private func failure() -> SocketAddress.Failure {
            let words = library.errorText(library.firstError()).map { String(cString: $0) } ?? "the server broke its rules"
            return isOpen ? TLSFailure.broken(host, words) : TLSFailure.notAgreed(host, words)
        }

        /// Reads what the server has sent.
        ///
        /// - Throws: when the server breaks the rules of TLS, or asks without reading.
        func read(into buffer: UnsafeMutableRawBufferPointer) throws(SocketAddress.Failure) -> Reading {
            precondition(isOpen, "read before the server is known")
            library.clearErrors()
            let count = library.read(session, buffer.baseAddress, Int32(clamping: buffer.count))
            let outcome = library.outcome(session, count)
            try collectOutput()
            if count > 0 { return .bytes(Int(count)) }
            switch outcome {
            case OpenSSL.Constant.wantsRead, OpenSSL.Constant.wantsWrite: return .wantsMore
            case OpenSSL.Constant.closed: return .end
            default:
                isBroken = true
                throw failure()
            }
        }

        /// Takes bytes for the server: they are in `output` then.
        ///
        /// - Returns: how many were taken, `pieceBytesMax` at most.
        func write(_ bytes: UnsafeRawBufferPointer) throws(SocketAddress.Failure) -> Int {
            precondition(isOpen, "written before the server is known")
            guard !bytes.isEmpty else { return 0 }
            library.clearErrors()
            let count = library.write(session, bytes.baseAddress, Int32(min(bytes.count, Self.pieceBytesMax)))
            try collectOutput()
            guard count > 0 else {
                isBroken = true
                throw failure()
            }
            return Int(count)
        }

        /// Tells the server that nothing follows.
        func end() throws(SocketAddress.Failure) {
            guard isOpen, !isBroken else { return }
            _ = library.shutDown(session)
            try collectOutput()
        }

        /// So many bytes of `output` are written.
        func wrote(_ count: Int) { output.removeFirst(count) }

        private func collectOutput() throws(SocketAddress.Failure) {
            try withUnsafeTemporaryAllocation(byteCount: Self.pieceBytesMax, alignment: 1) { (buffer) throws(SocketAddress.Failure) in
                while case let count = library.readStream(outlet, buffer.baseAddress, Int32(buffer.count)), count > 0 {
                    output += buffer[..<Int(count)]
                    guard output.count <= Self.outputBytesMax else {
                        isBroken = true
                        throw TLSFailure.asksWithoutReading(host, bytes: output.count, max: Self.outputBytesMax)
                    }
                }
            }
        }
    }
#endif
