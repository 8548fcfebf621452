import RelayWire

/// A channel of either kind. [CH1]
struct Channel {
    var id: ChannelID?
    var generation: UInt32 = 0
    var handle: UInt32 = 0
    var room: Int32 = -1
    /// Everybody inside, seen or not.
    var inside: Set<Int32> = []
    /// Sessions that get messages.
    var messageReceivers: [Int32] = []
    /// Sessions that get presence events.
    var presenceReceivers: [Int32] = []
    /// Sessions inside a stream channel, for `topics` events.
    var topicReceivers: [Int32] = []
    /// Sessions that get metadata events, and events about locks.
    var metadataReceivers: [Int32] = []
    var lockReceivers: [Int32] = []
    /// Its metadata, or -1.
    var metadata: Int32 = -1
    var locks: [Name: Int32] = [:]
    var presence = PresenceBook()

    // Message channels.
    var epoch = Epoch(start: 0, incarnation: 0)
    /// Offset of the newest message. [CH5]
    var head: UInt64 = 0
    var history = MessageHistory()
    /// What it keeps for good, or -1.
    var board: Int32 = -1
    /// Offset of the newest message that the board does not keep.
    var lastUnretained: UInt64 = 0
    /// Publishers named since a receiver last came in. [MS5]
    var named: Set<UInt32> = []
    var lastUsed = Instant(nanoseconds: 0)
    /// Whether a look at whether it can end is due some time.
    var endIsSet = false

    // Stream channels: flow indexes by topic, in the order they were opened.
    var topics: [Name: [Int32]] = [:]
}

extension [Int32] {
    /// Takes out one element if it is there; order is kept.
    mutating func removeFirst(of element: Int32) {
        if let index = firstIndex(of: element) { remove(at: index) }
    }

    mutating func insertOnce(_ element: Int32) {
        if !contains(element) { append(element) }
    }
}
