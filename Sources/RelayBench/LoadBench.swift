import RelayConsole
import RelayIO
import RelayLoad
import RelaySystem
import RelayWire

/// Runs loads against a relay, some times each, and tells what they came to.
struct LoadBench: Sendable {
    /// What does not belong to a scenario.
    struct Setting: Sendable {
        /// A relay of somebody else's; `nil`: one is started for each run.
        var address: RelayAddress?
        var key: String?
        var space: String?
        var runs: Int
        /// Of `serve`.
        var flush: String
        /// The program that pins, when both are pinned.
        var pinning: String?
        var times: Load.Times
        /// Where a relay keeps what has to be kept.
        var folder: String
        /// What the process of the relay on this port has used.
        var usage: @Sendable (UInt16) -> ProcessUsage?
    }

    /// A load that is late by more in one of a hundred sends is told about.
    private static let lateNanoseconds: UInt64 = 10_000_000

    let setting: Setting
    let report: BenchReport

    /// - Parameter isKept: the relay keeps its boards on disk.
    /// - Returns: what went wrong, in words.
    func run(_ scenario: String, _ what: String, _ load: Load, isKept: Bool = false) async throws -> [String] {
        let lifted = setting.address == nil ? Self.lifted(for: load) : []
        var outcomes: [LoadOutcome] = []
        for number in 1...setting.runs {
            let name = setting.runs == 1 ? what : "\(what), run \(number) of \(setting.runs)"
            let started = try start(lifted + (isKept ? ["--data-dir", "\(setting.folder)/\(scenario)-\(number)"] : ["--in-memory"]))
            defer { started.relay?.stop() }
            let (target, meter) = (started.target, started.meter)
            let (setting, report) = (setting, report)
            outcomes.append(
                try await Self.onThreadOfItsOwn {
                    var generator = LoadGenerator(
                        load, target: target, key: setting.key, space: setting.space, meter: meter, poller: try Poller())
                    return try generator.run { report.progress("\(name): \(Int($0 * 100)) %") }
                })
        }
        report.progressEnds()
        let late = outcomes.compactMap { $0.lag.percentile(99) }.max() ?? 0
        if late > Self.lateNanoseconds {
            Console.note(
                "\(what): the load itself was late by \(Printable.time(.nanoseconds(Int64(clamping: late)))), 99 of 100 times less. What is said of latency and of losses is as much about this machine as about the relay."
            )
        }
        try report.row(what, LoadRow.fields(outcomes) + common(lifted))
        return Array(Set(outcomes.flatMap(\.problems))).sorted().map { "\(what): \($0)" }
    }

    // MARK: - What every row has

    func common(_ lifted: [String]) -> [(String, JSONValue)] {
        let rates =
            lifted.isEmpty
            ? "none"
            : stride(from: 0, to: lifted.count, by: 2).map { "\(lifted[$0].dropFirst(2)) \(lifted[$0 + 1])" }.joined(separator: ", ")
        return [
            ("runs", .integer(setting.runs)), ("seed", .integer(Int(clamping: setting.times.seed))),
            ("flush", setting.address == nil ? .string(setting.flush) : .null), ("lifted", setting.address == nil ? .string(rates) : .null),
            ("pinned", .bool(setting.pinning != nil)), ("accounting", .bool(setting.address == nil)),
        ]
    }

    /// Rates of `serve` that the load would be over.
    static func lifted(for load: Load) -> [String] {
        var lifted: [String] = []
        for (option, lane, usual) in [("--packet-rate", Load.Lane.stream, 200.0), ("--message-rate", .message, 60.0)] {
            let most = load.perSecondMax(lane)
            if most > usual { lifted += [option, "\(most.isFinite ? min(1_000_000, Int(most.rounded(.up)) * 2) : 1_000_000)"] }
        }
        return lifted
    }

    // MARK: - The relay

    struct Started {
        /// `nil`: it is somebody else's.
        var relay: BenchRelay?
        var target: SocketAddress
        var meter: RelayMeter
    }

    func start(_ options: [String]) throws -> Started {
        let relay = setting.address == nil ? try BenchRelay(options + ["--flush", setting.flush], pinning: setting.pinning) : nil
        let address = relay?.address ?? setting.address!
        guard let target = try SocketAddress.resolve(host: address.host, port: address.port).first else {
            throw Failure("\(address) has no address")
        }
        guard let relay else { return Started(relay: nil, target: target, meter: RelayMeter(usage: nil)) }
        let meter = RelayMeter { [usage = setting.usage, port = relay.address.port] in usage(port) }
        return Started(relay: relay, target: target, meter: meter)
    }

    /// A load waits for its sockets by itself: not on a thread that others want.
    static func onThreadOfItsOwn<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            SystemThread.detach { continuation.resume(with: Result { try body() }) }
        }
    }
}
