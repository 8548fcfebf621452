public import RelayWire

/// How the journal of a relay is.
public struct JournalStatus: JSONObject, Sendable {
    /// Where it is.
    public var folder = ""
    /// Files that it stands in.
    public var segments = 0
    /// Of all of them.
    public var bytes = 0
    /// Of them, bytes of what no later change has replaced.
    public var liveBytes = 0
    /// Keys stored.
    public var entries = 0
    /// Of the last change that is durable.
    public var lastSequence: UInt64 = 0
    /// Changes that wait to be written, and are not shown yet.
    public var recordsWaiting = 0
    /// Their keys and values.
    public var bytesWaiting = 0
    /// Changes made durable since the start.
    public var records = 0
    /// Writes since the start.
    public var writes = 0
    /// Syncs of files since the start.
    public var fsyncs = 0
    /// Bytes written since the start.
    public var bytesWritten = 0
    /// Segments emptied and removed since the start.
    public var compactions = 0
    /// Memory of the indexes of boards in use, and of what remembers their changes until their files are synced.
    public var boardIndexBytes = 0
    /// Times that writing or syncing failed since the start.
    public var failures = 0
    /// Times that it worked again.
    public var recoveries = 0
    /// Why nothing can be stored, if so.
    public var failure: String?
    /// What went wrong last, if anything did.
    public var lastError: String?

    package init() {}

    package mutating func fields(_ json: inout JSONFields) {
        json("boardIndexBytes", &boardIndexBytes)
        json("bytes", &bytes)
        json("bytesWaiting", &bytesWaiting)
        json("bytesWritten", &bytesWritten)
        json("compactions", &compactions)
        json("entries", &entries)
        json("failure", &failure)
        json("failures", &failures)
        json("folder", &folder)
        json("fsyncs", &fsyncs)
        json("lastError", &lastError)
        json("lastSequence", &lastSequence)
        json("liveBytes", &liveBytes)
        json("records", &records)
        json("recordsWaiting", &recordsWaiting)
        json("recoveries", &recoveries)
        json("segments", &segments)
        json("writes", &writes)
    }
}
