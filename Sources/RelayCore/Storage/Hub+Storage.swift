internal import RelayJournal
import RelayWire

// What must be durable before anybody sees it: changes of metadata and locks. [SG1–SG4]

/// A change that was made and is not known to be durable: what to tell, and whom, when it is.
struct UnrevealedChange {
    enum Subject {
        case metadata(MetadataBook.Index, MetadataSetChange)
        case lock(Lock.Index, LockTransition)
        case board(BoardTransition)
        /// A set that has been empty for long, if it still is then. [MD2]
        case forgotten(MetadataBook.Index, generation: UInt32)
        /// Whom user ids belong to. [AC3]
        case claims([Name])
        /// What a moderator has decided. [AC15]
        case moderation(Decision)
        /// Nothing changed, but the answer must not overtake what it rests on.
        case nothing
    }

    var sequence: UInt64
    var subject: Subject
    var requester: Requester?
    var byteCount: Int
    /// What it has removed is to leave the disk.
    var erasure: ErasureMark?
}

/// Who asked, on which connection, under which id.
struct Requester {
    enum Answer {
        case empty
        case majorRevision(UInt64)
        case fencing(UInt64)
        case cleared(offset: UInt64, records: UInt64)
        /// Empty, when the disk has nothing of it any more. [AC14, BL9]
        case whenErased
        /// Judged by changes that are not durable yet.
        case refusal(WireError)
    }

    var connection: ConnectionID
    var id: UInt32
    var answer: Answer
}

/// How changes stand with the journal.
struct StorageState {
    /// The relay's public id: the same at each start with this data folder. [SE6]
    var relayID: Entropy
    /// Of the last change. Rises over restarts, and is a lock's fencing number. [LK3]
    var sequence: UInt64
    /// Oldest first, from `head` on.
    var unrevealed: [UnrevealedChange] = []
    var head = 0
    var unjournaledBytes = 0
    /// Keys and values of all metadata as accepted. [MD4]
    var metadataBytes = 0
    /// Why nothing can be changed, if so. [SG2]
    var failure: String?
}

extension Hub {
    /// - Throws: `storageFailed` while nothing can be stored, `busy` while too much waits for it.
    func checkStorage() throws(WireError) {
        if let failure = storage.failure { throw WireError(.storageFailed, "nothing can be changed: \(failure)") }
        guard storage.unjournaledBytes < configuration.unjournaledBytesMax else {
            throw WireError(
                .busy, "\(storage.unjournaledBytes) bytes of changes wait to be stored, at most \(configuration.unjournaledBytesMax) may",
                limit: configuration.unjournaledBytesMax, actual: storage.unjournaledBytes, retryAfterMilliseconds: 100)
        }
    }

    /// The number that the next change will have.
    var nextSequence: UInt64 { storage.sequence + 1 }

    /// Hands a change to the journal; it is told when it is durable, or at once if there is no journal.
    ///
    /// - Parameter erasing: what it removes is to leave the disk, too.
    mutating func store(
        _ entries: [JournalEntry], _ subject: UnrevealedChange.Subject, _ requester: Requester?, erasing: (user: Name?, by: Name?)? = nil
    ) {
        storage.sequence += 1
        let mark = erasing.map { ErasureMark(sequence: storage.sequence, user: $0.user, by: $0.by) }
        let isMarked = configuration.isJournaled && mark != nil
        let record = JournalRecord(sequence: storage.sequence, entries: entries + (isMarked ? [StoredForm.erasure(mark!)] : []))
        let bytes = record.byteCount
        storage.unjournaledBytes += bytes
        switch subject {
        case .metadata(let book, _): metadata[book].unrevealed += 1
        case .lock(let lock, _): locks[lock].unrevealed += 1
        case .moderation(let moderation): if let (book, _) = moderation.metadata { metadata[book].unrevealed += 1 }
        case .board, .forgotten, .claims, .nothing: break
        }
        storage.unrevealed.append(
            UnrevealedChange(sequence: storage.sequence, subject: subject, requester: requester, byteCount: bytes, erasure: mark))
        counters.changesAccepted += 1
        if configuration.isJournaled {
            effects.append(.persist(record))
        } else {
            // Boards have files even so, in memory, and are shown when they are written there.
            if case .board = subject { return effects.append(.persist(record)) }
            reveal(through: storage.sequence)
        }
    }

    /// Answers behind every change that is under way: what changes nothing must not overtake what it rests on.
    mutating func answerInOrder(_ requester: Requester) {
        guard storage.head < storage.unrevealed.count else {
            tell(requester)
            return eraseIfIdle()
        }
        do throws(WireError) {
            try checkStorage()
        } catch {
            return refuse(requester.connection.place, error, id: requester.id)
        }
        // What waits takes memory, too: it counts like a small change. [SG3]
        let bytes = MemoryLayout<UnrevealedChange>.stride
        storage.unjournaledBytes += bytes
        storage.unrevealed.append(
            UnrevealedChange(sequence: storage.sequence, subject: .nothing, requester: requester, byteCount: bytes))
    }

    /// Whether a refusal speaks of changes that are not durable: then it waits for them as an answer does. [SG1]
    func mustWait(_ refusal: WireError, of type: FrameType) -> Bool {
        switch type {
        case .setMetadata, .updateMetadata, .removeMetadata, .setLock, .acquireLock, .releaseLock, .revokeLock, .removeLock, .clear,
            .undoClear, .removeBoard,
            .setRole, .setMode, .banUser, .unbanUser:
            break
        default: return false
        }
        switch refusal.code {
        case .revisionMismatch, .itemNotFound, .lockNotFound, .lockHeld, .lockNotHeld, .tooLarge, .limitReached, .storageFull,
            .boardNotFound,
            .nothingToUndo, .notBanned:
            return storage.head < storage.unrevealed.count
        default: return false
        }
    }

    // MARK: - Durable

    /// Shows what has become durable: the answer, then the events, in the order of the changes. [SG1]
    mutating func reveal(through sequence: UInt64) {
        while storage.head < storage.unrevealed.count, storage.unrevealed[storage.head].sequence <= sequence {
            let change = storage.unrevealed[storage.head]
            storage.head += 1
            storage.unjournaledBytes -= change.byteCount
            if let requester = change.requester { tell(requester, mark: change.erasure?.sequence) }
            switch change.subject {
            case .metadata(let book, let change): revealMetadata(book, change)
            case .lock(let lock, let transition): revealLock(lock, transition)
            case .board(let transition): revealBoard(transition)
            case .forgotten(let book, let generation): revealForgotten(book, generation)
            case .moderation(let moderation): revealModeration(moderation)
            case .claims, .nothing: break
            }
            guard let mark = change.erasure else { continue }
            erasure.marks.append(mark)
            erasure.isWanted = true
        }
        defer { eraseIfIdle() }
        if storage.head == storage.unrevealed.count {
            storage.unrevealed.removeAll(keepingCapacity: storage.head <= 1024)
            storage.head = 0
        } else if storage.head >= 1024, storage.head > storage.unrevealed.count / 2 {
            storage.unrevealed.removeFirst(storage.head)
            storage.head = 0
        }
    }

    private mutating func tell(_ requester: Requester, mark: UInt64? = nil) {
        guard isKnown(requester.connection), connections[requester.connection.place].isOpen else { return }
        let connection = requester.connection.place
        switch requester.answer {
        case .empty: answer(connection, EmptyAnswer(id: requester.id))
        case .majorRevision(let revision): answer(connection, MetadataAnswer(id: requester.id, majorRevision: revision))
        case .fencing(let fencing): answer(connection, FencingAnswer(id: requester.id, fencing: fencing))
        case .cleared(let offset, let records): answer(connection, ClearAnswer(id: requester.id, offset: offset, records: records))
        case .whenErased:
            erasure.waiting.append(ErasureWaiter(requester: requester, mark: mark))
            erasure.isWanted = true
        case .refusal(let error): refuse(connection, error, id: requester.id)
        }
    }

    // MARK: - Not durable

    /// Undoes what was not revealed, answers the requests for it, and takes no changes until `storageRecovered`. [SG2]
    mutating func storageFailed(_ text: String) {
        if storage.failure == nil { log(.error, "changes cannot be stored, the relay is read-only: \(text)") }
        storage.failure = text
        counters.storageFailures += 1
        let undone = storage.unrevealed[storage.head...]
        storage.unrevealed = []
        storage.head = 0
        storage.unjournaledBytes = 0
        // The newest first: a user who waited before an older removal stands before users who came after it. [LK4]
        for change in undone.reversed() {
            switch change.subject {
            case .metadata(let book, _): undoMetadata(book)
            case .lock(let lock, let transition): undoLock(lock, transition)
            case .board(let transition): undoBoard(transition, text)
            case .claims(let users): claimsWereNotStored(users)
            case .moderation(let moderation): undoModeration(moderation)
            case .forgotten, .nothing: break
            }
        }
        for change in undone {
            if let requester = change.requester, isKnown(requester.connection) {
                refuse(requester.connection.place, WireError(.storageFailed, "the change could not be stored: \(text)"), id: requester.id)
            }
        }
        var boardsUndone: [BoardTransition] = []
        for change in undone {
            switch change.subject {
            case .metadata(let book, _): settleUndoneMetadata(book)
            case .lock(let lock, _): settleUndoneLock(lock, text)
            case .board(let transition): boardsUndone.append(transition)
            case .forgotten(let book, let generation): keepForgotten(book, generation)
            case .moderation(let moderation): if let (book, _) = moderation.metadata { settleUndoneMetadata(book) }
            case .claims, .nothing: break
            }
        }
        settleUndoneBoards(boardsUndone)
        giveUpErasure(text)
    }

    mutating func storageRecovered() {
        guard storage.failure != nil else { return }
        storage.failure = nil
        storeClaims()
        eraseLater()
        log(.info, "changes can be stored again")
    }
}
