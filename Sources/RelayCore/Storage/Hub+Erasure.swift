internal import RelayJournal
import RelayPrimitives
import RelayWire

// What was removed leaves the disk, and only then that is answered. [AC14, BL9]

/// What a durable change wants erased. It stands in the journal, under its sequence, until that is done.
struct ErasureMark {
    /// Records of the user with a higher one came after the request, and stay, however often the erasure is tried.
    var sequence: UInt64
    /// Whose records go from all boards; `nil`: nobody's.
    var user: Name?
    /// Who says so; `nil`: the relay itself.
    var by: Name?

    var key: [UInt8] { StoredForm.erasureKey(sequence) }
}

/// A request that waits for an erasure.
struct ErasureWaiter {
    var requester: Requester
    /// Sequence of its mark; `nil`: it has changed nothing, and waits for what earlier ones have left.
    var mark: UInt64?
}

struct ErasureState {
    /// Durable, and not carried out, those of the round included.
    var marks: [ErasureMark] = []
    /// Whoever is to be answered by the next round.
    var waiting: [ErasureWaiter] = []
    var isWanted = false
    /// One at a time: what is wanted meanwhile is the next one, all of it together.
    var round: ErasureRound?
    var lastToken: UInt64 = 0
    /// Rounds since the last one that has left nothing.
    var failures = 0
    /// No attempt by itself before, and when the deadline for one is due.
    var againAt: Instant?
    var alarm: Instant?

    /// Between a failure and the next attempt: each time twice as long, up to the longest.
    static let pause = Duration.seconds(60), pauseMax = Duration.seconds(3600)

    var nextPause: Duration { min(Self.pauseMax, Self.pause * (1 << min(max(0, failures - 1), 6))) }
}

/// Everything that was wanted when it began: first the records of users go from the boards, then all of it from the disk.
struct ErasureRound {
    enum Step {
        /// Whose records a board has was asked.
        case searching(board: UInt64, token: UInt64)
        /// The board's file is to have everything up to `head` before that is asked.
        case awaitingFile(board: UInt64, head: UInt64)
        case erasing(token: UInt64)
    }

    var step = Step.erasing(token: 0)
    let marks: [ErasureMark]
    let waiting: [ErasureWaiter]
    /// Whose records go, each with its newest mark, and the sequence of that.
    let users: [[UInt8]: ErasureMark]
    let newest: [[UInt8]: UInt64]
    /// Boards that are still to be looked at, the next one last.
    var boards: [UInt64]
    /// Boards whose files may have something of these users, and of whom.
    var holding: [UInt64: Set<[UInt8]>] = [:]
    /// Boards in which records of these users may be left, and why.
    var unsearched: [String] = []

    /// Records that one record of the journal removes.
    static let recordsMax = 128

    init(_ state: ErasureState, boards: some Sequence<UInt64>) {
        (marks, waiting) = (state.marks, state.waiting)
        users = Dictionary(marks.compactMap { mark in mark.user.map { (Array($0.text.utf8), mark) } }) { $1 }
        newest = users.mapValues(\.sequence)
        self.boards = users.isEmpty ? [] : boards.inOrder().reversed()
    }
}

extension Hub {
    // MARK: - Requests

    /// Requests, and boards that have ended by themselves, whose erasure was accepted and is not done.
    var erasuresUnderWay: Int {
        let unmarked = (erasure.waiting + (erasure.round?.waiting ?? [])).count { $0.mark == nil }
        let notDurable = storage.unrevealed[storage.head...].count { change in
            if case .whenErased? = change.requester?.answer { true } else { change.erasure != nil }
        }
        return erasure.marks.count + unmarked + notDurable
    }

    mutating func checkErasures() throws(WireError) {
        let count = erasuresUnderWay, limit = configuration.erasuresMax
        guard count >= limit else { return }
        counters.erasuresRefused += 1
        throw WireError(.limitReached, "at most \(limit) erasures are under way", limit: limit, actual: count + 1)
    }

    // MARK: - A round

    /// Begins a round if anything is wanted and none is under way.
    mutating func eraseIfIdle() {
        guard erasure.isWanted, erasure.round == nil, storage.failure == nil else { return }
        erasure.round = ErasureRound(erasure, boards: boards.ids)
        erasure.isWanted = false
        erasure.waiting = []
        goOnErasing()
    }

    /// The next board, or the disk when all were looked at.
    private mutating func goOnErasing() {
        while let id = erasure.round!.boards.popLast() {
            if let board = boards[id: id], !boards[board].isDropping { return look(at: id) }
        }
        erasure.lastToken += 1
        erasure.round!.step = .erasing(token: erasure.lastToken)
        let round = erasure.round!
        // Of whom a board that cannot be read has records, nobody knows.
        let marks = round.marks.filter { $0.user == nil || round.unsearched.isEmpty }
        guard configuration.isJournaled else { return erased(StoreErased(token: erasure.lastToken, marks: marks.map(\.key))) }
        effects.append(
            .erase(
                StoreErasure(
                    token: erasure.lastToken, users: round.newest, boards: round.holding,
                    marks: marks.map { .init(key: $0.key, user: $0.user.map { Array($0.text.utf8) }) })))
    }

    /// Asks whose records a board has, as soon as its file has everything that was accepted by now.
    private mutating func look(at id: UInt64) {
        let head = boards[boards[id: id]!].head
        erasure.round!.step = .awaitingFile(board: id, head: head)
        eraseOn(id)
    }

    /// The file of a board has something new, or the board is gone.
    mutating func eraseOn(_ id: UInt64) {
        guard case .awaitingFile(board: id, let head)? = erasure.round?.step else { return }
        guard let board = boards[id: id], !boards[board].isDropping else { return goOnErasing() }
        guard boards[board].readableHead >= head else { return }
        erasure.lastToken += 1
        erasure.round!.step = .searching(board: id, token: erasure.lastToken)
        effects.append(
            .findRecords(
                BoardRecordsRead(
                    token: erasure.lastToken, board: id, users: erasure.round!.newest, recordsMax: ErasureRound.recordsMax)))
    }

    /// A `findRecords` is answered.
    mutating func recordsFound(_ answer: BoardRecords) {
        guard case .searching(let id, token: answer.token)? = erasure.round?.step else { return }
        // Behind the end of a board nothing may stand: its file would be begun anew, without a name.
        guard let board = boards[id: id], !boards[board].isDropping else { return goOnErasing() }
        switch answer.outcome {
        case .gone: goOnErasing()
        case .failed(let text):
            erasure.round!.unsearched.append("the board of \(boards[board].name!) cannot be read: \(text)")
            goOnErasing()
        case .found(let records, let users):
            if !users.isEmpty { erasure.round!.holding[id] = users }
            guard !records.isEmpty else { return goOnErasing() }
            do throws(WireError) {
                try remove(records, on: board, above: answer.head)
                look(at: id)
            } catch {
                erasure.round!.unsearched.append("records of the board of \(boards[board].name!) cannot be removed: \(error.text)")
                goOnErasing()
            }
        }
    }

    /// Removes them as the moderator would who wants it: readers catch up with that, however many there are. [BL4]
    ///
    /// - Parameter head: what was found stands up to there in the file.
    private mutating func remove(_ found: [BoardRecords.Found], on board: ShelvedBoard.Index, above head: UInt64) throws(WireError) {
        // What is on its way to the file came after the request, and takes the place of what was found.
        var rewritten: Set<[UInt8]> = []
        for record in boards[board].pending where record.offset > head { if case .put(let key) = record.change { rewritten.insert(key) } }
        let users = erasure.round!.users
        let removals = found.filter { !rewritten.contains($0.key) }.map {
            BoardStep(key: $0.key, user: users[$0.user]!.by ?? users[$0.user]!.user!)
        }
        guard !removals.isEmpty else { return }
        let channel = try channelFor(ChannelID(kind: .message, channel: boards[board].name!))
        if channels[channel].inside.isEmpty { setChannelEnd(channel) }
        store(together: removals, on: board, channel)
    }

    /// The disk has nothing of it any more, or still has some.
    mutating func erased(_ answer: StoreErased) {
        guard let round = erasure.round, case .erasing(token: answer.token) = round.step else { return }
        if let failure = answer.failure { return erasureFailed(failure) }
        let done = Set(answer.marks)
        erasure.round = nil
        erasure.marks.removeAll { done.contains($0.key) }
        let left = Self.bySequence(round.marks.filter { !done.contains($0.key) })
        let reasons = round.unsearched + answer.boards.keys.inOrder().compactMap { id in
            boards[id: id].map { "the board of \(boards[$0].name!): \(answer.boards[id]!)" }
        }
        let text = (reasons.first ?? "a board's file was not written anew") + (reasons.count > 1 ? "; \(reasons.count - 1) more" : "")
        for waiter in round.waiting {
            if let mark = waiter.mark.flatMap({ left[$0] }) {
                refuse(waiter, mark, isSearched: round.unsearched.isEmpty, text)
            } else if isKnown(waiter.requester.connection), connections[waiter.requester.connection.place].isOpen {
                self.answer(waiter.requester.connection.place, EmptyAnswer(id: waiter.requester.id))
            }
        }
        if left.isEmpty { (erasure.failures, erasure.againAt) = (0, nil) } else { tryAgain(text) }
        eraseIfIdle()
    }

    // MARK: - Failures

    private mutating func refuse(_ waiter: ErasureWaiter, _ mark: ErasureMark?, isSearched: Bool, _ text: String) {
        guard isKnown(waiter.requester.connection) else { return }
        let words =
            if let user = mark?.user, !isSearched {
                "not all records of user \(user) are removed"
            } else {
                "what was removed is gone for everybody, but still stands on the disk"
            }
        refuse(
            waiter.requester.connection.place, WireError(.storageFailed, "\(words): \(text); the relay tries again by itself"),
            id: waiter.requester.id)
    }

    private mutating func erasureFailed(_ text: String) {
        giveUpErasure(text)
        tryAgain(text)
    }

    private mutating func tryAgain(_ text: String) {
        erasure.failures += 1
        log(.error, "what was removed still stands on the disk, again in \(erasure.nextPause): \(text)")
        eraseAfter(erasure.nextPause)
    }

    private mutating func eraseAfter(_ pause: Duration) {
        let moment = now.instant + pause
        erasure.againAt = moment
        if let alarm = erasure.alarm, alarm <= moment { return }
        erasure.alarm = moment
        deadlines.set(.erasure, at: moment)
    }

    /// What the disk was asked for is not going to be answered: whoever waits is told.
    mutating func giveUpErasure(_ text: String) {
        let (round, waiting) = (erasure.round, erasure.waiting)
        erasure.waiting = []
        erasure.round = nil
        erasure.isWanted = false
        let isSearched = if case .erasing? = round?.step { round!.unsearched.isEmpty } else { false }
        let marks = Self.bySequence(erasure.marks)
        for waiter in round?.waiting ?? [] { refuse(waiter, waiter.mark.flatMap { marks[$0] }, isSearched: isSearched, text) }
        for waiter in waiting { refuse(waiter, waiter.mark.flatMap { marks[$0] }, isSearched: false, text) }
    }

    private static func bySequence(_ marks: [ErasureMark]) -> [UInt64: ErasureMark] {
        Dictionary(uniqueKeysWithValues: marks.map { ($0.sequence, $0) })
    }

    /// Changes can be stored again. Not at once: what has filled a disk does not do so every second.
    mutating func eraseLater() {
        if !erasure.marks.isEmpty { eraseAfter(erasure.nextPause) }
    }

    /// It is time to try again what has failed, unless that was put off since.
    mutating func eraseAgain() {
        if let alarm = erasure.alarm, alarm <= now.instant { erasure.alarm = nil }
        guard !erasure.marks.isEmpty, erasure.round == nil else { return }
        if let againAt = erasure.againAt, now.instant < againAt { return eraseAfter(againAt - now.instant) }
        erasure.isWanted = true
        eraseIfIdle()
    }
}
