/// The numbers of a board store.
package struct BoardSettings: Equatable, Sendable {
    /// Values of changes that only the journal is known to hold, and 160 bytes for each: beyond them the boards' files are synced.
    package var checkpointBytes = 4 * 1024 * 1024
    /// The same for records of boards that have left the memory, and that a start would read again for such changes.
    package var checkpointRecords = 250_000
    /// Between checkpoints for such records.
    package var checkpointPauseMilliseconds: UInt64 = 2_000
    /// Read, and written, by one step.
    package var stepBytes = 256 * 1024
    /// Dead bytes of a file that are not worth a compaction.
    package var compactionBytes = 1024 * 1024
    /// After a compaction that failed, until the next.
    package var compactionPauseMilliseconds: UInt64 = 60_000
    /// Removals that a board remembers. [BL4]
    package var markersMax = 5_000
    package var markerMilliseconds: UInt64 = 7 * 24 * 3600 * 1000
    /// A `clear` can be undone so long. [BL6]
    package var undoMilliseconds: UInt64 = 600_000
    /// What a `clear` took away stays so much longer, for an undo that is on its way.
    package var undoGraceMilliseconds: UInt64 = 60_000
    /// Parts that no `put` named go so long after the newest of their upload. [BL8]
    package var partsMilliseconds: UInt64 = 60_000
    /// A board that nobody reads or writes leaves the memory after it.
    package var idleMilliseconds: UInt64 = 60_000
    /// Memory of all indexes. Beyond it no board is read into the memory, and the one that was used longest ago leaves it, once it has
    /// been there for `stayMilliseconds`. One board may be larger.
    package var indexBytesMax = 128 * 1024 * 1024
    package var stayMilliseconds: UInt64 = 1_000
    /// Records in a file this close to each other are read together.
    package var gapBytes = 4096

    package init() {}
}
