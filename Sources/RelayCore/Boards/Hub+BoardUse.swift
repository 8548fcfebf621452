import RelayPrimitives
internal import RelayStorage
import RelayWire

// Who began a board and when, and when it was last used: by that boards are listed and removed. [BL12]

/// When a board began, and by whom.
struct BoardBeginning: Equatable {
    var wallMilliseconds: UInt64
    /// `nil`: forgotten. [AC14]
    var owner: Name?
}

/// The last day on which somebody was seen in a board's channel, counted since 1970 by UTC; 0: none is known.
struct BoardUse: Equatable {
    var day: UInt32 = 0
    /// As the journal has it.
    var stored: UInt32 = 0

    static let dayMilliseconds: UInt64 = 24 * 3600 * 1000

    var start: UInt64 { UInt64(day) * Self.dayMilliseconds }
    var end: UInt64 { day == 0 ? 0 : start + Self.dayMilliseconds }
}

extension Hub {
    private var today: UInt32 { UInt32(clamping: now.wallMilliseconds / BoardUse.dayMilliseconds) }

    /// Somebody who is seen is in the channel. Once a day for each board that costs a line of the journal.
    mutating func noteUse(of channel: Channel.Index) {
        guard let board = channels[channel].board, boards[board].use.day < today else { return }
        boards[board].use.day = today
        storeUses([board])
    }

    /// Boards and what is stored of them have been restored, in whichever order.
    mutating func restoreUses() {
        for (id, known) in boards.restored {
            guard let board = boards[id: id] else { continue }
            (boards[board].beginning, boards[board].use) = (known.beginning, BoardUse(day: known.day, stored: known.day))
        }
        boards.restored = [:]
        setUseSweep()
    }

    /// Once an hour: a stay may last for days.
    private mutating func setUseSweep() { deadlines.set(.boardUse, at: now.instant + .seconds(3600)) }

    mutating func sweepUses() {
        for board in boards.indices where isVisited(board) { boards[board].use.day = today }
        storeUses(boards.indices.filter { boards[$0].name != nil })
        setUseSweep()
    }

    /// What is not durable will be stored when something can be stored again.
    mutating func usesWereNotStored() {
        for board in boards.indices { boards[board].use.stored = 0 }
    }

    private mutating func storeUses(_ indices: [ShelvedBoard.Index]) {
        guard configuration.isJournaled, storage.failure == nil else { return }
        var entries: [JournalEntry] = []
        for board in indices where boards[board].use.day > boards[board].use.stored && !boards[board].isDropping {
            boards[board].use.stored = boards[board].use.day
            entries.append(StoredForm.use(boards[board].id, boards[board].use.day))
        }
        if !entries.isEmpty { store(entries, .nothing, nil) }
    }

    private func isVisited(_ board: ShelvedBoard.Index) -> Bool {
        guard let channel = boards[board].channel else { return false }
        return !channels[channel].presence.members.isEmpty
    }

    // MARK: - Asking

    /// By the relay's clock, in milliseconds since 1970.
    func lastUse(of board: ShelvedBoard.Index) -> UInt64 {
        isVisited(board) ? now.wallMilliseconds : max(lastChange(of: board), boards[board].use.start)
    }

    /// As its file tells. One that has just begun has none yet.
    private func lastChange(of board: ShelvedBoard.Index) -> UInt64 {
        max(boards[board].summary.wallMilliseconds, boards[board].beginning?.wallMilliseconds ?? 0)
    }

    /// Whether nobody has changed it for so long, and nobody was seen in its channel: of that the day alone is known, so it is over first.
    func isUnused(_ board: ShelvedBoard.Index, for milliseconds: UInt64) -> Bool {
        guard !isVisited(board), boards[board].head == boards[board].readableHead else { return false }
        let used = max(lastChange(of: board), boards[board].use.end)
        let (end, overflows) = used.addingReportingOverflow(milliseconds)
        return !overflows && end <= now.wallMilliseconds
    }

    func info(of board: ShelvedBoard.Index) -> BoardInfo {
        let summary = boards[board].summary, beginning = boards[board].beginning
        return BoardInfo(
            channel: boards[board].name!.text, records: summary.records, bytes: summary.bytes, fileBytes: summary.fileBytes,
            owner: beginning?.owner?.text, createdMilliseconds: beginning?.wallMilliseconds,
            changedMilliseconds: lastChange(of: board), usedMilliseconds: lastUse(of: board))
    }

    // MARK: - Owners

    /// What stands in the journal of a board that begins.
    mutating func beginningEntries(_ board: ShelvedBoard.Index) -> [JournalEntry] {
        guard configuration.isJournaled, let beginning = boards[board].beginning else { return [] }
        return [StoredForm.beginning(boards[board].id, beginning)]
    }

    /// What goes from the journal with a board.
    func endingEntries(_ board: ShelvedBoard.Index) -> [JournalEntry] {
        guard configuration.isJournaled else { return [] }
        return [StoredForm.beginning(boards[board].id, nil), StoredForm.use(boards[board].id, nil)]
    }

    func boards(of owner: Name) -> [ShelvedBoard.Index] { boards.indices.filter { boards[$0].beginning?.owner == owner } }

    /// Boards whose owner is forgotten are nobody's. [AC14]
    func disowningEntries(_ owned: [ShelvedBoard.Index]) -> [JournalEntry] {
        owned.map { StoredForm.beginning(boards[$0].id, BoardBeginning(wallMilliseconds: boards[$0].beginning!.wallMilliseconds)) }
    }

    mutating func disownBoards(of owner: Name) {
        for board in boards(of: owner) { boards[board].beginning!.owner = nil }
    }

    // MARK: - Imports

    /// Whether what a session brings to a board has no rate: it is a host's, and the disk keeps up with it. [RT10]
    func isImport(by session: Session.Index) -> Bool {
        isTrusted(sessions[session].access) && accounts.unjournaled.used < configuration.unjournaledBytesMax / 8
    }
}
