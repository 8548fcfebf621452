import RelayWire

/// One of the messages that a large drawing is cut into. [BL8]
struct DrawingPart: Hashable, Sendable {
    var drawing: UInt64
    /// How often the drawing had begun anew: what answers an earlier round says nothing.
    var round: Int
    var number: UInt16
    var of: UInt16

    var isLast: Bool { number == of }
}

/// A drawing above the size of one message, as long as something waits for what becomes of it. [BL8]
struct OutgoingDrawing: Sendable {
    let id: UInt64
    let channel: Name
    let key: Name
    let customType: String?
    let isRetained: Bool
    let echo: Bool
    let isText: Bool
    let bytes: [UInt8]
    var tokens: StoredTokens
    /// Its marker has left the queue.
    var isUnderWay = false
    /// Its last part was accepted, and it is not told durable.
    var isAccepted = false
    private(set) var round = 1
    private(set) var parts: UInt16 = 0
    /// Number of the part that leaves next; above `parts` when all have left.
    private(set) var next = 1
    private var partBytes = 0

    init(
        id: UInt64, channel: Name, key: Name, customType: String?, isRetained: Bool, echo: Bool, payload: Payload, tokens: StoredTokens,
        limits: ServerLimits
    ) throws(RelayError) {
        self.id = id
        self.channel = channel
        self.key = key
        self.customType = customType
        self.isRetained = isRetained
        self.echo = echo
        isText = payload.flags.contains(.text)
        bytes = payload.bytes
        self.tokens = tokens
        guard cut(limits) else {
            throw RelayError(
                .tooLarge, "a drawing has at most \(Self.partsMax) parts of \(limits.messageBytesMax) bytes", limit: Self.partsMax,
                actual: nil)
        }
    }

    static let partsMax = Int(UInt16.max)

    /// - Returns: false when it would be too many parts.
    private mutating func cut(_ limits: ServerLimits) -> Bool {
        partBytes = limits.messageBytesMax - (customType?.utf8.count ?? 0)
        guard partBytes > 0 else { return false }
        let count = (bytes.count + partBytes - 1) / partBytes
        guard (2...Self.partsMax).contains(count) else { return false }
        parts = UInt16(count)
        next = 1
        return true
    }

    var hasMore: Bool { next <= Int(parts) }

    mutating func nextPart() -> OutgoingMessage {
        let part = DrawingPart(drawing: id, round: round, number: UInt16(next), of: parts)
        next += 1
        return OutgoingMessage(
            token: nil, channel: channel, payload: isText ? .text("") : .bytes([]), customType: customType, echo: echo, key: key,
            isRetained: isRetained, part: part)
    }

    /// Text is cut wherever it comes: it is text as a whole. [BL8]
    func bytes(of part: DrawingPart) -> ArraySlice<UInt8> {
        let start = (Int(part.number) - 1) * partBytes
        return bytes[start..<min(start + partBytes, bytes.count)]
    }

    /// From part 1, with new numbers.
    ///
    /// - Returns: false when it has been tried often enough, or the relay of meanwhile takes no such parts.
    mutating func beginAnew(_ limits: ServerLimits) -> Bool {
        guard round < ClientLimits.drawingRoundsMax, cut(limits) else { return false }
        round += 1
        isAccepted = false
        return true
    }
}

/// What the two halves of a receipt wait for.
package struct StoredTokens: Hashable, Sendable {
    package var accepted: ClientToken?
    package var stored: ClientToken?

    package init(accepted: ClientToken, stored: ClientToken) {
        self.accepted = accepted
        self.stored = stored
    }
}
