@available(macOS 15, iOS 18, *)
extension Engine {
    /// Bytes read from one link in one turn. [DL10]
    static let readBudget = 128 * 1024
    /// Of that, what a link is read at least when many have more than they may: as many as share 256 KiB.
    static let readBudgetMin = 16 * 1024
    /// What is read from all links, behind which the system is asked who else can be read, and requests that wait are answered. [DL10]
    static let turnWorkMax = 64 * 1024
    /// What a read and a frame count at least, in bytes. [DL10]
    static let readBytesMin = 1024
    static let frameBytes = 256
    /// What a new connection counts: to accept it takes six calls of the system. [DL10]
    static let acceptedBytes = 8 * 1024
    /// What an HTTP request, or a control frame of a WebSocket, counts besides.
    static let webActionBytes = 12 * 1024
    /// Bytes read from any, behind which what they have led to is written, tick or not: with those of one more turn they are fewer than
    /// the packets that may wait for a reader, so that one who keeps up loses none to a burst. [DL10, DL4]
    static let unflushedMax = 64 * 1024
    /// Connections on their way to a space: each may have sent a read's worth. [SE16]
    static let arrivalsMax = 128
    static let vectorsPerWrite = 64
    /// How long a peer that has received all that the relay has for it gets to close. Before that, the hub's `farewellLinger` counts.
    static let farewellMilliseconds = 500
    /// A turn may read a little more than 64 KiB. With a smaller bound it would cost each reader two writes.
    static let bytesPerWrite = 256 * 1024
    /// Of one message of a WebSocket, or one larger frame. [WS7]
    static let bytesPerMessage = 64 * 1024
}
