import Foundation
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
        let program = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        let words = ["serve", "--host", "127.0.0.1", "--port", "0", "--auth", "open", "--log-level", "error"] + options
        let output = Pipe()
        let begin = ContinuousClock.now
        process = try ChildProcess(
            pinning ?? program.path, (pinning == nil ? [] : ["-c", "\(CorePinning.relayCore)", program.path]) + words,
            output: .descriptor(output.fileHandleForWriting.fileDescriptor))
        try output.fileHandleForWriting.close()
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n"), let byte = try output.fileHandleForReading.read(upToCount: 1)?.first { line.append(byte) }
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
