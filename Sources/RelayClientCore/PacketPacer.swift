import RelayPrimitives

/// Paces the packets of one topic, which nobody answers: the relay's rate, but half of its bucket.
///
/// The relay's bucket holds one second's worth. Whatever this one lets through in w seconds is at most
/// rate · w + rate / 2; the other half is there for a network that holds packets back and then lets them go
/// together, for up to half a second.
struct PacketPacer: Sendable {
    /// Tokens in units of a billionth, so that a nanosecond at `rate` per second adds exactly `rate`.
    private var credit: UInt64
    private var filledAt: Instant
    private var rate: UInt64

    private static let token: UInt64 = 1_000_000_000
    /// Keeps `rate * token` within 64 bits.
    static let rateMax = 1_000_000_000

    init(rate: Int, at now: Instant) {
        self.rate = UInt64(min(max(rate, 1), Self.rateMax))
        filledAt = now
        credit = 0
        credit = capacity
    }

    private var capacity: UInt64 { max(1, rate / 2) * Self.token }

    mutating func setRate(_ newRate: Int, at now: Instant) {
        let newRate = UInt64(min(max(newRate, 1), Self.rateMax))
        guard newRate != rate else { return }
        refill(at: now)
        rate = newRate
        credit = min(credit, capacity)
    }

    /// Takes a token, or says when there will be one.
    mutating func take(at now: Instant) -> Instant? {
        refill(at: now)
        guard credit < Self.token else {
            credit -= Self.token
            return nil
        }
        let missing = Self.token - credit
        return now + .nanoseconds(Int64((missing + rate - 1) / rate))
    }

    mutating func isFull(at now: Instant) -> Bool {
        refill(at: now)
        return credit == capacity
    }

    private mutating func refill(at now: Instant) {
        guard now > filledAt else { return }
        let elapsed = now.nanoseconds - filledAt.nanoseconds
        filledAt = now
        // Longer than this fills it whatever was in it, and the product below stays within 64 bits.
        guard elapsed < capacity / rate + 1 else {
            credit = capacity
            return
        }
        credit = min(capacity, credit + elapsed * rate)
    }
}
