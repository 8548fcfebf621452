import RelayWire

/// What one room delivers: chunks that its receivers share.
struct Feed {
    /// The chunk being written to, if there is one.
    @Packed var chunk: Chunk.Index?
    /// Size class of the next chunk: grows with traffic.
    var sizeClass: UInt8 = 0
    /// Its room is gone.
    var isEnded = false
    /// Chunks begun so far.
    var serial: UInt32 = 0
    /// Chunks that are alive.
    var chunks = 0
}

/// The chunks of all feeds, and chunks that belong to one connection each.
struct Chunks {
    private var pool: ChunkPool
    private var feeds = Slab<Feed>(vacant: Feed())
    private var visit: UInt32 = 0
    /// Whether chunks were begun since memory was last looked at.
    private(set) var haveGrown = false
    /// What has been looked at before it was known which readers lag.
    private var haveGrownSinceOffer = false

    init(_ configuration: Configuration) { pool = ChunkPool(bytesMin: configuration.chunkBytesMin, bytesMax: configuration.chunkBytesMax) }

    /// Memory of all of them and of queues' rings, in bytes.
    var liveBytes: Int { pool.liveBytes }
    var liveBytesMost: Int { pool.liveBytesMost }
    /// Memory that is kept ready for more.
    var spareBytes: Int { pool.spareBytes }

    @inline(__always)
    subscript(index: Chunk.Index) -> Chunk {
        unsafeAddress { UnsafePointer(pool.address(index)) }
        unsafeMutableAddress { pool.address(index) }
    }

    // MARK: - Feeds

    mutating func open() -> Feed.Index { feeds.insert(Feed()) }

    /// Ends the feed: nobody writes to it again, and its last chunk removes it.
    mutating func end(_ feed: Feed.Index) {
        feeds[feed].isEnded = true
        // What it was writing to is kept alive by queues alone now.
        haveGrown = true
        if feeds[feed].chunks == 0 { feeds.remove(feed) }
    }

    /// The chunk of a feed, with space for a frame of so many bytes and its mark.
    @inline(__always)
    mutating func shared(of feed: Feed.Index, for bytes: Int) -> Chunk.Index {
        if let chunk = feeds[feed].chunk, pool[chunk].hasSpace(for: bytes) { return chunk }
        return rollOver(feed, for: bytes)
    }

    private mutating func rollOver(_ feed: Feed.Index, for bytes: Int) -> Chunk.Index {
        // A chunk that is full while readers still wait for it is the sign to take a larger one.
        if feeds[feed].chunk != nil { feeds[feed].sizeClass = min(feeds[feed].sizeClass + 1, pool.lastClass) }
        feeds[feed].serial &+= 1
        feeds[feed].chunks += 1
        let chunk = pool.make(sizeClass: feeds[feed].sizeClass, holding: bytes, feed: feed, serial: feeds[feed].serial)
        feeds[feed].chunk = chunk
        haveGrown = true
        return chunk
    }

    /// A chunk of one connection.
    mutating func own(sizeClass: UInt8, for bytes: Int) -> Chunk.Index {
        haveGrown = true
        return pool.make(sizeClass: sizeClass, holding: bytes, feed: nil, serial: 0)
    }

    // MARK: - References

    @inline(__always)
    mutating func refer(to chunk: Chunk.Index, times: Int32 = 1) { pool[chunk].references += times }

    /// One reference less.
    ///
    /// - Returns: whether the chunk is gone: it was the last one.
    @inline(__always)
    mutating func release(_ chunk: Chunk.Index) -> Bool {
        pool[chunk].references -= 1
        return discardIfUnused(chunk)
    }

    @inline(__always)
    @discardableResult
    mutating func discardIfUnused(_ chunk: Chunk.Index) -> Bool {
        guard pool[chunk].references == 0 else { return false }
        discard(chunk)
        return true
    }

    private mutating func discard(_ chunk: Chunk.Index) {
        guard let feed = pool[chunk].feed else { return pool.discard(chunk) }
        if feeds[feed].chunk == chunk { feeds[feed].chunk = nil }
        if pool[chunk].used < pool[chunk].capacity / 4, feeds[feed].sizeClass > 0 { feeds[feed].sizeClass -= 1 }
        pool.discard(chunk)
        feeds[feed].chunks -= 1
        if feeds[feed].isEnded, feeds[feed].chunks == 0 { feeds.remove(feed) }
    }

    // MARK: - Memory

    /// What a queue keeps alive.
    struct Held {
        /// Shared chunks, counted once each, in bytes. The chunk that a feed is writing to is the feed's.
        var shared = 0
        /// The connection's own chunks and its ring, in bytes.
        var own = 0
        /// How many chunks its feed has begun since the oldest of them.
        var oldest: UInt32 = 0
    }

    mutating func held(by segments: SegmentRing) -> Held {
        visit &+= 1
        var held = Held()
        held.own = segments.memoryBytes
        for index in 0..<segments.count {
            let chunk = segments[index].chunk
            guard pool[chunk].visit != visit else { continue }
            pool[chunk].visit = visit
            guard let feed = pool[chunk].feed else {
                held.own += Int(pool[chunk].capacity)
                continue
            }
            held.oldest = max(held.oldest, feeds[feed].serial &- pool[chunk].serial)
            if feeds[feed].chunk != chunk || feeds[feed].isEnded { held.shared += Int(pool[chunk].capacity) }
        }
        return held
    }

    /// A queue's ring takes so much more, or less.
    mutating func countRing(_ bytes: Int) {
        guard bytes != 0 else { return }
        pool.count(bytes)
        if bytes > 0 { haveGrown = true }
    }

    mutating func takeGrowth() -> Bool {
        guard haveGrown else { return false }
        haveGrown = false
        haveGrownSinceOffer = true
        return true
    }

    /// What has grown since the last flush is looked at once more, now that it is known which readers lag.
    mutating func lookAgain() { if haveGrownSinceOffer { haveGrown = true } }

    mutating func forgetGrowth() { haveGrownSinceOffer = false }
}
