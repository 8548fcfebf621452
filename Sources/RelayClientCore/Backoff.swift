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

    mutating func next(_ dice: inout Dice) -> Duration {
        defer { failures += 1 }
        guard failures > 0 else { return .zero }
        return .nanoseconds(Int64(dice.below(UInt64(max(1, bound.wholeNanoseconds)))))
    }

    /// The longest that `next` gives now.
    var bound: Duration {
        guard failures > 0 else { return .zero }
        // 2¹⁶ times any base is beyond any cap worth having.
        return min(cap, base * (1 << min(failures - 1, 16)))
    }

    mutating func reset() { failures = 0 }
}

/// A seeded generator (SplitMix64) for jitter: the same seed, the same pauses. Never for secrets.
struct Dice: Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number in 0..<bound, each as likely as the next (to within bound / 2⁶⁴).
    mutating func below(_ bound: UInt64) -> UInt64 { next().multipliedFullWidth(by: bound).high }
}
