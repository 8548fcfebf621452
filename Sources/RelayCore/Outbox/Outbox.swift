import RelayPrimitives
import RelayWire

/// All that connections are still to be sent: their queues, the memory that it stands in, and which of them have something to send.
/// [DL1–DL9]
///
/// A frame is encoded once, into a chunk: of a feed, whose readers share it, or of one connection. A queue is a ring of segments of
/// chunks. The outbox keeps no table of channels, rights or flows; the hub `share`s and `write`s, and the engine takes bytes out. What
/// exceeds a bound is put aside until the hub asks for it with `nextOverrun`, at the end of a call: nobody is closed while a frame goes
/// into the queues of others.
struct Outbox {
    /// Sizes of chunks stay those of the start.
    var configuration: Configuration
    private var queues: Queues
    private var links = Links()

    /// Connections with something new to send; from `dirtyHead` on.
    private var dirty: [Connection.Index] = []
    private var dirtyHead = 0
    /// Connections whose queue is not empty.
    private var busy: [Connection.Index] = []
    /// Connections whose packets exceed their bound, those whose reliable backlog does, and those whose clock has begun.
    private var overfull: [Connection.Index] = []
    private var tooSlow: [Connection.Index] = []
    private var tooSlowTaken = 0
    private var clocksBegun: [Connection.Index] = []
    /// The moment of the call that is being carried out.
    var now = Instant(nanoseconds: 0)
    /// Whether a `queueSweep` deadline is set.
    var sweepIsSet = false
    private(set) var counts = OutboxCounts()

    init(_ configuration: Configuration) {
        self.configuration = configuration
        queues = Queues(configuration)
    }

    /// Milliseconds of the monotonic clock, cut to 32 bits; compared with `isEarlier`.
    var milliseconds: UInt32 { UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000) }

    // MARK: - Connections and sessions

    mutating func open(_ connection: Connection.Index) { queues.open(connection) }

    /// The connection says goodbye: from now on its queue may exceed a bound.
    mutating func close(_ connection: Connection.Index) { queues[connection].isClosing = true }

    /// The connection is gone. Packets that nobody will get are counted.
    mutating func discard(_ connection: Connection.Index) {
        unmarkBusy(connection)
        counts.packetsDiscarded += UInt64(queues.discard(connection))
    }

    /// A session's bytes go over this connection; over none without one.
    mutating func link(_ session: Session.Index, to connection: Connection.Index?) {
        links.reserve(session)
        links[session] = connection
    }

    @inline(__always)
    func connection(of session: Session.Index) -> Connection.Index? { links[session] }

    // MARK: - Into queues

    mutating func openFeed() -> Feed.Index { queues.openFeed() }

    mutating func end(_ feed: Feed.Index) { queues.end(feed) }

    /// Encodes one frame into the chunk of a feed and puts it into the queue of every receiver that has a connection. Costs each of
    /// them a few nanoseconds; nothing is copied, allocated or retained per receiver.
    ///
    /// - Parameters:
    ///   - packet: of a frame that may be shed.
    ///   - except: is left out.
    /// - Returns: how many queues it went into.
    @inline(__always)
    mutating func enqueueShared(
        _ head: FrameHead, on feed: Feed.Index, packet: PacketMark? = nil, to receivers: [Session.Index], except: Session.Index? = nil,
        body: (inout ByteWriter) -> Void
    ) -> Int {
        guard !receivers.isEmpty, !(receivers.count == 1 && receivers[0] == except) else { return 0 }
        let segment = queues.encode(head, on: feed, packet, body)
        var references: Int32 = 0
        var reached = 0
        receivers.withUnsafeBufferPointer { receivers in
            for session in receivers where session != except {
                guard let connection = links[session] else { continue }
                reached += 1
                if let packet {
                    references += enqueue(segment, packet, connection)
                } else {
                    references += queues.append(segment, to: connection) ? 1 : 0
                    hasGrown(connection)
                }
            }
        }
        queues.addReferences(references, to: segment)
        counts.receiversReached += reached
        return reached
    }

    /// Tells a reader of packets that it will not get. [DL6]
    mutating func tell(_ lost: LostRanges, to connection: Connection.Index) {
        for notice in lost.notices { enqueuePrivate(notice.head, .lost, to: connection) { notice.write(to: &$0) } }
    }

    /// One frame for a single connection.
    mutating func enqueuePrivate(
        _ head: FrameHead, _ kind: Segment.Kind = .reliable, to connection: Connection.Index, body: (inout ByteWriter) -> Void
    ) {
        queues.write(head, kind, to: connection, body)
        hasGrown(connection)
    }

    /// - Returns: 1 if the queue refers to the chunk once more, else 0.
    @inline(__always)
    private mutating func enqueue(_ segment: Segment, _ packet: PacketMark, _ connection: Connection.Index) -> Int32 {
        let hadPackets = queues[connection].segments.packetBytes > 0
        let isNew: Bool
        if let limiter = queues[connection].limiter {
            isNew = hold(segment, connection, limiter)
        } else {
            isNew = queues.append(segment, to: connection)
        }
        if !hadPackets || isEarlier(packet.expiresAt, than: queues[connection].expiresAt) {
            queues[connection].expiresAt = packet.expiresAt
        }
        if queues[connection].segments.packetBytes > configuration.packetBacklogBytesMax { isOverfull(connection) }
        counts.packetsQueued += 1
        wake(connection)
        return isNew ? 1 : 0
    }

    private mutating func isOverfull(_ connection: Connection.Index) {
        guard !queues[connection].mustShed else { return }
        queues[connection].mustShed = true
        overfull.append(connection)
    }

    /// A queue has got something that is not shed.
    @inline(__always)
    private mutating func hasGrown(_ connection: Connection.Index) {
        if queues[connection].segments.reliableBytes > configuration.reliableBacklogBytesSoft { noteBacklog(connection) }
        wake(connection)
    }

    // MARK: - Turns

    /// The connection is offered to the engine, once, though its queue may be empty: what it catches up with is pulled then.
    @inline(__always)
    mutating func wake(_ connection: Connection.Index) {
        if !queues[connection].isDirty { markDirty(connection) }
    }

    private mutating func markDirty(_ connection: Connection.Index) {
        queues[connection].isDirty = true
        dirty.append(connection)
        if queues[connection].busyPosition < 0 {
            queues[connection].busyPosition = Int32(busy.count)
            queues[connection].busySince = now
            busy.append(connection)
        }
    }

    private mutating func unmarkBusy(_ connection: Connection.Index) {
        let position = queues[connection].busyPosition
        guard position >= 0 else { return }
        queues[connection].busyPosition = -1
        queues[connection].isLagging = false
        let last = busy.removeLast()
        if last != connection {
            busy[Int(position)] = last
            queues[last].busyPosition = position
        }
    }

    /// Whether `nextDirty` may have one.
    var hasDirty: Bool { dirtyHead < dirty.count }

    /// A connection that was woken since it was last returned here, or `nil`. The hub says `offer` or `rest` of it.
    mutating func nextDirty() -> Connection.Index? {
        while dirtyHead < dirty.count {
            let connection = dirty[dirtyHead]
            dirtyHead += 1
            guard queues[connection].isDirty else { continue }
            queues[connection].isDirty = false
            if !queues[connection].isClosing { return connection }
            if queues[connection].segments.isEmpty { unmarkBusy(connection) }
        }
        dirty.removeAll(keepingCapacity: true)
        dirtyHead = 0
        return nil
    }

    /// The engine is told of the connection: what is left behind that waits for its reader, and not for the engine.
    mutating func offer(_ connection: Connection.Index) { queues[connection].isLagging = true }

    /// The connection has nothing to send.
    mutating func rest(_ connection: Connection.Index) { unmarkBusy(connection) }

    // MARK: - Out of queues

    /// See `Queues.announce`.
    mutating func announce(_ connection: Connection.Index, limit: Int) -> Int { queues.announce(connection, limit: limit) }

    /// See `Queues.gather`.
    mutating func gather(_ connection: Connection.Index, into vectors: UnsafeMutableBufferPointer<IOVector>, limit: Int) -> Int {
        queues.gather(connection, into: vectors, limit: limit)
    }

    /// Takes what the socket has taken off the queue.
    ///
    /// - Returns: whether more waits.
    mutating func wrote(_ connection: Connection.Index, bytes: Int) -> Bool {
        queues.take(bytes, from: connection)
        if queues[connection].softLimitSince != nil,
            queues[connection].segments.reliableBytes <= configuration.reliableBacklogBytesSoft
        {
            queues[connection].softLimitSince = nil
        }
        guard queues[connection].segments.isEmpty else { return true }
        queues.trim(connection)
        if queues[connection].busyPosition >= 0, queues[connection].limiter == nil {
            counts.delays.observe(now - queues[connection].busySince)
        }
        unmarkBusy(connection)
        // Flushed without having been asked for by `nextDirty`: what comes next must make it dirty, and busy, again.
        queues[connection].isDirty = false
        return false
    }

    // MARK: - Shedding

    /// Whether a packet may have outlived its use. [DL4]
    func hasExpired(_ connection: Connection.Index) -> Bool {
        queues[connection].segments.packetBytes > 0 && isEarlier(queues[connection].expiresAt, than: milliseconds)
    }

    /// Whether anything waits for anybody.
    var hasBusy: Bool { !busy.isEmpty }

    /// The connections with such a packet.
    var withExpired: [Connection.Index] {
        var found: [Connection.Index] = []
        for connection in busy where hasExpired(connection) { found.append(connection) }
        return found
    }

    /// Sheds what has expired, and what exceeds the bound on packets. [DL4]
    ///
    /// - Returns: how many packets the reader will not get.
    mutating func shed(_ connection: Connection.Index) -> Int {
        queues[connection].mustShed = false
        var pass = queues.shedPass(connection, at: milliseconds)
        let max = queues.packetBytesMax(of: connection)
        pass.choose(
            packetBytes: queues[connection].segments.packetBytes, max: max,
            for: max < configuration.packetBacklogBytesMax ? .readerLimit : .slowReader)
        if pass.isNeeded { queues.rebuild(connection, .sheddable, fates: pass.fates, telling: pass.lost) }
        if let limiter = queues[connection].limiter { queues.limiters[limiter].holds(pass.held) }
        return hasShed(connection, pass)
    }

    /// - Returns: how many packets the reader will not get.
    private mutating func hasShed(_ connection: Connection.Index, _ pass: ShedPass) -> Int {
        queues[connection].expiresAt = pass.expiresAt ?? milliseconds &+ UInt32(configuration.packetLifetime.milliseconds)
        counts.packetsShedSlow += UInt64(pass.gone[.slowReader] ?? 0)
        counts.packetsShedExpired += UInt64(pass.gone[.expired] ?? 0)
        counts.packetsShedReader += UInt64(pass.gone[.readerLimit] ?? 0)
        // The notice is reliable.
        if !pass.gone.isEmpty { hasGrown(connection) }
        return pass.gone.values.reduce(0, +)
    }

    // MARK: - Readers that say what they take

    /// See `Queues.limit`.
    mutating func limit(_ connection: Connection.Index, _ limits: ReaderLimits) {
        guard limits != ReaderLimits() || queues[connection].limiter != nil else { return }
        queues.limit(
            connection, limits, packetFrameBytesMax: PacketFrame.frameBytesMax(payload: configuration.limits.packetBytesMax), at: now)
        if queues[connection].segments.packetBytes > queues.packetBytesMax(of: connection) { isOverfull(connection) }
        wake(connection)
    }

    private mutating func hold(_ segment: Segment, _ connection: Connection.Index, _ limiter: ReaderLimiter.Index) -> Bool {
        let isNew = queues.hold(segment, for: connection, limiter)
        if queues[connection].segments.packetBytes > queues.packetBytesMax(of: connection) { isOverfull(connection) }
        return isNew
    }

    /// Whether packets are held for the reader.
    func holds(_ connection: Connection.Index) -> Bool {
        queues[connection].limiter.map { queues.limiters[$0].held.packets > 0 } == true
    }

    /// Bytes are about to be taken out: see `Queues.letGo`. [DL11]
    ///
    /// - Returns: how many packets the reader will not get.
    mutating func letGo(_ connection: Connection.Index) -> Int {
        guard let limiter = queues[connection].limiter else { return 0 }
        return queues.letGo(connection, limiter, at: now, milliseconds).map { hasShed(connection, $0) } ?? 0
    }

    /// The moment at which the connection wants to be woken for packets that are held, unless it is woken before.
    mutating func takeWake(_ connection: Connection.Index) -> Instant? {
        guard holds(connection), let limiter = queues[connection].limiter else { return nil }
        let turn = queues.limiters[limiter].nextTurn(at: now)
        if let wakesAt = queues.limiters[limiter].wakesAt, wakesAt <= turn { return nil }
        queues.limiters[limiter].wakesAt = turn
        return turn
    }

    /// A moment that `takeWake` gave has come.
    mutating func wakeForTurn(_ connection: Connection.Index) {
        guard let limiter = queues[connection].limiter, let wakesAt = queues.limiters[limiter].wakesAt, wakesAt <= now else { return }
        queues.limiters[limiter].wakesAt = nil
        if holds(connection) { wake(connection) }
    }

    /// Leaves of what waits only what can be neither shed nor moved: what is on the wire in part, and what is announced.
    mutating func discardAllButFixed(_ connection: Connection.Index) {
        counts.packetsDiscarded += UInt64(queues.discardAllButFixed(connection))
    }

    // MARK: - Bounds

    /// The reliable backlog has passed its soft limit: at once too much, or the clock starts. [DL8]
    private mutating func noteBacklog(_ connection: Connection.Index) {
        if queues[connection].segments.reliableBytes > configuration.reliableBacklogBytesHard {
            if tooSlow.last != connection { tooSlow.append(connection) }
        } else if queues[connection].softLimitSince == nil {
            queues[connection].softLimitSince = now
            clocksBegun.append(connection)
        }
    }

    /// Whether there is something to take with the next two.
    @inline(__always)
    var hasBacklogNews: Bool { mutating get { !clocksBegun.isEmpty || tooSlow.count > tooSlowTaken } }

    /// Connections whose reliable backlog has passed its soft limit, since this was last asked. [DL8]
    mutating func takeClocksBegun() -> [Connection.Index] {
        defer { clocksBegun = [] }
        return clocksBegun
    }

    /// Since when a reliable backlog is above the soft limit without a pause.
    func softLimitSince(_ connection: Connection.Index) -> Instant? { queues[connection].softLimitSince }

    /// The host slept: nobody is to blame for that time. [HB4]
    mutating func postponeClocks(by lateness: Duration) {
        for connection in busy {
            if let since = queues[connection].softLimitSince { queues[connection].softLimitSince = min(now, since + lateness) }
        }
    }

    /// Whether `nextOverrun` may have one.
    @inline(__always)
    var mayOverrun: Bool {
        !tooSlow.isEmpty || !overfull.isEmpty || queues.chunks.haveGrown || liveBytes > configuration.queueBytesTotalMax
    }

    mutating func nextOverrun() -> Overrun? {
        while let connection = tooSlow.popLast() {
            tooSlowTaken = min(tooSlowTaken, tooSlow.count)
            if !queues[connection].isClosing { return .reliable(connection) }
        }
        while let connection = overfull.popLast() {
            queues[connection].mustShed = false
            if !queues[connection].isClosing, queues[connection].segments.packetBytes > queues.packetBytesMax(of: connection) {
                return .packets(connection)
            }
        }
        while queues.takeGrowth() {
            // A reader that has not been offered yet what was just queued needs no copy: thousands of them would be what fills the memory.
            for connection in busy where queues[connection].isLagging {
                let held = queues.held(by: connection)
                guard mustOwn(held) else { continue }
                // Nor does one get a copy for which there is no memory: it, or another, is closed first.
                guard liveBytes + held.shared <= configuration.queueBytesTotalMax else {
                    queues.lookAtMemoryAgain()
                    return .memory
                }
                queues.rebuild(connection, .shared)
            }
        }
        return liveBytes > configuration.queueBytesTotalMax ? .memory : nil
    }

    /// Connections that have become too slow since this was last asked, and were not closed: nobody is while bytes are taken out.
    mutating func takeTooSlow() -> ArraySlice<Connection.Index> {
        defer { tooSlowTaken = tooSlow.count }
        return tooSlow[min(tooSlowTaken, tooSlow.count)...]
    }

    /// What has grown since the last flush is looked at once more, now that it is known which readers lag.
    mutating func lookAtMemoryAgain() { queues.lookAtMemoryAgain() }

    mutating func forgetGrowth() { queues.forgetGrowth() }

    private func mustOwn(_ held: Chunks.Held) -> Bool {
        held.oldest >= UInt32(configuration.sharedChunksPerChannelMax) || held.shared > configuration.pinnedBytesPerSessionMax
    }

    /// What each queue holds that has something and may be closed for it.
    mutating func memoryHeld() -> [(connection: Connection.Index, lags: Bool, bytes: Int)] {
        var all: [(connection: Connection.Index, lags: Bool, bytes: Int)] = []
        for connection in busy where !queues[connection].isClosing {
            let held = queues.held(by: connection), bytes = held.shared + held.own
            if bytes > 0 { all.append((connection, queues[connection].isLagging, bytes)) }
        }
        return all
    }

    // MARK: - Numbers

    /// Memory of all chunks and rings, in bytes.
    var liveBytes: Int { queues.chunks.liveBytes }
    var liveBytesMost: Int { queues.chunks.liveBytesMost }
    var spareBytes: Int { queues.chunks.spareBytes }

    /// What waits for one connection.
    func load(of connection: Connection.Index) -> (reliable: Int, packets: Int) {
        (queues[connection].segments.reliableBytes, queues[connection].segments.packetBytes)
    }

    func isEmpty(_ connection: Connection.Index) -> Bool { queues[connection].segments.isEmpty }

    /// Since when something waits for the connection without a pause.
    func busySince(_ connection: Connection.Index) -> Instant? {
        queues[connection].busyPosition >= 0 ? queues[connection].busySince : nil
    }

    /// The shared memory that a queue keeps alive, in bytes: chunks counted once each.
    mutating func pinnedBytes(of connection: Connection.Index) -> Int { queues.held(by: connection).shared }

    /// What waits for all readers, the shared memory that their queues keep alive, each counted for itself, and how many of them lag: a
    /// queue that was not empty for less than 250 ms is one that is just being written.
    mutating func backlog(at now: Instant) -> (queuedBytes: Int, pinnedBytes: Int, lagging: Int) {
        var sum = (queuedBytes: 0, pinnedBytes: 0, lagging: 0)
        for connection in busy {
            if now - queues[connection].busySince >= .milliseconds(250) { sum.lagging += 1 }
            sum.queuedBytes += queues[connection].segments.bytes
            sum.pinnedBytes += queues.held(by: connection).shared
        }
        return sum
    }
}
