import BoardFormat
import RelayClient
import RelayConsole
import RelayIO

/// Where a replay keeps what it draws, besides drawing it.
enum ReplayStoreKind: String, CaseIterable, Sendable {
    /// The metadata of the message channel.
    case metadata
}

/// Saves the strokes of one pen in the metadata of its message channel.
///
/// One write is under way at a time. Strokes that are finished meanwhile, or before the rate of metadata calls allows the
/// next, go together with the next.
struct ReplayStore: Sendable {
    /// The item that holds the board.
    static let key = "board"

    private let user: String
    private let metadata: Metadata
    private let tally: Mutex<ReplayTally>
    private let saver: Mutex<BoardSaver>
    /// Something was settled; finished when nothing more will be.
    private let settlements: AsyncStream<Void>
    private let settlement: AsyncStream<Void>.Continuation

    /// Reads what is there.
    ///
    /// - Throws: `Failure` when that is no board.
    static func enter(
        _ client: WhiteboardClient, as user: String, channel: String, plan: ReplayPlan, tally: Mutex<ReplayTally>
    ) async throws -> ReplayStore {
        let store = ReplayStore(user: user, metadata: try client.metadata(of: .message(channel)), plan: plan, tally: tally)
        try await store.read()
        return store
    }

    private init(user: String, metadata: Metadata, plan: ReplayPlan, tally: Mutex<ReplayTally>) {
        self.user = user
        self.metadata = metadata
        self.tally = tally
        saver = Mutex(BoardSaver(plan))
        (settlements, settlement) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// One message of a stroke was answered.
    func settled(_ stroke: Int, isAccepted: Bool) {
        saver.withLock { $0.settled(stroke, isAccepted: isAccepted) }
        settlement.yield()
    }

    /// Every message was answered.
    func allSettled() { settlement.finish() }

    /// Saves until all that was settled is stored, or nothing more can be.
    func run() async throws {
        let clock = ContinuousClock()
        let begin = clock.now
        var pace = Pace(perSecond: ReplayRates.metadataCallsPerSecond)
        var arrivals = settlements.makeAsyncIterator()
        while true {
            // Before the strokes are chosen: what is settled while this waits goes along.
            let wait = pace.delay(at: clock.now - begin)
            if wait > .zero { try await clock.sleep(until: clock.now + wait, tolerance: .zero) }
            switch saver.withLock({ $0.next() }) {
            case .read:
                pace.sent(at: clock.now - begin)
                try await read()
            case .write(let value, let over):
                pace.sent(at: clock.now - begin)
                try await write(value, over: over)
            case .rest:
                if await arrivals.next() == nil { return }
            case .ended: return
            }
            note()
        }
    }

    private func read() async throws {
        do {
            let item = try await metadata.get().items[Self.key]
            do {
                try saver.withLock { saver throws(BoardError) in try saver.read(item?.value, revision: item?.revision ?? 0) }
            } catch {
                throw Failure("the metadata item \(Self.key) of the channel is no array of strokes and stays as it is: \(error)")
            }
        } catch let error as RelayError {
            try await refused(error)
        }
    }

    private func write(_ value: String, over revision: UInt64) async throws {
        do {
            let written = try await metadata.set([Self.key: value], revisions: [Self.key: revision])
            saver.withLock { $0.wrote(revision: written) }
        } catch {
            try await refused(error)
        }
    }

    private func refused(_ error: RelayError) async throws {
        guard !error.isTheEnd else { throw error }
        let (wait, isFirstConflict) = saver.withLock { saver in
            let before = saver.conflicts
            return (saver.refused(error), before == 0 && saver.conflicts == 1)
        }
        if isFirstConflict {
            Console.note(
                "\(user): somebody else wrote \(Self.key) meanwhile: \(Printable.escaped(error.text)); it is read and written again.")
        }
        if wait > .zero { try await Task.sleep(for: wait) }
    }

    /// Tells the tally how far this pen is.
    private func note() {
        let state = saver.withLock { saver in
            ReplayTally.Saved(
                strokes: saver.stored, revision: saver.revision, boardStrokes: saver.board.count, bytes: saver.board.json.count,
                saves: saver.saves, conflicts: saver.conflicts, end: saver.end)
        }
        tally.withLock { $0.saved[user] = state }
    }
}
