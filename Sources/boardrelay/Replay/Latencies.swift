/// Round trips, to be asked for percentiles.
struct Latencies: Sendable, Equatable {
    private var samples: [Duration] = []

    var count: Int { samples.count }

    mutating func add(_ sample: Duration) { samples.append(sample) }
    mutating func add(_ others: Latencies) { samples.append(contentsOf: others.samples) }

    /// Nearest rank: the smallest sample that `percent` of all do not exceed. `nil` without samples.
    func percentile(_ percent: Int) -> Duration? {
        guard !samples.isEmpty else { return nil }
        let rank = (samples.count * percent + 99) / 100
        return samples.sorted()[max(rank, 1) - 1]
    }
}
