import RelayWire

/// Records of a board, many at a time: while a channel catches up from the beginning or after a reset, and those of a batch.
///
/// Each is a message like any other, with the same place in the order; they come together so that an app can draw
/// thousands at once. While a board is read there are at most 256, and no more once their payloads have 512 KiB. Of a batch that
/// comes later there are all: draw them as one.
public struct BoardBatch: Equatable, Sendable {
    /// The channel's name.
    public var channel: String
    /// In the order of their offsets.
    public var messages: [Message]
    /// How much of what is kept has come, by offsets: 0…1. `caughtUp` tells the end.
    public var progress: Double

    package init(channel: String, messages: [Message], progress: Double = 1) {
        (self.channel, self.messages, self.progress) = (channel, messages, progress)
    }
}

/// All records of a board were removed.
public struct BoardCleared: Equatable, Sendable {
    /// The channel's name.
    public var channel: String
    /// Its place among the channel's messages: records below it are gone.
    public var offset: UInt64
    /// Id of the user who cleared it.
    public var user: String
    /// The relay's wall clock, in milliseconds since 1970.
    package var wallMilliseconds: UInt64

    package init(channel: String, offset: UInt64, user: String, wallMilliseconds: UInt64) {
        (self.channel, self.offset, self.user, self.wallMilliseconds) = (channel, offset, user, wallMilliseconds)
    }
}

/// What `clear` or `undoClear` did, durably.
public struct BoardClearing: Equatable, Sendable {
    /// Its place among the channel's messages.
    public var offset: UInt64
    /// Records that the `clear` took away, however many come back.
    public var records: UInt64

    package init(offset: UInt64, records: UInt64) { (self.offset, self.records) = (offset, records) }
}
