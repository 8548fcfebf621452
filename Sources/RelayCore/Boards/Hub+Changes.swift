import RelayPrimitives
internal import RelayRights
internal import RelayStorage
import RelayWire

// Many changes of one board, all of them or none: parts that wait for their last, and what the last one does. [BL11]

extension Hub {
    mutating func publishChanges(
        _ head: FrameHead, _ whole: UnsafeRawBufferPointer, session: Session.Index, _ connection: Connection.Index
    ) {
        var (flags, body) = (head.flags, whole)
        var named: UnsafeRawBufferPointer?
        let hasPaid = connections[connection].input == .judgedAgain
        if hasPaid { connections[connection].input = .catchingUp }
        do throws(WireError) {
            _ = try Extensions.take(from: &body, &flags)
            let frame = try PublishChangesFrame(flags: flags, body: body)
            named = frame.channel
            if !hasPaid, try !hasTurnForChanges(connection) { return }
            if try answerIfKnown(frame.number, isRetained: true, frame.channel, session, connection) { return }
            try checkBehind(frame.number, in: frame.channel, session)
            let name = try Name(bytes: frame.channel)
            let id = ChannelID(kind: .message, channel: name)
            try require(.publish, on: id, session)
            let isLast = frame.part == frame.parts
            let staged = try staged(with: frame, name, session)
            if isLast { handle(changes: staged.changes, of: connection) }
            try checkRoom(for: staged, name, session)
            if !isLast { try checkStaged(staged, session) }
            let (channel, bucket) = try target(frame.channel, session)
            let rate = configuration.limits.messagesPerSecond
            if !hasPaid, !isImport(by: session), let wait = try spend(bucket, rate: rate, capacity: rate, connection, "messages") {
                throw .overRate("messages", rate: rate, wait: wait)
            }
            guard connections[connection].isOpen else { return }
            guard isLast else {
                sendAccepted(frame.number, 0, credit: tellCredit(bucket, session), to: connection)
                take(frame.number, offset: 0, board: 0, session)
                return stage(staged, session)
            }
            // Behind the rate, because it may cost the disk something.
            if !rights(of: session, on: id).contains(.revise), try !areOwn(staged, name, session, connection, isFirst: !hasPaid) { return }
            commit(staged, frame.number, channel, session, connection, credit: tellCredit(bucket, session))
        } catch {
            refusePublish(error, body, in: named, session, connection)
        }
    }

    // MARK: - Parts

    /// The change set with one more part, which follows and whose changes are sound.
    ///
    /// - Throws: `partMissing`, `badRequest`, `badName`, `badText`, `tooLarge`, `limitReached`.
    private func staged(with frame: PublishChangesFrame, _ channel: Name, _ session: Session.Index) throws(WireError) -> StagedChanges {
        var staged = StagedChanges(channel: channel, parts: frame.parts, lastAt: now.instant)
        if frame.part > 1 {
            guard let known = sessions[session].window.staged, isFollowed(known), known.channel == channel, known.parts == frame.parts,
                known.next == frame.part
            else { throw WireError(.partMissing, "part \(frame.part) of \(frame.parts) comes without the parts before it") }
            staged = known
            staged.lastAt = now.instant
        }
        let (changes, contentBytes) = (staged.changes, staged.contentBytes)
        var rest = frame.changes
        while !rest.isEmpty {
            staged.changes += 1
            do throws(WireError) {
                let change = try EncodedChange.take(from: &rest)
                _ = try Name(bytes: change.key)
                try checkContent(change.payload, change.customType, flags: change.flags)
                staged.contentBytes += change.contentBytes
                if !change.payload.isEmpty {
                    staged.recordBytes += Self.recordBytes(of: change)
                    staged.records += 1
                }
            } catch {
                throw WireError(error, change: staged.changes)
            }
        }
        let count = staged.changes - changes
        guard count > 0 else { throw WireError(.badRequest, "a part has one change or more") }
        try check(count, Limits.changesPerPartMax, .limitReached, "changes in a part")
        try check(staged.changes, Limits.changesMax, .limitReached, "changes in a change set")
        try check(
            staged.contentBytes - contentBytes, configuration.limits.messageBytesMax, .tooLarge, "bytes of payloads and types in a part")
        try check(staged.contentBytes, configuration.limits.largeMessageBytesMax, .tooLarge, "bytes of payloads and types in a change set")
        staged.pieces.append(Array(frame.changes))
        staged.heldBytes += frame.changes.count + Footprint.stagedPart
        staged.next += frame.part == frame.parts ? 0 : 1
        return staged
    }

    private func check(_ actual: Int, _ limit: Int, _ code: ErrorCode, _ what: String) throws(WireError) {
        guard actual <= limit else { throw WireError(code, "at most \(limit) \(what), not \(actual)", limit: limit, actual: actual) }
    }

    private static func recordBytes(of change: EncodedChange) -> Int {
        change.key.count + change.contentBytes + BoardSummary.recordOverheadBytes
    }

    private func isFollowed(_ staged: StagedChanges) -> Bool {
        now.instant - staged.lastAt <= .milliseconds(Limits.partTimeoutMilliseconds)
    }

    /// Bounds of the board for all records together; a refusal names the first that has no room. [BL7]
    private func checkRoom(for staged: StagedChanges, _ channel: Name, _ session: Session.Index) throws(WireError) {
        try checkBoard(channel, session, bytes: 0)
        do throws(WireError) {
            try checkBoard(channel, session, bytes: staged.recordBytes, records: staged.records)
        } catch {
            var bytes = 0, records = 0
            for (index, step) in Self.steps(of: staged, by: sessions[session].user!).enumerated() {
                bytes += step.bytes
                if step.put != nil { records += 1 }
                do throws(WireError) {
                    try checkBoard(channel, session, bytes: bytes, records: records)
                } catch {
                    throw WireError(error, change: index + 1)
                }
            }
            throw error
        }
    }

    /// What waits for last parts is bounded, for all clients together.
    private func checkStaged(_ staged: StagedChanges, _ session: Session.Index) throws(WireError) {
        let more = staged.heldBytes - (sessions[session].window.staged?.heldBytes ?? 0)
        guard more > 0 else { return }
        try accounts.staged.checkWaiting("change sets wait for their last part", of: accounts.payer, more)
    }

    private mutating func stage(_ staged: StagedChanges, _ session: Session.Index) {
        if let old = sessions[session].window.staged {
            accounts.staged.hold(-old.heldBytes, old.payer)
            if staged.next == 2 { counters.changeSetsEnded += 1 }
        }
        accounts.staged.hold(staged.heldBytes, accounts.payer)
        sessions[session].window.staged = staged
        sessions[session].window.staged!.payer = accounts.payer
        watchParts(of: session)
    }

    /// A change set will not be completed, or has been.
    mutating func endStaged(of session: Session.Index, onlyLate: Bool = false, isWhole: Bool = false) {
        guard let staged = sessions[session].window.staged, !onlyLate || !isFollowed(staged) else { return }
        accounts.staged.hold(-staged.heldBytes, staged.payer)
        sessions[session].window.staged = nil
        if !isWhole { counters.changeSetsEnded += 1 }
    }

    // MARK: - The last part

    /// Whether the session may write all keys, though it may not take away what others wrote. [BL10]
    ///
    /// - Returns: `false` if that has to be asked for: the connection waits, and its frame is judged anew.
    private mutating func areOwn(
        _ staged: StagedChanges, _ channel: Name, _ session: Session.Index, _ connection: Connection.Index, isFirst: Bool
    ) throws(WireError) -> Bool {
        var unknown: [[UInt8]] = [], board: ShelvedBoard.Index?
        var ordinal = 0
        for step in Self.steps(of: staged, by: sessions[session].user!) {
            ordinal += 1
            do throws(WireError) {
                guard let asked = try unknownAuthor(of: step.key, in: channel, session) else { continue }
                board = asked
                unknown.append(step.key)
            } catch {
                throw WireError(error, change: ordinal)
            }
        }
        guard let board else { return true }
        wait(connection, for: board, try askAuthors(board, unknown, isBounded: isFirst))
        return false
    }

    private static func steps(of staged: StagedChanges, by user: Name) -> [BoardStep] {
        var steps: [BoardStep] = []
        steps.reserveCapacity(staged.changes)
        for piece in staged.pieces {
            piece.withUnsafeBytes { bytes in
                var rest = bytes
                while !rest.isEmpty {
                    // Checked when it came.
                    let change = try! EncodedChange.take(from: &rest)
                    let end = bytes.count - rest.count
                    steps.append(BoardStep(change, by: user, payload: piece[(end - change.payload.count)..<end]))
                }
            }
        }
        return steps
    }

    private mutating func commit(
        _ staged: StagedChanges, _ number: UInt64, _ channel: Channel.Index, _ session: Session.Index, _ connection: Connection.Index,
        credit: UInt32
    ) {
        let user = sessions[session].user!
        counters.messagesAccepted += UInt64(staged.changes)
        // Answered before `stored` may be.
        let last = channels[channel].head + UInt64(staged.changes)
        sendAccepted(number, last, credit: credit, to: connection)
        let (board, begins) = boardFor(channel, by: user)
        take(number, offset: last, board: boardID(board), session)
        storeTogether(Self.steps(of: staged, by: user), on: board, channel, begins: begins, by: (session, number))
        endStaged(of: session, isWhole: true)
    }
}

extension BoardStep {
    fileprivate init(_ change: EncodedChange, by user: Name, payload: ArraySlice<UInt8>) {
        guard !change.payload.isEmpty else {
            self.init(key: Array(change.key), user: user)
            return
        }
        let put = BoardPut(
            key: Array(change.key), isText: change.flags.contains(.text),
            customType: change.flags.contains(.customType) ? Array(change.customType) : nil, extensions: Array(change.extensions),
            payload: [])
        self.init(
            key: put.key, put: put, user: user, bytes: change.key.count + change.contentBytes + BoardSummary.recordOverheadBytes,
            payload: payload)
    }
}
