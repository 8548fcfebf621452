import RelayConsole
import RelayWire

/// What a load came to.
package struct LoadOutcome: Sendable {
    package var load: Load
    /// Until every member was in.
    var enteringSeconds: Double
    var drainSeconds = 0.0
    package var measuredSeconds = 0.0
    package var deliveredMeasured: UInt64 = 0
    package var sentMeasured: UInt64 = 0
    /// Processor seconds of the load itself in each second.
    package var loadShare = 0.0
    /// Nanoseconds from the moment at which a message was due.
    package var latency = Histogram()
    /// The same of what was due since a reader stalled.
    package var latencyAfter = Histogram()
    /// How late the generator itself was, in nanoseconds.
    package var lag = Histogram()
    /// The same at most, the warm-up included.
    package var lagMax: UInt64 = 0
    package var tally: Tally
    /// Sends that were not made because the relay took too little of their connection for too long.
    package var skipped: UInt64 = 0
    /// By code.
    package var refusals: [UInt16: UInt64] = [:]
    /// Connections that ended without being meant to, by the relay's code; 0: it gave none.
    package var closes: [UInt16: Int] = [:]
    /// Members whose connections those were: what they did not get is not lost, they would come back for it.
    package var closedReaders: Set<Int> = []
    package var stall = StallOutcome()
    package var samples: [RelayMeter.Sample] = []

    package init(load: Load, enteringSeconds: Double) {
        self.load = load
        self.enteringSeconds = enteringSeconds
        tally = Tally(readers: 0, sources: 0) { _, _ in false }
    }

    /// Reported to readers that never stopped reading.
    package var lostByKeepers: UInt64 {
        load.members.indices.reduce(0) { $0 + (load.members[$1].stalls ? 0 : tally.reported(to: $1)) }
    }

    /// Neither delivered nor reported to readers whose connection stands.
    package var lostUnreported: UInt64 { tally.unreported - lostByClosed }
    package var lostByClosed: UInt64 { closedReaders.reduce(0) { $0 + tally.unreported(by: $1) } }

    /// Processor seconds of the relay in each second that was measured; `nil` without an account of at least half of them.
    package var cpuShare: (user: Double, system: Double)? { samples.share(.begin, .end, least: measuredSeconds / 2) }

    /// What a relay must never do, in words; empty when it did none of it.
    package var problems: [String] {
        var problems: [String] = []
        if lostUnreported > 0 { problems.append("\(Printable.count(lostUnreported)) lost without a word") }
        if lostByKeepers > 0 { problems.append("\(Printable.count(lostByKeepers)) lost by readers that keep up") }
        if tally.duplicates > 0 {
            problems.append("\(Printable.count(tally.duplicates)) delivered twice, or after they were reported as lost")
        }
        if tally.strangers > 0 { problems.append("\(Printable.count(tally.strangers)) delivered that nobody sent to that reader") }
        if tally.reorders > 0 { problems.append("\(Printable.count(tally.reorders)) delivered out of order") }
        for (code, count) in closes.sorted(by: { $0.key < $1.key }) {
            problems.append(
                "\(Printable.count(count, "connection")) closed (\(code == 0 ? "no reason given" : ErrorCode(rawValue: code).name))")
        }
        if let problem = stall.problem { problems.append(problem) }
        if let stalling = load.stalling { problems += stallProblems(isMessages: load.members[stalling].readsMessages) }
        return problems
    }

    private func stallProblems(isMessages: Bool) -> [String] {
        switch (isMessages, stall.cameBackAt != nil) {
        case (false, false), (true, false): []
        case (false, true): ["the stalled reader of packets was closed (\(stall.closeName ?? "no reason given"))"]
        case (true, true):
            stall.closeCode == ErrorCode.slowConsumer.rawValue
                ? [] : ["the stalled reader was closed as \(stall.closeName ?? "nothing"), not slowConsumer"]
        }
    }
}
