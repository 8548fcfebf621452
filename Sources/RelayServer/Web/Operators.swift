internal import RelayCore
import RelayGateway

/// Who may read the relay's numbers, and which proxies may name the client.
struct Operators: Sendable {
    private let check: OperatorCheck
    private let trustedProxies: Set<IPAddress>

    init(token: [UInt8]?, trustedProxies: Set<IPAddress>) {
        check = OperatorCheck(token: token)
        self.trustedProxies = trustedProxies
    }

    func allows(_ request: HTTPRequest, from end: RemoteEnd) -> Bool { check.allows(request, peer: end.address) }

    /// Who has connected, as far as that is known before it says anything: a proxy may come for anybody.
    func peer(of end: RemoteEnd) -> Peer {
        Peer(text: end.text, address: trustedProxies.contains(end.address) ? .local : AddressKey(end.address))
    }

    /// The client: behind a trusted proxy it is not the connection's other end. [HT10]
    func client(of request: HTTPRequest, from end: RemoteEnd) -> Peer {
        guard ClientAddress.isForwarded(request) else { return peer(of: end) }
        guard trustedProxies.contains(end.address) else {
            return Peer(text: end.text, address: AddressKey(end.address, isForwarded: true))
        }
        guard let client = ClientAddress.of(request, peer: end.address, trusted: trustedProxies) else {
            return Peer(text: "somebody behind \(end.text)", address: AddressKey(end.address, isForwarded: true))
        }
        let text = client == end.address ? end.text : "\(client) by \(end.text)"
        return Peer(text: text, address: AddressKey(client, isForwarded: true))
    }
}
