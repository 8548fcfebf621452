import BoardFormat
import RelayConsole
import RelayLoad

/// What can be measured.
enum BenchScenario: String, CaseIterable {
    case fan10x50, fan10x50k, paced10, paced50, paced100, messages, conns, slow
    case classroom = "class"
    case lesson, join, storage

    /// A line for each.
    static var help: String { (["What to measure."] + allCases.map { "\($0.rawValue): \($0.meaning)" }).joined(separator: "\n") }

    private var meaning: String {
        switch self {
        case .fan10x50: "10 users send packets of 64 bytes to 50 readers, as fast as possible."
        case .fan10x50k: "The same with 1,000 bytes."
        case .paced10: "10 users send 200 packets/s of 64 bytes each to all others."
        case .paced50: "The same with 50 users."
        case .paced100: "The same with 100 users."
        case .messages: "10 users send 60 messages/s of 32,000 bytes each to 50 readers."
        case .conns: "10,000 idle sessions: memory, logins a second, messages to all."
        case .slow: "10 users send 600/s of 1,000 bytes each to each other and to a reader that stops: packets, then messages."
        case .classroom: "30 users draw at once: points as packets, strokes kept."
        case .lesson: "One user draws a recording before 29 viewers."
        case .join: "1 and 30 users join a board of 20,000 strokes while two draw."
        case .storage: "Durable writes a second, messages beside many writes, start-up with 10,000 channels."
        }
    }

    /// If none are asked for.
    var seconds: Int {
        switch self {
        case .conns: 10
        case .slow: 15
        case .lesson: 60
        default: 5
        }
    }

    /// - Returns: what went wrong, in words.
    func run(_ bench: LoadBench, _ arguments: Arguments) async throws -> [String] {
        let times = bench.setting.times
        func points(_ users: Int) async throws -> [String] {
            try await bench.run(rawValue, rawValue, .board(.stream, users: users, bytes: 64, perSecond: 200, times))
        }
        switch self {
        case .fan10x50:
            return try await bench.run(
                rawValue, rawValue, .fan(.stream, publishers: 10, subscribers: 50, bytes: 64, pace: Load.window, times))
        case .fan10x50k:
            return try await bench.run(
                rawValue, rawValue, .fan(.stream, publishers: 10, subscribers: 50, bytes: 1_000, pace: Load.window, times))
        case .paced10: return try await points(10)
        case .paced50: return try await points(50)
        case .paced100: return try await points(100)
        case .messages:
            return try await bench.run(
                rawValue, rawValue, .fan(.message, publishers: 10, subscribers: 50, bytes: 32_000, perSecond: 60, times))
        case .conns: return try await IdleBench(bench: bench, sessions: try arguments.integer("--sessions", in: 2...18_000) ?? 10_000).run()
        case .slow:
            let packets = try await bench.run(
                rawValue, "slow, packets", .board(.stream, users: 10, bytes: 1_000, perSecond: 600, stalling: true, times))
            return packets
                + (try await bench.run(
                    rawValue, "slow, messages", .board(.message, users: 10, bytes: 1_000, perSecond: 600, stalling: true, times)))
        case .classroom: return try await bench.run(rawValue, rawValue, .classroom(users: 30, times), isKept: true)
        case .lesson: return try await lesson(bench, arguments)
        case .join, .storage: preconditionFailure("\(rawValue) is no load")
        }
    }

    private func lesson(_ bench: LoadBench, _ arguments: Arguments) async throws -> [String] {
        guard let path = arguments.value("--recording") else { throw UsageError("option --recording is missing: what is drawn in lesson") }
        let speed = try arguments.speed()
        let bytes = try FileContents.read(path)
        let recording: Recording
        do {
            recording = try Recording(ndjson: bytes)
        } catch {
            throw Failure("\(Printable.escaped(path)): \(error)")
        }
        let plan = try ReplayPlan(recording.boards, .init(speed: speed, pauseMax: .seconds(2), idPrefix: "lesson-"))
        // The clock begins with the first stroke: there is nothing to warm up by.
        var times = bench.setting.times
        times.warmup = 0
        times.seconds = min(times.seconds, (plan.duration / .seconds(1)).rounded(.up) + 1)
        return try await bench.run(rawValue, rawValue, .lesson(plan, viewers: 29, times), isKept: true)
    }
}
