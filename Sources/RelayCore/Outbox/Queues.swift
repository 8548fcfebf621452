import RelayPrimitives
import RelayWire

/// The queues of all connections, and the chunks that they point into: how frames go in, come out, and are left out. [DL1]
struct Queues {
    private var queues = Slab<OutQueue>(
        vacant: OutQueue(),
        release: { queue in
            var segments = queue.segments
            segments.free()
        })
    private(set) var chunks: Chunks
    var limiters = Slab<ReaderLimiter>(vacant: ReaderLimiter(ReaderLimits(), packetFrameBytesMax: 0, at: Instant(nanoseconds: 0)))
    let packetBacklogBytesMax: Int
    private var gone: [Chunk.Index] = []

    init(_ configuration: Configuration) {
        chunks = Chunks(configuration)
        packetBacklogBytesMax = configuration.packetBacklogBytesMax
    }

    @inline(__always)
    subscript(connection: Connection.Index) -> OutQueue {
        unsafeAddress { UnsafePointer(queues.address(beside: connection)) }
        unsafeMutableAddress { queues.address(beside: connection) }
    }

    mutating func open(_ connection: Connection.Index) { queues.reserve(connection) }

    /// The connection is gone.
    ///
    /// - Returns: how many packets went with it.
    mutating func discard(_ connection: Connection.Index) -> Int {
        let packets = count(connection, .packets)
        for index in 0..<self[connection].segments.count { release(self[connection].segments[index].chunk, of: connection) }
        chunks.countRing(-self[connection].segments.memoryBytes)
        self[connection].segments.free()
        if let limiter = self[connection].limiter { limiters.remove(limiter) }
        self[connection] = OutQueue()
        return packets
    }

    // MARK: - Feeds and memory

    mutating func openFeed() -> Feed.Index { chunks.open() }
    mutating func end(_ feed: Feed.Index) { chunks.end(feed) }
    mutating func held(by connection: Connection.Index) -> Chunks.Held { chunks.held(by: queues[beside: connection].segments) }
    mutating func takeGrowth() -> Bool { chunks.takeGrowth() }
    mutating func lookAtMemoryAgain() { chunks.lookAgain() }
    mutating func forgetGrowth() { chunks.forgetGrowth() }

    // MARK: - In

    /// Encodes a frame once for all receivers of a feed; behind all that take a segment of it comes `addReferences`.
    @inline(__always)
    mutating func encode(_ head: FrameHead, on feed: Feed.Index, _ packet: PacketMark?, _ body: (inout ByteWriter) -> Void) -> Segment {
        let chunk = chunks.shared(of: feed, for: head.frameBytes)
        return chunks[chunk].encode(head, in: chunk, packet, as: packet == nil ? .reliable : .packets, body)
    }

    /// So many segments refer to the chunk of a segment that was encoded.
    @inline(__always)
    mutating func addReferences(_ references: Int32, to segment: Segment) {
        chunks.refer(to: segment.chunk, times: references)
        chunks.discardIfUnused(segment.chunk)
    }

    /// - Returns: whether the queue refers to the chunk once more.
    @inline(__always)
    mutating func append(_ segment: Segment, to connection: Connection.Index) -> Bool {
        let before = self[connection].segments.memoryBytes
        guard self[connection].segments.append(segment) else { return false }
        chunks.countRing(self[connection].segments.memoryBytes - before)
        return true
    }

    /// Encodes a frame for one connection.
    mutating func write(_ head: FrameHead, _ kind: Segment.Kind, to connection: Connection.Index, _ body: (inout ByteWriter) -> Void) {
        let chunk = ownChunk(of: connection, for: head.frameBytes, queued: self[connection].segments.bytes)
        let segment = chunks[chunk].encode(head, in: chunk, nil, as: kind, body)
        if append(segment, to: connection) { chunks.refer(to: chunk) }
    }

    /// The connection's own chunk, with space for a frame of so many bytes and its mark.
    private mutating func ownChunk(of connection: Connection.Index, for bytes: Int, queued: Int) -> Chunk.Index {
        if let current = self[connection].ownChunk, chunks[current].hasSpace(for: bytes) { return current }
        let chunk = chunks.own(sizeClass: queued > packetBacklogBytesMax ? 4 : 0, for: bytes)
        self[connection].ownChunk = chunk
        return chunk
    }

    private mutating func release(_ chunk: Chunk.Index, of connection: Connection.Index) {
        if chunks.release(chunk), self[connection].ownChunk == chunk { self[connection].ownChunk = nil }
    }

    // MARK: - Out

    /// Says how many bytes of what waits go into one message of a WebSocket: whole frames, at most `limit` bytes or one larger one.
    /// They stay as they are until they are written. [WS7]
    mutating func announce(_ connection: Connection.Index, limit: Int) -> Int {
        let announced = self[connection].announcedBytes
        precondition(announced == 0, "\(announced) announced bytes are not sent yet")
        var bytes = 0
        var whole = 0
        while whole < self[connection].segments.count, self[connection].segments[whole].kind != .held,
            bytes + self[connection].segments[whole].bytes <= limit
        {
            bytes += self[connection].segments[whole].bytes
            whole += 1
        }
        var walk = walk(connection, .all, from: whole)
        while let frame = next(&walk) {
            guard frame.kind != .held, bytes == 0 || bytes + frame.head.frameBytes <= limit else { break }
            bytes += frame.head.frameBytes
        }
        self[connection].announcedBytes = bytes
        return bytes
    }

    /// Fills `vectors` with what the connection is to send next. The memory is valid until the next call.
    ///
    /// - Returns: how many vectors were filled.
    mutating func gather(_ connection: Connection.Index, into vectors: UnsafeMutableBufferPointer<IOVector>, limit: Int) -> Int {
        var filled = 0
        var rest = limit
        while filled < vectors.count, filled < self[connection].segments.count, rest > 0 {
            let segment = self[connection].segments[filled]
            guard segment.kind != .held else { break }
            let bytes = min(segment.bytes, rest)
            vectors[filled] = IOVector(base: UnsafeRawPointer(chunks[segment.chunk].base!) + Int(segment.start), count: bytes)
            filled += 1
            rest -= bytes
        }
        return filled
    }

    /// Takes so many bytes off the front of a queue.
    mutating func take(_ bytes: Int, from connection: Connection.Index) {
        // Released segments are few; the closure may not touch the queues while one of them is being changed.
        var gone = gone
        self.gone = []
        self[connection].announcedBytes = max(0, self[connection].announcedBytes - bytes)
        self[connection].segments.consume(bytes) { gone.append($0.chunk) }
        for chunk in gone { release(chunk, of: connection) }
        gone.removeAll(keepingCapacity: true)
        self.gone = gone
    }

    /// An empty queue gives a large ring back.
    mutating func trim(_ connection: Connection.Index) {
        let before = self[connection].segments.memoryBytes
        self[connection].segments.trim()
        chunks.countRing(self[connection].segments.memoryBytes - before)
    }

    // MARK: - The walk

    /// A walk from the first frame that is not on the wire as a whole.
    mutating func walk(_ connection: Connection.Index, _ stops: QueueWalk.Stops, from segment: Int = 0) -> QueueWalk {
        let queue = self[connection].segments
        guard segment == 0, !queue.isEmpty else {
            return QueueWalk(
                connection: connection, stops: stops, segment: segment, position: segment < queue.count ? queue[segment].start : 0)
        }
        var position = queue.headBoundary
        while position < queue[0].start {
            let next = position + UInt32(chunks[queue[0].chunk].head(at: position).frameBytes)
            guard next <= queue[0].start else { break }
            position = next
        }
        self[connection].segments.headBoundary = position
        return QueueWalk(connection: connection, stops: stops, segment: 0, position: position)
    }

    func next(_ walk: inout QueueWalk) -> QueuedFrame? {
        while walk.segment < self[walk.connection].segments.count {
            let segment = self[walk.connection].segments[walk.segment]
            if walk.position < segment.end, walk.stops(at: segment, inFeed: chunks[segment.chunk].feed != nil) {
                let head = chunks[segment.chunk].head(at: walk.position)
                let sent = walk.position < segment.start ? segment.start - walk.position : 0
                let frame = QueuedFrame(
                    segment: walk.segment, kind: segment.kind, chunk: segment.chunk, position: walk.position, head: head, sent: sent,
                    isFixed: sent > 0 || walk.ahead < self[walk.connection].announcedBytes)
                walk.ahead += head.frameBytes - Int(sent)
                walk.position += UInt32(head.frameBytes)
                return frame
            }
            if walk.position < segment.end { walk.ahead += Int(segment.end - max(walk.position, segment.start)) }
            walk.segment += 1
            if walk.segment < self[walk.connection].segments.count { walk.position = self[walk.connection].segments[walk.segment].start }
        }
        return nil
    }

    private mutating func count(_ connection: Connection.Index, _ stops: QueueWalk.Stops) -> Int {
        var walk = walk(connection, stops)
        var frames = 0
        while next(&walk) != nil { frames += 1 }
        return frames
    }

    // MARK: - The rebuild

    /// Makes a queue anew, in its order; what is known of its connection stays as it is.
    ///
    /// - Parameters:
    ///   - stops: segments that such a walk passes over stay where they are; other frames are copied into the connection's own chunks.
    ///   - fates: of each frame that the walk stops at; without them all stay.
    ///   - lost: told where the first frame went, or before the first that is held.
    mutating func rebuild(_ connection: Connection.Index, _ stops: QueueWalk.Stops, fates: [Fate]? = nil, telling lost: LostRanges? = nil) {
        var walk = walk(connection, stops)
        var frame = next(&walk)
        var anew = SegmentRing()
        var ordinal = 0
        var waiting: [QueuedFrame] = []
        var notices = lost?.notices ?? []
        for index in 0..<self[connection].segments.count {
            let segment = self[connection].segments[index]
            guard walk.stops(at: segment, inFeed: chunks[segment.chunk].feed != nil) else {
                keep(segment, from: index == 0 ? self[connection].segments.headBoundary : segment.start, in: &anew)
                continue
            }
            while let stop = frame, stop.segment == index {
                let fate = fates?[ordinal] ?? .stays
                if fate == .goes || fate == .stays && stop.kind == .held {
                    for notice in notices { append(notice, of: connection, to: &anew) }
                    notices = []
                }
                switch fate {
                case .goes: break
                case .stays: copy(stop, as: stop.kind, of: connection, to: &anew)
                case .isLetGo: copy(stop, as: .packets, of: connection, to: &anew)
                case .waits: waiting.append(stop)
                }
                ordinal += 1
                frame = next(&walk)
            }
        }
        for stop in waiting { copy(stop, as: .held, of: connection, to: &anew) }
        // Its chunks stay alive until all of it has been read.
        for index in 0..<self[connection].segments.count {
            let segment = self[connection].segments[index]
            if walk.stops(at: segment, inFeed: chunks[segment.chunk].feed != nil) { release(segment.chunk, of: connection) }
        }
        chunks.countRing(anew.memoryBytes - self[connection].segments.memoryBytes)
        self[connection].segments.free()
        self[connection].segments = anew
    }

    /// - Parameter start: where a frame begins, at or before what of the segment is not on the wire.
    private mutating func keep(_ segment: Segment, from start: UInt32, in queue: inout SegmentRing) {
        var whole = segment
        whole.start = start
        if !queue.append(whole) { chunks.refer(to: segment.chunk, times: -1) }
        if start < segment.start { queue.frontIsSent(segment.start - start) }
    }

    private mutating func copy(
        _ frame: QueuedFrame, as kind: Segment.Kind, of connection: Connection.Index, to queue: inout SegmentRing
    ) {
        let own = ownChunk(of: connection, for: frame.head.frameBytes, queued: queue.bytes)
        let packet = kind.isPacket ? chunks[frame.chunk].packet(at: frame.position) : nil
        let body = chunks[frame.chunk].body(frame.head, at: frame.position)
        let segment = chunks[own].encode(frame.head, in: own, packet, as: kind) { $0.bytes(body) }
        if queue.append(segment) { chunks.refer(to: own) }
        if frame.sent > 0 { queue.frontIsSent(frame.sent) }
    }

    private mutating func append(_ notice: LostRanges.Notice, of connection: Connection.Index, to queue: inout SegmentRing) {
        let own = ownChunk(of: connection, for: notice.head.frameBytes, queued: queue.bytes)
        let segment = chunks[own].encode(notice.head, in: own, nil, as: .lost) { notice.write(to: &$0) }
        if queue.append(segment) { chunks.refer(to: own) }
    }

    /// Leaves of what waits only what can be neither shed nor moved: what is on the wire in part, and what is announced.
    ///
    /// - Returns: how many packets went.
    mutating func discardAllButFixed(_ connection: Connection.Index) -> Int {
        let packets = count(connection, .packets)
        var fates: [Fate] = []
        var walk = walk(connection, .all)
        while let frame = next(&walk) { fates.append(frame.isFixed ? .stays : .goes) }
        rebuild(connection, .all, fates: fates)
        if let limiter = self[connection].limiter { limiters[limiter].holds(PacketSum()) }
        return packets - count(connection, .packets)
    }

    /// What a shed pass finds in a queue.
    ///
    /// - Parameter urgent: of each held packet, in order, whether it cannot wait.
    mutating func shedPass(_ connection: Connection.Index, at milliseconds: UInt32, urgent: [Bool] = []) -> ShedPass {
        var pass = ShedPass(urgent: urgent)
        var walk = walk(connection, .sheddable)
        while let frame = next(&walk) {
            let body = chunks[frame.chunk].body(frame.head, at: frame.position)
            if frame.kind == .lost {
                pass.addNotice(body, frame)
            } else {
                pass.addPacket(body, frame, chunks[frame.chunk].packet(at: frame.position), at: milliseconds)
            }
        }
        return pass
    }
}
