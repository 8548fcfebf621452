import Foundation
import RelayIO

extension Command {
    static let bench = Command(
        name: "bench",
        summary: "measures a relay that it starts on this machine",
        arguments: [.init(name: "SCENARIO", help: "storage: durable sets a second, messages beside a storm of sets, start-up with 10,000 channels. join: 30 late joiners of a board of 20,000 strokes while two draw.")],
        options: [
            .value("--seconds", as: "N", help: "How long each measurement takes; 5 if not given."),
            .value("--data-dir", as: "DIR", help: "Where the relay that is measured keeps its data: the disk is what is measured. A new folder in it is used and removed; the system's temporary folder if not given."),
            .json,
        ],
        notes: [
            "Rates are lifted for the relay that is measured. Figures depend on the machine and its disk: each table has a reference taken in the same run, and what is worth comparing is the ratio.",
            "Build with 'swift build -c release': what a debug build does is not worth measuring.",
        ],
        examples: [
            .init("boardrelay bench storage", "Into the system's temporary folder, which may be in memory."),
            .init("boardrelay bench storage --data-dir . --seconds 10 --json", "On this folder's disk, for programs to read."),
            .init("boardrelay bench join", "How long late joiners wait for a large board."),
        ],
        run: bench)

    private enum Scenario: String, CaseIterable { case storage, join }

    private static func bench(_ arguments: Arguments) async throws -> ExitCode {
        guard let scenario = Scenario(rawValue: arguments.positional[0]) else {
            throw UsageError("SCENARIO is one of \(Scenario.allCases.map(\.rawValue).joined(separator: ", ")), not \(Printable.quoted(arguments.positional[0]))")
        }
        let seconds = try arguments.integer("--seconds", in: 1...600) ?? 5
        let parent = arguments.value("--data-dir") ?? FileManager.default.temporaryDirectory.path
        let folder = parent + (parent.hasSuffix("/") ? "" : "/") + "boardrelay-bench-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let report = BenchReport(json: arguments.flag("--json"))
        switch scenario {
        case .storage: try await StorageBench(folder: folder, duration: .seconds(seconds), report: report).run()
        case .join: try await JoinBench(folder: folder, report: report).run()
        }
        return .ok
    }
}

/// What a benchmark prints: rows on standard output as soon as they are there, progress on standard error.
struct BenchReport: Sendable {
    let json: Bool

    /// - Parameter fields: in the order of the table; their names are the keys of the JSON.
    func row(_ what: String, _ fields: [(String, JSON)]) throws {
        if json {
            try Console.print(JSON.object([.init(key: "type", value: "row"), .init(key: "what", value: .string(what))] + fields.map { .init(key: $0.0, value: $0.1) }).line)
        } else {
            let shown = fields.map { name, value in
                switch value {
                case .number(let number): "\(name) \(number >= 100 ? Printable.count(Int(number.rounded())) : Printable.fixed(number))"
                case .integer(let number): "\(name) \(Printable.count(number))"
                case .string(let text): "\(name) \(text)"
                default: name
                }
            }
            try Console.print(what + String(repeating: " ", count: max(1, 36 - what.count)) + shown.joined(separator: "   "))
        }
    }

    func progress(_ text: String) { if Console.errorsAreTerminal { Console.noteRaw("\r\u{1B}[K" + text) } }
    func progressEnds() { if Console.errorsAreTerminal { Console.noteRaw("\r\u{1B}[K") } }
}

/// A relay in a process of its own, with this program's own binary.
final class BenchRelay {
    private let process = Process()
    let address: RelayAddress
    /// From the start of the process until it said where it listens.
    let startUp: Duration

    /// - Parameter options: of `serve`, besides host and port.
    init(_ options: [String]) throws {
        process.executableURL = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["serve", "--host", "127.0.0.1", "--port", "0", "--auth", "open", "--log-level", "error"] + options
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        let begin = ContinuousClock.now
        try process.run()
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n"), let byte = try output.fileHandleForReading.read(upToCount: 1)?.first { line.append(byte) }
        startUp = ContinuousClock.now - begin
        guard let address = RelayAddress(String(decoding: line.dropLast(), as: UTF8.self)) else {
            process.terminate()
            throw Failure("the relay to be measured did not start: 'boardrelay serve \(options.joined(separator: " "))' tells why")
        }
        self.address = address
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}
