internal import RelayJournal
import RelayWire

// What was removed leaves the disk, and only then that is answered. [AC14, BL9]

/// What a durable change wants erased. It stands in the journal, under its sequence, until that is done.
struct ErasureMark {
    var sequence: UInt64
    /// Whose records go from all boards; `nil`: nobody's.
    var user: Name?
    /// Who says so; `nil`: the relay itself.
    var by: Name?
}

struct ErasureState {
    /// Durable, and not carried out, those of the round included.
    var marks: [ErasureMark] = []
    /// Whoever is to be answered by the next round.
    var waiting: [Requester] = []
    var isWanted = false
    /// One at a time: what is wanted meanwhile is the next one, all of it together.
    var round: ErasureRound?
    var lastToken: UInt64 = 0

    /// Between a failure and the next attempt.
    static let pause = Duration.seconds(60)
}

/// Everything that was wanted when it began: first the records of users go from the boards, then all of it from the disk.
struct ErasureRound {
    enum Step {
        /// Whose records a board has was asked.
        case searching(board: UInt64, through: UInt64, token: UInt64)
        /// The board's file is to have everything up to `head` before that is asked.
        case awaitingFile(board: UInt64, through: UInt64, head: UInt64)
        case erasing(token: UInt64)
    }

    var step: Step
    let marks: [ErasureMark]
    let requesters: [Requester]
    let users: Set<Name>
    /// The newest change when it began.
    let began: UInt64
    /// Boards that are still to be looked at, the next one last, and their heads when the round began: what came since stays.
    var boards: [(id: UInt64, through: UInt64)]
    /// Those whose files have something of these users.
    var holding: [UInt64] = []

    /// Keys that one record of the journal removes.
    static let keysMax = 128

    var isSearching: Bool { if case .erasing = step { false } else { true } }
    var names: Set<[UInt8]> { Set(users.map { Array($0.text.utf8) }) }
}

extension Hub {
    // MARK: - A round

    /// Begins a round if anything is wanted and none is under way.
    mutating func eraseIfIdle() {
        guard erasure.isWanted, erasure.round == nil, storage.failure == nil else { return }
        let users = Set(erasure.marks.compactMap(\.user))
        let (marks, requesters) = (erasure.marks, erasure.waiting)
        erasure.isWanted = false
        erasure.waiting = []
        guard configuration.isJournaled || !users.isEmpty else {
            erasure.marks = []
            return tellErased(requesters)
        }
        for user in users { dropDrafts(of: user) }
        var heads: [(id: UInt64, through: UInt64)] = []
        if !users.isEmpty { for id in boardsByID.keys.sorted(by: >) { heads.append((id, boards[boardsByID[id]!].head)) } }
        erasure.round = ErasureRound(
            step: .erasing(token: 0), marks: marks, requesters: requesters, users: users, began: storage.sequence,
            boards: heads)
        goOnErasing()
    }

    /// The next board, or the disk when all were looked at.
    private mutating func goOnErasing() {
        while let (id, through) = erasure.round!.boards.popLast() {
            if boardsByID[id] != nil { return look(at: id, through: through, head: through) }
        }
        erasure.lastToken += 1
        erasure.round!.step = .erasing(token: erasure.lastToken)
        guard configuration.isJournaled, let round = erasure.round else { return erased(StoreErased(token: erasure.lastToken)) }
        effects.append(
            .erase(
                StoreErasure(
                    token: erasure.lastToken, users: round.names, boards: round.holding, uploadsThrough: round.began,
                    marks: round.marks.map { StoredForm.erasureKey($0.sequence) })))
    }

    /// Asks whose records a board has, as soon as its file has everything up to `head`.
    private mutating func look(at id: UInt64, through: UInt64, head: UInt64) {
        guard let board = boardsByID[id], !boards[board].isDropping else { return goOnErasing() }
        guard boards[board].readableHead >= head else {
            erasure.round!.step = .awaitingFile(board: id, through: through, head: head)
            return
        }
        erasure.lastToken += 1
        erasure.round!.step = .searching(board: id, through: through, token: erasure.lastToken)
        effects.append(
            .findRecords(
                BoardRecordsRead(
                    token: erasure.lastToken, board: id, users: erasure.round!.names, through: through, keysMax: ErasureRound.keysMax)))
    }

    /// The file of a board has something new, or the board is gone.
    mutating func eraseOn(_ id: UInt64) {
        guard case .awaitingFile(board: id, let through, let head)? = erasure.round?.step else { return }
        look(at: id, through: through, head: head)
    }

    /// A `findRecords` is answered.
    mutating func recordsFound(_ answer: BoardRecords) {
        guard case .searching(let id, let through, token: answer.token)? = erasure.round?.step else { return }
        switch answer.outcome {
        case .gone: goOnErasing()
        case .failed(let text): erasureFailed("the board \(id) cannot be read: \(text)")
        case .found(let keys, let isInFile):
            if isInFile, erasure.round!.holding.last != id { erasure.round!.holding.append(id) }
            guard !keys.isEmpty, let board = boardsByID[id] else { return goOnErasing() }
            do throws(WireError) {
                try removeRecords(keys, on: board)
            } catch {
                return erasureFailed("records of \(boards[board].name!) cannot be removed: \(error.text)")
            }
            look(at: id, through: through, head: boards[board].head)
        }
    }

    /// The disk has nothing of it any more, or still has some.
    mutating func erased(_ answer: StoreErased) {
        guard let round = erasure.round, case .erasing(token: answer.token) = round.step else { return }
        if let failure = answer.failure { return erasureFailed(failure) }
        erasure.round = nil
        let done = Set(round.marks.map(\.sequence))
        erasure.marks.removeAll { done.contains($0.sequence) }
        tellErased(round.requesters)
        eraseIfIdle()
    }

    private mutating func tellErased(_ requesters: [Requester]) {
        for requester in requesters where isKnown(requester.connection) && connections[requester.connection.index].isOpen {
            answer(requester.connection.index, EmptyAnswer(id: requester.id))
        }
    }

    // MARK: - Records

    /// Removes them as their users would have: readers catch up with that, however many there are. [BL4]
    private mutating func removeRecords(_ keys: [[UInt8]], on board: Int32) throws(WireError) {
        // What somebody else has written since the file was looked at is that user's.
        let users = erasure.round!.users
        var others: Set<[UInt8]> = []
        for record in boards[board].pending { if case .put(let key) = record.change, !users.contains(record.user) { others.insert(key) } }
        let keys = keys.filter { !others.contains($0) }
        guard !keys.isEmpty else { return }
        let by = erasure.round!.marks.compactMap { $0.user == nil ? nil : $0.by }.min() ?? users.min()!
        let channel = try channelFor(ChannelID(kind: .message, channel: boards[board].name!))
        if channels[channel].inside.isEmpty { setChannelEnd(channel) }
        remove(keys, channel, by: by)
    }

    // MARK: - Failures

    /// Whoever waits is told; the relay tries again by itself.
    private mutating func erasureFailed(_ text: String) {
        log(.error, "what was removed still stands on the disk, again in \(ErasureState.pause): \(text)")
        giveUpErasure(text)
        deadlines.set(.erasure, at: now.instant + ErasureState.pause)
    }

    /// What the disk was asked for is not going to be answered.
    mutating func giveUpErasure(_ text: String) {
        let error = WireError(
            .storageFailed,
            "what was removed is gone for everybody, but still stands on the disk: \(text); the relay tries again every minute")
        for requester in (erasure.round?.requesters ?? []) + erasure.waiting where isKnown(requester.connection) {
            refuse(requester.connection.index, error, id: requester.id)
        }
        erasure.waiting = []
        erasure.round = nil
        erasure.isWanted = !erasure.marks.isEmpty
    }

    /// Changes can be stored again. Not at once: what has filled a disk does not do so every second.
    mutating func eraseLater() {
        if erasure.isWanted { deadlines.set(.erasure, at: now.instant + ErasureState.pause) }
    }
}
