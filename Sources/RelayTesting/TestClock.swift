import RelayPrimitives

/// The time of a `TestRelay`, for the sleeps of the app that is tested. It stands still but for `TestRelay.advance(by:)`.
public struct TestClock: Clock {
    let world: World

    /// A moment of a `TestRelay`.
    public struct Instant: InstantProtocol {
        /// Since the relay was made.
        public let offset: Duration

        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    /// The test's time.
    public var now: Instant { Instant(offset: world.now - World.beginning) }
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Tasks that sleep on the clocks of this relay; one that was just begun may not be among them: wait with `until`.
    public var sleepers: Int { world.sleeperCount }

    /// Returns when the test has moved the time there.
    ///
    /// - Throws: `CancellationError`.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await world.sleep(until: World.beginning + deadline.offset)
    }
}
