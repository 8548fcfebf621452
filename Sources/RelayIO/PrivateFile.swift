/// A small file that only this account may read: a key, a secret.
package enum PrivateFile {
    package struct Failure: Error, CustomStringConvertible {
        package var path: String
        package var code: Int32
        package var description: String { "\(path): \(SystemError.text(code))" }
    }

    /// The content of the file; a missing file is made with `content`.
    ///
    /// Processes that make it at the same moment agree on one content: it is written under another name and linked to
    /// its own, which only one of them can. Folders on the way are made for this account alone.
    package static func readOrCreate(_ path: String, bytesMax: Int, content: () -> [UInt8]) throws(Failure) -> [UInt8] {
        while true {
            if let found = try read(path, bytesMax: bytesMax) { return found }
            try makeFolder(of: path)
            let draft = "\(path).\(getpid())-\(String(SystemEntropy.word(), radix: 16))"
            let bytes = content()
            try write(bytes, toNew: draft)
            let result = link(draft, path)
            let code = errno
            unlink(draft)
            guard result == 0 || code == EEXIST else { throw Failure(path: path, code: code) }
            try syncName(of: path)
            if result == 0 { return bytes }
        }
    }

    /// Replaces the file's content. A reader finds the old or the new content whole, even after a crash.
    package static func replace(_ path: String, content: [UInt8]) throws(Failure) {
        try makeFolder(of: path)
        let draft = "\(path).\(getpid())-\(String(SystemEntropy.word(), radix: 16))"
        try write(content, toNew: draft)
        guard rename(draft, path) == 0 else {
            let code = errno
            unlink(draft)
            throw Failure(path: path, code: code)
        }
        try syncName(of: path)
    }

    /// Whoever was told what stands in the file finds it there after a loss of power.
    private static func syncName(of path: String) throws(Failure) {
        do throws(FileFailure) {
            try FileDurability.syncParent(of: path)
        } catch {
            throw Failure(path: error.path, code: error.code)
        }
    }

    /// `nil` if there is no such file. One that is longer than `bytesMax` is cut there.
    package static func read(_ path: String, bytesMax: Int) throws(Failure) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw Failure(path: path, code: errno)
        }
        defer { systemClose(descriptor) }
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        var filled = 0
        while filled < bytesMax {
            let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress! + filled, bytesMax - filled, off_t(filled)) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure(path: path, code: errno) }
            if count == 0 { break }
            filled += count
        }
        return Array(bytes[..<filled])
    }

    private static func write(_ bytes: [UInt8], toNew path: String) throws(Failure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(path: path, code: errno) }
        defer { systemClose(descriptor) }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress! + written, bytes.count - written, off_t(written)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0, written + count < bytes.count || FileDurability.sync(descriptor) == 0 else {
                let code = errno
                unlink(path)
                throw Failure(path: path, code: code)
            }
            written += count
        }
    }

    private static func makeFolder(of path: String) throws(Failure) {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
        do throws(FileFailure) {
            try FileDurability.makeFolder(String(path[..<slash]))
        } catch {
            throw Failure(path: error.path, code: error.code)
        }
    }
}
