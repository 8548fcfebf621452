/// Whose request it is, where proxies stand before the relay. [HT10]
package enum ClientAddress {
    /// Fields in which proxies name the client. A peer is no proxy because it sends one.
    static let forwarding: [StaticString] = [
        "forwarded", "forwarded-for", "via", "x-forwarded", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "cf-connecting-ip",
        "fastly-client-ip", "true-client-ip",
    ]

    /// Whether a request came, or says it came, through somebody else.
    package static func isForwarded(_ request: HTTPRequest) -> Bool {
        forwarding.contains { !request.values($0).isEmpty } || request.fields.contains { $0.name.starts(with: "x-forwarded-".utf8) }
    }

    /// The last address of the way here that is no trusted proxy's.
    ///
    /// Of `X-Forwarded-For` each proxy has added the address at the end that it saw itself, so it is read from there; what a client
    /// has made up stands further to the front.
    /// - Parameter trusted: addresses of proxies whose word counts. Without them the peer is the client, whatever it says.
    /// - Returns: `nil` if a trusted proxy named something that is no address.
    package static func of(_ request: HTTPRequest, peer: IPAddress, trusted: Set<IPAddress>) -> IPAddress? {
        var client = peer
        for hop in request.list("x-forwarded-for").reversed() {
            guard trusted.contains(client) else { return client }
            // Some proxies add the port.
            if let address = IPAddress(hop) {
                client = address
            } else if case .address(let address)? = Authority(hop)?.host {
                client = address
            } else {
                return nil
            }
        }
        return client
    }
}
