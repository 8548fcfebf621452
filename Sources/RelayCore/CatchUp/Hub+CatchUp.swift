internal import RelayStorage
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
    mutating func recover(from since: Since, _ channel: Channel.Index, freshThrough: UInt64 = 0, into answer: inout SubscribeAnswer)
        -> CatchUp.Start
    {
        forgetExpired(of: channel)
        let head = channels[channel].head
        let floor = channels[channel].history.floor
        let board = channels[channel].board
        var seen: UInt64 = 0
        var isOlder = false
        if let position = since.position {
            if position.epoch == channels[channel].epoch, position.offset <= head {
                seen = position.offset
            } else if let board, let durable = boards[board].durable(in: position.epoch), position.offset <= durable {
                seen = position.offset
                isOlder = true
            } else {
                // What it holds says nothing about this numbering: it gets all of it.
                answer.reset = true
            }
            if let board, answer.reset == nil, max(seen, freshThrough) < boards[board].summary.markerFloor {
                answer.reset = true
                seen = 0
            }
        }
        answer.recovered = answer.reset == nil && seen >= floor && !isOlder
        let isFresh = since == .beginning || answer.reset == true
        guard board == nil else {
            // What is missing is told in its place, between what the board has. [BL3]
            answer.after = seen
            return CatchUp.Start(offset: seen, isFresh: isFresh, takesOwn: isFresh || since.isRest)
        }
        if seen < floor { answer.missed = OffsetRange(from: seen + 1, to: floor) }
        answer.after = max(seen, floor)
        return CatchUp.Start(offset: max(seen, floor), isFresh: isFresh, takesOwn: isFresh || since.isRest)
    }

    /// From now on it gets what is kept, then what comes: `gather` pulls its first block (`pullCatchUp`).
    mutating func beginCatchUp(_ membership: Membership.Index, _ start: CatchUp.Start, _ connection: Connection.Index) {
        let (session, channel) = (memberships[membership].session, memberships[membership].channel)
        endCatchUp(membership)
        channels[channel].messageReceivers.removeFirst(of: session)
        // Records in the file come as they are now. A removal that is still on its way to the file may cancel earlier ones.
        if start.isFresh { memberships[membership].freshThrough = channels[channel].board.map { [boards] in boards[$0].readableHead } ?? 0 }
        if !start.takesOwn { memberships[membership].freshThrough = 0 }
        let catchUp = catchUps.insert(
            CatchUp(membership, start, began: channels[channel].head, freshThrough: memberships[membership].freshThrough))
        memberships[membership].catchUp = catchUp
        rooms[channels[channel].room].catchUps.append(catchUp)
        connections[connection].catchUps.append(catchUp)
        outbox.wake(connection)
    }

    /// It is live, whatever is left; packets that it did not get meanwhile are told.
    mutating func endCatchUp(_ membership: Membership.Index) {
        guard let catchUp = memberships[membership].catchUp else { return }
        let (session, channel) = (memberships[membership].session, memberships[membership].channel)
        if let connection = outbox.connection(of: session), connections[connection].isOpen {
            tellLost(catchUp, to: connection)
            connections[connection].catchUps.removeFirst(of: catchUp)
        }
        memberships[membership].catchUp = nil
        catchUps.remove(catchUp)
        rooms[channels[channel].room].catchUps.removeFirst(of: catchUp)
        // Publishers are named anew for it. [MS5]
        channels[channel].named = []
        if memberships[membership].receivesMessages { channels[channel].messageReceivers.insertOnce(session) }
    }

    /// Its connection has ended: a resumption begins where the client says. [SE9]
    mutating func endCatchUps(of connection: Connection.Index) {
        let ended = connections[connection].catchUps
        connections[connection].catchUps = []
        for catchUp in ended { endCatchUp(catchUps[catchUp].membership) }
    }

    // MARK: - Pulling

    /// The next block for a connection that takes it, if it may be now.
    mutating func pullCatchUp(_ connection: Connection.Index) {
        guard connections[connection].isOpen, outbox.load(of: connection).reliable < configuration.catchUpQueueBytesInUse else { return }
        let before = outbox.load(of: connection).reliable
        for _ in 0..<connections[connection].catchUps.count {
            guard let catchUp = connections[connection].catchUps.first else { return }
            guard catchUps.mayGive(to: connection) else { return }
            let pull = pullBlock(catchUp, connection)
            if pull == .done {
                let membership = catchUps[catchUp].membership, channel = memberships[membership].channel
                endCatchUp(membership)
                enqueueJSON(connection, .caughtUp, CaughtUp(channel: channels[channel].handle, head: channels[channel].head))
                passBarriers(of: membership)
            } else {
                // Another channel's turn.
                connections[connection].catchUps.append(connections[connection].catchUps.removeFirst())
            }
            guard pull == .waits else { break }
        }
        catchUps.gave(outbox.load(of: connection).reliable - before)
    }

    private mutating func pullBlock(_ catchUp: CatchUp.Index, _ connection: Connection.Index) -> Pull {
        let channel = memberships[catchUps[catchUp].membership].channel
        forgetExpired(of: channel)
        var bytes = 0
        if let pull = pullBoard(catchUp, connection, &bytes) { return pull }
        // Everything that is readable of a board has been given: the ring has the rest.
        tellGap(catchUp, connection, through: channels[channel].history.floor(began: catchUps[catchUp].began))
        var offset = max(catchUps[catchUp].offset, catchUps[catchUp].complete)
        var index = channels[channel].history.index(above: offset)
        while index < channels[channel].history.count {
            let size = channels[channel].history[index].frame.count
            guard bytes == 0 || bytes + size <= configuration.catchUpBlockBytesInUse else { break }
            let message = channels[channel].history[index]
            index += 1
            offset = message.offset
            bytes += give(message, catchUp, connection)
        }
        catchUps[catchUp].gave(through: offset)
        return index == channels[channel].history.count ? .done : .more
    }

    mutating func sendName(_ user: Name, _ handle: UInt32, to connection: Connection.Index) {
        let head = FrameHead(type: FrameType.userNamed.rawValue, bodyBytes: 4 + user.text.utf8.count)
        enqueuePrivate(connection, head: head) { writer in
            writer.integer(handle)
            for byte in user.text.utf8 { writer.integer(byte) }
        }
    }

    /// A frame that was encoded before.
    mutating func enqueueWhole(_ connection: Connection.Index, _ frame: [UInt8]) {
        frame.withUnsafeBytes { bytes in
            guard case .head(let head) = FrameHead.read(bytes) else { preconditionFailure("what is kept is no frame") }
            enqueuePrivate(connection, head: head) { $0.bytes(UnsafeRawBufferPointer(rebasing: bytes[Limits.frameHeadBytes...])) }
        }
    }

    // MARK: - Packets

    /// Those of a flow's receivers that get its packets now; for those that catch up the packet is lost, and told later. [HI5]
    mutating func receiversNow(_ flow: Flow.Index, except: Session.Index?) -> [Session.Index] {
        let room = channels[flows[flow].channel].room
        guard let channel = rooms[room].messageChannel else { return flows[flow].receivers }
        var receivers: [Session.Index] = []
        let sequence = flows[flow].sequence
        let handle = flows[flow].handle
        for session in flows[flow].receivers {
            guard let membership = sessions[session].memberships[channel], let catchUp = memberships[membership].catchUp else {
                receivers.append(session)
                continue
            }
            guard session != except else { continue }
            catchUps[catchUp].lost.add(LostRange(flow: handle, first: sequence, last: sequence))
            sessions[session].packetsLost += 1
            counters.packetsShedCatchingUp += 1
        }
        return receivers
    }

    /// Before a flow closes, or a selection changes: what it did not get so far is told. [ST10]
    mutating func tellLostMeanwhile(_ session: Session.Index, room: Room.Index) {
        guard !rooms[room].catchUps.isEmpty, let channel = rooms[room].messageChannel,
            let membership = sessions[session].memberships[channel], let catchUp = memberships[membership].catchUp,
            let connection = outbox.connection(of: session)
        else { return }
        tellLost(catchUp, to: connection)
    }

    private mutating func tellLost(_ catchUp: CatchUp.Index, to connection: Connection.Index) {
        if let lost = catchUps[catchUp].lost.take() { outbox.tell(lost, to: connection) }
    }
}

/// A `barrier` that is not answered. [HI8]
struct Barrier {
    var request: UInt32
    /// Memberships that catch up.
    var waitsFor: [Membership.Index]
}

extension Hub {
    /// Everything accepted before it stands in the queue already, but for what comes by catching up. [HI8]
    mutating func barrier(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(BarrierRequest.self, body)
        var waitsFor = connections[connection].catchUps.map { [catchUps] in catchUps[$0].membership }
        if let channel = request.channel {
            let membership = try inside(ChannelID(kind: .message, channel: channel), session)
            waitsFor.removeAll { $0 != membership }
        }
        guard !waitsFor.isEmpty else { return answer(connection, EmptyAnswer(id: request.id)) }
        let count = connections[connection].barriers.count
        guard count < Limits.barriersMax else {
            throw WireError(
                .limitReached, "at most \(Limits.barriersMax) barriers of a connection wait", limit: Limits.barriersMax, actual: count + 1)
        }
        connections[connection].barriers.append(Barrier(request: request.id, waitsFor: waitsFor))
    }

    /// A membership is live again, or has ended: no barrier waits for it any more.
    mutating func passBarriers(of membership: Membership.Index) {
        guard let connection = outbox.connection(of: memberships[membership].session) else { return }
        for index in connections[connection].barriers.indices {
            connections[connection].barriers[index].waitsFor.removeFirst(of: membership)
        }
        while let passed = connections[connection].barriers.firstIndex(where: { $0.waitsFor.isEmpty }) {
            answer(connection, EmptyAnswer(id: connections[connection].barriers.remove(at: passed).request))
        }
    }

    /// Withdraws what waits; what was done meanwhile is answered as it would have been. [SE14]
    mutating func cancel(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(CancelRequest.self, body)
        if stopBarrier(request.request, connection) || stopLockWait(request.request, session, connection) {
            refuse(connection, WireError(.cancelled, "withdrawn by its client"), id: request.request)
        }
        answer(connection, EmptyAnswer(id: request.id))
    }

    /// - Returns: whether it waited.
    private mutating func stopBarrier(_ request: UInt32, _ connection: Connection.Index) -> Bool {
        guard let index = connections[connection].barriers.firstIndex(where: { $0.request == request }) else { return false }
        connections[connection].barriers.remove(at: index)
        return true
    }
}
