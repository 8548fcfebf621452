/// Writes frames of a server, which are not masked. [RFC 6455 §5.1]
package enum WebSocketFrame {
    package enum Opcode: UInt8, Equatable, Sendable { case text = 1, binary = 2, close = 8, ping = 9, pong = 10 }

    /// The largest head without a key.
    package static let headBytesMax = 10

    /// The 2, 4 or 10 bytes before a payload, which itself is shared with every other reader and not copied.
    package static func head(_ opcode: Opcode, payloadBytes: Int) -> [UInt8] {
        let first = 0x80 | opcode.rawValue
        switch payloadBytes {
        case ...125: return [first, UInt8(payloadBytes)]
        case ...0xFFFF: return [first, 126, UInt8(payloadBytes >> 8), UInt8(payloadBytes & 0xFF)]
        default: return [first, 127] + (0..<8).map { UInt8(truncatingIfNeeded: payloadBytes >> (56 - 8 * $0)) }
        }
    }

    package static func bytes(_ opcode: Opcode, _ payload: [UInt8]) -> [UInt8] { head(opcode, payloadBytes: payload.count) + payload }

    package static func pong(_ payload: [UInt8]) -> [UInt8] { bytes(.pong, control(payload)) }

    /// - Parameter close: `nil` answers a close without a code.
    package static func close(_ close: WebSocketClose?) -> [UInt8] {
        guard let close else { return bytes(.close, []) }
        // Cut where a scalar ends.
        var reason: [UInt8] = []
        for scalar in close.reason.unicodeScalars {
            let next = Array(String(scalar).utf8)
            guard 2 + reason.count + next.count <= GatewayLimits.controlBytesMax else { break }
            reason += next
        }
        return bytes(.close, [UInt8(close.code >> 8), UInt8(close.code & 0xFF)] + reason)
    }

    private static func control(_ payload: [UInt8]) -> [UInt8] {
        precondition(payload.count <= GatewayLimits.controlBytesMax, "a control frame with \(payload.count) bytes")
        return payload
    }
}
