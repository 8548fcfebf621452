/// The account of a load: of everything that was sent and not refused, each reader who was to get it got it, once, or was
/// told that it will not come. What is neither is an unreported loss, which a relay never has.
package struct Tally: Sendable {
    let readers: Int
    let sources: Int
    /// By reader and source, whether the one is to get what the other sends.
    private let expects: [Bool]
    /// The number of the last one that came or was reported, of each reader and source.
    private var last: [UInt32]
    /// Numbers that were passed over, where there are any.
    private var passed: [Int: Gaps] = [:]
    private var sentBySource: [UInt64]
    private var refusedBySource: [UInt64]
    private var deliveredByReader: [UInt64]
    private var reportedByReader: [UInt64]

    /// Deliveries of what had come before, or been reported as lost.
    package private(set) var duplicates: UInt64 = 0
    /// Deliveries behind one that was sent later by the same source.
    package private(set) var reorders: UInt64 = 0
    /// Deliveries of what nobody sent, or not to this reader.
    package private(set) var strangers: UInt64 = 0
    package private(set) var sent: UInt64 = 0
    /// All deliveries but duplicates and strangers.
    package private(set) var delivered: UInt64 = 0

    /// - Parameter expects: whether a reader (first) is to get what a source (second) sends.
    init(readers: Int, sources: Int, expects: (Int, Int) -> Bool) {
        self.readers = readers
        self.sources = sources
        self.expects = (0..<readers * sources).map { expects($0 / max(1, sources), $0 % max(1, sources)) }
        last = Array(repeating: 0, count: readers * sources)
        sentBySource = Array(repeating: 0, count: sources)
        refusedBySource = Array(repeating: 0, count: sources)
        deliveredByReader = Array(repeating: 0, count: readers)
        reportedByReader = Array(repeating: 0, count: readers)
    }

    // MARK: - What happens

    /// - Returns: its number, from 1.
    @inline(__always)
    mutating func send(_ source: Int) -> UInt32 {
        sent += 1
        sentBySource[source] += 1
        return UInt32(truncatingIfNeeded: sentBySource[source])
    }

    /// The relay took so many of a source's for nobody, and said so.
    mutating func refused(_ count: UInt64 = 1, of source: Int) { refusedBySource[source] += count }

    /// - Returns: whether it counts: it was sent to this reader, and came for the first time.
    @inline(__always)
    mutating func deliver(_ number: UInt32, of source: Int, to reader: Int) -> Bool {
        guard source >= 0, source < sources, number > 0, UInt64(number) <= sentBySource[source] else { return strange() }
        let pair = reader * sources + source
        guard expects[pair] else { return strange() }
        guard number == last[pair] &+ 1 else { return deliverOutOfTurn(number, pair, reader) }
        last[pair] = number
        deliveredByReader[reader] += 1
        delivered += 1
        return true
    }

    private mutating func strange() -> Bool {
        strangers += 1
        return false
    }

    private mutating func deliverOutOfTurn(_ number: UInt32, _ pair: Int, _ reader: Int) -> Bool {
        if number > last[pair] {
            passed[pair, default: Gaps()].add(last[pair] + 1, number - 1)
            last[pair] = number
        } else {
            guard passed[pair]?.remove(number, number) == 1 else {
                duplicates += 1
                return false
            }
            reorders += 1
        }
        deliveredByReader[reader] += 1
        delivered += 1
        return true
    }

    /// The relay told a reader that these of a source will not come. Those that came already are not counted.
    mutating func report(_ first: UInt32, _ last: UInt32, of source: Int, to reader: Int) {
        let pair = reader * sources + source
        guard first <= last, last > 0 else { return }
        let known = self.last[pair]
        if first <= known { reportedByReader[reader] += UInt64(passed[pair]?.remove(first, min(last, known)) ?? 0) }
        guard last > known else { return }
        if first > known + 1 { passed[pair, default: Gaps()].add(known + 1, first - 1) }
        reportedByReader[reader] += UInt64(last - max(first, known + 1)) + 1
        self.last[pair] = last
    }

    /// The same where it said how many, and not whose.
    mutating func report(_ count: UInt64, to reader: Int) { reportedByReader[reader] += count }

    // MARK: - The account

    package var refused: UInt64 { refusedBySource.reduce(0, +) }
    package var expected: UInt64 { (0..<readers).reduce(0) { $0 + expected(by: $1) } }
    package var reported: UInt64 { reportedByReader.reduce(0, +) }
    package func reported(to reader: Int) -> UInt64 { reportedByReader[reader] }
    package func delivered(to reader: Int) -> UInt64 { deliveredByReader[reader] }

    package func expected(by reader: Int) -> UInt64 {
        (0..<sources).reduce(0) { sum, source in
            guard expects[reader * sources + source] else { return sum }
            return sum + sentBySource[source] - min(refusedBySource[source], sentBySource[source])
        }
    }

    /// Neither delivered nor reported to this reader: lost, if it has not come at the end.
    package func unreported(by reader: Int) -> UInt64 {
        let expected = expected(by: reader), settled = deliveredByReader[reader] + reportedByReader[reader]
        return expected > settled ? expected - settled : 0
    }

    var unreported: UInt64 { (0..<readers).reduce(0) { $0 + unreported(by: $1) } }

    /// Whether nothing is still to come.
    var isSettled: Bool { (0..<readers).allSatisfy { unreported(by: $0) == 0 } }
}

/// Ranges of numbers, ascending and apart.
private struct Gaps: Sendable {
    private var ranges: [ClosedRange<UInt32>] = []

    /// Numbers above all that are in it.
    mutating func add(_ first: UInt32, _ last: UInt32) { ranges.append(first...last) }

    /// - Returns: how many of these were in it.
    mutating func remove(_ first: UInt32, _ last: UInt32) -> Int {
        var removed = 0
        var left: [ClosedRange<UInt32>] = []
        left.reserveCapacity(ranges.count + 1)
        for range in ranges {
            guard range.overlaps(first...last) else {
                left.append(range)
                continue
            }
            let cut = range.clamped(to: first...last)
            removed += Int(cut.upperBound - cut.lowerBound) + 1
            if range.lowerBound < cut.lowerBound { left.append(range.lowerBound...(cut.lowerBound - 1)) }
            if cut.upperBound < range.upperBound { left.append((cut.upperBound + 1)...range.upperBound) }
        }
        ranges = left
        return removed
    }
}
