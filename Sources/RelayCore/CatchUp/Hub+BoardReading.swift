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
    mutating func pullBoard(_ membership: Membership.Index, _ connection: Connection.Index, _ bytes: inout Int) -> Pull? {
        guard let board = channels[memberships[membership].channel].board else { return nil }
        while true {
            if memberships[membership].catchUp!.block == nil {
                let offset = memberships[membership].catchUp!.offset
                guard offset < boards[board].readableHead else {
                    // What nobody holds becomes readable soon.
                    return boards[board].unheld > offset ? (bytes > 0 ? .more : .waits) : nil
                }
                if memberships[membership].catchUp!.reading == 0 { readBoard(membership) }
                return bytes > 0 ? .more : .waits
            }
            guard giveBlock(membership, connection, &bytes) else { return .more }
        }
    }

    /// - Returns: whether the block is used up; else the reader has got enough for now.
    private mutating func giveBlock(_ membership: Membership.Index, _ connection: Connection.Index, _ bytes: inout Int) -> Bool {
        let channel = memberships[membership].channel
        let through = memberships[membership].catchUp!.block!.through
        let items = memberships[membership].catchUp!.block!.items.count
        // Before anything of its range: a reader that is cut off goes on behind what it has got.
        tellGap(membership, connection, through: through)
        while bytes < configuration.catchUpBlockBytesInUse {
            let index = memberships[membership].catchUp!.blockIndex
            let item = index < items ? memberships[membership].catchUp!.block!.items[index] : nil
            let offset = memberships[membership].catchUp!.offset
            if let kept = nextUnretained(channel, above: offset, through: min(through, item.map { $0.offset - 1 } ?? through)) {
                let message = channels[channel].history[kept]
                bytes += give(message, membership, connection)
                memberships[membership].catchUp!.offset = message.offset
                memberships[membership].catchUp!.complete = message.offset
            } else if let item {
                bytes += give(item, membership, connection)
                memberships[membership].catchUp!.blockIndex += 1
            } else {
                memberships[membership].catchUp!.offset = max(offset, through)
                let complete = memberships[membership].catchUp!.complete
                memberships[membership].catchUp!.complete = max(complete, through)
                memberships[membership].catchUp!.block = nil
                memberships[membership].catchUp!.blockIndex = 0
                return true
            }
        }
        return false
    }

    /// Index of the next message of the ring that the board does not have.
    private func nextUnretained(_ channel: Channel.Index, above offset: UInt64, through: UInt64) -> Int? {
        var index = channels[channel].history.index(above: offset)
        while index < channels[channel].history.count, channels[channel].history[index].offset <= through {
            if !channels[channel].history[index].isRetained { return index }
            index += 1
        }
        return nil
    }

    /// Messages that are gone are told before anything behind them is given. [HI4]
    mutating func tellGap(_ membership: Membership.Index, _ connection: Connection.Index, through: UInt64) {
        let channel = memberships[membership].channel
        let catchUp = memberships[membership].catchUp!
        let to = min(channels[channel].history.floor(began: catchUp.began), through)
        guard catchUp.complete < to else { return }
        enqueueJSON(connection, .gap, Gap(channel: channels[channel].handle, from: catchUp.complete + 1, to: to))
        memberships[membership].catchUp!.complete = to
    }

    // MARK: - Frames

    /// A message or `cleared` of the ring.
    ///
    /// - Returns: bytes given; 0 when it is not for this reader.
    mutating func give(_ message: KeptMessage, _ membership: Membership.Index, _ connection: Connection.Index) -> Int {
        let session = memberships[membership].session
        let catchUp = memberships[membership].catchUp!
        guard !message.isTransient || message.offset > catchUp.began else { return 0 }
        let isOwn = message.instance != nil && message.instance == sessions[session].instance
        guard !isOwn || (message.isRetained && catchUp.takesOwn) else { return 0 }
        if message.isMessage { name(message.user, message.handle, membership, connection) }
        enqueueWhole(connection, message.frame)
        counters.messagesDelivered += 1
        counters.messagesRecovered += 1
        return message.frame.count
    }

    /// What was read.
    private mutating func give(_ item: BoardBlock.Item, _ membership: Membership.Index, _ connection: Connection.Index) -> Int {
        let (session, channel) = (memberships[membership].session, memberships[membership].channel)
        let catchUp = memberships[membership].catchUp!
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
                bytes = deliver(item, key: key, isText: false, customType: nil, payload: [], part: nil, membership, connection)
            case .record(let key, let isText, let customType, let payload, let part, let parts):
                bytes = deliver(
                    item, key: key, isText: isText, customType: customType, payload: payload, part: parts > 1 ? (part, parts) : nil, membership,
                    connection)
            }
        }
        if case .record(_, _, _, _, let part, let parts) = item.content, part < parts {
            memberships[membership].catchUp!.partsKnown = (item.offset, part)
        } else {
            memberships[membership].catchUp!.offset = item.offset
        }
        return bytes
    }

    private mutating func deliver(
        _ item: BoardBlock.Item, key: [UInt8], isText: Bool, customType: [UInt8]?, payload: [UInt8], part: (UInt16, UInt16)?,
        _ membership: Membership.Index, _ connection: Connection.Index
    ) -> Int {
        guard let user = author(item.author) else { return 0 }
        let publisher = name(user, nil, membership, connection)
        var flags: FrameFlags = [.retain, .key]
        if isText { flags.insert(.text) }
        if customType != nil { flags.insert(.customType) }
        if part != nil { flags.insert(.part) }
        let head = FrameHead(
            type: FrameType.deliver.rawValue, flags: flags.rawValue,
            bodyBytes: 24 + (customType.map { 1 + $0.count } ?? 0) + 1 + key.count + (part == nil ? 0 : 4) + payload.count)
        let handle = channels[memberships[membership].channel].handle
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
    private mutating func name(_ user: Name, _ handle: UInt32?, _ membership: Membership.Index, _ connection: Connection.Index) -> UInt32 {
        if let told = memberships[membership].catchUp!.authors[user], handle == nil || handle == told { return told }
        let handle = handle ?? sessions[named: user].map { sessions[$0].handle } ?? ordinals.handle()
        memberships[membership].catchUp!.authors[user] = handle
        sendName(user, handle, to: connection)
        return handle
    }

    // MARK: - Reading

    private mutating func readBoard(_ membership: Membership.Index) {
        let token = ordinals.read()
        let catchUp = memberships[membership].catchUp!
        memberships[membership].catchUp!.reading = token
        // Replaced meanwhile, what it has parts of is not there any more.
        let partsKnown = catchUp.partsKnown.offset == catchUp.offset + 1 ? catchUp.partsKnown.count : 0
        catchUpTurns.asked(token, for: membership)
        effects.append(
            .readBoard(
                BoardRead(
                    token: token, board: boards[channels[memberships[membership].channel].board!].id, above: catchUp.offset, partsKnown: partsKnown,
                    bytesMax: configuration.catchUpBlockBytesInUse, freshThrough: catchUp.freshThrough)))
    }

    /// A block has been read.
    mutating func boardRead(_ block: BoardBlock) {
        guard let membership = catchUpTurns.answered(block.token), memberships[membership].catchUp?.reading == block.token,
            let connection = outbox.connection(of: memberships[membership].session)
        else { return }
        switch block.outcome {
        case .read:
            memberships[membership].catchUp!.reading = 0
            memberships[membership].catchUp!.block = block
            memberships[membership].catchUp!.blockIndex = 0
            if connections[connection].isOpen { outbox.wake(connection) }
        case .belowFloor: resetReader(membership)
        case .gone:
            // Removed while it was read: that is told when it is durable.
            memberships[membership].catchUp!.reading = 0
        case .failed(let text):
            log(.error, "the board of \(channels[memberships[membership].channel].id!.channel) cannot be read, again in a second: \(text)")
            deadlines.set(.boardReading(connection: connection, generation: connections[connection].id.generation), at: now.instant + .seconds(1))
            memberships[membership].catchUp!.reading = 0
        }
    }

    /// Who waits for what has become readable goes on.
    mutating func wakeReaders(of channel: Channel.Index) {
        guard rooms[channels[channel].room].catchingUp > 0 else { return }
        for session in channels[channel].inside.sorted() where memberships[membership(of: session, inside: channel)].catchUp != nil {
            if let connection = outbox.connection(of: session), connections[connection].isOpen { outbox.wake(connection) }
        }
    }

    // MARK: - Beginning anew

    /// What a reader holds is void: it gets all that is kept. [BL4]
    mutating func resetReader(_ membership: Membership.Index) {
        let (session, channel) = (memberships[membership].session, memberships[membership].channel)
        guard let connection = outbox.connection(of: session), connections[connection].isOpen, memberships[membership].receivesMessages,
            !memberships[membership].heldOver
        else { return }
        endCatchUp(membership)
        memberships[membership].epoch = channels[channel].epoch
        enqueueJSON(
            connection, .reset, ChannelReset(channel: channels[channel].handle, epoch: channels[channel].epoch, head: channels[channel].head))
        beginCatchUp(membership, CatchUp.Start(offset: 0, isFresh: true, takesOwn: true), connection)
    }

    /// The channel counts in another epoch: what was delivered and is gone is in nobody's picture.
    mutating func resetChannel(_ channel: Channel.Index) {
        channels[channel].epoch = Epoch(start: start, incarnation: ordinals.incarnation())
        channels[channel].named = []
        for session in channels[channel].inside.sorted() { resetReader(membership(of: session, inside: channel)) }
    }
}
