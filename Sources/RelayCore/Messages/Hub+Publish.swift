internal import RelayRights
import RelayWire

// Messages: accepted, numbered, delivered. [MS1–MS8]

extension Hub {
    mutating func publish(_ head: FrameHead, _ whole: UnsafeRawBufferPointer, session: Session.Index, _ connection: Connection.Index) {
        var (flags, body) = (head.flags, whole)
        var named: UnsafeRawBufferPointer?
        let hasPaid = connections[connection].input == .judgedAgain
        if hasPaid { connections[connection].input = .catchingUp }
        do throws(WireError) {
            let extensions = try Extensions.take(from: &body, &flags)
            var frame = try PublishFrame(flags: flags, body: body)
            frame.extensions = extensions
            named = frame.channel
            if try answerIfKnown(frame.number, isRetained: frame.flags.contains(.retain), frame.channel, session, connection) { return }
            try checkBehind(frame.number, in: frame.channel, session)
            let key = try checkKey(of: frame)
            try checkContent(frame.payload, frame.customType, flags: frame.flags)
            let mayReplace = if let key, frame.flags.contains(.retain) { try checkRetained(frame, key, session) } else { true }
            let (channel, bucket) = try target(frame.channel, session)
            if let key, frame.flags.contains(.part), !frame.flags.contains(.retain) {
                let name = channels[channel].id!.channel
                _ = try checkPart(frame, key, name, session)
            }
            let rate = configuration.limits.messagesPerSecond
            let isImported = frame.flags.contains(.retain) && frame.flags.contains(.part) && isImport(by: session)
            if !hasPaid, !isImported, let wait = try spend(bucket, rate: rate, capacity: rate, connection, "messages") {
                throw .overRate("messages", rate: rate, wait: wait)
            }
            guard connections[connection].isOpen else { return }
            // Behind the rate, because it may cost the disk something.
            if !mayReplace, try !isOwn(frame.key, in: channels[channel].id!.channel, session, connection) { return }
            let credit = tellCredit(bucket, session)
            if let key, frame.flags.isSuperset(of: [.retain, .part]) {
                acceptPart(frame, key, channel, session, connection, credit: credit)
            } else {
                accept(frame, key, channel, session, connection, credit: credit)
            }
        } catch {
            refusePublish(error, body, in: named, session, connection)
        }
    }

    /// The number of a `publish` or `direct`, to refuse it by even if the rest cannot be read.
    static func publishNumber(_ body: UnsafeRawBufferPointer) -> UInt64? {
        var reader = ByteReader(body)
        guard let number = reader.integer(UInt64.self), (1...Limits.integerMax).contains(number) else { return nil }
        return number
    }

    /// Answers a publish that was accepted before as it was answered then; it costs nothing. [MS9]
    ///
    /// - Returns: whether it was.
    /// - Throws: `notAccepted`, `outcomeUnknown`.
    mutating func answerIfKnown(
        _ number: UInt64, isRetained: Bool, _ channel: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index
    ) throws(WireError) -> Bool {
        switch sessions[session].window.judge(number, isRetained: isRetained) {
        case .new: return false
        case .accepted(let known):
            sendAccepted(number, known.offset, credit: tellCredit(in: channel, session), to: connection)
            tellStoredAgain(known, to: connection)
            return true
        case .passed: throw WireError(.notAccepted, "number \(number) was not accepted, and \(sessions[session].window.lastNumber) was")
        case .forgotten: throw WireError(.outcomeUnknown, "number \(number) is older than what is known of this instance")
        }
    }

    mutating func takeOffset(_ channel: Channel.Index) -> UInt64 {
        channels[channel].head += 1
        channels[channel].lastUsed = now.instant
        return channels[channel].head
    }

    mutating func sendAccepted(_ number: UInt64, _ offset: UInt64, credit: UInt32, to connection: Connection.Index) {
        enqueuePrivate(connection, head: FrameHead(type: FrameType.accepted.rawValue, bodyBytes: 20)) { writer in
            writer.integer(number)
            writer.integer(offset)
            writer.integer(credit)
        }
    }

    /// Which flags go together. [MS7]
    ///
    /// - Returns: the key, of a frame that has one.
    func checkKey(of frame: PublishFrame) throws(WireError) -> Name? {
        let isRetained = frame.flags.contains(.retain)
        let isPart = frame.flags.contains(.part)
        guard frame.flags.contains(.key) == (isRetained || isPart) else {
            throw WireError(.badRequest, "a key goes with retain or part, and both want one")
        }
        guard !isRetained || !frame.flags.contains(.noHistory) else {
            throw WireError(.badRequest, "what is retained is kept: noHistory does not go with it")
        }
        if isPart {
            guard frame.parts >= 2, (1...frame.parts).contains(frame.part), !frame.payload.isEmpty else {
                throw WireError(
                    .badRequest,
                    "parts are numbered 1…parts, are 2 or more, and none is empty: not \(frame.part) of \(frame.parts), \(frame.payload.count) bytes"
                )
            }
        }
        return frame.flags.contains(.key) ? try Name(bytes: frame.key) : nil
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
        // A part may end in the middle of a character: its reader checks the whole. [BL8]
        if flags.contains(.text), !flags.contains(.part), !isValidUTF8(payload) {
            throw WireError(.badText, "the payload is flagged as text and is not well-formed UTF-8")
        }
    }

    /// The channel of a message, made if it does not exist, and the bucket that counts the message.
    mutating func target(_ text: UnsafeRawBufferPointer, _ session: Session.Index) throws(WireError) -> (
        channel: Channel.Index, bucket: TokenBucket.Index
    ) {
        if let last = sessions[session].lastPublish, channels[last.channel].generation == last.generation,
            last.name.text.utf8.elementsEqual(text)
        {
            return (last.channel, last.bucket)
        }
        let name = try Name(bytes: text)
        try require(.publish, on: ChannelID(kind: .message, channel: name), session)
        let channel = try channelFor(ChannelID(kind: .message, channel: name), by: session)
        if channels[channel].inside.isEmpty { setChannelEnd(channel) }
        let bucket = bucket(.messages(channel: name), of: session)
        sessions[session].lastPublish = (name, channel, channels[channel].generation, bucket)
        return (channel, bucket)
    }

    /// Checks rights and room for a retained publish. [BL7, BL8, BL10]
    ///
    /// - Returns: whether it may take the place of what others wrote.
    private func checkRetained(_ frame: PublishFrame, _ key: Name, _ session: Session.Index) throws(WireError) -> Bool {
        let channel = try Name(bytes: frame.channel)
        let rights = rights(of: session, on: ChannelID(kind: .message, channel: channel))
        guard rights.contains(.publish) else { throw Self.notPermitted(.publish) }
        let isPart = frame.flags.contains(.part)
        let bytes = isPart ? try checkPart(frame, key, channel, session) : frame.payload.isEmpty ? 0 : Self.recordBytes(of: frame)
        try checkBoard(channel, session, bytes: bytes)
        return rights.contains(.revise)
    }

    func boardID(_ board: ShelvedBoard.Index?) -> UInt64 {
        guard let board else { return 0 }
        return boards[board].id
    }

    /// A number is taken, before what it stands for is handed on.
    mutating func take(_ number: UInt64, offset: UInt64, board: UInt64, _ session: Session.Index) {
        let limit = max(Limits.publishWindowMax, 2 * configuration.limits.unansweredMax)
        let before = sessions[session].window.numberBytes
        sessions[session].window.accept(number, offset: offset, board: board, limit: limit)
        holdOwn(sessions[session].window.numberBytes - before, session)
    }

    /// A part of a drawing that is kept as a whole: nobody is shown it before that. [BL8]
    private mutating func acceptPart(
        _ frame: PublishFrame, _ key: Name, _ channel: Channel.Index, _ session: Session.Index, _ connection: Connection.Index,
        credit: UInt32
    ) {
        counters.messagesAccepted += 1
        channels[channel].lastUsed = now.instant
        // Answered before `stored` may be.
        let isLast = frame.part == frame.parts
        let offset = isLast ? channels[channel].head + 1 : 0
        sendAccepted(frame.number, offset, credit: credit, to: connection)
        let board = keepPart(frame, key, channel, session)
        take(frame.number, offset: offset, board: boardID(board), session)
    }

    private mutating func accept(
        _ frame: PublishFrame, _ key: Name?, _ channel: Channel.Index, _ session: Session.Index, _ connection: Connection.Index,
        credit: UInt32
    ) {
        let isRetained = frame.flags.contains(.retain)
        counters.messagesAccepted += 1
        let offset = takeOffset(channel)
        sendAccepted(frame.number, offset, credit: credit, to: connection)
        var board: ShelvedBoard.Index?
        if let key, isRetained { board = keepRecord(frame, key, channel, session, offset: offset) }
        if let key, frame.flags.contains(.part) { follow(frame, key, channels[channel].id!.channel, session) }
        take(frame.number, offset: offset, board: boardID(board), session)
        handOn(frame, channel, session, offset: offset, board: board)
    }

    /// Keeps a message as long as its channel does, and delivers it.
    ///
    /// - Parameter board: the one that keeps it for good.
    mutating func handOn(
        _ frame: PublishFrame, _ channel: Channel.Index, _ session: Session.Index, offset: UInt64, board: ShelvedBoard.Index?
    ) {
        let isRetained = frame.flags.contains(.retain)
        let hasType = frame.flags.contains(.customType)
        let hasKey = frame.flags.contains(.key)
        let isPart = frame.flags.contains(.part)
        let head = FrameHead(
            type: FrameType.deliver.rawValue, flags: frame.flags.intersection(DeliverFrame.flagsAllowed).and(frame.extensions),
            bodyBytes: frame.extensions.count + 24 + (hasType ? 1 + frame.customType.count : 0) + (hasKey ? 1 + frame.key.count : 0)
                + (isPart ? 4 : 0) + frame.payload.count)
        let channelHandle = channels[channel].handle
        let handle = sessions[session].handle
        let wall = now.wallMilliseconds
        func write(to writer: inout ByteWriter) {
            writer.bytes(frame.extensions)
            writer.integer(channelHandle)
            writer.integer(handle)
            writer.integer(offset)
            writer.integer(wall)
            if hasType { writer.shortBytes(frame.customType) }
            if hasKey { writer.shortBytes(frame.key) }
            if isPart {
                writer.integer(frame.part)
                writer.integer(frame.parts)
            }
            writer.bytes(frame.payload)
        }
        let isTransient = frame.flags.contains(.noHistory)
        if !isTransient, !isRetained { channels[channel].lastUnretained = offset }
        let isForHistory = !isTransient || !rooms[channels[channel].room].catchUps.isEmpty
        if isForHistory, configuration.historyMessagesMax == 0 {
            if let board {
                boards[board].unheld = offset
            } else {
                channels[channel].history.skip(offset, isTransient: isTransient)
            }
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
                    address: accounts.payer, isTransient: isTransient, isRetained: isRetained, frame: bytes),
                in: channel)
        }

        let receivers = channels[channel].messageReceivers
        guard !receivers.isEmpty else { return }
        let room = channels[channel].room
        if channels[channel].named.insert(handle).inserted { nameUser(session, room: room, to: receivers) }
        let reached = enqueueShared(
            room: room, head: head, to: receivers, except: frame.flags.contains(.echo) ? nil : session
        ) { write(to: &$0) }
        counters.messagesDelivered += UInt64(reached)
    }

    /// `userNamed`: handle and id. [MS5]
    private mutating func nameUser(_ session: Session.Index, room: Room.Index, to receivers: [Session.Index]) {
        let handle = sessions[session].handle
        let user = sessions[session].user!.text
        let head = FrameHead(type: FrameType.userNamed.rawValue, bodyBytes: 4 + user.utf8.count)
        enqueueShared(room: room, head: head, to: receivers) { writer in
            writer.integer(handle)
            for byte in user.utf8 { writer.integer(byte) }
        }
    }
}
