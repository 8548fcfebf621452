import RelayWire

/// One name, of up to two channels that share a feed: what they deliver stands in one order.
struct Room {
    var name: Name?
    @Placed var feed: Feed.Index
    @Packed var messageChannel: Channel.Index?
    @Packed var streamChannel: Channel.Index?
    /// Sessions that catch up in its message channel: packets are not for them now. [HI5]
    var catchingUp = 0
}

extension Hub {
    /// The room of a name, made if there is none.
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
