import RelayPrimitives

/// Paces the publishes of one channel, so that the relay never refuses one for its rate. [RT8]
///
/// The relay answers publishes in their order, and each answer has a credit: how many more it takes behind that one. What is
/// unanswered now was sent behind it, so fewer unanswered than the credit is never too many. No clock and no jitter of the network has a
/// part in it.
struct CreditWindow: Sendable {
    private(set) var unanswered = 0
    /// What the relay said last.
    var credit: Int
    private var answeredAt = Instant(nanoseconds: 0)

    /// So long after its last answer a channel has its whole credit.
    static let span = Duration.milliseconds(1_010)

    /// - Parameter limit: messages a second, which is the credit of a channel that was not used.
    init(limit: Int) { credit = limit }

    /// Whether it is as good as new.
    func isIdle(at now: Instant) -> Bool { unanswered == 0 && answeredAt + Self.span <= now }

    /// - Parameter kept: stays for others.
    func grants(keeping kept: Int = 0) -> Bool { unanswered + kept < credit }

    mutating func sent() { unanswered += 1 }

    /// - Parameter credit: `nil`: it is what it was.
    mutating func answered(credit: Int?, at now: Instant) {
        unanswered -= 1
        answeredAt = now
        if let credit { self.credit = credit }
    }
}

/// A channel in which the relay has refused a publish: what was sent behind it is refused, too, and is sent again. [MS10]
struct StoppedChannel: Sendable {
    /// Of the publish that was refused.
    let number: UInt64
    /// Those behind it, in their order.
    var again: [OutgoingMessage] = []
}
