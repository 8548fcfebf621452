/// A point on the monotonic clock, in nanoseconds. Only differences mean anything.
package struct Instant: Hashable, Comparable, Sendable {
    package var nanoseconds: UInt64

    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Stays at the end of time rather than wrapping.
    package static func + (left: Instant, right: Duration) -> Instant {
        let (sum, overflow) = left.nanoseconds.addingReportingOverflow(UInt64(clamping: right.nanoseconds))
        return Instant(nanoseconds: overflow ? .max : sum)
    }

    /// Zero if `right` is later.
    package static func - (left: Instant, right: Instant) -> Duration {
        .nanoseconds(left > right ? Int64(clamping: left.nanoseconds - right.nanoseconds) : 0)
    }

    /// The earlier of two optional moments.
    package static func earlier(_ left: Instant?, _ right: Instant?) -> Instant? {
        guard let left else { return right }
        guard let right else { return left }
        return min(left, right)
    }
}

extension Duration {
    /// Whole nanoseconds, cut at the ends of `Int64` (292 years).
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return sumOverflow ? (seconds < 0 ? .min : .max) : sum
    }

    package var milliseconds: Int64 { nanoseconds / 1_000_000 }
}
