/// Which sequences of a flow have been accounted for, as ranges: they come nearly in order, so there are few.
struct SequenceSet: Sendable, Equatable {
    /// Ascending, apart from each other by at least one.
    private var ranges: [ClosedRange<UInt64>] = []

    var count: Int { ranges.reduce(0) { $0 + Int($1.upperBound - $1.lowerBound) + 1 } }

    /// - Returns: whether none of them was in it before.
    mutating func insert(_ first: UInt32, _ last: UInt32) -> Bool {
        precondition(first <= last, "a range runs upwards")
        var new = UInt64(first)...UInt64(last)
        // The first range that ends at or after the place before the new one, and those that touch it.
        var start = ranges.count
        while start > 0, ranges[start - 1].upperBound + 1 >= new.lowerBound { start -= 1 }
        var end = start
        var isNew = true
        while end < ranges.count, ranges[end].lowerBound <= new.upperBound + 1 {
            if ranges[end].overlaps(new) { isNew = false }
            new = min(new.lowerBound, ranges[end].lowerBound)...max(new.upperBound, ranges[end].upperBound)
            end += 1
        }
        ranges.replaceSubrange(start..<end, with: [new])
        return isNew
    }
}
