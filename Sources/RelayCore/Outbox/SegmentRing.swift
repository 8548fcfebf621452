/// A run of frames in one chunk that one connection still has to send. All of one kind.
struct Segment {
    enum Kind: UInt8 {
        /// Never shed.
        case reliable
        /// May be shed.
        case packets
        /// Likewise, and does not leave before it is let go. [DL11]
        case held
        /// A `lost` notice: reliable, but unsent ones merge.
        case lost

        var isPacket: Bool { self == .packets || self == .held }
    }

    var chunk: Chunk.Index
    var start: UInt32
    var end: UInt32
    var kind: Kind

    var bytes: Int { Int(end - start) }
}

/// What one connection still has to send, in order. [DL1]
///
/// Frames next to the last segment's end only extend it, so that a burst to many readers costs
/// each of them a comparison and an addition.
struct SegmentRing {
    private var ring: UnsafeMutablePointer<Segment>?
    private var capacity = 0
    private var head = 0
    private(set) var count = 0

    /// Bytes of segments that are not packets.
    private(set) var reliableBytes = 0
    private(set) var packetBytes = 0
    /// Where in the first segment's chunk a frame begins, at or before what is sent next. Writing does not look for the next one.
    /// `Queues.walk` does, where it needs the frame that is on the wire in part.
    var headBoundary: UInt32 = 0

    var isEmpty: Bool { count == 0 }
    var bytes: Int { reliableBytes + packetBytes }
    /// Memory of the ring itself, in bytes; 0 of the few segments that each connection may keep.
    var memoryBytes: Int { capacity > Self.capacityKept ? capacity * MemoryLayout<Segment>.stride : 0 }

    private static let capacityKept = 8

    @inline(__always)
    subscript(index: Int) -> Segment { ring.unsafelyUnwrapped[(head + index) & (capacity - 1)] }

    /// - Returns: whether a new segment was made, which is one more reference to its chunk.
    @inline(__always)
    mutating func append(_ segment: Segment) -> Bool {
        if segment.kind.isPacket { packetBytes += segment.bytes } else { reliableBytes += segment.bytes }
        if count > 0 {
            let last = ring.unsafelyUnwrapped + ((head + count - 1) & (capacity - 1))
            if last.pointee.chunk == segment.chunk, last.pointee.end == segment.start, last.pointee.kind == segment.kind {
                last.pointee.end = segment.end
                return false
            }
        }
        push(segment)
        return true
    }

    private mutating func push(_ segment: Segment) {
        if count == capacity { grow() }
        (ring.unsafelyUnwrapped + ((head + count) & (capacity - 1))).initialize(to: segment)
        if count == 0 { headBoundary = segment.start }
        count += 1
    }

    private mutating func grow() {
        let larger = max(4, capacity * 2)
        let moved = UnsafeMutablePointer<Segment>.allocate(capacity: larger)
        for index in 0..<count { (moved + index).initialize(to: self[index]) }
        ring?.deallocate()
        ring = moved
        capacity = larger
        head = 0
    }

    /// Takes `written` bytes from the front; calls `released` for each segment that is gone.
    @inline(__always)
    mutating func consume(_ written: Int, released: (Segment) -> Void) {
        var rest = written
        while rest > 0 {
            precondition(count > 0, "more was written than was queued")
            let first = ring.unsafelyUnwrapped + head
            let bytes = first.pointee.bytes
            let taken = min(rest, bytes)
            if first.pointee.kind.isPacket { packetBytes -= taken } else { reliableBytes -= taken }
            rest -= taken
            if taken == bytes {
                let gone = first.pointee
                head = (head + 1) & (capacity - 1)
                count -= 1
                if count > 0 { headBoundary = ring.unsafelyUnwrapped[head].start }
                released(gone)
            } else {
                first.pointee.start += UInt32(taken)
            }
        }
    }

    /// So much of the one frame in here is on the wire already.
    mutating func frontIsSent(_ sent: UInt32) {
        precondition(count == 1, "\(count) segments: only the first frame of a queue is on the wire in part")
        let first = ring.unsafelyUnwrapped + head
        first.pointee.start += sent
        if first.pointee.kind.isPacket { packetBytes -= Int(sent) } else { reliableBytes -= Int(sent) }
    }

    /// The segment behind which only held ones stand.
    var heldFrom: Int {
        var index = count
        while index > 0, self[index - 1].kind == .held { index -= 1 }
        return index
    }

    /// The first segment that is held; one is.
    var firstHeld: Int {
        var index = 0
        while self[index].kind != .held { index += 1 }
        return index
    }

    /// All that is held, so many bytes, may leave.
    mutating func letGo(_ bytes: Int) {
        var (rest, index) = (bytes, count)
        while rest > 0 {
            index -= 1
            let segment = ring.unsafelyUnwrapped + ((head + index) & (capacity - 1))
            guard segment.pointee.kind == .held else { continue }
            segment.pointee.kind = .packets
            rest -= segment.pointee.bytes
        }
    }

    /// An idle connection keeps at most a ring of a few segments.
    mutating func trim() {
        if count == 0, capacity > Self.capacityKept { free() }
    }

    /// Gives the memory back; the ring is empty.
    mutating func free() {
        ring?.deallocate()
        self = SegmentRing()
    }
}
