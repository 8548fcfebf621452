import RelayWire

/// All that connections are still to be sent: their queues, the memory that it stands in, and who has something to send. [DL1–DL9]
///
/// A frame is encoded once, into a chunk: of a feed, whose readers share it, or of one connection. A queue is a ring of segments of
/// chunks. The outbox knows no channel, no right and no flow; the hub `share`s and `write`s, and the shell takes bytes out. What
/// exceeds a bound is put aside until the hub asks for it with `nextOverrun`, at the end of a call: nobody is closed while a frame goes
/// into the queues of others.
struct Outbox {
    private let configuration: Configuration
    private var queues = Slab<OutQueue>(vacant: OutQueue(), release: { queue in
        var segments = queue.segments
        segments.free()
    })
    private var chunks: ChunkPool
    private var feeds = Slab<Feed>(vacant: Feed())
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
    private var memory = MemoryWatch()
    private var gone: [Chunk.Index] = []
    /// The moment of the call that is being carried out.
    var now = Instant(nanoseconds: 0)
    private(set) var counts = OutboxCounts()

    init(_ configuration: Configuration) {
        self.configuration = configuration
        chunks = ChunkPool(bytesMin: configuration.chunkBytesMin, bytesMax: configuration.chunkBytesMax)
    }

    /// Milliseconds of the monotonic clock, cut to 32 bits; compared with `isEarlier`.
    var milliseconds: UInt32 { UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000) }

    // MARK: - Connections and sessions

    mutating func open(_ connection: Connection.Index) { queues.reserve(connection) }

    /// The connection says goodbye: what exceeds a bound is nobody's business any more.
    mutating func close(_ connection: Connection.Index) { queues[beside: connection].isClosing = true }

    /// The connection is gone. Packets that nobody will get are counted.
    mutating func discard(_ connection: Connection.Index) {
        counts.packetsDiscarded += UInt64(frames(of: connection, .packets))
        for index in 0..<queues[beside: connection].segments.count { release(queues[beside: connection].segments[index].chunk, of: connection) }
        unmarkBusy(connection)
        queues[beside: connection].segments.free()
        queues[beside: connection] = OutQueue()
    }

    /// A session's bytes go over this connection; over none without one.
    mutating func link(_ session: Session.Index, to connection: Connection.Index?) {
        links.reserve(session)
        links[session] = connection
    }

    @inline(__always)
    func connection(of session: Session.Index) -> Connection.Index? { links[session] }

    // MARK: - Into queues

    mutating func openFeed() -> Feed.Index { feeds.insert(Feed()) }

    /// Nothing is written to the feed any more; it goes with its last chunk.
    mutating func end(_ feed: Feed.Index) {
        feeds[feed].isEnded = true
        // What it was writing to is kept alive by queues alone now.
        memory.grew()
        if feeds[feed].chunks == 0 { feeds.remove(feed) }
    }

    /// Encodes one frame into the chunk of a feed and puts it into the queue of every receiver that has a connection. Costs each of
    /// them a few nanoseconds; nothing is copied, allocated or retained per receiver.
    ///
    /// - Parameters:
    ///   - packet: of a frame that may be shed.
    ///   - except: is left out.
    /// - Returns: how many queues it went into.
    @inline(__always)
    mutating func share(
        _ head: FrameHead, on feed: Feed.Index, packet: PacketMark? = nil, to receivers: [Session.Index], except: Session.Index? = nil,
        body: (inout ByteWriter) -> Void
    ) -> Int {
        guard !receivers.isEmpty, !(receivers.count == 1 && receivers[0] == except) else { return 0 }
        let chunk = sharedChunk(of: feed, for: head.frameBytes)
        let start = encode(head, into: chunk, packet, body)
        let end = start + UInt32(head.frameBytes)
        var references: Int32 = 0
        var reached = 0
        receivers.withUnsafeBufferPointer { receivers in
            for session in receivers where session != except {
                guard let connection = links[session] else { continue }
                reached += 1
                references += enqueue(connection, chunk, start, end, packet == nil ? .reliable : .packets, packet)
            }
        }
        chunks[chunk].references += references
        if chunks[chunk].references == 0 { discardShared(chunk) }
        return reached
    }

    /// Writes one frame for a single connection.
    mutating func write(_ head: FrameHead, to connection: Connection.Index, body: (inout ByteWriter) -> Void) {
        write(head, .reliable, to: connection, body: body)
    }

    /// Tells a reader of packets that it will not get. [DL6]
    mutating func tell(_ lost: LostRanges, to connection: Connection.Index) {
        for notice in lost.notices { write(notice.head, .lost, to: connection) { notice.write(to: &$0) } }
    }

    private mutating func write(_ head: FrameHead, _ kind: Segment.Kind, to connection: Connection.Index, body: (inout ByteWriter) -> Void) {
        let chunk = ownChunk(of: connection, for: head.frameBytes, queued: queues[beside: connection].segments.bytes)
        let start = encode(head, into: chunk, nil, body)
        chunks[chunk].references += enqueue(connection, chunk, start, start + UInt32(head.frameBytes), kind, nil)
    }

    /// - Returns: where the frame begins in the chunk.
    @inline(__always)
    private mutating func encode(_ head: FrameHead, into chunk: Chunk.Index, _ packet: PacketMark?, _ body: (inout ByteWriter) -> Void) -> UInt32 {
        let start = chunks[chunk].used
        var writer = ByteWriter(chunks[chunk].base.unsafelyUnwrapped + Int(start))
        head.write(to: &writer)
        body(&writer)
        chunks[chunk].used = start + UInt32(head.frameBytes)
        if let packet { chunks[chunk].appendMark(.init(offset: start, packet: packet)) }
        return start
    }

    /// - Returns: 1 if the queue refers to the chunk once more, else 0.
    @inline(__always)
    private mutating func enqueue(
        _ connection: Connection.Index, _ chunk: Chunk.Index, _ start: UInt32, _ end: UInt32, _ kind: Segment.Kind, _ packet: PacketMark?
    ) -> Int32 {
        let isNew: Bool
        if let packet {
            let hadPackets = queues[beside: connection].segments.packetBytes > 0
            isNew = queues[beside: connection].segments.append(chunk: chunk, start: start, end: end, kind: .packets)
            if !hadPackets || isEarlier(packet.expiresAt, than: queues[beside: connection].expiresAt) {
                queues[beside: connection].expiresAt = packet.expiresAt
            }
            if queues[beside: connection].segments.packetBytes > configuration.packetBacklogBytesMax, !queues[beside: connection].mustShed {
                queues[beside: connection].mustShed = true
                overfull.append(connection)
            }
            counts.packetsQueued += 1
        } else {
            isNew = queues[beside: connection].segments.append(chunk: chunk, start: start, end: end, kind: kind)
            if queues[beside: connection].segments.reliableBytes > configuration.reliableBacklogBytesSoft { noteBacklog(connection) }
        }
        wake(connection)
        return isNew ? 1 : 0
    }

    // MARK: - Chunks

    /// The chunk of a feed, with space for a frame of so many bytes and its mark.
    @inline(__always)
    private mutating func sharedChunk(of feed: Feed.Index, for bytes: Int) -> Chunk.Index {
        if let chunk = feeds[feed].chunk, Int(chunks[chunk].free) >= bytes + Int(Chunk.markBytes) { return chunk }
        return rollOver(feed, for: bytes)
    }

    private mutating func rollOver(_ feed: Feed.Index, for bytes: Int) -> Chunk.Index {
        // A chunk that is full while readers still wait for it is the sign to take a larger one.
        if feeds[feed].chunk != nil { feeds[feed].sizeClass = min(feeds[feed].sizeClass + 1, chunks.lastClass) }
        feeds[feed].serial &+= 1
        feeds[feed].chunks += 1
        let chunk = chunks.make(sizeClass: feeds[feed].sizeClass, holding: bytes, feed: feed, serial: feeds[feed].serial)
        feeds[feed].chunk = chunk
        memory.grew()
        return chunk
    }

    /// The connection's own chunk, with space for a frame of so many bytes and its mark.
    private mutating func ownChunk(of connection: Connection.Index, for bytes: Int, queued: Int) -> Chunk.Index {
        if let current = queues[beside: connection].ownChunk, Int(chunks[current].free) >= bytes + Int(Chunk.markBytes) { return current }
        let chunk = chunks.make(sizeClass: queued > configuration.packetBacklogBytesMax ? 4 : 0, holding: bytes, feed: nil, serial: 0)
        queues[beside: connection].ownChunk = chunk
        memory.grew()
        return chunk
    }

    /// One reference to a chunk less.
    private mutating func release(_ chunk: Chunk.Index, of connection: Connection.Index) {
        chunks[chunk].references -= 1
        guard chunks[chunk].references == 0 else { return }
        if chunks[chunk].feed != nil { return discardShared(chunk) }
        if queues[beside: connection].ownChunk == chunk { queues[beside: connection].ownChunk = nil }
        chunks.discard(chunk)
    }

    private mutating func discardShared(_ chunk: Chunk.Index) {
        guard let feed = chunks[chunk].feed else { preconditionFailure("a connection's own chunk is no feed's") }
        if feeds[feed].chunk == chunk { feeds[feed].chunk = nil }
        if chunks[chunk].used < chunks[chunk].capacity / 4, feeds[feed].sizeClass > 0 { feeds[feed].sizeClass -= 1 }
        chunks.discard(chunk)
        feeds[feed].chunks -= 1
        if feeds[feed].isEnded, feeds[feed].chunks == 0 { feeds.remove(feed) }
    }

    // MARK: - Turns

    /// The connection is offered to the shell, once, though its queue may be empty: what it catches up with is pulled then.
    @inline(__always)
    mutating func wake(_ connection: Connection.Index) {
        if !queues[beside: connection].isDirty { markDirty(connection) }
    }

    private mutating func markDirty(_ connection: Connection.Index) {
        queues[beside: connection].isDirty = true
        dirty.append(connection)
        if queues[beside: connection].busyPosition < 0 {
            queues[beside: connection].busyPosition = Int32(busy.count)
            queues[beside: connection].busySince = now
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

    /// Whether `nextDirty` may have one.
    var hasDirty: Bool { dirtyHead < dirty.count }

    /// A connection that was woken since it was last returned here, or `nil`. The hub says `offer` or `rest` of it.
    mutating func nextDirty() -> Connection.Index? {
        while dirtyHead < dirty.count {
            let connection = dirty[dirtyHead]
            dirtyHead += 1
            guard queues[beside: connection].isDirty else { continue }
            queues[beside: connection].isDirty = false
            if !queues[beside: connection].isClosing { return connection }
            if queues[beside: connection].segments.isEmpty { unmarkBusy(connection) }
        }
        dirty.removeAll(keepingCapacity: true)
        dirtyHead = 0
        return nil
    }

    /// The shell is told of the connection: what is left behind that waits for its reader, and not for the shell.
    mutating func offer(_ connection: Connection.Index) { queues[beside: connection].isLagging = true }

    /// Nothing is to be sent to the connection.
    mutating func rest(_ connection: Connection.Index) { unmarkBusy(connection) }

    // MARK: - Out of queues

    /// Says how many bytes of what waits go into one message of a WebSocket: whole frames, at most `limit` bytes or one larger one.
    /// They stay as they are until they are written. [WS7]
    mutating func announce(_ connection: Connection.Index, limit: Int) -> Int {
        let announced = queues[beside: connection].announcedBytes
        precondition(announced == 0, "\(announced) announced bytes are not sent yet")
        var bytes = 0
        var whole = 0
        while whole < queues[beside: connection].segments.count, bytes + queues[beside: connection].segments[whole].bytes <= limit {
            bytes += queues[beside: connection].segments[whole].bytes
            whole += 1
        }
        var walk = walk(connection, .all, from: whole)
        while let frame = next(&walk) {
            guard bytes == 0 || bytes + frame.head.frameBytes <= limit else { break }
            bytes += frame.head.frameBytes
        }
        queues[beside: connection].announcedBytes = bytes
        return bytes
    }

    /// Fills `vectors` with what the connection is to send next. The memory is valid until the next call.
    ///
    /// - Returns: how many vectors were filled.
    mutating func gather(_ connection: Connection.Index, into vectors: UnsafeMutableBufferPointer<IOVector>, limit: Int) -> Int {
        var filled = 0
        var rest = limit
        while filled < vectors.count, filled < queues[beside: connection].segments.count, rest > 0 {
            let segment = queues[beside: connection].segments[filled]
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
    mutating func wrote(_ connection: Connection.Index, bytes: Int) -> Bool {
        take(bytes, from: connection)
        if queues[beside: connection].softLimitSince != nil,
            queues[beside: connection].segments.reliableBytes <= configuration.reliableBacklogBytesSoft
        {
            queues[beside: connection].softLimitSince = nil
        }
        guard queues[beside: connection].segments.isEmpty else { return true }
        queues[beside: connection].segments.trim()
        if queues[beside: connection].busyPosition >= 0 { counts.delays.observe(now - queues[beside: connection].busySince) }
        unmarkBusy(connection)
        // Flushed without having been asked for by `nextDirty`: what comes next must make it dirty, and busy, again.
        queues[beside: connection].isDirty = false
        return false
    }

    private mutating func take(_ bytes: Int, from connection: Connection.Index) {
        // Released segments are few; the closure may not touch the outbox while its queue is being changed.
        var gone = gone
        self.gone = []
        queues[beside: connection].announcedBytes = max(0, queues[beside: connection].announcedBytes - bytes)
        queues[beside: connection].segments.consume(bytes) { gone.append($0.chunk) }
        for chunk in gone { release(chunk, of: connection) }
        gone.removeAll(keepingCapacity: true)
        self.gone = gone
    }

    // MARK: - The walk and the rebuild

    /// A walk from the first frame that is not on the wire as a whole.
    private mutating func walk(_ connection: Connection.Index, _ stops: QueueWalk.Stops, from segment: Int = 0) -> QueueWalk {
        let queue = queues[beside: connection].segments
        guard segment == 0, !queue.isEmpty else {
            return QueueWalk(connection: connection, stops: stops, segment: segment, position: segment < queue.count ? queue[segment].start : 0)
        }
        var position = queue.headBoundary
        while position < queue[0].start {
            let next = position + UInt32(chunks[queue[0].chunk].head(at: position).frameBytes)
            guard next <= queue[0].start else { break }
            position = next
        }
        queues[beside: connection].segments.headBoundary = position
        return QueueWalk(connection: connection, stops: stops, segment: 0, position: position)
    }

    private func next(_ walk: inout QueueWalk) -> QueuedFrame? {
        while walk.segment < queues[beside: walk.connection].segments.count {
            let segment = queues[beside: walk.connection].segments[walk.segment]
            if walk.position < segment.end, walk.stops(at: segment, inFeed: chunks[segment.chunk].feed != nil) {
                let head = chunks[segment.chunk].head(at: walk.position)
                let sent = walk.position < segment.start ? segment.start - walk.position : 0
                let frame = QueuedFrame(
                    segment: walk.segment, kind: segment.kind, chunk: segment.chunk, position: walk.position, head: head, sent: sent,
                    isFixed: sent > 0 || walk.ahead < queues[beside: walk.connection].announcedBytes)
                walk.ahead += head.frameBytes - Int(sent)
                walk.position += UInt32(head.frameBytes)
                return frame
            }
            if walk.position < segment.end { walk.ahead += Int(segment.end - max(walk.position, segment.start)) }
            walk.segment += 1
            if walk.segment < queues[beside: walk.connection].segments.count { walk.position = queues[beside: walk.connection].segments[walk.segment].start }
        }
        return nil
    }

    private mutating func frames(of connection: Connection.Index, _ stops: QueueWalk.Stops) -> Int {
        var walk = walk(connection, stops)
        var frames = 0
        while next(&walk) != nil { frames += 1 }
        return frames
    }

    /// Makes a queue anew, in its order. The clocks and marks of the connection stay as they are.
    ///
    /// - Parameters:
    ///   - stops: segments that such a walk passes over stay where they are; its other frames are copied into the connection's own chunks.
    ///   - goes: of each frame that the walk stops at, whether it goes instead; none does without.
    ///   - lost: told where the first frame went.
    private mutating func rebuild(_ connection: Connection.Index, _ stops: QueueWalk.Stops, goes: [Bool]? = nil, telling lost: LostRanges? = nil) {
        var walk = walk(connection, stops)
        var frame = next(&walk)
        var anew = SegmentRing()
        var ordinal = 0
        var untold = lost
        for index in 0..<queues[beside: connection].segments.count {
            let segment = queues[beside: connection].segments[index]
            guard walk.stops(at: segment, inFeed: chunks[segment.chunk].feed != nil) else {
                let begins = index == 0 ? queues[beside: connection].segments.headBoundary : segment.start
                if !anew.append(chunk: segment.chunk, start: begins, end: segment.end, kind: segment.kind) { chunks[segment.chunk].references -= 1 }
                if begins < segment.start { anew.frontIsSent(segment.start - begins) }
                continue
            }
            while let stop = frame, stop.segment == index {
                if goes?[ordinal] == true {
                    if let notices = untold?.notices { for notice in notices { append(notice, of: connection, to: &anew) } }
                    untold = nil
                } else {
                    copy(stop, of: connection, to: &anew)
                }
                ordinal += 1
                frame = next(&walk)
            }
        }
        // Its chunks stay alive until all of it has been read.
        for index in 0..<queues[beside: connection].segments.count {
            let segment = queues[beside: connection].segments[index]
            if walk.stops(at: segment, inFeed: chunks[segment.chunk].feed != nil) { release(segment.chunk, of: connection) }
        }
        queues[beside: connection].segments.free()
        queues[beside: connection].segments = anew
        if anew.reliableBytes > configuration.reliableBacklogBytesSoft { noteBacklog(connection) }
    }

    private mutating func copy(_ frame: QueuedFrame, of connection: Connection.Index, to queue: inout SegmentRing) {
        let bytes = frame.head.frameBytes
        let own = ownChunk(of: connection, for: bytes, queued: queue.bytes)
        let start = chunks[own].used
        (chunks[own].base! + Int(start)).copyMemory(from: chunks[frame.chunk].base! + Int(frame.position), byteCount: bytes)
        chunks[own].used = start + UInt32(bytes)
        if frame.kind == .packets { chunks[own].appendMark(.init(offset: start, packet: chunks[frame.chunk].packet(at: frame.position))) }
        if queue.append(chunk: own, start: start, end: start + UInt32(bytes), kind: frame.kind) { chunks[own].references += 1 }
        if frame.sent > 0 { queue.frontIsSent(frame.sent) }
    }

    private mutating func append(_ notice: LostRanges.Notice, of connection: Connection.Index, to queue: inout SegmentRing) {
        let own = ownChunk(of: connection, for: notice.head.frameBytes, queued: queue.bytes)
        let start = encode(notice.head, into: own, nil) { notice.write(to: &$0) }
        if queue.append(chunk: own, start: start, end: start + UInt32(notice.head.frameBytes), kind: .lost) { chunks[own].references += 1 }
    }

    // MARK: - Shedding

    /// Whether a packet may have outlived its use. [DL4]
    func hasExpired(_ connection: Connection.Index) -> Bool {
        queues[beside: connection].segments.packetBytes > 0 && isEarlier(queues[beside: connection].expiresAt, than: milliseconds)
    }

    /// Whether anything waits for anybody.
    var hasBusy: Bool { !busy.isEmpty }

    /// The connections with such a packet.
    var withExpired: [Connection.Index] { busy.filter { hasExpired($0) } }

    /// Sheds what has expired, and what exceeds the bound on packets. [DL4]
    ///
    /// - Returns: how many packets the reader will not get.
    mutating func shed(_ connection: Connection.Index) -> Int {
        queues[beside: connection].mustShed = false
        var pass = ShedPass()
        var walk = walk(connection, .sheddable)
        while let frame = next(&walk) {
            let body = chunks[frame.chunk].body(frame.head, at: frame.position)
            if frame.kind == .lost {
                pass.addNotice(body, frame)
            } else {
                pass.addPacket(body, frame, chunks[frame.chunk].packet(at: frame.position), at: milliseconds)
            }
        }
        pass.choose(packetBytes: queues[beside: connection].segments.packetBytes, max: configuration.packetBacklogBytesMax)
        queues[beside: connection].expiresAt = pass.expiresAt ?? milliseconds &+ UInt32(configuration.packetLifetime.milliseconds)
        guard pass.isNeeded else { return 0 }
        counts.packetsShedSlow += UInt64(pass.slow)
        counts.packetsShedExpired += UInt64(pass.expired)
        rebuild(connection, .sheddable, goes: pass.goes, telling: pass.lost)
        return pass.slow + pass.expired
    }

    /// Leaves of what waits only what can be neither shed nor moved: what is on the wire in part, and what is announced.
    mutating func discardAllButFixed(_ connection: Connection.Index) {
        guard !queues[beside: connection].segments.isEmpty else { return }
        let packets = frames(of: connection, .packets)
        var goes: [Bool] = []
        var walk = walk(connection, .all)
        while let frame = next(&walk) { goes.append(!frame.isFixed) }
        rebuild(connection, .all, goes: goes)
        counts.packetsDiscarded += UInt64(packets - frames(of: connection, .packets))
    }

    // MARK: - Bounds

    /// The reliable backlog has passed its soft limit: at once too much, or the clock starts. [DL8]
    private mutating func noteBacklog(_ connection: Connection.Index) {
        if queues[beside: connection].segments.reliableBytes > configuration.reliableBacklogBytesHard {
            if tooSlow.last != connection { tooSlow.append(connection) }
        } else if queues[beside: connection].softLimitSince == nil {
            queues[beside: connection].softLimitSince = now
            clocksBegun.append(connection)
        }
    }

    /// Connections whose reliable backlog has passed its soft limit, since this was last asked. [DL8]
    mutating func takeClocksBegun() -> [Connection.Index] {
        defer { clocksBegun = [] }
        return clocksBegun
    }

    /// Since when a reliable backlog is above the soft limit without a pause.
    func softLimitSince(_ connection: Connection.Index) -> Instant? { queues[beside: connection].softLimitSince }

    /// The host slept: nobody is to blame for that time. [HB4]
    mutating func postponeClocks(by lateness: Duration) {
        for connection in busy {
            if let since = queues[beside: connection].softLimitSince { queues[beside: connection].softLimitSince = min(now, since + lateness) }
        }
    }

    /// Who exceeds what, to be dealt with before the call ends.
    enum Overrun {
        /// Its reliable backlog exceeds the hard limit. [DL8]
        case reliable(Connection.Index)
        case packets(Connection.Index)
        /// All queues together hold too much, and this one the most of those that lag first. [DL9]
        case memory(Connection.Index, bytes: Int)
    }

    /// Whether `nextOverrun` may have one.
    @inline(__always)
    var mayOverrun: Bool { !tooSlow.isEmpty || !overfull.isEmpty || memory.hasGrown }

    mutating func nextOverrun() -> Overrun? {
        while let connection = tooSlow.popLast() {
            tooSlowTaken = min(tooSlowTaken, tooSlow.count)
            if !queues[beside: connection].isClosing { return .reliable(connection) }
        }
        while let connection = overfull.popLast() {
            queues[beside: connection].mustShed = false
            if !queues[beside: connection].isClosing, queues[beside: connection].segments.packetBytes > configuration.packetBacklogBytesMax {
                return .packets(connection)
            }
        }
        while memory.takeGrowth() {
            // A reader that has not been offered yet what was just queued needs no copy: thousands of them would be what fills the memory.
            for connection in busy where queues[beside: connection].isLagging && mustOwn(connection) { rebuild(connection, .shared) }
        }
        return chunks.liveBytes > configuration.queueBytesTotalMax ? heaviest() : nil
    }

    /// Connections that have become too slow since this was last asked, and were not closed: nobody is while bytes are taken out.
    mutating func takeTooSlow() -> ArraySlice<Connection.Index> {
        defer { tooSlowTaken = tooSlow.count }
        return tooSlow[min(tooSlowTaken, tooSlow.count)...]
    }

    /// What has grown since the last flush is looked at once more, now that it is known who lags.
    mutating func lookAtMemoryAgain() { memory.lookAgain() }

    mutating func forgetGrowth() { memory.forget() }

    private mutating func mustOwn(_ connection: Connection.Index) -> Bool {
        let held = held(by: connection)
        return held.oldest >= UInt32(configuration.sharedChunksPerChannelMax) || held.shared > configuration.pinnedBytesPerSessionMax
    }

    private mutating func heaviest() -> Overrun? {
        var most: (connection: Connection.Index?, isLagging: Bool, bytes: Int) = (nil, false, 0)
        for connection in busy where !queues[beside: connection].isClosing {
            let held = held(by: connection), bytes = held.shared + held.own, lags = queues[beside: connection].isLagging
            if bytes > 0, lags == most.isLagging ? bytes > most.bytes : lags { most = (connection, lags, bytes) }
        }
        return most.connection.map { .memory($0, bytes: most.bytes) }
    }

    // MARK: - Numbers

    /// Memory of all chunks, in bytes.
    var liveBytes: Int { chunks.liveBytes }

    /// What waits for one connection.
    func load(of connection: Connection.Index) -> (reliable: Int, packets: Int) {
        (queues[beside: connection].segments.reliableBytes, queues[beside: connection].segments.packetBytes)
    }

    func isEmpty(_ connection: Connection.Index) -> Bool { queues[beside: connection].segments.isEmpty }

    /// Since when something waits for the connection without a pause.
    func busySince(_ connection: Connection.Index) -> Instant? {
        queues[beside: connection].busyPosition >= 0 ? queues[beside: connection].busySince : nil
    }

    /// What a queue keeps alive, in bytes: shared chunks counted once each, and its own; and how many chunks its feed has begun since the
    /// oldest of them. The chunk that a feed is writing to is the feed's.
    mutating func held(by connection: Connection.Index) -> (shared: Int, own: Int, oldest: UInt32) {
        chunks.beginVisit()
        var held: (shared: Int, own: Int, oldest: UInt32) = (0, 0, 0)
        for index in 0..<queues[beside: connection].segments.count {
            let chunk = queues[beside: connection].segments[index].chunk
            guard chunks.firstVisit(chunk) else { continue }
            guard let feed = chunks[chunk].feed else {
                held.own += Int(chunks[chunk].capacity)
                continue
            }
            held.oldest = max(held.oldest, feeds[feed].serial &- chunks[chunk].serial)
            if feeds[feed].chunk != chunk || feeds[feed].isEnded { held.shared += Int(chunks[chunk].capacity) }
        }
        return held
    }

    /// What waits for all readers, and the shared memory that their queues keep alive, each counted for itself.
    mutating func backlog() -> (queuedBytes: Int, pinnedBytes: Int) {
        var sum = (queuedBytes: 0, pinnedBytes: 0)
        for connection in busy {
            sum.queuedBytes += queues[beside: connection].segments.bytes
            sum.pinnedBytes += held(by: connection).shared
        }
        return sum
    }
}

/// Whether chunks were begun since memory was last looked at.
private struct MemoryWatch {
    private(set) var hasGrown = false
    /// What has been looked at before it was known who lags.
    private var hasGrownSinceOffer = false

    mutating func grew() { hasGrown = true }

    mutating func takeGrowth() -> Bool {
        guard hasGrown else { return false }
        hasGrown = false
        hasGrownSinceOffer = true
        return true
    }

    mutating func lookAgain() { if hasGrownSinceOffer { hasGrown = true } }

    mutating func forget() { hasGrownSinceOffer = false }
}

/// What the outbox counts of the hub's `Counters`.
struct OutboxCounts {
    var packetsQueued: UInt64 = 0
    var packetsShedSlow: UInt64 = 0
    var packetsShedExpired: UInt64 = 0
    var packetsDiscarded: UInt64 = 0
    var delays = DelayCounts()
}

/// Whether a moment of the hub's 32-bit millisecond clock is before another one, across its wrap (49 days).
@inline(__always)
func isEarlier(_ left: UInt32, than right: UInt32) -> Bool { Int32(bitPattern: left &- right) < 0 }
