internal import Dispatch
import RelayCore
import RelayIO
import RelayJournal

/// The journal on a queue of its own, so that no disk ever makes the relay wait.
///
/// While one batch is written and synced, what is submitted gathers, and goes as the next one (group commit). Between
/// batches the journal is compacted in small steps. After a failure everything submitted is dropped until the engine has
/// said that it knows (`acknowledgeFailure`): what it submitted before rests on what has failed.
actor JournalWriter {
    /// What the engine is told, in the order in which it happened.
    enum Outcome: Sendable, Hashable {
        /// Everything submitted with this sequence and below is durable.
        case persisted(through: UInt64)
        /// What was submitted and not told durable is not, and will not be.
        case failed(String)
        /// Records are taken again.
        case recovered
    }

    /// What was in the folder.
    struct Opened: Sendable {
        var entries: [JournalEntry] = []
        var report = JournalReport()
        /// Start number of the relay that stored last.
        var start: UInt32? {
            for entry in entries { if let start = Hub.storedStart(key: entry.key, value: entry.value ?? []) { return start } }
            return nil
        }
    }

    private struct Intake {
        var records: [JournalRecord] = []
        var bytes = 0
        /// Work is on the queue.
        var isScheduled = false
        /// Nothing is taken.
        var isShut = false
    }

    nonisolated private let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    nonisolated let path: String
    nonisolated private let permit: FolderStorage.Permit
    nonisolated private let retryMilliseconds: Int
    nonisolated private let intake = Lock(Intake())
    private var journal: Journal<FolderStorage>?
    private var tell: @Sendable (Outcome) -> Void = { _ in }
    /// Times that the queue was given to work: a writer that has nothing to do has none.
    private(set) var turns = 0

    /// Read and written by one step of compaction: an append never waits for more.
    static let compactionBytes = 256 * 1024

    /// - Parameters:
    ///   - retryMilliseconds: after a failure, between attempts to work again.
    ///   - permit: asked before each call on the files.
    init(path: String, retryMilliseconds: Int = 1000, permit: @escaping FolderStorage.Permit = { _ in }) {
        self.path = path
        self.retryMilliseconds = retryMilliseconds
        self.permit = permit
        executor = QueueExecutor(label: "boardrelay.journal")
    }

    /// Reads the journal, or makes one. Called once, before anything else.
    ///
    /// - Throws: `RelayServerError`, which names the folder or file.
    func open(_ change: (inout JournalSettings) -> Void = { _ in }) throws(RelayServerError) -> Opened {
        let storage: FolderStorage
        do throws(FileFailure) {
            storage = try FolderStorage(path: path, permit: permit)
        } catch {
            throw RelayServerError(text: "\(error)")
        }
        var settings = JournalSettings(mark: UInt32(truncatingIfNeeded: SystemEntropy.word()))
        change(&settings)
        do throws(JournalError) {
            let (journal, entries, report) = try Journal.open(storage, settings)
            self.journal = journal
            return Opened(entries: entries, report: report)
        } catch {
            throw RelayServerError(text: "\(error)")
        }
    }

    /// - Parameter tell: called on the writer's queue.
    func begin(_ tell: @escaping @Sendable (Outcome) -> Void) { self.tell = tell }

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
        journal?.close()
        journal = nil
    }

    /// For `status`.
    func status() -> JournalStatus? {
        guard let journal else { return nil }
        let waiting = intake.withLock { (records: $0.records.count, bytes: $0.bytes) }
        return JournalStatus(
            folder: path, size: journal.size, counters: journal.counters, lastSequence: journal.lastSequence, failure: journal.failure?.description,
            recordsWaiting: waiting.records, bytesWaiting: waiting.bytes)
    }

    // MARK: - On the queue

    nonisolated private func schedule() { executor.queue.async { [self] in assumeIsolated { $0.work() } } }

    /// One batch, or one step of compaction, then others get the queue.
    private func work() {
        guard let journal else { return }
        turns += 1
        if let batch = take() {
            append(batch)
        } else {
            // Until it has recovered nothing is submitted, and what is woken then finds a queue at rest.
            guard journal.failure == nil else { return rest() }
            do throws(JournalError) {
                if !(try journal.compactStep(bytesMax: Self.compactionBytes)) { return rest() }
            } catch {
                failed(error)
            }
        }
        schedule()
    }

    /// Nothing to do, unless something has come meanwhile.
    private func rest() {
        let goesOn = intake.withLock { intake in
            intake.isScheduled = !intake.records.isEmpty
            return intake.isScheduled
        }
        if goesOn { schedule() }
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
        guard let journal, journal.failure == nil else { return }
        do throws(JournalError) {
            try journal.append(batch)
            tell(.persisted(through: batch[batch.count - 1].sequence))
        } catch {
            failed(error)
        }
    }

    private func failed(_ error: JournalError) {
        intake.withLock { intake in
            intake.records = []
            intake.bytes = 0
            intake.isShut = true
        }
        tell(.failed(error.description))
    }

    private func recover() {
        guard let journal, journal.failure != nil else { return }
        do throws(JournalError) {
            try journal.recoverFromFailure()
        } catch {
            return acknowledgeFailure()
        }
        intake.withLock { $0.isShut = false }
        tell(.recovered)
    }
}
