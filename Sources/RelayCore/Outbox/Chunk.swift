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
    /// When it is of no use any more, in milliseconds of the hub's clock.
    var expiresAt: UInt32
    /// The handle of its sender. [DL11]
    var sender: UInt32
    /// Of its topic's priority: less goes first.
    var rank: UInt8
}
