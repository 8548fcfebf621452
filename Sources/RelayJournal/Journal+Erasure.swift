// Erasure removes superseded values from the folder: it compacts every segment, even where that frees little.
//
// The copies are durable in new segments before the old ones go, one by one and from the oldest on. So a crash finds all live
// entries, and some of the old segments; the owner asks again then, because it has kept a note of it in an entry of its own.

/// How an erasure stands.
package enum JournalErasure: Equatable, Sendable {
    /// No erasure is under way, or it is complete.
    case none
    /// All segments with this number and below are to go.
    case underWay(through: UInt64)
    /// Some of it stays, for this reason, until `beginErasure` is called again.
    case failed(String)
}

extension Journal {
    /// Begins to erase every value that was replaced or taken away so far; `compactStep` goes on until `erasure` is `none`.
    ///
    /// - Throws: when no new segment could be begun: the journal has failed.
    package func beginErasure() throws(JournalError) {
        try checkOpen()
        guard holdsSuperseded else { return }
        if headIsFull || segments[segments.count - 1].recordBytes > 0 { try failing { () throws(StorageError) in try beginSegment() } }
        holdsSuperseded = false
        unreadableSegment = nil
        erasure = .underWay(through: segments[segments.count - 1].number - 1)
        try endErasure()
    }

    /// A segment is gone, perhaps the last one of this erasure.
    func endErasure() throws(JournalError) {
        guard case .underWay(let through) = erasure, segments[0].number > through else { return }
        do throws(StorageError) {
            // What failures have given up, and could not be removed then.
            let strays = try storage.list().filter { file in JournalFile.number(file) != nil && !segments.contains { $0.file == file } }
            for file in strays { try storage.remove(file) }
        } catch {
            return failErasure(error.description)
        }
        try failing { () throws(StorageError) in try storage.syncFolder() }
        erasure = .none
    }

    func failErasure(_ text: String) {
        guard case .underWay = erasure else { return }
        erasure = .failed(text)
        holdsSuperseded = true
    }
}
