import RelayPrimitives
import RelayWire

/// One thing that waits to be sent, in the order of the calls.
enum Outgoing: Sendable {
    case message(OutgoingMessage)
    /// A large drawing begins: its parts leave beside the queue from here on.
    case drawing(UInt64)
    case direct(ClientToken, Name, Payload, customType: String?)
    case packet(TopicID, Payload, slot: UInt32?, senderTime: UInt32?, echo: Bool, queuedAt: Instant)
    case request(ClientToken?, ClientRequest)

    var message: OutgoingMessage? { if case .message(let message) = self { message } else { nil } }

    var bytes: Int {
        switch self {
        case .message(let message): message.payload.byteCount + (message.customType?.utf8.count ?? 0)
        // Counted where they are held.
        case .drawing: 0
        case .direct(_, _, let payload, let type): payload.byteCount + (type?.utf8.count ?? 0)
        case .packet(_, let payload, _, _, _, _): payload.byteCount
        case .request(_, .writeMetadata(_, let write)): 256 + write.byteCount
        case .request: 256
        }
    }
}

struct OutgoingMessage: Sendable {
    /// Completed by `accepted`; `nil` once that is done.
    var token: ClientToken?
    var channel: Name
    var payload: Payload
    var customType: String?
    /// Whether its delivery comes back, behind `accepted`. [MS6]
    var echo: Bool
    /// Whether the channel keeps it. [HI1]
    var isKept: Bool = true
    var key: Name?
    /// Kept for good as the newest of its key. [BL1]
    var isRetained = false
    /// Completed when a retained message is durable; `nil` once that is done. [BL2]
    var storedToken: ClientToken?
    /// Which part of which large drawing it is; the drawing holds the bytes.
    var part: DrawingPart?
    /// It was sent before, and not answered when the link ended. [MS9]
    var number: UInt64?
    /// It was refused because one before it was, and is sent again. [MS10]
    var wasRefused = false

    var flags: FrameFlags { payload.flags.union(echo ? .echo : []).union(isKept ? [] : .noHistory).union(isRetained ? .retain : []) }
    /// Nobody waits for what becomes of it: sent again it would say nothing new.
    var isSettled: Bool { token == nil && storedToken == nil && part == nil }
}

struct PendingRequest: Sendable {
    /// `nil`: the machine itself asked, to have again what the app wants.
    var token: ClientToken?
    var request: ClientRequest
    /// Of a history request: what has come so far.
    var items: [Message] = []
    /// It was asked before, over a link that has ended.
    var isAgain = false
}

enum PendingPublish: Sendable {
    case message(OutgoingMessage)
    case direct(ClientToken)

    var message: OutgoingMessage? { if case .message(let message) = self { message } else { nil } }
    var channel: Name? { if case .message(let message) = self { message.channel } else { nil } }
    var echo: Bool { if case .message(let message) = self { message.echo } else { false } }
}
