import RelayPrimitives
import RelayWire

/// A channel of either kind. [CH1]
struct Channel {
    var id: ChannelID?
    var generation: UInt32 = 0
    var handle: UInt32 = 0
    @Placed var room: Room.Index
    /// Address of the user who made the channel; `nil`: it was stored, or the relay made it.
    var address: AddressKey?
    /// Everybody inside, seen or not.
    var inside: Set<Session.Index> = []
    /// Sessions that get messages.
    var messageReceivers: [Session.Index] = []
    /// Sessions that get presence events.
    var presenceReceivers: [Session.Index] = []
    /// Sessions inside a stream channel, for `topics` events.
    var topicReceivers: [Session.Index] = []
    /// Sessions that get metadata events, and events about locks.
    var metadataReceivers: [Session.Index] = []
    var lockReceivers: [Session.Index] = []
    /// Its metadata, if it has any.
    @Packed var metadata: MetadataBook.Index?
    var locks = [Name: Lock.Index]()
    var presence = PresenceBook()

    // Message channels.
    var epoch = Epoch(start: 0, incarnation: 0)
    /// Offset of the newest message. [CH5]
    var head: UInt64 = 0
    var history = MessageHistory()
    /// What it keeps for good, if it does.
    @Packed var board: ShelvedBoard.Index?
    /// Offset of the newest message that the board does not keep.
    var lastUnretained: UInt64 = 0
    /// Publishers named since a receiver last came in. [MS5]
    var named: Set<UInt32> = []
    var lastUsed = Instant(nanoseconds: 0)
    /// Whether a `channelEnd` deadline is set.
    var endIsSet = false

    // Stream channels: flow indexes by topic, in the order they were opened.
    var topics = [Name: [Flow.Index]]()
    /// Entries of publishers in the snapshot of topics. [ST2]
    var publisherBytes = MemoryAccount(max: 0)
    /// Of devices inside. [ST2]
    var places: Places?
}

extension Array where Element: Equatable {
    /// Takes out one element if it is there; order is kept.
    mutating func removeFirst(of element: Element) {
        if let index = firstIndex(of: element) { remove(at: index) }
    }

    mutating func insertOnce(_ element: Element) {
        if !contains(element) { append(element) }
    }
}

/// One name, of up to two channels that share a feed: what they deliver stands in one order.
struct Room {
    var name: Name?
    @Placed var feed: Feed.Index
    @Packed var messageChannel: Channel.Index?
    @Packed var streamChannel: Channel.Index?
    /// Who catches up in its message channel: packets are not for them now. [HI5]
    var catchUps: [CatchUp.Index] = []
}

extension Hub {
    /// The room of a name. A name without one gets one.
    mutating func roomFor(_ name: Name) -> Room.Index {
        if let known = rooms[named: name] { return known }
        return rooms.insert(Room(name: name, feed: Placed(outbox.openFeed())), named: name)
    }

    /// A room goes with its last channel.
    mutating func removeRoomIfUnused(_ room: Room.Index) {
        guard rooms[room].messageChannel == nil, rooms[room].streamChannel == nil else { return }
        outbox.end(rooms[room].feed)
        rooms.remove(room, named: rooms[room].name!)
    }
}
