/// How each platform makes what was written survive a loss of power.
package enum FileDurability {
    /// - Returns: 0, or -1 with `errno`.
    package static func sync(_ file: Int32) -> Int32 {
        #if canImport(Darwin)
            // fsync leaves it in the drive's cache. Some file systems (network ones) know no other way.
            if fcntl(file, F_FULLFSYNC) == 0 { return 0 }
            guard errno == ENOTSUP || errno == EINVAL else { return -1 }
        #endif
        return untilDone { fsync(file) }
    }

    /// Entries of a folder.
    package static func sync(folder: Int32) -> Int32 { untilDone { fsync(folder) } }

    private static func untilDone(_ call: () -> Int32) -> Int32 {
        while true {
            let result = call()
            guard result != 0, errno == EINTR else { return result }
        }
    }

    /// Makes a folder for this user alone, and those on the way to it, durably: what is synced in it later would be lost
    /// with it.
    package static func makeFolder(_ path: String) throws(FileFailure) {
        if mkdir(path, 0o700) == 0 { return try syncParent(of: path) }
        if errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { throw FileFailure("make", path, errno) }
        try makeFolder(String(path[..<slash]))
        if mkdir(path, 0o700) == 0 { return try syncParent(of: path) }
        guard errno == EEXIST else { throw FileFailure("make", path, errno) }
    }

    /// Makes the name of a file or folder durable, and that something was renamed to it.
    package static func syncParent(of path: String) throws(FileFailure) {
        // Not `path/..`: a file has no parent of that name.
        let name = path.reversed().drop { $0 == "/" }.drop { $0 != "/" }
        let parent = name.isEmpty ? "." : String(name.reversed())
        let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 {
            // One that may be written but not read cannot be synced.
            if errno == EACCES { return }
            throw FileFailure("sync", parent, errno)
        }
        defer { systemClose(descriptor) }
        guard sync(folder: descriptor) == 0 else { throw FileFailure("sync", parent, errno) }
    }
}

/// What did not work, on which file, and why.
package struct FileFailure: Error, Equatable, Sendable, CustomStringConvertible {
    package var operation: String
    package var path: String
    /// The system's `errno`.
    package var code: Int32
    package var text: String

    package init(_ operation: String, _ path: String, _ code: Int32, _ text: String? = nil) {
        self.operation = operation
        self.path = path
        self.code = code
        self.text = text ?? SystemError.text(code)
    }

    package var description: String { "cannot \(operation) \(path): \(text)" }
}
