import RelayWire

// Chunks for rooms and connections, and the bounds on what queues keep alive. [DL8, DL9]

/// One name, of up to two channels that share a chunk: what they deliver stands in one order.
struct Room {
    var name: Name?
    @Packed var messageChannel: Channel.Index?
    @Packed var streamChannel: Channel.Index?
    /// The chunk being written to, if there is one.
    @Packed var chunk: Chunk.Index?
    /// Size class of the next chunk: grows with traffic.
    var sizeClass: UInt8 = 0
    /// Chunks begun so far.
    var serial: UInt32 = 0
    /// Chunks that are alive.
    var chunks = 0
    /// Sessions that catch up in its message channel: packets are not for them now. [HI5]
    var catchingUp = 0
}

extension Hub {
    // MARK: - Chunks

    /// The room's chunk, with space for a frame of so many bytes and its mark.
    @inline(__always)
    mutating func sharedChunk(of room: Room.Index, for bytes: Int) -> Chunk.Index {
        if let chunk = rooms[room].chunk, Int(chunks[chunk].free) >= bytes + Int(Chunk.markBytes) { return chunk }
        return rollOver(room, for: bytes)
    }

    private mutating func rollOver(_ room: Room.Index, for bytes: Int) -> Chunk.Index {
        // A chunk that is full while readers still wait for it is the sign to take a larger one.
        if rooms[room].chunk != nil { rooms[room].sizeClass = min(rooms[room].sizeClass + 1, chunks.lastClass) }
        rooms[room].serial &+= 1
        rooms[room].chunks += 1
        let chunk = chunks.make(sizeClass: rooms[room].sizeClass, holding: bytes, room: room, serial: rooms[room].serial)
        rooms[room].chunk = chunk
        memoryGrew = true
        return chunk
    }

    mutating func discardShared(_ chunk: Chunk.Index) {
        let room = chunks[chunk].room!
        if chunks[chunk].used < chunks[chunk].capacity / 4, rooms[room].sizeClass > 0 { rooms[room].sizeClass -= 1 }
        chunks.discard(chunk)
        rooms[room].chunks -= 1
        removeRoomIfUnused(room)
    }

    /// A room goes with its last channel and its last chunk.
    mutating func removeRoomIfUnused(_ room: Room.Index) {
        guard rooms[room].messageChannel == nil, rooms[room].streamChannel == nil else { return }
        if let name = rooms[room].name {
            roomsByName[name] = nil
            rooms[room].name = nil
            // What it was writing to is kept alive by queues alone now.
            memoryGrew = true
        }
        if rooms[room].chunks == 0 { rooms.remove(room) }
    }

    /// The connection's own chunk, with space for a frame of so many bytes and its mark.
    mutating func privateChunk(of connection: Connection.Index, for bytes: Int) -> Chunk.Index {
        if let current = queues[beside: connection].privateChunk, Int(chunks[current].free) >= bytes + Int(Chunk.markBytes) { return current }
        let sizeClass: UInt8 = queues[beside: connection].bytes > configuration.packetBacklogBytesMax ? 4 : 0
        let chunk = chunks.make(sizeClass: sizeClass, holding: bytes, room: nil, serial: 0)
        queues[beside: connection].privateChunk = chunk
        memoryGrew = true
        return chunk
    }

    // MARK: - Bounds

    /// What this connection's queue keeps alive: shared chunks counted once each, and its own. The chunk that a room
    /// is writing to is the room's.
    mutating func memoryHeld(by connection: Connection.Index) -> (shared: Int, own: Int) {
        chunks.beginVisit()
        var shared = 0
        var own = 0
        for index in 0..<queues[beside: connection].count {
            let chunk = queues[beside: connection][index].chunk
            guard chunks.firstVisit(chunk) else { continue }
            guard let room = chunks[chunk].room else {
                own += Int(chunks[chunk].capacity)
                continue
            }
            if rooms[room].chunk != chunk || rooms[room].name == nil { shared += Int(chunks[chunk].capacity) }
        }
        return (shared, own)
    }

    /// After chunks were begun: readers that lag copy what they still need, and when all queues together hold too
    /// much the one that holds most is closed, of those that lag first. Whoever has not been offered yet what was just
    /// queued needs no copy: thousands of them would be what fills the memory. [DL9]
    mutating func boundMemory() {
        memoryGrew = false
        memoryGrewSinceFlush = true
        for connection in busy where queues[beside: connection].isLagging && queues[beside: connection].count > 0 && mustOwn(connection) { copyToOwnChunks(connection) }
        while chunks.liveBytes > configuration.queueBytesTotalMax {
            var most: (connection: Connection.Index?, isLagging: Bool, bytes: Int) = (nil, false, 0)
            for connection in busy where connections[connection].isOpen {
                let held = memoryHeld(by: connection), bytes = held.shared + held.own, lags = queues[beside: connection].isLagging
                if bytes > 0, lags == most.isLagging ? bytes > most.bytes : lags { most = (connection, lags, bytes) }
            }
            guard let connection = most.connection else { return }
            closeSlow(
                connection,
                "all queues together hold \(chunks.liveBytes) bytes of at most \(configuration.queueBytesTotalMax), this one \(most.bytes)")
        }
    }

    private mutating func mustOwn(_ connection: Connection.Index) -> Bool {
        for index in 0..<queues[beside: connection].count {
            let chunk = queues[beside: connection][index].chunk
            if let room = chunks[chunk].room, rooms[room].serial &- chunks[chunk].serial >= UInt32(configuration.sharedChunksPerChannelMax) { return true }
        }
        return memoryHeld(by: connection).shared > configuration.pinnedBytesPerSessionMax
    }

    /// Copies every shared segment of a queue into chunks of its own, so that it keeps nothing of others alive.
    mutating func copyToOwnChunks(_ connection: Connection.Index) {
        findBoundary(connection)
        let (segments, boundary) = queues[beside: connection].removeAll()
        for (index, segment) in segments.enumerated() {
            let frameStart = index == 0 ? boundary : segment.start
            guard chunks[segment.chunk].room != nil else {
                queues[beside: connection].restore(segment, boundary: frameStart)
                continue
            }
            var position = frameStart
            while position < segment.end {
                let sent = position < segment.start ? segment.start - position : 0
                position = copyFrame(from: segment.chunk, at: position, alreadySent: sent, kind: segment.kind, to: connection)
            }
            release(segment.chunk, of: connection)
        }
    }

    /// Copies one frame to the end of a queue, into a chunk of its own.
    ///
    /// - Parameter alreadySent: how many of its bytes are on the wire already; only at the front of a queue.
    /// - Returns: where the next frame begins in the chunk it was read from.
    mutating func copyFrame(from chunk: Chunk.Index, at position: UInt32, alreadySent: UInt32, kind: Segment.Kind, to connection: Connection.Index) -> UInt32 {
        let bytes = UInt32(frameHead(chunk: chunk, at: position).frameBytes)
        let own = privateChunk(of: connection, for: Int(bytes))
        let start = chunks[own].used
        (chunks[own].base! + Int(start)).copyMemory(from: chunks[chunk].base! + Int(position), byteCount: Int(bytes))
        chunks[own].used = start + bytes
        if kind == .packets { chunks[own].appendMark(.init(offset: start, milliseconds: chunks[chunk].acceptedAt(position))) }
        if queues[beside: connection].isEmpty {
            let segment = Segment(chunk: own, start: start + alreadySent, end: start + bytes, kind: kind)
            queues[beside: connection].restore(segment, boundary: start)
            chunks[own].references += 1
        } else if queues[beside: connection].append(chunk: own, start: start, end: start + bytes, kind: kind) {
            chunks[own].references += 1
        }
        return position + bytes
    }

    /// The reliable backlog has passed its soft limit: at once too much, or the clock starts. [DL8]
    mutating func noteBacklog(_ connection: Connection.Index) {
        let bytes = queues[beside: connection].reliableBytes
        if bytes > configuration.reliableBacklogBytesHard {
            guard connections[connection].isOpen else { return }
            tooSlow.append(connection)
            // A notice that was written while bytes were taken out has no end of a call to be looked at in.
            deadlines.set(.slowConsumer(connection: connection, generation: connections[connection].id.generation), at: now.instant)
        } else if queues[beside: connection].softLimitSince == nil {
            queues[beside: connection].softLimitSince = now.instant
            deadlines.set(
                .slowConsumer(connection: connection, generation: connections[connection].id.generation),
                at: now.instant + configuration.slowConsumerAfter)
        }
    }

    mutating func slowConsumerDeadline(_ connection: Connection.Index) {
        guard let since = queues[beside: connection].softLimitSince else { return }
        let due = since + configuration.slowConsumerAfter
        guard due <= now.instant else {
            deadlines.set(.slowConsumer(connection: connection, generation: connections[connection].id.generation), at: due)
            return
        }
        closeSlow(
            connection,
            "\(queues[beside: connection].reliableBytes) bytes waited, over \(configuration.reliableBacklogBytesSoft) for \(configuration.slowConsumerAfter)")
    }
}
