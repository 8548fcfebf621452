/// A log in memory, for tests and simulations. It forgets with its process.
///
/// Faults are whoever has it: they lose calls and answers, answer from a `MemoryLog` copied earlier, as a leader does that was replaced, or
/// make it `forget`.
package struct MemoryLog: Sendable {
    package private(set) var entries: [(position: UInt64, bytes: [UInt8])] = []
    package private(set) var end: UInt64 = 0
    private var taken: [SpaceLog.AppendID: UInt64] = [:]

    package init() {}

    package mutating func append(_ bytes: [UInt8], after: UInt64, id: SpaceLog.AppendID) -> SpaceLog.Appended {
        if let position = taken[id] { return .taken(at: position) }
        guard after == end else { return .wrong(end: end) }
        end += 1
        entries.append((end, bytes))
        taken[id] = end
        return .taken(at: end)
    }

    package func entries(from position: UInt64) -> ArraySlice<(position: UInt64, bytes: [UInt8])> {
        entries[(entries.firstIndex { $0.position >= position } ?? entries.endIndex)...]
    }

    package mutating func trim(below position: UInt64) { entries.removeAll { $0.position < position } }

    /// Loses what it has taken behind this position.
    package mutating func forget(after position: UInt64) {
        entries.removeAll { $0.position > position }
        taken = taken.filter { $0.value <= position }
        end = min(end, position)
    }
}
