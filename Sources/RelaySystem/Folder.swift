import RelayIO

/// A folder of one process, and the plain files in it.
///
/// Names are looked up in the folder that was opened, wherever it is moved to, and never followed when they are links.
/// Not to be used from several threads at once.
package final class Folder {
    package let path: String
    private let descriptor: Int32
    private var lock: Int32 = -1
    /// The file that was written last: its `sync` must come by the descriptor that wrote, or an error may be told to
    /// nobody.
    private var written: (name: String, descriptor: Int32)?

    /// Makes the folder, for this user alone, if it does not exist. The path itself may be a link.
    ///
    /// - Throws: `FileFailure`, also when it belongs to another user, or no file can be made in it.
    package init(path: String) throws(FileFailure) {
        try FileDurability.makeFolder(path)
        let descriptor = try Self.opened(path)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let code = errno
            systemClose(descriptor)
            throw FileFailure("open", path, code)
        }
        guard status.st_uid == geteuid() else {
            systemClose(descriptor)
            throw FileFailure("open", path, EPERM, "it belongs to user \(status.st_uid), this process to user \(geteuid())")
        }
        // Files that are there may be writable nevertheless: it would be found out when the next one is to be made.
        guard faccessat(descriptor, ".", W_OK | X_OK, AT_EACCESS) == 0 else {
            let code = errno
            systemClose(descriptor)
            throw FileFailure("write in", path, code)
        }
        self.path = path
        self.descriptor = descriptor
    }

    /// A folder that is there, whoever's it is, to read in.
    package init(reading path: String) throws(FileFailure) {
        descriptor = try Self.opened(path)
        self.path = path
    }

    private static func opened(_ path: String) throws(FileFailure) -> Int32 {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure("open", path, errno) }
        return descriptor
    }

    deinit { close() }

    package func close() {
        if let written { systemClose(written.descriptor) }
        written = nil
        // Not by closing alone: a child that is being started has a copy of the descriptor until it runs its program.
        if lock >= 0 {
            _ = flock(lock, LOCK_UN)
            systemClose(lock)
        }
        lock = -1
        if !isClosed { systemClose(descriptor) }
        isClosed = true
    }

    private var isClosed = false

    /// Gives a folder another name, durably; what has it already must be an empty folder.
    package static func move(_ path: String, to newPath: String) throws(FileFailure) {
        guard renameat(AT_FDCWD, path, AT_FDCWD, newPath) == 0 else { throw FileFailure("make", newPath, errno) }
        try FileDurability.syncParent(of: newPath)
    }

    // MARK: - One process at a time

    /// Keeps other processes out until this one ends, or `close` is called.
    ///
    /// - Parameter waits: told once who is in it, such as "pid 4711"; then this blocks until it has the folder. Others that wait may have
    ///   it before. Without `waits` such a folder is an error.
    /// - Throws: `FileFailure`, `EBUSY` with the number of the process that is in it; `ESTALE` when the path leads to another folder
    ///   after the wait.
    package func lockOut(waits: ((_ holder: String) -> Void)? = nil) throws(FileFailure) {
        let file = openat(descriptor, Self.lockFile, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("open", Self.lockFile) }
        try take(file, LOCK_EX, waits)
        let text = Array("\(getpid())\n".utf8)
        guard ftruncate(file, 0) == 0, pwrite(file, text, text.count, 0) == text.count else { throw failure("write", Self.lockFile) }
    }

    /// The same without a change to the folder, beside other readers. A folder that no process has used has no lock to take.
    package func lockOutAsReader() throws(FileFailure) {
        let file = openat(descriptor, Self.lockFile, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return }
            throw failure("open", Self.lockFile)
        }
        try take(file, LOCK_SH)
    }

    private static let lockFile = "lock"

    /// Takes over the descriptor, and closes it if somebody else has the lock.
    private func take(_ file: Int32, _ mode: Int32, _ waits: ((_ holder: String) -> Void)? = nil) throws(FileFailure) {
        guard flock(file, mode | LOCK_NB) != 0 else { return lock = file }
        guard errno == EWOULDBLOCK else {
            defer { systemClose(file) }
            throw failure("lock", Self.lockFile)
        }
        let holder = Self.holder(file)
        guard let waits else {
            systemClose(file)
            throw FileFailure("open", path, EBUSY, "it is in use by \(holder)")
        }
        waits(holder)
        while flock(file, mode) != 0 {
            guard errno == EINTR else {
                defer { systemClose(file) }
                throw failure("lock", Self.lockFile)
            }
        }
        lock = file
        // Hours may have passed. What is at the path now has a lock of its own, which this process does not have.
        var (locked, present) = (stat(), stat())
        guard fstat(file, &locked) == 0, stat("\(path)/\(Self.lockFile)", &present) == 0, locked.st_ino == present.st_ino,
            locked.st_dev == present.st_dev
        else { throw FileFailure("open", path, ESTALE, "it was replaced while this process waited for it") }
    }

    /// Who has written itself into a lock, for people.
    private static func holder(_ file: Int32) -> String {
        var text = [UInt8](repeating: 0, count: 16)
        let count = pread(file, &text, text.count, 0)
        let process = String(decoding: text[..<max(count, 0)], as: UTF8.self).prefix { $0.isNumber }
        return process.isEmpty ? "another process" : "pid \(process)"
    }

    // MARK: - Files

    /// Names of everything in it but `.` and `..`, in no order.
    package func list() throws(FileFailure) -> [String] {
        let again = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard again >= 0, let stream = fdopendir(again) else {
            let code = errno
            if again >= 0 { systemClose(again) }
            throw FileFailure("list", path, code)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw FileFailure("list", path, errno) }
        return names
    }

    /// An empty file for this user alone; one of that name must not exist.
    package func create(_ name: String) throws(FileFailure) {
        let file = openat(descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("create", name) }
        keep(name, file)
    }

    package func write(_ arrays: [[UInt8]], to name: String, at offset: Int) throws(FileFailure) {
        let file = try writable(name)
        let pieces = arrays.filter { !$0.isEmpty }
        // What is written so far: whole pieces, and bytes of the next one.
        var (first, skipped, position) = (0, 0, offset)
        while first < pieces.count {
            var count = Self.gather(pieces[first...], skipping: skipped) { pwritev(file, $0.baseAddress, Int32($0.count), off_t(position)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("write", name, count == 0 ? ENOSPC : errno) }
            position += count
            while first < pieces.count, count >= pieces[first].count - skipped {
                count -= pieces[first].count - skipped
                (first, skipped) = (first + 1, 0)
            }
            skipped += count
        }
    }

    /// Pieces of one call: fewer than any system's IOV_MAX, and than a stack of closures minds.
    private static let piecesPerWrite = 64

    /// Calls `body` with the places of the first pieces, without the first bytes of the first of them.
    private static func gather(
        _ pieces: ArraySlice<[UInt8]>, skipping skipped: Int, _ body: (UnsafeMutableBufferPointer<iovec>) -> Int
    ) -> Int {
        withUnsafeTemporaryAllocation(of: iovec.self, capacity: min(pieces.count, piecesPerWrite)) { vectors in
            func fill(_ index: Int) -> Int {
                guard index < vectors.count else { return body(vectors) }
                return pieces[pieces.startIndex + index].withUnsafeBytes { bytes in
                    let skipped = index == 0 ? skipped : 0
                    vectors[index] = iovec(
                        iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress! + skipped), iov_len: bytes.count - skipped)
                    return fill(index + 1)
                }
            }
            return fill(0)
        }
    }

    /// Returns when everything written to the file is durable.
    ///
    /// - Throws: also when the file was removed meanwhile: what is in it is in no folder any more.
    package func sync(_ name: String) throws(FileFailure) {
        let file = try writable(name)
        guard FileDurability.sync(file) == 0 else { throw failure("sync", name) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure("sync", name) }
        guard status.st_nlink > 0 else { throw failure("sync", name, ENOENT) }
    }

    /// Returns when every creation, renaming and removal is durable.
    package func sync() throws(FileFailure) {
        guard FileDurability.sync(folder: descriptor) == 0 else { throw FileFailure("sync", path, errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileFailure("sync", path, errno) }
        guard status.st_nlink > 0 else { throw FileFailure("sync", path, ENOENT) }
    }

    package func truncate(_ name: String, to byteCount: Int) throws(FileFailure) {
        guard ftruncate(try writable(name), off_t(byteCount)) == 0 else { throw failure("cut", name) }
    }

    /// Replaces what has the new name.
    package func rename(_ name: String, to newName: String) throws(FileFailure) {
        forget(name)
        forget(newName)
        guard renameat(descriptor, name, descriptor, newName) == 0 else { throw failure("rename", name) }
    }

    package func remove(_ name: String) throws(FileFailure) {
        forget(name)
        guard unlinkat(descriptor, name, 0) == 0 else { throw failure("remove", name) }
    }

    /// In bytes.
    package func size(of name: String) throws(FileFailure) -> Int {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { throw failure("look at", name) }
        return Int(status.st_size)
    }

    /// Fewer bytes than asked for where the file ends.
    package func read(_ name: String, at offset: Int, count: Int) throws(FileFailure) -> [UInt8] {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { throw failure("open", name) }
        defer { systemClose(file) }
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let count = pread(file, buffer.baseAddress! + filled, count - filled, off_t(offset + filled))
                if count < 0, errno == EINTR { continue }
                if count < 0 { code = errno }
                guard count > 0 else { return }
                filled += count
            }
        }
        guard code == 0 else { throw failure("read", name, code) }
        return bytes
    }

    // MARK: - Descriptors

    private func writable(_ name: String) throws(FileFailure) -> Int32 {
        if let written, written.name == name { return written.descriptor }
        let file = openat(descriptor, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { throw failure("open", name) }
        keep(name, file)
        return file
    }

    private func keep(_ name: String, _ file: Int32) {
        if let written { systemClose(written.descriptor) }
        written = (name, file)
    }

    private func forget(_ name: String) {
        guard let written, written.name == name else { return }
        systemClose(written.descriptor)
        self.written = nil
    }

    private func failure(_ operation: String, _ name: String, _ code: Int32 = errno) -> FileFailure {
        FileFailure(operation, "\(path)/\(name)", code)
    }
}
