/// A moment on the monotonic clock, in nanoseconds. Only differences mean anything.
///
/// The relay's core has the same under the name `Instant`; neither module may see the other, and the simulation,
/// which sees both, must be able to tell them apart.
package struct Moment: Hashable, Comparable, Sendable {
    package var nanoseconds: UInt64

    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    package static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Stays at the end of time rather than wrapping.
    package static func + (left: Moment, right: Duration) -> Moment {
        let (sum, overflow) = left.nanoseconds.addingReportingOverflow(UInt64(clamping: right.wholeNanoseconds))
        return Moment(nanoseconds: overflow ? .max : sum)
    }

    /// Zero if `right` is later.
    package static func - (left: Moment, right: Moment) -> Duration {
        .nanoseconds(left > right ? Int64(clamping: left.nanoseconds - right.nanoseconds) : 0)
    }
}

extension Duration {
    /// Whole nanoseconds, cut at the ends of `Int64` (292 years).
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return sumOverflow ? (seconds < 0 ? .min : .max) : sum
    }

    var wholeMilliseconds: Int64 { wholeNanoseconds / 1_000_000 }
}

/// The earlier of two moments, either of which may not be set.
func earlier(_ left: Moment?, _ right: Moment?) -> Moment? {
    guard let left else { return right }
    guard let right else { return left }
    return min(left, right)
}
