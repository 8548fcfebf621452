import RelayWire

/// One publisher's stay in one topic. [ST3, ST6]
struct Flow {
    var handle: UInt32 = 0
    @Placed var channel: Channel.Index
    var topic: Name?
    @Placed var session: Session.Index
    var meta = ""
    /// The topic's priority: of packets that wait for a slow reader, those of the lowest go first. [DL5]
    var rank: UInt8 = 0
    var lifetimeMilliseconds: UInt32 = 0
    /// Sequence of the last accepted packet.
    var sequence: UInt32 = 0
    /// Sessions that get its packets, its own publisher perhaps among them.
    var receivers: [Session.Index] = []
    /// Of those who came when there had been packets: the first sequence that is meant for them.
    var meantFrom: [Session.Index: UInt32] = [:]
    @Placed var bucket: TokenBucket.Index
    /// Packets over the rate: in all, and those told of. [RT4]
    var dropped: UInt64 = 0
    var droppedTold: UInt64 = 0
    /// Whether a notice was sent less than the interval ago.
    var noticeIsHeld = false
}
