#if os(Linux)
    import RelayIO

    /// Makes keys and certificates that sign themselves, by OpenSSL 3.
    package struct CertificateMaker {
        private typealias Pointer = SharedLibrary.Pointer
        private typealias Make = @convention(c) () -> Pointer?
        private typealias Get = @convention(c) (Pointer?) -> Pointer?
        private typealias Free = @convention(c) (Pointer?) -> Void
        private typealias Set = @convention(c) (Pointer?, Pointer?) -> Int32

        private let crypto: SharedLibrary

        /// X9.62 prime256v1, and the extension "subject alternative name". [obj_mac.h]
        private static let p256: Int32 = 415, alternativeName: Int32 = 85, ellipticCurve: Int32 = 408
        private static let utf8Text: Int32 = 0x1000

        /// - Throws: when the system has no OpenSSL 3.
        package init() throws(SocketAddress.Failure) { crypto = try SharedLibrary(SharedLibrary.crypto) }

        /// A private key of P-256, in PEM.
        package func key() throws(SocketAddress.Failure) -> [UInt8] {
            let newContext: @convention(c) (Int32, Pointer?) -> Pointer? = try crypto.function("EVP_PKEY_CTX_new_id")
            let freeContext: Free = try crypto.function("EVP_PKEY_CTX_free")
            let begin: @convention(c) (Pointer?) -> Int32 = try crypto.function("EVP_PKEY_keygen_init")
            let setCurve: @convention(c) (Pointer?, Int32) -> Int32 = try crypto.function("EVP_PKEY_CTX_set_ec_paramgen_curve_nid")
            let make: @convention(c) (Pointer?, UnsafeMutablePointer<Pointer?>) -> Int32 = try crypto.function("EVP_PKEY_keygen")
            let freeKey: Free = try crypto.function("EVP_PKEY_free")
            let write: @convention(c) (Pointer?, Pointer?, Pointer?, Pointer?, Int32, Pointer?, Pointer?) -> Int32 =
                try crypto.function("PEM_write_bio_PKCS8PrivateKey")
            let context = newContext(Self.ellipticCurve, nil)
            defer { freeContext(context) }
            var key: Pointer?
            guard context != nil, begin(context) == 1, setCurve(context, Self.p256) == 1, make(context, &key) == 1 else {
                throw SocketAddress.Failure("OpenSSL draws no key")
            }
            defer { freeKey(key) }
            return try text { write($0, key, nil, nil, 0, nil, nil) }
        }

        /// A certificate for a key, in PEM, that the key itself signs; from an hour ago on, because clocks differ.
        ///
        /// - Parameters:
        ///   - names: host names and addresses.
        ///   - serial: unlike those before.
        package func certificate(key pem: [UInt8], names: [CertificateName], days: Int, serial: UInt64) throws(SocketAddress.Failure)
            -> [UInt8]
        {
            let read: @convention(c) (Pointer?, Pointer?, Pointer?, Pointer?) -> Pointer? = try crypto.function("PEM_read_bio_PrivateKey")
            let freeKey: Free = try crypto.function("EVP_PKEY_free")
            let make: Make = try crypto.function("X509_new")
            let free: Free = try crypto.function("X509_free")
            let write: Set = try crypto.function("PEM_write_bio_X509")
            let sign: @convention(c) (Pointer?, Pointer?, Pointer?) -> Int32 = try crypto.function("X509_sign")
            let digest: Make = try crypto.function("EVP_sha256")
            let setKey: Set = try crypto.function("X509_set_pubkey")
            let stream = try stream(pem)
            defer { stream.free() }
            let key = read(stream.pointer, nil, nil, nil), certificate = make()
            defer {
                freeKey(key)
                free(certificate)
            }
            guard key != nil, certificate != nil else { throw SocketAddress.Failure("it is no private key in PEM without a password") }
            try fill(certificate, days: days, serial: serial)
            try name(certificate, names)
            guard setKey(certificate, key) == 1, sign(certificate, key, digest()) > 0 else {
                throw SocketAddress.Failure("OpenSSL signs no certificate with this key")
            }
            return try text { write($0, certificate) }
        }

        private func fill(_ certificate: Pointer?, days: Int, serial: UInt64) throws(SocketAddress.Failure) {
            let setVersion: @convention(c) (Pointer?, Int) -> Int32 = try crypto.function("X509_set_version")
            let number: Get = try crypto.function("X509_get_serialNumber")
            let setNumber: @convention(c) (Pointer?, UInt64) -> Int32 = try crypto.function("ASN1_INTEGER_set_uint64")
            let begin: Get = try crypto.function("X509_getm_notBefore"), end: Get = try crypto.function("X509_getm_notAfter")
            let setTime: @convention(c) (Pointer?, Int) -> Pointer? = try crypto.function("X509_gmtime_adj")
            _ = setVersion(certificate, 2)
            _ = setNumber(number(certificate), serial)
            _ = setTime(begin(certificate), -3_600)
            guard setTime(end(certificate), days * 86_400) != nil else {
                throw SocketAddress.Failure("no certificate is valid for \(days) days")
            }
        }

        private func name(_ certificate: Pointer?, _ names: [CertificateName]) throws(SocketAddress.Failure) {
            let subject: Get = try crypto.function("X509_get_subject_name")
            let add: @convention(c) (Pointer?, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, Int32, Int32, Int32) -> Int32 =
                try crypto.function("X509_NAME_add_entry_by_txt")
            let setIssuer: Set = try crypto.function("X509_set_issuer_name")
            let extend: @convention(c) (Pointer?, Pointer?, Int32, UnsafePointer<CChar>) -> Pointer? =
                try crypto.function("X509V3_EXT_conf_nid")
            let append: @convention(c) (Pointer?, Pointer?, Int32) -> Int32 = try crypto.function("X509_add_ext")
            let free: Free = try crypto.function("X509_EXTENSION_free")
            _ = add(subject(certificate), "CN", Self.utf8Text, "boardrelay", -1, -1, 0)
            _ = setIssuer(certificate, subject(certificate))
            let list = names.map(\.text).joined(separator: ",")
            let field = extend(nil, nil, Self.alternativeName, list)
            defer { free(field) }
            guard field != nil, append(certificate, field, -1) == 1 else {
                throw SocketAddress.Failure("no certificate is for \(list)")
            }
        }

        // MARK: - Streams in memory

        private struct Stream {
            let pointer: Pointer
            let free: () -> Void
        }

        private func stream(_ bytes: [UInt8] = []) throws(SocketAddress.Failure) -> Stream {
            let method: Make = try crypto.function("BIO_s_mem")
            let make: Get = try crypto.function("BIO_new"), free: Free = try crypto.function("BIO_free_all")
            let write: @convention(c) (Pointer?, UnsafeRawPointer, Int32) -> Int32 = try crypto.function("BIO_write")
            guard let pointer = make(method()) else { throw SocketAddress.Failure("no memory for TLS") }
            _ = bytes.withUnsafeBytes { bytes in bytes.baseAddress.map { write(pointer, $0, Int32(bytes.count)) } }
            return Stream(pointer: pointer) { free(pointer) }
        }

        /// What is written into a stream.
        private func text(_ body: (Pointer) -> Int32) throws(SocketAddress.Failure) -> [UInt8] {
            let read: @convention(c) (Pointer?, Pointer?, Int32) -> Int32 = try crypto.function("BIO_read")
            let stream = try stream()
            defer { stream.free() }
            guard body(stream.pointer) == 1 else { throw SocketAddress.Failure("OpenSSL writes no PEM") }
            return [UInt8](unsafeUninitializedCapacity: 64 * 1024) { buffer, count in
                count = max(0, Int(read(stream.pointer, buffer.baseAddress, Int32(buffer.count))))
            }
        }
    }
#endif
