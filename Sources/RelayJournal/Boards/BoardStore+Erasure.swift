// Erasure: what was removed leaves the files, and then the journal. [AC14, BL9]
//
// In this order: the files of boards that hold what is to go are compacted, a checkpoint takes out of the journal all changes that the
// files have, and the journal erases what is superseded. Each step leaves what a crash, or a failure, finds whole.

/// Asks for what was removed by now to leave the folder.
package struct StoreErasure: Hashable, Sendable {
    /// Given back with the answer.
    package var token: UInt64
    /// Whose drawings have been removed, and stand in the files of these boards.
    package var users: Set<[UInt8]> = []
    package var boards: [UInt64] = []
    /// Drawings in parts that they have begun up to this change are not finished any more.
    package var uploadsThrough: UInt64 = 0
    /// Entries of the journal that say that it is wanted: they go with what is erased.
    package var marks: [[UInt8]] = []

    package init(token: UInt64, users: Set<[UInt8]> = [], boards: [UInt64] = [], uploadsThrough: UInt64 = 0, marks: [[UInt8]] = []) {
        self.token = token
        self.users = users
        self.boards = boards
        self.uploadsThrough = uploadsThrough
        self.marks = marks
    }
}

package struct StoreErased: Hashable, Sendable {
    package var token: UInt64
    /// Why some of it is still there, if so; for the log.
    package var failure: String?

    package init(token: UInt64, failure: String? = nil) {
        self.token = token
        self.failure = failure
    }
}

/// An erasure that is under way. One at a time.
struct BoardErasing {
    enum State { case boards, journal }

    let request: StoreErasure
    var state = State.boards
    /// Of boards whose file is still as it was, the next one last.
    var boards: [UInt64]
    /// The generation that the next one is copied to.
    var generation: UInt32?
    /// How often the next one was to be read or copied.
    var attempts = 0

    static let attemptsMax = 3
}

extension BoardStore {
    /// Begins it; `step` goes on with it, and `takeErased` has the answer. A failure of the store ends it without one.
    package func erase(_ request: StoreErasure) {
        precondition(erasing == nil, "boards: an erasure while another one is under way")
        erasing = BoardErasing(request: request, boards: request.boards.sorted(by: >))
    }

    package func takeErased() -> [StoreErased] {
        defer { erased = [] }
        return erased
    }

    /// - Returns: whether there was anything to do.
    func eraseStep() throws(JournalError) -> Bool {
        guard let state = erasing?.state else { return false }
        do throws(JournalError) {
            switch state {
            case .boards: try eraseInFiles()
            case .journal: try eraseInJournal()
            }
        } catch {
            erasing = nil
            throw error
        }
        return true
    }

    // MARK: - Files

    private func eraseInFiles() throws(JournalError) {
        guard let id = erasing?.boards.last, let board = boards[id] else {
            return try nextFile()
        }
        board.lastUsed = wall
        if compaction != nil {
            _ = try compactionStep()
        } else if let generation = erasing?.generation, board.generation == generation {
            try nextFile()
        } else if (erasing?.attempts ?? 0) >= BoardErasing.attemptsMax {
            end("\(board.file) cannot be written anew")
        } else if case .loaded = board.content {
            erasing?.attempts += 1
            if board.keepsDamage { return end("\(board.file) is damaged, and what is damaged could not be kept aside") }
            beginCompaction(board)
        } else {
            erasing?.attempts += 1
            load(board)
        }
    }

    private func nextFile() throws(JournalError) {
        erasing?.generation = nil
        erasing?.attempts = 0
        if erasing?.boards.popLast() == nil { try beginJournal() }
    }

    private func beginCompaction(_ board: Board) {
        guard let request = erasing?.request else { return }
        if board.withIndex({ $0.purge(request.users, uploadsThrough: request.uploadsThrough) }) {
            board.summary.clear = nil
            noteSums(board)
        }
        board.isTouched = true
        let begun = begin(board)
        compaction = begun
        erasing?.generation = begun.generation
    }

    // MARK: - The journal

    private func beginJournal() throws(JournalError) {
        // Files that a failure has left beside the one that counts go with the next checkpoint of their board.
        for board in boards.values where !board.outdated.isEmpty { board.isTouched = true }
        try checkpoint()
        try journal.beginErasure()
        erasing?.state = .journal
    }

    private func eraseInJournal() throws(JournalError) {
        switch journal.erasure {
        case .underWay:
            if !(try journal.compactStep(bytesMax: settings.stepBytes)) { end("the journal cannot be compacted") }
        case .failed(let text): end(text)
        case .none: try removeStrays()
        }
    }

    /// Files of boards that are gone, and of generations that are over: removing them may have failed.
    private func removeStrays() throws(JournalError) {
        var needed = Set((dropped + boards.values).flatMap { $0.outdated + [$0.file] })
        if let compaction { needed.insert(compaction.file) }
        do throws(StorageError) {
            let files = try storage.list()
            for file in files where BoardFile.parse(file) != nil && !needed.contains(file) { try storage.remove(file) }
            for file in files.sorted() where file.hasPrefix("quarantine-") {
                lines.append("\(file) keeps damaged bytes as they were, and may hold what was erased: remove it if you do not need it")
            }
        } catch {
            return end(error.description)
        }
        do throws(StorageError) {
            try storage.syncFolder()
        } catch {
            ownFolderFailures += 1
            note(.storage(error))
            doubtNames()
            throw .storage(error)
        }
        try journal.amend((erasing?.request.marks ?? []).map { JournalEntry(key: $0, value: nil) })
        end(nil)
    }

    private func end(_ failure: String?) {
        guard let erasing else { return }
        erased.append(StoreErased(token: erasing.request.token, failure: failure))
        self.erasing = nil
    }
}
