/// How often each value came, with an error of at most 1/128 in a size that never grows.
///
/// Buckets are log-linear: values below 256 have one each, every power of two above has 128.
package struct Histogram: Sendable {
    private var buckets = [UInt64](repeating: 0, count: Self.bucketsPerOctave * 58)
    package private(set) var count: UInt64 = 0
    /// Exact.
    private(set) var max: UInt64 = 0

    private static let bucketsPerOctave = 128

    @inline(__always)
    mutating func add(_ value: UInt64) {
        buckets[Self.index(of: value)] += 1
        count += 1
        if value > max { max = value }
    }

    mutating func add(_ other: Histogram) {
        for index in buckets.indices { buckets[index] += other.buckets[index] }
        count += other.count
        max = Swift.max(max, other.max)
    }

    /// Nearest rank: the smallest value that `percent` of all do not exceed, or at most 1/128 above it.
    ///
    /// - Parameter percent: 0…100.
    /// - Returns: `nil` while it is empty.
    package func percentile(_ percent: Double) -> UInt64? {
        guard count > 0 else { return nil }
        let rank = Swift.max(1, Swift.min(count, UInt64((percent / 100 * Double(count)).rounded(.up))))
        var seen: UInt64 = 0
        for (index, number) in buckets.enumerated() {
            seen += number
            if seen >= rank { return Swift.min(Self.greatest(in: index), max) }
        }
        return max
    }

    @inline(__always)
    private static func index(of value: UInt64) -> Int {
        let shift = Swift.max(0, 56 - value.leadingZeroBitCount)
        return shift * bucketsPerOctave + Int(value >> UInt64(shift))
    }

    private static func greatest(in index: Int) -> UInt64 {
        guard index >= 2 * bucketsPerOctave else { return UInt64(index) }
        let shift = index / bucketsPerOctave - 1
        return (UInt64(index - shift * bucketsPerOctave + 1) &<< UInt64(shift)) &- 1
    }
}
