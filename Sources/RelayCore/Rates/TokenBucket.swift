import RelayPrimitives

/// A token bucket in exact integers: at `rate` per second for ever, and `capacity` at one instant. [RT1]
///
/// Tokens are counted in units of 1/10⁹, so that one nanosecond is worth exactly `rate` units and nothing is rounded.
struct TokenBucket {
    private var spent: UInt64 = 0
    private var last = Instant(nanoseconds: 0)
    private var abuse = AbuseMeter()

    private static let one: UInt64 = 1_000_000_000

    /// Takes one token.
    ///
    /// - Returns: `nil` when there was one, else the nanoseconds until there is one.
    mutating func take(rate: Int, capacity: Int, at now: Instant) -> UInt64? {
        drain(rate: rate, at: now)
        let full = UInt64(capacity) * Self.one
        guard spent + Self.one <= full else {
            let missing = spent + Self.one - full
            return (missing + UInt64(rate) - 1) / UInt64(rate)
        }
        spent += Self.one
        return nil
    }

    /// How many could be taken now.
    mutating func tokens(rate: Int, capacity: Int, at now: Instant) -> UInt64 {
        drain(rate: rate, at: now)
        let full = UInt64(capacity) * Self.one
        return spent >= full ? 0 : (full - spent) / Self.one
    }

    /// Rounded up.
    mutating func nanosecondsUntilFull(rate: Int, at now: Instant) -> UInt64 {
        drain(rate: rate, at: now)
        return (spent + UInt64(rate) - 1) / UInt64(rate)
    }

    /// Whether it is as good as new.
    mutating func isFull(rate: Int, at now: Instant) -> Bool {
        drain(rate: rate, at: now)
        return spent == 0
    }

    /// Counts an attempt, allowed or not.
    ///
    /// - Returns: whether the sender has kept `factor` times the rate for `seconds` in a row. [RT5]
    mutating func isAbuse(rate: Int, factor: Int, seconds: Int, at now: Instant) -> Bool {
        abuse.count(limit: rate * factor, at: now) >= seconds
    }

    private mutating func drain(rate: Int, at now: Instant) {
        guard now > last else { return }
        let (gained, overflow) = (now.nanoseconds - last.nanoseconds).multipliedReportingOverflow(by: UInt64(rate))
        spent = overflow || gained >= spent ? 0 : spent - gained
        last = now
    }
}

/// Seconds in a row in each of which there were at least `limit` attempts.
private struct AbuseMeter {
    private var second: UInt64 = 0
    private var attempts = 0
    private var streak = 0

    mutating func count(limit: Int, at now: Instant) -> Int {
        let current = now.nanoseconds / 1_000_000_000
        if current != second {
            if current != second + 1 || attempts < limit { streak = 0 }
            second = current
            attempts = 0
        }
        attempts += 1
        if attempts == limit { streak += 1 }
        return streak
    }
}
