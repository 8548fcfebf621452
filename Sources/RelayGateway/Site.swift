import RelayPrimitives

/// A file that is part of the program. There are no others: no path leads to a folder.
package struct EmbeddedFile: Equatable, Sendable {
    /// As in the address, `/` first, decoded.
    package let path: String
    package let mediaType: String
    package let bytes: [UInt8]
    package let entityTag: EntityTag
    /// Whether pages of other origins may load it, too. [HT6]
    package let isForAll: Bool

    /// - Parameter entityTag: drawn from the bytes if it is not known.
    package init(path: String, mediaType: String, bytes: [UInt8], isForAll: Bool = false, entityTag: EntityTag? = nil) {
        self.isForAll = isForAll
        self.path = path
        self.mediaType = mediaType
        self.bytes = bytes
        self.entityTag = entityTag ?? EntityTag(Base64URL.encode(Array(SHA256.hash(bytes).prefix(16))))
    }
}

/// What can be asked for, and by which names: the same for all connections, handed in at each step, so that addresses that
/// change reach those that are open.
package struct Site: Sendable {
    /// What a path leads to.
    package enum Route: Equatable, Sendable {
        case file(EmbeddedFile)
        /// Answered by the caller, each time.
        case dynamic
        case webSocket
    }

    package let routes: [String: Route]
    package var hosts: HostCheck
    /// Addresses of the relay for a browser that came by a wrong one, without keys.
    package var links: [String]
    /// Whether a proxy that is trusted speaks TLS for this relay.
    package var takesHTTPSOrigin: Bool
    /// Of pages that are not the relay's and may connect all the same.
    package var origins: Set<Origin> = []
    package var sockets = Sockets.relay

    /// What is understood on a WebSocket.
    package enum Sockets: Equatable, Sendable {
        case relay
        /// For tests.
        case echo(messageBytesMax: Int)
    }

    package init(
        files: [EmbeddedFile], dynamicPaths: [String], webSocketPath: String, hosts: HostCheck, links: [String] = [],
        takesHTTPSOrigin: Bool = false
    ) {
        var routes: [String: Route] = [webSocketPath: .webSocket]
        for path in dynamicPaths { routes[path] = .dynamic }
        for file in files {
            precondition(routes[file.path] == nil, "two routes of one path: \(file.path)")
            routes[file.path] = .file(file)
        }
        self.routes = routes
        self.hosts = hosts
        self.links = links
        self.takesHTTPSOrigin = takesHTTPSOrigin
    }
}
