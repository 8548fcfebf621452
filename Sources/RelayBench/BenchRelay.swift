#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayClient
import RelayConsole
import RelayIO
import RelaySystem

/// A relay in a process of its own, with this program's own binary.
final class BenchRelay {
    private let process: ChildProcess
    let address: RelayAddress
    /// From the start of the process until it said where it listens.
    let startUp: Duration

    /// - Parameters:
    ///   - options: of `serve`, besides host and port.
    ///   - pinning: the program that keeps it on a processor of its own.
    init(_ options: [String], pinning: String? = nil) throws {
        let program = Program.path
        let words = ["serve", "--host", "127.0.0.1", "--port", "0", "--auth", "open", "--log-level", "error"] + options
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure("a pipe: \(String(cString: strerror(errno)))") }
        defer { close(ends[0]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let begin = ContinuousClock.now
        do {
            defer { close(ends[1]) }
            // Its settings are these, and no others.
            let environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("BOARDRELAY_") }
            process = try ChildProcess(
                pinning ?? program, (pinning == nil ? [] : ["-c", "\(CorePinning.relayCore)", program]) + words, environment: environment,
                output: .descriptor(ends[1]))
        }
        var line: [UInt8] = [], byte: UInt8 = 0
        while line.last != UInt8(ascii: "\n"), read(ends[0], &byte, 1) == 1 { line.append(byte) }
        startUp = ContinuousClock.now - begin
        guard let address = RelayAddress(String(decoding: line.dropLast(), as: UTF8.self)) else {
            process.signal(SIGTERM)
            throw Failure("the relay to be measured did not start: 'boardrelay serve \(options.joined(separator: " "))' tells why")
        }
        self.address = address
    }

    func stop() {
        process.signal(SIGTERM)
        _ = process.wait()
    }
}
