package import RelayCore
package import RelayJournal
import RelayPrimitives
package import RelayStorage
package import RelayWire

/// A hub on a clock that is moved by hand, with links whose other ends are read as frames.
package final class HubDriver {
    package var hub: Hub
    package private(set) var now = Now(instant: Instant(nanoseconds: 1_000_000_000_000), wallMilliseconds: 1_800_000_000_000)
    package private(set) var log: [LogLine] = []
    private var links: [Link] = []
    private var free: [Int] = []
    private var generation: UInt32 = 0
    private var entropy: SplitMix64
    private let vectors = UnsafeMutableBufferPointer<IOVector>.allocate(capacity: 64)

    private struct Link {
        var id: ConnectionID
        var reader = FrameReader()
        /// What has been read and not been taken by the test.
        var inbox: [Frame] = []
        /// The hub has said that it ends.
        var isClosing = false
        var isOpen = true
        /// What comes while the hub wants nothing read; `nil`: it does.
        var backlog: [UInt8]?
        /// Of a WebSocket: what its present message lacks, and what it held so far. [WS7]
        var message: (announced: Int, reader: FrameReader)?
    }

    /// Who may come in, as the hub was told last.
    package private(set) var access: AccessRules

    package private(set) var onTheirWay: [(id: ConnectionID, space: String)] = []
    /// Whether links are flushed at the end of each event, and take nothing. Without it a test has the turns of the shell.
    package var offers = true
    /// Every second link is a WebSocket, whose bytes leave in messages of whole frames.
    package var mixesLinks = false
    /// - Parameter now: when it starts; some moment if `nil`.
    package init(
        configuration: Configuration = .init(), start: UInt32 = 1_800_000_000, now: Now? = nil, entropy: UInt64 = 42,
        access: AccessRules = .open
    ) {
        self.entropy = SplitMix64(seed: entropy)
        self.access = access
        if let now { self.now = now }
        hub = Hub(configuration: configuration, start: start, access: access, at: self.now.instant)
        openFiles()
    }

    deinit { vectors.deallocate() }

    // MARK: - Links

    package func open(asWebSocket: Bool? = nil, from address: AddressKey = .local) -> ConnectionID {
        let asWebSocket = asWebSocket ?? (mixesLinks && generation % 2 == 0)
        let index = free.popLast() ?? links.count
        generation += 1
        let id = ConnectionID(index: Int32(index), generation: generation)
        if index == links.count { links.append(Link(id: id)) } else { links[index] = Link(id: id) }
        let peer = Peer(text: "test:\(generation)", address: address)
        handle(.opened(id, entropy: Entropy(high: entropy.next(), low: entropy.next()), peer: peer))
        if asWebSocket {
            speakHTTP(id)
            upgrade(id, from: address)
        }
        return id
    }

    package func speakHTTP(_ id: ConnectionID) { handle(.speaksHTTP(id)) }

    package func upgrade(_ id: ConnectionID, from address: AddressKey = .local) {
        handle(.upgraded(id, peer: Peer(text: "test:\(id.generation)", address: address)))
        links[Int(id.index)].message = (0, FrameReader())
    }

    /// The link breaks: nothing that was not read will be.
    package func cut(_ id: ConnectionID) {
        guard isOpen(id) else { return }
        links[Int(id.index)].isOpen = false
        handle(.closed(id, .peerClosed))
        free.append(Int(id.index))
    }

    package var openCount: Int { links.count { $0.isOpen } }
    package func isOpen(_ id: ConnectionID) -> Bool { links[Int(id.index)].id == id && links[Int(id.index)].isOpen }

    /// Whether the hub wants nothing read of it.
    package func isPaused(_ id: ConnectionID) -> Bool { isOpen(id) && links[Int(id.index)].backlog != nil }

    /// Whether the hub has asked for the link to be closed.
    package func isClosing(_ id: ConnectionID) -> Bool { isOpen(id) && links[Int(id.index)].isClosing }

    // MARK: - Bytes

    package func send(_ bytes: [UInt8], from id: ConnectionID) {
        guard links[Int(id.index)].id != id || links[Int(id.index)].backlog == nil else {
            links[Int(id.index)].backlog! += bytes
            return
        }
        bytes.withUnsafeBytes { hub.receive($0, from: id, at: now) }
        carryOut(hub.takeEffects())
        offer()
    }

    /// As a shell whose sockets take nothing now.
    private func offer() {
        guard offers else { return carryOut(hub.takeEffects()) }
        nextTurn()
        while goesOn() {}
    }

    /// - Returns: whether requests or readers waited for others, and had another turn.
    private func goesOn() -> Bool {
        guard offers, hub.wantsTurn else { return false }
        nextTurn()
        return true
    }

    /// What a shell does at the end of a turn; `flush` is called for each connection that has something to send.
    package func nextTurn(_ flush: (ConnectionID) -> Void = { _ in }) {
        hub.answerWaiting(at: now)
        hub.beginFlush(at: now)
        carryOut(hub.takeEffects())
        while let id = hub.nextDirty() { flush(id) }
        hub.endFlush()
        carryOut(hub.takeEffects())
    }

    package func send(_ frame: Frame, from id: ConnectionID) { send(frame.bytes, from: id) }

    /// What the link is to send next, at most so many bytes and 64 KiB, and of a WebSocket no more than belongs to its message.
    private func gather(_ id: ConnectionID, limit: Int) -> [UInt8] {
        var limit = min(limit, 64 * 1024)
        if let message = links[Int(id.index)].message {
            let announced = message.announced > 0 ? message.announced : hub.announce(id, limit: 64 * 1024, at: now)
            links[Int(id.index)].message!.announced = announced
            limit = min(limit, announced)
        }
        let count = hub.gather(id, into: vectors, limit: limit, at: now)
        var bytes: [UInt8] = []
        for vector in vectors[..<count] { bytes.append(contentsOf: UnsafeRawBufferPointer(start: vector.base, count: vector.count)) }
        checkMessage(id, bytes)
        return bytes
    }

    /// What a message would hold. Nothing of it is sent.
    package func announce(_ id: ConnectionID, limit: Int) -> Int { hub.announce(id, limit: limit, at: now) }

    private func checkMessage(_ id: ConnectionID, _ bytes: [UInt8]) {
        guard links[Int(id.index)].message != nil, !bytes.isEmpty else { return }
        links[Int(id.index)].message!.announced -= bytes.count
        links[Int(id.index)].message!.reader.append(bytes)
        while (try! links[Int(id.index)].message!.reader.next()) != nil {}
        let message = links[Int(id.index)].message!
        precondition(
            message.announced > 0 || message.reader.pendingBytes == 0,
            "[WS7] a message ended in a frame: \(message.reader.pendingBytes) bytes of it are missing")
    }

    /// Lets the link take at most so many bytes; whole frames go to the inbox.
    package func take(_ id: ConnectionID, bytes: Int = .max) {
        var rest = bytes
        while rest > 0, isOpen(id) {
            var bytes = gather(id, limit: rest)
            // It may have to wait for others, and to be read then.
            for _ in 0..<2 where bytes.isEmpty && (readFiles() || goesOn()) { bytes = gather(id, limit: rest) }
            guard !bytes.isEmpty else { break }
            links[Int(id.index)].reader.append(bytes)
            _ = hub.wrote(id, bytes: bytes.count, at: now)
            rest -= bytes.count
            readFiles()
        }
        while let frame = nextFrame(id) { links[Int(id.index)].inbox.append(frame) }
        // As a shell does: what taking bytes out has made due is looked at in the same turn.
        while let next = hub.nextDeadline, next <= now.instant { handle(.deadlineReached) }
    }

    /// Takes bytes as a socket would, without looking at them.
    package func takeBytes(_ id: ConnectionID, limit: Int) -> [UInt8] {
        var taken: [UInt8] = []
        while taken.count < limit, isOpen(id) {
            var bytes = gather(id, limit: limit - taken.count)
            for _ in 0..<2 where bytes.isEmpty && (readFiles() || goesOn()) { bytes = gather(id, limit: limit - taken.count) }
            guard !bytes.isEmpty else { break }
            taken += bytes
            _ = hub.wrote(id, bytes: bytes.count, at: now)
            readFiles()
        }
        while let next = hub.nextDeadline, next <= now.instant { handle(.deadlineReached) }
        return taken
    }

    /// Flushes a link as a shell does: until the hub says that nothing more waits.
    ///
    /// - Returns: bytes taken; whole frames go to the inbox.
    package func flush(_ id: ConnectionID) -> Int {
        var flushed = 0
        while isOpen(id) {
            let bytes = gather(id, limit: 64 * 1024)
            guard !bytes.isEmpty else { break }
            links[Int(id.index)].reader.append(bytes)
            flushed += bytes.count
            guard hub.wrote(id, bytes: bytes.count, at: now) else { break }
        }
        readFiles()
        while let frame = nextFrame(id) { links[Int(id.index)].inbox.append(frame) }
        return flushed
    }

    private func nextFrame(_ id: ConnectionID) -> Frame? {
        do {
            return try links[Int(id.index)].reader.next()
        } catch {
            preconditionFailure("the hub wrote what is no frame: \(error)")
        }
    }

    /// Everything for this link, or what of it was read before.
    package func received(_ id: ConnectionID, all: Bool = true) -> [Frame] {
        if all { take(id) }
        defer { links[Int(id.index)].inbox = [] }
        return links[Int(id.index)].inbox
    }

    // MARK: - The disk

    /// What the hub wants durable and is not, oldest first.
    package private(set) var unpersisted: [JournalRecord] = []
    /// What is durable.
    package private(set) var disk: [[UInt8]: [UInt8]] = [:]
    package private(set) var lastPersisted: UInt64 = 0

    /// Makes the oldest changes durable, and says so.
    package func persist(_ count: Int = .max) {
        defer { if !holdsErasures { erase() } }
        let records = unpersisted.prefix(count)
        guard let last = records.last else { return }
        for entry in records.flatMap(\.entries) where !StoredChange.isBoardEntry(entry.key) { disk[entry.key] = entry.value }
        unpersisted.removeFirst(records.count)
        lastPersisted = last.sequence
        try! journal.append(Array(records))
        unwritten += records
        handle(.persisted(through: last.sequence))
        if !holdsFiles { writeFiles() }
    }

    /// Takes what was removed off the disk, and says so.
    ///
    /// - Returns: whether anything was to be done.
    @discardableResult
    package func erase() -> Bool {
        guard let erasure = erasures.popLast() else { return false }
        files.erase(erasure)
        work()
        return true
    }

    // MARK: - Boards' files

    /// The folder of the journal and the boards' files.
    package private(set) var storage = SimulatedStorage()
    private var journal: Journal!
    package private(set) var files: BoardStore!
    /// Durable, and not in files.
    private var unwritten: [JournalRecord] = []
    package private(set) var reads: [BoardRead] = []
    private var authorReads: [BoardAuthorsRead] = []
    package private(set) var searches: [StoredRecordsRead] = []
    /// What the hub wants off the disk.
    package private(set) var erasures: [StoreErasure] = []
    /// Whether that waits for `erase()`.
    package var holdsErasures = false
    /// Questions about authors so far.
    package private(set) var authorQuestions = 0
    /// Whether what is durable waits for `writeFiles`, and reads for `readFiles(now:)`.
    package var holdsFiles = false

    private func openFiles() {
        let (journal, entries, _) = try! Journal.open(storage, JournalSettings(mark: 0xB0A4D))
        self.journal = journal
        files = BoardStore(journal: journal, storage: storage)
        let recovered = try! files.recover(entries: entries.filter { StoredChange.isBoardEntry($0.key) })
        hub.restore(boards: recovered.boards, userBytes: recovered.userBytes)
    }

    package func writeFiles() {
        guard !unwritten.isEmpty else { return }
        let records = unwritten
        unwritten = []
        try! files.apply(records)
        work()
    }

    private func work() {
        while try! files.step(wall: now.wallMilliseconds) {}
        let report = files.takeReport()
        if !report.isEmpty { handle(.boardsWritten(report)) }
        for block in files.takeBlocks() { handle(.boardRead(block)) }
        for answer in files.takeAuthors() { handle(.authorsRead(answer)) }
        for answer in files.takeRecords() { handle(.recordsFound(answer)) }
        for answer in files.takeErased() {
            for mark in answer.marks { disk[mark] = nil }
            handle(.erased(answer))
        }
        for line in files.takeLines() { log.append(LogLine(.warning, line)) }
    }

    /// Answers reads that the hub has asked for.
    ///
    /// - Returns: whether there were any.
    @discardableResult
    package func readFiles(now isNow: Bool = false) -> Bool {
        carryOut(hub.takeEffects())
        if !holdsErasures, erase() { return true }
        guard isNow || !holdsFiles, !reads.isEmpty || !authorReads.isEmpty || !searches.isEmpty else { return false }
        let (asked, askedAuthors, askedRecords) = (reads, authorReads, searches)
        reads = []
        authorReads = []
        searches = []
        for read in asked { files.read(read) }
        for read in askedAuthors { files.readAuthors(read) }
        for read in askedRecords { files.findRecords(read) }
        work()
        return true
    }

    /// All that the relay holds is let go, and what waits for its disk: nothing may be asked of it any more.
    package func letGo() {
        hub = Hub(configuration: hub.settings, start: 1, at: now.instant)
        unpersisted = []
    }

    /// What is not durable never will be.
    package func failStorage(_ text: String = "no space left") {
        unpersisted = []
        handle(.storageFailed(text))
    }

    /// A relay that starts again on the same disk: nothing else is left of this one.
    ///
    /// - Parameter crash: what of unsynced bytes the disk has kept; `nil`: all of them.
    package func restarted(start: UInt32, crash: SimulatedDisk.Crash? = nil, entropy: UInt64 = 42) -> HubDriver {
        let next = HubDriver(configuration: hub.settings, start: start, entropy: entropy, access: access)
        next.now = now
        next.mixesLinks = mixesLinks
        next.disk = disk
        next.storage = crash.map { storage.crashed($0) } ?? storage.restarted()
        next.openFiles()
        for key in disk.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            precondition(next.hub.restore(key: key, value: disk[key]!), "a stored entry was not understood")
        }
        next.hub.restored(lastSequence: lastPersisted, at: now)
        next.carryOut(next.hub.takeEffects())
        return next
    }

    // MARK: - Time

    /// Moves the clock, firing every deadline at its moment.
    package func advance(_ duration: Duration) {
        let end = now.instant + duration
        while let next = hub.nextDeadline, next <= end {
            move(to: max(next, now.instant))
            handle(.deadlineReached)
        }
        move(to: end)
    }

    /// Moves the clock without firing anything until the end: the host sleeps.
    package func sleep(_ duration: Duration) {
        move(to: now.instant + duration)
        handle(.deadlineReached)
    }

    /// Somebody sets the host's clock; the monotonic one goes on as it did.
    package func moveWall(by duration: Duration) {
        now.wallMilliseconds = UInt64(Int64(now.wallMilliseconds) + duration.milliseconds)
    }

    /// Other keys or secrets hold from now on.
    package func changeAccess(_ rules: AccessRules, endsSessions: Bool) {
        access = rules
        handle(.accessChanged(rules, endsSessions: endsSessions))
    }

    /// The relay is busy with one thing for so long, and what comes meanwhile comes together.
    package func stall(_ duration: Duration) {
        hub.handle(.deadlineReached, at: now)
        shift(to: now.instant + duration)
    }

    private func move(to instant: Instant) {
        hub.willWait()
        shift(to: instant)
    }

    private func shift(to instant: Instant) {
        now.wallMilliseconds += UInt64((instant - now.instant).milliseconds)
        now.instant = instant
    }

    package func handle(_ event: Event) {
        hub.handle(event, at: now)
        carryOut(hub.takeEffects())
        offer()
    }

    /// Links that are read again, when everything before has been carried out.
    private var resumed: [ConnectionID] = []

    private func readOn() {
        while !resumed.isEmpty {
            let id = resumed.removeFirst()
            guard isOpen(id), let backlog = links[Int(id.index)].backlog else { continue }
            links[Int(id.index)].backlog = nil
            if !backlog.isEmpty { send(backlog, from: id) }
        }
    }

    private func carryOut(_ effects: [Effect]) {
        for effect in effects {
            switch effect {
            case .close(let id, _, _): links[Int(id.index)].isClosing = true
            case .handOver(let id, let space): onTheirWay.append((id, space))
            case .log(let line): log.append(line)
            case .persist(let record):
                if hub.settings.isJournaled {
                    unpersisted.append(record)
                } else {
                    try! journal.append([record])
                    unwritten.append(record)
                }
            case .readBoard(let read): reads.append(read)
            case .readAuthors(let read):
                authorReads.append(read)
                authorQuestions += 1
            case .findRecords(let read): searches.append(read)
            case .erase(let erasure): erasures.append(erasure)
            case .pauseReading(let id): links[Int(id.index)].backlog = links[Int(id.index)].backlog ?? []
            case .resumeReading(let id): resumed.append(id)
            }
        }
        readOn()
        guard !hub.settings.isJournaled, !holdsFiles, let last = unwritten.last?.sequence else { return }
        writeFiles()
        handle(.persisted(through: last))
    }
}
