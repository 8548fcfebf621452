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
    package let caching: HTTPResponse.Caching

    /// - Parameter entityTag: drawn from the bytes if it is not known.
    package init(
        path: String, mediaType: String, bytes: [UInt8], isForAll: Bool = false, caching: HTTPResponse.Caching = .revalidated,
        entityTag: EntityTag? = nil
    ) {
        self.isForAll = isForAll
        self.caching = caching
        self.path = path
        self.mediaType = mediaType
        self.bytes = bytes
        self.entityTag = entityTag ?? EntityTag(Self.digest(bytes))
    }

    private static func digest(_ bytes: [UInt8]) -> String { Base64URL.encode(Array(SHA256.hash(bytes).prefix(16))) }

    /// The same files, and once more, under a tag of them all, what pages load: the pages name it there. [HT6]
    package static func withLasting(_ files: [EmbeddedFile]) -> [EmbeddedFile] {
        let pages = files.filter { $0.mediaType.hasPrefix("text/html") }
        let loaded = files.filter { !$0.mediaType.hasPrefix("text/html") }
        // A page names it more than eighty times: 48 bits tell apart what relays ever serve.
        let folder = "/~" + digest(loaded.flatMap { Array("\($0.path) \($0.entityTag.text)\n".utf8) }).prefix(8)
        let paths = Set(loaded.map(\.path))
        let naming = pages.map { page in
            // An address stands between quotation marks.
            let words = String(decoding: page.bytes, as: UTF8.self).split(separator: "\"", omittingEmptySubsequences: false)
            let text = words.map { paths.contains(String($0)) ? folder + $0 : String($0) }.joined(separator: "\"")
            return EmbeddedFile(path: page.path, mediaType: page.mediaType, bytes: Array(text.utf8), isForAll: page.isForAll)
        }
        let lasting = loaded.map {
            EmbeddedFile(
                path: folder + $0.path, mediaType: $0.mediaType, bytes: $0.bytes, isForAll: $0.isForAll, caching: .lasting,
                entityTag: $0.entityTag)
        }
        return naming + loaded + lasting
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

    package private(set) var routes: [String: Route]
    package var hosts: HostCheck
    /// Addresses of the relay for a browser that came by a wrong one, without keys.
    package var links: [String]
    /// Whether a proxy that is trusted speaks TLS for this relay.
    package var takesHTTPSOrigin: Bool
    /// Of pages that are not the relay's and may connect all the same.
    package var origins: Set<Origin> = []
    package var sockets = Sockets.relay
    /// What comes without TLS is sent there. [TL2]
    package var wantsTLS = false

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

    /// The whiteboard's page is at these names as well: its script finds there which space is meant. [SE16]
    package mutating func addPages(of spaces: some Sequence<String>) { for space in spaces { routes["/" + space] = routes["/"] } }
}
