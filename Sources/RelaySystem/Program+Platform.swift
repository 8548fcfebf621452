import RelayIO

/// This program.
package enum Program {
    /// Where its file is.
    package static var path: String {
        var path = [CChar](repeating: 0, count: 4096)
        #if canImport(Darwin)
            var size = UInt32(path.count)
            let isKnown = _NSGetExecutablePath(&path, &size) == 0
        #else
            let isKnown = readlink("/proc/self/exe", &path, path.count - 1) > 0
        #endif
        return isKnown ? String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : CommandLine.arguments[0]
    }
}
