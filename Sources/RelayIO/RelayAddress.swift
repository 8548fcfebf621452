/// Where a relay listens: `relay://host:7420`.
///
/// `tcp`, `http`, `ws` and no scheme at all mean the same port; an IPv6 address stands in brackets.
public struct RelayAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name, an IPv4 address, or an IPv6 address without brackets.
    public var host: String
    /// 1…65,535.
    public var port: UInt16
    /// Whether a relay will be found here again: not on a port that the system chose.
    package var isLasting = true

    /// The port of a relay that was told no other.
    public static let defaultPort: UInt16 = 7420

    /// The relay on a host, on the usual port unless another is named.
    public init(host: String, port: UInt16 = Self.defaultPort) {
        self.host = host
        self.port = port
    }

    /// Reads `relay://host:port`, `host:port`, `host`, `[v6]:port`; what follows a `/` after the port is ignored.
    ///
    /// - Returns: `nil` for an unknown scheme, an empty host or a malformed port, and for a text with something behind `#`, such as a
    ///   key: that is an `Invitation`.
    public init?(_ text: String) {
        var rest = Substring(text)
        if let scheme = rest.range(of: "://") {
            guard ["relay", "tcp", "http", "ws"].contains(rest[..<scheme.lowerBound].lowercased()) else { return nil }
            rest = rest[scheme.upperBound...]
        }
        if let hash = rest.firstIndex(of: "#"), rest.index(after: hash) < rest.endIndex { return nil }
        rest = rest.prefix { $0 != "/" && $0 != "#" && $0 != "?" }
        let host: Substring
        let tail: Substring
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            host = rest[rest.index(after: rest.startIndex)..<end]
            tail = rest[rest.index(after: end)...]
            guard host.contains(":") else { return nil }
        } else if let colon = rest.firstIndex(of: ":"), rest.lastIndex(of: ":") == colon {
            host = rest[..<colon]
            tail = rest[colon...]
        } else if rest.contains(":") {
            return nil
        } else {
            host = rest
            tail = ""
        }
        guard !host.isEmpty, host.allSatisfy({ !$0.isWhitespace }) else { return nil }
        var port = Self.defaultPort
        if !tail.isEmpty {
            guard tail.first == ":", let number = UInt16(tail.dropFirst()), number > 0, !tail.dropFirst().hasPrefix("+") else { return nil }
            port = number
        }
        self.init(host: String(host), port: port)
    }

    /// The whiteboard's.
    package var pageURL: String { "http\(description.dropFirst("relay".count))/" }

    /// Without the port.
    package var origin: String { "relay://\(host.contains(":") ? "[\(host)]" : host)" }

    public var description: String { "\(origin):\(port)" }
}

extension Substring {
    /// Of the standard library alone: this file is also read where there is no Foundation.
    fileprivate func range(of text: String) -> Range<Index>? {
        var index = startIndex
        while index < endIndex {
            if self[index...].hasPrefix(text) { return index..<self.index(index, offsetBy: text.count) }
            index = self.index(after: index)
        }
        return nil
    }
}
