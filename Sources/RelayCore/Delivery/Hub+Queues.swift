import RelayWire

// Frames into queues, bytes out of them.

extension Hub {
    // MARK: - Into queues

    /// Encodes one frame into the shared chunk of a room and puts it into the queue of every receiver that has a
    /// connection. Costs each of them a few nanoseconds; nothing is copied, allocated or retained per receiver.
    ///
    /// - Parameters:
    ///   - receivers: sessions; `except` is left out.
    ///   - expiresAt: for packets, when they are of no use any more, in milliseconds of the hub's clock.
    /// - Returns: how many queues it went into.
    @inline(__always)
    @discardableResult
    mutating func enqueueShared(
        room: Room.Index, head: FrameHead, kind: Segment.Kind, to receivers: [Session.Index], except: Session.Index? = nil, expiresAt: UInt32 = 0,
        body: (inout ByteWriter) -> Void
    ) -> Int {
        guard !receivers.isEmpty, !(receivers.count == 1 && receivers[0] == except) else { return 0 }
        let bytes = head.frameBytes
        let chunk = sharedChunk(of: room, for: bytes)
        let start = chunks[chunk].used
        let end = start + UInt32(bytes)
        var writer = ByteWriter(chunks[chunk].base.unsafelyUnwrapped + Int(start))
        head.write(to: &writer)
        body(&writer)
        chunks[chunk].used = end
        if kind == .packets { chunks[chunk].appendMark(.init(offset: start, milliseconds: milliseconds)) }

        var references: Int32 = 0
        var reached = 0
        receivers.withUnsafeBufferPointer { receivers in
            for session in receivers where session != except {
                guard let connection = links[session] else { continue }
                reached += 1
                references += enqueue(connection, chunk: chunk, start: start, end: end, kind: kind, expiresAt: expiresAt)
            }
        }
        chunks[chunk].references += references
        if chunks[chunk].references == 0 {
            rooms[room].chunk = nil
            discardShared(chunk)
        }
        return reached
    }

    /// - Returns: 1 if the queue refers to the chunk once more, else 0.
    @inline(__always)
    private mutating func enqueue(
        _ connection: Connection.Index, chunk: Chunk.Index, start: UInt32, end: UInt32, kind: Segment.Kind, expiresAt: UInt32
    ) -> Int32 {
        let made: Bool
        if kind == .packets {
            let hadPackets = queues[beside: connection].packetBytes > 0
            made = queues[beside: connection].append(chunk: chunk, start: start, end: end, kind: .packets)
            if !hadPackets || isEarlier(expiresAt, than: queues[beside: connection].expiresAt) { queues[beside: connection].expiresAt = expiresAt }
            if queues[beside: connection].packetBytes > configuration.packetBacklogBytesMax, !queues[beside: connection].mustShed {
                queues[beside: connection].mustShed = true
                overfull.append(connection)
            }
            counters.packetsQueued += 1
        } else {
            made = queues[beside: connection].append(chunk: chunk, start: start, end: end, kind: kind)
            if queues[beside: connection].reliableBytes > configuration.reliableBacklogBytesSoft { noteBacklog(connection) }
        }
        if !queues[beside: connection].isDirty { markDirty(connection) }
        return made ? 1 : 0
    }

    /// Writes one frame for a single connection.
    mutating func enqueuePrivate(
        _ connection: Connection.Index, head: FrameHead, kind: Segment.Kind = .reliable, body: (inout ByteWriter) -> Void
    ) {
        let bytes = head.frameBytes
        let chunk = privateChunk(of: connection, for: bytes)
        let start = chunks[chunk].used
        var writer = ByteWriter(chunks[chunk].base.unsafelyUnwrapped + Int(start))
        head.write(to: &writer)
        body(&writer)
        let end = start + UInt32(bytes)
        chunks[chunk].used = end
        chunks[chunk].references += enqueue(connection, chunk: chunk, start: start, end: end, kind: kind, expiresAt: 0)
    }

    /// A JSON frame for a single connection.
    mutating func enqueueJSON(_ connection: Connection.Index, _ type: FrameType, _ value: some JSONObject) {
        let body = JSONBody.encode(value)
        enqueuePrivate(connection, head: FrameHead(type: type.rawValue, bodyBytes: body.count)) { writer in
            body.withUnsafeBytes { writer.bytes($0) }
        }
    }

    /// A JSON frame for all of `receivers`.
    mutating func enqueueJSON(room: Room.Index, _ type: FrameType, _ value: some JSONObject, to receivers: [Session.Index], except: Session.Index? = nil) {
        guard !receivers.isEmpty else { return }
        let body = JSONBody.encode(value)
        enqueueShared(
            room: room, head: FrameHead(type: type.rawValue, bodyBytes: body.count), kind: .reliable, to: receivers, except: except
        ) { writer in
            body.withUnsafeBytes { writer.bytes($0) }
        }
    }

    mutating func markDirty(_ connection: Connection.Index) {
        queues[beside: connection].isDirty = true
        dirty.append(connection)
        if queues[beside: connection].busyPosition < 0 {
            queues[beside: connection].busyPosition = Int32(busy.count)
            queues[beside: connection].busySince = now.instant
            busy.append(connection)
        }
    }

    private mutating func unmarkBusy(_ connection: Connection.Index) {
        let position = queues[beside: connection].busyPosition
        guard position >= 0 else { return }
        queues[beside: connection].busyPosition = -1
        queues[beside: connection].isLagging = false
        let last = busy.removeLast()
        if last != connection {
            busy[Int(position)] = last
            queues[beside: last].busyPosition = position
        }
    }

    // MARK: - Out of queues

    /// Whether `nextDirty` may have one.
    package var hasDirty: Bool { mutating get { dirtyHead < dirty.count } }

    /// A connection that got something to send since it was last returned here, or `nil`. The shell flushes it, or
    /// leaves it if it waits for the socket anyway.
    package mutating func nextDirty() -> ConnectionID? {
        while dirtyHead < dirty.count {
            let connection = dirty[dirtyHead]
            dirtyHead += 1
            guard queues[beside: connection].isDirty else { continue }
            queues[beside: connection].isDirty = false
            guard connections[connection].isOpen, !queues[beside: connection].isEmpty || !connections[connection].catchUps.isEmpty else {
                if queues[beside: connection].isEmpty { unmarkBusy(connection) }
                continue
            }
            queues[beside: connection].isLagging = true
            return connections[connection].id
        }
        dirty.removeAll(keepingCapacity: true)
        dirtyHead = 0
        return nil
    }

    /// Says how much of what waits goes into one message of a WebSocket: whole frames, at most `limit` bytes or one larger one. What
    /// was said is sent as it is, by `gather` with that limit, before this is asked again. [WS7]
    ///
    /// - Returns: bytes; 0 when nothing waits.
    package mutating func announce(_ id: ConnectionID, limit: Int, at now: Now) -> Int {
        guard isKnown(id) else { return 0 }
        enter(now)
        let connection = id.place
        precondition(queues[beside: connection].announcedBytes == 0, "\(id): \(queues[beside: connection].announcedBytes) announced bytes are not sent yet")
        refresh(connection)
        let bytes = wholeFrames(of: connection, limit: limit)
        queues[beside: connection].announcedBytes = bytes
        return bytes
    }

    /// A queue that is sent in messages begins with a whole frame.
    private func wholeFrames(of connection: Connection.Index, limit: Int) -> Int {
        var bytes = 0
        for index in 0..<queues[beside: connection].count {
            let segment = queues[beside: connection][index]
            if bytes + segment.bytes <= limit {
                bytes += segment.bytes
                continue
            }
            var position = segment.start
            while position < segment.end {
                let frame = frameHead(chunk: segment.chunk, at: position).frameBytes
                guard bytes == 0 || bytes + frame <= limit else { return bytes }
                bytes += frame
                position += UInt32(frame)
            }
        }
        return bytes
    }

    /// What is to be looked at before bytes are taken out: readers that catch up, and packets that have outlived their use.
    private mutating func refresh(_ connection: Connection.Index) {
        if !connections[connection].catchUps.isEmpty { pullCatchUp(connection) }
        if queues[beside: connection].packetBytes > 0, isEarlier(queues[beside: connection].expiresAt, than: milliseconds) { shedExpired(connection) }
    }

    /// Fills `vectors` with what the connection is to send next.
    ///
    /// Packets that have outlived their use are shed first. The memory is valid until the next call to the hub.
    /// - Parameter limit: bytes after which no further vector is begun; the last one is cut to it.
    /// - Returns: how many vectors were filled; 0 when nothing waits.
    package mutating func gather(
        _ id: ConnectionID, into vectors: UnsafeMutableBufferPointer<IOVector>, limit: Int, at now: Now
    ) -> Int {
        guard isKnown(id) else { return 0 }
        enter(now)
        let connection = id.place
        refresh(connection)
        var filled = 0
        var rest = limit
        while filled < vectors.count, filled < queues[beside: connection].count, rest > 0 {
            let segment = queues[beside: connection][filled]
            let bytes = min(segment.bytes, rest)
            vectors[filled] = IOVector(base: UnsafeRawPointer(chunks[segment.chunk].base!) + Int(segment.start), count: bytes)
            filled += 1
            rest -= bytes
        }
        return filled
    }

    /// Takes what the socket has taken off the queue.
    ///
    /// - Returns: whether more waits.
    package mutating func wrote(_ id: ConnectionID, bytes: Int, at now: Now) -> Bool {
        guard isKnown(id) else { return false }
        enter(now)
        let connection = id.place
        take(bytes, from: connection)
        if queues[beside: connection].softLimitSince != nil,
            queues[beside: connection].reliableBytes <= configuration.reliableBacklogBytesSoft
        {
            queues[beside: connection].softLimitSince = nil
        }
        if queues[beside: connection].isEmpty {
            queues[beside: connection].trim()
            if queues[beside: connection].busyPosition >= 0 { counters.delivery.observe(now.instant - queues[beside: connection].busySince) }
            unmarkBusy(connection)
            // Flushed without having been asked for by `nextDirty`: what comes next must make it dirty, and busy, again.
            queues[beside: connection].isDirty = false
            // The next block comes behind what others wait for.
            if !connections[connection].catchUps.isEmpty { markDirty(connection) }
            return false
        }
        if !sweepIsSet { setQueueSweep() }
        return true
    }

    private mutating func take(_ bytes: Int, from connection: Connection.Index) {
        // Released segments are few; the closure may not touch the hub while its queue is being changed.
        var gone = scratchChunks
        scratchChunks = []
        queues[beside: connection].consume(bytes) { gone.append($0.chunk) }
        for chunk in gone { release(chunk, of: connection) }
        gone.removeAll(keepingCapacity: true)
        scratchChunks = gone
    }

    /// One reference to a chunk less.
    mutating func release(_ chunk: Chunk.Index, of connection: Connection.Index) {
        chunks[chunk].references -= 1
        guard chunks[chunk].references == 0 else { return }
        if let room = chunks[chunk].room {
            if rooms[room].chunk == chunk { rooms[room].chunk = nil }
            discardShared(chunk)
        } else {
            if queues[beside: connection].privateChunk == chunk { queues[beside: connection].privateChunk = nil }
            chunks.discard(chunk)
        }
    }

    /// Empties a queue whose connection ends. Packets that nobody will get are counted.
    mutating func discardQueue(_ connection: Connection.Index) {
        counters.packetsDiscarded += UInt64(queuedPacketFrames(connection))
        let (segments, _) = queues[beside: connection].removeAll()
        for segment in segments { release(segment.chunk, of: connection) }
        unmarkBusy(connection)
        queues[beside: connection].isDirty = false
        queues[beside: connection].mustShed = false
        queues[beside: connection].announcedBytes = 0
        queues[beside: connection].softLimitSince = nil
    }

    /// Moves the boundary of a queue to the frame that is being sent, or is next.
    mutating func findBoundary(_ connection: Connection.Index) {
        guard !queues[beside: connection].isEmpty else { return }
        let first = queues[beside: connection][0]
        var position = queues[beside: connection].headBoundary
        while position < first.start {
            let next = position + UInt32(frameHead(chunk: first.chunk, at: position).frameBytes)
            guard next <= first.start else { break }
            position = next
        }
        queues[beside: connection].headBoundary = position
    }

    /// Copies those frames of a segment that can be neither shed nor moved: what is on the wire in part, and what is announced.
    ///
    /// - Parameters:
    ///   - frameStart: where the first one begins, perhaps before the segment.
    ///   - ahead: bytes of the queue before the segment; afterwards, before what this leaves.
    /// - Returns: where the first frame begins that may go.
    mutating func copyFixed(_ segment: Segment, from frameStart: UInt32, ahead: inout Int, announced: Int, to connection: Connection.Index) -> UInt32 {
        var position = frameStart
        while position < segment.end, position < segment.start || ahead < announced {
            let sent = position < segment.start ? segment.start - position : 0
            let next = copyFrame(from: segment.chunk, at: position, alreadySent: sent, kind: segment.kind, to: connection)
            ahead += Int(next - position - sent)
            position = next
        }
        return position
    }

    mutating func queuedPacketFrames(_ connection: Connection.Index) -> Int {
        findBoundary(connection)
        var frames = 0
        for index in 0..<queues[beside: connection].count where queues[beside: connection][index].kind == .packets {
            let segment = queues[beside: connection][index]
            var position = index == 0 ? queues[beside: connection].headBoundary : segment.start
            while position < segment.end {
                position += UInt32(frameHead(chunk: segment.chunk, at: position).frameBytes)
                frames += 1
            }
        }
        return frames
    }

    /// The head of a frame that the hub itself wrote.
    func frameHead(chunk: Chunk.Index, at position: UInt32) -> FrameHead {
        let bytes = UnsafeRawBufferPointer(start: chunks[chunk].base! + Int(position), count: Limits.frameHeadBytes)
        guard case .head(let head) = FrameHead.read(bytes) else { preconditionFailure("no frame at \(position) of chunk \(chunk)") }
        return head
    }
}

/// Whether a moment of the hub's 32-bit millisecond clock is before another one, across its wrap (49 days).
@inline(__always)
func isEarlier(_ left: UInt32, than right: UInt32) -> Bool { Int32(bitPattern: left &- right) < 0 }
