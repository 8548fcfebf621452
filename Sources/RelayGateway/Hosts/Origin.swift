/// Where a page comes from, as `Origin` names it: scheme, host and port. [RFC 6454 §6.2]
package struct Origin: Hashable, Sendable {
    private let isTLS: Bool
    private let host: Authority.Host
    private let port: UInt16

    /// Reads `http://board.example` or `https://board.example:8443`, and nothing behind it.
    package init?(_ text: some Sequence<UInt8>) {
        let bytes = Array(text)
        let schemes: [(scheme: StaticString, isTLS: Bool)] = [("http://", false), ("https://", true)]
        for (scheme, isTLS) in schemes {
            let isScheme = scheme.withUTF8Buffer { scheme in bytes.prefix(scheme.count).lazy.map(lowercased).elementsEqual(scheme) }
            guard isScheme else { continue }
            guard let authority = Authority(bytes.dropFirst(scheme.utf8CodeUnitCount)) else { return nil }
            self.init(isTLS: isTLS, authority)
            return
        }
        return nil
    }

    init(isTLS: Bool, _ authority: Authority) {
        self.isTLS = isTLS
        host = authority.host
        port = authority.port ?? (isTLS ? 443 : 80)
    }
}

/// Whether a page may open a WebSocket here: one that this relay has served, or whose origin its operator gave. [HT8]
///
/// A browser opens one for any page to any address, with whatever the user is let in by; it says in `Origin` whose page it
/// is. Programs that are no browser send none, and would not be stopped by this.
package enum OriginCheck {
    /// - Parameters:
    ///   - origins: the values of the fields `Origin`.
    ///   - host: of the same request, and allowed.
    ///   - isProtected: whether it came by TLS of the relay's own.
    ///   - takesHTTPS: whether a proxy that is trusted speaks TLS for this relay.
    ///   - given: by its operator.
    package static func allows(
        _ origins: [[UInt8]], host: Authority, isProtected: Bool = false, takesHTTPS: Bool, given: Set<Origin>
    ) -> Bool {
        guard let first = origins.first else { return true }
        guard origins.count == 1, let origin = Origin(first) else { return false }
        return origin == Origin(isTLS: isProtected, host) || takesHTTPS && origin == Origin(isTLS: true, host) || given.contains(origin)
    }
}
