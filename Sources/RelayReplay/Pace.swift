/// Spaces what is sent so that it stays inside a rate: a bucket that is a little smaller and slower than the relay's, so
/// that packets which the network bunches up do not overflow the relay's either.
///
/// Waiting here, and not in the client's queue, keeps a round trip free of time that is not the relay's.
struct Pace: Sendable, Equatable {
    private let interval: Duration
    /// How far ahead of the even pace a burst may run.
    private let burst: Duration
    /// When the next one would be due if all kept the even pace.
    private var next = Duration.zero

    /// - Parameters:
    ///   - perSecond: what the relay lets pass for ever, and at one instant.
    init(perSecond: Int) {
        interval = .seconds(1) / (Double(perSecond) * 0.95)
        burst = interval * Double(perSecond) * 0.5
    }

    /// How long to wait before sending one more at `now` (since any start).
    func delay(at now: Duration) -> Duration { max(.zero, next - burst - now) }

    /// Counts one that is sent.
    mutating func sent(at now: Duration) { next = max(next, now) + interval }
}
