#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayClient
import RelayConsole
import RelayLoad
import RelaySystem
import RelayWire

/// What `bench` cannot know of the relay that it starts, which is this program itself.
package struct MeasuredRelay: Sendable {
    /// Throws where `serve` would refuse the options that both have.
    var check: @Sendable (Arguments) throws(UsageError) -> Void
    /// What the process of the relay on a port of this machine has used; `nil` when it does not answer.
    var usage: @Sendable (UInt16) -> ProcessUsage?

    package init(check: @escaping @Sendable (Arguments) throws(UsageError) -> Void, usage: @escaping @Sendable (UInt16) -> ProcessUsage?) {
        self.check = check
        self.usage = usage
    }
}

extension Command {
    /// - Parameter relay: what a relay is that the command starts.
    package static func bench(_ relay: MeasuredRelay) -> Command {
        Command(
            name: "bench",
            summary: "measures a relay that it starts on this machine",
            arguments: [.init(name: "SCENARIO", words: BenchScenario.allCases.map(\.rawValue), help: BenchScenario.help)],
            options: [
                .value(
                    "--seconds", as: "N",
                    help: "Length of each measurement. Default: 5; conns 10, slow 15, lesson as long as the recording, at most 60."),
                .value("--warmup", as: "N", help: "Seconds of load before a measurement. Default: 1."),
                .value("--repeat", as: "N", help: "Runs, each with a new relay: rows have medians, and sums of losses. Default: 1."),
                .value("--flush", as: "MODE", help: "Flush mode of the measured relay, as for 'serve'. Default: adaptive."),
                .value("--sessions", as: "N", help: "conns: how many. Default: 10000."),
                .value("--recording", as: "FILE", help: "lesson: the recording, as for 'replay'."),
                .value("--speed", as: "N", help: "lesson: speed of the drawing. Default: 1."),
                .value("--seed", as: "N", help: "Seed for the phases of senders. Default: 1."),
                .value(
                    "--data-dir", as: "DIR",
                    help: "Disk to measure: bench makes a new folder here and removes it. Default: the system's temporary folder."),
                .value(
                    "--url", as: "URL",
                    help: """
                        Loads this relay instead of a new one, with its own rates and without figures of its process. $BOARDRELAY_URL \
                        does not count.
                        """),
                .value("--key-file", as: "FILE", help: "With --url: a file with that relay's key."),
                .flag("--unpinned", help: "Lets the scheduler place relay and load. Default: a processor each where there is 'taskset'."),
                .flag(
                    "--verdict",
                    help: """
                        Exits with 1 and says why, if there was an unreported loss, a loss by a reader that keeps up, or an unexpected \
                        close.
                        """),
                .json,
            ],
            notes: [
                """
                Each send has its moment, whatever becomes of earlier ones, and latency counts from that moment. fan sends as fast as \
                it can, at most 512 packets or 128 KiB ahead of its readers.
                """,
                """
                Rates below the load are lifted for the measured relay, and the row says which. Compare only figures of one machine \
                and day. Measure a release build: 'swift build -c release'.
                """,
            ],
            examples: [
                .init("boardrelay bench paced50 --repeat 3 --verdict", "A board of 50 who draw at once: medians of three runs."),
                .init("boardrelay bench conns --json", "What 10,000 sessions cost, for programs to read."),
                .init("boardrelay bench lesson --recording board.ndjson --speed 2", "A recorded board before 29 viewers."),
                .init("boardrelay bench storage --data-dir . --seconds 10 --json", "On this folder's disk."),
            ],
            run: { try await bench($0, relay) })
    }

    private static func bench(_ arguments: Arguments, _ relay: MeasuredRelay) async throws -> ExitCode {
        guard let scenario = BenchScenario(rawValue: arguments.positional[0]) else {
            throw UsageError(
                "SCENARIO is one of \(BenchScenario.allCases.map(\.rawValue).joined(separator: ", ")), not \(Printable.quoted(arguments.positional[0]))"
            )
        }
        for (option, only) in [("--sessions", BenchScenario.conns), ("--recording", .lesson), ("--speed", .lesson)] where scenario != only {
            if arguments.value(option) != nil { throw UsageError("option \(option) is for \(only.rawValue)") }
        }
        let loads = scenario != .join && scenario != .storage
        for option in ["--url", "--warmup", "--repeat", "--flush", "--seed"] where !loads && arguments.value(option) != nil {
            throw UsageError("option \(option) is not for \(scenario.rawValue)")
        }
        for option in ["--flush", "--data-dir"] { try arguments.exclude("--url", option) }
        if arguments.value("--key-file") != nil, arguments.value("--url") == nil { throw UsageError("option --key-file wants --url") }
        let seconds = try arguments.integer("--seconds", in: 1...600)
        let parent = arguments.value("--data-dir") ?? FileManager.default.temporaryDirectory.path
        let folder = parent + (parent.hasSuffix("/") ? "" : "/") + "boardrelay-bench-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let report = BenchReport(scenario: scenario.rawValue, json: arguments.flag("--json"))
        let problems: [String]
        switch scenario {
        case .storage:
            try await StorageBench(folder: folder, duration: .seconds(seconds ?? 5), report: report).run()
            problems = []
        case .join: problems = try await JoinBench(folder: folder, report: report).run()
        default:
            let bench = LoadBench(
                setting: try setting(arguments, relay, seconds: seconds ?? scenario.seconds, folder: folder), report: report)
            problems = try await scenario.run(bench, arguments)
        }
        guard arguments.flag("--verdict") else { return .ok }
        if arguments.flag("--json") {
            try Console.print(
                JSONValue.object([
                    .init(key: "type", value: "verdict"), .init(key: "scenario", value: .string(scenario.rawValue)),
                    .init(key: "ok", value: .bool(problems.isEmpty)),
                    .init(key: "problems", value: .array(problems.map { .string($0) })),
                ]).line)
        }
        for problem in problems { Console.note("boardrelay bench: \(problem)") }
        return problems.isEmpty ? .ok : .failed
    }

    private static func setting(_ arguments: Arguments, _ relay: MeasuredRelay, seconds: Int, folder: String) throws -> LoadBench.Setting {
        let times = Load.Times(
            warmup: Double(try arguments.integer("--warmup", in: 0...60) ?? 1), seconds: Double(seconds),
            seed: UInt64(try arguments.integer("--seed", in: 0...Int.max) ?? 1))
        var setting = LoadBench.Setting(
            runs: try arguments.integer("--repeat", in: 1...100) ?? 1, flush: arguments.value("--flush") ?? "adaptive", times: times,
            folder: folder,
            usage: relay.usage)
        // What 'serve' would refuse is a wrong command line here, too.
        try relay.check(arguments)
        if arguments.value("--url") != nil {
            let address = try arguments.address()
            guard address.protection == .plain else { throw UsageError("option --url: \(address) wants TLS, which bench does not speak") }
            (setting.address, setting.space) = (address, try arguments.invitation().space)
            setting.key = try arguments.value("--key-file").map(Arguments.secret(in:))
            if setting.key == nil, case .key(let key)? = try arguments.invitation().credential { setting.key = key }
            Console.note("What the relay uses is not known, and its rates are its own: it is not one that this command started.")
        } else if !arguments.flag("--unpinned") {
            setting.pinning = CorePinning.program.flatMap { CorePinning.pinLoad($0) ? $0 : nil }
            if setting.pinning == nil {
                Console.note("Relay and load share their processors: there is no 'taskset' here, or only one processor.")
            }
        }
        return setting
    }
}
