internal import Dispatch
internal import RelayCore
import RelayJournal
import RelayStorage
import RelaySystem

package enum BackupLimits {
    /// What a backup may keep on the disk of what would be gone without it.
    package static let heldBytesMax = 1 << 30
}

// A copy of the data folder while it is used, for one thread that is not the engine's: each piece is one turn of the journal's queue.

@available(macOS 15, iOS 18, *)
extension JournalWriter {
    /// Read in one turn: a commit waits for no more.
    static let copyBytes = 256 * 1024
    enum Copying { case no, underWay, failed(String) }

    /// Takes names and lengths behind everything that is durable now. `endCopy` must follow.
    nonisolated func beginCopy() throws(RelayServerError) -> StoreCopy {
        try onQueue { writer in
            guard let boards = writer.boards else { return .failure(RelayServerError(text: "the relay has ended")) }
            guard case .no = writer.copying else { return .failure(RelayServerError(text: "another backup is under way")) }
            writer.copying = .underWay
            return .success(boards.beginCopy())
        }
    }

    nonisolated func readCopy(of file: StoreCopy.File, at offset: Int) throws(RelayServerError) -> [UInt8] {
        try onQueue { writer in
            if case .failed(let text) = writer.copying { return .failure(RelayServerError(text: text)) }
            guard let boards = writer.boards else { return .failure(RelayServerError(text: "the relay has ended")) }
            do throws(StorageError) {
                let bytes = try boards.readCopy(of: file, at: offset, bytesMax: Self.copyBytes)
                // An erasure may have waited for this file.
                if offset + bytes.count == file.byteCount { writer.wake() }
                return .success(bytes)
            } catch {
                return .failure(RelayServerError(text: "\(error)"))
            }
        }
    }

    nonisolated func endCopy() {
        executor.queue.sync {
            assumeIsolated { writer in
                writer.copying = .no
                writer.boards?.endCopy()
                writer.wake()
            }
        }
    }

    /// A copy that keeps too much fails, and what waited for it goes.
    func boundCopy(_ boards: BoardStore) {
        guard case .underWay = copying, boards.bytesHeld > copyHeldBytesMax else { return }
        let (held, most) = (boards.bytesHeld, copyHeldBytesMax)
        copying = .failed("the backup was too slow: \(held) bytes waited for it to be removed from the data folder, at most \(most) may")
        boards.endCopy()
    }

    nonisolated private func onQueue<Value: Sendable>(
        _ body: @Sendable (isolated JournalWriter) -> Result<Value, RelayServerError>
    ) throws(RelayServerError) -> Value {
        try executor.queue.sync { assumeIsolated { body($0) } }.get()
    }
}
