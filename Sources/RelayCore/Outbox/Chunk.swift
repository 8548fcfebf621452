import RelayWire

/// Raw memory into which frames are encoded once, from the front; from the back grow the marks of its packets:
///
///     | frame | frame | frame | …free… | mark n | … | mark 1 | mark 0 |
///
/// A chunk lives while a queue's segment refers to it, and as the one its feed writes to.
struct Chunk {
    var base: UnsafeMutableRawPointer?
    var sizeClass: UInt8 = 0
    var capacity: UInt32 = 0
    var used: UInt32 = 0
    var marks: UInt32 = 0
    /// Segments, in all queues, that point into it.
    var references: Int32 = 0
    /// The feed that writes or wrote it; none of a connection's own chunk.
    @Packed var feed: Feed.Index?
    /// The ordinal of the chunk in its feed.
    var serial: UInt32 = 0
    /// Scratch of a count of distinct chunks.
    var visit: UInt32 = 0

    /// What is known of the packet whose frame begins at `offset`.
    struct Mark {
        var offset: UInt32
        var packet: PacketMark
    }

    static let markBytes = UInt32(MemoryLayout<Mark>.stride)

    private var free: UInt32 { capacity - used - marks * Self.markBytes }

    /// Whether a frame of so many bytes and its mark go in.
    @inline(__always)
    func hasSpace(for bytes: Int) -> Bool { Int(free) >= bytes + Int(Self.markBytes) }

    /// Writes a frame at the end.
    ///
    /// - Parameter index: the chunk's own.
    /// - Returns: where it stands.
    @inline(__always)
    mutating func encode(
        _ head: FrameHead, in index: Chunk.Index, _ packet: PacketMark?, as kind: Segment.Kind, _ body: (inout ByteWriter) -> Void
    ) -> Segment {
        let start = used
        var writer = ByteWriter(base.unsafelyUnwrapped + Int(start))
        head.write(to: &writer)
        body(&writer)
        used = start + UInt32(head.frameBytes)
        if let packet { appendMark(Mark(offset: start, packet: packet)) }
        return Segment(chunk: index, start: start, end: used, kind: kind)
    }

    private func mark(_ index: UInt32) -> Mark {
        base!.load(fromByteOffset: Int(capacity - (index + 1) * Self.markBytes), as: Mark.self)
    }

    private mutating func appendMark(_ mark: Mark) {
        marks += 1
        base!.storeBytes(of: mark, toByteOffset: Int(capacity - marks * Self.markBytes), as: Mark.self)
    }

    /// The mark of the packet frame that begins at `offset`.
    func packet(at offset: UInt32) -> PacketMark {
        var low: UInt32 = 0
        var high = marks
        while low < high {
            let middle = (low + high) / 2
            if mark(middle).offset < offset { low = middle + 1 } else { high = middle }
        }
        precondition(low < marks && mark(low).offset == offset, "no mark for a packet at \(offset)")
        return mark(low).packet
    }

    /// The head of a frame that the outbox itself wrote.
    func head(at position: UInt32) -> FrameHead {
        let bytes = UnsafeRawBufferPointer(start: base! + Int(position), count: Limits.frameHeadBytes)
        guard case .head(let head) = FrameHead.read(bytes) else { preconditionFailure("no frame at \(position)") }
        return head
    }

    func body(_ head: FrameHead, at position: UInt32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base! + Int(position) + Limits.frameHeadBytes, count: head.bodyBytes)
    }
}

/// What a shed pass asks of a packet: its flow may be gone by then. [DL4, DL5]
struct PacketMark {
    /// The end of the packet's lifetime, in milliseconds of the hub's clock.
    var expiresAt: UInt32
    /// The handle of its sender. [DL11]
    var sender: UInt32
    /// Of its topic's priority: less goes first.
    var rank: UInt8
}

/// All chunks, and memory kept ready for the next ones.
struct ChunkPool {
    private var chunks = Slab<Chunk>(vacant: Chunk(), release: { $0.base?.deallocate() })
    private let spare: Spare
    private(set) var spareBytes = 0
    private let bytesMin: Int
    private let classes: Int
    /// Memory of all chunks in use and of the rings that point into them, in bytes.
    private(set) var liveBytes = 0
    /// The most that these ever were.
    private(set) var liveBytesMost = 0

    /// Free memory kept for reuse, in bytes.
    private static let spareBytesMax = 4 * 1024 * 1024

    init(bytesMin: Int, bytesMax: Int) {
        self.bytesMin = bytesMin
        var classes = 1
        while bytesMin << (classes - 1) < bytesMax { classes += 1 }
        self.classes = classes
        spare = Spare(classes: classes)
    }

    /// Memory kept ready, by size class. Its end frees the memory.
    private final class Spare {
        var lists: [[UnsafeMutableRawPointer]]

        init(classes: Int) { lists = Array(repeating: [], count: classes) }

        deinit {
            for list in lists { for pointer in list { pointer.deallocate() } }
        }
    }

    @inline(__always)
    func address(_ index: Chunk.Index) -> UnsafeMutablePointer<Chunk> { chunks.address(index) }

    @inline(__always)
    subscript(index: Chunk.Index) -> Chunk {
        unsafeAddress { UnsafePointer(chunks.address(index)) }
        unsafeMutableAddress { chunks.address(index) }
    }

    /// The largest size class.
    var lastClass: UInt8 { UInt8(classes - 1) }

    /// A chunk with room for at least `bytes` and one mark, of at least the given class.
    mutating func make(sizeClass wanted: UInt8, holding bytes: Int, feed: Feed.Index?, serial: UInt32) -> Chunk.Index {
        var sizeClass = Int(min(wanted, lastClass))
        while sizeClass < classes - 1, bytesMin << sizeClass < bytes + Int(Chunk.markBytes) { sizeClass += 1 }
        let capacity = max(bytesMin << sizeClass, bytes + Int(Chunk.markBytes))
        let base: UnsafeMutableRawPointer
        if capacity == bytesMin << sizeClass, let ready = spare.lists[sizeClass].popLast() {
            spareBytes -= capacity
            base = ready
        } else {
            base = .allocate(byteCount: capacity, alignment: 16)
        }
        count(capacity)
        return chunks.insert(
            Chunk(base: base, sizeClass: UInt8(sizeClass), capacity: UInt32(capacity), feed: feed, serial: serial))
    }

    /// So much more is in use.
    mutating func count(_ bytes: Int) {
        liveBytes += bytes
        liveBytesMost = max(liveBytesMost, liveBytes)
    }

    /// Gives the memory back. Nothing may refer to the chunk.
    mutating func discard(_ index: Chunk.Index) {
        let chunk = chunks[index]
        precondition(chunk.references == 0, "a chunk with \(chunk.references) references is discarded")
        let capacity = Int(chunk.capacity)
        liveBytes -= capacity
        if capacity == bytesMin << Int(chunk.sizeClass), spareBytes + capacity <= Self.spareBytesMax {
            spare.lists[Int(chunk.sizeClass)].append(chunk.base!)
            spareBytes += capacity
        } else {
            chunk.base!.deallocate()
        }
        chunks.remove(index)
    }
}
