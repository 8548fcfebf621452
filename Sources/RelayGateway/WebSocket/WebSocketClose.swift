import RelayWire

/// Why a WebSocket ends, as its last frame says it. [RFC 6455 §7.4]
package struct WebSocketClose: Error, Equatable, Sendable {
    package var code: UInt16
    /// At most 123 bytes, for people.
    package var reason: String

    package init(_ code: UInt16, _ reason: String = "") {
        self.code = code
        self.reason = reason
    }

    static func protocolError(_ reason: String) -> Self { Self(1002, reason) }
    static let text = Self(1003, "relay frames are binary")
    static func notUTF8(_ what: String) -> Self { Self(1007, "\(what) is not well-formed UTF-8") }
    static func tooBig(limit: Int) -> Self { Self(1009, "a message has at most \(limit) bytes") }

    /// The end that a `closing` frame has announced: its code, above 4,000, where codes are an application's own. A page
    /// that sees nothing but the end of its socket still learns whether to come back. [WS8]
    package init(_ code: ErrorCode) { self.init(GatewayLimits.closeCodeBase + code.rawValue, code.name) }

    /// Whether a peer may send a code: registered ones but those that never stand in a frame, and the ranges for libraries and
    /// applications. [RFC 6455 §7.4.1, §7.4.2]
    package static func isValid(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
