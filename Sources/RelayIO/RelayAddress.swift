internal import RelayPrimitives

/// Where a relay listens: `relay://host:7420`, or, behind TLS, `relays://host:7420`.
///
/// `tcp`, `http`, `ws` and no scheme at all mean the same as `relay`; `https` and `wss` mean the same as `relays`, on port 443 unless
/// another is named. An IPv6 address stands in brackets.
public struct RelayAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name, an IPv4 address, or an IPv6 address without brackets.
    public var host: String
    /// 1…65,535.
    public var port: UInt16
    /// How a link to it is protected.
    package var protection: Protection
    /// Whether a relay will be found here again: not on a port that the system chose.
    package var isLasting = true

    /// The port of a relay that was told no other.
    public static let defaultPort: UInt16 = 7420

    /// How a link is protected from those who carry it. No link is ever less protected than its address says.
    package enum Protection: Hashable, Sendable {
        /// Not at all: everybody on the way can read and change everything.
        case plain
        /// By TLS 1.2 or newer: the server's certificate is for `host` and comes from a root that this system trusts.
        case certified
        /// By TLS 1.2 or newer: the server has the key with this pin. What else its certificate says does not matter.
        case pinned(KeyPin)
    }

    /// The relay on a host, on the usual port unless another is named.
    package init(host: String, port: UInt16 = Self.defaultPort, protection: Protection = .plain) {
        self.host = host
        self.port = port
        self.protection = protection
    }

    /// Reads `relay://host:port`, `relays://host:port`, `host:port`, `host`, `[v6]:port`; what follows a `/` after the port is ignored.
    ///
    /// - Returns: `nil` for an unknown scheme, an empty host or a malformed port, and for a text with something behind `#`, such as a
    ///   key: that is an `Invitation`.
    public init?(_ text: String) {
        var rest = Substring(text)
        var (protection, port) = (Protection.plain, Self.defaultPort)
        if let scheme = rest.range(of: "://") {
            switch rest[..<scheme.lowerBound].lowercased() {
            case "relay", "tcp", "http", "ws": break
            case "relays": protection = .certified
            case "https", "wss": (protection, port) = (.certified, 443)
            default: return nil
            }
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
        if !tail.isEmpty {
            guard tail.first == ":", let number = UInt16(tail.dropFirst()), number > 0, !tail.dropFirst().hasPrefix("+") else { return nil }
            port = number
        }
        self.init(host: String(host), port: port, protection: protection)
    }

    /// The whiteboard's.
    package var pageURL: String { "http\(description.dropFirst("relay".count))/" }

    /// Without the port.
    package var origin: String { "relay\(protection == .plain ? "" : "s")://\(host.contains(":") ? "[\(host)]" : host)" }

    /// Without the pin.
    public var description: String { "\(origin):\(port)" }
}

/// The fingerprint of a server's public key: the first 128 bits of SHA-256 over its SubjectPublicKeyInfo (RFC 5280) in DER. [TL4]
///
/// A new certificate for the same key has the same pin. This prints it:
///
///     openssl x509 -in relay.pem -pubkey -noout | openssl pkey -pubin -outform der |
///         openssl sha256 -binary | head -c 16 | basenc --base64url | head -c 22
package struct KeyPin: Hashable, Sendable, CustomStringConvertible {
    /// Letters of a pin.
    package static let letterCount = 22

    /// 22 letters of base64url (RFC 4648), without padding.
    package let description: String

    /// - Returns: `nil` for what is not 16 bytes in base64url without padding.
    package init?(_ letters: some StringProtocol) {
        guard Base64URL.decode(letters)?.count == 16 else { return nil }
        description = String(letters)
    }

    /// Of a public key.
    package init(subjectPublicKeyInfo der: some Collection<UInt8>) {
        description = Base64URL.encode(Array(SHA256.hash(Array(der)).prefix(16)))
    }
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
