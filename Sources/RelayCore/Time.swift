/// A moment on the monotonic clock, in nanoseconds. Only differences mean anything.
package struct Instant: Hashable, Comparable, Sendable {
    package var nanoseconds: UInt64

    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    package static func + (left: Instant, right: Duration) -> Instant {
        Instant(nanoseconds: left.nanoseconds &+ UInt64(clamping: right.nanoseconds))
    }

    /// Zero if `right` is later.
    package static func - (left: Instant, right: Instant) -> Duration {
        .nanoseconds(left.nanoseconds >= right.nanoseconds ? Int64(clamping: left.nanoseconds - right.nanoseconds) : 0)
    }
}

/// The time of an event: the monotonic clock for everything that is decided, the wall clock (milliseconds since
/// 1970) only for what is shown to people.
package struct Now: Hashable, Sendable {
    package var instant: Instant
    package var wallMilliseconds: UInt64

    package init(instant: Instant, wallMilliseconds: UInt64) {
        self.instant = instant
        self.wallMilliseconds = wallMilliseconds
    }
}

extension Duration {
    /// Whole nanoseconds, cut at the ends of `Int64` (292 years).
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? (seconds < 0 ? .min : .max) : product &+ attoseconds / 1_000_000_000
    }

    package var milliseconds: Int64 { nanoseconds / 1_000_000 }
}
