import RelayPrimitives

// Hot frames as bytes, for clients, tests and vectors. The hub writes its frames straight into its chunks.

extension Frame {
    /// `publish`. Names and types are not checked here: whoever sends checks, whoever receives refuses.
    package static func publish(
        number: UInt64, channel: String, customType: String? = nil, key: String? = nil, part: (number: UInt16, of: UInt16)? = nil,
        flags: FrameFlags = [], payload: some Collection<UInt8>
    ) -> Frame {
        var body: [UInt8] = []
        var flags = flags
        body.reserveCapacity(8 + 3 + channel.utf8.count + (customType?.utf8.count ?? 0) + (key?.utf8.count ?? 0) + 4 + payload.count)
        body.append(bigEndian: number)
        body.append(short: channel)
        if let customType { body.append(short: customType); flags.insert(.customType) }
        if let key { body.append(short: key); flags.insert(.key) }
        if let part {
            body.append(bigEndian: part.number)
            body.append(bigEndian: part.of)
            flags.insert(.part)
        }
        body.append(contentsOf: payload)
        return Frame(.publish, flags: flags, body: body)
    }

    package static func publishPacket(
        flow: UInt32, slot: UInt32? = nil, senderTime: UInt32? = nil, flags: FrameFlags = [], payload: some Collection<UInt8>
    ) -> Frame {
        var body: [UInt8] = []
        body.reserveCapacity(12 + payload.count)
        var flags = flags
        body.append(bigEndian: flow)
        if let slot { body.append(bigEndian: slot); flags.insert(.slot) }
        if let senderTime { body.append(bigEndian: senderTime); flags.insert(.senderTime) }
        body.append(contentsOf: payload)
        return Frame(.publishPacket, flags: flags, body: body)
    }

    package static func direct(
        number: UInt64, user: String, customType: String? = nil, flags: FrameFlags = [], payload: some Collection<UInt8>
    ) -> Frame {
        var body: [UInt8] = []
        body.reserveCapacity(8 + 2 + user.utf8.count + (customType?.utf8.count ?? 0) + payload.count)
        body.append(bigEndian: number)
        body.append(short: user)
        if let customType { body.append(short: customType) }
        body.append(contentsOf: payload)
        return Frame(.direct, flags: customType == nil ? flags : flags.union(.customType), body: body)
    }

    package static func directReceived(delivery: UInt64) -> Frame {
        var body: [UInt8] = []
        body.append(bigEndian: delivery)
        return Frame(.directReceived, body: body)
    }

    /// The same frame with these extensions in front of its body. [FR9]
    package func extended(by entries: [UInt8]) -> Frame {
        var block: [UInt8] = []
        block.append(bigEndian: UInt16(entries.count))
        return Frame(type: type, flags: flags | FrameFlags.extensions.rawValue, body: block + entries + body)
    }

    /// A frame with a JSON body, its keys sorted. [JS1]
    package static func json(_ type: FrameType, _ value: some JSONObject) -> Frame {
        Frame(type, body: JSONBody.encode(value))
    }
}

extension [UInt8] {
    /// A length byte and at most 255 bytes; a longer text is the caller's mistake.
    package mutating func append(short text: String) {
        precondition(text.utf8.count <= 255, "a length byte cannot say \(text.utf8.count)")
        append(UInt8(text.utf8.count))
        append(contentsOf: text.utf8)
    }
}
