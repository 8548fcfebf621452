/// All that is known of a board while nobody looks at it.
package struct BoardSummary: Equatable, Sendable {
    /// A `clear` that can be undone as long as its records are there.
    package struct Clear: Equatable, Sendable {
        package var offset: UInt64
        package var wallMilliseconds: UInt64
        /// Records that it took away.
        package var records: UInt64

        package init(offset: UInt64, wallMilliseconds: UInt64, records: UInt64) {
            self.offset = offset
            self.wallMilliseconds = wallMilliseconds
            self.records = records
        }
    }

    package var board: UInt64
    package var name: [UInt8]
    /// Offset of the newest change that is in the board's file: everything up to it can be read.
    package var head: UInt64 = 0
    /// Oldest first, the newest 64.
    package var epochs: [BoardEpoch] = []
    /// As the newest change says.
    package var lastUnretained: UInt64 = 0
    /// Markers of removals up to this offset are gone; 0: all are here.
    package var markerFloor: UInt64 = 0
    package var records = 0
    /// Of these records: key, custom type and payload, and 64 for each.
    package var bytes = 0
    /// Of its file.
    package var fileBytes = 0
    /// Of the newest change.
    package var wallMilliseconds: UInt64 = 0
    /// The newest one, if it is not undone.
    package var clear: Clear?

    package init(board: UInt64, name: [UInt8]) {
        self.board = board
        self.name = name
    }

    /// What a record counts, in bytes, besides its key, custom type and payload.
    package static let recordOverheadBytes = 64
    package static let epochsMax = 64
}

/// What has become of boards since the last report.
package struct BoardReport: Equatable, Sendable {
    /// Those that changed.
    package var boards: [BoardSummary] = []
    package var dropped: [UInt64] = []
    /// Bytes of all live records of each user whose sum changed, counted as in `BoardSummary`.
    package var userBytes: [[UInt8]: Int] = [:]

    package init() {}

    package var isEmpty: Bool { boards.isEmpty && dropped.isEmpty && userBytes.isEmpty }
}
