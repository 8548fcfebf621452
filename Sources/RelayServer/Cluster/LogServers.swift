import RelayIO
import RelayNATS

/// The servers of a log, and how this relay shows them who it is.
package struct LogServers: Sendable, Equatable {
    /// `certified` for `tls://`: the connection then speaks TLS behind the server's first line.
    let addresses: [RelayAddress]
    let login: NATSLogin

    /// NATS's own.
    static let defaultPort: UInt16 = 4222
    static let serversMax = 16
    private static let form = "wants nats://HOST:PORT or tls://HOST:PORT, several with commas between them"

    /// - Parameters:
    ///   - text: `nats://host:4222,tls://host`.
    ///   - login: `USER:PASSWORD`, or a token; `nil`: the servers want none.
    /// - Throws: what cannot be used of `text`.
    package init(_ text: String, login: String? = nil) throws(RelayServerError) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= Self.serversMax else {
            throw RelayServerError(text: "names \(parts.count) servers, at most \(Self.serversMax) may be named")
        }
        var addresses: [RelayAddress] = []
        for part in parts { addresses.append(try Self.address(part)) }
        self.addresses = addresses
        let words = login?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init) ?? []
        self.login = NATSLogin(words.count == 2 ? .password(user: words[0], words[1]) : words.first.map { .token($0) } ?? .none)
    }

    private static func address(_ text: Substring) throws(RelayServerError) -> RelayAddress {
        let lowered = text.lowercased()
        let protection: RelayAddress.Protection
        let rest: Substring
        if lowered.hasPrefix("nats://") {
            (protection, rest) = (.plain, text.dropFirst(7))
        } else if lowered.hasPrefix("tls://") {
            (protection, rest) = (.certified, text.dropFirst(6))
        } else {
            throw RelayServerError(text: form)
        }
        // A login in an address would be seen in lists of processes, and by 'boardrelay config'.
        guard !rest.contains("@") else { throw RelayServerError(text: "names a login: that stands in a file of its own") }
        // The relay's own scheme and port are no part of it.
        guard !rest.contains("/"), !rest.contains("#"), !rest.contains("?"), var address = RelayAddress("relay://\(rest)") else {
            throw RelayServerError(text: form)
        }
        address.protection = protection
        let hasPort = rest.split(separator: "]", omittingEmptySubsequences: false).last?.contains(":") == true
        if !hasPort { address.port = defaultPort }
        return address
    }
}
