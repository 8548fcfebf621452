import RelayGateway
import RelayIO
import RelaySystem
import RelayWire

@available(macOS 15, iOS 18, *)
extension WhiteboardRelay {
    /// TLS of a relay's own. It needs OpenSSL 3, and Linux: elsewhere a proxy speaks TLS for a relay.
    public struct TLS: Sendable, Equatable {
        package var certificatePath: String
        package var keyPath: String
        package var allowsPlain: Bool

        /// - Parameter certificatePath: of a file in PEM: the certificate, and behind it those that it stands on.
        /// - Parameter keyPath: of the file with its key in PEM, without a password.
        /// - Parameter allowsPlain: whether clients without TLS are let in, too. [TL2]
        public init(certificatePath: String, keyPath: String, allowsPlain: Bool = false) {
            self.certificatePath = certificatePath
            self.keyPath = keyPath
            self.allowsPlain = allowsPlain
        }

        /// Looks whether both files can be used.
        ///
        /// - Throws: `RelayServerError`, which names the file and what is wrong.
        package func validate() throws(RelayServerError) { _ = try identity() }
    }
}

/// What others must know of a relay's TLS.
package struct TLSReport: JSONObject, Sendable, Equatable {
    /// Of the certificate's key. [TL4]
    package var pin = ""
    /// Of the certificate, if browsers may trust it: names, not addresses. Empty of one that nobody else has signed.
    package var names: [String] = []
    /// Whether clients without TLS are let in, too.
    package var allowsPlain = false

    package init() {}

    init(_ certificate: Certificate, allowsPlain: Bool) {
        pin = certificate.pin.description
        if !certificate.isSelfIssued { names = certificate.names.filter { IPAddress($0) == nil && !$0.hasPrefix("*") } }
        self.allowsPlain = allowsPlain
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("allowsPlain", &allowsPlain)
        json("names", &names)
        json("pin", &pin)
    }

    /// What protects a link to an address of the relay.
    package var protection: RelayAddress.Protection { KeyPin(pin).map { .pinned($0) } ?? .certified }

    /// For programs: the relay's names, or its addresses with the pin.
    package func links(_ reachable: [RelayAddress]) -> [RelayAddress] {
        names.isEmpty ? reachable.map { RelayAddress(host: $0.host, port: $0.port, protection: protection) } : named(reachable)
    }

    /// For browsers: none, if they trust nothing and may not come without TLS.
    package func pages(_ reachable: [RelayAddress]) -> [RelayAddress] {
        if names.isEmpty { return allowsPlain ? reachable.map { RelayAddress(host: $0.host, port: $0.port) } : [] }
        return named(reachable)
    }

    private func named(_ reachable: [RelayAddress]) -> [RelayAddress] {
        guard let port = reachable.first?.port else { return [] }
        return names.map { RelayAddress(host: $0, port: port, protection: .certified) }
    }
}

/// What a relay listens with.
protocol PortEntry: AnyObject, Sendable {
    var address: SocketAddress { get }
    /// Stops listening.
    func close()
}

/// Connections of a relay with TLS. [TL5]
struct TLSCounters: Sendable {
    /// Before the engine: handshakes, and those that are through.
    var links = 0
    /// By outcome: `done`, `plain` (no handshake), or why there was none.
    private(set) var handshakes: [String: UInt64] = [:]
    /// Of the certificate that is shown, in seconds since 1970.
    var validUntil = 0

    mutating func note(_ outcome: String) { handshakes[outcome, default: 0] += 1 }
}

extension Listener: PortEntry {}
