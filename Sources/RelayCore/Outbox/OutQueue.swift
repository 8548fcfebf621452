import RelayPrimitives

/// What is to be sent over one connection, and how it stands with its bounds.
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
