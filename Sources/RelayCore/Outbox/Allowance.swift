import RelayPrimitives

/// What may be taken: `rate` a second for ever, a quarter of a second's worth at one instant, and a second's worth on credit, which later
/// time repays. In exact integers, as `TokenBucket` has them: units are counted in 1/10⁹. [DL11]
struct Allowance {
    private let rate: UInt64
    private let capacity: UInt64
    private var spent: UInt64 = 0
    private var last: Instant

    private static let one: UInt64 = 1_000_000_000

    /// - Parameter most: what is taken at once at most: the capacity is no less.
    init(rate: Int, most: Int, at now: Instant) {
        self.rate = UInt64(rate)
        capacity = max(self.rate * (Self.one / 4), UInt64(most) * Self.one)
        last = now
    }

    mutating func refill(at now: Instant) {
        guard now > last else { return }
        let (gained, overflow) = (now.nanoseconds - last.nanoseconds).multipliedReportingOverflow(by: rate)
        spent = overflow || gained >= spent ? 0 : spent - gained
        last = now
    }

    func has(_ units: Int, onCredit: Bool = false) -> Bool {
        spent + UInt64(units) * Self.one <= capacity + (onCredit ? rate * Self.one : 0)
    }

    mutating func take(_ units: Int) { spent += UInt64(units) * Self.one }

    /// The nanoseconds until there are so many.
    func wait(for units: Int) -> UInt64 {
        let wanted = spent + UInt64(units) * Self.one
        return wanted <= capacity ? 0 : (wanted - capacity + rate - 1) / rate
    }
}
