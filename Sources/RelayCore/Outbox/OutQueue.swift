import RelayPrimitives
import RelayWire

/// The queue of one connection, and its state against its bounds.
struct OutQueue {
    var segments = SegmentRing()
    /// Bytes at the front, whole frames at first, that stand in a WebSocket message whose head is written: nothing of them is
    /// shed. [WS7]
    var announcedBytes = 0
    /// No packet in the queue expires before this, in milliseconds of the hub's clock; exact after a shed pass.
    var expiresAt: UInt32 = 0
    /// The connection's own chunk that is being written to.
    @Packed var ownChunk: Chunk.Index?
    /// Since when the reliable backlog is above the soft limit without a pause. [DL8]
    var softLimitSince: Instant?
    /// Whether it stands among those that are offered to the engine next, and among those whose packets exceed their bound.
    var isDirty = false
    var mustShed = false
    /// Whether the engine was told of it since it was empty.
    var isLagging = false
    /// Its connection has said goodbye.
    var isClosing = false
    /// Since when the connection stands among those with something to send, and where, or -1.
    var busySince = Instant(nanoseconds: 0)
    var busyPosition: Int32 = -1
    /// Of a reader that has said what it takes. [DL11]
    @Packed var limiter: ReaderLimiter.Index?
}

/// The connection of each session that has one: 4 bytes for each session.
struct Links {
    private var connections = Slab<Packed<Connection>>(vacant: Packed(wrappedValue: nil))

    @inline(__always)
    subscript(session: Session.Index) -> Connection.Index? {
        get { connections[beside: session].wrappedValue }
        set { connections[beside: session].wrappedValue = newValue }
    }

    mutating func reserve(_ session: Session.Index) { connections.reserve(session) }
}

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

/// The one walk over the frames of a queue, from the front: `Queues.next` takes a step.
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

/// Whether a moment of the hub's 32-bit millisecond clock is before another one, across its wrap (49 days).
@inline(__always)
func isEarlier(_ left: UInt32, than right: UInt32) -> Bool { Int32(bitPattern: left &- right) < 0 }

extension Outbox {
    /// Connections over a bound, to be dealt with before the call ends.
    enum Overrun {
        /// Its reliable backlog exceeds the hard limit. [DL8]
        case reliable(Connection.Index)
        case packets(Connection.Index)
        /// All queues together hold too much. [DL9]
        case memory
    }
}
