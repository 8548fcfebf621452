/// What a node asks of the log of its space, and what it is told: the seam that an engine stands behind.
///
/// Both are values, and no protocol: an engine's answers come later, over a socket that another queue owns. So a call can wait, be lost
/// and be repeated, nothing calls back into the machine, and nothing has a lock. `MemoryLog`, a simulation and a machine of an engine's
/// protocol read the same calls.
///
/// Entries have positions that rise from 1 on; some may be missing, 0 is before the first.
package enum SpaceLog {
    /// Names an append, however often it is asked.
    package struct AppendID: Hashable, Sendable {
        /// Of the process that appends: drawn at random when it starts.
        package var life: UInt64
        package var number: UInt64

        package init(life: UInt64, number: UInt64) {
            self.life = life
            self.number = number
        }
    }

    package enum Call: Equatable, Sendable {
        /// Appends an entry if the newest one has the position `after`. An id that was taken before gets the answer of then, for at least
        /// as long as an owner may ask again (`ClusterSettings.ownerLease`). Only what a majority of the engine has on its disks is taken.
        case append([UInt8], after: UInt64, id: AppendID)
        /// Tells all entries from this position on, in order, and then each as it comes. It ends the `follow` before it; `nil` only ends
        /// that. Where the oldest ones are gone, it begins with the oldest one that is there.
        case follow(from: UInt64?, number: UInt64)
        /// Entries below this position may go.
        case trim(below: UInt64)
        /// Asks for the newest entry.
        case readEnd(number: UInt64)
    }

    package enum Answer: Equatable, Sendable {
        case appended(AppendID, Appended)
        /// Of the `follow` of this number.
        case entry([UInt8], at: UInt64, number: UInt64)
        /// The newest entry and its position: nothing at 0 where none ever was. For the `readEnd` of this number.
        case end([UInt8], at: UInt64, number: UInt64)
        /// There is a link, and it is a new one: what was asked over another may stay without an answer.
        case linked
    }

    package enum Appended: Equatable, Sendable {
        case taken(at: UInt64)
        /// Not taken: the log ends here.
        case wrong(end: UInt64)
        /// Perhaps taken: the link was lost, or the engine did not say.
        case unknown
    }
}
