#if os(Linux)
    /// OpenSSL 3 as it lies on the machine: loaded when the first link wants TLS, without a header and without being linked.
    ///
    /// The types are those of OpenSSL's manual (docs.openssl.org/3.0/man3); its macros are calls of what they stand for.
    struct OpenSSL: Sendable {
        typealias Pointer = UnsafeMutableRawPointer

        // Contexts.
        let clientMethod: @convention(c) () -> Pointer?
        let newContext: @convention(c) (Pointer?) -> Pointer?
        let freeContext: @convention(c) (Pointer?) -> Void
        let setContext: @convention(c) (Pointer, Int32, Int, Pointer?) -> Int
        let setOptions: @convention(c) (Pointer, UInt64) -> UInt64
        let useSystemRoots: @convention(c) (Pointer) -> Int32

        // Sessions.
        let newSession: @convention(c) (Pointer) -> Pointer?
        let freeSession: @convention(c) (Pointer?) -> Void
        let setSession: @convention(c) (Pointer, Int32, Int, UnsafePointer<CChar>) -> Int
        let setVerification: @convention(c) (Pointer, Int32, Pointer?) -> Void
        let setHost: @convention(c) (Pointer, UnsafePointer<CChar>) -> Int32
        let setHostFlags: @convention(c) (Pointer, UInt32) -> Void
        let parameters: @convention(c) (Pointer) -> Pointer?
        let setAddress: @convention(c) (Pointer, UnsafePointer<CChar>) -> Int32
        let setStreams: @convention(c) (Pointer, Pointer, Pointer) -> Void
        let setClient: @convention(c) (Pointer) -> Void
        let shakeHands: @convention(c) (Pointer) -> Int32
        let read: @convention(c) (Pointer, Pointer?, Int32) -> Int32
        let write: @convention(c) (Pointer, UnsafeRawPointer?, Int32) -> Int32
        let shutDown: @convention(c) (Pointer) -> Int32
        let outcome: @convention(c) (Pointer, Int32) -> Int32

        // What a server has shown.
        let verification: @convention(c) (Pointer) -> Int
        let verificationText: @convention(c) (Int) -> UnsafePointer<CChar>?
        let certificate: @convention(c) (Pointer) -> Pointer?
        let freeCertificate: @convention(c) (Pointer?) -> Void
        let encodeCertificate: @convention(c) (Pointer, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
        let verifiedChain: @convention(c) (Pointer) -> Pointer?
        let element: @convention(c) (Pointer?, Int32) -> Pointer?

        // Bytes in memory, and errors of this thread.
        let memoryMethod: @convention(c) () -> Pointer?
        let newStream: @convention(c) (Pointer?) -> Pointer?
        let readStream: @convention(c) (Pointer, Pointer?, Int32) -> Int32
        let writeStream: @convention(c) (Pointer, UnsafeRawPointer?, Int32) -> Int32
        let clearErrors: @convention(c) () -> Void
        let firstError: @convention(c) () -> UInt
        let errorText: @convention(c) (UInt) -> UnsafePointer<CChar>?

        /// Numbers of OpenSSL's headers.
        enum Constant {
            static let setMinimalVersion: Int32 = 123, setServerName: Int32 = 55, version1_2 = 0x0303
            static let noRenegotiation: UInt64 = 1 << 30, cleansNothingUp: UInt64 = 0x80000
            static let verifyNothing: Int32 = 0, verifyPeer: Int32 = 1
            /// A name is looked for where RFC 6125 wants it, not in the subject; `*` stands for a whole label.
            static let noPartialWildcards: UInt32 = 0x4, neverSubject: UInt32 = 0x20
            static let wantsRead: Int32 = 2, wantsWrite: Int32 = 3, closed: Int32 = 6
        }

        /// Why a certificate is refused (x509_vfy.h).
        enum Verdict {
            static let fine = 0, notYetValid = 9, expired = 10, wrongHost = 62, wrongAddress = 64
            /// Signed by itself, or by somebody whom nobody knows.
            static let unknownRoots = [18, 19, 20, 21]
        }

        static let ofSystem = Result<OpenSSL, SocketAddress.Failure> { () throws(SocketAddress.Failure) in
            try OpenSSL(libraries: (SharedLibrary.ssl, SharedLibrary.crypto))
        }

        init(libraries: (ssl: String, crypto: String)) throws(SocketAddress.Failure) {
            let ssl = try SharedLibrary(libraries.ssl), crypto = try SharedLibrary(libraries.crypto)
            // Else it frees what a handshake on another thread uses when the process ends.
            let initialize: @convention(c) (UInt64, Pointer?) -> Int32 = try crypto.function("OPENSSL_init_crypto")
            _ = initialize(Constant.cleansNothingUp, nil)
            clientMethod = try ssl.function("TLS_client_method")
            newContext = try ssl.function("SSL_CTX_new")
            freeContext = try ssl.function("SSL_CTX_free")
            setContext = try ssl.function("SSL_CTX_ctrl")
            setOptions = try ssl.function("SSL_CTX_set_options")
            useSystemRoots = try ssl.function("SSL_CTX_set_default_verify_paths")
            newSession = try ssl.function("SSL_new")
            freeSession = try ssl.function("SSL_free")
            setSession = try ssl.function("SSL_ctrl")
            setVerification = try ssl.function("SSL_set_verify")
            setHost = try ssl.function("SSL_set1_host")
            setHostFlags = try ssl.function("SSL_set_hostflags")
            parameters = try ssl.function("SSL_get0_param")
            setAddress = try crypto.function("X509_VERIFY_PARAM_set1_ip_asc")
            setStreams = try ssl.function("SSL_set_bio")
            setClient = try ssl.function("SSL_set_connect_state")
            shakeHands = try ssl.function("SSL_do_handshake")
            read = try ssl.function("SSL_read")
            write = try ssl.function("SSL_write")
            shutDown = try ssl.function("SSL_shutdown")
            outcome = try ssl.function("SSL_get_error")
            verification = try ssl.function("SSL_get_verify_result")
            verificationText = try crypto.function("X509_verify_cert_error_string")
            certificate = try ssl.function("SSL_get1_peer_certificate")
            freeCertificate = try crypto.function("X509_free")
            encodeCertificate = try crypto.function("i2d_X509")
            verifiedChain = try ssl.function("SSL_get0_verified_chain")
            element = try crypto.function("OPENSSL_sk_value")
            memoryMethod = try crypto.function("BIO_s_mem")
            newStream = try crypto.function("BIO_new")
            readStream = try crypto.function("BIO_read")
            writeStream = try crypto.function("BIO_write")
            clearErrors = try crypto.function("ERR_clear_error")
            firstError = try crypto.function("ERR_peek_error")
            errorText = try crypto.function("ERR_reason_error_string")
        }

        func der(of certificate: Pointer) -> [UInt8] {
            let count = encodeCertificate(certificate, nil)
            guard count > 0 else { return [] }
            return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, used in
                var end = buffer.baseAddress
                used = Int(max(encodeCertificate(certificate, &end), 0))
            }
        }
    }
#endif
