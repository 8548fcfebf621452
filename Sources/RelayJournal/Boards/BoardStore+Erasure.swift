import RelayPrimitives
import RelayStorage

// Erasure: what was removed leaves the files, and then the journal. [AC14, BL9]
//
// It waits for a copy that needs what is to go.
// In this order: the files of boards that hold what is to go are compacted, a checkpoint takes out of the journal all changes that the
// files have, and the journal erases what is superseded. Each step leaves what a crash, or a failure, finds whole.

/// An erasure that is under way. One at a time.
struct BoardErasing {
    enum State { case boards, journal }

    let request: StoreErasure
    var state = State.boards
    /// Of boards whose file is still as it was, the next one last.
    var boards: [UInt64]
    /// Of boards whose file stays as it was: why.
    var failures: [UInt64: String] = [:]
    /// The generation that the next one is copied to.
    var generation: UInt32?
    /// How often the next one was to be read or copied.
    var attempts = 0

    static let attemptsMax = 3
}

extension BoardStore {
    /// Begins it; `step` goes on with it, and `takeErased` has the answer. A failure of the store ends it without one.
    package func erase(_ request: StoreErasure) {
        guard erasing == nil else {
            return erased.append(StoreErased(token: request.token, failure: "another erasure is under way"))
        }
        erasing = BoardErasing(request: request, boards: request.boards.keys.inOrder().reversed())
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
            case .journal: return try eraseInJournal()
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
            try leave(board, "\(board.file) cannot be written anew")
        } else if case .loaded = board.content {
            erasing?.attempts += 1
            if board.keepsDamage { return try leave(board, "\(board.file) is damaged, and what is damaged could not be kept aside") }
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

    /// This file stays as it is; all else is erased.
    private func leave(_ board: StoredBoard, _ reason: String) throws(JournalError) {
        erasing?.failures[board.id] = reason
        try nextFile()
    }

    private func beginCompaction(_ board: StoredBoard) {
        guard let users = erasing?.request.boards[board.id] else { return }
        board.withIndex { $0.purge(users) }
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

    /// - Returns: `false` while a copy needs what is to go.
    private func eraseInJournal() throws(JournalError) -> Bool {
        switch journal.erasure {
        case .underWay:
            if journal.isHeld { return false }
            if !(try journal.compactStep(bytesMax: settings.stepBytes)) { fail("the journal cannot be compacted") }
        case .failed(let text): fail(text)
        case .none:
            if journal.hold.hasUnneeded { return false }
            try removeStrays()
        }
        return true
    }

    /// Files of boards that are gone, and of generations that are over: removing them may have failed.
    private func removeStrays() throws(JournalError) {
        var needed = Set((dropped + boards.values).flatMap { $0.outdated + [$0.file] })
        if let compaction { needed.insert(compaction.file) }
        do throws(StorageError) {
            let files = try storage.list()
            for file in files where BoardFile.parse(file) != nil && !needed.contains(file) { try storage.remove(file) }
            for file in files.inOrder() where file.hasPrefix("quarantine-") {
                lines.append("\(file) keeps damaged bytes as they were, and may hold what was erased: remove it if you do not need it")
            }
        } catch {
            return fail(error.description)
        }
        do throws(StorageError) {
            try storage.syncFolder()
        } catch {
            ownFolderFailures += 1
            note(.storage(error))
            doubtNames()
            throw .storage(error)
        }
        guard let erasing else { return }
        let done = erasing.request.marks.filter { mark in
            guard let user = mark.user else { return true }
            return !erasing.failures.keys.contains { (mark.board ?? $0) == $0 && erasing.request.boards[$0]?[user] != nil }
        }.map(\.key)
        try journal.amend(done.map { JournalEntry(key: $0, value: nil) })
        end(StoreErased(token: erasing.request.token, marks: done, boards: erasing.failures))
    }

    private func end(_ answer: StoreErased) {
        erased.append(answer)
        erasing = nil
    }

    private func fail(_ text: String) {
        if let erasing { end(StoreErased(token: erasing.request.token, failure: text)) }
    }
}
