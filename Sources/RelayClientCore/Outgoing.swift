import RelayWire

/// One thing that waits to be sent, in the order of the calls.
enum Outgoing: Sendable {
    case message(OutgoingMessage)
    case direct(ClientToken, Name, Payload, customType: String?)
    case packet(TopicID, Payload, slot: UInt32?, senderTime: UInt32?, echo: Bool, queuedAt: Moment)
    case request(ClientToken?, ClientRequest)

    var bytes: Int {
        switch self {
        case .message(let message): message.payload.byteCount + (message.customType?.utf8.count ?? 0)
        case .direct(_, _, let payload, let type): payload.byteCount + (type?.utf8.count ?? 0)
        case .packet(_, let payload, _, _, _, _): payload.byteCount
        case .request(_, .writeMetadata(_, let write)): 256 + write.byteCount
        case .request: 256
        }
    }
}

struct OutgoingMessage: Sendable {
    var token: ClientToken
    var channel: Name
    var payload: Payload
    var customType: String?
    /// Whether its delivery comes back, behind `accepted`. [MS6]
    var echo: Bool
    /// Whether the channel keeps it. [HI1]
    var isKept: Bool
    /// It was sent before, and not answered when the link ended. [MS9]
    var number: UInt64?

    var flags: FrameFlags { payload.flags.union(echo ? .echo : []).union(isKept ? [] : .noHistory) }
}

struct PendingRequest: Sendable {
    /// `nil`: the machine itself asked, to have again what the app wants.
    var token: ClientToken?
    var request: ClientRequest
    /// Of a history request: what has come so far.
    var items: [Message] = []
}

enum PendingPublish: Sendable {
    case message(OutgoingMessage)
    case direct(ClientToken)

    var token: ClientToken {
        switch self {
        case .message(let message): message.token
        case .direct(let token): token
        }
    }
    var channel: Name? { if case .message(let message) = self { message.channel } else { nil } }
    var echo: Bool { if case .message(let message) = self { message.echo } else { false } }
}
