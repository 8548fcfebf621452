import Foundation

/// What this process has allocated and not freed, as its allocator counts it.
enum Heap {
    /// In bytes; `nil` where it cannot be asked: another system, or a sanitizer's allocator.
    static var bytes: Int? {
        #if canImport(Glibc)
            // <malloc.h> is in no module.
            guard let symbol = dlsym(nil, "malloc_info") else { return nil }
            let tell = unsafeBitCast(symbol, to: (@convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32).self)
            var text: UnsafeMutablePointer<CChar>?
            var count = 0
            guard let file = open_memstream(&text, &count) else { return nil }
            let isTold = tell(0, file) == 0
            fclose(file)
            defer { free(text) }
            guard isTold, let text else { return nil }
            // Behind the arenas stand the sums of all of them.
            guard let sums = String(cString: text).components(separatedBy: "</heap>").last else { return nil }
            func size(_ element: String) -> Int {
                guard let from = sums.range(of: element), let size = sums[from.upperBound...].range(of: "size=\"") else { return 0 }
                return Int(sums[size.upperBound...].prefix { $0 != "\"" }) ?? 0
            }
            let bytes =
                size("system type=\"current\"") + size("total type=\"mmap\"") - size("total type=\"fast\"") - size("total type=\"rest\"")
            return bytes > 0 ? bytes : nil
        #else
            return nil
        #endif
    }

    /// Whether it sees what is allocated.
    static var isSeen: Bool {
        guard let before = bytes else { return false }
        return withExtendedLifetime([UInt8](repeating: 1, count: 300_000)) { (bytes ?? 0) - before > 250_000 }
    }
}
