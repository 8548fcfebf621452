import RelayPrimitives
import RelayWire

/// The relay itself, without sockets, clocks and dice: bytes and events in, bytes and effects out.
///
/// Owned by one queue, which also owns the sockets. The engine's calls:
/// - `restore` with all that was stored, before any other call;
/// - `handle` for what happens and `receive` for bytes that came, in any order;
/// - `answerWaiting`, when every link that had something had its turn to be read, or there was a budget's worth: requests that waited for
///   others are answered;
/// - a flush, behind what came together: `beginFlush`; `nextDirty` until it has none; for each connection `gather` and `wrote` until its
///   socket takes no more, and before them `announce` where it speaks WebSocket; `endFlush`. `wantsTurn` and `hasDirty` say whether
///   another one is wanted soon. A connection may be flushed besides when its socket takes more again;
/// - `willWait`, before it waits for anything to happen;
/// - after each of them `takeEffects`, to carry them out in their order, and `nextDeadline`, to arm its one timer.
///
/// The same calls in the same order give the same bytes: nothing in here depends on anything but its arguments.
///
/// A hub has one owner and is never copied: a call into one of two copies traps. For that reason all that the engine calls is `mutating`,
/// no closure in a mutating method refers to `self`, and arguments of other methods are read before the call: docs/decisions/0008.
package struct Hub {
    private(set) var configuration: Configuration
    let start: Start

    var connections = ConnectionTable()
    /// Who is here, by user id; each with its sessions.
    var people = People()
    var sessions = Slab<Session>(vacant: Session())
    var channels = Shelf<Channel, ChannelID>(vacant: Channel())
    var memberships = Slab<Membership>(vacant: Membership())
    var rooms = Shelf<Room, Name>(vacant: Room())
    var flows = Shelf<Flow, UInt32>(vacant: Flow())
    var buckets = Slab<TokenBucket>(vacant: TokenBucket())
    var metadata = MetadataShelf()
    var locks = LockTable()
    var outbox: Outbox
    var deadlines = DeadlineTable()
    var work: WorkAccount

    var keptWindows: KeptWindows
    /// What is charged to addresses.
    var accounts: Accounts
    /// Who may come in. [AC1]
    var accessRules: AccessRules
    /// Which clients user ids belong to. [AC3]
    var claims = ClaimBook()
    /// What the log has of them.
    var wrongCredentials = WrongCredentials()
    /// What moderators have decided. [AC10–AC15]
    var moderation = ModerationState()
    var storage: StorageState
    /// What message channels keep for good. [BL1]
    var boards: BoardShelf
    var authors = AuthorDesk()
    /// Direct messages that wait for their acknowledgement.
    var directs = PendingDirects()

    var historyTotals: HistoryTotals
    var catchUps: CatchUps

    var counters = Counters()
    var hour = LastHour()
    var greetings = Greetings()
    var isShuttingDown = false
    /// The moment of the call that is being carried out.
    var now = Now(instant: Instant(nanoseconds: 0), wallMilliseconds: 0)
    var effects: [Effect] = []
    var ordinals = Ordinals()

    /// - Parameter start: greater at each start of the relay; part of each channel's epoch.
    /// - Parameter access: decides which clients may log in.
    /// - Parameter now: the moment of the start.
    /// - Parameter id: the relay's own, unless its data folder has one. [SE6]
    package init(
        configuration: Configuration, start: UInt32, id: Entropy = Entropy(high: 0, low: 0), access: AccessRules = .open, at now: Instant
    ) {
        accessRules = access
        self.configuration = configuration
        self.start = Start(number: start, instant: now)
        accounts = Accounts(configuration)
        keptWindows = KeptWindows(bytesMax: configuration.publishWindowBytesMax)
        boards = BoardShelf(bytesMax: configuration.boardBytesTotalMax)
        historyTotals = HistoryTotals(bytesMax: configuration.historyBytesTotalMax)
        catchUps = CatchUps(configuration)
        // 2²⁰ changes a second could be made and the next start would still begin above. Stays below 2⁵³.
        storage = StorageState(relayID: id, sequence: UInt64(start) << 20)
        outbox = Outbox(configuration)
        work = WorkAccount(configuration)
    }

    /// When `Event.deadlineReached` is wanted next. May be early, never late.
    package var nextDeadline: Instant? { mutating get { deadlines.next } }

    // MARK: - Entries

    /// Carries out one event; what the engine has to do is in `takeEffects`.
    package mutating func handle(_ event: Event, at now: Now) {
        enter(now)
        switch event {
        case .opened(let id, let entropy, let peer): opened(id, entropy: entropy, peer: peer)
        case .speaksHTTP(let id): speaksHTTP(id)
        case .lacksTLS(let id): close(id.place, .tlsRequired, "this relay wants TLS: its address begins with relays://")
        case .upgraded(let id, let peer): upgraded(id, peer: peer)
        case .spacesChanged(let names, let elsewhere, let knowsAll):
            configuration.part = .door(to: names, elsewhere: elsewhere, knowsAll: knowsAll)
        case .notHandedOver(let id, let code, let text): if isOnItsWay(id) { close(id.place, code, text) }
        case .closed(let id, let cause): closed(id, cause)
        case .deadlineReached: deadlineReached()
        case .shutdown: shutdown()
        case .keep(let entry): store([entry], .nothing, nil)
        case .persisted(let sequence): reveal(through: sequence)
        case .storageFailed(let text): storageFailed(text)
        case .storageAlone(let sequence): storageAlone(undecidedThrough: sequence)
        case .storageRecovered: storageRecovered()
        // Of what was undone nothing is known any more. [SG5]
        case .boardsWritten(let report): if !storage.isAlone { boardsWritten(report) }
        case .boardRead(let block): boardRead(block)
        case .authorsRead(let answer): authorsRead(answer)
        case .recordsFound(let answer): recordsFound(answer)
        case .erased(let answer): erased(answer)
        case .accessChanged(let rules, let endsSessions): accessChanged(rules, endsSessions: endsSessions)
        case .measured(let measure): note(measure)
        case .configurationChanged(let configuration): configurationChanged(configuration)
        case .operatorTokenWrong(let peer, let path): noteWrongCredential(.tokenInvalid, from: peer, "for \(path)")
        }
        leave()
    }

    /// Other bounds and times hold from now on. Of messages that are kept the oldest go, and readers that lag beyond a new bound are
    /// closed; what else is above one stays, and nothing comes to it until there is room. Clients were told `limits`, and go by them:
    /// these stay. [RT8]
    private mutating func configurationChanged(_ new: Configuration) {
        let (isJournaled, limits, part) = (configuration.isJournaled, configuration.limits, configuration.part)
        configuration = new
        (configuration.isJournaled, configuration.limits, configuration.part) = (isJournaled, limits, part)
        accounts.configure(configuration)
        keptWindows.bytesMax = configuration.publishWindowBytesMax
        boards.usage.bytesMax = configuration.boardBytesTotalMax
        historyTotals.bytesMax = configuration.historyBytesTotalMax
        catchUps.bytesMax = configuration.boardBlocksBytesMax
        outbox.configuration = configuration
        boundAllHistory()
        setBoardExpiry()
    }

    /// Reads bytes that came over a connection; whole frames are decoded in place.
    package mutating func receive(_ bytes: UnsafeRawBufferPointer, from id: ConnectionID, at now: Now) {
        guard connections.has(id) else { return }
        enter(now)
        read(bytes, from: id.place)
        leave()
    }

    mutating func enter(_ now: Now) {
        precondition(isKnownUniquelyReferenced(&identity), "a hub was copied")
        self.now = now
        outbox.now = now.instant
        accounts.payer = .local
        if let stall = work.turn.enter(at: now.instant) { forgive(stall) }
    }

    /// The engine is about to wait for what happens next.
    package mutating func willWait() { work.turn.end() }

    /// Shared by copies, if there were any.
    private final class Identity {}
    private var identity = Identity()

    /// What was put off to the end of the call: waiting writers go on, then queues are bounded.
    mutating func leave() {
        if authors.someAreWoken { goOnWithWoken() }
        if deadlines.isCrowded { forgetDeadlines() }
        keepBounds()
    }

    /// What the engine has to do, in this order; appended to `taken`.
    package mutating func takeEffects(into taken: inout [Effect]) {
        guard !effects.isEmpty else { return }
        taken += effects
        effects.removeAll(keepingCapacity: true)
    }

    // MARK: - Lines of the log

    mutating func log(_ level: LogLine.Level, _ text: String) { effects.append(.log(LogLine(level, text))) }
}
