/// The records of a board, by key.
///
/// A copy shares its storage with the original: a change copies one group of some 32 records, however many there are.
public struct BoardRecords: Sendable {
    private final class Group: @unchecked Sendable {
        // Safe: it is changed only while one value alone refers to it.
        var records: [String: BoardRecord]
        init(_ records: [String: BoardRecord]) { self.records = records }
    }

    private static let groupSize = 32

    private var groups = [Group([:])]
    /// How many there are.
    public private(set) var count = 0
    /// Records that changes have copied, for a test to count.
    package private(set) var copied = 0

    /// None.
    public init() {}

    /// As a test or a preview makes them: by key, the last of each.
    public init(_ records: [BoardRecord]) {
        for record in records { set(record.key, record) }
    }

    /// The record of a key.
    public subscript(key: String) -> BoardRecord? { groups[group(key)].records[key] }

    /// Whether there is none.
    public var isEmpty: Bool { count == 0 }

    /// All keys, in no order.
    public var keys: Set<String> { Set(groups.flatMap(\.records.keys)) }

    /// In the relay's order, the oldest first; own ones that are on their way come last. It sorts at each call.
    public var inOrder: [BoardRecord] {
        groups.flatMap(\.records.values).sorted { ($0.offset ?? .max, $0.key) < ($1.offset ?? .max, $1.key) }
    }

    private func group(_ key: String) -> Int { key.hashValue & (groups.count - 1) }

    mutating func set(_ key: String, _ record: BoardRecord?) {
        let at = group(key)
        let before = groups[at].records[key] != nil
        guard before || record != nil else { return }
        if !isKnownUniquelyReferenced(&groups[at]) {
            copied += groups[at].records.count
            groups[at] = Group(groups[at].records)
        }
        groups[at].records[key] = record
        count += (record == nil ? 0 : 1) - (before ? 1 : 0)
        if count > groups.count * Self.groupSize { grow() }
    }

    private mutating func grow() {
        let all = groups.map(\.records)
        copied += count
        groups = (0..<groups.count * 2).map { _ in Group([:]) }
        for records in all { for (key, record) in records { groups[group(key)].records[key] = record } }
    }
}

extension BoardRecords: Equatable {
    public static func == (left: BoardRecords, right: BoardRecords) -> Bool {
        left.count == right.count && left.groups.allSatisfy { group in group.records.allSatisfy { right[$0.key] == $0.value } }
    }
}

extension BoardRecords: Sequence {
    /// In no order.
    public func makeIterator() -> AnyIterator<BoardRecord> { AnyIterator(groups.lazy.flatMap(\.records.values).makeIterator()) }
}
