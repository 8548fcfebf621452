internal import Dispatch
internal import RelayCore
import RelayCluster
import RelayIO
import RelayJournal
import RelayStorage
import RelaySystem

/// The journal and the boards' files on a queue of their own, so that no disk ever makes the relay wait.
///
/// While one batch is written and synced, what is submitted gathers, and goes as the next one (group commit). Between
/// batches boards are read, and boards and journal are compacted, in small steps. After a failure everything submitted is
/// dropped, and boards can be read, until the engine has said that it knows (`acknowledgeFailure`): what it submitted before rests on
/// what has failed.
@available(macOS 15, iOS 18, *)
actor JournalWriter {
    struct Intake {
        var records: [JournalRecord] = []
        var bytes = 0
        var reads: [BoardRead] = []
        var authorReads: [BoardAuthorsRead] = []
        var searches: [StoredRecordsRead] = []
        var erasures: [StoreErasure] = []
        /// Work is on the queue.
        var isScheduled = false
        /// Nothing is taken.
        var isShut = false
    }

    nonisolated let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// `nil`: in memory.
    nonisolated let path: String?
    nonisolated private let permit: FolderStorage.Permit
    nonisolated private let retryMilliseconds: Int
    nonisolated private let indexBytesMax: Int
    nonisolated let intake = Mutex(Intake())
    /// Of a space with a log, which has stored what it has taken.
    nonisolated let log: SpaceNode?
    var journal: Journal?
    var boards: BoardStore?
    private(set) var storage: (any JournalStorage)?
    private var settings = JournalSettings(mark: 0)
    /// The newest place in the log that was stored, or is being.
    var lastPlace = LogPlace()
    /// Follows the log: the newest time of the records that were taken over. `nil`: time is the clock's.
    var logWall: UInt64?
    var copying = Copying.no
    nonisolated let copyHeldBytesMax: Int
    var tell: @Sendable (Outcome) -> Void = { _ in }
    /// Times that the queue was given to work: a writer that has nothing to do has none.
    private(set) var turns = 0
    /// Something could not be written, and nothing is taken until it can be again.
    var hasFailed = false

    private var isLookedAfter = false

    /// Between two looks at boards that may have become idle.
    static let idleMilliseconds = 1000
    /// Read and written by one step of compaction: an append never waits for more.
    static let compactionBytes = 256 * 1024

    /// - Parameters:
    ///   - path: of a folder; `nil`: everything stands in memory, and is gone with it.
    ///   - indexBytesMax: memory that the indexes of boards in use may take.
    ///   - retryMilliseconds: after a failure, between attempts to work again.
    ///   - copyHeldBytesMax: see `boundCopy`.
    ///   - log: takes what is submitted, and has it stored.
    ///   - permit: asked before each call on the files.
    init(
        path: String?, indexBytesMax: Int = BoardSettings().indexBytesMax, retryMilliseconds: Int = 1000,
        copyHeldBytesMax: Int = BackupLimits.heldBytesMax, log: SpaceNode? = nil, permit: @escaping FolderStorage.Permit = { _ in }
    ) {
        self.path = path
        self.indexBytesMax = indexBytesMax
        self.retryMilliseconds = retryMilliseconds
        self.copyHeldBytesMax = copyHeldBytesMax
        self.log = log
        self.permit = permit
        executor = QueueExecutor(label: "boardrelay.journal")
    }

    /// Reads the journal, or makes one. Called once, before anything else.
    ///
    /// - Parameters:
    ///   - waits: told who is in the folder; then the journal's queue waits, with nothing else to do, until nobody is. Without it such a
    ///     folder is an error.
    ///   - progress: called with the bytes read so far.
    /// - Throws: `RelayServerError`, which names the folder or file.
    func open(
        _ change: (inout JournalSettings) -> Void = { _ in }, waits: (@Sendable (_ holder: String) -> Void)? = nil,
        progress: @escaping @Sendable (_ bytes: Int) -> Void = { _ in }
    ) throws(RelayServerError) -> Opened {
        var read: Int? = 0
        defer { read = nil }
        let storage: any JournalStorage
        var settings = JournalSettings(mark: UInt32(truncatingIfNeeded: SystemEntropy.word()))
        if let path {
            do throws(FileFailure) {
                storage = try FolderStorage(path: path, permit: permit, waits: waits) { bytes in
                    guard let before = read else { return }
                    read = before + bytes
                    progress(before + bytes)
                }
            } catch {
                throw RelayServerError(text: "\(error)")
            }
        } else {
            storage = MemoryStorage()
            settings.segmentBytes = 4 * 1024 * 1024
        }
        settings.program = ProgramVersion(Program.version)
        change(&settings)
        self.settings = settings
        // A space with a log opens it again with each role, and keeps others out meanwhile.
        let kept = log == nil ? storage : HeldStorage(storage)
        self.storage = kept
        if log != nil { logWall = 0 }
        do throws(RelayServerError) {
            return try self.read(kept)
        } catch {
            if log != nil { storage.close() }
            throw error
        }
    }

    /// What a folder has, or one that was read before.
    func read(_ storage: any JournalStorage) throws(RelayServerError) -> Opened {
        do throws(JournalError) {
            let (journal, entries, report) = try Journal.open(storage, settings)
            var boardSettings = BoardSettings()
            boardSettings.indexBytesMax = indexBytesMax
            let boards = BoardStore(journal: journal, storage: storage, settings: boardSettings)
            var opened = Opened(report: report)
            opened.entries = entries.filter { !StoredChange.isBoardEntry($0.key) }
            let recovered = try boards.recover(
                entries: entries.filter { StoredChange.isBoardEntry($0.key) }, isWhole: report.damage.isEmpty && report.isAnchored)
            (opened.boards, opened.userBytes, opened.boardLines) = (recovered.boards, recovered.userBytes, recovered.lines)
            self.journal = journal
            self.boards = boards
            if log != nil, let place = try? Self.place(in: opened) { lastPlace = place }
            return opened
        } catch {
            throw RelayServerError(error, folder: path)
        }
    }

    /// Keeps the number of this start where it outlives the journal; durable when it returns.
    func note(start: UInt32) throws(RelayServerError) {
        do throws(JournalError) {
            try journal?.anchor(start: start)
        } catch {
            throw RelayServerError(text: "\(error)")
        }
    }

    /// - Parameter tell: called on the writer's queue.
    func report(to tell: @escaping @Sendable (Outcome) -> Void) { self.tell = tell }

    // MARK: - From the engine

    /// Takes records, of rising sequences; returns at once.
    nonisolated func submit(_ records: [JournalRecord]) {
        let wakes = intake.withLock { intake in
            guard !intake.isShut else { return false }
            intake.records += records
            intake.bytes += records.reduce(0) { $0 + $1.byteCount }
            defer { intake.isScheduled = true }
            return !intake.isScheduled
        }
        if wakes { schedule() }
    }

    /// Reads boards, and the authors of their records; returns at once.
    nonisolated func read(_ reads: [BoardRead], authors authorReads: [BoardAuthorsRead] = []) {
        let wakes = intake.withLock { intake in
            intake.reads += reads
            intake.authorReads += authorReads
            defer { intake.isScheduled = true }
            return !intake.isScheduled
        }
        if wakes { schedule() }
    }

    /// Looks for records of users, and takes off the disk what the records submitted before have removed; returns at once.
    nonisolated func erase(_ erasures: [StoreErasure], searches: [StoredRecordsRead]) {
        let wakes = intake.withLock { intake in
            intake.erasures += erasures
            intake.searches += searches
            defer { intake.isScheduled = true }
            return !intake.isScheduled
        }
        if wakes { schedule() }
    }

    /// The engine has undone what failed: from now on the journal tries to work again.
    nonisolated func acknowledgeFailure() {
        executor.queue.asyncAfter(deadline: .now() + .milliseconds(retryMilliseconds)) { [self] in assumeIsolated { $0.recover() } }
    }

    /// Waits for everything submitted before.
    ///
    /// - Returns: why it is not durable, if so.
    func flush() -> String? {
        // While the queue is busy, what was submitted waits for a turn that comes behind this one.
        while let batch = take() { append(batch) }
        return journal?.failure?.description
    }

    /// Makes durable what was submitted, and gives the folder free.
    func close() {
        while let batch = take() { append(batch) }
        intake.withLock { $0.isShut = true }
        boards?.endCopy()
        boards?.close()
        boards = nil
        journal?.close()
        journal = nil
        (storage as? HeldStorage)?.release()
        storage = nil
    }

    /// The same from a queue that is not Swift's own.
    nonisolated func statusNow() -> JournalStatus? { executor.queue.sync { assumeIsolated { $0.status() } } }

    /// What the folder's files take, in bytes; `nil` in memory. Told on the queue.
    nonisolated func measure(_ tell: @escaping @Sendable (Int?) -> Void) {
        executor.queue.async { [self] in
            assumeIsolated { writer in
                guard let journal = writer.journal, let boards = writer.boards, writer.path != nil else { return tell(nil) }
                tell(journal.size.bytes + boards.fileBytes)
            }
        }
    }

    /// For `status`; `nil` in memory.
    func status() -> JournalStatus? {
        guard let journal, let path else { return nil }
        let waiting = intake.withLock { (records: $0.records.count, bytes: $0.bytes) }
        let (size, counters) = (journal.size, journal.counters)
        var status = JournalStatus()
        (status.folder, status.failure, status.lastError) = (path, journal.failure?.description, counters.lastError)
        (status.segments, status.bytes, status.liveBytes, status.entries) = (size.segments, size.bytes, size.liveBytes, size.liveEntries)
        (status.lastSequence, status.recordsWaiting, status.bytesWaiting) = (journal.lastSequence, waiting.records, waiting.bytes)
        (status.records, status.writes, status.fsyncs) = (counters.records, counters.writes, counters.fsyncs)
        (status.bytesWritten, status.compactions) = (counters.bytesWritten, counters.compactions)
        (status.failures, status.recoveries) = (counters.failures, counters.recoveries)
        status.boardIndexBytes = boards?.memoryBytes ?? 0
        return status
    }

    // MARK: - On the queue

    nonisolated private func schedule() { executor.queue.async { [self] in assumeIsolated { $0.work() } } }

    /// Batches between two steps of what can wait: checkpoints, compaction, boards that nobody uses.
    private static let batchesPerStep = 4

    /// One batch, and a step of what else is to be done, then others get the queue. However much is written, boards that somebody waits for
    /// are loaded, and checkpoints are made.
    private func work() {
        guard let journal, let boards else { return }
        turns += 1
        let batch = take()
        if let batch { append(batch) }
        let hasRead = takeReads(boards)
        takeErasures(boards)
        boundCopy(boards)
        do throws(JournalError) {
            if batch != nil, !turns.isMultiple(of: Self.batchesPerStep) {
                _ = try boards.loadStep(wall: wall)
            } else if try !step(journal, boards), batch == nil, !hasRead {
                report()
                return rest()
            }
        } catch {
            failed(error)
        }
        report()
        schedule()
    }

    private var wall: UInt64 { logWall ?? SystemClock.wallMilliseconds() }

    /// - Returns: whether there was something to do.
    private func step(_ journal: Journal, _ boards: BoardStore) throws(JournalError) -> Bool {
        // The writer stores nothing until the disk has recovered, but still reads for new users.
        guard !hasFailed else { return try boards.loadStep(wall: wall) }
        if try boards.step(wall: wall) { return true }
        return try journal.compactStep(bytesMax: Self.compactionBytes)
    }

    /// Hands over what was read and written of boards.
    private func report() {
        guard let boards else { return }
        let written = boards.takeReport()
        if !written.isEmpty { tell(.boardsWritten(written)) }
        for block in boards.takeBlocks() { tell(.boardRead(block)) }
        let authors = boards.takeAuthors()
        if !authors.isEmpty { tell(.authorsRead(authors)) }
        for answer in boards.takeRecords() { tell(.recordsFound(answer)) }
        for answer in boards.takeErased() { tell(.erased(answer)) }
        for line in boards.takeLines() { tell(.line(line)) }
    }

    /// Most reads of boards between two batches, of each kind: a commit waits for at most so many.
    private static let readsPerBatch = 4

    /// - Returns: whether something was asked for.
    private func takeReads(_ boards: BoardStore) -> Bool {
        let (reads, authorReads) = intake.withLock { intake in
            var keys = 0
            let authorReads = intake.authorReads.prefix { read in
                keys += read.keys.count
                return keys <= BoardAuthorsRead.keysAtOnceMax
            }
            let taken = (intake.reads.prefix(Self.readsPerBatch), authorReads)
            intake.reads.removeFirst(taken.0.count)
            intake.authorReads.removeFirst(taken.1.count)
            return taken
        }
        for read in reads { boards.read(read) }
        for read in authorReads { boards.readAuthors(read) }
        return !reads.isEmpty || !authorReads.isEmpty
    }

    /// Behind the batch that was taken with them: what it removes is meant, too.
    private func takeErasures(_ boards: BoardStore) {
        let (erasures, searches) = intake.withLock { intake in
            defer {
                intake.erasures = []
                intake.searches = []
            }
            return (intake.erasures, intake.searches)
        }
        for search in searches { boards.findRecords(search) }
        // After a failure it is asked for anew, when the engine knows.
        for erasure in erasures where !hasFailed { boards.erase(erasure) }
    }

    /// Nothing to do, unless something has come meanwhile.
    private func rest() {
        let goesOn = intake.withLock { intake in
            let reads = intake.reads.count + intake.authorReads.count + intake.searches.count
            intake.isScheduled = !intake.records.isEmpty || reads > 0 || !intake.erasures.isEmpty
            return intake.isScheduled
        }
        if goesOn { return schedule() }
        // Closes boards that nobody uses.
        guard let boards, boards.loadedBoards > 0, !isLookedAfter else { return }
        isLookedAfter = true
        executor.queue.asyncAfter(deadline: .now() + .milliseconds(Self.idleMilliseconds)) { [weak self] in
            self?.assumeIsolated { $0.lookAfterBoards() }
        }
    }

    private func lookAfterBoards() {
        isLookedAfter = false
        wake()
    }

    /// Looks whether there is something to do besides what was submitted.
    func wake() {
        guard journal != nil else { return }
        let wakes = intake.withLock { intake in
            defer { intake.isScheduled = true }
            return !intake.isScheduled
        }
        if wakes { schedule() }
    }

    private func take() -> [JournalRecord]? {
        intake.withLock { intake in
            guard !intake.records.isEmpty else { return nil }
            defer {
                intake.records = []
                intake.bytes = 0
            }
            return intake.records
        }
    }

    private func append(_ batch: [JournalRecord]) {
        store(batch) { [tell] in tell(.persisted(through: batch[batch.count - 1].sequence)) }
    }

    /// - Parameter place: changed with the batch, and without one by itself.
    /// - Parameter done: called when it is durable, and before it is told that what follows of it has failed.
    func store(_ batch: [JournalRecord], with place: JournalEntry? = nil, done: () -> Void) {
        guard let journal, let boards, !hasFailed else { return }
        do throws(JournalError) {
            var batch = batch
            if let place, !batch.isEmpty { batch[batch.count - 1].entries.append(place) }
            try journal.append(batch)
            if let place, batch.isEmpty { try journal.amend([place]) }
        } catch {
            return failed(error)
        }
        var trouble: JournalError?
        do throws(JournalError) { try boards.apply(batch) } catch { trouble = error }
        // What files hold first: records that were replaced do not count any more when their successors are told stored.
        report()
        done()
        if let trouble { failed(trouble) }
    }

    func failed(_ error: JournalError) {
        hasFailed = true
        intake.withLock { intake in
            intake.records = []
            intake.bytes = 0
            intake.isShut = true
        }
        // Of a space with a log the hub ends.
        if let log { log.diskFailed(error.description) } else { tell(.failed(error.description)) }
    }

    private func recover() {
        guard let journal, let boards else {
            // It failed while it was read anew.
            if log != nil { followAgain() }
            return
        }
        guard hasFailed else { return }
        do throws(JournalError) {
            try journal.recoverFromFailure()
            try boards.retry()
        } catch {
            return acknowledgeFailure()
        }
        hasFailed = false
        report()
        intake.withLock { $0.isShut = false }
        if log != nil { followAgain() } else { tell(.recovered) }
    }
}

extension RelayServerError {
    /// With what helps.
    ///
    /// - Parameter folder: `nil`: in memory.
    init(_ error: JournalError, folder: String?) {
        let remedy = folder.flatMap { error.remedy(folder: $0, program: Program.version) }.map { ": \($0)" } ?? ""
        self.init(text: "\(error)\(remedy)")
    }
}
