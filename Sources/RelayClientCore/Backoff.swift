import RelayPrimitives

/// How long to stay away after the link ended: at once the first time, then a random time up to a bound that
/// doubles. "Full jitter" spreads the clients of a relay that restarts over the whole bound.
struct Backoff: Sendable {
    private let base: Duration
    private let cap: Duration
    /// Ends since the link was last known to be good.
    private(set) var failures = 0

    init(base: Duration, cap: Duration) {
        self.base = base
        self.cap = cap
    }

    mutating func next(_ dice: inout SplitMix64) -> Duration {
        defer { failures += 1 }
        guard failures > 0 else { return .zero }
        return .nanoseconds(Int64(dice.below(UInt64(max(1, bound.nanoseconds)))))
    }

    /// The longest that `next` gives now.
    var bound: Duration {
        guard failures > 0 else { return .zero }
        // 2¹⁶ times any base is beyond any cap worth having.
        return min(cap, base * (1 << min(failures - 1, 16)))
    }

    mutating func reset() { failures = 0 }
}
