internal import Dispatch
internal import RelayCore
internal import RelayPrimitives
import RelayGateway
import RelayIO
import RelayStorage
import RelaySystem
import RelayWire

/// The hub and its sockets, on one serial queue.
///
/// A loop: something happens, the hub is told, every effect is carried out, what is queued is flushed, the timer is
/// armed. It decides nothing by itself.
@available(macOS 15, iOS 18, *)
actor Engine {
    nonisolated let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    var hub: Hub
    var links: [Link?] = []
    private var freeIndexes: [Int32] = []
    private var generation: UInt32 = 0
    /// Of a space there is none: the door has the port.
    private(set) var listener: (any PortEntry)?
    var isServing = false
    private(set) var readiness: Readiness? { didSet { door.withLock { $0 = readiness } } }
    /// The same, for other threads.
    nonisolated let door = Mutex<Readiness?>(nil)
    private var timer: ReadinessTimer?
    private var flushTimer: ReadinessTimer?
    private var flushIsSet = false
    var anotherFlushIsSet = false
    /// What was read in this turn: bytes, and what else `readCost` counts.
    var turnWork = 0
    /// Bytes read since everything queued was last offered to the sockets.
    var unflushedBytes = 0
    /// Read from all sockets and written to them, for the last hour.
    var traffic = (read: 0, written: 0)
    /// What the flush that is under way, or was the last, has written.
    var written = FlushPolicy.Writes()
    var policy: FlushPolicy
    var effects: [Effect] = []
    /// Links that stopped reading short of EAGAIN. One that was paused since, or has had its turn, is passed over.
    private var readable = FairLine<AddressKey, ConnectionID>()
    /// How many these were at most, for tests.
    private(set) var longestLine = 0
    private var readableTurnIsSet = false
    /// How many the line had when the first of it was last read.
    private var lineLength = 0
    /// `readableTurn` and `flushTurn`, for a turn of their own, behind what waits now. Made once.
    private var readOn: @Sendable () -> Void = {}
    private(set) var flushOn: @Sendable () -> Void = {}
    private var socketHandlers = StreamSocket.Handlers.none
    private var stopped: [CheckedContinuation<Void, Never>] = []
    private var holdsPort = false
    let log: @Sendable (LogLine) -> Void
    var journal: JournalWriter?
    /// Of a space with a log.
    var ownership: (lease: Lease, node: SpaceNode)?
    /// Changes of this turn, which go to the journal together.
    var changes: [JournalRecord] = []
    /// The same for boards that wait to be read.
    var boardReads: [BoardRead] = []
    var authorReads: [BoardAuthorsRead] = []
    var searches: [StoredRecordsRead] = []
    /// What is to leave the disk behind the changes of this turn.
    var erasures: [StoreErasure] = []

    /// What browsers find here, and by which names.
    var web: WebSite
    var site: Site
    /// A name that the network knows it by, while it has it.
    var announcedName: String?
    var operators: Operators { web.operators }
    /// Links that speak HTTP, perhaps those that have stopped to do so since.
    var requesters: [ConnectionID] = []
    var webSweepIsSet = false
    var webCounters = WebCounters()
    /// Pages that were refused, which the log has named.
    var refusedOrigins: Set<String> = []
    var journalTimes = JournalTimes()
    /// Behind this door.
    var nodes: [(space: String?, node: SpaceNode)] = []
    /// Where the door leads. [SE16]
    var spaces: [String: Engine] = [:]
    var failedSpaces = 0
    /// Connections on their way from the door.
    nonisolated let arrivals = Mutex(0)
    let startedWallMilliseconds = SystemClock.wallMilliseconds()
    /// The hub's: to read it there copies the hub.
    var configuration: Configuration

    /// Shared by all links: an idle one owns no memory.
    let scratch = Scratch()

    init(
        configuration: Configuration, start: UInt32, access: AccessRules, flush: FlushPolicy, web: WebSite,
        log: @escaping @Sendable (LogLine) -> Void
    ) {
        executor = QueueExecutor(label: "boardrelay.engine")
        let id = Entropy(high: SystemEntropy.word(), low: SystemEntropy.word())
        hub = Hub(configuration: configuration, start: start, id: id, access: access, at: Self.now().instant)
        self.configuration = configuration
        policy = flush
        self.web = web
        site = web.site(port: 0, addresses: [], names: [], links: [])
        self.log = log
    }

    static func now() -> Now {
        Now(instant: Instant(nanoseconds: SystemClock.monotonicNanoseconds()), wallMilliseconds: SystemClock.wallMilliseconds())
    }

    // MARK: - Start and stop

    /// - Throws: `SocketAddress.Failure`, which names address and port.
    ///
    /// - Parameter tls: the certificate, where the relay speaks TLS.
    func start(host: String?, port: UInt16, tls: TLSIdentity? = nil) throws -> (host: String, port: UInt16) {
        let readiness = try begin()
        let listener = try tls.map { try listen(host, port, $0) } ?? listen(host, port, readiness)
        self.listener = listener
        holdsPort = true
        refreshSite(listener.address.numeric)
        return listener.address.numeric
    }

    func begin() throws -> Readiness {
        let readiness = try Readiness(queue: executor.queue, waitsOnOwnThread: true) { @Sendable [weak self] in
            if let self { EngineEntry.turnEnded(self, ()) }
        }
        self.readiness = readiness
        readOn = { @Sendable [weak self] in if let self { EngineEntry.readableTurn(self, ()) } }
        flushOn = { @Sendable [weak self] in if let self { EngineEntry.flushTurn(self, ()) } }
        socketHandlers = StreamSocket.Handlers(
            readable: { @Sendable [weak self] tag in if let self { EngineEntry.readable(self, ConnectionID(tag: tag)) } },
            writable: { @Sendable [weak self] tag in if let self { EngineEntry.writable(self, ConnectionID(tag: tag)) } },
            released: { @Sendable [weak self] tag in self?.assumeIsolated { $0.released(ConnectionID(tag: tag)) } })
        timer = try ReadinessTimer(on: readiness) { @Sendable [weak self] in self?.assumeIsolated { $0.deadlineReached() } }
        flushTimer = try ReadinessTimer(on: readiness) { @Sendable [weak self] in self?.assumeIsolated { $0.flushTick() } }
        isServing = true
        measureLater()
        return readiness
    }

    /// Tells everybody, lets queues drain for a bounded time, closes all. Calling again waits for the same end.
    func stop() async {
        guard isServing else { return await untilStopped() }
        isServing = false
        let listener = listener
        listener?.close()
        self.listener = nil
        hub.handle(.shutdown, at: Self.now())
        finishTurn()
        await untilStopped()
        // It tells when the port is free.
        withExtendedLifetime(listener) {}
    }

    private func untilStopped() async {
        if !isReleased { await withCheckedContinuation { stopped.append($0) } }
        timer?.cancel()
        flushTimer?.cancel()
        timer = nil
        flushTimer = nil
        readiness = nil
    }

    func portReleased() {
        holdsPort = false
        resumeStopped()
    }

    /// Returns everything to the system: links, and the port, which the next relay may want.
    private var isReleased: Bool { !holdsPort && links.allSatisfy { $0 == nil } }

    private func resumeStopped() {
        guard !isServing, isReleased else { return }
        let waiting = stopped
        stopped = []
        for continuation in waiting { continuation.resume() }
    }

    func census() -> Census { hub.census() }

    // MARK: - Links

    /// - Returns: whether this turn takes another one. [DL10]
    func accepted(_ descriptor: Int32, _ peer: SocketAddress, isProtected: Bool = false) -> Bool {
        guard isServing, let readiness else {
            discardDescriptor(descriptor)
            return true
        }
        let end = RemoteEnd(peer)
        open(descriptor, end, isProtected: isProtected, peer: operators.peer(of: end), readiness)
        carryOutEffects()
        return turnWork < Self.turnWorkMax
    }

    @discardableResult
    func open(
        _ descriptor: Int32, _ end: RemoteEnd, isProtected: Bool, peer: Peer, _ readiness: Readiness, speech: Link.Speech = .unknown
    ) -> ConnectionID {
        let index: Int32
        if let free = freeIndexes.popLast() {
            index = free
        } else {
            index = Int32(links.count)
            links.append(nil)
        }
        generation &+= 1
        let id = ConnectionID(index: index, generation: generation)
        let socket = StreamSocket(adopting: descriptor, on: readiness)
        var link = Link(id: id, socket: socket, end: end, isProtected: isProtected)
        link.speech = speech
        links[Int(index)] = link
        socket.activate(socketHandlers, tag: id.tag)
        let entropy = Entropy(high: SystemEntropy.word(), low: SystemEntropy.word())
        hub.handle(.opened(id, entropy: entropy, peer: peer), at: Self.now())
        turnWork += Self.acceptedBytes
        return id
    }

    /// Its descriptor is closed: the index may be used again.
    private func released(_ id: ConnectionID) {
        links[Int(id.index)] = nil
        freeIndexes.append(id.index)
        resumeStopped()
    }

    func link(_ id: ConnectionID) -> Link? {
        guard let link = links[Int(id.index)], link.id == id else { return nil }
        return link
    }

    // MARK: - Reading

    func becameReadable(_ id: ConnectionID) {
        // One that is to be read anyway has its turn then: what comes faster than it is read gets no second one. One that was held back
        // since it was told of is read when it is let go. [DL10]
        guard takesTurn(), let link = link(id), link.reading == .awaited else { return }
        if readable.isEmpty, turnWork < Self.turnWorkMax { read(id) } else { readOnLater(id) }
    }

    /// Reads until nothing is left, the end, or the turn's budget. [DL10]
    private func read(_ id: ConnectionID) {
        var budget = max(Self.readBudgetMin, min(Self.readBudget, 256 * 1024 / max(1, lineLength)))
        while let link = link(id), link.isUsable, link.reading != .paused {
            guard budget > 0 else { return readOnLater(id) }
            let room = min(budget, Int(link.readRoom)), framesBefore = hub.framesHandled
            switch link.socket.read(into: UnsafeMutableRawBufferPointer(rebasing: scratch.bytes[..<room])) {
            case .bytes(let count):
                budget -= count
                traffic.read += count
                unflushedBytes += count
                if link.stage == .open { receive(UnsafeMutableRawBufferPointer(rebasing: scratch.bytes[..<count]), link) }
                let cost = max(count, Self.readBytesMin) + Int(hub.framesHandled &- framesBefore) * Self.frameBytes
                turnWork += cost
                links[Int(id.index)]?.readRoom = Self.room(behind: Int32(room), isFull: count == room, cost: cost)
                if turnWork >= Self.turnWorkMax { budget = 0 }
                if unflushedBytes >= Self.unflushedMax { flushAll() }
                if count < room, link.socket.isDrainedByShortRead { return }
            case .wouldBlock: return
            case .end:
                // A peer that only says that it will ask nothing more gets the answer. [HT3]
                if case .web(let web) = link.speech, web.isAnswering, link.stage == .open { return pauseReading(id) }
                return ended(id, .peerClosed)
            case .failed(let code): return ended(id, .failed(errno: code))
            }
        }
    }

    /// How much a link is read at once next time: what a turn can take of frames like those that it sent last.
    private static func room(behind room: Int32, isFull: Bool, cost: Int) -> Int32 {
        if cost > turnWorkMax, cost > 2 * Int(room) { return max(Int32(readBudgetMin) / 4, room / 2) }
        return isFull ? min(Int32(readBudget), room * 2) : room
    }

    /// The first byte says what a link speaks. [FR5]
    private func receive(_ bytes: UnsafeMutableRawBufferPointer, _ link: Link) {
        switch link.speech {
        case .relay:
            hub.receive(UnsafeRawBufferPointer(bytes), from: link.id, at: Self.now())
            carryOutEffects()
        case .web(let web): receiveWeb(bytes, web, link.id)
        case .unknown:
            if bytes[0] != 0 {
                beginWeb(link.id)
            } else {
                links[Int(link.id.index)]!.speech = .relay
                if site.wantsTLS, !link.isProtected {
                    hub.handle(.lacksTLS(link.id), at: Self.now())
                    carryOutEffects()
                }
            }
            guard let link = self.link(link.id), link.stage == .open else { return }
            receive(bytes, link)
        }
    }

    /// The hub does not want to read this link for now.
    private func pauseReading(_ id: ConnectionID) {
        guard let link = link(id), link.stage == .open else { return }
        links[Int(id.index)]!.reading = .paused
        link.socket.pauseReading()
    }

    /// Read on by itself: what came meanwhile need not be told again.
    func resumeReading(_ id: ConnectionID) {
        guard let link = link(id), link.reading == .paused, link.isUsable else { return }
        link.socket.resumeReading()
        readOnLater(id)
    }

    func readOnLater(_ id: ConnectionID) {
        guard let link = link(id), link.reading != .inLine else { return }
        links[Int(id.index)]!.reading = .inLine
        readable.append(id, of: hub.address(of: id))
        longestLine = max(longestLine, readable.count)
        setReadableTurn()
    }

    private func setReadableTurn() {
        guard !readableTurnIsSet, !readable.isEmpty else { return }
        readableTurnIsSet = true
        readiness?.perform(readOn)
    }

    func readableTurn() {
        readableTurnIsSet = false
        guard takesTurn() else { return }
        lineLength = readable.count
        for _ in 0..<lineLength where turnWork < Self.turnWorkMax {
            // Requests that were held come before what is read now.
            guard let id = readable.next(), let link = link(id), link.reading == .inLine else { continue }
            links[Int(id.index)]!.reading = .awaited
            if case .web(let web) = link.speech { receiveWeb(UnsafeMutableRawBufferPointer(rebasing: scratch.bytes[..<0]), web, id) }
            read(id)
        }
        setReadableTurn()
    }

    // MARK: - The end of a link

    /// The peer is gone, or our goodbye is said.
    func ended(_ id: ConnectionID, _ cause: CloseCause) {
        guard let link = link(id), link.isUsable else { return }
        links[Int(id.index)]!.ended()
        drain(link.socket)
        link.socket.close()
        if case .web(let web) = link.speech, web.stage == .left { return }
        hub.handle(.closed(id, link.stage == .open ? cause : .byHub), at: Self.now())
        carryOutEffects()
    }

    /// Reads what is left to nowhere: a socket that is closed with unread bytes resets the link, and our goodbye is lost.
    private func drain(_ socket: StreamSocket) {
        for _ in 0..<64 {
            guard case .bytes = socket.read(into: scratch.bytes) else { return }
        }
    }

    /// - Parameter code: what the hub says.
    func beginClosing(_ id: ConnectionID, _ code: ErrorCode?, lingerMilliseconds: Int) {
        guard let link = link(id), links[Int(id.index)]!.beginClosing() else { return }
        if case .web(let web) = link.speech { web.closeCode = code }
        resumeReading(id)
        end(id, afterMilliseconds: lingerMilliseconds)
        flush(id)
    }

    /// Everything is written: the peer gets a moment to read it and close, so that no reset overtakes it.
    func finishClosing(_ id: ConnectionID) {
        links[Int(id.index)]!.saidAll()
        links[Int(id.index)]!.socket.shutdownWriting()
        end(id, afterMilliseconds: Self.farewellMilliseconds)
    }

    private func end(_ id: ConnectionID, afterMilliseconds milliseconds: Int) {
        // Before more are accepted: their descriptors are wanted.
        guard milliseconds > 0 else {
            return readiness?.perform { @Sendable [weak self] in self?.assumeIsolated { $0.ended(id, .byHub) } } ?? ()
        }
        enter(afterMilliseconds: milliseconds) { $0.ended(id, .byHub) }
    }

    // MARK: - Turns

    private func deadlineReached() {
        guard takesTurn() else { return }
        hub.handle(.deadlineReached, at: Self.now())
        carryOutEffects()
    }

    func carryOutEffects() {
        hub.takeEffects(into: &effects)
        while !effects.isEmpty {
            let current = effects
            effects.removeAll(keepingCapacity: true)
            for effect in current {
                switch effect {
                case .close(let id, let code, let linger): beginClosing(id, code, lingerMilliseconds: linger)
                case .handOver(let id, let space): handOver(id, to: space)
                case .log(let line): log(line)
                case .persist(let record): changes.append(record)
                case .readBoard(let read): boardReads.append(read)
                case .readAuthors(let read): authorReads.append(read)
                case .findRecords(let read): searches.append(read)
                case .erase(let erasure): erasures.append(erasure)
                case .pauseReading(let id): pauseReading(id)
                case .resumeReading(let id): resumeReading(id)
                }
            }
            hub.takeEffects(into: &effects)
        }
    }

    /// All that the system told of had its turn to be read, or was put in line.
    func endTurn() {
        guard takesTurn() else { return }
        hub.answerWaiting(at: Self.now())
        finishTurn()
    }

    /// After what came together: effects, flush, timer.
    func finishTurn() {
        carryOutEffects()
        submitChanges()
        if let delay = policy.delay {
            if hub.hasDirty || hub.wantsTurn, !flushIsSet, let flushTimer {
                flushIsSet = true
                flushTimer.arm(for: SystemClock.monotonicNanoseconds() + UInt64(delay.nanoseconds))
            }
        } else {
            flushAll()
        }
        timer?.arm(for: hub.nextDeadline?.nanoseconds)
        hub.willWait()
        turnWork = 0
    }

    private func flushTick() {
        flushIsSet = false
        guard takesTurn() else { return }
        flushAll()
    }
}
