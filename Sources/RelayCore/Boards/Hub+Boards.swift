import RelayPrimitives
internal import RelayRights
internal import RelayStorage
import RelayWire

// What message channels keep for good: accepted, bounded, cleared, removed. [BL1, BL6–BL9]

extension Hub {
    // MARK: - Publishing

    /// What a retained publish is told before anything has changed. [BL7]
    ///
    /// - Parameters:
    ///   - bytes: of the records that it makes, 0 for a removal.
    ///   - records: if it makes any.
    func checkBoard(_ channel: Name, _ session: Session.Index, bytes: Int, records: Int = 1) throws(WireError) {
        guard configuration.boardBytesTotalMax > 0 else { throw WireError(.notSupported, "this relay keeps no boards") }
        try checkStorage()
        let user = sessions[session].user!, address = sessions[session].address
        var held = 0, heldRecords = 0
        if let board = boards[named: channel] {
            guard !boards[board].isDropping else {
                throw WireError(.busy, "the board of \(channel) is being removed", retryAfterMilliseconds: 100)
            }
            (held, heldRecords) = (boards[board].bytes, boards[board].records)
        } else {
            guard boards.count < configuration.boardsMax else {
                throw WireError(
                    .relayFull, "the relay keeps at most \(configuration.boardsMax) boards", limit: configuration.boardsMax,
                    actual: boards.count + 1)
            }
            if let refusal = boards.places.refusal(.newcomer(address), max: configuration.boardsMax, kept: 0, addressMin: 1) {
                throw WireError(
                    .relayFull, "at most \(refusal.limit) boards may be begun from \(address), not \(refusal.actual): the rest is others'",
                    limit: refusal.limit, actual: refusal.actual)
            }
            if !isTrusted(sessions[session].access) { try checkNewBoards(of: user) }
            // Boards that exist keep room to go on.
            try check(boards.bytes + bytes, configuration.boardBytesTotalMax / 16 * 15, .storageFull, "new boards, all together,")
        }
        guard bytes > 0 else { return }
        try check(held + bytes, configuration.boardBytesMax, .boardFull, "the board of \(channel)")
        guard heldRecords + records <= configuration.boardRecordsMax else {
            throw WireError(
                .boardFull, "the board of \(channel) may have \(configuration.boardRecordsMax) records, not \(heldRecords + records)",
                limit: configuration.boardRecordsMax, actual: heldRecords + records)
        }
        try check(boards.bytes + bytes, configuration.boardBytesTotalMax, .storageFull, "all boards of the relay")
        try check(
            boards.usage.bytes(of: user) + bytes, configuration.boardBytesTotalMax / 4, .quotaReached,
            "what user \(user) has on all boards")
        try boards.usage.check(bytes, of: user, from: address)
    }

    private func check(_ bytes: Int, _ limit: Int, _ code: ErrorCode, _ what: String) throws(WireError) {
        guard bytes <= limit else { throw WireError(code, "\(what) may have \(limit) bytes, not \(bytes)", limit: limit, actual: bytes) }
    }

    private func checkNewBoards(of user: Name) throws(WireError) {
        let began = boards.recentBeginnings(by: user, at: now.instant)
        guard began.count < configuration.newBoardsPerHour else {
            let wait = Duration.seconds(3600) - (now.instant - began[began.count - configuration.newBoardsPerHour])
            throw WireError(
                .rateLimited, "a user begins at most \(configuration.newBoardsPerHour) boards an hour",
                limit: configuration.newBoardsPerHour,
                actual: began.count + 1, retryAfterMilliseconds: UInt64(max(1, wait.milliseconds)))
        }
    }

    /// Bytes that a record counts. [BL7]
    static func recordBytes(of frame: PublishFrame) -> Int {
        frame.key.count + frame.customType.count + frame.extensions.count + frame.payload.count + BoardSummary.recordOverheadBytes
    }

    /// The board of a channel. A channel without one gets one.
    mutating func boardFor(_ channel: Channel.Index, by user: Name) -> (board: ShelvedBoard.Index, begins: Bool) {
        if let board = channels[channel].board { return (board, false) }
        let name = channels[channel].id!.channel
        var made = ShelvedBoard(
            name: name, generation: ordinals.generation(), summary: BoardSummary(board: nextSequence, name: Array(name.text.utf8)))
        made.channel = channel
        made.payer = accounts.payer
        made.beginning = BoardBeginning(wallMilliseconds: now.wallMilliseconds, owner: user)
        let board = boards.insert(made)
        channels[channel].board = board
        boards.began(by: user, at: now.instant)
        return (board, true)
    }

    // MARK: - Changes

    /// A change as it goes to the journal. It changes nothing; were it not `mutating`, the compiler would copy the hub for it.
    private mutating func boardChange(
        _ board: ShelvedBoard.Index, offset: UInt64, _ session: Session.Index?, instance: UInt64 = 0, number: UInt64 = 0,
        _ kind: StoredChange.Kind
    ) -> StoredChange {
        var epoch = Epoch(start: start.number, incarnation: 0)
        var lastUnretained = boards[board].summary.lastUnretained
        if let channel = boards[board].channel { (epoch, lastUnretained) = (channels[channel].epoch, channels[channel].lastUnretained) }
        var author: [UInt8] = []
        if let session { author = Array(sessions[session].user!.text.utf8) }
        return StoredChange(
            board: boards[board].id, offset: offset, epoch: BoardEpoch.ID(start: epoch.start, incarnation: epoch.incarnation),
            lastUnretained: lastUnretained, author: author, instance: instance, number: number, wallMilliseconds: now.wallMilliseconds,
            kind: kind)
    }

    /// Hands a change to the journal.
    ///
    /// - Parameters:
    ///   - before: what must stand before it, in the same record: all of it is durable, or nothing counts.
    ///   - payload: of the record or part among these changes.
    private mutating func storeChange(
        _ change: StoredChange, before: [StoredChange] = [], _ kind: BoardTransition.Kind, _ board: ShelvedBoard.Index,
        begins: Bool = false,
        bytes: Int = 0, payload: UnsafeRawBufferPointer? = nil, user: Name?,
        by: String? = nil, entries: [JournalEntry] = [], _ requester: Requester? = nil, erasing: ErasureMark? = nil
    ) {
        // Whose it is stands elsewhere: there it can be forgotten.
        var beginning = change
        (beginning.offset, beginning.author, beginning.kind) = (0, [], .create(name: boards[board].summary.name))
        let changes = (begins ? [beginning] : []) + before + [change]
        let sequence = nextSequence
        let own = changes.enumerated().map { $0.element.entry(sequence: sequence, index: $0.offset, payload: payload) }
        if change.offset > 0, let user, let touched = PendingRecord.Change(change.kind) {
            boards[board].head = change.offset
            boards.append(PendingRecord(offset: change.offset, bytes: bytes, user: user, change: touched), to: board, from: accounts.payer)
            noteAuthor(board, touched, by: change.author, at: change.offset)
        }
        let transition = BoardTransition(
            board: board, generation: boards[board].generation, kind: kind, offset: change.offset, firstOffset: change.offset, bytes: bytes,
            begins: begins, user: user, by: by, instance: change.instance, number: change.number)
        let kept = begins ? beginningEntries(board) : []
        store(own + entries + kept, .board(transition), requester, erasing: erasing)
    }

    /// Changes that stand in one record of the journal: all of them are durable, or none. Nobody is sent them: live readers read them in
    /// the file.
    ///
    /// - Parameter by: who published them, and the number of the last part; they are told.
    mutating func storeTogether(
        _ steps: [BoardStep], on board: ShelvedBoard.Index, _ channel: Channel.Index, begins: Bool = false,
        by publisher: (session: Session.Index, number: UInt64)? = nil
    ) {
        let before = channels[channel].head, sequence = nextSequence
        var (user, instance): (Name?, UInt64) = (nil, 0)
        if let publisher { (user, instance) = (sessions[publisher.session].user, sessions[publisher.session].instance ?? 0) }
        let number = publisher?.number ?? 0
        var entries: [JournalEntry] = []
        entries.reserveCapacity(steps.count + 2)
        if begins {
            let beginning = boardChange(board, offset: 0, nil, .create(name: boards[board].summary.name))
            entries.append(beginning.entry(sequence: sequence, index: 0))
        }
        for step in steps {
            let offset = takeOffset(channel)
            var change = boardChange(board, offset: offset, nil, instance: instance, number: number, step.kind)
            change.author = Array(step.user.text.utf8)
            entries.append(change.entry(sequence: sequence, index: entries.count, payload: step.payload))
            let touched = PendingRecord.Change(step.kind)!
            let pending = PendingRecord(offset: offset, bytes: step.bytes, user: step.user, change: touched)
            boards.append(pending, to: board, from: accounts.payer)
            noteAuthor(board, touched, by: change.author, at: offset)
        }
        let last = channels[channel].head
        boards[board].head = last
        if let publisher {
            let remembered = remembered(publisher.session, number, last, board)
            entries += remembered
        }
        if begins { entries += beginningEntries(board) }
        let transition = BoardTransition(
            board: board, generation: boards[board].generation, kind: .record, offset: last, firstOffset: before + 1, bytes: 0,
            begins: begins, user: user, by: nil, instance: instance, number: number)
        store(entries, .board(transition), nil)
        readFromFile(channel, board, above: before)
    }

    /// A retained message takes its offset: on its way to the file it is delivered as any other.
    ///
    /// - Returns: the board that keeps it.
    mutating func keepRecord(_ frame: PublishFrame, _ key: Name, _ channel: Channel.Index, _ session: Session.Index, offset: UInt64)
        -> ShelvedBoard.Index
    {
        let user = sessions[session].user!
        let (board, begins) = boardFor(channel, by: user)
        let isRemoval = frame.payload.isEmpty
        let put = BoardPut(
            key: Array(frame.key), isText: frame.flags.contains(.text),
            customType: frame.flags.contains(.customType) ? Array(frame.customType) : nil, extensions: Array(frame.extensions), payload: [])
        let change = boardChange(
            board, offset: offset, session, instance: sessions[session].instance ?? 0, number: frame.number,
            isRemoval ? .remove(key: put.key) : .put(put))
        storeChange(
            change, .record, board, begins: begins, bytes: isRemoval ? 0 : Self.recordBytes(of: frame), payload: frame.payload, user: user,
            entries: remembered(session, frame.number, offset, board))
        return board
    }

    /// One part of a drawing that is retained. [BL8]
    ///
    /// With the last one it takes an offset.
    ///
    /// - Returns: the board that has it, with the last part.
    mutating func keepPart(_ frame: PublishFrame, _ key: Name, _ channel: Channel.Index, _ session: Session.Index) -> ShelvedBoard.Index? {
        let user = sessions[session].user!
        let name = channels[channel].id!.channel
        let (board, begins) = boardFor(channel, by: user)
        let draft = advanced(frame, key, name, board: boards[board].id, session)
        let instance = sessions[session].instance ?? 0
        let part = StoredChange.Kind.part(upload: draft.upload, number: frame.part, payload: [])
        guard frame.part == frame.parts else {
            sessions[session].window.drafts.append(draft)
            let change = boardChange(board, offset: 0, session, instance: instance, number: frame.number, part)
            storeChange(
                change, .part, board, begins: begins, payload: frame.payload, user: user,
                entries: remembered(session, frame.number, 0, board))
            return nil
        }
        let offset = takeOffset(channel)
        let put = BoardPut(
            key: Array(key.text.utf8), isText: draft.flags.contains(.text),
            customType: draft.flags.contains(.customType) ? draft.customType : nil, extensions: draft.extensions,
            payload: [], upload: draft.upload, parts: draft.parts)
        let last = boardChange(board, offset: 0, session, part)
        let whole = boardChange(board, offset: offset, session, instance: instance, number: frame.number, .put(put))
        storeChange(
            whole, before: [last], .record, board, begins: begins, bytes: draft.bytes, payload: frame.payload, user: user,
            entries: remembered(session, frame.number, offset, board))
        readFromFile(channel, board, above: offset - 1)
        return board
    }

    /// A change of the board that is no message, held until it can be read there.
    private mutating func keepInFlight(
        _ frame: [UInt8], _ offset: UInt64, _ user: Name, of board: ShelvedBoard.Index, _ channel: Channel.Index, isMessage: Bool
    ) {
        guard configuration.historyMessagesMax > 0 else { return boards[board].unheld = offset }
        keep(
            KeptMessage(
                offset: offset, user: user, handle: 0, instance: nil, acceptedAt: now.instant, address: accounts.payer,
                isTransient: false, isRetained: true, isMessage: isMessage, frame: frame),
            in: channel)
    }

    /// What comes above an offset can only be read: live readers catch up with it.
    private mutating func readFromFile(_ channel: Channel.Index, _ board: ShelvedBoard.Index, above offset: UInt64) {
        boards[board].unheld = channels[channel].head
        work.look(at: channels[channel].messageReceivers.count)
        for session in channels[channel].messageReceivers {
            guard let connection = outbox.connection(of: session) else { continue }
            enqueueJSON(connection, .catchingUp, CatchingUp(channel: channels[channel].handle, after: offset))
            beginCatchUp(
                membership(of: session, inside: channel), CatchUp.Start(offset: offset, isFresh: false, takesOwn: false), connection)
        }
    }

    // MARK: - Requests

    func board(_ name: Name) throws(WireError) -> ShelvedBoard.Index {
        guard let board = boards[named: name] else { throw WireError(.boardNotFound, "channel \(name) has no board") }
        guard !boards[board].isDropping else {
            throw WireError(.busy, "the board of \(name) is being removed", retryAfterMilliseconds: 100)
        }
        try checkStorage()
        return board
    }

    mutating func clear(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(ChannelRequest.self, body)
        try require(.clear, on: ChannelID(kind: .message, channel: request.channel), session)
        let board = try board(request.channel)
        let channel = try channelFor(ChannelID(kind: .message, channel: request.channel), by: session)
        if channels[channel].inside.isEmpty { setChannelEnd(channel) }
        let user = sessions[session].user!
        let offset = takeOffset(channel)
        boards[board].lastClear = offset
        let records = UInt64(boards[board].summary.records + boards[board].pending.count { $0.bytes > 0 })
        storeChange(
            boardChange(board, offset: offset, session, .clear), .clear(records: records), board, user: user, by: sessionName(connection),
            requester(connection, request.id, .cleared(offset: offset, records: records)))
        let event = Cleared(channel: channels[channel].handle, offset: offset, user: user, time: now.wallMilliseconds)
        keepInFlight(Frame.json(.cleared, event).bytes, offset, user, of: board, channel, isMessage: false)
        let receivers = channels[channel].messageReceivers
        if !receivers.isEmpty { enqueueJSON(room: channels[channel].room, .cleared, event, to: receivers) }
    }

    mutating func undoClear(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(ChannelRequest.self, body)
        try require(.clear, on: ChannelID(kind: .message, channel: request.channel), session)
        let board = try board(request.channel)
        guard boards[board].lastClear <= boards[board].readableHead else {
            throw WireError(.busy, "the board is being cleared", retryAfterMilliseconds: 50)
        }
        guard let clear = boards[board].summary.clear, clear.records > 0,
            now.wallMilliseconds < clear.wallMilliseconds + UInt64(Limits.undoMilliseconds)
        else {
            throw WireError(
                .nothingToUndo, "nothing was cleared in the last \(Limits.undoMilliseconds / 60_000) minutes that has not come back")
        }
        let channel = try channelFor(ChannelID(kind: .message, channel: request.channel), by: session)
        if channels[channel].inside.isEmpty { setChannelEnd(channel) }
        let before = channels[channel].head
        channels[channel].head += clear.records
        channels[channel].lastUsed = now.instant
        boards[board].summary.clear = nil
        boards[board].lastClear = channels[channel].head
        storeChange(
            boardChange(board, offset: channels[channel].head, session, .undo(clear: clear.offset, count: clear.records)), .undo(clear),
            board, user: sessions[session].user!, by: sessionName(connection),
            requester(connection, request.id, .cleared(offset: channels[channel].head, records: clear.records)))
        readFromFile(channel, board, above: before)
    }

    mutating func listBoards(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(BoardsRequest.self, body)
        let limit = try request.count()
        // One more than fits tells whether there is a next page.
        var names: [Name] = []
        for name in boards.names.behind(request.after) {
            work.look(at: 1)
            guard rights(of: session, on: ChannelID(kind: .message, channel: name)).contains(.subscribe) else { continue }
            if let unused = request.unusedMs, !isUnused(boards[named: name]!, for: unused) { continue }
            names.append(name)
            if names.count > limit { break }
        }
        let listed = names.prefix(limit).map { name in info(of: boards[named: name]!) }
        answer(
            connection,
            BoardsAnswer(
                id: request.id, boards: listed, next: names.count > limit ? names[limit - 1] : nil, bytes: boards.bytes,
                bytesMax: configuration.boardBytesTotalMax))
    }

    mutating func removeBoard(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(RemoveBoardRequest.self, body)
        try require(.clear, on: ChannelID(kind: .message, channel: request.channel), session)
        let board = try board(request.channel)
        if let unused = request.unusedMs, !isUnused(board, for: unused) {
            let ago = now.wallMilliseconds - min(now.wallMilliseconds, lastUse(of: board))
            throw WireError(
                .boardInUse, "the board of \(request.channel) is in use, or was \(ago) ms ago", limit: Int(clamping: unused),
                actual: Int(clamping: ago))
        }
        try checkErasures()
        drop(board, by: session, from: sessionName(connection), requester(connection, request.id, .whenErased(nil)))
    }

    private mutating func drop(_ board: ShelvedBoard.Index, by session: Session.Index?, from name: String?, _ requester: Requester?) {
        let (entry, transition) = dropping(board, by: session, from: name)
        store([entry] + endingEntries(board), .board(transition), requester, erasing: ErasureMark())
    }

    /// What takes a board away, to be stored as the next change.
    mutating func dropping(_ board: ShelvedBoard.Index, by session: Session.Index?, from name: String?) -> (JournalEntry, BoardTransition) {
        boards[board].isDropping = true
        let entry = boardChange(board, offset: 0, session, .drop).entry(sequence: nextSequence, index: 0)
        let transition = BoardTransition(
            board: board, generation: boards[board].generation, kind: .drop, offset: 0, firstOffset: 0, bytes: 0, begins: false,
            user: session.map { sessions[$0].user! }, by: name, instance: 0, number: 0)
        return (entry, transition)
    }

    // MARK: - Expiry

    mutating func setBoardExpiry() {
        guard let age = configuration.boardExpiry else { return }
        deadlines.set(.boardExpiry, at: now.instant + min(.seconds(3600), age))
    }

    /// Boards that nobody has changed for as long as an operator wants to keep them, and that nobody looks at.
    mutating func expireBoards() {
        guard let age = configuration.boardExpiry else { return }
        var room = configuration.erasuresMax - erasuresUnderWay
        for name in boards.names.all where room > 0 {
            let board = boards[named: name]!
            let isWatched = boards[board].channel.map { !channels[$0].inside.isEmpty } ?? false
            guard !isWatched, !boards[board].isDropping, boards[board].head == boards[board].readableHead, storage.failure == nil,
                boards[board].summary.wallMilliseconds + UInt64(age.milliseconds) <= now.wallMilliseconds
            else { continue }
            log(.info, "the board of \(name) is removed: nothing has changed on it for \(age)")
            drop(board, by: nil, from: nil, nil)
            room -= 1
        }
        setBoardExpiry()
    }
}
