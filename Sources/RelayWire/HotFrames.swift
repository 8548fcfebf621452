// The frames with binary bodies, decoded in place: the slices point into the caller's buffer and are good only
// while that is. All integers are big-endian. `docs/protocol.md` draws the same layouts.

/// `publish`, client to relay. [MS1]
///
///     number u64 | n u8, channel | [n u8, customType] | [n u8, key] | [part u16, parts u16] | payload
package struct PublishFrame {
    package var number: UInt64
    package var flags: FrameFlags
    package var channel: UnsafeRawBufferPointer
    package var customType: UnsafeRawBufferPointer
    package var key: UnsafeRawBufferPointer
    package var part: UInt16 = 1
    package var parts: UInt16 = 1
    package var payload: UnsafeRawBufferPointer
    /// The block of extensions in front of it, which `init` leaves to its caller. [FR9]
    package var extensions = UnsafeRawBufferPointer(start: nil, count: 0)

    package static let flagsAllowed: FrameFlags = [.text, .customType, .key, .part, .echo, .retain, .noHistory]

    package init(flags: UInt8, body: UnsafeRawBufferPointer) throws(WireError) {
        self.flags = try FrameFlags.checked(flags, allowed: Self.flagsAllowed)
        var reader = ByteReader(body)
        guard let number = reader.integer(UInt64.self), let channel = reader.shortBytes() else { throw .truncated("publish") }
        guard (1...Limits.integerMax).contains(number) else { throw .badNumber }
        self.number = number
        self.channel = channel
        customType = UnsafeRawBufferPointer(start: nil, count: 0)
        key = UnsafeRawBufferPointer(start: nil, count: 0)
        if self.flags.contains(.customType) {
            guard let bytes = reader.shortBytes() else { throw .truncated("publish") }
            customType = bytes
        }
        if self.flags.contains(.key) {
            guard let bytes = reader.shortBytes() else { throw .truncated("publish") }
            key = bytes
        }
        if self.flags.contains(.part) {
            guard let part = reader.integer(UInt16.self), let parts = reader.integer(UInt16.self) else { throw .truncated("publish") }
            self.part = part
            self.parts = parts
        }
        payload = reader.rest
    }
}

/// `deliver`, relay to client. [MS4]
///
///     channel u32 | publisher u32 | offset u64 | wall ms u64 | [n u8, customType] | [n u8, key] | [part u16, parts u16] | payload
package struct DeliverFrame {
    package var channel: UInt32
    package var publisher: UInt32
    package var offset: UInt64
    package var wallMilliseconds: UInt64
    package var flags: FrameFlags
    package var customType = UnsafeRawBufferPointer(start: nil, count: 0)
    package var key = UnsafeRawBufferPointer(start: nil, count: 0)
    package var part: UInt16 = 1
    package var parts: UInt16 = 1
    package var payload: UnsafeRawBufferPointer

    package static let flagsAllowed: FrameFlags = [.text, .customType, .key, .part, .retain]

    package init(flags: UInt8, body: UnsafeRawBufferPointer) throws(WireError) {
        self.flags = try FrameFlags.checked(flags, allowed: Self.flagsAllowed)
        var reader = ByteReader(body)
        guard let channel = reader.integer(UInt32.self), let publisher = reader.integer(UInt32.self),
            let offset = reader.integer(UInt64.self), let wall = reader.integer(UInt64.self)
        else { throw .truncated("deliver") }
        self.channel = channel
        self.publisher = publisher
        self.offset = offset
        wallMilliseconds = wall
        if self.flags.contains(.customType) {
            guard let bytes = reader.shortBytes() else { throw .truncated("deliver") }
            customType = bytes
        }
        if self.flags.contains(.key) {
            guard let bytes = reader.shortBytes() else { throw .truncated("deliver") }
            key = bytes
        }
        if self.flags.contains(.part) {
            guard let part = reader.integer(UInt16.self), let parts = reader.integer(UInt16.self) else { throw .truncated("deliver") }
            self.part = part
            self.parts = parts
        }
        payload = reader.rest
    }
}

/// `publishPacket`, client to relay. [ST5]
///
///     flow u32 | [slot u32] | [sender time u32] | payload
package struct PublishPacketFrame {
    package var flags: FrameFlags
    package var flow: UInt32
    package var slot: UInt32 = 0
    package var senderTime: UInt32 = 0
    package var payload: UnsafeRawBufferPointer
    /// The block of extensions in front of it, which `init` leaves to its caller. [FR9]
    package var extensions = UnsafeRawBufferPointer(start: nil, count: 0)

    package static let flagsAllowed: FrameFlags = [.text, .slot, .senderTime, .echo]

    /// The flow of a body that may end inside a field behind it. [FR7]
    package static func flow(of body: UnsafeRawBufferPointer) -> UInt32? {
        var reader = ByteReader(body)
        return reader.integer(UInt32.self)
    }

    @inline(__always)
    package init(flags: UInt8, body: UnsafeRawBufferPointer) throws(WireError) {
        self.flags = try FrameFlags.checked(flags, allowed: Self.flagsAllowed)
        var reader = ByteReader(body)
        guard let flow = reader.integer(UInt32.self) else { throw .truncated("publishPacket") }
        self.flow = flow
        if self.flags.contains(.slot) {
            guard let slot = reader.integer(UInt32.self) else { throw .truncated("publishPacket") }
            self.slot = slot
        }
        if self.flags.contains(.senderTime) {
            guard let time = reader.integer(UInt32.self) else { throw .truncated("publishPacket") }
            senderTime = time
        }
        payload = reader.rest
    }
}

/// `packet`, relay to client. [ST6]
///
///     flow u32 | sequence u32 | [slot u32] | [sender time u32] | payload
package struct PacketFrame {
    package var flags: FrameFlags
    package var flow: UInt32
    package var sequence: UInt32
    package var slot: UInt32 = 0
    package var senderTime: UInt32 = 0
    package var payload: UnsafeRawBufferPointer

    package static let flagsAllowed: FrameFlags = [.text, .slot, .senderTime]

    /// Of the largest frame with such a payload.
    package static func frameBytesMax(payload: Int) -> Int { Limits.frameHeadBytes + 2 + Limits.extensionBytesMax + 16 + payload }

    package init(flags: UInt8, body: UnsafeRawBufferPointer) throws(WireError) {
        self.flags = try FrameFlags.checked(flags, allowed: Self.flagsAllowed)
        var reader = ByteReader(body)
        guard let flow = reader.integer(UInt32.self), let sequence = reader.integer(UInt32.self) else { throw .truncated("packet") }
        self.flow = flow
        self.sequence = sequence
        if self.flags.contains(.slot) {
            guard let slot = reader.integer(UInt32.self) else { throw .truncated("packet") }
            self.slot = slot
        }
        if self.flags.contains(.senderTime) {
            guard let time = reader.integer(UInt32.self) else { throw .truncated("packet") }
            senderTime = time
        }
        payload = reader.rest
    }
}

/// `direct`, client to relay: a message to one user. [DM1]
///
///     number u64 | n u8, user | [n u8, customType] | payload
package struct DirectFrame {
    package var number: UInt64
    package var flags: FrameFlags
    package var user: UnsafeRawBufferPointer
    package var customType = UnsafeRawBufferPointer(start: nil, count: 0)
    package var payload: UnsafeRawBufferPointer
    /// The block of extensions in front of it, which `init` leaves to its caller. [FR9]
    package var extensions = UnsafeRawBufferPointer(start: nil, count: 0)

    package static let flagsAllowed: FrameFlags = [.text, .customType]

    package init(flags: UInt8, body: UnsafeRawBufferPointer) throws(WireError) {
        self.flags = try FrameFlags.checked(flags, allowed: Self.flagsAllowed)
        var reader = ByteReader(body)
        guard let number = reader.integer(UInt64.self), let user = reader.shortBytes() else { throw .truncated("direct") }
        guard (1...Limits.integerMax).contains(number) else { throw .badNumber }
        self.number = number
        self.user = user
        if self.flags.contains(.customType) {
            guard let bytes = reader.shortBytes() else { throw .truncated("direct") }
            customType = bytes
        }
        payload = reader.rest
    }
}

/// `directDeliver`, relay to client. [DM2]
///
///     delivery u64 | wall ms u64 | n u8, sender | [n u8, customType] | payload
package struct DirectDeliverFrame {
    package var delivery: UInt64
    package var wallMilliseconds: UInt64
    package var flags: FrameFlags
    package var sender: UnsafeRawBufferPointer
    package var customType = UnsafeRawBufferPointer(start: nil, count: 0)
    package var payload: UnsafeRawBufferPointer

    package static let flagsAllowed: FrameFlags = [.text, .customType]

    package init(flags: UInt8, body: UnsafeRawBufferPointer) throws(WireError) {
        self.flags = try FrameFlags.checked(flags, allowed: Self.flagsAllowed)
        var reader = ByteReader(body)
        guard let delivery = reader.integer(UInt64.self), let wall = reader.integer(UInt64.self), let sender = reader.shortBytes()
        else { throw .truncated("directDeliver") }
        self.delivery = delivery
        wallMilliseconds = wall
        self.sender = sender
        if self.flags.contains(.customType) {
            guard let bytes = reader.shortBytes() else { throw .truncated("directDeliver") }
            customType = bytes
        }
        payload = reader.rest
    }
}

/// `historyItem`, relay to client: one message of a `history` request. [HI6]
///
///     id u32 | offset u64 | wall ms u64 | n u8, publisher | [n u8, customType] | [n u8, key] | [part u16, parts u16] | payload
package struct HistoryItemFrame {
    package var id: UInt32
    package var offset: UInt64
    package var wallMilliseconds: UInt64
    package var flags: FrameFlags
    package var publisher: UnsafeRawBufferPointer
    package var customType = UnsafeRawBufferPointer(start: nil, count: 0)
    package var key = UnsafeRawBufferPointer(start: nil, count: 0)
    package var part: UInt16 = 1
    package var parts: UInt16 = 1
    package var payload: UnsafeRawBufferPointer

    package static let flagsAllowed: FrameFlags = [.text, .customType, .key, .part]

    package init(flags: UInt8, body: UnsafeRawBufferPointer) throws(WireError) {
        self.flags = try FrameFlags.checked(flags, allowed: Self.flagsAllowed)
        var reader = ByteReader(body)
        guard let id = reader.integer(UInt32.self), let offset = reader.integer(UInt64.self), let wall = reader.integer(UInt64.self),
            let publisher = reader.shortBytes()
        else { throw .truncated("historyItem") }
        self.id = id
        self.offset = offset
        wallMilliseconds = wall
        self.publisher = publisher
        if self.flags.contains(.customType) {
            guard let bytes = reader.shortBytes() else { throw .truncated("historyItem") }
            customType = bytes
        }
        if self.flags.contains(.key) {
            guard let bytes = reader.shortBytes() else { throw .truncated("historyItem") }
            key = bytes
        }
        if self.flags.contains(.part) {
            guard let part = reader.integer(UInt16.self), let parts = reader.integer(UInt16.self) else { throw .truncated("historyItem") }
            self.part = part
            self.parts = parts
        }
        payload = reader.rest
    }
}

/// Packets of one flow that a session will never receive, both ends included. [DL6]
package struct LostRange: Equatable, Sendable {
    package var flow: UInt32
    package var first: UInt32
    package var last: UInt32

    package init(flow: UInt32, first: UInt32, last: UInt32) {
        self.flow = flow
        self.first = first
        self.last = last
    }

    package var count: Int { Int(last) - Int(first) + 1 }
}

/// Why packets were shed from one reader's queue. [DL6]
package enum LostReason: UInt8, Sendable, CaseIterable {
    /// The reader's packets exceeded their bound in bytes.
    case slowReader = 1
    /// Packets became older than their lifetime before the reader's link could take them.
    case expired = 2
    /// They were accepted while the reader was catching up in the message channel of the same name. [HI5]
    case catchingUp = 3
    /// They were more than the reader has said that it takes. [DL11]
    case readerLimit = 4
}

/// `lost`, relay to client. [DL6]
///
///     reason u8 | count u16 | count × (flow u32, first u32, last u32)
package struct LostFrame {
    package var reason: UInt8
    package var ranges: [LostRange]

    package static let fixedBytes = 3
    package static let rangeBytes = 12

    package init(body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = ByteReader(body)
        guard let reason = reader.integer(UInt8.self), let count = reader.integer(UInt16.self),
            reader.rest.count == Int(count) * Self.rangeBytes
        else { throw .truncated("lost") }
        self.reason = reason
        ranges = []
        ranges.reserveCapacity(Int(count))
        for _ in 0..<count {
            ranges.append(LostRange(flow: reader.integer()!, first: reader.integer()!, last: reader.integer()!))
        }
    }
}

extension FrameType {
    /// Whether extensions may stand in front of its body. [FR9]
    package var isBinary: Bool {
        switch self {
        case .publish, .publishPacket, .publishChanges, .direct, .directReceived, .deliver, .packet, .directDeliver, .accepted, .confirmed,
            .historyItem, .stored, .userNamed, .lost: true
        default: false
        }
    }

    /// What a frame of this type may have set; all but the frames with a payload have none. [FR4]
    package var flagsAllowed: FrameFlags {
        switch self {
        case .publish: PublishFrame.flagsAllowed
        case .deliver: DeliverFrame.flagsAllowed
        case .publishPacket: PublishPacketFrame.flagsAllowed
        case .packet: PacketFrame.flagsAllowed
        case .direct: DirectFrame.flagsAllowed
        case .directDeliver: DirectDeliverFrame.flagsAllowed
        case .historyItem: HistoryItemFrame.flagsAllowed
        default: []
        }
    }
}

extension FrameFlags {
    @inline(__always)
    package static func checked(_ flags: UInt8, allowed: FrameFlags) throws(WireError) -> FrameFlags {
        guard flags & ~allowed.rawValue == 0 else {
            throw WireError(.badRequest, "flags 0x\(String(flags, radix: 16)) has bits this frame type does not define")
        }
        return FrameFlags(rawValue: flags)
    }
}

extension WireError {
    package static func truncated(_ name: String) -> WireError {
        WireError(.badRequest, "the body of \(name) ends in the middle of a field")
    }

    package static var badNumber: WireError {
        WireError(.badRequest, "a number is within 1…\(Limits.integerMax)")
    }
}
