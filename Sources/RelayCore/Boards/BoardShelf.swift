import RelayPrimitives
internal import RelayStorage
import RelayWire

/// What a message channel keeps for good, as far as the hub knows it: its records stand in a file. [BL1]
struct ShelvedBoard {
    var name: Name?
    var generation: UInt32 = 0
    /// What is in its file.
    var summary = BoardSummary(board: 0, name: [])
    /// Its channel while there is one.
    @Packed var channel: Channel.Index?
    /// Offset of the newest change that was accepted, and of the newest one known to be durable.
    var head: UInt64 = 0
    var durableHead: UInt64 = 0
    /// Changes up to this offset are held nowhere but in the file, or on their way to it: a reader that catches up waits for it.
    var unheld: UInt64 = 0
    /// Records that were accepted and are not in the file, in order of offsets; and the bytes of all of them.
    fileprivate(set) var pending: [PendingRecord] = []
    fileprivate var pendingBytes = 0
    /// Offset of the newest `clear` or undoing that was accepted: what can be undone is known when it is in the file.
    var lastClear: UInt64 = 0
    /// Its end was accepted and is not durable.
    var isDropping = false
    /// Who began it; `nil`: it was there at the start.
    var payer: AddressKey?
    /// Who began it, and when; `nil`: an earlier version did not keep that. [BL12]
    var beginning: BoardBeginning?
    var use = BoardUse()
    /// While somebody writes here who may not take away what others wrote. [BL10]
    var authors: KnownAuthors?

    init() {}

    init(name: Name, generation: UInt32, summary: BoardSummary) {
        self.name = name
        self.generation = generation
        self.summary = summary
    }

    /// Many boards that were written to in a burst keep no room for the next one.
    fileprivate mutating func giveRoomBack() {
        if pending.isEmpty, pending.capacity > 8 { pending = [] }
    }

    var id: UInt64 { summary.board }
    /// Everything up to this offset can be read.
    var readableHead: UInt64 { summary.head }
    /// Of records, as far as they are known, and of those on their way: never too few. [BL7]
    var bytes: Int { summary.bytes + pendingBytes }
    var records: Int { summary.records + pending.count }

    /// How far a numbering of an earlier start, or of this one, is durable. [BL5]
    func durable(in epoch: Epoch) -> UInt64? {
        summary.epochs.last { $0.id.start == epoch.start && $0.id.incarnation == epoch.incarnation }?.last
    }
}

/// The boards that the relay keeps, found by name and by id, and what all of them and each user's records come to. [BL7]
struct BoardShelf {
    private var boards = Slab<ShelvedBoard>(vacant: ShelvedBoard())
    private var byName = [Name: ShelvedBoard.Index]()
    private var byID = [UInt64: ShelvedBoard.Index]()
    private(set) var names = SortedNames()
    /// Records of all boards, those on their way to a file counted.
    private(set) var bytes = 0
    var usage: BoardUsage
    private(set) var places = Places()
    /// When each user's newest boards began.
    private var beginnings = [Name: [Instant]]()
    /// With so many it is looked who has begun none of late.
    private var beginningsMany = 10_000

    /// What is stored of boards by their ids, until all of them are restored.
    var restored = [UInt64: (beginning: BoardBeginning?, day: UInt32)]()

    init(bytesMax: Int) { usage = BoardUsage(bytesMax: bytesMax) }

    var count: Int { boards.count }
    var indices: some Sequence<ShelvedBoard.Index> { boards.indices }
    /// In no order.
    var ids: some Sequence<UInt64> { byID.keys }

    @inline(__always)
    subscript(index: ShelvedBoard.Index) -> ShelvedBoard {
        unsafeAddress { UnsafePointer(boards.address(index)) }
        unsafeMutableAddress { boards.address(index) }
    }

    subscript(named name: Name) -> ShelvedBoard.Index? { byName[name] }
    subscript(id id: UInt64) -> ShelvedBoard.Index? { byID[id] }

    // MARK: - Boards

    mutating func insert(_ board: ShelvedBoard) -> ShelvedBoard.Index {
        let index = boards.insert(board)
        let name = board.name!
        byName[name] = index
        byID[board.id] = index
        names.insert(name)
        bytes += board.summary.bytes
        places.take(board.payer)
        return index
    }

    mutating func remove(_ index: ShelvedBoard.Index) {
        let name = boards[index].name!
        byName[name] = nil
        byID[boards[index].id] = nil
        names.remove(name)
        bytes -= boards[index].bytes
        for record in boards[index].pending { usage.addPending(-record.bytes, of: record.user) }
        places.giveBack(boards[index].payer)
        boards.remove(index)
    }

    /// A user began a board; what is an hour old is forgotten.
    mutating func began(by user: Name, at now: Instant) {
        if beginnings.count >= beginningsMany {
            beginnings = beginnings.filter { isRecent($0.value[$0.value.count - 1], at: now) }
            beginningsMany = max(10_000, 2 * beginnings.count)
        }
        beginnings[user] = recentBeginnings(by: user, at: now) + [now]
    }

    /// When the boards began that a user began in the last hour.
    func recentBeginnings(by user: Name, at now: Instant) -> [Instant] { beginnings[user, default: []].filter { isRecent($0, at: now) } }

    private func isRecent(_ beginning: Instant, at now: Instant) -> Bool { now - beginning < .seconds(3600) }

    // MARK: - Records

    /// A change was accepted from an address.
    mutating func append(_ record: PendingRecord, to index: ShelvedBoard.Index, from address: AddressKey) {
        boards[index].pending.append(record)
        boards[index].pendingBytes += record.bytes
        bytes += record.bytes
        usage.addPending(record.bytes, of: record.user, from: address)
    }

    /// What the file of a board holds now.
    mutating func isWritten(_ summary: BoardSummary, _ index: ShelvedBoard.Index) {
        bytes += summary.bytes - boards[index].summary.bytes
        boards[index].summary = summary
        let written = boards[index].pending.prefix { $0.offset <= summary.head }
        boards[index].pending.removeFirst(written.count)
        for record in written { isNotPending(record, index) }
        boards[index].giveRoomBack()
    }

    /// Changes from an offset on will not be durable.
    mutating func takeBack(from offset: UInt64, _ index: ShelvedBoard.Index) {
        while let last = boards[index].pending.last, last.offset >= offset {
            boards[index].pending.removeLast()
            isNotPending(last, index)
        }
        boards[index].giveRoomBack()
    }

    private mutating func isNotPending(_ record: PendingRecord, _ index: ShelvedBoard.Index) {
        boards[index].pendingBytes -= record.bytes
        bytes -= record.bytes
        usage.addPending(-record.bytes, of: record.user)
    }
}

/// What each user has on all boards, in bytes, and what the users of each address have. [BL7]
struct BoardUsage {
    private struct Usage {
        var inFiles = 0
        var pending = 0
        /// Where the user wrote from last; `nil`: not since the start.
        var address: AddressKey?

        var bytes: Int { inFiles + pending }
    }

    private var users = [Name: Usage]()
    private(set) var account: MemoryAccount

    init(bytesMax: Int) { account = MemoryAccount(max: bytesMax) }

    /// May become less than what is held.
    var bytesMax: Int {
        get { account.max }
        set { account.max = newValue }
    }

    func bytes(of user: Name) -> Int { users[user]?.bytes ?? 0 }

    /// Whether a user may have more when it writes from an address: all that it has will count there.
    ///
    /// - Parameter bytes: more than it has.
    /// - Throws: `storageFull`.
    func check(_ bytes: Int, of user: Name, from address: AddressKey) throws(WireError) {
        let moved = users[user].map { $0.address == address ? 0 : $0.bytes } ?? 0
        try account.check(bytes, own: bytes + moved, of: address, .storageFull, "records on boards")
    }

    /// - Parameter address: where they come from; `nil`: they are on their way no longer.
    mutating func addPending(_ bytes: Int, of user: Name, from address: AddressKey? = nil) {
        if bytes != 0 { change(user, from: address) { $0.pending += bytes } }
    }

    mutating func setInFiles(_ bytes: Int, of user: Name) { change(user) { $0.inFiles = bytes } }

    private mutating func change(_ user: Name, from address: AddressKey? = nil, _ change: (inout Usage) -> Void) {
        var usage = users[user] ?? Usage()
        account.hold(-usage.bytes, usage.address)
        change(&usage)
        usage.address = address ?? usage.address
        account.hold(usage.bytes, usage.address)
        users[user] = usage.bytes > 0 ? usage : nil
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
        init?(_ kind: StoredChange.Kind) {
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
    /// Id of the board that has the parts, or 0: each is a message.
    var board: UInt64
    var key: Name
    var upload: UInt64
    /// The part that follows, from 1.
    var next: UInt16
    var parts: UInt16
    var flags: FrameFlags
    var customType: [UInt8]
    /// Of part 1. [FR9]
    var extensions: [UInt8]
    var bytes: Int
    var lastAt: Instant

    var isRetained: Bool { flags.contains(.retain) }
}

/// A change set whose parts are coming in, of one client object: nobody is shown any of it. [BL11]
struct StagedChanges {
    var channel: Name
    /// The part that follows, from 1.
    var next: UInt16 = 1
    var parts: UInt16
    /// The parts that have come: their changes as they stood in the frames.
    var pieces: [[UInt8]] = []
    var changes = 0
    var records = 0
    /// Payloads, custom types and extensions; what the records count on a board; what is held in memory.
    var contentBytes = 0
    var recordBytes = 0
    var heldBytes = 0
    /// Whom it is charged to.
    var payer = AddressKey.local
    var lastAt: Instant
}

/// One of several changes that a board takes together.
struct BoardStep {
    var key: [UInt8]
    /// `nil`: the key has no record any more.
    var put: BoardPut?
    var user: Name
    /// Of the record that it makes; 0 for a removal.
    var bytes = 0
    /// Of that record.
    var payload: ArraySlice<UInt8> = []

    var kind: StoredChange.Kind { put.map { .put($0) } ?? .remove(key: key) }
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

    var board: ShelvedBoard.Index
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
