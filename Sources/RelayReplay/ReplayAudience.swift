import BoardFormat
import RelayClient
import RelayIO

/// Three who read the board that a replay keeps: who joined before it, when half of it was drawn, and after its end.
final class ReplayAudience: Sendable {
    private struct Book {
        /// By key: with which offset it was written last, and what stands there.
        var drawn: [String: (offset: UInt64, record: WhiteboardRecord?)] = [:]
        /// What was written before is gone.
        var clearedAt: UInt64 = 0
        var newest: UInt64 = 0
        var isDone = false
        var joiners: [ReplayJoiner] = []
    }

    /// Logs a reader in and lets it read the board from the beginning.
    private let enter: @Sendable (ReplayJoiner.Entry) async throws -> ReplayJoiner
    private let halfway: Halfway
    private let patience: Duration
    private let book = Mutex(Book())

    /// The first one is there when this returns.
    init(
        strokes: Int, patience: Duration, enter: @escaping @Sendable (ReplayJoiner.Entry) async throws -> ReplayJoiner
    ) async throws {
        self.enter = enter
        self.patience = patience
        halfway = Halfway(strokes: strokes)
        try await join(.before)
    }

    // MARK: What the senders know

    func strokeIsAccepted() { halfway.strokeIsDone() }

    /// - Parameter offset: of the last one; the others have those before it.
    func stored(_ changes: [ReplayPlan.Change], upTo offset: UInt64) {
        book.withLock { book in
            for (index, change) in changes.enumerated() {
                let own = offset - UInt64(changes.count - 1 - index)
                if own > book.drawn[change.key]?.offset ?? 0 { book.drawn[change.key] = (own, change.record) }
            }
            book.newest = max(book.newest, offset)
        }
    }

    func cleared(at offset: UInt64) {
        book.withLock { book in
            book.clearedAt = max(book.clearedAt, offset)
            book.newest = max(book.newest, offset)
        }
    }

    // MARK: Reading

    /// Reads what the first one gets, and from half-way on what the second one gets, to their ends.
    func watch() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let early = book.withLock { $0.joiners[0] }
            group.addTask { await early.watch() }
            group.addTask {
                await self.halfway.reached()
                try await self.join(.halfway).watch()
            }
            try await group.waitForAll()
        }
    }

    /// Everything is drawn and durable: waits until the two have it, then lets the last one in.
    func look(_ watching: Task<Void, any Error>) async throws -> ReplayBoards {
        halfway.end()
        let newest = book.withLock { book in
            book.isDone = true
            return book.newest
        }
        let impatience = Task {
            try await Task.sleep(for: patience)
            await close()
        }
        defer { impatience.cancel() }
        for joiner in book.withLock({ $0.joiners }) { await joiner.sendersAreDone(newest) }
        try await watching.value
        try await join(.after).watch()
        return book.withLock { book in
            let standing = book.drawn.values.filter { $0.offset > book.clearedAt }.compactMap(\.record)
            return ReplayBoards(drawn: BoardDigest(standing), seen: book.joiners.map { $0.finish() })
        }
    }

    /// Ends all reading.
    func close() async {
        halfway.end()
        for joiner in book.withLock({ $0.joiners }) { await joiner.client.close() }
    }

    @discardableResult
    private func join(_ entry: ReplayJoiner.Entry) async throws -> ReplayJoiner {
        let joiner = try await enter(entry)
        let target = book.withLock { book in
            book.joiners.append(joiner)
            return book.isDone ? book.newest : nil
        }
        if let target { await joiner.sendersAreDone(target) }
        return joiner
    }
}

/// Tells when half of the strokes are accepted.
final class Halfway: Sendable {
    private let left: Mutex<Int>
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation

    init(strokes: Int) {
        left = Mutex((strokes + 1) / 2)
        (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
    }

    func strokeIsDone() {
        let isHalf = left.withLock { left in
            left -= 1
            return left <= 0
        }
        if isHalf { arrival.finish() }
    }

    /// Nothing more will be drawn: whoever waits need not.
    func end() { arrival.finish() }

    func reached() async { for await _ in arrivals {} }
}
