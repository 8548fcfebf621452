import RelayPrimitives
internal import RelayStorage
import RelayWire

// Whose record it is: known, or asked for while the connection waits. [BL10]

extension Hub {
    // MARK: - Judging

    /// Whether a session that may not take away what others wrote may write a key.
    ///
    /// - Returns: `false` if that has to be asked for: the connection waits, and its frame is judged anew.
    /// - Throws: `notPermitted`; `storageFailed`, `busy` when it cannot be found out.
    mutating func isOwn(_ key: UnsafeRawBufferPointer, in channel: Name, _ session: Session.Index, _ connection: Connection.Index)
        throws(WireError) -> Bool
    {
        let key = Array(key)
        guard let board = try unknownAuthor(of: key, in: channel, session) else { return true }
        wait(connection, for: board, try askAuthors(board, [key]))
        return false
    }

    /// - Returns: the board, where whose record it is has to be asked for; `nil` if the session may write the key.
    /// - Throws: `notPermitted`; `storageFailed` when it cannot be found out.
    mutating func unknownAuthor(of key: [UInt8], in channel: Name, _ session: Session.Index) throws(WireError) -> ShelvedBoard.Index? {
        guard let board = boards[named: channel] else { return nil }
        if boards[board].authors == nil {
            boards[board].authors = KnownAuthors(boards[board].pending, fileHead: boards[board].readableHead, at: now.instant)
            authors.count(boards[board].authors!.bytes)
        }
        boards[board].authors!.lastUsed = now.instant
        if let author = boards[board].authors!.author(of: key) {
            guard author.isEmpty || sessions[session].user!.text.utf8.elementsEqual(author) else {
                throw WireError(.notPermitted, "the record of this key is another user's, and the right revise is missing")
            }
            return nil
        }
        let question = boards[board].authors!.isLarge ? key : []
        if let failure = authors.failure, failure.board == boards[board].id, failure.question == question {
            throw WireError(.storageFailed, "whose record it is cannot be read: \(failure.text)")
        }
        return board
    }

    /// Asks whose the records of keys are.
    ///
    /// - Parameter isBounded: what is known of the board may be forgotten for it; not while answers about several keys are gathered.
    /// - Returns: the last question, as it stands in `KnownAuthors`: answers come in the order of the questions.
    /// - Throws: `busy`.
    mutating func askAuthors(_ board: ShelvedBoard.Index, _ keys: [[UInt8]], isBounded: Bool = true) throws(WireError) -> [UInt8] {
        try checkHeld()
        if isBounded { boundAuthors(board) }
        let isLarge = boards[board].authors!.isLarge
        let questions = isLarge ? keys : [[]]
        let last = questions[questions.count - 1]
        let timeout = configuration.boardAuthorTimeout
        for question in questions {
            guard let since = boards[board].authors!.asked[question], now.instant - since >= timeout else { continue }
            throw WireError(
                .busy, "whose record it is has not been found out in \(timeout)", retryAfterMilliseconds: 1000)
        }
        var new: [[UInt8]] = []
        for question in questions where boards[board].authors!.asked[question] == nil {
            boards[board].authors!.asked[question] = now.instant
            new.append(question)
        }
        setAuthorsDeadline(board)
        // An undone `clear` that is not in the file yet: asked when it is.
        guard boards[board].readableHead >= boards[board].authors!.floor else { return last }
        for start in stride(from: 0, to: new.count, by: BoardAuthorsRead.keysAtOnceMax) {
            let some = Array(new[start...].prefix(BoardAuthorsRead.keysAtOnceMax))
            ask(some, about: isLarge ? some : Array(keys.prefix(BoardAuthorsRead.keysAtOnceMax)), board)
        }
        return last
    }

    private mutating func ask(_ questions: [[UInt8]], about keys: [[UInt8]], _ board: ShelvedBoard.Index) {
        let token = ordinals.read(), bytes = keys.reduce(0) { $0 + Footprint.askedAuthor + $1.count }
        accounts.heldFrames.hold(bytes, accounts.payer)
        authors.ask(
            token,
            AuthorQuestion(
                board: board, generation: boards[board].generation, questions: questions, keys: keys, bytes: bytes, payer: accounts.payer))
        effects.append(
            .readAuthors(BoardAuthorsRead(token: token, board: boards[board].id, keys: keys, keysMax: configuration.boardAuthorKeysMax)))
    }

    // MARK: - Knowing

    /// A change was accepted. Costs a comparison on boards where nobody's rights are limited.
    mutating func noteAuthor(_ board: ShelvedBoard.Index, _ change: PendingRecord.Change, by user: [UInt8], at offset: UInt64) {
        guard let lastUsed = boards[board].authors?.lastUsed else { return }
        guard lastUsed + Self.authorsKeptFor > now.instant || !boards[board].authors!.waiting.isEmpty else {
            return forgetAuthors(of: board)
        }
        countAuthors(board) { $0.note(change, by: user, at: offset) }
        boundAuthors(board)
    }

    private static let authorsKeptFor = Duration.seconds(60)

    private mutating func countAuthors(_ board: ShelvedBoard.Index, _ change: (inout KnownAuthors) -> Void) {
        let before = boards[board].authors!.bytes
        change(&boards[board].authors!)
        authors.count(boards[board].authors!.bytes - before)
    }

    /// Bounds what one board, and all together, keep: before more is added. Of an answer that comes somebody waits for all.
    private mutating func boundAuthors(_ board: ShelvedBoard.Index) {
        if boards[board].authors!.count > 2 * configuration.boardAuthorKeysMax + boards[board].pending.count { beginAuthors(board) }
        boundOtherAuthors(than: board)
        if authors.bytes > configuration.authorMemoryMax { beginAuthors(board) }
    }

    private mutating func boundOtherAuthors(than board: ShelvedBoard.Index) {
        guard authors.bytes > configuration.authorMemoryMax else { return }
        for other in boards.indices where other != board && boards[other].authors?.waiting.isEmpty == true { forgetAuthors(of: other) }
    }

    private mutating func beginAuthors(_ board: ShelvedBoard.Index) {
        let (pending, head) = (boards[board].pending, boards[board].readableHead)
        countAuthors(board) { $0.begin(pending, fileHead: head) }
    }

    /// Nothing is known any more; waiting writers are judged anew.
    mutating func forgetAuthors(of board: ShelvedBoard.Index) {
        guard boards[board].authors != nil else { return }
        wakeWriters(board)
        authors.count(-boards[board].authors!.bytes)
        boards[board].authors = nil
    }

    // MARK: - What happens meanwhile

    /// The store has answered.
    mutating func authorsRead(_ answer: BoardAuthors) {
        guard let asked = authors.answered(answer.token) else { return }
        accounts.heldFrames.hold(-asked.bytes, asked.payer)
        guard boards[asked.board].generation == asked.generation, boards[asked.board].authors != nil else { return }
        let board = asked.board
        for question in asked.questions { boards[board].authors!.asked[question] = nil }
        countAuthors(board) { $0.take(answer, asked.keys) }
        boundOtherAuthors(than: board)
        var failure: String?
        switch answer.outcome {
        // Of a large board one answer is about some keys: writers that wait for others go on waiting.
        case .each: break
        case .all: return wakeWriters(board)
        case .gone: failure = "the board is gone"
        case .failed(let text):
            log(.error, "who wrote what on the board of \(boards[board].name!) cannot be read: \(text)")
            failure = "the relay's log says why"
        }
        for question in asked.questions { wakeWriters(board, of: question, failure: failure) }
    }

    /// What waited for an undone `clear` can be asked now.
    mutating func authorsCanBeAsked(_ board: ShelvedBoard.Index, before head: UInt64) {
        guard let floor = boards[board].authors?.floor, head < floor, boards[board].readableHead >= floor else { return }
        boards[board].authors!.asked[[]] = nil
        wakeWriters(board)
    }

    /// What was noted may be gone: what is still to be written stands in `pending`.
    mutating func authorsAfterFailure() {
        let underWay = Dictionary(grouping: authors.questions, by: \.board)
        for board in boards.indices where boards[board].authors != nil {
            beginAuthors(board)
            // Not those that wait for what will not be written; an answer to the others still comes.
            let questions = Set(underWay[board, default: []].filter { $0.generation == boards[board].generation }.flatMap(\.questions))
            boards[board].authors!.asked = boards[board].authors!.asked.filter { questions.contains($0.key) }
            wakeWriters(board)
        }
    }

    private mutating func setAuthorsDeadline(_ board: ShelvedBoard.Index) {
        guard !boards[board].authors!.deadlineIsSet, let oldest = boards[board].authors!.asked.values.min() else { return }
        boards[board].authors!.deadlineIsSet = true
        let end = max(oldest + configuration.boardAuthorTimeout, now.instant + Self.authorsLookedAfterEvery)
        deadlines.set(.boardAuthors(board: board, generation: boards[board].generation), at: end)
    }

    /// Questions that came in a row end in a row, too: they are looked after together.
    private static let authorsLookedAfterEvery = Duration.milliseconds(100)

    /// Some questions may have waited too long.
    mutating func boardAuthorsDeadline(_ board: ShelvedBoard.Index) {
        boards[board].authors!.deadlineIsSet = false
        // Those that nobody waits for any more need no deadline: a writer that asks again is told.
        let (now, timeout) = (now.instant, configuration.boardAuthorTimeout)
        let asked = boards[board].authors!.asked
        for question in Self.sorted(asked.filter { now - $0.value >= timeout }.keys) { wakeWriters(board, of: question) }
        if asked.values.contains(where: { now - $0 < timeout }) { setAuthorsDeadline(board) }
    }

    // MARK: - Waiting

    /// What the connection sends from this frame on is not handled before the frame is judged again.
    mutating func wait(_ connection: Connection.Index, for board: ShelvedBoard.Index, _ question: [UInt8]) {
        boards[board].authors!.waiting[question, default: []].append(connections[connection].id)
        connections[connection].input = .held(for: .author)
        pauseReading(connection)
    }

    /// Writers that wait for a board are judged anew, at the end of the call.
    private mutating func wakeWriters(_ board: ShelvedBoard.Index) {
        for question in Self.sorted(boards[board].authors!.waiting.keys) { wakeWriters(board, of: question) }
    }

    /// An order of their own, so that a simulation is the same each time.
    private static func sorted(_ questions: some Sequence<[UInt8]>) -> [[UInt8]] {
        Array(questions).inOrder { $0.lexicographicallyPrecedes($1) }
    }

    /// Only those who wait for the answer to one question, or for the reason why none comes.
    private mutating func wakeWriters(_ board: ShelvedBoard.Index, of question: [UInt8], failure: String? = nil) {
        guard let waiting = boards[board].authors!.waiting.removeValue(forKey: question) else { return }
        let failure = failure.map { AuthorsFailure(board: boards[board].id, question: question, text: $0) }
        authors.wake(waiting, failure)
    }

    /// One answer may wake many, each with a set of changes. [DL12]
    private mutating func goOnInTurn(_ connection: Connection.Index) {
        connections[connection].held.isJudgedAgain = true
        connections[connection].input = .held(for: .turn)
        waitForTurn(connection)
    }

    mutating func goOnWithWoken() {
        while let id = authors.nextWoken() {
            guard connections.has(id), connections[id.place].input == .held(for: .author) else { continue }
            authors.judgedAgain += 1
            if isTurn(of: id.place) { goOn(id.place) } else { goOnInTurn(id.place) }
        }
    }
}
