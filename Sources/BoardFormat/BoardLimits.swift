/// Numbers that the board format fixes. `docs/board-format.md` has the same in its table; a test compares the two.
public enum BoardLimits {
    /// The version this library writes and the highest it reads.
    public static let version = 1
    /// Payload plus custom type of one message: what a message channel takes.
    public static let messageBytesMax = 32_768
    /// Payload plus custom type of one record of a board: what a relay takes in parts.
    public static let recordBytesMax = 8_388_608
    /// Payload of one packet: what a stream channel takes.
    public static let packetBytesMax = 1_024
    /// Deepest nesting of a payload, the outer object counted.
    public static let depthMax = 8
    /// Largest magnitude of any integer: what every JSON reader keeps exactly.
    public static let integerMax = (1 << 53) - 1

    /// Positions and shifts, in 1/100 px: 10,000,000 px either way.
    public static let coordinate = -1_000_000_000...1_000_000_000
    /// Time of a point since its stroke began, in ms: one day.
    public static let time = 0...86_400_000
    public static let pressure = 0...255
    /// Width of a line, in 1/100 px.
    public static let width = 1...100_000
    /// Height of a text's line, in 1/100 px.
    public static let textSize = 100...1_000_000
    /// Width at which a text wraps, and the sides of an image, in 1/100 px: 100,000 px.
    public static let side = 100...10_000_000
    /// Pixels of an image along either side of its file.
    public static let imagePixels = 1...2_048
    /// Bytes of an image's file: 1 MiB.
    public static let imageBytes = 1...1_048_576
    /// UTF-8 bytes of what an image is described with.
    public static let descriptionBytes = 1...1_024
    public static let z = -integerMax...integerMax
    /// Index of a point in its stroke.
    public static let pointIndex = 0...9_999_999
    /// Messages that one stroke may be drawn with: 8 MiB.
    public static let parts = 1...256

    /// Length of a record's key and custom type, in bytes: as the relay has it.
    public static let keyBytes = 1...64
    public static let customTypeBytes = 1...32

    /// Length of an id, in bytes.
    public static let idBytes = 1...64
    /// UTF-8 bytes of a text. Each may take six when it is escaped: then a text may be larger than a message.
    public static let textBytes = 1...16_384
    /// UTF-8 bytes of a title; an empty one takes the title away.
    public static let titleBytes = 0...256
    /// Ids in one `erase` or `move`.
    public static let ids = 1...400
}

/// Custom types of the messages that make a board, its topic of live points, its key of the title and its item of metadata.
public enum BoardWords {
    public static let stroke = "stroke", text = "text", image = "image", title = "title", erase = "erase", move = "move"
    /// Of everything that a board is made of.
    static let messages = [stroke, text, image, title, erase, move]
    public static let pointsTopic = "points"
    /// The record of the board's title; every other record's key is the id of its element.
    public static let titleKey = "title"
    /// The metadata item of the message channel that says what the board looks like behind its elements.
    public static let paperItem = "paper"
    static let papers = ["blank", "dotted", "squared", "ruled"]
}
