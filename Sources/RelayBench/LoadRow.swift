import RelayConsole
import RelayIO
import RelaySystem
import RelayLoad
import RelayWire

/// The columns of a load: medians of its runs, and sums of what should not be.
enum LoadRow {
    static func fields(_ outcomes: [LoadOutcome]) -> [(String, JSONValue)] {
        var fields: [(String, JSONValue)] = [
            ("delivered_per_s", median(outcomes) { Double($0.deliveredMeasured) / $0.measuredSeconds }),
            (
                "cpu_s_per_m",
                median(outcomes, digits: 4) { outcome in
                    guard outcome.deliveredMeasured > 0, let share = outcome.cpuShare else { return nil }
                    return (share.user + share.system) * outcome.measuredSeconds / Double(outcome.deliveredMeasured) * 1e6
                }
            ),
            ("p50_us", microseconds(outcomes, \.latency, 50)), ("p99_us", microseconds(outcomes, \.latency, 99)),
            ("p999_us", microseconds(outcomes, \.latency, 99.9)), ("max_us", microseconds(outcomes, \.latency, 100)),
            ("lag_p99_us", microseconds(outcomes, \.lag, 99)),
            ("lag_max_us", median(outcomes) { $0.lag.count == 0 ? nil : Double($0.lagMax) / 1_000 }),
            ("load_cpu_pct", median(outcomes) { $0.loadShare * 100 }),
            ("sent_per_s", median(outcomes) { Double($0.sentMeasured) / $0.measuredSeconds }),
            ("cpu_user_pct", median(outcomes, digits: 2) { $0.cpuShare.map { $0.user * 100 } }),
            ("cpu_system_pct", median(outcomes, digits: 2) { $0.cpuShare.map { $0.system * 100 } }),
            ("rss_bytes", median(outcomes) { ($0.samples.first(.end)?.residentBytes).map(Double.init) }),
            ("expected", sum(outcomes) { $0.tally.expected }), ("delivered", sum(outcomes) { $0.tally.delivered }),
            ("lost_reported", sum(outcomes) { $0.tally.reported }), ("lost_by_keepers", sum(outcomes) { $0.lostByKeepers }),
            ("lost_unreported", sum(outcomes) { $0.lostUnreported }), ("lost_by_closed", sum(outcomes) { $0.lostByClosed }),
            ("duplicates", sum(outcomes) { $0.tally.duplicates + $0.tally.strangers }),
            ("reorders", sum(outcomes) { $0.tally.reorders }), ("refused", sum(outcomes) { $0.tally.refused }),
            ("skipped", sum(outcomes) { $0.skipped }), ("closed", sum(outcomes) { UInt64($0.closes.values.reduce(0, +)) }),
        ]
        let refusals = outcomes.reduce(into: [UInt16: UInt64]()) { $0.merge($1.refusals, uniquingKeysWith: +) }
        if !refusals.isEmpty {
            fields.append(
                (
                    "refusals",
                    .string(
                        refusals.sorted { $0.key < $1.key }.map { "\(ErrorCode(rawValue: $0.key).name) \($0.value)" }.joined(
                            separator: ", "))
                ))
        }
        if outcomes.contains(where: { $0.load.stalling != nil }) { fields += stall(outcomes) }
        return fields
    }

    private static func stall(_ outcomes: [LoadOutcome]) -> [(String, JSONValue)] {
        [
            ("after_p50_us", microseconds(outcomes, \.latencyAfter, 50)), ("after_p99_us", microseconds(outcomes, \.latencyAfter, 99)),
            ("after_p999_us", microseconds(outcomes, \.latencyAfter, 99.9)), ("after_max_us", microseconds(outcomes, \.latencyAfter, 100)),
            (
                "rss_growth_bytes",
                median(outcomes) { outcome in
                    guard let before = outcome.samples.first(.begin), let most = outcome.samples.map(\.usage.residentBytes).max() else {
                        return nil
                    }
                    return Double(most - before.residentBytes)
                }
            ),
            ("stalled_closed", sum(outcomes) { $0.stall.cameBackAt == nil ? 0 : 1 }),
            ("stalled_closed_as", .optional(outcomes.compactMap(\.stall.closeName).first)),
            ("stalled_resumed", sum(outcomes) { $0.stall.wasResumed ? 1 : 0 }),
            ("stalled_delivered", sum(outcomes) { $0.tally.delivered(to: $0.load.stalling!) }),
            ("stalled_lost_reported", sum(outcomes) { $0.tally.reported(to: $0.load.stalling!) }),
            (
                "caught_up_ms",
                median(outcomes) { outcome in
                    guard let back = outcome.stall.cameBackAt, let done = outcome.stall.caughtUpAt else { return nil }
                    return Double(done - back) / 1e6
                }
            ),
        ]
    }

    static func microseconds(_ outcomes: [LoadOutcome], _ histogram: (LoadOutcome) -> Histogram, _ percent: Double) -> JSONValue {
        median(outcomes) { histogram($0).percentile(percent).map { Double($0) / 1_000 } }
    }

    /// - Returns: `null` when a run has no such value.
    static func median<Run>(_ runs: [Run], digits: Int = 1, _ value: (Run) -> Double?) -> JSONValue {
        let values = runs.compactMap(value).sorted()
        guard values.count == runs.count, !values.isEmpty else { return .null }
        let middle = values.count / 2
        let median = values.count.isMultiple(of: 2) ? (values[middle - 1] + values[middle]) / 2 : values[middle]
        let scale = (0..<digits).reduce(1.0) { power, _ in power * 10 }
        return .number((median * scale).rounded() / scale)
    }

    static func sum<Run>(_ runs: [Run], _ value: (Run) -> UInt64) -> JSONValue {
        .integer(Int(clamping: runs.reduce(0) { $0 + value($1) }))
    }
}
