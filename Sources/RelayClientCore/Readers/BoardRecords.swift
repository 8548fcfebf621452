/// The records of a board, by key.
///
/// A copy shares its storage with the original: a change copies one group of some 32 records, however many there are.
public struct BoardRecords: Sendable {
    private static let groupSize = 32

    /// By the hash of the key.
    private(set) var groups: [[String: BoardRecord]] = [[:]]
    /// How many there are.
    public private(set) var count = 0

    /// None.
    public init() {}

    /// As a test or a preview makes them: by key, the last of each.
    public init(_ records: [BoardRecord]) {
        for record in records { set(record.key, record) }
    }

    /// The record of a key.
    public subscript(key: String) -> BoardRecord? { groups[group(key)][key] }

    /// Whether there are no records.
    public var isEmpty: Bool { count == 0 }

    /// All keys, in no order.
    public var keys: Set<String> { Set(groups.flatMap(\.keys)) }

    /// In the relay's order, the oldest first; own ones that are on their way come last. It sorts at each call.
    public var inOrder: [BoardRecord] {
        groups.flatMap(\.values).sorted { ($0.offset ?? .max, $0.key) < ($1.offset ?? .max, $1.key) }
    }

    private func group(_ key: String) -> Int { key.hashValue & (groups.count - 1) }

    mutating func set(_ key: String, _ record: BoardRecord?) {
        let at = group(key)
        let before = groups[at].count
        groups[at][key] = record
        count += groups[at].count - before
        if count > groups.count * Self.groupSize { grow() }
    }

    private mutating func grow() {
        let all = groups
        groups = Array(repeating: [:], count: all.count * 2)
        for records in all { for (key, record) in records { groups[group(key)][key] = record } }
    }
}

extension BoardRecords: Equatable {
    public static func == (left: BoardRecords, right: BoardRecords) -> Bool {
        left.count == right.count && left.groups.allSatisfy { group in group.allSatisfy { right[$0.key] == $0.value } }
    }
}

extension BoardRecords: Sequence {
    /// In no order.
    public func makeIterator() -> AnyIterator<BoardRecord> { AnyIterator(groups.lazy.flatMap(\.values).makeIterator()) }
}
