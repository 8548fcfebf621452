import Dispatch
import RelayIO
import RelaySystem

/// Asks the relay that is measured what it has used, beside the thread that loads it. A relay of somebody else's is not asked.
package final class RelayMeter: Sendable {
    package enum Phase: Sendable { case before, begin, during, end, after }

    package struct Sample: Sendable {
        var phase: Phase
        package var usage: ProcessUsage
    }

    private let usage: (@Sendable () -> ProcessUsage?)?
    private let queue = DispatchQueue(label: "boardrelay.bench.meter")
    private let taken = Mutex<[Sample]>([])

    /// - Parameter usage: asks the relay; `nil`: there is no account.
    package init(usage: (@Sendable () -> ProcessUsage?)?) { self.usage = usage }

    var isThere: Bool { usage != nil }
    package var samples: [Sample] { taken.withLock { $0 } }

    /// Returns at once; the answer comes to the samples. One that does not come is missing there.
    package func ask(_ phase: Phase) {
        guard let usage else { return }
        queue.async { [taken] in
            guard let used = usage() else { return }
            taken.withLock { $0.append(Sample(phase: phase, usage: used)) }
        }
    }

    /// Until all answers are there.
    package func wait() { queue.sync {} }
}

extension [RelayMeter.Sample] {
    package func first(_ phase: RelayMeter.Phase) -> ProcessUsage? { first { $0.phase == phase }?.usage }

    /// Processor seconds used in a second between two moments; `nil` without an account of both.
    ///
    /// - Parameter least: how many seconds must lie between them: a machine that is too busy answers late, and says little.
    package func share(_ from: RelayMeter.Phase, _ to: RelayMeter.Phase, least: Double = 0.1) -> (user: Double, system: Double)? {
        guard let from = first(from), let to = first(to) else { return nil }
        let time = Double(to.clockMicroseconds - from.clockMicroseconds)
        guard time / 1e6 >= least else { return nil }
        return (
            Double(to.userMicroseconds - from.userMicroseconds) / time, Double(to.systemMicroseconds - from.systemMicroseconds) / time
        )
    }
}
