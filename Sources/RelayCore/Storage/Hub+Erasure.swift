import RelayPrimitives
internal import RelayStorage
import RelayWire

// What was removed leaves the disk, and only then that is answered. [AC14, BL9]

/// What a durable change wants erased. It stands in the journal, under its sequence, until that is done.
struct ErasureMark {
    /// Records of the user with a higher one came after the request, and stay, however often the erasure is tried.
    var sequence: UInt64 = 0
    /// Whose records go; `nil`: nobody's.
    var user: Name?
    /// Id of the one board that they go from; `nil`: all of them. [AC18]
    var board: UInt64?
    /// Who says so; `nil`: the relay itself.
    var by: Name?

    var key: [UInt8] { StoredForm.erasureKey(sequence) }

    func takesRecords(from board: UInt64) -> Bool { user != nil && (self.board ?? board) == board }
}

/// Who is to be forgotten, and what went by the change itself. [AC14]
struct ForgottenUser {
    var user: Name
    var forgotten: Forgotten
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
    /// Requests that the next round answers.
    var waiting: [ErasureWaiter] = []
    var isWanted = false
    /// One at a time: what is wanted meanwhile is the next one, all of it together.
    var round: ErasureRound?
    var lastToken: UInt64 = 0
    /// Failed rounds since the last complete one.
    var failures = 0
    /// No attempt by itself before, and when the deadline for one is due.
    var againAt: Instant?
    var alarm: Instant?

    /// Between a failure and the next attempt: each time twice as long, up to the longest.
    static let pause = Duration.seconds(60), pauseMax = Duration.seconds(3600)

    var nextPause: Duration { min(Self.pauseMax, Self.pause * (1 << min(max(0, failures - 1), 6))) }
}

/// Why an erasure failed: `told` for the moderator who asked, `text` for the log, with the system's error.
struct ErasureFailure {
    let told: String
    let text: String

    init(_ told: String, _ reason: String) {
        self.told = told
        text = "\(told): \(reason)"
    }
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
    /// Boards that are still to be looked at, the next one last.
    var boards: [UInt64]
    /// Whose records go from the board that is looked at, each with its newest mark.
    var users = [[UInt8]: ErasureMark]()
    /// By board: users whose records its file may still have, each with the sequence of its newest mark.
    var holding = [UInt64: [[UInt8]: UInt64]]()
    /// Records that were removed from each board, by user.
    var removed = [UInt64: [[UInt8]: Int]]()
    /// Boards in which records of these users may be left, and why.
    var unsearched: [(board: UInt64, failure: ErasureFailure)] = []

    /// Records that one record of the journal removes.
    static let recordsMax = 128

    init(_ state: ErasureState, boards: some Sequence<UInt64>) {
        (marks, waiting) = (state.marks, state.waiting)
        let marked = marks.filter { $0.user != nil }
        // On the boards that are named alone, if each mark names one.
        let named = Set(marked.compactMap(\.board)), isForAll = marked.contains { $0.board == nil }
        self.boards = boards.filter { isForAll || named.contains($0) }.inOrder().reversed()
    }

    /// Begins with the next board.
    mutating func nextBoard() -> UInt64? {
        guard let board = boards.popLast() else { return nil }
        let marks = marks.filter { $0.takesRecords(from: board) }
        users = Dictionary(marks.map { (Array($0.user!.text.utf8), $0) }) { $1 }
        return board
    }

    /// Whether records that a mark wants removed may be left.
    func mayLeave(_ mark: ErasureMark) -> Bool { unsearched.contains { mark.takesRecords(from: $0.board) } }
}

extension Hub {
    // MARK: - Requests

    /// Requests, and boards that have ended by themselves, whose erasure was accepted and is not done.
    var erasuresUnderWay: Int {
        let unmarked = (storage.erasure.waiting + (storage.erasure.round?.waiting ?? [])).count { $0.mark == nil }
        let notDurable = storage.unrevealed[storage.head...].count { change in
            if case .whenErased? = change.requester?.answer { true } else { change.erasure != nil }
        }
        return storage.erasure.marks.count + unmarked + notDurable
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
        guard storage.erasure.isWanted, storage.erasure.round == nil, storage.failure == nil else { return }
        storage.erasure.round = ErasureRound(storage.erasure, boards: boards.ids)
        storage.erasure.isWanted = false
        storage.erasure.waiting = []
        goOnErasing()
    }

    /// The next board, or the disk when all were looked at.
    private mutating func goOnErasing() {
        while let id = storage.erasure.round!.nextBoard() {
            if let board = boards[id: id], !boards[board].isDropping { return look(at: id) }
        }
        storage.erasure.lastToken += 1
        storage.erasure.round!.step = .erasing(token: storage.erasure.lastToken)
        let round = storage.erasure.round!
        // Of whom a board that cannot be read has records, nobody knows.
        let marks = round.marks.filter { !round.mayLeave($0) }
        guard configuration.isJournaled else { return erased(StoreErased(token: storage.erasure.lastToken, marks: marks.map(\.key))) }
        effects.append(
            .erase(
                StoreErasure(
                    token: storage.erasure.lastToken, boards: round.holding,
                    marks: marks.map { .init(key: $0.key, user: $0.user.map { Array($0.text.utf8) }, board: $0.board) })))
    }

    /// Asks whose records a board has, as soon as its file has everything that was accepted by now.
    private mutating func look(at id: UInt64) {
        let head = boards[boards[id: id]!].head
        storage.erasure.round!.step = .awaitingFile(board: id, head: head)
        eraseOn(id)
    }

    /// The file of a board has something new, or the board is gone.
    mutating func eraseOn(_ id: UInt64) {
        guard case .awaitingFile(board: id, let head)? = storage.erasure.round?.step else { return }
        guard let board = boards[id: id], !boards[board].isDropping else { return goOnErasing() }
        guard boards[board].readableHead >= head else { return }
        storage.erasure.lastToken += 1
        storage.erasure.round!.step = .searching(board: id, token: storage.erasure.lastToken)
        effects.append(
            .findRecords(
                StoredRecordsRead(
                    token: storage.erasure.lastToken, board: id, users: storage.erasure.round!.users.mapValues(\.sequence),
                    recordsMax: ErasureRound.recordsMax)))
    }

    /// A `findRecords` is answered.
    mutating func recordsFound(_ answer: StoredRecords) {
        guard case .searching(let id, token: answer.token)? = storage.erasure.round?.step else { return }
        // Behind the end of a board nothing may stand: its file would be begun anew, without a name.
        guard let board = boards[id: id], !boards[board].isDropping else { return goOnErasing() }
        switch answer.outcome {
        case .gone: goOnErasing()
        case .failed(let text):
            leave(id, ErasureFailure("the board of \(boards[board].name!) cannot be read", text))
        case .found(let records, let users):
            if !users.isEmpty {
                let newest = storage.erasure.round!.users.filter { users.contains($0.key) }
                storage.erasure.round!.holding[id] = newest.mapValues(\.sequence)
            }
            guard !records.isEmpty else { return goOnErasing() }
            do throws(WireError) {
                try remove(records, on: board, above: answer.head)
                look(at: id)
            } catch {
                leave(id, ErasureFailure("records of the board of \(boards[board].name!) cannot be removed", error.text))
            }
        }
    }

    /// What it has of these users stays for now; the next one.
    private mutating func leave(_ id: UInt64, _ failure: ErasureFailure) {
        storage.erasure.round!.unsearched.append((id, failure))
        goOnErasing()
    }

    /// Removes the records in the name of the moderator who asked. Readers catch up with any number of removals. [BL4]
    ///
    /// - Parameter head: what was found stands up to there in the file.
    private mutating func remove(_ found: [StoredRecords.Found], on board: ShelvedBoard.Index, above head: UInt64) throws(WireError) {
        // What is on its way to the file came after the request, and takes the place of what was found.
        var rewritten: Set<[UInt8]> = []
        for record in boards[board].pending where record.offset > head { if case .put(let key) = record.change { rewritten.insert(key) } }
        let users = storage.erasure.round!.users
        let removed = found.filter { !rewritten.contains($0.key) }
        let removals = removed.map { BoardStep(key: $0.key, user: users[$0.user]!.by ?? users[$0.user]!.user!) }
        guard !removals.isEmpty else { return }
        let channel = try channelFor(ChannelID(kind: .message, channel: boards[board].name!), by: nil)
        if channels[channel].inside.isEmpty { setChannelEnd(channel) }
        storeTogether(removals, on: board, channel)
        for record in removed { storage.erasure.round!.removed[boards[board].id, default: [:]][record.user, default: 0] += 1 }
    }

    /// The disk's answer: the data is gone, or some of it is left.
    mutating func erased(_ answer: StoreErased) {
        guard let round = storage.erasure.round, case .erasing(token: answer.token) = round.step else { return }
        if let failure = answer.failure { return erasureFailed(failure) }
        let done = Set(answer.marks), marks = Self.bySequence(round.marks)
        storage.erasure.round = nil
        storage.erasure.marks.removeAll { done.contains($0.key) }
        let left = Self.bySequence(round.marks.filter { !done.contains($0.key) })
        let reasons = round.unsearched.map { $0.failure } + answer.boards.keys.inOrder().compactMap { id in
            boards[id: id].map { ErasureFailure("the board of \(boards[$0].name!) is not written anew", answer.boards[id]!) }
        }
        let more = reasons.count > 1 ? "; \(reasons.count - 1) more" : ""
        let told = (reasons.first?.told ?? "a board's file was not written anew") + more
        for waiter in round.waiting {
            if let mark = waiter.mark.flatMap({ left[$0] }) {
                refuse(waiter, mark, isSearched: !round.mayLeave(mark), told)
            } else {
                tellErased(waiter, waiter.mark.flatMap { marks[$0] }, round.removed)
            }
        }
        if left.isEmpty {
            (storage.erasure.failures, storage.erasure.againAt) = (0, nil)
        } else {
            tryAgain((reasons.first?.text ?? told) + more)
        }
        eraseIfIdle()
    }

    private mutating func tellErased(_ waiter: ErasureWaiter, _ mark: ErasureMark?, _ removed: [UInt64: [[UInt8]: Int]]) {
        guard connections.has(waiter.requester.connection), connections[waiter.requester.connection.place].isOpen else { return }
        let (connection, id) = (waiter.requester.connection.place, waiter.requester.id)
        if case .whenErased(let told?) = waiter.requester.answer {
            var forgotten = told.forgotten
            if mark?.user == told.user {
                forgotten.records = removed.values.reduce(0) { $0 + ($1[Array(told.user.text.utf8)] ?? 0) }
            }
            forgotten.keptBytes = boards.usage.bytes(of: told.user)
            forgotten.isBanned = moderation.revealed.bans[told.user]?.holds(at: now.wallMilliseconds) == true
            forgotten.isHere = isHere(told.user)
            return self.answer(connection, ForgetUserAnswer(id: id, forgotten))
        }
        guard let board = mark?.board, let user = mark?.user else { return self.answer(connection, EmptyAnswer(id: id)) }
        self.answer(connection, RemoveRecordsAnswer(id: id, records: removed[board]?[Array(user.text.utf8)] ?? 0))
    }

    // MARK: - Failures

    private mutating func refuse(
        _ waiter: ErasureWaiter, _ mark: ErasureMark?, isSearched: Bool, _ told: String = "the relay's log says why"
    ) {
        guard connections.has(waiter.requester.connection) else { return }
        let words =
            if let user = mark?.user, !isSearched {
                "not all records of user \(user) are removed"
            } else {
                "what was removed is gone for everybody, but still stands on the disk"
            }
        refuse(
            waiter.requester.connection.place, WireError(.storageFailed, "\(words): \(told); the relay tries again by itself"),
            id: waiter.requester.id)
    }

    private mutating func erasureFailed(_ text: String) {
        giveUpErasure()
        tryAgain(text)
    }

    private mutating func tryAgain(_ text: String) {
        storage.erasure.failures += 1
        log(.error, "what was removed still stands on the disk, again in \(storage.erasure.nextPause): \(text)")
        eraseAfter(storage.erasure.nextPause)
    }

    private mutating func eraseAfter(_ pause: Duration) {
        let moment = now.instant + pause
        storage.erasure.againAt = moment
        if let alarm = storage.erasure.alarm, alarm <= moment { return }
        storage.erasure.alarm = moment
        deadlines.set(.erasure, at: moment)
    }

    /// The disk will not answer the request: waiting moderators learn that.
    mutating func giveUpErasure() {
        let (round, waiting) = (storage.erasure.round, storage.erasure.waiting)
        storage.erasure.waiting = []
        storage.erasure.round = nil
        storage.erasure.isWanted = false
        let isErasing = if case .erasing? = round?.step { true } else { false }
        let marks = Self.bySequence(storage.erasure.marks)
        for waiter in round?.waiting ?? [] {
            let mark = waiter.mark.flatMap { marks[$0] }
            refuse(waiter, mark, isSearched: isErasing && mark.map { !round!.mayLeave($0) } ?? true)
        }
        for waiter in waiting { refuse(waiter, waiter.mark.flatMap { marks[$0] }, isSearched: false) }
    }

    private static func bySequence(_ marks: [ErasureMark]) -> [UInt64: ErasureMark] {
        Dictionary(uniqueKeysWithValues: marks.map { ($0.sequence, $0) })
    }

    /// Changes can be stored again. Not at once: what has filled a disk does not do so every second.
    mutating func eraseLater() {
        if !storage.erasure.marks.isEmpty { eraseAfter(storage.erasure.nextPause) }
    }

    /// It is time to try again what has failed, unless that was put off since.
    mutating func eraseAgain() {
        if let alarm = storage.erasure.alarm, alarm <= now.instant { storage.erasure.alarm = nil }
        guard !storage.erasure.marks.isEmpty, storage.erasure.round == nil else { return }
        if let againAt = storage.erasure.againAt, now.instant < againAt { return eraseAfter(againAt - now.instant) }
        storage.erasure.isWanted = true
        eraseIfIdle()
    }
}
