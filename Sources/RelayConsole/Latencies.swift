/// Round trips, to be asked for percentiles.
package struct Latencies: Sendable, Equatable {
    private var samples: [Duration] = []

    package init() {}

    package var count: Int { samples.count }

    package mutating func add(_ sample: Duration) { samples.append(sample) }
    package mutating func add(_ others: Latencies) { samples.append(contentsOf: others.samples) }

    /// Nearest rank: the smallest sample that `percent` of all do not exceed. `nil` without samples.
    package func percentile(_ percent: Int) -> Duration? {
        guard !samples.isEmpty else { return nil }
        let rank = (samples.count * percent + 99) / 100
        return samples.sorted()[max(rank, 1) - 1]
    }
}
