import RelayWire

/// Numbers of HTTP and WebSocket that the protocol fixes. `docs/protocol.md` has the same ones.
package enum GatewayLimits {
    /// Largest head of a request, from its first byte to the empty line. [HT2]
    package static let headBytesMax = 8_192
    /// Most fields of one head. [HT2]
    package static let fieldsMax = 64
    /// Longest method that is read before the bytes are no HTTP: the longest registered one has 17. [HT1]
    package static let methodBytesMax = 32
    /// Time that a head has from its first byte to its last, in milliseconds; the timer is the caller's. [HT3]
    package static let headMilliseconds = 10_000
    /// Bytes of further requests that wait behind one that is not answered yet. [HT4]
    package static let pipelinedBytesMax = 8_192
    /// Requests that one connection may make. [HT4]
    package static let requestsPerConnectionMax = 100
    /// Largest payload of a ping, pong or close. [RFC 6455 §5.5]
    package static let controlBytesMax = 125
    /// Largest message of a client: the largest frame, whole. [WS4]
    package static let messageBytesMax = Limits.frameHeadBytes + Limits.frameBodyBytesMax
    /// What WebSocket's code of a close is above the relay's code. [WS8]
    package static let closeCodeBase: UInt16 = 4_000
}
