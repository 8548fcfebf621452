import RelayIO
import RelayJournal
import RelaySystem

/// A journal's files in a folder of the file system, which it keeps other processes out of.
final class FolderStorage: JournalStorage {
    /// Asked before each call on the files, which is not made when it throws: how tests make a disk slow or full.
    typealias Permit = @Sendable (StorageError.Operation) throws(StorageError) -> Void

    private let folder: Folder
    private let permit: Permit
    /// Told of each read.
    private let didRead: (_ bytes: Int) -> Void

    /// Makes the folder if it does not exist.
    ///
    /// - Parameters:
    ///   - waits: told who is in it; then this blocks until nobody is. See `Folder.lockOut`.
    ///   - didRead: called after each read.
    /// - Throws: `FileFailure`: it cannot be made or opened, is another user's, or another process is in it.
    init(
        path: String, permit: @escaping Permit = { _ in }, waits: ((_ holder: String) -> Void)? = nil,
        didRead: @escaping (_ bytes: Int) -> Void = { _ in }
    ) throws(FileFailure) {
        self.permit = permit
        self.didRead = didRead
        folder = try Folder(path: path)
        try folder.lockOut(waits: waits)
    }

    /// A folder to read in, whoever's it is, while no other process is in it. Every change to it is an error.
    ///
    /// - Parameter didRead: called after each read.
    init(reading path: String, didRead: @escaping (_ bytes: Int) -> Void) throws(FileFailure) {
        permit = { (operation) throws(StorageError) in
            switch operation {
            case .list, .size, .read: break
            case .create, .write, .sync, .syncFolder, .truncate, .rename, .remove:
                throw StorageError(operation, path: path, code: 0, text: "it is only read")
            }
        }
        self.didRead = didRead
        folder = try Folder(reading: path)
        try folder.lockOutAsReader()
    }

    func list() throws(StorageError) -> [String] { try told(.list) { () throws(FileFailure) in try folder.list() } }
    func create(_ name: String) throws(StorageError) { try told(.create) { () throws(FileFailure) in try folder.create(name) } }
    func write(_ pieces: Pieces, to name: String, at offset: Int) throws(StorageError) {
        try told(.write) { () throws(FileFailure) in try folder.write(pieces.arrays, to: name, at: offset) }
    }
    func sync(_ name: String) throws(StorageError) { try told(.sync) { () throws(FileFailure) in try folder.sync(name) } }
    func syncFolder() throws(StorageError) { try told(.syncFolder) { () throws(FileFailure) in try folder.sync() } }
    func truncate(_ name: String, to byteCount: Int) throws(StorageError) {
        try told(.truncate) { () throws(FileFailure) in try folder.truncate(name, to: byteCount) }
    }
    func rename(_ name: String, to newName: String) throws(StorageError) {
        try told(.rename) { () throws(FileFailure) in try folder.rename(name, to: newName) }
    }
    func remove(_ name: String) throws(StorageError) { try told(.remove) { () throws(FileFailure) in try folder.remove(name) } }
    func size(of name: String) throws(StorageError) -> Int { try told(.size) { () throws(FileFailure) in try folder.size(of: name) } }
    func read(_ name: String, at offset: Int, count: Int) throws(StorageError) -> [UInt8] {
        let bytes = try told(.read) { () throws(FileFailure) in try folder.read(name, at: offset, count: count) }
        didRead(bytes.count)
        return bytes
    }
    func close() { folder.close() }

    private func told<Result>(_ operation: StorageError.Operation, _ body: () throws(FileFailure) -> Result) throws(StorageError) -> Result
    {
        try permit(operation)
        do throws(FileFailure) {
            return try body()
        } catch {
            throw StorageError(operation, path: error.path, code: error.code, text: error.text)
        }
    }
}
