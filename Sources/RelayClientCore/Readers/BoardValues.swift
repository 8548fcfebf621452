import RelayWire

// What readers of a board get, and where they begin.

/// Where a channel is opened.
public enum ChannelStart: Sendable, Equatable {
    /// With the records and messages that the relay keeps: they come first, without a hole or a duplicate to what is sent then.
    case board
    /// With what is sent from now on.
    case now
    /// Behind a place in the channel, as an event told it.
    case position(ChannelPosition)

    package var since: Since? {
        switch self {
        case .board: .beginning
        case .now: nil
        case .position(let position): .position(position)
        }
    }
}

/// What a board keeps under a key.
public struct BoardRecord: Equatable, Sendable {
    /// 1…64 bytes of ASCII.
    public var key: String
    /// What its author wrote. `nil` only in `BoardChange.records`: the record was removed.
    public var payload: Payload?
    /// The author's own word for what this is, at most 32 bytes.
    public var customType: String?
    /// Id of the user who wrote it, or who removed it.
    public var author: String
    /// Its place in the relay's order; `nil` of an own one that is on its way.
    public var offset: UInt64?
    /// The relay's wall clock at acceptance, in milliseconds since 1970.
    package var wallMilliseconds: UInt64?
    /// One's own, and not stored yet.
    public var isPending = false

    package init(
        key: String, payload: Payload?, customType: String? = nil, author: String, offset: UInt64? = nil, wallMilliseconds: UInt64?,
        isPending: Bool = false
    ) {
        (self.key, self.payload, self.customType, self.author) = (key, payload, customType, author)
        (self.offset, self.wallMilliseconds, self.isPending) = (offset, wallMilliseconds, isPending)
    }
}

/// A change of a board, in the relay's order.
public enum BoardChange: Equatable, Sendable {
    /// Records were written or removed: one, those of one batch, or up to 256 while the board is read, with its progress (0…1). Of
    /// own ones, which come once they are stored, `receipt` is the `id` of their receipt.
    case records([BoardRecord], progress: Double? = nil, receipt: UInt64? = nil)
    /// All records were removed.
    case cleared(BoardCleared)
    /// Records with these offsets will not come, as far as there are any.
    case missed(ClosedRange<UInt64>)
    /// What was known of the board is void; it is read anew.
    case reset
    /// All that the relay keeps has come.
    case caughtUp
}

/// A board as it is shown at one moment.
public struct BoardPicture: Equatable, Sendable {
    /// By key; own ones on top, which are pending until they are stored or refused. It shares its storage with the client's.
    public var records: BoardRecords
    /// Keys whose records have changed, come or gone since this reader's picture before; in the first one all.
    public var changed: Set<String>
    /// How much of the board has been read, 0…1; `nil` when it is not being read.
    public var progress: Double?
    /// Whether all that the relay keeps is among the records.
    public var isComplete: Bool

    package init(records: BoardRecords, changed: Set<String>? = nil, progress: Double? = nil, isComplete: Bool = true) {
        (self.records, self.changed, self.progress, self.isComplete) = (records, changed ?? records.keys, progress, isComplete)
    }
}

/// A set of metadata as it was at one moment.
public struct MetadataContents: Equatable, Sendable {
    /// By key.
    public var items: [String: MetadataItem]
    /// Counts the changes of the set; 0 of one that was never written.
    public var majorRevision: UInt64

    /// The items in order of key.
    package var inOrder: [MetadataItem] { items.values.sorted { $0.key < $1.key } }

    package init(items: [String: MetadataItem] = [:], majorRevision: UInt64 = 0) {
        (self.items, self.majorRevision) = (items, majorRevision)
    }
}
