import RelayJournal

/// How the journal of a relay is.
public struct JournalStatus: Codable, Sendable, Hashable {
    /// Where it is.
    public var folder: String
    /// Files that it stands in.
    public var segments: Int
    /// Of all of them.
    public var bytes: Int
    /// Of them, bytes of what no later change has replaced.
    public var liveBytes: Int
    /// Keys stored.
    public var entries: Int
    /// Of the last change that is durable.
    public var lastSequence: UInt64
    /// Changes that wait to be written, and are not shown yet.
    public var recordsWaiting: Int
    /// Their keys and values.
    public var bytesWaiting: Int
    /// Changes made durable since the start.
    public var records: Int
    /// Writes since the start.
    public var writes: Int
    /// Syncs of files since the start.
    public var fsyncs: Int
    /// Bytes written since the start.
    public var bytesWritten: Int
    /// Segments emptied and removed since the start.
    public var compactions: Int
    /// Times that writing or syncing failed since the start.
    public var failures: Int
    /// Times that it worked again.
    public var recoveries: Int
    /// Why nothing can be stored, if so.
    public var failure: String?
    /// What went wrong last, if anything did.
    public var lastError: String?

    init(
        folder: String, size: JournalSize, counters: JournalCounters, lastSequence: UInt64, failure: String?, recordsWaiting: Int,
        bytesWaiting: Int
    ) {
        self.folder = folder
        segments = size.segments
        bytes = size.bytes
        liveBytes = size.liveBytes
        entries = size.liveEntries
        self.lastSequence = lastSequence
        self.recordsWaiting = recordsWaiting
        self.bytesWaiting = bytesWaiting
        records = counters.records
        writes = counters.writes
        fsyncs = counters.fsyncs
        bytesWritten = counters.bytesWritten
        compactions = counters.compactions
        failures = counters.failures
        recoveries = counters.recoveries
        self.failure = failure
        lastError = counters.lastError
    }
}
