import RelayPrimitives
import RelayStorage

// A copy while both go on: what was synced of a file is never written again. So lengths, taken between two batches, and the bytes up to
// them are a consistent copy as long as no file goes before it is read.

/// What journal and boards are at one moment.
package struct StoreCopy: Equatable, Sendable {
    package struct File: Equatable, Sendable {
        package var name: String
        /// What stands behind is not part of the copy.
        package var byteCount: Int
    }

    /// To be read in this order: the journal's oldest file first, which is wanted for compaction.
    package var files: [File] = []
    package var anchorFile = JournalAnchor.file
    package var anchor: [UInt8] = []
}

extension BoardStore {
    /// Files that a copy has not read yet stay until `endCopy`. One at a time.
    ///
    /// Of a board's file the copy has what the last checkpoint says, which is synced; what came since is in the journal.
    package func beginCopy() -> StoreCopy {
        var copy = StoreCopy()
        copy.files = journal.segments.map { StoreCopy.File(name: $0.file, byteCount: $0.byteCount) }
        for board in (Array(boards.values) + dropped).inOrder({ $0.id < $1.id }) {
            guard let saved = board.saved, saved.length > 0 else { continue }
            copy.files.append(.init(name: BoardFile.name(board.id, saved.generation), byteCount: saved.length))
        }
        copy.anchor = journal.currentAnchor(oldest: journal.segments[0].number).encoded()
        journal.hold(copy.files.map(\.name))
        return copy
    }

    /// The next piece; with the last one the file may go.
    ///
    /// - Throws: when the file has fewer bytes than it had.
    package func readCopy(of file: StoreCopy.File, at offset: Int, bytesMax: Int) throws(StorageError) -> [UInt8] {
        let bytes = try storage.read(file.name, at: offset, count: min(bytesMax, file.byteCount - offset))
        guard !bytes.isEmpty else {
            throw StorageError(.read, path: file.name, code: 0, text: "it ends at \(offset) and had \(file.byteCount) bytes")
        }
        if offset + bytes.count == file.byteCount, journal.hold.release(file.name) { removeFiles([file.name]) }
        return bytes
    }

    /// What waited for the copy goes.
    package func endCopy() { removeFiles(journal.hold.releaseAll()) }

    /// What would be gone, were there no copy.
    package var bytesHeld: Int { journal.deadBytesHeld + journal.hold.unneededBytes }
}

extension Journal {
    /// Its oldest segment is not copied yet, so that no compaction can end.
    var isHeld: Bool { hold.keeps(segments[0].file) }

    func hold(_ files: [String]) {
        hold = FileHold(files)
        deadBytesBefore = deadBytes
    }

    private var deadBytes: Int { segments.reduce(0) { $0 + $1.recordBytes - $1.liveBytes } }

    /// Dead since the hold began.
    fileprivate var deadBytesHeld: Int { isHeld ? max(0, deadBytes - deadBytesBefore) : 0 }
}
