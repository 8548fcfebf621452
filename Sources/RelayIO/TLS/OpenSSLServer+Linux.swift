#if os(Linux)
    /// What a server wants of OpenSSL besides what `OpenSSL` has.
    struct OpenSSLServer: Sendable {
        typealias Pointer = OpenSSL.Pointer

        let base: OpenSSL
        let method: @convention(c) () -> Pointer?
        let setCiphers: @convention(c) (Pointer, UnsafePointer<CChar>) -> Int32
        let setTickets: @convention(c) (Pointer, Int) -> Int32
        let setPassword: @convention(c) (Pointer, (@convention(c) (Pointer?, Int32, Int32, Pointer?) -> Int32)?) -> Void
        let useChain: @convention(c) (Pointer, UnsafePointer<CChar>) -> Int32
        let useKey: @convention(c) (Pointer, UnsafePointer<CChar>, Int32) -> Int32
        let checkKey: @convention(c) (Pointer) -> Int32
        let certificate: @convention(c) (Pointer) -> Pointer?
        let setServer: @convention(c) (Pointer) -> Void

        // A stream of bytes that a descriptor has.
        let newMethod: @convention(c) (Int32, UnsafePointer<CChar>) -> Pointer?
        let setRead: @convention(c) (Pointer, @convention(c) (Pointer, Pointer?, Int32) -> Int32) -> Int32
        let setWrite: @convention(c) (Pointer, @convention(c) (Pointer, Pointer?, Int32) -> Int32) -> Int32
        let setControl: @convention(c) (Pointer, @convention(c) (Pointer, Int32, Int, Pointer?) -> Int) -> Int32
        let setReady: @convention(c) (Pointer, Int32) -> Void
        let setData: @convention(c) (Pointer, Pointer?) -> Void
        let data: @convention(c) (Pointer) -> Pointer?
        let setFlags: @convention(c) (Pointer, Int32) -> Void
        let clearFlags: @convention(c) (Pointer, Int32) -> Void
        let hasFlags: @convention(c) (Pointer, Int32) -> Int32
        let bytesRead: @convention(c) (Pointer) -> UInt64

        enum Constant {
            static let sourceAndSink: Int32 = 0x400 | 127, flush: Int32 = 11, isAtEnd: Int32 = 2
            static let triesRead: Int32 = 0x1 | 0x8, triesWrite: Int32 = 0x2 | 0x8, anyTry: Int32 = 0xF, atEnd: Int32 = 0x800
            static let setMode: Int32 = 33, setCache: Int32 = 44
            /// A write may take a part, and go on from another place; an idle session has no buffers.
            static let modes = 0x1 | 0x2 | 0x10
            /// Ends of TCP are ends, frames have lengths; no compression, tickets and new handshakes; this side chooses.
            static let options: UInt64 = 1 << 7 | 1 << 14 | 1 << 17 | 1 << 22 | 1 << 30
            static let pem: Int32 = 1
        }

        static let ofSystem = Result<OpenSSLServer, SocketAddress.Failure> { () throws(SocketAddress.Failure) in try OpenSSLServer() }

        private init() throws(SocketAddress.Failure) {
            base = try OpenSSL.ofSystem.get()
            let ssl = try SharedLibrary(SharedLibrary.ssl), crypto = try SharedLibrary(SharedLibrary.crypto)
            method = try ssl.function("TLS_server_method")
            setCiphers = try ssl.function("SSL_CTX_set_cipher_list")
            setTickets = try ssl.function("SSL_CTX_set_num_tickets")
            setPassword = try ssl.function("SSL_CTX_set_default_passwd_cb")
            useChain = try ssl.function("SSL_CTX_use_certificate_chain_file")
            useKey = try ssl.function("SSL_CTX_use_PrivateKey_file")
            checkKey = try ssl.function("SSL_CTX_check_private_key")
            certificate = try ssl.function("SSL_CTX_get0_certificate")
            setServer = try ssl.function("SSL_set_accept_state")
            newMethod = try crypto.function("BIO_meth_new")
            setRead = try crypto.function("BIO_meth_set_read")
            setWrite = try crypto.function("BIO_meth_set_write")
            setControl = try crypto.function("BIO_meth_set_ctrl")
            setReady = try crypto.function("BIO_set_init")
            setData = try crypto.function("BIO_set_data")
            data = try crypto.function("BIO_get_data")
            setFlags = try crypto.function("BIO_set_flags")
            clearFlags = try crypto.function("BIO_clear_flags")
            hasFlags = try crypto.function("BIO_test_flags")
            bytesRead = try crypto.function("BIO_number_read")
        }

        func lastError() -> String { base.errorText(base.firstError()).map { String(cString: $0) } ?? "no reason is told" }
    }
#endif
