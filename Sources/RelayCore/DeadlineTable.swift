import RelayPrimitives
import RelayWire

/// Things that the hub checks at a set time. Nobody cancels entries: each carries enough to see that it is out of date
/// (a generation, a state that no longer holds).
enum Deadline {
    case login(connection: Connection.Index, generation: UInt32)
    case heartbeat(connection: Connection.Index, generation: UInt32)
    case slowConsumer(connection: Connection.Index, generation: UInt32)
    case sessionEnd(session: Session.Index, generation: UInt32)
    case heldOver(session: Session.Index, generation: UInt32)
    case partsEnd(session: Session.Index, generation: UInt32)
    case userForgotten(session: Session.Index, generation: UInt32)
    case presenceInterval(channel: Channel.Index, generation: UInt32)
    case channelEnd(channel: Channel.Index, generation: UInt32)
    case droppedNotice(flow: UInt32)
    case credit(session: Session.Index, generation: UInt32)
    case direct(delivery: UInt64)
    case metadataEnd(book: MetadataBook.Index, generation: UInt32)
    case lockWait(lock: Lock.Index, ticket: UInt32)
    case lockExpiry(lock: Lock.Index, absence: UInt32)
    case readerTurn(connection: Connection.Index, generation: UInt32)
    case queueSweep
    case historySweep
    case windowSweep
    case boardReading(connection: Connection.Index, generation: UInt32)
    case boardReaders
    case boardAuthors(board: ShelvedBoard.Index, generation: UInt32)
    case boardExpiry
    case boardUse
    case credentialAnswer(connection: Connection.Index, generation: UInt32)
    case credentialJudged(connection: Connection.Index, generation: UInt32)
    case accessEnd(connection: Connection.Index, generation: UInt32)
    case lentRights(session: Session.Index, channel: Channel.Index, channelGeneration: UInt32)
    case claimSweep
    case banSweep
    case wrongCredentialSweep
    case deviceOffers
    case joinCodes
    case erasure

    /// Whether it judges a peer for its silence; such deadlines move when the host slept. [HB4]
    var isLiveness: Bool {
        switch self {
        case .login, .heartbeat, .slowConsumer, .sessionEnd, .heldOver, .direct, .lockExpiry: true
        case .partsEnd, .userForgotten, .presenceInterval, .channelEnd, .droppedNotice, .readerTurn, .credit, .queueSweep, .historySweep,
            .windowSweep, .metadataEnd, .lockWait, .boardReading, .boardReaders, .boardAuthors, .boardExpiry, .boardUse, .credentialAnswer,
            .credentialJudged, .accessEnd, .lentRights, .claimSweep, .banSweep, .wrongCredentialSweep, .deviceOffers, .joinCodes, .erasure:
            false
        }
    }
}

/// A binary heap of deadlines; those of the same moment come in the order in which they were set.
struct DeadlineTable {
    private struct Entry: Comparable {
        var at: Instant
        var order: UInt64
        var deadline: Deadline

        static func < (left: Entry, right: Entry) -> Bool {
            left.at == right.at ? left.order < right.order : left.at < right.at
        }
        static func == (left: Entry, right: Entry) -> Bool { left.order == right.order }
    }

    private var heap = MinHeap<Entry>()
    private var order: UInt64 = 0
    /// With more than this it is crowded.
    private var crowd = countMin

    /// So many are never too many.
    static let countMin = 1024

    var count: Int { heap.count }
    /// Most of them may be out of date: they have doubled since they were looked at.
    var isCrowded: Bool { heap.count > crowd }
    /// In no order.
    var all: some Sequence<Deadline> { heap.all.lazy.map(\.deadline) }
    var next: Instant? { heap.first?.at }

    // Called in forty places.
    @inline(never)
    mutating func set(_ deadline: Deadline, at instant: Instant) {
        order += 1
        heap.insert(Entry(at: instant, order: order, deadline: deadline))
    }

    /// The earliest deadline that is due, with the moment it was set for.
    mutating func popDue(at now: Instant) -> (deadline: Deadline, at: Instant)? {
        guard let first = heap.first, first.at <= now else { return nil }
        heap.removeFirst()
        return (first.deadline, first.at)
    }

    /// - Parameter isKept: of each of `all`.
    mutating func keep(_ isKept: [Bool]) {
        heap = MinHeap(zip(heap.all, isKept).compactMap { $1 ? $0 : nil })
        crowd = max(Self.countMin, 2 * heap.count)
    }

    /// Moves every deadline of liveness by `lateness`. [HB4]
    mutating func postponeLiveness(by lateness: Duration) {
        heap.changeAll { if $0.deadline.isLiveness { $0.at = $0.at + lateness } }
    }
}
