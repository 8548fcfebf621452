import RelayPrimitives
package import RelayStorage
import RelayWire

/// One link, TCP or WebSocket, as the engine numbers it: `index` is small and reused, `generation` tells its users apart.
package struct ConnectionID: Hashable, Sendable, CustomStringConvertible {
    package var index: Int32
    package var generation: UInt32

    package init(index: Int32, generation: UInt32) {
        self.index = index
        self.generation = generation
    }

    package var description: String { "connection \(index).\(generation)" }
}

/// How a link ended, seen from the engine.
package enum CloseCause: Sendable {
    /// The peer closed (FIN).
    case peerClosed
    /// Reset, or an error of the socket.
    case failed(errno: Int32)
    /// The hub's own `close` effect was carried out.
    case byHub
}

/// Sixteen bytes: of the system's generator, as a resume token or the relay's id (the hub never draws a secret itself), or of a digest.
package struct Entropy: Hashable, Sendable {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// 64 bits that nobody can guess without the secret, different for each purpose and number.
    func word(_ purpose: String, _ number: UInt32) -> UInt64 {
        var bytes = Array(purpose.utf8)
        bytes.append(bigEndian: high)
        bytes.append(bigEndian: low)
        bytes.append(bigEndian: number)
        return SHA256.hash(bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// What happens to the hub, but for bytes that arrive (`Hub.receive`) and bytes that leave (`Hub.gather`, `Hub.wrote`).
package enum Event: Sendable {
    /// A link is there.
    case opened(ConnectionID, entropy: Entropy, peer: Peer)
    /// It speaks HTTP: no frames until it is upgraded, though it counts among those that have not logged in. [FR5]
    case speaksHTTP(ConnectionID)
    /// It speaks frames without TLS, which this relay wants. [TL2]
    case lacksTLS(ConnectionID)
    /// It has become a WebSocket: it may log in now. `peer` takes the place of the one before. [WS1]
    case upgraded(ConnectionID, peer: Peer)
    /// A door leads to these spaces from now on, and others, none of these, are served elsewhere. [SE16, SE17]
    case spacesChanged(Set<String>, elsewhere: [String: Whereabouts] = [:], knowsAll: Bool = true)
    /// A `handOver` that cannot be now: the client is told, and comes back. [SE16]
    case notHandedOver(ConnectionID, ErrorCode, String)
    /// A link is gone; nothing more may be asked of this id. Answers a `close` effect, too.
    case closed(ConnectionID, CloseCause)
    /// `nextDeadline` has come.
    case deadlineReached
    /// The relay is to end: clients are told, and no new session is let in.
    case shutdown
    /// Every change up to and including this sequence is durable. [SG1]
    case persisted(through: UInt64)
    /// What was not durable by now is not going to be: it is undone, and nothing can be changed. [SG2]
    case storageFailed(String)
    /// The log of this relay's space cannot be reached: as `storageFailed`, but of the changes up to and including this sequence nobody is
    /// told, because the log may have them or not. The hub ends before the log is reached again. [SG5]
    case storageAlone(undecidedThrough: UInt64)
    /// Changes can be stored again. [SG2]
    case storageRecovered
    /// What became durable of boards stands in their files, and can be read. [BL3]
    case boardsWritten(BoardReport)
    /// A `readBoard` is answered.
    case boardRead(BoardBlock)
    /// A `readAuthors` is answered.
    case authorsRead(BoardAuthors)
    /// A `findRecords` is answered.
    case recordsFound(StoredRecords)
    /// An `erase` is carried out, or has failed. A failure of the storage answers it, too. [AC14, BL9]
    case erased(StoreErased)
    /// Other keys or secrets hold; sessions of an old key are ended, or cannot come back. [AC1]
    case accessChanged(AccessRules, endsSessions: Bool)
    /// For the last hour, every ten seconds. [AC16]
    case measured(Measure)
    /// Other bounds and times hold; `limits` stay.
    case configurationChanged(Configuration)
    /// Store this, which no hub reads: keys that the hub has none of its own. [AC1]
    case keep(JournalEntry)
    /// Somebody asked for what is the operators' with a token that is not theirs. [HT9]
    case operatorTokenWrong(peer: Peer, path: String)
}

/// What the engine carries out for the hub.
package enum Effect: Sendable {
    /// Write what the hub still has for this link (the farewell among it), as far as the peer takes it at once or
    /// within `lingerMilliseconds`, then close it and report `closed(_, .byHub)`. A WebSocket says the code once more. [WS8]
    case close(ConnectionID, ErrorCode, lingerMilliseconds: Int)
    /// Take this link out with `handOver`, and give it to the hub of that space. [SE16]
    case handOver(ConnectionID, to: String)
    /// Make this change durable, behind all before it, then tell `Event.persisted`; and what it holds of boards is to be
    /// put into their files, `Event.boardsWritten`.
    case persist(JournalRecord)
    /// Read a board, and tell `Event.boardRead`.
    case readBoard(BoardRead)
    /// Read the authors of a board's records, and tell `Event.authorsRead`.
    case readAuthors(BoardAuthorsRead)
    /// Find out which records of a board are of some users, and tell `Event.recordsFound`.
    case findRecords(StoredRecordsRead)
    /// Erase from the disk what was removed so far, and tell `Event.erased`. One at a time.
    case erase(StoreErasure)
    /// Read nothing more from this link, so that TCP holds its peer back, until `resumeReading` or the link's end. What comes
    /// all the same is kept.
    case pauseReading(ConnectionID)
    case resumeReading(ConnectionID)
    /// One line for the log.
    case log(LogLine)
}

/// Who, what, limit and actual value, for the operator's log.
public struct LogLine: Sendable {
    /// How urgent it is.
    public enum Level: String, Sendable, Comparable, CaseIterable {
        case debug, info, warning, error

        public static func < (left: Self, right: Self) -> Bool {
            allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
        }
    }

    /// How urgent it is.
    public var level: Level
    /// One sentence: who, what, limit and actual value.
    public var text: String

    /// Of a line about what a moderator or operator did, or about a board that was cleared or removed: when, on the relay's wall clock, in
    /// milliseconds since 1970. Such a line is for a record that is kept, whatever level is shown. [AC15]
    public var auditedAt: UInt64?

    /// Which of a relay's spaces it is about.
    package var space: String?

    package init(_ level: Level, _ text: String) {
        self.level = level
        self.text = text
    }

    package init(audit text: String, wallMilliseconds: UInt64) {
        self.init(.info, text)
        auditedAt = wallMilliseconds
    }
}

/// A piece of memory to write, laid out as `struct iovec` is on 64-bit platforms; valid until the next `wrote`,
/// `receive` or `handle`.
package struct IOVector {
    package var base: UnsafeRawPointer
    package var count: Int

    package init(base: UnsafeRawPointer, count: Int) {
        self.base = base
        self.count = count
    }
}

/// A relay's start.
struct Start {
    /// Rises with each start of the relay. [CH5]
    let number: UInt32
    let instant: Instant
}

/// The time of an event: the monotonic clock for everything that is decided, the wall clock (milliseconds since
/// 1970) only for what is shown to people.
package struct Now: Sendable {
    package var instant: Instant
    package var wallMilliseconds: UInt64

    package init(instant: Instant, wallMilliseconds: UInt64) {
        self.instant = instant
        self.wallMilliseconds = wallMilliseconds
    }
}
