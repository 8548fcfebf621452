import RelayGateway
import RelayPage

@available(macOS 15, iOS 18, *)
extension WhiteboardRelay {
    /// How a relay meets browsers.
    public struct Web: Sendable {
        /// Names, `board.example` or `board.example:443`, by which it may be asked for besides the addresses and names of its
        /// machine: those of a proxy in front of it, for example. Without a port, with any.
        public var hostNames: [String] = []
        /// Origins, `http://localhost:5173`, of pages that are not the relay's and may connect to it all the same.
        public var origins: [String] = []
        /// Addresses of proxies that are believed when they name the client (`X-Forwarded-For`), and that speak TLS for it.
        public var trustedProxies: [String] = []
        /// Lets read `/metrics` from other machines, as `Authorization: Bearer …`; without one only this machine may.
        public var operatorToken: String?

        /// What the local network calls the relay, while it does.
        package var announcedName: String?

        /// Which of a relay's spaces it is.
        var space: String?

        /// What others must know of the relay's TLS, where it speaks TLS.
        package var tls: TLSReport?

        /// This machine's names, no proxy, numbers for this machine alone.
        public init() {}

        /// Looks whether all of it can be used.
        ///
        /// - Throws: `RelayServerError`, which names what is no name, origin, address or token.
        package func validate() throws(RelayServerError) { _ = try WebSite(self) }
    }
}

/// What is served, and by which names: the names change with the network.
@available(macOS 15, iOS 18, *)
struct WebSite: Sendable {
    private let given: [Authority]
    let operators: Operators
    private let takesHTTPS: Bool
    private let origins: Set<Origin>
    private let wantsTLS: Bool
    private let echoBytesMax: Int?

    static let socketPath = "/ws"

    /// - Parameter echoBytesMax: tests alone: WebSockets send back what they get.
    /// - Throws: `RelayServerError`, which names what is no name, address or token.
    init(_ web: WhiteboardRelay.Web, echoBytesMax: Int? = nil) throws(RelayServerError) {
        var given: [Authority] = []
        for name in web.hostNames {
            guard let authority = Authority(Array(name.utf8)) else {
                throw RelayServerError(text: "\(name.debugDescription) is no name with or without a port")
            }
            given.append(authority)
        }
        var proxies: Set<IPAddress> = []
        for text in web.trustedProxies {
            guard let address = IPAddress(text) else { throw RelayServerError(text: "\(text.debugDescription) is no address of a proxy") }
            proxies.insert(address)
        }
        var origins: Set<Origin> = []
        for text in web.origins {
            guard let origin = Origin(Array(text.utf8)) else {
                throw RelayServerError(text: "\(text.debugDescription) is no origin, such as http://localhost:5173")
            }
            origins.insert(origin)
        }
        if let token = web.operatorToken, !(16...1024).contains(token.utf8.count) || !token.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        {
            throw RelayServerError(text: "an operators' token has 16…1024 visible characters of ASCII, not \(token.utf8.count) bytes")
        }
        self.given = given
        operators = Operators(token: web.operatorToken.map { Array($0.utf8) }, trustedProxies: proxies)
        takesHTTPS = !proxies.isEmpty
        self.origins = origins
        wantsTLS = web.tls.map { !$0.allowsPlain } ?? false
        self.echoBytesMax = echoBytesMax
    }

    /// - Parameters:
    ///   - addresses: of this machine, as text.
    ///   - names: of this machine.
    ///   - links: for a browser that asks by a wrong name.
    func site(port: UInt16, addresses: [String], names: [String], links: [String]) -> Site {
        var site = Site(
            files: Self.files, dynamicPaths: Engine.Path.all, webSocketPath: Self.socketPath,
            hosts: HostCheck(port: port, addresses: addresses, names: names, given: given),
            links: links, takesHTTPSOrigin: takesHTTPS)
        site.wantsTLS = wantsTLS
        site.origins = origins
        if let echoBytesMax { site.sockets = .echo(messageBytesMax: echoBytesMax) }
        return site
    }

    private static let files = EmbeddedFile.withLasting(
        Page.files.map { EmbeddedFile(path: $0.path, mediaType: $0.mediaType, bytes: $0.bytes, isForAll: $0.isForAll) })
}
