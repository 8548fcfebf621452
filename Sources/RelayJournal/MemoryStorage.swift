/// Files in memory, for a relay without a folder: gone with the program, and never full.
package final class MemoryStorage: JournalStorage {
    private var files: [String: [UInt8]] = [:]
    private static let noSuchFile: Int32 = 2
    private static let exists: Int32 = 17

    package init() {}

    /// Of all files.
    package var byteCount: Int { files.values.reduce(0) { $0 + $1.count } }

    package func list() throws(StorageError) -> [String] { Array(files.keys) }

    package func create(_ name: String) throws(StorageError) {
        guard files[name] == nil else { throw StorageError(.create, path: name, code: Self.exists, text: "File exists") }
        files[name] = []
    }

    package func write(_ pieces: Pieces, to name: String, at offset: Int) throws(StorageError) {
        try check(name, .write)
        // In place: a file that is handed around would be copied at each write.
        put(pieces, into: &files[name, default: []], at: offset)
    }

    package func sync(_ name: String) throws(StorageError) { try check(name, .sync) }
    package func syncFolder() throws(StorageError) {}

    package func truncate(_ name: String, to byteCount: Int) throws(StorageError) {
        try check(name, .truncate)
        grow(&files[name, default: []], to: byteCount)
        files[name, default: []].removeSubrange(byteCount...)
    }

    package func rename(_ name: String, to newName: String) throws(StorageError) {
        try check(name, .rename)
        files[newName] = files.removeValue(forKey: name)
    }

    package func remove(_ name: String) throws(StorageError) {
        try check(name, .remove)
        files[name] = nil
    }

    package func size(of name: String) throws(StorageError) -> Int {
        try check(name, .size)
        return files[name]?.count ?? 0
    }

    package func read(_ name: String, at offset: Int, count: Int) throws(StorageError) -> [UInt8] {
        try check(name, .read)
        guard let file = files[name], offset < file.count else { return [] }
        return Array(file[offset..<min(offset + count, file.count)])
    }

    package func close() {}

    private func put(_ pieces: Pieces, into file: inout [UInt8], at offset: Int) {
        grow(&file, to: offset)
        var offset = offset
        for bytes in pieces.arrays {
            file.replaceSubrange(offset..<min(offset + bytes.count, file.count), with: bytes)
            offset += bytes.count
        }
    }

    private func grow(_ file: inout [UInt8], to byteCount: Int) {
        guard file.count < byteCount else { return }
        file.append(contentsOf: repeatElement(0, count: byteCount - file.count))
    }

    private func check(_ name: String, _ operation: StorageError.Operation) throws(StorageError) {
        guard files[name] == nil else { return }
        throw StorageError(operation, path: name, code: Self.noSuchFile, text: "No such file")
    }
}
