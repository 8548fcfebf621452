/// The second field of every frame: what its body means. [FR1]
package enum FrameType: UInt8, CaseIterable, Sendable {
    // Either way.
    case ping = 0x03
    case pong = 0x04

    // From the client.
    case login = 0x01
    case logout = 0x02
    case renew = 0x05
    case setRole = 0x06
    case setMode = 0x07
    case endSession = 0x08
    case banUser = 0x09
    case unbanUser = 0x0A
    case getBans = 0x0B
    case forgetUser = 0x0C
    case status = 0x0D
    case cancel = 0x0E
    case setReaderLimits = 0x0F
    case publish = 0x10
    case publishPacket = 0x11
    case direct = 0x12
    case directReceived = 0x13
    case publishChanges = 0x14
    case goOn = 0x15
    case offerDevice = 0x16
    case endChannel = 0x17
    case offerJoinCode = 0x18
    case withdrawJoinCode = 0x19
    case subscribe = 0x20
    case unsubscribe = 0x21
    case join = 0x22
    case leave = 0x23
    case joinTopic = 0x24
    case leaveTopic = 0x25
    case subscribeTopic = 0x26
    case unsubscribeTopic = 0x27
    case subscribedUsers = 0x28
    case who = 0x29
    case whereIs = 0x2A
    case setStates = 0x2B
    case removeStates = 0x2C
    case getStates = 0x2D
    case history = 0x2E
    case barrier = 0x2F
    case setMetadata = 0x30
    case updateMetadata = 0x31
    case removeMetadata = 0x32
    case getMetadata = 0x33
    case subscribeUserMetadata = 0x34
    case unsubscribeUserMetadata = 0x35
    case setLock = 0x38
    case acquireLock = 0x39
    case releaseLock = 0x3A
    case revokeLock = 0x3B
    case removeLock = 0x3C
    case getLocks = 0x3D
    case clear = 0x40
    case undoClear = 0x41
    case boards = 0x42
    case removeBoard = 0x43
    case removeRecords = 0x44

    // From the relay.
    case welcome = 0x80
    case answer = 0x81
    case error = 0x82
    case closing = 0x83
    case restored = 0x84
    case metadataPage = 0x85
    case deliver = 0x90
    case packet = 0x91
    case directDeliver = 0x92
    case accepted = 0x93
    case confirmed = 0x94
    case historyItem = 0x95
    case stored = 0x96
    case notStored = 0x97
    case userNamed = 0xA0
    case flowOpened = 0xA1
    case flowClosed = 0xA2
    case lost = 0xA3
    case packetsDropped = 0xA4
    case presence = 0xB0
    case topics = 0xB1
    case metadata = 0xB2
    case locks = 0xB3
    case gap = 0xB4
    case caughtUp = 0xB5
    case cleared = 0xB6
    case reset = 0xB7
    case accessExpiring = 0xB8
    case removed = 0xB9
    case accessChanged = 0xBA
    case modeChanged = 0xBB
    case catchingUp = 0xBC
    case credit = 0xBD
    case joinCodeEnded = 0xBE

    /// Who may send it.
    package enum Sender: Sendable { case client, relay, either }

    package var sender: Sender {
        switch self {
        case .ping, .pong: .either
        default: rawValue < 0x80 ? .client : .relay
        }
    }

    /// Name as in `docs/protocol.md`.
    package var name: String { self == .whereIs ? "where" : String(describing: self) }
}

/// The flags byte of a hot frame. Bits that a type does not define are zero. [FR4]
package struct FrameFlags: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The payload is UTF-8 text; without it the payload is bytes.
    package static let text = Self(rawValue: 0x01)
    /// A custom type stands before the payload (`publish`, `deliver`, `direct`, `directDeliver`).
    package static let customType = Self(rawValue: 0x02)
    /// A key stands before the payload (`publish`, `deliver`, `historyItem`).
    package static let key = Self(rawValue: 0x04)
    /// Part number and count stand before the payload (`publish`, `deliver`, `historyItem`).
    package static let part = Self(rawValue: 0x08)
    /// The sender wants to receive it as well (`publish`, `publishPacket`).
    package static let echo = Self(rawValue: 0x10)
    /// Kept as the newest message of its key (`publish`, `deliver`, `historyItem`).
    package static let retain = Self(rawValue: 0x20)
    /// Not to be kept in the history (`publish`).
    package static let noHistory = Self(rawValue: 0x40)

    /// A block of extensions stands in front of the body: in every binary frame but `ping` and `pong`. [FR9]
    package static let extensions = Self(rawValue: 0x80)

    /// A slot, "latest wins", stands before the payload (`publishPacket`, `packet`).
    package static let slot = Self(rawValue: 0x02)
    /// The sender's own time stands before the payload (`publishPacket`, `packet`).
    package static let senderTime = Self(rawValue: 0x04)
}

/// A channel is a kind and a name; one name may be two channels. [CH1]
package enum ChannelKind: String, JSONElement, Sendable, Equatable, CaseIterable, Comparable {
    case message, stream

    package static func < (left: Self, right: Self) -> Bool { left == .message && right == .stream }
}
