import RelayPrimitives
internal import RelayStorage
import RelayWire

// Every durable change goes to the journal here; `reveal` shows what waits for it. [SG1–SG4]

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
        /// What moderators have ended is gone. [AC19]
        case channelGone(Name, head: UInt64)
        /// Several, in this order.
        case together([Subject])
        /// Nothing changed, but the answer must not overtake what it rests on.
        case nothing

        /// Each by itself.
        var parts: [Subject] { if case .together(let parts) = self { parts } else { [self] } }
    }

    var sequence: UInt64
    var subject: Subject
    var requester: Requester?
    var byteCount: Int
    /// Whom they are charged to.
    var payer: AddressKey
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
        /// When the data is gone from the disk: empty, or with what was removed. [AC14, AC18, BL9]
        case whenErased(ForgottenUser?)
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
    /// Why nothing can be changed, if so. [SG2]
    var failure: String?
    /// The same for users.
    var refusal = "the relay can store nothing now: its log says why"
    /// No log of the space is reached. [SG5]
    var isAlone = false
    /// What was removed and is still on the disk. [AC14, BL9]
    var erasure = ErasureState()
}

extension Hub {
    /// - Throws: `storageFailed` while nothing can be stored, `busy` while too much waits for it. [SG3]
    func checkStorage() throws(WireError) {
        guard storage.failure == nil else { throw WireError(.storageFailed, storage.refusal) }
        try accounts.unjournaled.checkWaiting("changes wait to be stored", of: accounts.payer)
    }

    func requester(_ connection: Connection.Index, _ id: UInt32, _ answer: Requester.Answer) -> Requester {
        Requester(connection: connections[connection].id, id: id, answer: answer)
    }

    /// The number that the next change will have.
    var nextSequence: UInt64 { storage.sequence + 1 }

    /// Hands a change to the journal; it is told when it is durable, or at once if there is no journal.
    ///
    /// - Parameter erasing: what it removes is to leave the disk, too.
    mutating func store(
        _ entries: [JournalEntry], _ subject: UnrevealedChange.Subject, _ requester: Requester?, erasing: ErasureMark? = nil
    ) {
        storage.sequence += 1
        var mark = erasing
        mark?.sequence = storage.sequence
        let isMarked = configuration.isJournaled && mark != nil
        let record = JournalRecord(sequence: storage.sequence, entries: entries + (isMarked ? [StoredForm.erasure(mark!)] : []))
        let bytes = record.byteCount + Footprint.change + record.entries.count * Footprint.changedEntry
        accounts.unjournaled.hold(bytes, accounts.payer)
        var isOfBoard = false
        for part in subject.parts {
            switch part {
            case .metadata(let book, _): metadata[book].unrevealed += 1
            case .lock(let lock, _): locks[lock].unrevealed += 1
            case .board: isOfBoard = true
            case .moderation, .forgotten, .claims, .channelGone, .together, .nothing: break
            }
        }
        storage.unrevealed.append(
            UnrevealedChange(
                sequence: storage.sequence, subject: subject, requester: requester, byteCount: bytes, payer: accounts.payer, erasure: mark))
        counters.changesAccepted += 1
        if configuration.isJournaled {
            effects.append(.persist(record))
        } else {
            // Boards have files even so, in memory, and are shown when they are written there.
            if isOfBoard { return effects.append(.persist(record)) }
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
        let bytes = Footprint.change
        accounts.unjournaled.hold(bytes, accounts.payer)
        storage.unrevealed.append(
            UnrevealedChange(
                sequence: storage.sequence, subject: .nothing, requester: requester, byteCount: bytes, payer: accounts.payer))
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
            .boardInUse, .nothingToUndo, .notBanned:
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
            accounts.unjournaled.hold(-change.byteCount, change.payer)
            if let requester = change.requester { tell(requester, mark: change.erasure?.sequence) }
            for part in change.subject.parts { reveal(part) }
            guard let mark = change.erasure else { continue }
            storage.erasure.marks.append(mark)
            storage.erasure.isWanted = true
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

    mutating func reveal(_ subject: UnrevealedChange.Subject) {
        switch subject {
        case .metadata(let book, let change): revealMetadata(book, change)
        case .lock(let lock, let transition): revealLock(lock, transition)
        case .board(let transition): revealBoard(transition)
        case .forgotten(let book, let generation): revealForgotten(book, generation)
        case .moderation(let moderation): revealModeration(moderation)
        case .channelGone(let name, let head): forgetChannels(name, head: head)
        case .claims, .together, .nothing: break
        }
    }

    private mutating func tell(_ requester: Requester, mark: UInt64? = nil) {
        guard connections.has(requester.connection), connections[requester.connection.place].isOpen else { return }
        let connection = requester.connection.place
        switch requester.answer {
        case .empty: answer(connection, EmptyAnswer(id: requester.id))
        case .majorRevision(let revision): answer(connection, MetadataAnswer(id: requester.id, majorRevision: revision))
        case .fencing(let fencing): answer(connection, FencingAnswer(id: requester.id, fencing: fencing))
        case .cleared(let offset, let records): answer(connection, ClearAnswer(id: requester.id, offset: offset, records: records))
        case .whenErased:
            storage.erasure.waiting.append(ErasureWaiter(requester: requester, mark: mark))
            storage.erasure.isWanted = true
        case .refusal(let error): refuse(connection, error, id: requester.id)
        }
    }

    // MARK: - Not durable

    /// Undoes what was not revealed, answers the requests for it, and takes no changes until `storageRecovered`. [SG2]
    ///
    /// - Parameters:
    ///   - text: for the log alone. It may name files of this machine.
    ///   - undecided: of changes up to and including this sequence nobody is told anything.
    mutating func storageFailed(_ text: String, undecidedThrough undecided: UInt64 = 0) {
        if storage.failure == nil { log(.error, "changes cannot be stored, the relay is read-only: \(text)") }
        storage.failure = text
        counters.storageFailures += 1
        let undone = storage.unrevealed[storage.head...]
        storage.unrevealed = []
        storage.head = 0
        accounts.unjournaled.holdNothing()
        // The newest first: a user who waited before an older removal stands before users who came after it. [LK4]
        for change in undone.reversed() {
            for part in change.subject.parts.reversed() {
                switch part {
                case .metadata(let book, _): undoMetadata(book)
                case .lock(let lock, let transition): undoLock(lock, transition)
                case .board(let transition): undoBoard(transition, isTold: change.sequence > undecided)
                case .claims(let users): claimsWereNotStored(users)
                case .moderation: undoModeration()
                case .forgotten, .channelGone, .together, .nothing: break
                }
            }
        }
        for change in undone where change.sequence > undecided {
            if let requester = change.requester, connections.has(requester.connection) {
                let error = WireError(.storageFailed, "the change could not be stored: the relay's log says why")
                refuse(requester.connection.place, error, id: requester.id)
            }
        }
        var boardsUndone: [BoardTransition] = []
        for part in undone.flatMap(\.subject.parts) {
            switch part {
            case .metadata(let book, _): settleUndoneMetadata(book)
            case .lock(let lock, _): settleUndoneLock(lock)
            case .board(let transition): boardsUndone.append(transition)
            case .forgotten(let book, let generation): keepForgotten(book, generation)
            case .moderation, .claims, .channelGone, .together, .nothing: break
            }
        }
        settleUndoneBoards(boardsUndone)
        usesWereNotStored()
        giveUpErasure()
    }

    /// What is not durable goes on. [SG5]
    mutating func storageAlone(undecidedThrough sequence: UInt64) {
        storage.refusal = "this relay is alone: it cannot reach the log of its space, and stores nothing until it does"
        storage.isAlone = true
        storageFailed("the log of the space cannot be reached", undecidedThrough: sequence)
    }

    mutating func storageRecovered() {
        guard storage.failure != nil else { return }
        storage.failure = nil
        storeClaims()
        eraseLater()
        log(.info, "changes can be stored again")
    }
}

// What a relay finds stored when it starts. [SG4]

extension Hub {
    /// Takes over one stored key and value; before any event, in order of keys.
    ///
    /// - Returns: whether it is one that this version knows.
    package mutating func restore(key: [UInt8], value: [UInt8]) -> Bool {
        guard let entry = StoredEntry(key: key, value: value) else { return false }
        do throws(WireError) {
            switch entry {
            case .start: break
            case .relay(let id): storage.relayID = id
            case .claim(let user, let claim): claims[user] = claim
            case .role(let user, let role): moderation.applied.apply(.role(user, role))
            case .mode(let channel, let mode): moderation.applied.apply(.mode(channel, mode, true))
            case .ban(let user, let ban): moderation.applied.apply(.ban(user, ban))
            case .erasure(let mark): storage.erasure.marks.append(mark)
            case .beginning(let board, let beginning): boards.restored[board, default: (nil, 0)].beginning = beginning
            case .use(let board, let day): boards.restored[board, default: (nil, 0)].day = day
            case .publish(let user, let instance, let remembered): keptWindows.restore(remembered, of: user, instance)
            case .metadata(let owner, let majorRevision):
                let book = try bookFor(owner, by: nil)
                metadata[book].applied.restore(majorRevision: majorRevision)
            case .item(let owner, let key, let item):
                let book = try bookFor(owner, by: nil)
                accounts.metadata.hold(metadata[book].applied.charges(of: .init(majorRevision: 0, items: [key: item])))
                metadata[book].applied.restore(key, item)
            case .lock(let channel, let name, let state):
                let lock = try lockFor(name, channel, by: nil)
                // Its owner's clock begins to run with `restored`.
                hold(state, lock)
            }
        } catch {
            log(.error, "a stored entry is left out: \(error.text)")
            return false
        }
        return true
    }

    /// All has been restored; times that run while nobody is there begin now.
    ///
    /// - Parameter sequence: of the last change in the journal.
    package mutating func restored(lastSequence sequence: UInt64, at now: Now) {
        enter(now)
        storage.sequence = max(storage.sequence, sequence)
        for index in metadata.indices where metadata[index].owner != nil {
            metadata[index].revealed = metadata[index].applied
            metadata[index].lastWritten = now.instant
            endMetadataIfUnused(index)
        }
        for index in locks.indices where locks[index].name != nil {
            locks[index].revealed = locks[index].applied
            locks[index].absence = ordinals.generation()
            if locks[index].applied?.owner != nil { setLockExpiry(index, after: locks[index].applied!.ttl) }
        }
        keptWindows.takeRestored(places: Self.placesMax, until: now.instant + .milliseconds(Limits.publishMemoryMilliseconds))
        boundWindows()
        setWindowSweep()
        setBoardExpiry()
        restoreUses()
        if !claims.isEmpty { sweepClaims() }
        moderation.revealed = moderation.applied
        sweepBans()
        if configuration.isJournaled { store([StoredForm.start(start.number), StoredForm.relay(storage.relayID)], .nothing, nil) }
        // What was removed before the end, and was still on the disk then.
        eraseAgain()
    }

    /// The start number that a stored entry tells, if it is the one that does.
    package static func storedStart(key: [UInt8], value: [UInt8]) -> UInt32? {
        guard case .start(let start)? = StoredEntry(key: key, value: value) else { return nil }
        return start
    }
}
