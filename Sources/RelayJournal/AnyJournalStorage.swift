/// One type for storages of any kind, where a program has two of them.
package final class AnyJournalStorage: JournalStorage {
    private let storage: any JournalStorage

    package init(_ storage: any JournalStorage) { self.storage = storage }

    package func list() throws(StorageError) -> [String] { try storage.list() }
    package func create(_ name: String) throws(StorageError) { try storage.create(name) }
    package func write(_ pieces: Pieces, to name: String, at offset: Int) throws(StorageError) {
        try storage.write(pieces, to: name, at: offset)
    }
    package func sync(_ name: String) throws(StorageError) { try storage.sync(name) }
    package func syncFolder() throws(StorageError) { try storage.syncFolder() }
    package func truncate(_ name: String, to byteCount: Int) throws(StorageError) { try storage.truncate(name, to: byteCount) }
    package func rename(_ name: String, to newName: String) throws(StorageError) { try storage.rename(name, to: newName) }
    package func remove(_ name: String) throws(StorageError) { try storage.remove(name) }
    package func size(of name: String) throws(StorageError) -> Int { try storage.size(of: name) }
    package func read(_ name: String, at offset: Int, count: Int) throws(StorageError) -> [UInt8] {
        try storage.read(name, at: offset, count: count)
    }
    package func close() { storage.close() }
}
