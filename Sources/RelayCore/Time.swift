import RelayPrimitives

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
