import Foundation

/// Keeps the relay and its load on a processor each, so that neither takes the other's, by the program `taskset`, which
/// Linux has.
enum CorePinning {
    static let relayCore = 0, loadCore = 1

    /// Its path; `nil` where there is none, or only one processor.
    static var program: String? {
        guard ProcessInfo.processInfo.activeProcessorCount >= 2 else { return nil }
        return ["/usr/bin/taskset", "/bin/taskset"].first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// This process, with all its threads.
    ///
    /// - Returns: whether it stays there.
    static func pinLoad(_ program: String) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["-a", "-p", "-c", "\(loadCore)", "\(getpid())"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
