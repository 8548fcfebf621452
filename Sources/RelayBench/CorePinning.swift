#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayIO
import RelaySystem

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
        guard let process = try? ChildProcess(program, ["-a", "-p", "-c", "\(loadCore)", "\(getpid())"]) else { return false }
        return process.wait() == .exited(0)
    }
}
