import RelayConsole
import RelayIO
import RelayLoad
import RelaySystem
import RelayWire

/// What a session costs that does nothing but be there: memory, and how fast they come.
struct IdleBench: Sendable {
    let bench: LoadBench
    let sessions: Int

    /// The account begins with so many, which pay for what all share.
    static let first = 100
    static let broadcasts = 10
    private static let broadcastBytes = 64
    /// One address of this machine has ports for fewer connections to one other than this on any system.
    private static let sessionsPerOrigin = 16_000

    private struct Outcome: Sendable {
        var enteredPerSecond: Double
        var idleSeconds: Double
        var closes: Int
        var lostUnreported: UInt64
        var latency: Histogram
        var tally: Tally
        var samples: [RelayMeter.Sample]
        var problems: [String]
    }

    /// - Returns: what went wrong, in words.
    func run() async throws -> [String] {
        let (setting, report, sessions) = (bench.setting, bench.report, sessions)
        let load = Load.audience(sessions, bytes: Self.broadcastBytes, setting.times)
        SystemDescriptors.raise()
        var origins: [SocketAddress] = []
        if sessions > Self.sessionsPerOrigin {
            for last in 2...9 { origins += try SocketAddress.resolve(host: "127.0.0.\(last)", port: 0).prefix(1) }
        }
        let options = sessions > 11_000 ? ["--max-connections", "\(sessions + 1_000)"] : []
        var outcomes: [Outcome] = []
        for number in 1...setting.runs {
            let started = try bench.start(["--in-memory"] + options)
            defer { started.relay?.stop() }
            let (target, meter) = (started.target, started.meter)
            let name = setting.runs == 1 ? "conns" : "conns, run \(number) of \(setting.runs)"
            outcomes.append(
                try await LoadBench.onThreadOfItsOwn { [origins] in
                    var generator = LoadGenerator(
                        load, target: target, key: setting.key, space: setting.space, origins: origins, meter: meter, poller: try Poller())
                    return try Self.measure(&generator, sessions, setting.times) { report.progress("\(name): \($0)") }
                })
        }
        report.progressEnds()
        try report.row("conns", [("sessions", .integer(sessions))] + fields(outcomes) + bench.common(options))
        return Array(Set(outcomes.flatMap(\.problems))).sorted().map { "conns: \($0)" }
    }

    private static func measure(
        _ generator: inout LoadGenerator, _ sessions: Int, _ times: Load.Times, progress: (String) -> Void
    ) throws -> Outcome {
        func ask(_ phase: RelayMeter.Phase) {
            generator.meter.ask(phase)
            generator.meter.wait()
        }
        let first = min(Self.first, sessions / 2)
        try generator.enterAll(upTo: first)
        wait(&generator, 1)
        ask(.before)
        progress("\(sessions) sessions come in")
        let seconds = try generator.enterAll(upTo: sessions)
        try generator.enterAll()
        wait(&generator, 1)
        ask(.begin)
        progress("\(sessions) sessions do nothing for \(Int(times.seconds)) s")
        wait(&generator, times.seconds)
        ask(.end)
        progress("\(Self.broadcasts) messages to all")
        generator.prepareTemplates()
        generator.measuresFrom = 0
        for _ in 0..<broadcasts {
            generator.publish(0, due: LoadGenerator.now())
            generator.flush(sessions)
            wait(&generator, 0.3)
        }
        _ = generator.drain()
        ask(.after)
        var outcome = LoadOutcome(load: generator.load, enteringSeconds: seconds)
        outcome.tally = generator.tally
        outcome.closes = generator.closes
        outcome.closedReaders = generator.closedReaders
        return Outcome(
            enteredPerSecond: Double(sessions - first) / seconds, idleSeconds: times.seconds, closes: generator.closes.values.reduce(0, +),
            lostUnreported: outcome.lostUnreported,
            latency: generator.latency, tally: generator.tally, samples: generator.meter.samples, problems: outcome.problems)
    }

    /// Answers what the relay asks meanwhile.
    private static func wait(_ generator: inout LoadGenerator, _ seconds: Double) {
        let end = LoadGenerator.now() + UInt64(seconds * 1e9)
        while LoadGenerator.now() < end { generator.poll(nanoseconds: min(20_000_000, end - min(end, LoadGenerator.now()))) }
    }

    private func fields(_ outcomes: [Outcome]) -> [(String, JSONValue)] {
        let first = min(Self.first, sessions / 2)
        func perSession(_ phase: RelayMeter.Phase) -> JSONValue {
            LoadRow.median(outcomes) { outcome in
                guard let few = outcome.samples.first(.before), let all = outcome.samples.first(phase) else { return nil }
                return Double(all.residentBytes - few.residentBytes) / Double(sessions - first)
            }
        }
        func broadcast(_ percent: Double) -> JSONValue {
            LoadRow.median(outcomes, digits: 3) { $0.latency.percentile(percent).map { Double($0) / 1e6 } }
        }
        return [
            ("sessions_per_s", LoadRow.median(outcomes) { $0.enteredPerSecond }),
            ("rss_per_session_bytes", perSession(.end)), ("rss_per_session_after_broadcasts_bytes", perSession(.after)),
            ("rss_bytes", LoadRow.median(outcomes) { ($0.samples.first(.end)?.residentBytes).map(Double.init) }),
            ("idle_s", LoadRow.median(outcomes) { $0.idleSeconds }),
            (
                "idle_cpu_pct",
                LoadRow.median(outcomes, digits: 2) { outcome in
                    outcome.samples.share(.begin, .end).map { ($0.user + $0.system) * 100 }
                }
            ),
            ("broadcast_p50_ms", broadcast(50)), ("broadcast_p99_ms", broadcast(99)), ("broadcast_max_ms", broadcast(100)),
            ("expected", LoadRow.sum(outcomes) { $0.tally.expected }), ("delivered", LoadRow.sum(outcomes) { $0.tally.delivered }),
            ("lost_reported", LoadRow.sum(outcomes) { $0.tally.reported }),
            ("lost_by_keepers", LoadRow.sum(outcomes) { $0.tally.reported }),
            ("lost_unreported", LoadRow.sum(outcomes) { $0.lostUnreported }),
            ("duplicates", LoadRow.sum(outcomes) { $0.tally.duplicates + $0.tally.strangers }),
            ("reorders", LoadRow.sum(outcomes) { $0.tally.reorders }),
            ("closed", LoadRow.sum(outcomes) { UInt64($0.closes) }),
        ]
    }
}
