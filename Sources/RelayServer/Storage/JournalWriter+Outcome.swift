internal import RelayCore
import RelayJournal
import RelayStorage

// What the journal's writer tells.

@available(macOS 15, iOS 18, *)
extension JournalWriter {
    /// What the engine is told, in the order in which it happened.
    enum Outcome: Sendable, Equatable {
        /// Everything submitted with this sequence and below is durable.
        case persisted(through: UInt64)
        /// What was submitted and not told durable is not, and will not be.
        case failed(String)
        /// Records are taken again.
        case recovered
        /// What was persisted of boards stands in their files.
        case boardsWritten(BoardReport)
        case boardRead(BoardBlock)
        case authorsRead([BoardAuthors])
        case recordsFound(StoredRecords)
        /// What was removed by the records submitted before is off the disk, or why not.
        case erased(StoreErased)
        /// For the log.
        case line(String)
    }

    /// What was in the folder.
    struct Opened: Sendable {
        /// But for boards.
        var entries: [JournalEntry] = []
        /// Of a space with a log.
        var sealedKeys: [UInt8]?
        var report = JournalReport()
        var boards: [BoardSummary] = []
        /// Records of each user, in bytes.
        var userBytes: [[UInt8]: Int] = [:]
        var boardLines: [String] = []
        /// Start number of the relay that stored last; 0: none did.
        var start: UInt32 { JournalWriter.start(in: entries, or: report.start) }
    }

    /// The greater of the stored start number and another known one.
    static func start(in entries: [JournalEntry], or known: UInt32) -> UInt32 {
        for entry in entries { if let start = Hub.storedStart(key: entry.key, value: entry.value ?? []) { return max(start, known) } }
        return known
    }
}
