import RelayPrimitives
import RelayWire

/// The metadata of one channel or user as the hub holds it.
struct MetadataBook {
    var owner: MetadataOwner?
    var generation: UInt32 = 0
    /// With every change that was accepted; conditions and limits are judged by it.
    var applied = MetadataSet()
    /// What is durable, and all that anybody is shown. [SG1]
    var revealed = MetadataSet()
    /// Changes between the two.
    var unrevealed = 0
    /// Sessions that subscribed to a user's metadata; a channel has its own list.
    var receivers: [Session.Index] = []
    var lastWritten = Instant(nanoseconds: 0)
    /// Whether a `metadataEnd` deadline is set.
    var endIsSet = false

    /// Nothing in it, and nobody looks.
    var isUnused: Bool { applied.majorRevision == 0 && revealed.majorRevision == 0 && unrevealed == 0 && receivers.isEmpty }
}

/// The metadata of all channels and users.
struct MetadataShelf {
    private var books = Shelf<MetadataBook, MetadataOwner>(vacant: MetadataBook())
    /// How many of them are of users.
    private(set) var users = 0

    var count: Int { books.count }
    var indices: some Sequence<MetadataBook.Index> { books.indices }

    @inline(__always)
    subscript(index: MetadataBook.Index) -> MetadataBook {
        _read { yield books[index] }
        _modify { yield &books[index] }
    }

    subscript(of owner: MetadataOwner) -> MetadataBook.Index? { books[named: owner] }

    mutating func insert(_ owner: MetadataOwner, generation: UInt32) -> MetadataBook.Index {
        if case .user = owner { users += 1 }
        return books.insert(MetadataBook(owner: owner, generation: generation), named: owner)
    }

    mutating func remove(_ index: MetadataBook.Index) {
        let owner = books[index].owner!
        if case .user = owner { users -= 1 }
        books.remove(index, named: owner)
    }
}
