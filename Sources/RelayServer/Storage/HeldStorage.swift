import RelayJournal

/// Storage that stays open, and its folder locked, while journals of it come and go.
final class HeldStorage: JournalStorage {
    private let storage: any JournalStorage

    init(_ storage: any JournalStorage) { self.storage = storage }

    func list() throws(StorageError) -> [String] { try storage.list() }
    func create(_ name: String) throws(StorageError) { try storage.create(name) }
    func write(_ pieces: Pieces, to name: String, at offset: Int) throws(StorageError) { try storage.write(pieces, to: name, at: offset) }
    func sync(_ name: String) throws(StorageError) { try storage.sync(name) }
    func syncFolder() throws(StorageError) { try storage.syncFolder() }
    func truncate(_ name: String, to byteCount: Int) throws(StorageError) { try storage.truncate(name, to: byteCount) }
    func rename(_ name: String, to newName: String) throws(StorageError) { try storage.rename(name, to: newName) }
    func remove(_ name: String) throws(StorageError) { try storage.remove(name) }
    func size(of name: String) throws(StorageError) -> Int { try storage.size(of: name) }
    func read(_ name: String, at offset: Int, count: Int) throws(StorageError) -> [UInt8] {
        try storage.read(name, at: offset, count: count)
    }

    /// A journal has ended: another one may follow.
    func close() {}

    func release() { storage.close() }
}
