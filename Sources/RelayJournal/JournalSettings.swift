package struct JournalSettings: Equatable, Sendable {
    /// A segment is closed when one more batch would make it longer. A longer batch gets a segment to itself.
    package var segmentBytes = 64 * 1024 * 1024
    /// Stands before every record of a journal made anew, and is told nobody: a reader that has lost its place looks
    /// for it, and no stored value can pretend to be a record. Draw it at random.
    package var mark: UInt32
    /// That writes it.
    package var program = ProgramVersion()

    package init(mark: UInt32) { self.mark = mark }
}

/// What a journal has done since it was opened.
package struct JournalCounters: Equatable, Sendable {
    package var writes = 0
    /// Of files; those of the folder not counted.
    package var fsyncs = 0
    /// Appended; copies not counted.
    package var records = 0
    package var bytesWritten = 0
    package var failures = 0
    package var recoveries = 0
    /// Segments emptied and removed.
    package var compactions = 0
    package var lastError: String?

    package init() {}
}

/// How large a journal is.
package struct JournalSize: Equatable, Sendable {
    package var segments = 0
    /// Of all segments, as far as they are sound.
    package var bytes = 0
    /// Of entries that no later write has replaced.
    package var liveBytes = 0
    package var liveEntries = 0
}

/// What was found at opening.
package struct JournalReport: Equatable, Sendable {
    package struct Damage: Equatable, Sendable {
        package var file: String
        package var offset: Int
        package var byteCount: Int
        /// The file that holds the damaged bytes; `nil` when there are none, because the segment is cut.
        package var quarantine: String?
    }

    package var segments = 0
    package var records = 0
    /// Of the last record that was ever durable, as far as is known. 0 in a new journal.
    package var lastSequence: UInt64 = 0
    /// At the end of the last segment: what a crash left of changes that nobody was told to be durable.
    package var cutBytes = 0
    package var damage: [Damage] = []
    /// Number of the newest start that the anchor knows; 0: none.
    package var start: UInt32 = 0
    /// An anchor was there: nothing is missing at either end.
    package var isAnchored = false
    /// Leftovers of crashes and failures, removed.
    package var removed: [String] = []

    package init() {}

    /// For the log: what an operator should know. Empty after an ordinary stop.
    package var lines: [String] {
        var lines = damage.map { damage in
            let kept = damage.quarantine.map { "kept in \($0)" } ?? "they are gone"
            return "\(damage.file): \(damage.byteCount) bytes from \(damage.offset) on are damaged, \(kept)"
        }
        if cutBytes > 0 { lines.append("\(cutBytes) bytes of unfinished changes were cut from the journal's end") }
        return lines
    }
}

/// `0.1.0`, as a number that a file holds.
package struct ProgramVersion: Equatable, Sendable, CustomStringConvertible {
    /// 16 bits for each part; 0: not known.
    var number: UInt64 = 0

    package init() {}
    init(number: UInt64) { self.number = number }
    package init(_ text: String) { number = text.split(separator: ".").prefix(3).reduce(0) { $0 << 16 | UInt64(UInt16($1) ?? 0) } }

    package var description: String { number == 0 ? "another version" : "\(number >> 32).\(number >> 16 & 0xFFFF).\(number & 0xFFFF)" }
}
