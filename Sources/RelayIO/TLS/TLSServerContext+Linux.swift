#if os(Linux)
    /// A certificate and its key, as a server shows them: TLS 1.2 with ECDHE and AEAD, or 1.3; no session is taken up again. [TL3]
    package final class TLSServerContext: Sendable {
        let library: OpenSSLServer
        // Safe: OpenSSL counts who has it, and locks what it changes.
        nonisolated(unsafe) let context: OpenSSL.Pointer
        package let certificate: Certificate

        private static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20"

        /// Reads both from files in PEM, the certificate first, then those that it stands on.
        ///
        /// - Throws: which file is wrong, and why.
        package init(certificatePath: String, keyPath: String) throws(SocketAddress.Failure) {
            let library = try OpenSSLServer.ofSystem.get(), base = library.base
            guard let context = base.newContext(library.method()) else { throw SocketAddress.Failure("no memory for TLS") }
            do throws(SocketAddress.Failure) {
                try Self.set(library, context)
                for path in [certificatePath, keyPath] {
                    guard access(path, R_OK) == 0 else { throw SocketAddress.Failure("cannot read \(path)", code: errno) }
                }
                base.clearErrors()
                guard library.useChain(context, certificatePath) == 1 else {
                    throw SocketAddress.Failure("\(certificatePath) has no certificate in PEM: \(library.lastError())")
                }
                guard library.useKey(context, keyPath, OpenSSLServer.Constant.pem) == 1, library.checkKey(context) == 1 else {
                    throw SocketAddress.Failure(
                        "\(keyPath) is not the certificate's key in PEM without a password: \(library.lastError())")
                }
                guard let shown = library.certificate(context).flatMap({ Certificate(der: base.der(of: $0)) }) else {
                    throw SocketAddress.Failure("the certificate in \(certificatePath) cannot be read")
                }
                certificate = shown
            } catch {
                base.freeContext(context)
                throw error
            }
            (self.library, self.context) = (library, context)
        }

        deinit { library.base.freeContext(context) }

        private static func set(_ library: OpenSSLServer, _ context: OpenSSL.Pointer) throws(SocketAddress.Failure) {
            let base = library.base
            guard base.setContext(context, OpenSSL.Constant.setMinimalVersion, OpenSSL.Constant.version1_2, nil) == 1,
                library.setCiphers(context, ciphers) == 1, library.setTickets(context, 0) == 1
            else { throw SocketAddress.Failure("this machine's OpenSSL lacks TLS 1.2 with ECDHE") }
            _ = base.setOptions(context, OpenSSLServer.Constant.options)
            _ = base.setContext(context, OpenSSLServer.Constant.setMode, OpenSSLServer.Constant.modes, nil)
            _ = base.setContext(context, OpenSSLServer.Constant.setCache, 0, nil)
            // Else it asks at the terminal.
            library.setPassword(context) { _, _, _, _ in -1 }
        }
    }
#endif
