/// What a journal asks of the folder it lives in. One owner at a time; each call returns when it is done.
///
/// A write is durable after `sync` of its file has returned, a creation, renaming or removal after `syncFolder` has.
/// Before that a crash may leave any part of it, in any order; and what a *failed* sync has left is unknown for good,
/// whatever a later one says (the system may have forgotten the pages that it could not write).
package protocol JournalStorage: AnyObject {
    /// Names of files, in no order.
    func list() throws(StorageError) -> [String]
    /// An empty file; one of that name must not exist.
    func create(_ name: String) throws(StorageError)
    /// Writes over what stands there and on beyond the end.
    func write(_ pieces: Pieces, to name: String, at offset: Int) throws(StorageError)
    func sync(_ name: String) throws(StorageError)
    func syncFolder() throws(StorageError)
    func truncate(_ name: String, to byteCount: Int) throws(StorageError)
    /// Replaces what has the new name.
    func rename(_ name: String, to newName: String) throws(StorageError)
    func remove(_ name: String) throws(StorageError)
    func size(of name: String) throws(StorageError) -> Int
    /// Fewer bytes than asked for where the file ends.
    func read(_ name: String, at offset: Int, count: Int) throws(StorageError) -> [UInt8]
    /// Gives up what is held open. Nothing is called after it.
    func close()
}

extension JournalStorage {
    package func write(_ bytes: [UInt8], to name: String, at offset: Int) throws(StorageError) {
        try write(Pieces(bytes), to: name, at: offset)
    }
}

/// A call on files that did not work.
package struct StorageError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Operation: String, Hashable, Sendable, CaseIterable {
        case list, create, write, sync, syncFolder, truncate, rename, remove, size, read
    }

    package var operation: Operation
    package var path: String
    /// The system's number, `errno`.
    package var code: Int32
    /// The system's words for it.
    package var text: String

    package init(_ operation: Operation, path: String, code: Int32, text: String) {
        self.operation = operation
        self.path = path
        self.code = code
        self.text = text
    }

    package var description: String { "\(operation.rawValue) \(path): \(text)" }
}
