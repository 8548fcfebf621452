import RelayGateway

/// Who may read the relay's numbers, and which proxies may name the client.
struct Operators: Sendable {
    private let check: OperatorCheck
    private let trustedProxies: Set<IPAddress>

    init(token: [UInt8]?, trustedProxies: Set<IPAddress>) {
        check = OperatorCheck(token: token)
        self.trustedProxies = trustedProxies
    }

    /// - Parameter host: address of the connection's other end.
    func allows(_ request: HTTPRequest, from host: String) -> Bool {
        guard let peer = IPAddress(host) else { return false }
        return check.allows(request, peer: peer)
    }

    /// The client, for logs: behind a trusted proxy it is not the connection's other end.
    func client(of request: HTTPRequest, host: String, peer: String) -> String {
        guard let address = IPAddress(host), trustedProxies.contains(address) else { return peer }
        guard let client = ClientAddress.of(request, peer: address, trusted: trustedProxies) else { return "somebody behind \(peer)" }
        return client == address ? peer : "\(client) by \(peer)"
    }
}
