/// What may be done on a channel. Each right has a word, by which tokens name it; `docs/security.md` has the table.
public struct Rights: OptionSet, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Receive what the channel carries: messages, its history and board, the packets of its topics, its metadata and locks.
    public static let subscribe = Self(rawValue: 1 << 0)
    /// See present users, be seen, and set one's own states.
    public static let presence = Self(rawValue: 1 << 1)
    /// Publish messages, retained ones too; replace and remove one's own records.
    public static let publish = Self(rawValue: 1 << 2)
    /// Publish packets in topics.
    public static let stream = Self(rawValue: 1 << 3)
    /// Change the channel's metadata.
    public static let metadata = Self(rawValue: 1 << 4)
    /// Set, acquire, release and remove locks.
    public static let lock = Self(rawValue: 1 << 5)
    /// Clear the board, undo that, remove it.
    public static let clear = Self(rawValue: 1 << 6)
    /// Send messages to one user; granted on `*` only.
    public static let direct = Self(rawValue: 1 << 7)
    /// Replace and remove others' records, with `publish`.
    public static let revise = Self(rawValue: 1 << 8)

    /// Every right there is.
    public static let all = Self(words.map(\.right))

    /// The rights with their words, in the order of `docs/security.md`.
    package static let words: [(word: String, right: Rights)] = [
        ("subscribe", .subscribe), ("presence", .presence), ("publish", .publish), ("stream", .stream),
        ("metadata", .metadata), ("lock", .lock), ("revise", .revise), ("clear", .clear), ("direct", .direct),
    ]

    /// The right that a word names; `nil`: the word names none.
    package init?(word: String) {
        // Bytes, because `==` on strings takes different characters for the same.
        guard let entry = Self.words.first(where: { $0.word.utf8.elementsEqual(word.utf8) }) else { return nil }
        self = entry.right
    }

    /// The words of the rights that are in here, in the order of the table.
    package var words: [String] { Self.words.filter { contains($0.right) }.map(\.word) }
}
