import RelayWire

/// A frame that waits in a queue.
struct QueuedFrame {
    /// Ordinal of its segment.
    var segment: Int
    var kind: Segment.Kind
    var chunk: Chunk.Index
    /// Where it begins in its chunk.
    var position: UInt32
    var head: FrameHead
    /// Bytes of it that are on the wire already.
    var sent: UInt32
    /// On the wire in part, or announced: it can be neither shed nor moved behind another.
    var isFixed: Bool
}

/// What a rebuild does with a frame.
enum Fate {
    case stays
    /// Its reader does not get it.
    case goes
    /// It was held, and may leave.
    case isLetGo
    /// It is held on, behind all others.
    case waits
}

/// The one walk over the frames of a queue, from the front: `Outbox.next` takes a step.
struct QueueWalk {
    /// Which frames it stops at. Segments without any are passed over as a whole.
    enum Stops {
        case all
        case packets
        /// Packets, and notices of lost ones.
        case sheddable
        /// What stands in the chunks of feeds.
        case shared
    }

    let connection: Connection.Index
    let stops: Stops
    var segment: Int
    /// Where the next frame of the segment begins.
    var position: UInt32
    /// Bytes of the queue before the next frame.
    var ahead = 0

    func stops(at segment: Segment, inFeed: Bool) -> Bool {
        switch stops {
        case .all: true
        case .packets: segment.kind.isPacket
        case .sheddable: segment.kind != .reliable
        case .shared: inFeed
        }
    }
}
