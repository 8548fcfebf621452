import RelayWire

// Messages: accepted, numbered, delivered. [MS1–MS8]

extension Hub {
    mutating func publish(flags: UInt8, _ body: UnsafeRawBufferPointer, session: Int32, _ connection: Int32) {
        var number: UInt64?
        do throws(WireError) {
            number = Self.publishNumber(body)
            let frame = try PublishFrame(flags: flags, body: body)
            if try isKnown(frame.number, session, connection) { return }
            if !frame.flags.isDisjoint(with: [.key, .part, .retain]) {
                throw WireError(.notSupported, "key, part and retain want a board log, which this relay does not have")
            }
            try checkContent(frame.payload, frame.customType, flags: frame.flags)
            let (channel, bucket) = try target(of: frame, session)
            let rate = configuration.limits.messagesPerSecond
            if let wait = try spend(bucket, rate: rate, capacity: rate, connection, "messages") {
                throw .overRate("messages", rate: rate, wait: wait)
            }
            guard connections[connection].isOpen else { return }
            accept(frame, channel, session, connection)
        } catch {
            refuse(connection, error, number: number)
        }
    }

    /// The number of a `publish` or `direct`, to refuse it by even if the rest cannot be read.
    static func publishNumber(_ body: UnsafeRawBufferPointer) -> UInt64? {
        var reader = ByteReader(body)
        guard let number = reader.integer(UInt64.self), (1...Limits.integerMax).contains(number) else { return nil }
        return number
    }

    /// Whether a publish was accepted before: then it is answered as it was, and costs nothing. [MS9]
    ///
    /// - Throws: `notAccepted`, `outcomeUnknown`.
    private mutating func isKnown(_ number: UInt64, _ session: Int32, _ connection: Int32) throws(WireError) -> Bool {
        switch sessions[session].window.judge(number) {
        case .new: return false
        case .accepted(let offset):
            sendAccepted(number, offset, to: connection)
            return true
        case .passed: throw WireError(.notAccepted, "number \(number) was not accepted, and \(sessions[session].window.lastNumber) was")
        case .forgotten: throw WireError(.outcomeUnknown, "number \(number) is older than what is remembered of this instance")
        }
    }

    private mutating func sendAccepted(_ number: UInt64, _ offset: UInt64, to connection: Int32) {
        enqueuePrivate(connection, head: FrameHead(type: FrameType.accepted.rawValue, bodyBytes: 16)) { writer in
            writer.integer(number)
            writer.integer(offset)
        }
    }

    /// Of a direct message. [MS1]
    func checkNumber(_ number: UInt64, _ session: Int32) throws(WireError) {
        let last = sessions[session].window.lastNumber
        guard number > last else {
            throw WireError(.outcomeUnknown, "number \(number) is not above \(last), the last one accepted of this instance")
        }
    }

    /// Size, custom type and text of a message or direct message. [MS2]
    func checkContent(
        _ payload: UnsafeRawBufferPointer, _ customType: UnsafeRawBufferPointer, flags: FrameFlags
    ) throws(WireError) {
        if flags.contains(.customType) {
            guard (1...Limits.customTypeBytesMax).contains(customType.count) else {
                throw WireError(
                    .tooLarge, "a custom type has 1…\(Limits.customTypeBytesMax) bytes, not \(customType.count)",
                    limit: Limits.customTypeBytesMax, actual: customType.count)
            }
            guard isValidUTF8(customType) else { throw WireError(.badText, "the custom type is not well-formed UTF-8") }
        }
        let bytes = payload.count + customType.count
        let limit = configuration.limits.messageBytesMax
        guard bytes <= limit else {
            throw WireError(
                .tooLarge, "payload and custom type have at most \(limit) bytes, not \(bytes)", limit: limit, actual: bytes)
        }
        if flags.contains(.text), !isValidUTF8(payload) { throw WireError(.badText, "the payload is flagged as text and is not well-formed UTF-8") }
    }

    /// The channel a message goes to, made if there is none, and the bucket it is counted in.
    private mutating func target(of frame: PublishFrame, _ session: Int32) throws(WireError) -> (channel: Int32, bucket: Int32) {
        if let last = sessions[session].lastPublish, channels[last.channel].generation == last.generation,
            last.name.text.utf8.elementsEqual(frame.channel)
        {
            return (last.channel, last.bucket)
        }
        let name = try Name(bytes: frame.channel)
        let channel = try channelFor(ChannelID(kind: .message, channel: name))
        if channels[channel].inside.isEmpty { setChannelEnd(channel) }
        let bucket = bucket(.messages(channel: name), of: session)
        sessions[session].lastPublish = (name, channel, channels[channel].generation, bucket)
        return (channel, bucket)
    }

    private mutating func accept(_ frame: PublishFrame, _ channel: Int32, _ session: Int32, _ connection: Int32) {
        channels[channel].head += 1
        channels[channel].lastUsed = now.instant
        counters.messagesAccepted += 1
        let offset = channels[channel].head
        let limit = max(Limits.publishWindowMax, 2 * configuration.limits.unansweredMax)
        sessions[session].window.accept(frame.number, offset: offset, limit: limit)
        sendAccepted(frame.number, offset, to: connection)

        let hasType = frame.flags.contains(.customType)
        let head = FrameHead(
            type: FrameType.deliver.rawValue, flags: frame.flags.intersection([.text, .customType]).rawValue,
            bodyBytes: 24 + (hasType ? 1 + frame.customType.count : 0) + frame.payload.count)
        let channelHandle = channels[channel].handle
        let handle = sessions[session].handle
        let wall = now.wallMilliseconds
        func write(to writer: inout ByteWriter) {
            writer.integer(channelHandle)
            writer.integer(handle)
            writer.integer(offset)
            writer.integer(wall)
            if hasType { writer.shortBytes(frame.customType) }
            writer.bytes(frame.payload)
        }
        let isTransient = frame.flags.contains(.noHistory)
        let isForHistory = !isTransient || rooms[channels[channel].room].catchingUp > 0
        if isForHistory, configuration.historyMessagesMax == 0 {
            channels[channel].history.skip(offset, isTransient: isTransient)
        } else if isForHistory {
            let bytes = [UInt8](unsafeUninitializedCapacity: head.frameBytes) { buffer, count in
                var writer = ByteWriter(UnsafeMutableRawPointer(buffer.baseAddress!))
                head.write(to: &writer)
                write(to: &writer)
                count = head.frameBytes
            }
            keep(
                KeptMessage(
                    offset: offset, user: sessions[session].user!, handle: handle,
                    instance: frame.flags.contains(.echo) ? nil : sessions[session].instance, acceptedAt: now.instant,
                    isTransient: isTransient, frame: bytes),
                in: channel)
        }

        let receivers = channels[channel].messageReceivers
        guard !receivers.isEmpty else { return }
        let room = channels[channel].room
        if channels[channel].named.insert(handle).inserted { nameUser(session, room: room, to: receivers) }
        counters.messagesDelivered += UInt64(receivers.count)
        enqueueShared(
            room: room, head: head, kind: .reliable, to: receivers, except: frame.flags.contains(.echo) ? -1 : session
        ) { write(to: &$0) }
    }

    /// `userNamed`: handle and id. [MS5]
    private mutating func nameUser(_ session: Int32, room: Int32, to receivers: [Int32]) {
        let handle = sessions[session].handle
        let user = sessions[session].user!.text
        let head = FrameHead(type: FrameType.userNamed.rawValue, bodyBytes: 4 + user.utf8.count)
        enqueueShared(room: room, head: head, kind: .reliable, to: receivers) { writer in
            writer.integer(handle)
            for byte in user.utf8 { writer.integer(byte) }
        }
    }
}
