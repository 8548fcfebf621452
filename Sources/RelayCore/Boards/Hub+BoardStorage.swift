import RelayPrimitives
package import RelayStorage
import RelayWire

// Boards between the hub, the journal and their files. [BL2, BL4, BL5]

extension Hub {
    // MARK: - Durable

    /// A change is durable: its publisher is told.
    mutating func revealBoard(_ transition: BoardTransition) {
        guard let board = known(transition) else { return }
        boards[board].durableHead = max(boards[board].durableHead, transition.offset)
        auditBoard(board, transition)
        switch transition.kind {
        case .record: if let user = transition.user { tellStored(user, transition.instance, transition.number, transition.offset) }
        case .drop: dropped(board)
        case .part, .clear, .undo: break
        }
    }

    /// What is destroyed leaves a line, and so does its coming back; what the relay removes itself has one of its own.
    private mutating func auditBoard(_ board: ShelvedBoard.Index, _ transition: BoardTransition) {
        guard let by = transition.by else { return }
        let summary = boards[board].summary
        let (words, records): (String, UInt64)
        switch transition.kind {
        case .record, .part: return
        case .clear(let count): (words, records) = ("cleared", count)
        case .undo(let clear): (words, records) = ("took back the clearing of", clear.records)
        case .drop: (words, records) = ("removed", UInt64(summary.records + boards[board].pending.count { $0.bytes > 0 }))
        }
        audit(by: by, "\(words) the board of channel \(boards[board].name!), \(records) record\(records == 1 ? "" : "s")")
    }

    private func known(_ transition: BoardTransition) -> ShelvedBoard.Index? {
        boards[transition.board].generation == transition.generation && boards[transition.board].name != nil ? transition.board : nil
    }

    /// Over whatever connection its client object has now.
    private func connection(of user: Name, _ instance: UInt64) -> Connection.Index? {
        guard let session = session(of: user, instance: instance), let connection = outbox.connection(of: session),
            connections[connection].isOpen
        else { return nil }
        return connection
    }

    private mutating func tellStored(_ user: Name, _ instance: UInt64, _ number: UInt64, _ offset: UInt64) {
        if let connection = connection(of: user, instance) { sendStored(number, offset, to: connection) }
    }

    private mutating func sendStored(_ number: UInt64, _ offset: UInt64, to connection: Connection.Index) {
        enqueuePrivate(connection, head: FrameHead(type: FrameType.stored.rawValue, bodyBytes: 16)) { writer in
            writer.integer(number)
            writer.integer(offset)
        }
    }

    /// A number that was accepted is asked about again: if it is durable, that is told, too.
    mutating func tellStoredAgain(_ known: PublishWindow.Accepted, to connection: Connection.Index) {
        guard known.board != 0, known.offset > 0, !storage.isAlone else { return }
        if let board = boards[id: known.board], boards[board].durableHead < known.offset { return }
        sendStored(known.number, known.offset, to: connection)
    }

    /// The board and its file are gone.
    private mutating func dropped(_ board: ShelvedBoard.Index) {
        let channel = boards[board].channel
        forgetAuthors(of: board)
        let id = boards[board].id
        boards.remove(board)
        eraseOn(id)
        guard let channel else { return }
        channels[channel].board = nil
        for message in channels[channel].history.removeRetained(above: 0) { historyTotals.remove(message) }
        resetChannel(channel)
        endChannelIfUnused(channel)
    }

    // MARK: - In the file

    /// What files hold now.
    mutating func boardsWritten(_ report: BoardReport) {
        // Before what is on its way is less: whoever has something is known to have it throughout.
        for (user, bytes) in report.userBytes {
            if let user = user.withUnsafeBytes({ try? Name(bytes: $0) }) { boards.usage.setInFiles(bytes, of: user) }
        }
        var before = [UInt64: UInt64]()
        for summary in report.boards {
            guard let board = boards[id: summary.board] else { continue }
            before[summary.board] = boards[board].readableHead
            boards.isWritten(summary, board)
        }
        for summary in report.boards {
            guard let board = boards[id: summary.board], let before = before[summary.board] else { continue }
            if let channel = boards[board].channel { wakeReaders(of: channel) }
            authorsCanBeAsked(board, before: before)
            eraseOn(summary.board)
        }
    }

    // MARK: - Not durable

    /// Nothing shows it any more.
    ///
    /// - Parameter isTold: its publisher is told. Else the number stays accepted, and the outcome open.
    mutating func undoBoard(_ transition: BoardTransition, isTold: Bool) {
        if isTold, transition.number > 0, let user = transition.user {
            let error = WireError(.storageFailed, "the message could not be stored: the relay's log says why")
            if let connection = connection(of: user, transition.instance) {
                enqueueJSON(connection, .notStored, NotStored(number: transition.number, error))
            }
            withWindow(of: user, transition.instance) { $0.takeBack(transition.number) }
        }
        guard let board = known(transition) else { return }
        switch transition.kind {
        case .undo(let clear): boards[board].summary.clear = clear
        case .drop: boards[board].isDropping = false
        case .record, .part, .clear: break
        }
        if transition.offset > 0 { boards.takeBack(from: transition.firstOffset, board) }
    }

    /// What is known of a client object, whether it has a session now or not.
    private mutating func withWindow(of user: Name, _ instance: UInt64, _ change: (inout PublishWindow) -> Void) {
        if let session = session(of: user, instance: instance) {
            let before = sessions[session].window.numberBytes
            change(&sessions[session].window)
            holdOwn(sessions[session].window.numberBytes - before, session)
        } else {
            keptWindows.change(of: user, where: { $0.instance == instance }, change)
        }
    }

    /// After all was undone: readers that were shown what is gone begin anew, and boards that never came to be go.
    mutating func settleUndoneBoards(_ transitions: [BoardTransition]) {
        var shown: Set<ShelvedBoard.Index> = []
        for transition in transitions {
            guard let board = known(transition) else { continue }
            if transition.offset > 0 { shown.insert(board) }
            dropDrafts(transition)
        }
        for board in shown.inOrder() {
            boards[board].head = boards[board].durableHead
            boards[board].unheld = min(boards[board].unheld, boards[board].durableHead)
            boards[board].lastClear = min(boards[board].lastClear, boards[board].durableHead)
            guard let channel = boards[board].channel else { continue }
            for message in channels[channel].history.removeRetained(above: boards[board].durableHead) { historyTotals.remove(message) }
            resetChannel(channel)
        }
        for transition in transitions where transition.begins {
            guard let board = known(transition) else { continue }
            if let channel = boards[board].channel { channels[channel].board = nil }
            forgetAuthors(of: board)
            boards.remove(board)
        }
        authorsAfterFailure()
    }

    /// Records in parts that a user has begun are forgotten: the next part has nothing before it.
    ///
    /// - Parameter board: the one that they are for; `nil`: whichever.
    mutating func dropDrafts(of user: Name, on board: ShelvedBoard.Index? = nil) {
        let name = board.flatMap { boards[$0].name }
        for session in people.sessions(of: user) {
            sessions[session].window.drafts.removeAll { $0.isRetained && (name == nil || $0.channel == name) }
            if name == nil || sessions[session].window.staged?.channel == name { endStaged(of: session) }
        }
        keptWindows.change(of: user, where: { _ in true }) { $0.drafts.removeAll { $0.isRetained && (name == nil || $0.channel == name) } }
    }

    /// Parts that are not there: the next one has nothing before it.
    private mutating func dropDrafts(_ transition: BoardTransition) {
        guard case .part = transition.kind, let user = transition.user else { return }
        let board = boards[transition.board].id
        withWindow(of: user, transition.instance) { $0.drafts.removeAll { $0.board == board } }
    }

    // MARK: - After a restart

    /// Publishes are remembered in so many places of the journal for each client object. [BL2]
    static let placesMax = 256

    /// What lets a retained message be sent again to a relay that has started anew.
    mutating func remembered(_ session: Session.Index, _ number: UInt64, _ offset: UInt64, _ board: ShelvedBoard.Index) -> [JournalEntry] {
        guard configuration.isJournaled, let instance = sessions[session].instance else { return [] }
        let place = sessions[session].window.nextPlace(of: Self.placesMax)
        return [StoredForm.publish(sessions[session].user!, instance, place, number: number, offset: offset, board: boards[board].id)]
    }

    /// A client object is forgotten: so are its publishes.
    mutating func forgetRemembered(_ user: Name, _ instance: UInt64, places: Int) {
        guard configuration.isJournaled, places > 0, storage.failure == nil else { return }
        store((0..<places).map { StoredForm.forgetPublish(user, instance, UInt8($0)) }, .nothing, nil)
    }

    /// Takes over the boards that are there; before any event.
    package mutating func restore(boards summaries: [BoardSummary], userBytes: [[UInt8]: Int]) {
        for summary in summaries {
            guard let name = summary.name.withUnsafeBytes({ try? Name(bytes: $0) }), boards[named: name] == nil else {
                log(.error, "board \(summary.board) is left out: its name is none")
                continue
            }
            var board = ShelvedBoard(name: name, generation: ordinals.generation(), summary: summary)
            board.head = summary.head
            board.durableHead = summary.head
            _ = boards.insert(board)
            if let channel = channels[named: ChannelID(kind: .message, channel: name)] { takeUpBoard(channel) }
        }
        for (user, bytes) in userBytes where bytes > 0 {
            if let user = user.withUnsafeBytes({ try? Name(bytes: $0) }) { boards.usage.setInFiles(bytes, of: user) }
        }
    }

    /// A channel that comes to be goes on where its board is. [BL5]
    mutating func takeUpBoard(_ channel: Channel.Index) {
        guard channels[channel].id!.kind == .message, let board = boards[named: channels[channel].id!.channel] else { return }
        channels[channel].board = board
        channels[channel].head = boards[board].head
        channels[channel].lastUnretained = boards[board].summary.lastUnretained
        channels[channel].history.begin(floor: boards[board].summary.lastUnretained, head: boards[board].head)
        boards[board].channel = channel
    }
}
