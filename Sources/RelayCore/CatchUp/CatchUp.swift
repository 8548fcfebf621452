import RelayPrimitives
internal import RelayStorage
import RelayWire

/// A membership that gets what is kept before it gets what comes. [HI2]
///
///     between ── asked ──▶ reading(token) ── answered ──▶ giving(block)
///        ▲                    │ failed                        │
///        ├─ resting ◀─────────┘                               │
///        └───────────────── gave all, or let go of it ────────┘
struct CatchUp {
    enum State {
        /// The next step is decided by what the board and the ring have.
        case between
        /// A block of the board is being read.
        case reading(token: UInt64)
        /// There was no answer: it is asked again some time later.
        case resting
        /// What was read is being given, from the item at `next` on.
        case giving(BoardBlock, next: Int)
    }

    /// Where it begins.
    struct Start {
        /// Everything up to here is known to the reader.
        var offset: UInt64
        var isFresh: Bool
        var takesOwn: Bool
    }

    @Placed var membership: Membership.Index
    private(set) var state = State.between
    /// What is charged for what it holds, to whom, and when it last asked for a block, got one, or was given something.
    fileprivate var charge = 0
    fileprivate var payer = AddressKey.local
    fileprivate var movedAt = Instant(nanoseconds: 0)
    /// Everything up to here has been given to it, or was told.
    private(set) var offset: UInt64 = 0
    /// The same of messages that are not retained.
    private(set) var complete: UInt64 = 0
    /// Offset of the newest message when it began: what came later would have been delivered, kept or not.
    private(set) var began: UInt64 = 0
    /// Its own records are among what it lacks. [BL3]
    private(set) var takesOwn = false
    /// What was removed of the board up to here says nothing to it: it was given nothing before. [BL3]
    private(set) var freshThrough: UInt64 = 0
    /// It has so many parts of the record at this offset.
    private var parts: (offset: UInt64, count: UInt16) = (0, 0)
    /// Authors that it was told, and by which handles.
    private var authors = [Name: UInt32]()
    private(set) var handlesTold: Set<UInt32> = []
    /// Above this number they are told again with the next block: a board may have thousands.
    private static let authorsKept = 64
    /// Packets that were accepted meanwhile and are not for it. [HI5]
    var lost = LostMeanwhile()

    /// The vacant one.
    init() {}

    init(_ membership: Membership.Index, _ start: Start, began: UInt64, freshThrough: UInt64) {
        self._membership = Placed(membership)
        offset = start.offset
        complete = start.offset
        takesOwn = start.takesOwn
        self.began = began
        self.freshThrough = freshThrough
    }

    // MARK: - Reading

    /// - Returns: how many parts it has of the record that follows. Replaced meanwhile, what it has parts of is not there any more.
    mutating func asked(_ token: UInt64) -> UInt16 {
        state = .reading(token: token)
        return parts.offset == offset + 1 ? parts.count : 0
    }

    func awaits(_ token: UInt64) -> Bool {
        if case .reading(token) = state { return true }
        return false
    }

    /// Whether a block is there for it, or is being read.
    var hasBlock: Bool {
        switch state {
        case .between, .resting: false
        case .reading, .giving: true
        }
    }

    mutating func answered(_ block: BoardBlock) { state = .giving(block, next: 0) }

    /// It takes nothing. What it has not been given is read again, and authors are told again.
    fileprivate mutating func letGo() {
        forgetAuthors()
        if case .giving = state { state = .between }
    }

    private mutating func forgetAuthors() { (authors, handlesTold) = ([:], []) }

    /// Bytes of memory, besides packets that it lost, and a block that is being read.
    fileprivate var footprint: Int {
        let named = authors.count * Footprint.namedAuthor
        return switch state {
        case .between, .resting, .reading: named
        case .giving(let block, _): named + block.memoryBytes
        }
    }

    mutating func failed() { state = .resting }

    mutating func rested() { if case .resting = state { state = .between } }

    // MARK: - Giving

    /// The next item of the block, if it has one.
    var next: BoardBlock.Item? {
        guard case .giving(let block, let next) = state, next < block.items.count else { return nil }
        return block.items[next]
    }

    /// The item was given, or is not for this reader.
    mutating func gave(_ item: BoardBlock.Item) {
        guard case .giving(let block, let next) = state else { preconditionFailure("an item at \(item.offset) of no block was given") }
        state = .giving(block, next: next + 1)
        if case .record(_, let part, let count) = item.content, part < count {
            // What is before it has been given, too: read again, it follows.
            (parts, offset) = ((item.offset, part), item.offset - 1)
        } else {
            offset = item.offset
        }
    }

    /// So was a message that the board does not have.
    mutating func gave(messageAt offset: UInt64) {
        self.offset = offset
        complete = offset
    }

    /// So was everything up to an offset.
    mutating func gave(through end: UInt64) {
        offset = max(offset, end)
        complete = max(complete, end)
        state = .between
        if authors.count > Self.authorsKept { forgetAuthors() }
    }

    /// Messages that are gone were told. [HI4]
    mutating func toldGap(through end: UInt64) { complete = end }

    /// - Parameter handle: `nil`: whichever it was told.
    func knows(_ user: Name, as handle: UInt32?) -> UInt32? {
        guard let handle else { return authors[user] }
        return handlesTold.contains(handle) ? handle : nil
    }

    mutating func named(_ user: Name, _ handle: UInt32) {
        authors[user] = handle
        handlesTold.insert(handle)
    }
}

/// Packets that a reader was not given while it catches up: a bounded list of ranges. [HI5]
struct LostMeanwhile {
    private(set) var ranges: [LostRange] = []
    /// At so many ranges those that touch are merged: there are no more than flows then.
    private var mergedAt = Self.mergedAtLeast

    private static let mergedAtLeast = 64

    mutating func add(_ packet: LostRange) {
        // The range to extend is among the last ones, as long as few flows take turns.
        for index in stride(from: ranges.count - 1, through: max(0, ranges.count - 64), by: -1)
        where ranges[index].flow == packet.flow && ranges[index].last &+ 1 == packet.first {
            ranges[index].last = packet.last
            return
        }
        if ranges.count >= mergedAt {
            // A reader that reads nothing stays here as long as it likes: this grows with the flows, not with their packets.
            ranges = ranges.merged()
            mergedAt = max(Self.mergedAtLeast, 2 * ranges.count)
        }
        ranges.append(packet)
    }

    /// What is to be told; nothing is left of it here.
    mutating func take() -> LostRanges? {
        guard !ranges.isEmpty else { return nil }
        var lost = LostRanges()
        lost.add(ranges, .catchingUp)
        self = LostMeanwhile()
        return lost
    }
}

/// All that catch up, how much they are given before others have their turn, and what they have asked the disk for. [HI2]
struct CatchUps {
    private var catchUps = Slab<CatchUp>(vacant: CatchUp())
    /// Bytes that may still be given in this turn.
    private var budget = Int.max
    /// Connections that wait for the next one, in order, each once.
    private var waiting: [Connection.Index] = []
    private var areWaiting: Set<Connection.Index> = []
    /// Reads of boards that have not been answered, by token.
    private var readings = [UInt64: Reading]()
    /// Connections that wait until fewer reads are under way, or until there is more room, in rounds by address, each once.
    private var line = FairLine<AddressKey, (connection: ConnectionID, address: AddressKey)>()
    private var areInLine: Set<ConnectionID> = []
    /// Whom the line has called in this turn, until they ask: so long a place and room are kept for them, and nobody else asks.
    private var called = [ConnectionID: AddressKey]()
    /// A place, or room, has come free since nobody more could be called.
    private var someMayRead = false
    /// Whether a deadline is set at which readers that take nothing let go of their blocks.
    var lookIsSet = false
    /// Those that are charged for something.
    private var charged: Set<CatchUp.Index> = []
    /// Blocks of boards, those being read included, and authors that readers were named.
    private(set) var memory: MemoryAccount
    /// What a block may take.
    let blockBytes: Int

    struct Reading {
        let catchUp: CatchUp.Index
        let connection: ConnectionID
        /// Charged for a block until it is answered, whatever has become of the catching up.
        fileprivate let payer: AddressKey
    }

    /// Reads under way: each takes its time of the journal's queue.
    static let readingsMax = 64
    /// Who was given nothing for so long takes nothing.
    static let stillFor = Duration.milliseconds(100)

    init(_ configuration: Configuration) {
        memory = MemoryAccount(max: configuration.boardBlocksBytesMax)
        // Some for each of four addresses, however little there is.
        blockBytes = min(2 * configuration.catchUpBlockBytesInUse, configuration.boardBlocksBytesMax / 16)
    }

    /// Memory of blocks; the size of one stays that of the start.
    var bytesMax: Int {
        get { memory.max }
        set { memory.max = max(newValue, 16 * blockBytes) }
    }

    @inline(__always)
    subscript(index: CatchUp.Index) -> CatchUp {
        unsafeAddress { UnsafePointer(catchUps.address(index)) }
        unsafeMutableAddress { catchUps.address(index) }
    }

    /// All slots, those that are vacant too.
    var indices: some Sequence<CatchUp.Index> { catchUps.indices }

    mutating func insert(_ catchUp: CatchUp) -> CatchUp.Index { catchUps.insert(catchUp) }

    mutating func remove(_ index: CatchUp.Index) {
        charge(0, index)
        catchUps.remove(index)
    }

    // MARK: - Memory

    /// A reader has asked for a block, got one, or was given something: what it holds has changed.
    mutating func recount(_ index: CatchUp.Index, at now: Instant) {
        self[index].movedAt = now
        charge(self[index].footprint, index)
    }

    private mutating func charge(_ bytes: Int, _ index: CatchUp.Index) {
        let more = bytes - self[index].charge
        guard more != 0 else { return }
        memory.hold(more, self[index].payer)
        self[index].charge = bytes
        if bytes == 0 { charged.remove(index) } else { charged.insert(index) }
        if more < 0 { someMayRead = true }
    }

    /// While others wait for room, who takes nothing keeps nothing.
    ///
    /// - Returns: whether to look again later.
    mutating func letGoOfStill(at now: Instant) -> Bool {
        guard !line.isEmpty else { return false }
        // They wait for places, or will be called: room would help nobody.
        guard readings.count < Self.readingsMax, memory.isScarce(for: blockBytes) else { return true }
        for index in charged where now - self[index].movedAt >= Self.stillFor {
            self[index].letGo()
            charge(self[index].footprint, index)
        }
        return true
    }

    // MARK: - Turns

    /// - Returns: whether there is something left for a connection in this turn; else it waits for the next one.
    mutating func mayGive(to connection: Connection.Index) -> Bool {
        if budget <= 0, areWaiting.insert(connection).inserted { waiting.append(connection) }
        return budget > 0
    }

    mutating func gave(_ bytes: Int) { budget -= bytes }

    /// A new turn. Whoever was called in the last one and has not asked steps aside.
    ///
    /// - Returns: those that waited for it.
    mutating func begin(bytes: Int) -> [Connection.Index] {
        budget = bytes
        for connection in called.keys { endCall(of: connection) }
        defer { (waiting, areWaiting) = ([], []) }
        return waiting
    }

    var someWait: Bool { !waiting.isEmpty || !line.isEmpty && (someMayRead || !called.isEmpty) }

    // MARK: - Readings

    /// - Parameter wasCalled: the line has called it since it last asked.
    /// - Returns: whether another read may be asked for now. Else the connection stands in line: in front if it was called.
    mutating func mayRead(for connection: ConnectionID, of address: AddressKey, wasCalled: Bool) -> Bool {
        endCall(of: connection)
        let isPossible = readings.count + called.count < Self.readingsMax && memory.hasRoom(blockBytes, for: address)
        if isPossible, wasCalled || line.isEmpty && called.isEmpty { return true }
        if areInLine.insert(connection).inserted {
            if wasCalled { line.putBack((connection, address), of: address) } else { line.append((connection, address), of: address) }
        }
        // Those before it may wait for what it does not need.
        if isPossible { someMayRead = true }
        return false
    }

    /// - Returns: how many parts the reader has of the record that follows.
    mutating func ask(
        _ token: UInt64, for index: CatchUp.Index, on connection: ConnectionID, of address: AddressKey, at now: Instant
    ) -> UInt16 {
        readings[token] = Reading(catchUp: index, connection: connection, payer: address)
        memory.hold(blockBytes, address)
        defer { recount(index, at: now) }
        charge(0, index)
        self[index].payer = address
        return self[index].asked(token)
    }

    /// - Returns: for whom it was.
    mutating func answered(_ token: UInt64) -> Reading? {
        guard let reading = readings.removeValue(forKey: token) else { return nil }
        memory.hold(-blockBytes, reading.payer)
        someMayRead = true
        return reading
    }

    // MARK: - The line

    /// Calls the next of those in line, if there is a place and room for it.
    mutating func callNext() -> ConnectionID? {
        guard someMayRead else { return nil }
        // Where there is no room for anybody, no address is looked at. Else five at most are passed over: each has nearly its quarter.
        guard readings.count + called.count < Self.readingsMax, memory.used + blockBytes <= memory.max,
            let next = line.next({ [memory, blockBytes] in memory.hasRoom(blockBytes, for: $0) })
        else {
            someMayRead = false
            return nil
        }
        areInLine.remove(next.connection)
        called[next.connection] = next.address
        memory.hold(blockBytes, next.address)
        return next.connection
    }

    /// A place and room are kept for it no longer.
    mutating func endCall(of connection: ConnectionID) {
        guard let address = called.removeValue(forKey: connection) else { return }
        memory.hold(-blockBytes, address)
        someMayRead = true
    }
}
