internal import RelayJournal
import RelayWire

// Catching up with a board: what is read of its file and what the ring has besides, merged by offset. [BL3]

extension Hub {
    /// What a step of catching up has come to.
    enum Pull {
        /// Nothing is left: it is live.
        case done
        /// Another block follows.
        case more
        /// Nothing can be given now: something has to be read, or to become readable.
        case waits
    }

    // MARK: - Merging

    /// Gives what is readable of the board, and what the ring has besides, up to a block's worth.
    ///
    /// - Returns: `nil` when all that is readable has been given.
    mutating func pullBoard(_ session: Int32, _ channel: Int32, _ connection: Int32, _ bytes: inout Int) -> Pull? {
        let board = channels[channel].board
        guard board >= 0 else { return nil }
        while true {
            if sessions[session].memberships[channel]!.catchUp!.block == nil {
                let offset = sessions[session].memberships[channel]!.catchUp!.offset
                guard offset < boards[board].readableHead else {
                    // What nobody holds becomes readable soon.
                    return boards[board].unheld > offset ? (bytes > 0 ? .more : .waits) : nil
                }
                if sessions[session].memberships[channel]!.catchUp!.reading == 0 { readBoard(session, channel) }
                return bytes > 0 ? .more : .waits
            }
            guard giveBlock(session, channel, connection, &bytes) else { return .more }
        }
    }

    /// - Returns: whether the block is used up; else the reader has got enough for now.
    private mutating func giveBlock(_ session: Int32, _ channel: Int32, _ connection: Int32, _ bytes: inout Int) -> Bool {
        let through = sessions[session].memberships[channel]!.catchUp!.block!.through
        let items = sessions[session].memberships[channel]!.catchUp!.block!.items.count
        // Before anything of its range: a reader that is cut off goes on behind what it has got.
        tellGap(session, channel, connection, through: through)
        while bytes < configuration.catchUpBlockBytesInUse {
            let index = sessions[session].memberships[channel]!.catchUp!.blockIndex
            let item = index < items ? sessions[session].memberships[channel]!.catchUp!.block!.items[index] : nil
            let offset = sessions[session].memberships[channel]!.catchUp!.offset
            if let kept = nextUnretained(channel, above: offset, through: min(through, item.map { $0.offset - 1 } ?? through)) {
                let message = channels[channel].history[kept]
                bytes += give(message, session, channel, connection)
                sessions[session].memberships[channel]!.catchUp!.offset = message.offset
                sessions[session].memberships[channel]!.catchUp!.complete = message.offset
            } else if let item {
                bytes += give(item, session, channel, connection)
                sessions[session].memberships[channel]!.catchUp!.blockIndex += 1
            } else {
                sessions[session].memberships[channel]!.catchUp!.offset = max(offset, through)
                let complete = sessions[session].memberships[channel]!.catchUp!.complete
                sessions[session].memberships[channel]!.catchUp!.complete = max(complete, through)
                sessions[session].memberships[channel]!.catchUp!.block = nil
                sessions[session].memberships[channel]!.catchUp!.blockIndex = 0
                return true
            }
        }
        return false
    }

    /// Index of the next message of the ring that the board does not have.
    private func nextUnretained(_ channel: Int32, above offset: UInt64, through: UInt64) -> Int? {
        var index = channels[channel].history.index(above: offset)
        while index < channels[channel].history.count, channels[channel].history[index].offset <= through {
            if !channels[channel].history[index].isRetained { return index }
            index += 1
        }
        return nil
    }

    /// Messages that are gone are told before anything behind them is given. [HI4]
    mutating func tellGap(_ session: Int32, _ channel: Int32, _ connection: Int32, through: UInt64) {
        let catchUp = sessions[session].memberships[channel]!.catchUp!
        let to = min(channels[channel].history.floor(began: catchUp.began), through)
        guard catchUp.complete < to else { return }
        enqueueJSON(connection, .gap, Gap(channel: channels[channel].handle, from: catchUp.complete + 1, to: to))
        sessions[session].memberships[channel]!.catchUp!.complete = to
    }

    // MARK: - Frames

    /// A message or `cleared` of the ring.
    ///
    /// - Returns: bytes given; 0 when it is not for this reader.
    mutating func give(_ message: KeptMessage, _ session: Int32, _ channel: Int32, _ connection: Int32) -> Int {
        let catchUp = sessions[session].memberships[channel]!.catchUp!
        guard !message.isTransient || message.offset > catchUp.began else { return 0 }
        let isOwn = message.instance != nil && message.instance == sessions[session].instance
        guard !isOwn || (message.isRetained && catchUp.takesOwn) else { return 0 }
        if message.isMessage { name(message.user, message.handle, session, channel, connection) }
        enqueueWhole(connection, message.frame)
        counters.messagesDelivered += 1
        counters.messagesRecovered += 1
        return message.frame.count
    }

    /// What was read.
    private mutating func give(_ item: BoardBlock.Item, _ session: Int32, _ channel: Int32, _ connection: Int32) -> Int {
        let catchUp = sessions[session].memberships[channel]!.catchUp!
        var bytes = 0
        if item.instance == 0 || item.instance != sessions[session].instance || catchUp.takesOwn {
            switch item.content {
            case .clear:
                guard let user = author(item.author) else { break }
                let event = Cleared(channel: channels[channel].handle, offset: item.offset, user: user, time: item.wallMilliseconds)
                let frame = Frame.json(.cleared, event).bytes
                enqueueWhole(connection, frame)
                bytes = frame.count
            case .removal(let key):
                bytes = deliver(item, key: key, isText: false, customType: nil, payload: [], part: nil, session, channel, connection)
            case .record(let key, let isText, let customType, let payload, let part, let parts):
                bytes = deliver(
                    item, key: key, isText: isText, customType: customType, payload: payload, part: parts > 1 ? (part, parts) : nil, session, channel,
                    connection)
            }
        }
        if case .record(_, _, _, _, let part, let parts) = item.content, part < parts {
            sessions[session].memberships[channel]!.catchUp!.partsKnown = (item.offset, part)
        } else {
            sessions[session].memberships[channel]!.catchUp!.offset = item.offset
        }
        return bytes
    }

    private mutating func deliver(
        _ item: BoardBlock.Item, key: [UInt8], isText: Bool, customType: [UInt8]?, payload: [UInt8], part: (UInt16, UInt16)?, _ session: Int32,
        _ channel: Int32, _ connection: Int32
    ) -> Int {
        guard let user = author(item.author) else { return 0 }
        let publisher = name(user, nil, session, channel, connection)
        var flags: FrameFlags = [.retain, .key]
        if isText { flags.insert(.text) }
        if customType != nil { flags.insert(.customType) }
        if part != nil { flags.insert(.part) }
        let head = FrameHead(
            type: FrameType.deliver.rawValue, flags: flags.rawValue,
            bodyBytes: 24 + (customType.map { 1 + $0.count } ?? 0) + 1 + key.count + (part == nil ? 0 : 4) + payload.count)
        let handle = channels[channel].handle
        enqueuePrivate(connection, head: head) { writer in
            writer.integer(handle)
            writer.integer(publisher)
            writer.integer(item.offset)
            writer.integer(item.wallMilliseconds)
            if let customType { customType.withUnsafeBytes { writer.shortBytes($0) } }
            key.withUnsafeBytes { writer.shortBytes($0) }
            if let part {
                writer.integer(part.0)
                writer.integer(part.1)
            }
            payload.withUnsafeBytes { writer.bytes($0) }
        }
        counters.messagesDelivered += 1
        counters.messagesRecovered += 1
        return head.frameBytes
    }

    private func author(_ bytes: [UInt8]) -> Name? { bytes.withUnsafeBytes { try? Name(bytes: $0) } }

    /// Names an author once for each catching up.
    ///
    /// - Parameter handle: `nil`: whichever the user has now; who has none gets one.
    @discardableResult
    private mutating func name(_ user: Name, _ handle: UInt32?, _ session: Int32, _ channel: Int32, _ connection: Int32) -> UInt32 {
        if let told = sessions[session].memberships[channel]!.catchUp!.authors[user], handle == nil || handle == told { return told }
        let handle = handle ?? sessionsByUser[user].map { sessions[$0].handle } ?? makeHandle()
        sessions[session].memberships[channel]!.catchUp!.authors[user] = handle
        sendName(user, handle, to: connection)
        return handle
    }

    // MARK: - Reading

    /// A read of a board that has not been answered.
    struct BoardReading {
        var session: Int32
        var sessionGeneration: UInt32
        var channel: Int32
    }

    private mutating func readBoard(_ session: Int32, _ channel: Int32) {
        lastBoardRead += 1
        let catchUp = sessions[session].memberships[channel]!.catchUp!
        sessions[session].memberships[channel]!.catchUp!.reading = lastBoardRead
        // Replaced meanwhile, what it has parts of is not there any more.
        let partsKnown = catchUp.partsKnown.offset == catchUp.offset + 1 ? catchUp.partsKnown.count : 0
        boardReadings[lastBoardRead] = BoardReading(session: session, sessionGeneration: sessions[session].generation, channel: channel)
        effects.append(
            .readBoard(
                BoardRead(
                    token: lastBoardRead, board: boards[channels[channel].board].id, above: catchUp.offset, partsKnown: partsKnown,
                    bytesMax: configuration.catchUpBlockBytesInUse, freshThrough: catchUp.freshThrough)))
    }

    /// A block has been read.
    mutating func boardRead(_ block: BoardBlock) {
        guard let reading = boardReadings.removeValue(forKey: block.token), sessions[reading.session].generation == reading.sessionGeneration,
            sessions[reading.session].memberships[reading.channel]?.catchUp?.reading == block.token
        else { return }
        let (session, channel) = (reading.session, reading.channel)
        let connection = links[Int(session)]
        guard connection >= 0 else { return }
        switch block.outcome {
        case .read:
            sessions[session].memberships[channel]!.catchUp!.reading = 0
            sessions[session].memberships[channel]!.catchUp!.block = block
            sessions[session].memberships[channel]!.catchUp!.blockIndex = 0
            if connections[connection].isOpen, !queues[connection].isDirty { markDirty(connection) }
        case .belowFloor: resetReader(session, channel)
        case .gone:
            // Removed while it was read: that is told when it is durable.
            sessions[session].memberships[channel]!.catchUp!.reading = 0
        case .failed(let text):
            log(.error, "the board of \(channels[channel].id!.channel) cannot be read, again in a second: \(text)")
            deadlines.set(.boardReading(connection: connection, generation: connections[connection].id.generation), at: now.instant + .seconds(1))
            sessions[session].memberships[channel]!.catchUp!.reading = 0
        }
    }

    /// Who waits for what has become readable goes on.
    mutating func wakeReaders(of channel: Int32) {
        guard rooms[channels[channel].room].catchingUp > 0 else { return }
        for session in channels[channel].inside.sorted() where sessions[session].memberships[channel]?.catchUp != nil {
            let connection = links[Int(session)]
            if connection >= 0, connections[connection].isOpen, !queues[connection].isDirty { markDirty(connection) }
        }
    }

    // MARK: - Beginning anew

    /// What a reader holds is void: it gets all that is kept. [BL4]
    mutating func resetReader(_ session: Int32, _ channel: Int32) {
        let connection = links[Int(session)]
        guard connection >= 0, connections[connection].isOpen, sessions[session].memberships[channel]?.receivesMessages == true,
            sessions[session].memberships[channel]?.heldOver == false
        else { return }
        endCatchUp(session, channel)
        sessions[session].memberships[channel]!.epoch = channels[channel].epoch
        enqueueJSON(
            connection, .reset, ChannelReset(channel: channels[channel].handle, epoch: channels[channel].epoch, head: channels[channel].head))
        beginCatchUp(session, channel, CatchUp.Start(offset: 0, isFresh: true, takesOwn: true), connection)
    }

    /// The channel counts in another epoch: what was delivered and is gone is in nobody's picture.
    mutating func resetChannel(_ channel: Int32) {
        channels[channel].epoch = Epoch(start: start, incarnation: makeIncarnation())
        channels[channel].named = []
        for session in channels[channel].inside.sorted() { resetReader(session, channel) }
    }
}
