internal import RelayJournal
import RelayWire

// Subscriptions that get what is kept before they get what comes. [HI2–HI5]
//
// Nothing live is queued for them. What is kept is pulled block by block, only while little waits for the reader, so that
// no queue grows and everybody else is served in between; in the step in which nothing is left they are live.

extension Hub {
    // MARK: - Begin and end

    /// What a subscriber that has seen everything up to a position gets, and what it misses. [CH6, HI3]
    ///
    /// - Returns: where it begins to catch up.
    ///
    /// - Parameter freshThrough: of a reader that goes on with a board on another connection.
    mutating func recover(from since: Since, _ channel: Int32, freshThrough: UInt64 = 0, into answer: inout SubscribeAnswer) -> CatchUp.Start {
        forgetExpired(of: channel)
        let head = channels[channel].head
        let floor = channels[channel].history.floor
        let board = channels[channel].board
        var seen: UInt64 = 0
        var isOlder = false
        var isRest = false
        if case .rest = since { isRest = true }
        if let position = since.position {
            if position.epoch == channels[channel].epoch, position.offset <= head {
                seen = position.offset
            } else if board >= 0, let durable = boards[board].durable(in: position.epoch), position.offset <= durable {
                seen = position.offset
                isOlder = true
            } else {
                // What it holds says nothing about this numbering: it gets all of it.
                answer.reset = true
            }
            if board >= 0, answer.reset == nil, max(seen, freshThrough) < boards[board].summary.markerFloor {
                answer.reset = true
                seen = 0
            }
        }
        answer.recovered = answer.reset == nil && seen >= floor && !isOlder
        let isFresh = since == .beginning || answer.reset == true
        guard board < 0 else {
            // What is missing is told in its place, between what the board has. [BL3]
            answer.after = seen
            return CatchUp.Start(offset: seen, isFresh: isFresh, takesOwn: isFresh || isRest)
        }
        if seen < floor { answer.missed = OffsetRange(from: seen + 1, to: floor) }
        answer.after = max(seen, floor)
        return CatchUp.Start(offset: max(seen, floor), isFresh: isFresh, takesOwn: isFresh || isRest)
    }

    /// From now on it gets what is kept, then what comes.
    mutating func beginCatchUp(_ session: Int32, _ channel: Int32, _ start: CatchUp.Start, _ connection: Int32) {
        endCatchUp(session, channel)
        channels[channel].messageReceivers.removeFirst(of: session)
        sessions[session].memberships[channel]!.catchUp = CatchUp(
            offset: start.offset, began: channels[channel].head, takesOwn: start.takesOwn, complete: start.offset)
        // What is in the file now comes as it is now. Of what is on its way a removal may take back what comes before it.
        let board = channels[channel].board
        if start.isFresh { sessions[session].memberships[channel]!.freshThrough = board < 0 ? 0 : boards[board].readableHead }
        if !start.takesOwn { sessions[session].memberships[channel]!.freshThrough = 0 }
        sessions[session].memberships[channel]!.catchUp!.freshThrough = sessions[session].memberships[channel]!.freshThrough
        rooms[channels[channel].room].catchingUp += 1
        connections[connection].catchUps.append(channel)
        markDirty(connection)
    }

    /// It is live, whatever is left; packets that it did not get meanwhile are told.
    mutating func endCatchUp(_ session: Int32, _ channel: Int32) {
        guard let catchUp = sessions[session].memberships[channel]?.catchUp else { return }
        let connection = links[Int(session)]
        if connection >= 0, connections[connection].isOpen {
            tellLost(catchUp.lost, to: connection)
            connections[connection].catchUps.removeFirst(of: channel)
        }
        sessions[session].memberships[channel]!.catchUp = nil
        rooms[channels[channel].room].catchingUp -= 1
        // Publishers are named anew for it. [MS5]
        channels[channel].named = []
        if sessions[session].memberships[channel]!.receivesMessages { channels[channel].messageReceivers.insertOnce(session) }
    }

    /// Its connection has ended: a resumption begins where the client says. [SE9]
    mutating func endCatchUps(of connection: Int32, _ session: Int32) {
        let channels = connections[connection].catchUps
        connections[connection].catchUps = []
        for channel in channels { endCatchUp(session, channel) }
    }

    // MARK: - Pulling

    /// The next block for a connection that takes it, if it may be now.
    mutating func pullCatchUp(_ connection: Int32) {
        guard connections[connection].isOpen, queues[connection].reliableBytes < configuration.catchUpQueueBytesInUse else { return }
        let session = connections[connection].session
        let before = queues[connection].reliableBytes
        for _ in 0..<connections[connection].catchUps.count {
            guard let channel = connections[connection].catchUps.first else { return }
            guard catchUpBudget > 0 else { return catchUpsWait.insertOnce(connection) }
            let pull = pullBlock(session, channel, connection)
            if pull == .done {
                endCatchUp(session, channel)
                enqueueJSON(connection, .caughtUp, CaughtUp(channel: channels[channel].handle, head: channels[channel].head))
            } else {
                // Another channel's turn.
                connections[connection].catchUps.append(connections[connection].catchUps.removeFirst())
            }
            guard pull == .waits else { break }
        }
        catchUpBudget -= queues[connection].reliableBytes - before
    }

    private mutating func pullBlock(_ session: Int32, _ channel: Int32, _ connection: Int32) -> Pull {
        forgetExpired(of: channel)
        var bytes = 0
        if let pull = pullBoard(session, channel, connection, &bytes) { return pull }
        // Everything that is readable of a board has been given: the ring has the rest.
        tellGap(session, channel, connection, through: channels[channel].history.floor(began: sessions[session].memberships[channel]!.catchUp!.began))
        let from = max(sessions[session].memberships[channel]!.catchUp!.offset, sessions[session].memberships[channel]!.catchUp!.complete)
        var offset = from
        var index = channels[channel].history.index(above: offset)
        while index < channels[channel].history.count {
            let size = channels[channel].history[index].frame.count
            guard bytes == 0 || bytes + size <= configuration.catchUpBlockBytesInUse else { break }
            let message = channels[channel].history[index]
            index += 1
            offset = message.offset
            bytes += give(message, session, channel, connection)
        }
        sessions[session].memberships[channel]!.catchUp!.offset = offset
        sessions[session].memberships[channel]!.catchUp!.complete = max(offset, sessions[session].memberships[channel]!.catchUp!.complete)
        return index == channels[channel].history.count ? .done : .more
    }

    mutating func sendName(_ user: Name, _ handle: UInt32, to connection: Int32) {
        let head = FrameHead(type: FrameType.userNamed.rawValue, bodyBytes: 4 + user.text.utf8.count)
        enqueuePrivate(connection, head: head) { writer in
            writer.integer(handle)
            for byte in user.text.utf8 { writer.integer(byte) }
        }
    }

    /// A frame that was encoded before.
    mutating func enqueueWhole(_ connection: Int32, _ frame: [UInt8]) {
        frame.withUnsafeBytes { bytes in
            guard case .head(let head) = FrameHead.read(bytes) else { preconditionFailure("what is kept is no frame") }
            enqueuePrivate(connection, head: head) { $0.bytes(UnsafeRawBufferPointer(rebasing: bytes[Limits.frameHeadBytes...])) }
        }
    }

    // MARK: - Turns

    /// The shell is about to flush: readers that catch up may be given so much, and those that had to wait are dirty.
    package mutating func beginFlush() {
        catchUpBudget = configuration.catchUpTurnBytes
        let waiting = catchUpsWait
        catchUpsWait = []
        for connection in waiting where connections[connection].isOpen && !queues[connection].isDirty { markDirty(connection) }
    }

    /// The shell has offered everything to the sockets: whatever is left waits for its reader.
    package mutating func endFlush() {
        if memoryGrewSinceFlush { memoryGrew = true }
        keepBounds()
        memoryGrewSinceFlush = false
    }

    /// Whether readers that catch up had to stop for others: another flush is wanted soon.
    package var wantsFlush: Bool { mutating get { !catchUpsWait.isEmpty } }

    // MARK: - Packets

    /// Those of a flow's receivers that get its packets now; for those that catch up the packet is lost, and told later. [HI5]
    mutating func receiversNow(_ flow: Int32, except: Int32) -> [Int32] {
        let room = channels[flows[flow].channel].room
        let channel = rooms[room].messageChannel
        guard channel >= 0 else { return flows[flow].receivers }
        var receivers: [Int32] = []
        let sequence = flows[flow].sequence
        let handle = flows[flow].handle
        for session in flows[flow].receivers {
            guard sessions[session].memberships[channel]?.catchUp != nil else {
                receivers.append(session)
                continue
            }
            if session != except { noteLost(LostRange(flow: handle, first: sequence, last: sequence), session, channel) }
        }
        return receivers
    }

    private mutating func noteLost(_ packet: LostRange, _ session: Int32, _ channel: Int32) {
        let count = sessions[session].memberships[channel]!.catchUp!.lost.count
        sessions[session].packetsLost += 1
        counters.packetsShedCatchingUp += 1
        // The range to extend is among the last ones, as long as few flows take turns.
        for index in stride(from: count - 1, through: max(0, count - 64), by: -1) {
            let range = sessions[session].memberships[channel]!.catchUp!.lost[index]
            if range.flow == packet.flow, range.last &+ 1 == packet.first {
                sessions[session].memberships[channel]!.catchUp!.lost[index].last = packet.last
                return
            }
        }
        if count >= sessions[session].memberships[channel]!.catchUp!.lostMergedAt {
            // A reader that reads nothing stays here as long as it likes: this grows with the flows, not with their packets.
            let merged = Self.merged(sessions[session].memberships[channel]!.catchUp!.lost)
            sessions[session].memberships[channel]!.catchUp!.lost = merged
            sessions[session].memberships[channel]!.catchUp!.lostMergedAt = max(CatchUp.lostMergedAtLeast, 2 * merged.count)
        }
        sessions[session].memberships[channel]!.catchUp!.lost.append(packet)
    }

    /// Before a flow closes, or a selection changes: what it did not get so far is told. [ST10]
    mutating func tellLostMeanwhile(_ session: Int32, room: Int32) {
        guard rooms[room].catchingUp > 0, rooms[room].messageChannel >= 0 else { return }
        let channel = rooms[room].messageChannel
        guard let catchUp = sessions[session].memberships[channel]?.catchUp, !catchUp.lost.isEmpty, links[Int(session)] >= 0 else { return }
        sessions[session].memberships[channel]!.catchUp!.lost = []
        tellLost(catchUp.lost, to: links[Int(session)])
    }

    private mutating func tellLost(_ ranges: [LostRange], to connection: Int32) {
        if !ranges.isEmpty { enqueueLost(connection, [(.catchingUp, Self.merged(ranges))]) }
    }
}
