import RelayGateway

/// How long changes take to be durable.
struct JournalTimes {
    /// Changes that are on their way, by the sequence of the last of those that went together: rising.
    private var waiting: [(sequence: UInt64, since: UInt64)] = []
    /// Seconds from the hand-over to the journal to its answer.
    private(set) var histogram = MetricHistogram(bounds: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5])

    /// - Parameter now: nanoseconds.
    mutating func submitted(_ sequence: UInt64, at now: UInt64) { waiting.append((sequence, now)) }

    mutating func persisted(through sequence: UInt64, at now: UInt64) {
        let end = waiting.firstIndex { $0.sequence > sequence } ?? waiting.count
        for entry in waiting[..<end] { histogram.observe(Double(now - entry.since) / 1e9) }
        waiting.removeFirst(end)
    }

    /// What was not durable by now is not going to be.
    mutating func failed() { waiting = [] }
}
