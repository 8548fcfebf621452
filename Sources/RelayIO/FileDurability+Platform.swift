/// How each platform makes what was written survive a loss of power.
enum FileDurability {
    /// - Returns: 0, or -1 with `errno`.
    static func sync(_ file: Int32) -> Int32 {
        #if canImport(Darwin)
            // fsync leaves it in the drive's cache. Some file systems (network ones) know no other way.
            if fcntl(file, F_FULLFSYNC) == 0 { return 0 }
            guard errno == ENOTSUP || errno == EINVAL else { return -1 }
        #endif
        return untilDone { fsync(file) }
    }

    /// Entries of a folder.
    static func sync(folder: Int32) -> Int32 { untilDone { fsync(folder) } }

    private static func untilDone(_ call: () -> Int32) -> Int32 {
        while true {
            let result = call()
            guard result != 0, errno == EINTR else { return result }
        }
    }
}
