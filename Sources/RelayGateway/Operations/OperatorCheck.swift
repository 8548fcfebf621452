import RelayPrimitives

/// Who may read the relay's numbers: this machine itself, and anyone with the operators' token. [HT9]
package struct OperatorCheck: Sendable {
    private let token: [UInt8]?

    /// - Parameter token: `nil` or an empty one lets nobody in by a token.
    package init(token: [UInt8]?) { self.token = token.flatMap { $0.isEmpty ? nil : $0 } }

    /// - Parameter peer: the other end of the connection, not what a proxy says of it: what a proxy on this machine hands on comes
    ///   from loopback and is not this machine's.
    package func allows(_ request: HTTPRequest, peer: IPAddress) -> Bool {
        let credentials = request.values("authorization")
        // A wrong token is not made good by where it comes from.
        guard credentials.isEmpty else { return credentials.count == 1 && isToken(credentials[0]) }
        return peer.isLoopback && isByLoopback(request) && !ClientAddress.isForwarded(request)
    }

    /// Whether it is asked for as this machine's own: what a proxy hands on without a word of it has the name that the proxy is asked by.
    private func isByLoopback(_ request: HTTPRequest) -> Bool {
        switch request.values("host").first.flatMap({ Authority($0) })?.host {
        case .address(let address)?: address.isLoopback
        case .name(let name)?: name == "localhost"
        case nil: false
        }
    }

    /// `Bearer`, in capitals or small letters, one space, the token. [RFC 6750 §2.1]
    private func isToken(_ credential: [UInt8]) -> Bool {
        guard let token, credential.prefix(7).map(lowercased).elementsEqual("bearer ".utf8) else { return false }
        return isEqualInConstantTime(Array(credential.dropFirst(7)), token)
    }
}
