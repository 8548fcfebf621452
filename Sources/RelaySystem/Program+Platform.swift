#if !canImport(FoundationEssentials)
    internal import Foundation
#endif
import RelayIO

/// This program.
package enum Program {
    package static let version = "0.1.0"

    /// Where its file is.
    package static var path: String {
        #if canImport(FoundationEssentials)
            var path = [CChar](repeating: 0, count: 4096)
            let count = readlink("/proc/self/exe", &path, path.count)
            return count > 0 ? String(decoding: path.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : CommandLine.arguments[0]
        #else
            return Bundle.main.executableURL?.path ?? CommandLine.arguments[0]
        #endif
    }
}
