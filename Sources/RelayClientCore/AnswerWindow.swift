import RelayPrimitives

/// Paces what is answered (messages, direct messages, requests), so that the relay never refuses one for its rate.
///
/// The rule: at most `limit` are unanswered or were answered less than `span` (a second and a bit) ago.
///
/// Why no jitter of the network can break it. The relay's bucket holds `limit` and refills `limit` a second. Let
/// a(i) be the time at which the relay accepts the i-th, and a(1) ≤ a(2) ≤ …, because one connection keeps the
/// order. When number k is sent, one of k − limit … k − 1, say j, was answered at least a second ago, so
///
///     a(k) ≥ sent(k) ≥ answered(j) + 1 s ≥ a(j) + 1 s ≥ a(k − limit) + 1 s.
///
/// Of any limit + 1 in a row the last is thus accepted at least a second after the first. A window of w seconds
/// holds at most limit · (⌊w⌋ + 1) ≤ limit + limit · w of them, and that is what such a bucket passes. The only
/// clocks in it are read on one machine each, and the bit over a second covers their drift.
///
/// What was unanswered when a link broke was accepted before the next login, or never; `linkRenewed` counts it as
/// answered then. The price is rate / (1 s + round trip) instead of rate, when somebody sends without a pause.
struct AnswerWindow: Sendable {
    /// 1 s and half a percent, for two clocks that run at different speeds and a bucket that rounds.
    static let span = Duration.milliseconds(1_005)

    private(set) var unanswered = 0
    private var answeredAt = FIFO<Instant>()

    /// Whether it is as good as new.
    mutating func isIdle(at now: Instant) -> Bool {
        forget(at: now)
        return unanswered == 0 && answeredAt.isEmpty
    }

    enum Permission: Equatable { case granted, wait(until: Instant), waitForAnswer }

    mutating func permission(limit: Int, at now: Instant) -> Permission {
        forget(at: now)
        guard unanswered + answeredAt.count >= limit else { return .granted }
        return answeredAt.first.map { .wait(until: $0 + Self.span) } ?? .waitForAnswer
    }

    private mutating func forget(at now: Instant) {
        while let first = answeredAt.first, first + Self.span <= now { _ = answeredAt.removeFirst() }
    }

    mutating func sent() { unanswered += 1 }

    mutating func answered(at now: Instant) {
        unanswered -= 1
        answeredAt.append(now)
    }

    /// A new session has begun, or the old one goes on over a new link: nothing of the old link is accepted from here on.
    mutating func linkRenewed(at now: Instant) {
        for _ in 0..<unanswered { answeredAt.append(now) }
        unanswered = 0
    }
}
