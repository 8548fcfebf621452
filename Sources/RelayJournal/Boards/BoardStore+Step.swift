import RelayPrimitives
import RelayStorage

// What takes long, in pieces that no commit waits for.

extension BoardStore {
    /// Does one piece of work: reads on for waiting readers, syncs, compacts, forgets what is too old or not used.
    ///
    /// - Parameter wall: milliseconds since 1970.
    /// - Returns: whether there was anything to do. If not, there is nothing until something is applied or read, or until
    ///   time has passed: call it once in a while.
    /// - Throws: when the store has failed.
    package func step(wall: UInt64) throws(JournalError) -> Bool {
        self.wall = max(self.wall, wall)
        // Before what is read for others: that may go on for ever.
        if failure == nil, journal.failure == nil, wouldReadMuchAgain {
            try checkpoint()
            return true
        }
        if try loadStep(wall: wall) { return true }
        guard failure == nil, journal.failure == nil else { return false }
        if checkpointableBytes > settings.checkpointBytes {
            try checkpoint()
            return true
        }
        if expireStep() { return true }
        if try eraseStep() { return true }
        return try compactionStep()
    }

    /// A piece of a board that somebody reads, or whose changes wait, or room for one: nothing else can be done while nothing can be
    /// written.
    ///
    /// - Parameter wall: milliseconds since 1970.
    /// - Returns: whether there was something to do.
    package func loadStep(wall: UInt64) throws(JournalError) -> Bool {
        self.wall = max(self.wall, wall)
        guard let board = nextLoad else { return makeRoom() }
        try loadStep(board)
        return true
    }

    /// Forgets one board, or its expired parts.
    private func expireStep() -> Bool {
        for id in active.inOrder() where erasing?.boards.last != id {
            guard let board = boards[id], board.isLoaded, board.trouble == nil else { continue }
            if board.lastUsed + settings.idleMilliseconds < wall {
                unload(board)
                return true
            }
            guard compaction?.board !== board else { continue }
            if board.withIndex({ $0.expire(at: wall, settings) }) {
                let hadClear = board.summary.clear
                let cleared = board.withIndex { $0.cleared?.offset }
                if hadClear?.offset != cleared { board.summary.clear = nil }
                noteSums(board)
                board.isTouched = true
                return true
            }
        }
        return false
    }
}
