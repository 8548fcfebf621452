internal import RelayCore
import RelayGateway
import RelayIO
import RelaySystem

@available(macOS 15, iOS 18, *)
extension Engine {
    func listen(_ host: String?, _ port: UInt16, _ readiness: Readiness) throws -> any PortEntry {
        let listener = try Listener(host: host, port: port, on: readiness)
        try listener.activate(
            accepted: { @Sendable [weak self] descriptor, peer in
                guard let self else {
                    discardDescriptor(descriptor)
                    return true
                }
                return assumeIsolated { $0.accepted(descriptor, peer) }
            },
            exhausted: { @Sendable [weak self] code in self?.assumeIsolated { $0.cannotAccept(code) } },
            released: { @Sendable [weak self] in self?.assumeIsolated { $0.portReleased() } })
        return listener
    }

    private func cannotAccept(_ code: Int32) { log(LogLine(.error, "cannot accept: \(SystemError.text(code))")) }
}

#if os(Linux)
    /// A certificate with its key.
    typealias TLSIdentity = TLSServerContext

    @available(macOS 15, iOS 18, *)
    extension Engine {
        func listen(_ host: String?, _ port: UInt16, _ identity: TLSIdentity) throws -> any PortEntry {
            warn(of: identity.certificate)
            return try TLSFront(
                host: host, port: port, identity,
                deliver: { @Sendable [weak self] descriptor, peer, isProtected in
                    guard let self else { return discardDescriptor(descriptor) }
                    enter { _ = $0.accepted(descriptor, peer, isProtected: isProtected) }
                },
                exhausted: { @Sendable [weak self] code in self?.enter { $0.cannotAccept(code) } },
                released: { @Sendable [weak self] in self?.enter { $0.portReleased() } })
        }

        /// Handshakes show it from now on. Who is in stays.
        func use(_ identity: TLSIdentity) {
            warn(of: identity.certificate)
            (listener as? TLSFront)?.use(identity)
        }

        /// Two weeks before its end, and after it. Clients that know the pin come all the same.
        private func warn(of certificate: Certificate) {
            let now = SystemClock.wallMilliseconds(), end = UInt64(max(0, certificate.validUntil)) * 1_000
            guard end < now + 14 * 86_400_000 else { return }
            log(LogLine(.warning, "TLS: the certificate is valid until \(HTTPDate.text(wallMilliseconds: end)): renew it, then 'reload'"))
        }

        var tlsCounters: TLSCounters? { (listener as? TLSFront)?.counters }
    }

    @available(macOS 15, iOS 18, *)
    extension WhiteboardRelay.TLS {
        /// - Throws: what is wrong with the files, or that there is no OpenSSL.
        func identity() throws(RelayServerError) -> TLSIdentity {
            do throws(SocketAddress.Failure) {
                return try TLSServerContext(certificatePath: certificatePath, keyPath: keyPath)
            } catch {
                throw RelayServerError(text: "TLS: \(error)")
            }
        }
    }
#else
    /// On this system no relay speaks TLS itself: see `WhiteboardRelay.TLS`.
    struct TLSIdentity: Sendable { let certificate: Certificate }

    @available(macOS 15, iOS 18, *)
    extension Engine {
        func listen(_ host: String?, _ port: UInt16, _ identity: TLSIdentity) throws -> any PortEntry { preconditionFailure("no TLS here") }
        func use(_ identity: TLSIdentity) {}
        var tlsCounters: TLSCounters? { nil }
    }

    @available(macOS 15, iOS 18, *)
    extension WhiteboardRelay.TLS {
        func identity() throws(RelayServerError) -> TLSIdentity {
            throw RelayServerError(text: "a relay speaks TLS by itself on Linux; here put a proxy in front of it")
        }
    }
#endif
