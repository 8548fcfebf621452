import RelayPrimitives
import RelayWire

// What handlers send, what the engine takes, and what the hub does with readers that take too little.

extension Hub {
    // MARK: - Sending

    /// One frame for all of `receivers`, in the order of what their room delivers.
    ///
    /// - Returns: how many queues it went into.
    @inline(__always)
    @discardableResult
    mutating func enqueueShared(
        room: Room.Index, head: FrameHead, packet: PacketMark? = nil, to receivers: [Session.Index], except: Session.Index? = nil,
        body: (inout ByteWriter) -> Void
    ) -> Int {
        outbox.enqueueShared(head, on: rooms[room].feed, packet: packet, to: receivers, except: except, body: body)
    }

    /// One frame for a single connection.
    mutating func enqueuePrivate(_ connection: Connection.Index, head: FrameHead, body: (inout ByteWriter) -> Void) {
        outbox.enqueuePrivate(head, to: connection, body: body)
    }

    /// A JSON frame for a single connection.
    mutating func enqueueJSON(_ connection: Connection.Index, _ type: FrameType, _ value: some JSONObject) {
        enqueue(connection, type, JSONBody.encode(value))
    }

    @inline(never)
    private mutating func enqueue(_ connection: Connection.Index, _ type: FrameType, _ body: [UInt8]) {
        enqueuePrivate(connection, head: FrameHead(type: type.rawValue, bodyBytes: body.count)) { writer in
            body.withUnsafeBytes { writer.bytes($0) }
        }
    }

    /// A JSON frame for all of `receivers`.
    mutating func enqueueJSON(
        room: Room.Index, _ type: FrameType, _ value: some JSONObject, to receivers: [Session.Index], except: Session.Index? = nil
    ) {
        guard !receivers.isEmpty else { return }
        enqueue(room: room, type, JSONBody.encode(value), to: receivers, except: except)
    }

    @inline(never)
    private mutating func enqueue(
        room: Room.Index, _ type: FrameType, _ body: [UInt8], to receivers: [Session.Index], except: Session.Index?
    ) {
        enqueueShared(room: room, head: FrameHead(type: type.rawValue, bodyBytes: body.count), to: receivers, except: except) { writer in
            body.withUnsafeBytes { writer.bytes($0) }
        }
    }

    // MARK: - For the engine

    /// Whether `nextDirty` may have one.
    package var hasDirty: Bool { mutating get { outbox.hasDirty } }

    /// A connection that got something to send since it was last returned here, or `nil`. The engine flushes it, or
    /// leaves it if it waits for the socket anyway.
    package mutating func nextDirty() -> ConnectionID? {
        while let connection = outbox.nextDirty() {
            guard !outbox.isEmpty(connection) || !connections[connection].catchUps.isEmpty else {
                outbox.rest(connection)
                continue
            }
            outbox.offer(connection)
            return connections[connection].id
        }
        return nil
    }

    /// Says how much of what waits goes into one message of a WebSocket: whole frames, at most `limit` bytes or one larger one. What
    /// was said is sent as it is, by `gather` with that limit, before this is asked again. [WS7]
    ///
    /// - Returns: bytes; 0 when nothing waits.
    package mutating func announce(_ id: ConnectionID, limit: Int, at now: Now) -> Int {
        guard connections.has(id) else { return 0 }
        enter(now)
        prepareToSend(id.place)
        return outbox.announce(id.place, limit: limit)
    }

    /// Fills `vectors` with what the connection is to send next.
    ///
    /// Packets that have outlived their use are shed first. The memory is valid until the next call to the hub.
    /// - Parameter limit: bytes after which no further vector is begun; the last one is cut to it.
    /// - Returns: how many vectors were filled; 0 when nothing waits.
    package mutating func gather(
        _ id: ConnectionID, into vectors: UnsafeMutableBufferPointer<IOVector>, limit: Int, at now: Now
    ) -> Int {
        guard connections.has(id) else { return 0 }
        enter(now)
        prepareToSend(id.place)
        return outbox.gather(id.place, into: vectors, limit: limit)
    }

    /// Takes what the socket has taken off the queue.
    ///
    /// - Returns: whether more waits.
    package mutating func wrote(_ id: ConnectionID, bytes: Int, at now: Now) -> Bool {
        guard connections.has(id) else { return false }
        enter(now)
        let connection = id.place
        defer { readerTook(connection) }
        if outbox.wrote(connection, bytes: bytes) {
            if !outbox.sweepIsSet { setQueueSweep() }
            return true
        }
        // The next block comes behind what others wait for.
        if !connections[connection].catchUps.isEmpty { outbox.wake(connection) }
        return false
    }

    /// The engine is about to flush: readers that catch up may be given so much, and those that had to wait are dirty.
    package mutating func beginFlush(at now: Now) {
        enter(now)
        for connection in catchUps.begin(bytes: configuration.catchUpTurnBytes) where connections[connection].isOpen {
            outbox.wake(connection)
        }
        wakeWaitingReaders()
    }

    /// The engine has offered everything to the sockets: whatever is left waits for its reader.
    package mutating func endFlush() {
        outbox.lookAtMemoryAgain()
        keepBounds()
        outbox.forgetGrowth()
    }

    /// Whether readers that catch up, or requests, had to stop for others: another turn is wanted soon.
    package var wantsTurn: Bool { mutating get { catchUps.someWait || work.someWait } }

    /// What comes before bytes are taken out: readers that catch up, packets that have outlived their use, and those that are held.
    private mutating func prepareToSend(_ connection: Connection.Index) {
        if !connections[connection].catchUps.isEmpty { pullCatchUp(connection) }
        if outbox.hasExpired(connection) { shed(connection) }
        if outbox.holds(connection) { letGo(connection) }
        setBacklogDeadlines()
    }

    // MARK: - Bounds

    /// Looks at what exceeded a bound during the call.
    mutating func keepBounds() {
        if accounts.unfinished.used > accounts.unfinished.max { boundPartials() }
        while outbox.mayOverrun, let overrun = outbox.nextOverrun() {
            guard end(overrun) else { break }
        }
        setBacklogDeadlines()
    }

    /// - Returns: whether there was something to end.
    private mutating func end(_ overrun: Outbox.Overrun) -> Bool {
        switch overrun {
        case .reliable(let connection):
            closeSlow(
                connection, "\(outbox.load(of: connection).reliable) bytes waited, at most \(configuration.reliableBacklogBytesHard) may")
        case .packets(let connection): shed(connection)
        case .memory:
            guard let (connection, bytes) = heaviestReader() else { return false }
            closeSlow(
                connection,
                "all queues together hold \(outbox.liveBytes) bytes of at most \(configuration.queueBytesTotalMax), this one \(bytes)")
        }
        return true
    }

    /// Of those that lag, if any do: of the address whose queues hold most, the one with the fullest. [DL9]
    private mutating func heaviestReader() -> (connection: Connection.Index, bytes: Int)? {
        let held = outbox.memoryHeld()
        let lagging = held.contains(where: \.lags)
        var sums = [AddressKey: Int]()
        for reader in held where reader.lags == lagging { sums[connections[reader.connection].peer.address, default: 0] += reader.bytes }
        guard let address = sums.max(by: { ($0.value, $0.key) < ($1.value, $1.key) })?.key else { return nil }
        var heaviest: (connection: Connection.Index, bytes: Int)?
        for reader in held where reader.lags == lagging && connections[reader.connection].peer.address == address {
            if reader.bytes > heaviest?.bytes ?? 0 { heaviest = (reader.connection, reader.bytes) }
        }
        return heaviest
    }

    private mutating func shed(_ connection: Connection.Index) { hasLost(outbox.shed(connection), connection) }

    private mutating func hasLost(_ packets: Int, _ connection: Connection.Index) {
        if let session = connections[connection].session { sessions[session].packetsLost += UInt64(packets) }
    }

    /// What is held for a reader leaves as far as it takes it; for the rest it is woken. [DL11]
    private mutating func letGo(_ connection: Connection.Index) {
        hasLost(outbox.letGo(connection), connection)
        guard let turn = outbox.takeWake(connection) else { return }
        deadlines.set(.readerTurn(connection: connection, generation: connections[connection].id.generation), at: turn)
        if !outbox.sweepIsSet { setQueueSweep() }
    }

    /// Clocks that began during the call; and nobody is closed while bytes are taken out, but soon. [DL8]
    private mutating func setBacklogDeadlines() {
        guard outbox.hasBacklogNews else { return }
        for connection in outbox.takeClocksBegun() { setSlowConsumer(connection, at: now.instant + configuration.slowConsumerAfter) }
        for connection in outbox.takeTooSlow() { setSlowConsumer(connection, at: now.instant) }
    }

    private mutating func setSlowConsumer(_ connection: Connection.Index, at instant: Instant) {
        deadlines.set(.slowConsumer(connection: connection, generation: connections[connection].id.generation), at: instant)
    }

    mutating func slowConsumerDeadline(_ connection: Connection.Index) {
        guard let since = outbox.softLimitSince(connection) else { return }
        let due = since + configuration.slowConsumerAfter
        guard due <= now.instant else { return setSlowConsumer(connection, at: due) }
        closeSlow(
            connection,
            "\(outbox.load(of: connection).reliable) bytes waited, over \(configuration.reliableBacklogBytesSoft) for \(configuration.slowConsumerAfter)"
        )
    }

    /// As `close`, but all that waits is discarded except for what is on the wire in part, or announced. [ER2, WS7]
    mutating func closeSlow(_ connection: Connection.Index, _ text: String) {
        outbox.discardAllButFixed(connection)
        close(connection, .slowConsumer, text)
    }

    // MARK: - Expired packets of readers that take nothing

    private mutating func setQueueSweep() {
        outbox.sweepIsSet = true
        deadlines.set(.queueSweep, at: now.instant + configuration.packetLifetime)
    }

    /// While readers lag: their expired packets go even if they take nothing. [DL4]
    mutating func sweepQueues() {
        outbox.sweepIsSet = false
        for connection in outbox.withExpired { shed(connection) }
        if outbox.hasBusy { setQueueSweep() }
    }
}
