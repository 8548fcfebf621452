#if canImport(Network)
    internal import Dispatch
    internal import Foundation
    internal import Network
    internal import Security

    extension ConnectedLink {
        /// A cancelled attempt ends within this time.
        private static let patienceMilliseconds = 250

        /// Network.framework speaks TLS from a connection's first byte on.
        static func protected(
            _ address: RelayAddress, behindLineOf lineBytesMax: Int, timeoutMilliseconds: Int, isCancelled: () -> Bool
        ) throws(SocketAddress.Failure) -> (link: ConnectedLink, line: [UInt8]) {
            throw SocketAddress.Failure("\(address.host): this system cannot begin TLS behind a line in the clear")
        }

        /// Network.framework tries a host's addresses as RFC 8305 says, and asks for the local network.
        static func protected(
            _ address: RelayAddress, timeoutMilliseconds: Int, isCancelled: () -> Bool
        ) throws(SocketAddress.Failure) -> ConnectedLink {
            guard let host = address.nameInCertificates, let port = NWEndpoint.Port(rawValue: address.port) else {
                throw TLSFailure.noName(address.host)
            }
            let judge = Judge(host: host, protection: address.protection)
            let connection = NWConnection(host: NWEndpoint.Host(address.host), port: port, using: parameters(judge))
            let outcome = Mutex<Outcome?>(nil), changed = DispatchSemaphore(value: 0)
            connection.stateUpdateHandler = { @Sendable state in
                switch state {
                case .ready: outcome.withLock { $0 = .open }
                // It would wait for another network, perhaps for ever.
                case .waiting(let error), .failed(let error): outcome.withLock { $0 = .failed(error) }
                default: return
                }
                changed.signal()
            }
            connection.start(queue: DispatchQueue(label: "boardrelay.tls"))
            let end = SystemClock.monotonicNanoseconds() + UInt64(timeoutMilliseconds) * 1_000_000
            while true {
                _ = changed.wait(timeout: .now() + .milliseconds(patienceMilliseconds))
                switch outcome.withLock({ $0 }) {
                case .open?:
                    connection.stateUpdateHandler = nil
                    return ConnectedLink(
                        serve: { NetworkStream(connection, host: host, on: $0) }, discard: { connection.cancel() })
                case .failed(let error)?:
                    connection.cancel()
                    throw judge.failure ?? NetworkStream.failure(error, host)
                case nil: break
                }
                if isCancelled() || SystemClock.monotonicNanoseconds() >= end {
                    connection.cancel()
                    throw isCancelled() ? SocketAddress.Failure("the attempt to connect", code: ECANCELED) : TLSFailure.timedOut(host)
                }
            }
        }

        private enum Outcome { case open, failed(NWError) }

        private static func parameters(_ judge: Judge) -> NWParameters {
            let tls = NWProtocolTLS.Options()
            sec_protocol_options_set_min_tls_protocol_version(tls.securityProtocolOptions, .TLSv12)
            // A session that is taken up again shows no certificate: nobody would judge it.
            sec_protocol_options_set_tls_resumption_enabled(tls.securityProtocolOptions, false)
            sec_protocol_options_set_verify_block(
                tls.securityProtocolOptions,
                { _, trust, complete in complete(judge.accepts(sec_trust_copy_ref(trust).takeRetainedValue())) }, DispatchQueue.global())
            let tcp = NWProtocolTCP.Options()
            tcp.noDelay = true
            return NWParameters(tls: tls, tcp: tcp)
        }
    }

    /// Says whether a server is the one that an address names, and keeps why it is not.
    private final class Judge: Sendable {
        private let host: String
        private let protection: RelayAddress.Protection
        private let refusal = Mutex<SocketAddress.Failure?>(nil)

        init(host: String, protection: RelayAddress.Protection) { (self.host, self.protection) = (host, protection) }

        var failure: SocketAddress.Failure? { refusal.withLock { $0 } }

        /// Waits for the system, which may ask the network. On a queue that may.
        func accepts(_ trust: SecTrust) -> Bool {
            let failure =
                switch protection {
                case .certified: fault(of: trust)
                case .pinned(let pin): Self.certificate(of: trust)?.pin == pin ? nil : wrongKey(pin, trust)
                case .plain: preconditionFailure("TLS for an address without")
                }
            refusal.withLock { $0 = failure }
            return failure == nil
        }

        private func wrongKey(_ pin: KeyPin, _ trust: SecTrust) -> SocketAddress.Failure {
            TLSFailure.wrongKey(host, expected: pin, found: Self.certificate(of: trust)?.pin)
        }

        /// By the system's roots, for the name of the address.
        private func fault(of trust: SecTrust) -> SocketAddress.Failure? {
            guard let name = CFStringCreateWithCString(nil, host, CFStringBuiltInEncodings.UTF8.rawValue),
                SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, name)) == errSecSuccess
            else { return TLSFailure.noName(host) }
            var error: CFError?
            guard !SecTrustEvaluateWithError(trust, &error) else { return nil }
            guard let error else { return TLSFailure.wrongCertificate(host, "the system gives no reason") }
            switch OSStatus(truncatingIfNeeded: CFErrorGetCode(error)) {
            case errSecHostNameMismatch: return TLSFailure.wrongName(host, names: Self.certificate(of: trust)?.names ?? [])
            case errSecCertificateExpired: return TLSFailure.expired(host)
            case errSecCertificateNotValidYet: return TLSFailure.notYetValid(host)
            case errSecNotTrusted, errSecCreateChainFailed: return TLSFailure.unknownRoot(host)
            default: return TLSFailure.wrongCertificate(host, error.localizedDescription)
            }
        }

        /// The server's own, the first of the chain.
        private static func certificate(of trust: SecTrust) -> Certificate? {
            guard let chain = SecTrustCopyCertificateChain(trust), CFArrayGetCount(chain) > 0,
                let first = CFArrayGetValueAtIndex(chain, 0)
            else { return nil }
            let data = SecCertificateCopyData(Unmanaged<SecCertificate>.fromOpaque(first).takeUnretainedValue())
            return Certificate(der: Array(UnsafeBufferPointer(start: CFDataGetBytePtr(data), count: CFDataGetLength(data))))
        }
    }

    /// TLS as Network.framework speaks it. It holds what came and was not read, and what the system has not taken: a piece of each.
    final class NetworkStream: LinkStream, @unchecked Sendable {
        // Safe: everything below is touched on the queue of `readiness` only, to which the connection's own queue hands over.
        private static let pieceBytesMax = 64 * 1024

        private let connection: NWConnection
        private let host: String
        private let readiness: Readiness
        private var handlers = StreamSocket.Handlers.none
        private var tag: UInt64 = 0
        private var received = ArraySlice<UInt8>()
        private var isReceiving = false
        private var hasEnded = false
        private var isSending = false
        private var isAwaitingWritable = false
        private var isClosed = false
        private(set) var failure: SocketAddress.Failure?

        init(_ connection: NWConnection, host: String, on readiness: Readiness) {
            (self.connection, self.host, self.readiness) = (connection, host, readiness)
        }

        static func failure(_ error: NWError, _ host: String) -> SocketAddress.Failure {
            switch error {
            case .posix(let code): SocketAddress.Failure("the connection to \(host)", code: code.rawValue)
            case .dns(let code): SocketAddress.Failure("host \(host): error \(code) of DNS")
            case .tls(let status): TLSFailure.notAgreed(host, "error \(status) of TLS")
            default: SocketAddress.Failure("the connection to \(host): \(error.localizedDescription)")
            }
        }

        func activate(_ handlers: StreamSocket.Handlers, tag: UInt64) {
            (self.handlers, self.tag) = (handlers, tag)
            receive()
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamSocket.Reading {
            guard !isClosed else { return .end }
            let count = min(buffer.count, received.count)
            if count > 0 {
                buffer.copyBytes(from: received.prefix(count))
                received = received.dropFirst(count)
                return .bytes(count)
            }
            if failure != nil { return .failed(EPROTO) }
            if hasEnded { return .end }
            receive()
            return .wouldBlock
        }

        /// Asks for the next piece once the last one is read: a client that does not read holds the relay back.
        private func receive() {
            guard !isReceiving else { return }
            isReceiving = true
            let completion = { @Sendable [weak self] (data: Data?, _: NWConnection.ContentContext?, isComplete: Bool, error: NWError?) in
                guard let self else { return }
                let bytes = data.map { [UInt8]($0) } ?? []
                readiness.enter { @Sendable in self.took(bytes, isComplete: isComplete, error) }
            }
            connection.receive(minimumIncompleteLength: 1, maximumLength: Self.pieceBytesMax, completion: completion)
        }

        private func took(_ bytes: [UInt8], isComplete: Bool, _ error: NWError?) {
            guard !isClosed else { return }
            isReceiving = false
            received = bytes[...]
            hasEnded = isComplete
            if let error { failure = Self.failure(error, host) }
            handlers.readable(tag)
        }

        func write(_ bytes: UnsafeRawBufferPointer) -> StreamSocket.Writing {
            guard !isClosed, failure == nil else { return .failed(EPIPE) }
            guard !isSending else { return .wouldBlock }
            let piece = bytes.prefix(Self.pieceBytesMax)
            isSending = true
            let sent = NWConnection.SendCompletion.contentProcessed { @Sendable [weak self] error in
                guard let self else { return }
                readiness.enter { @Sendable in self.wrote(error) }
            }
            connection.send(content: Data(piece), completion: sent)
            return .wrote(piece.count)
        }

        private func wrote(_ error: NWError?) {
            guard !isClosed else { return }
            isSending = false
            if let error {
                failure = Self.failure(error, host)
                return handlers.readable(tag)
            }
            guard isAwaitingWritable else { return }
            isAwaitingWritable = false
            handlers.writable(tag)
        }

        func waitUntilWritable() { isAwaitingWritable = true }

        /// The system says the last word of TLS, and sends what it has taken.
        func close() {
            guard !isClosed else { return }
            isClosed = true
            connection.cancel()
            readiness.perform { @Sendable [handlers, tag] in handlers.released(tag) }
            handlers = .none
        }
    }
#endif
