internal import Dispatch
internal import RelayCore
import RelayIO
import RelayJournal
import RelayStorage

// What outlives a restart: between the hub and the journal's queue.

@available(macOS 15, iOS 18, *)
extension Engine {
    /// Takes over what is stored, and stores from now on. Before `start`.
    func restore(_ opened: JournalWriter.Opened, from journal: JournalWriter) async {
        self.journal = journal
        var unknown = 0
        for entry in opened.entries where !hub.restore(key: entry.key, value: entry.value ?? []) { unknown += 1 }
        for line in opened.report.lines { log(LogLine(.warning, line)) }
        for line in opened.boardLines { log(LogLine(.warning, line)) }
        hub.restore(boards: opened.boards, userBytes: opened.userBytes)
        if unknown > 0 { log(LogLine(.warning, "\(unknown) stored entries are left alone: this version does not know them")) }
        if let path = journal.path {
            log(LogLine(.info, "\(opened.entries.count - unknown) entries and \(opened.boards.count) boards read from \(path)"))
        }
        await journal.report { @Sendable [weak self] outcome in self?.enter { $0.stored(outcome) } }
        hub.restored(lastSequence: opened.report.lastSequence, at: Self.now())
        finishTurn()
    }

    func stored(_ outcome: JournalWriter.Outcome) {
        switch outcome {
        case .persisted(let sequence):
            journalTimes.persisted(through: sequence, at: SystemClock.monotonicNanoseconds())
            hub.handle(.persisted(through: sequence), at: Self.now())
        case .failed(let text):
            journalTimes.failed()
            hub.handle(.storageFailed(text), at: Self.now())
            journal?.acknowledgeFailure()
        case .recovered: hub.handle(.storageRecovered, at: Self.now())
        case .boardsWritten(let report): hub.handle(.boardsWritten(report), at: Self.now())
        case .authorsRead(let answers): for answer in answers { hub.handle(.authorsRead(answer), at: Self.now()) }
        case .recordsFound(let answer): hub.handle(.recordsFound(answer), at: Self.now())
        case .erased(let answer): hub.handle(.erased(answer), at: Self.now())
        case .boardRead(let block): hub.handle(.boardRead(block), at: Self.now())
        case .line(let line): log(LogLine(.warning, line))
        }
    }

    func submitChanges() {
        if !boardReads.isEmpty || !authorReads.isEmpty {
            journal?.read(boardReads, authors: authorReads)
            boardReads.removeAll(keepingCapacity: true)
            authorReads.removeAll(keepingCapacity: true)
        }
        submitRecords()
        guard !searches.isEmpty || !erasures.isEmpty else { return }
        if let ownership {
            ownership.node.submit([], erasures: erasures, searches: searches, under: ownership.lease)
        } else {
            journal?.erase(erasures, searches: searches)
        }
        erasures.removeAll(keepingCapacity: true)
        searches.removeAll(keepingCapacity: true)
    }

    private func submitRecords() {
        guard !changes.isEmpty else { return }
        guard let journal else { preconditionFailure("a relay without a journal was asked to store something") }
        journalTimes.submitted(changes.last!.sequence, at: SystemClock.monotonicNanoseconds())
        if let ownership { ownership.node.submit(changes, under: ownership.lease) } else { journal.submit(changes) }
        changes.removeAll(keepingCapacity: true)
    }
}
