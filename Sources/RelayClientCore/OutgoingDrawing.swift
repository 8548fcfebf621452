import RelayWire

/// One of the messages that a large drawing is cut into. [BL8]
struct DrawingPart: Equatable, Sendable {
    var drawing: UInt64
    /// How often the drawing had begun anew: what answers an earlier round says nothing.
    var round: Int
    var number: UInt16
    var of: UInt16

    /// Of a change set.
    var isChanges: Bool

    var isLast: Bool { number == of }
}

/// A drawing above the size of one message, or a change set, as long as something waits for what becomes of it. [BL8, BL11]
struct OutgoingDrawing: Sendable {
    let id: UInt64
    let channel: Name
    /// Of the drawing, or of all records that a change set writes or removes.
    let keys: Set<Name>
    let customType: String?
    let isRetained: Bool
    let echo: Bool
    let isText: Bool
    let bytes: [UInt8]
    /// Of a change set: where each change ends in `bytes`, and its payload and custom type in bytes. Empty of a drawing.
    private let changes: [(end: Int, content: Int)]
    var tokens: StoredTokens
    /// Its marker has left the queue.
    var isUnderWay = false
    /// Its last part was accepted, and it is not told durable.
    var isAccepted = false
    private(set) var round = 1
    /// Where each part ends in `bytes`.
    private var ends: [Int] = []
    /// Number of the part that leaves next; above `parts` when all have left.
    private(set) var next = 1

    var isChanges: Bool { !changes.isEmpty }
    private var parts: UInt16 { UInt16(ends.count) }

    init(
        id: UInt64, channel: Name, key: Name, customType: String?, isRetained: Bool, echo: Bool, payload: Payload, tokens: StoredTokens,
        limits: ServerLimits
    ) throws(RelayError) {
        self.id = id
        self.channel = channel
        keys = [key]
        changes = []
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

    /// - Parameter changes: checked, one or more.
    init(id: UInt64, channel: Name, keys: Set<Name>, changes: [RecordChange], tokens: StoredTokens, limits: ServerLimits) {
        self.id = id
        self.channel = channel
        self.keys = keys
        (customType, isRetained, echo, isText) = (nil, true, false, false)
        var bytes: [UInt8] = [], ends: [(end: Int, content: Int)] = []
        for change in changes {
            let payload = change.payload?.bytes ?? []
            let isText = change.payload?.flags.contains(.text) ?? false
            bytes.append(change: change.key, customType: change.payload == nil ? nil : change.customType, isText: isText, payload: payload)
            ends.append((bytes.count, change.contentBytes))
        }
        self.bytes = bytes
        self.changes = ends
        self.tokens = tokens
        _ = cut(limits)
    }

    static let partsMax = Int(UInt16.max)

    /// - Returns: false when it would be too many parts.
    private mutating func cut(_ limits: ServerLimits) -> Bool {
        next = 1
        guard changes.isEmpty else {
            cutChanges(limits)
            return true
        }
        let partBytes = limits.messageBytesMax - (customType?.utf8.count ?? 0)
        guard partBytes > 0 else { return false }
        let count = (bytes.count + partBytes - 1) / partBytes
        guard (2...Self.partsMax).contains(count) else { return false }
        ends = (1...count).map { min($0 * partBytes, bytes.count) }
        return true
    }

    /// As many changes in a part as it may have. [BL11]
    private mutating func cutChanges(_ limits: ServerLimits) {
        ends = []
        var (count, content) = (0, 0)
        for (index, change) in changes.enumerated() {
            if count == Limits.changesPerPartMax || (count > 0 && content + change.content > limits.messageBytesMax) {
                ends.append(changes[index - 1].end)
                (count, content) = (0, 0)
            }
            count += 1
            content += change.content
        }
        ends.append(bytes.count)
    }

    var hasMore: Bool { next <= Int(parts) }

    mutating func nextPart() -> OutgoingMessage {
        let part = DrawingPart(drawing: id, round: round, number: UInt16(next), of: parts, isChanges: isChanges)
        next += 1
        return OutgoingMessage(
            token: nil, channel: channel, payload: isText ? .text("") : .bytes([]), customType: customType, echo: echo,
            key: isChanges ? nil : keys.first, isRetained: isRetained, part: part)
    }

    /// Text is cut wherever it comes: it is text as a whole. [BL8]
    func bytes(of part: DrawingPart) -> ArraySlice<UInt8> {
        let number = Int(part.number)
        return bytes[(number == 1 ? 0 : ends[number - 2])..<ends[number - 1]]
    }

    mutating func goBack(to part: DrawingPart) { next = min(next, Int(part.number)) }

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
package struct StoredTokens: Equatable, Sendable {
    package var accepted: ClientToken?
    package var stored: ClientToken?

    package init(accepted: ClientToken, stored: ClientToken) {
        self.accepted = accepted
        self.stored = stored
    }
}
