internal import RelayJournal
import RelayWire

/// What a message channel keeps for good, as far as the hub knows it: its records stand in a file. [BL1]
struct Board {
    var name: Name?
    var generation: UInt32 = 0
    /// What is in its file.
    var summary = BoardSummary(board: 0, name: [])
    /// Its channel while there is one.
    @Packed var channel: Channel.Index?
    /// Offset of the newest change that was accepted, and of the newest one known to be durable.
    var head: UInt64 = 0
    var durableHead: UInt64 = 0
    /// Changes up to this offset are held nowhere but in the file, or on their way to it: who catches up waits for it.
    var unheld: UInt64 = 0
    /// Records that were accepted and are not in the file, in order of offsets; and the bytes of all of them.
    var pending: [PendingRecord] = []
    var pendingBytes = 0
    /// Offset of the newest `clear` or undoing that was accepted: what can be undone is known when it is in the file.
    var lastClear: UInt64 = 0
    /// Its end was accepted and is not durable.
    var isDropping = false
    /// While somebody writes here who may not take away what others wrote. [BL10]
    var authors: KnownAuthors?

    var id: UInt64 { summary.board }
    /// Everything up to this offset can be read.
    var readableHead: UInt64 { summary.head }
    /// Records, as far as they are known, and those on their way: never too few.
    var bytes: Int { summary.bytes + pendingBytes }

    /// How far a numbering of an earlier start, or of this one, is durable. [BL5]
    func durable(in epoch: Epoch) -> UInt64? {
        summary.epochs.last { $0.id.start == epoch.start && $0.id.incarnation == epoch.incarnation }?.last
    }
}

struct PendingRecord {
    var offset: UInt64
    /// 0 of a removal.
    var bytes: Int
    var user: Name
    var change: Change

    /// What becomes of which key. [BL10]
    enum Change {
        case put([UInt8])
        case remove([UInt8])
        case clear
        case undo

        /// - Returns: `nil` of a change that takes no offset.
        init?(_ kind: BoardChange.Kind) {
            switch kind {
            case .put(let put): self = .put(put.key)
            case .remove(let key): self = .remove(key)
            case .clear: self = .clear
            case .undo: self = .undo
            case .create, .part, .drop: return nil
            }
        }
    }
}

/// A drawing whose parts are coming in, of one client object. [BL8]
struct Draft {
    var channel: Name
    /// Id of the board that has the parts.
    var board: UInt64
    var key: Name
    var upload: UInt64
    /// The part that follows, from 1.
    var next: UInt16
    var parts: UInt16
    var flags: FrameFlags
    var customType: [UInt8]
    var bytes: Int
    var lastAt: Instant
}

/// A change of a board that was accepted and is not durable.
struct BoardTransition {
    enum Kind {
        /// Of a record: its publisher is told.
        case record
        /// A part before the last one: nobody is.
        case part
        case clear(records: UInt64)
        /// It took this away from the summary.
        case undo(BoardSummary.Clear)
        case drop
    }

    var board: Board.Index
    var generation: UInt32
    var kind: Kind
    var offset: UInt64
    /// Of several in one record the first; else `offset`.
    var firstOffset: UInt64
    var bytes: Int
    /// With it the board came to be.
    var begins: Bool
    /// `nil`: the relay itself.
    var user: Name?
    /// Who destroys something, and from where, for the log.
    var by: String?
    var instance: UInt64
    var number: UInt64
}
