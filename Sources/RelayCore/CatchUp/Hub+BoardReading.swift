import RelayPrimitives
internal import RelayStorage
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
    mutating func pullBoard(_ catchUp: CatchUp.Index, _ connection: Connection.Index, _ bytes: inout Int) -> Pull? {
        guard let board = channels[memberships[catchUps[catchUp].membership].channel].board else { return nil }
        while true {
            switch catchUps[catchUp].state {
            case .giving(let block, _):
                let isAllGiven = giveBlock(through: block.through, catchUp, connection, &bytes)
                catchUps.recount(catchUp, at: now.instant)
                guard isAllGiven else { return .more }
            case .reading, .resting: return bytes > 0 ? .more : .waits
            case .between:
                let offset = catchUps[catchUp].offset
                guard offset < boards[board].readableHead else {
                    // What nobody holds becomes readable soon.
                    return boards[board].unheld > offset ? (bytes > 0 ? .more : .waits) : nil
                }
                readBoard(board, catchUp, connection)
                return bytes > 0 ? .more : .waits
            }
        }
    }

    /// - Returns: whether the block is used up; else the reader has got enough for now.
    private mutating func giveBlock(through: UInt64, _ catchUp: CatchUp.Index, _ connection: Connection.Index, _ bytes: inout Int) -> Bool {
        let channel = memberships[catchUps[catchUp].membership].channel
        // Before anything of its range: a reader that is cut off goes on behind what it has got.
        tellGap(catchUp, connection, through: through)
        while bytes < configuration.catchUpBlockBytesInUse {
            // What is given in a turn is bounded by what it costs, too: a tiny record is as much work as others.
            catchUps.gave(WorkAccount.lookedBytes)
            let item = catchUps[catchUp].next
            if let kept = nextUnretained(
                channel, above: catchUps[catchUp].offset, through: min(through, item.map { $0.offset - 1 } ?? through))
            {
                let message = channels[channel].history[kept]
                bytes += give(message, catchUp, connection)
                catchUps[catchUp].gave(messageAt: message.offset)
            } else if let item {
                bytes += give(item, catchUp, connection)
                catchUps[catchUp].gave(item)
            } else {
                catchUps[catchUp].gave(through: through)
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
    mutating func tellGap(_ catchUp: CatchUp.Index, _ connection: Connection.Index, through: UInt64) {
        let channel = memberships[catchUps[catchUp].membership].channel
        let complete = catchUps[catchUp].complete, end = min(channels[channel].history.floor(began: catchUps[catchUp].began), through)
        guard complete < end else { return }
        enqueueJSON(connection, .gap, Gap(channel: channels[channel].handle, from: complete + 1, to: end))
        catchUps[catchUp].toldGap(through: end)
    }

    // MARK: - Frames

    /// A message or `cleared` of the ring.
    ///
    /// - Returns: bytes given; 0 when it is not for this reader.
    mutating func give(_ message: KeptMessage, _ catchUp: CatchUp.Index, _ connection: Connection.Index) -> Int {
        guard !message.isTransient || message.offset > catchUps[catchUp].began else { return 0 }
        let isOwn = message.instance != nil && message.instance == sessions[memberships[catchUps[catchUp].membership].session].instance
        guard !isOwn || (message.isRetained && catchUps[catchUp].takesOwn) else { return 0 }
        if message.isMessage { name(message.user, message.handle, catchUp, connection) }
        enqueueWhole(connection, message.frame)
        counters.messagesDelivered += 1
        counters.messagesRecovered += 1
        return message.frame.count
    }

    /// What was read.
    private mutating func give(_ item: BoardBlock.Item, _ catchUp: CatchUp.Index, _ connection: Connection.Index) -> Int {
        let membership = catchUps[catchUp].membership
        let (session, channel) = (memberships[membership].session, memberships[membership].channel)
        guard item.instance == 0 || item.instance != sessions[session].instance || catchUps[catchUp].takesOwn else { return 0 }
        switch item.content {
        case .clear:
            guard let user = author(item.author) else { return 0 }
            let frame = Frame.json(
                .cleared, Cleared(channel: channels[channel].handle, offset: item.offset, user: user, time: item.wallMilliseconds)
            ).bytes
            enqueueWhole(connection, frame)
            return frame.count
        case .removal(let key):
            return deliver(item, BoardPut(key: key, isText: false, customType: nil, payload: []), part: nil, catchUp, connection)
        case .record(let put, let part, let parts): return deliver(item, put, part: parts > 1 ? (part, parts) : nil, catchUp, connection)
        }
    }

    private mutating func deliver(
        _ item: BoardBlock.Item, _ put: BoardPut, part: (UInt16, UInt16)?, _ catchUp: CatchUp.Index, _ connection: Connection.Index
    ) -> Int {
        guard let user = author(item.author) else { return 0 }
        let publisher = name(user, nil, catchUp, connection)
        var flags: FrameFlags = [.retain, .key]
        if put.isText { flags.insert(.text) }
        if put.customType != nil { flags.insert(.customType) }
        if !put.extensions.isEmpty { flags.insert(.extensions) }
        if part != nil { flags.insert(.part) }
        let head = FrameHead(
            type: FrameType.deliver.rawValue, flags: flags.rawValue,
            bodyBytes: put.extensions.count + 24 + (put.customType.map { 1 + $0.count } ?? 0) + 1 + put.key.count + (part == nil ? 0 : 4)
                + put.payload.count)
        let handle = channels[memberships[catchUps[catchUp].membership].channel].handle
        enqueuePrivate(connection, head: head) { writer in
            put.extensions.withUnsafeBytes { writer.bytes($0) }
            writer.integer(handle)
            writer.integer(publisher)
            writer.integer(item.offset)
            writer.integer(item.wallMilliseconds)
            if let customType = put.customType { customType.withUnsafeBytes { writer.shortBytes($0) } }
            put.key.withUnsafeBytes { writer.shortBytes($0) }
            if let part {
                writer.integer(part.0)
                writer.integer(part.1)
            }
            put.payload.withUnsafeBytes { writer.bytes($0) }
        }
        counters.messagesDelivered += 1
        counters.messagesRecovered += 1
        return head.frameBytes
    }

    private func author(_ bytes: [UInt8]) -> Name? { bytes.withUnsafeBytes { try? Name(bytes: $0) } }

    /// Names an author before what it wrote, once, or where there are many once for each block.
    ///
    /// - Parameter handle: `nil`: whichever the user has now; a user without one gets one.
    @discardableResult
    private mutating func name(_ user: Name, _ handle: UInt32?, _ catchUp: CatchUp.Index, _ connection: Connection.Index) -> UInt32 {
        if let told = catchUps[catchUp].knows(user, as: handle) { return told }
        let handle = handle ?? people.sessions(of: user).first.map { [sessions] in sessions[$0].handle } ?? newHandle()
        catchUps[catchUp].named(user, handle)
        sendName(user, handle, to: connection)
        return handle
    }

    // MARK: - Reading

    /// One read of a connection is under way, however many boards it wants and however often it begins anew.
    private mutating func readBoard(_ board: ShelvedBoard.Index, _ catchUp: CatchUp.Index, _ connection: Connection.Index) {
        let id = connections[connection].id, address = connections[connection].peer.address
        guard !connections[connection].isReadingBoard,
            !connections[connection].catchUps.contains(where: { [catchUps] in catchUps[$0].hasBlock })
        else { return }
        let wasCalled = connections[connection].wasCalled
        connections[connection].wasCalled = false
        guard catchUps.mayRead(for: id, of: address, wasCalled: wasCalled) else { return lookAtReaders() }
        connections[connection].isReadingBoard = true
        let token = ordinals.read()
        let partsKnown = catchUps.ask(token, for: catchUp, on: id, of: address, at: now.instant)
        effects.append(
            .readBoard(
                BoardRead(
                    token: token, board: boards[board].id, above: catchUps[catchUp].offset, partsKnown: partsKnown,
                    bytesMax: catchUps.blockBytes, freshThrough: catchUps[catchUp].freshThrough)))
    }

    /// Some wait: who holds a block and takes nothing may have to give it back.
    private mutating func lookAtReaders() {
        guard !catchUps.lookIsSet else { return }
        catchUps.lookIsSet = true
        deadlines.set(.boardReaders, at: now.instant + CatchUps.stillFor)
    }

    mutating func boardReadersDeadline() {
        catchUps.lookIsSet = false
        if catchUps.letGoOfStill(at: now.instant) { lookAtReaders() }
        // Perhaps nothing else is to be flushed.
        wakeWaitingReaders()
    }

    /// Of those in line for a board as many as may ask now, before all others. Who does not ask in this turn may ask first later: that
    /// takes no room from others meanwhile.
    mutating func wakeWaitingReaders() {
        while let id = catchUps.callNext() {
            guard connections.has(id), connections[id.place].isOpen, !connections[id.place].catchUps.isEmpty else {
                catchUps.endCall(of: id)
                continue
            }
            connections[id.place].wasCalled = true
            outbox.wake(id.place)
        }
    }

    /// A block has been read.
    mutating func boardRead(_ block: BoardBlock) {
        guard let reading = catchUps.answered(block.token) else { return }
        if connections.has(reading.connection) {
            connections[reading.connection.place].isReadingBoard = false
            if connections[reading.connection.place].isOpen { outbox.wake(reading.connection.place) }
        }
        let catchUp = reading.catchUp
        guard catchUps[catchUp].awaits(block.token) else { return }
        let membership = catchUps[catchUp].membership
        guard let connection = outbox.connection(of: memberships[membership].session) else { return }
        defer { if memberships[membership].catchUp == catchUp { catchUps.recount(catchUp, at: now.instant) } }
        switch block.outcome {
        case .read:
            catchUps[catchUp].answered(block)
        case .belowFloor: resetReader(membership)
        // Removed while it was read: that is told when it is durable.
        case .gone: rest(catchUp, connection)
        case .failed(let text):
            log(.error, "the board of \(channels[memberships[membership].channel].id!.channel) cannot be read, again in a second: \(text)")
            rest(catchUp, connection)
        }
    }

    private mutating func rest(_ catchUp: CatchUp.Index, _ connection: Connection.Index) {
        catchUps[catchUp].failed()
        deadlines.set(
            .boardReading(connection: connection, generation: connections[connection].id.generation), at: now.instant + .seconds(1))
    }

    mutating func boardReadingDeadline(_ connection: Connection.Index) {
        for catchUp in connections[connection].catchUps { catchUps[catchUp].rested() }
        outbox.wake(connection)
    }

    /// Readers that wait for what has become readable go on.
    mutating func wakeReaders(of channel: Channel.Index) {
        for catchUp in rooms[channels[channel].room].catchUps {
            let session = memberships[catchUps[catchUp].membership].session
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
            connection, .reset,
            ChannelReset(channel: channels[channel].handle, epoch: channels[channel].epoch, head: channels[channel].head))
        beginCatchUp(membership, CatchUp.Start(offset: 0, isFresh: true, takesOwn: true), connection)
    }

    /// The channel counts in another epoch: what was delivered and is gone is in nobody's picture.
    mutating func resetChannel(_ channel: Channel.Index) {
        channels[channel].epoch = Epoch(start: start.number, incarnation: ordinals.incarnation())
        channels[channel].named = []
        for session in channels[channel].inside.inOrder() { resetReader(membership(of: session, inside: channel)) }
    }
}
