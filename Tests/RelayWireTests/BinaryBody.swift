import RelayWire

/// What a decoder makes of a binary body, in the words of `docs/vectors/frames.tsv`.
struct BinaryBody: Equatable {
    /// `key=value` in the order of the wire, then the flags that have no field.
    var fields: [String] = []
    /// `nil` for frames that have none.
    var payload: [UInt8]?
    var isText = false
    /// The same frame from this package's own encoder; `nil` where it has none.
    var encoded: Frame?

    var meaning: String {
        guard let payload else { return fields.joined(separator: " ") }
        let value = isText ? quoted(payload) : "hex:" + payload.hex
        return (fields + ["payload=" + value]).joined(separator: " ")
    }

    typealias Decoder = (_ flags: UInt8, _ body: UnsafeRawBufferPointer) throws -> BinaryBody

    static func decode(_ type: FrameType, flags: UInt8, body: [UInt8]) throws -> BinaryBody? {
        guard let decoder = decoder(of: type) else { return nil }
        return try body.withUnsafeBytes { bytes in
            var (flags, body) = (flags, bytes)
            guard type.isBinary, flags & FrameFlags.extensions.rawValue != 0 else { return try decoder(flags, body) }
            let entries = Array(try Extensions.take(from: &body, &flags).dropFirst(2))
            var found = try decoder(flags, body)
            found.fields.insert("extensions=hex:" + entries.hex, at: 0)
            found.encoded = found.encoded?.extended(by: entries)
            return found
        }
    }

    /// The decoder of a frame type with a binary body, `nil` for JSON.
    static func decoder(of type: FrameType) -> Decoder? {
        switch type {
        case .publish: publish
        case .publishPacket: publishPacket
        case .publishChanges: publishChanges
        case .direct: direct
        case .deliver: deliver
        case .packet: packet
        case .directDeliver: directDeliver
        case .historyItem: historyItem
        case .lost: lost
        case .setMetadata: texts(.setMetadata, WriteMetadataRequest.self) { $0.items.map(\.bytes) }
        case .updateMetadata: texts(.updateMetadata, WriteMetadataRequest.self) { $0.items.map(\.bytes) }
        case .metadataPage: texts(.metadataPage, MetadataPageHead.self) { $0.items.map(\.bytes) }
        case .metadata: texts(.metadata, MetadataEventHead.self) { $0.items.map(\.bytes) }
        case .ping, .pong: { _, body in BinaryBody(payload: Array(body)) }
        case .directReceived:
            plain("directReceived") { reader in
                guard let delivery = reader.integer(UInt64.self) else { return nil }
                return BinaryBody(fields: ["delivery=\(delivery)"], encoded: .directReceived(delivery: delivery))
            }
        case .accepted:
            plain("accepted") { reader in
                guard let number = reader.integer(UInt64.self), let offset = reader.integer(UInt64.self),
                    let credit = reader.integer(UInt32.self)
                else { return nil }
                return BinaryBody(fields: ["number=\(number)", "offset=\(offset)", "credit=\(credit)"])
            }
        case .stored:
            plain("stored") { reader in
                guard let number = reader.integer(UInt64.self), let offset = reader.integer(UInt64.self) else { return nil }
                return BinaryBody(fields: ["number=\(number)", "offset=\(offset)"])
            }
        case .confirmed:
            plain("confirmed") { reader in reader.integer(UInt64.self).map { BinaryBody(fields: ["number=\($0)"]) } }
        case .userNamed:
            plain("userNamed") { reader in
                guard let handle = reader.integer(UInt32.self), let name = reader.bytes(reader.rest.count) else { return nil }
                return BinaryBody(fields: ["handle=\(handle)", "user=" + quoted(name)])
            }
        case .login, .logout, .subscribe, .unsubscribe, .join, .leave, .joinTopic, .leaveTopic, .subscribeTopic, .unsubscribeTopic,
            .subscribedUsers, .who, .whereIs, .setStates, .removeStates, .getStates, .welcome, .answer, .error, .closing, .restored,
            .flowOpened, .flowClosed, .packetsDropped, .presence, .topics, .removeMetadata, .getMetadata, .subscribeUserMetadata,
            .unsubscribeUserMetadata, .setLock, .acquireLock, .releaseLock, .revokeLock, .removeLock, .getLocks, .locks, .history, .gap,
            .barrier, .cancel, .setReaderLimits, .goOn, .offerDevice, .offerJoinCode, .withdrawJoinCode, .joinCodeEnded,
            .credit, .catchingUp, .caughtUp, .clear, .undoClear, .boards, .removeBoard,
            .notStored, .cleared, .reset, .renew, .accessExpiring, .removed, .setRole, .setMode, .endSession, .banUser, .unbanUser,
            .getBans, .forgetUser, .removeRecords, .endChannel, .status, .accessChanged, .modeChanged:
            nil
        }
    }

    /// Frames without a decoder of their own: a few integers, read as the hub and the client read them.
    private static func plain(_ name: String, _ read: @escaping (inout ByteReader) -> BinaryBody?) -> Decoder {
        { _, body in
            var reader = ByteReader(body)
            guard let found = read(&reader), reader.rest.isEmpty else { throw WireError.truncated(name) }
            return found
        }
    }

    private static func publish(_ flags: UInt8, _ body: UnsafeRawBufferPointer) throws -> BinaryBody {
        let frame = try PublishFrame(flags: flags, body: body)
        var fields = ["number=\(frame.number)", "channel=" + quoted(frame.channel)]
        if frame.flags.contains(.customType) { fields.append("customType=" + quoted(frame.customType)) }
        if frame.flags.contains(.key) { fields.append("key=" + quoted(frame.key)) }
        if frame.flags.contains(.part) { fields.append("part=\(frame.part)/\(frame.parts)") }
        if frame.flags.contains(.echo) { fields.append("echo") }
        if frame.flags.contains(.retain) { fields.append("retain") }
        if frame.flags.contains(.noHistory) { fields.append("noHistory") }
        let encoded = Frame.publish(
            number: frame.number, channel: string(frame.channel),
            customType: frame.flags.contains(.customType) ? string(frame.customType) : nil,
            key: frame.flags.contains(.key) ? string(frame.key) : nil, part: frame.flags.contains(.part) ? (frame.part, frame.parts) : nil,
            flags: frame.flags.subtracting([.customType, .key, .part]), payload: Array(frame.payload))
        return BinaryBody(fields: fields, payload: Array(frame.payload), isText: frame.flags.contains(.text), encoded: encoded)
    }

    private static func deliver(_ flags: UInt8, _ body: UnsafeRawBufferPointer) throws -> BinaryBody {
        let frame = try DeliverFrame(flags: flags, body: body)
        var fields = [
            "channel=\(frame.channel)", "publisher=\(frame.publisher)", "offset=\(frame.offset)", "time=\(frame.wallMilliseconds)",
        ]
        if frame.flags.contains(.customType) { fields.append("customType=" + quoted(frame.customType)) }
        if frame.flags.contains(.key) { fields.append("key=" + quoted(frame.key)) }
        if frame.flags.contains(.part) { fields.append("part=\(frame.part)/\(frame.parts)") }
        if frame.flags.contains(.retain) { fields.append("retain") }
        return BinaryBody(fields: fields, payload: Array(frame.payload), isText: frame.flags.contains(.text))
    }

    private static func publishPacket(_ flags: UInt8, _ body: UnsafeRawBufferPointer) throws -> BinaryBody {
        let frame = try PublishPacketFrame(flags: flags, body: body)
        var fields = ["flow=\(frame.flow)"]
        let slot = frame.flags.contains(.slot) ? frame.slot : nil
        let time = frame.flags.contains(.senderTime) ? frame.senderTime : nil
        if let slot { fields.append("slot=\(slot)") }
        if let time { fields.append("senderTime=\(time)") }
        if frame.flags.contains(.echo) { fields.append("echo") }
        let payload = Array(frame.payload)
        return BinaryBody(
            fields: fields, payload: payload, isText: frame.flags.contains(.text),
            encoded: .publishPacket(
                flow: frame.flow, slot: slot, senderTime: time, flags: frame.flags.subtracting([.slot, .senderTime]), payload: payload))
    }

    private static func packet(_ flags: UInt8, _ body: UnsafeRawBufferPointer) throws -> BinaryBody {
        let frame = try PacketFrame(flags: flags, body: body)
        var fields = ["flow=\(frame.flow)", "sequence=\(frame.sequence)"]
        if frame.flags.contains(.slot) { fields.append("slot=\(frame.slot)") }
        if frame.flags.contains(.senderTime) { fields.append("senderTime=\(frame.senderTime)") }
        return BinaryBody(fields: fields, payload: Array(frame.payload), isText: frame.flags.contains(.text))
    }

    private static func publishChanges(_ flags: UInt8, _ body: UnsafeRawBufferPointer) throws -> BinaryBody {
        let frame = try PublishChangesFrame(flags: flags, body: body)
        let fields = ["number=\(frame.number)", "channel=" + quoted(frame.channel), "part=\(frame.part)/\(frame.parts)"]
        let changes = Array(frame.changes)
        return BinaryBody(
            fields: fields, payload: changes,
            encoded: .publishChanges(
                number: frame.number, channel: string(frame.channel), part: (frame.part, frame.parts), changes: changes))
    }

    private static func direct(_ flags: UInt8, _ body: UnsafeRawBufferPointer) throws -> BinaryBody {
        let frame = try DirectFrame(flags: flags, body: body)
        let type = frame.flags.contains(.customType) ? string(frame.customType) : nil
        var fields = ["number=\(frame.number)", "user=" + quoted(frame.user)]
        if frame.flags.contains(.customType) { fields.append("customType=" + quoted(frame.customType)) }
        let payload = Array(frame.payload)
        return BinaryBody(
            fields: fields, payload: payload, isText: frame.flags.contains(.text),
            encoded: .direct(
                number: frame.number, user: string(frame.user), customType: type, flags: frame.flags.subtracting(.customType),
                payload: payload))
    }

    private static func historyItem(_ flags: UInt8, _ body: UnsafeRawBufferPointer) throws -> BinaryBody {
        let frame = try HistoryItemFrame(flags: flags, body: body)
        var fields = ["id=\(frame.id)", "offset=\(frame.offset)", "time=\(frame.wallMilliseconds)", "publisher=" + quoted(frame.publisher)]
        if frame.flags.contains(.customType) { fields.append("customType=" + quoted(frame.customType)) }
        if frame.flags.contains(.key) { fields.append("key=" + quoted(frame.key)) }
        if frame.flags.contains(.part) { fields.append("part=\(frame.part)/\(frame.parts)") }
        if frame.flags.contains(.retain) { fields.append("retain") }
        return BinaryBody(fields: fields, payload: Array(frame.payload), isText: frame.flags.contains(.text))
    }

    private static func directDeliver(_ flags: UInt8, _ body: UnsafeRawBufferPointer) throws -> BinaryBody {
        let frame = try DirectDeliverFrame(flags: flags, body: body)
        var fields = ["delivery=\(frame.delivery)", "time=\(frame.wallMilliseconds)", "sender=" + quoted(frame.sender)]
        if frame.flags.contains(.customType) { fields.append("customType=" + quoted(frame.customType)) }
        return BinaryBody(fields: fields, payload: Array(frame.payload), isText: frame.flags.contains(.text))
    }

    /// A head in JSON and texts behind it.
    private static func texts<Head: JSONObject>(_ type: FrameType, _ head: Head.Type, _ sizes: @escaping (Head) -> [Int]) -> Decoder {
        { flags, body in
            let (json, rest) = try TextBody.read(body)
            let decoded = try JSONBody.decode(head, from: json)
            let texts = try TextBody.cut(rest, sizes(decoded))
            return BinaryBody(
                fields: ["head=" + String(decoding: json, as: UTF8.self)], payload: texts.flatMap { $0 }, isText: true,
                encoded: Frame(type, flags: FrameFlags(rawValue: flags), body: TextBody.encode(head: decoded, texts: texts)))
        }
    }

    private static func lost(_ flags: UInt8, _ body: UnsafeRawBufferPointer) throws -> BinaryBody {
        let frame = try LostFrame(body: body)
        let ranges = frame.ranges.map { "\($0.flow):\($0.first)-\($0.last)" }
        return BinaryBody(fields: ["reason=\(frame.reason)", "ranges=" + ranges.joined(separator: ",")])
    }
}

private func string(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }
private func quoted(_ bytes: some Sequence<UInt8>) -> String { "\"\(string(bytes))\"" }
